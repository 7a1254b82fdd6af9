/* Whether a text goes on at a joint of two pieces. */
#ifndef BURIN_CARVERS_COMMON_TEXT_JOINT_H
#define BURIN_CARVERS_COMMON_TEXT_JOINT_H

#include "carver.h"

/* For struct carver's joint: what is on both sides of `at` together is elsewhere in the text, as parts of it hardly are that are
 * put together anywhere. 10 bits at most. */
unsigned text_joint(struct view *view, uint64_t at, uint64_t end);

#endif
