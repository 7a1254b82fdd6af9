/* How sure a layout is that was accepted: which other breaks and gaps would be accepted, too. */
#ifndef BURIN_ASSEMBLE_JOINING_H
#define BURIN_ASSEMBLE_JOINING_H

#include "assemble/field.h"

/* A layout that was accepted, and accepted again by a thorough check. */
struct joining {
	struct step step;
	struct extents extents;
	struct outcome outcome;
	struct proof proof;
	bool is_proved; /* no other layout needs to be tried */
};

void joining_free(struct joining *joining);
/* Tries a step from a partial file. True: it is COMPLETE; the layout is the caller's to free. */
bool joining_try(struct workbench *bench, const struct partial *partial, const struct step *step,
	struct joining *joining);
/* Tries all other steps with the layout's gap, and all others with its break: may choose another
 * layout, with the same gap. False: others would do as well. True: assembly has the evidence and
 * what is in doubt. */
bool joining_judge(struct workbench *bench, const struct partial *partial, struct joining *joining,
	struct assembly *assembly);

#endif
