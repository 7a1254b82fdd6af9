/* Overlays: archives after a program, as in installers and self-extracting archives. */
#ifndef BURIN_CARVERS_PROGRAMS_OVERLAY_H
#define BURIN_CARVERS_PROGRAMS_OVERLAY_H

#include <stdbool.h>

#include "carver.h"

/* Whether a known overlay of any type starts at `at`. */
bool overlay_at(struct view *view, uint64_t at);

/* Includes the archive at `at` in the finding on the program before it: sets length, why and
 * *verdict, complete if the archive proves where it ends. False, without a change, when there is no
 * archive whose end is known. */
bool overlay_include(
	struct view *view, uint64_t at, struct finding *finding, enum verdict *verdict);

#endif
