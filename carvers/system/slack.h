/* Parts of a file that are not in use: zeros, or left from before. */
#ifndef BURIN_CARVERS_SYSTEM_SLACK_H
#define BURIN_CARVERS_SYSTEM_SLACK_H

#include "carver.h"

/* Where random bytes begin that fill the rest of an unused part [start, end), to 256 bytes: what is
 * left from before is text, pointers and zeros, so that the file was overwritten. `end` when there
 * are none. */
uint64_t slack_noise(struct view *view, uint64_t start, uint64_t end);

#endif
