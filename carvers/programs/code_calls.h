/* Whether all bytes of a program's code look like its own. */
#ifndef BURIN_CARVERS_PROGRAMS_CODE_CALLS_H
#define BURIN_CARVERS_PROGRAMS_CODE_CALLS_H

#include <stdbool.h>

#include "carver.h"

/* Code: where it is in the file, and in memory. */
struct code_part {
	uint64_t at, len, address;
};

/* is_x86: it is for x86 or x64 processors; else only other content is looked for. What is after the view's end is ignored. False:
 * bytes of it are likely another file's, of which the first ones are at *wrong_at, in the file, or before that. */
bool code_calls_fit(struct view *view, const struct code_part *parts, size_t count, bool is_x86,
	uint64_t *wrong_at);

#endif
