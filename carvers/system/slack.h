/* Unused parts of a file: zeros, or remains of older contents. */
#ifndef BURIN_CARVERS_SYSTEM_SLACK_H
#define BURIN_CARVERS_SYSTEM_SLACK_H

#include "carver.h"

/* Where random bytes start that fill the rest of an unused part [start, end), to 256 bytes: remains
 * of older contents are text, pointers and zeros, so the file was overwritten. `end` when there are
 * none. */
uint64_t slack_noise(struct view *view, uint64_t start, uint64_t end);

#endif
