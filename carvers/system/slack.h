/* Unused parts of a file: zeros, or remains of older contents. */
#ifndef BURIN_CARVERS_SYSTEM_SLACK_H
#define BURIN_CARVERS_SYSTEM_SLACK_H

#include "carver.h"

/* Where random bytes start that fill the rest of an unused part [start, end), to 256 bytes: remains
 * of older contents are text, pointers and zeros, so the file was overwritten. `end` when there are
 * none. */
uint64_t slack_noise(struct view *view, uint64_t start, uint64_t end);

/* Where the zeros begin that reach the end of an unused part [start, end), if that is with a sector, directly after remains:
 * those hardly ever end just there, but lost clusters are often zeros. `end` when it is not so. */
uint64_t slack_wiped(struct view *view, uint64_t start, uint64_t end);

#endif
