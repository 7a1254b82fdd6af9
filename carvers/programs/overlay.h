/* Archives that stand behind a program, as installers and self-extracting archives have them. */
#ifndef BURIN_CARVERS_PROGRAMS_OVERLAY_H
#define BURIN_CARVERS_PROGRAMS_OVERLAY_H

#include <stdbool.h>

#include "carver.h"

/* Whether such a thing begins at `at`, of whatever kind. */
bool overlay_at(struct view *view, uint64_t at);

/* Takes the archive at `at` into the finding on the program before it: length, why, and *verdict,
 * complete if the archive proves where it ends. False, and nothing is changed, when there is none
 * whose end is known. */
bool overlay_take(struct view *view, uint64_t at, struct finding *finding, enum verdict *verdict);

#endif
