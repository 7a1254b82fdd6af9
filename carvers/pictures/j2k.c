/*
 * A bare codestream of JPEG 2000, which programs write with the extensions j2k, j2c and jpc.
 * j2k_codestream.c walks it and finds its end. A broken one is truncated once a tile-part started
 * after a complete main header, else rejected.
 */
#include "j2k.h"

#include <inttypes.h>

#include "walk.h"

static enum verdict check(struct view *view, struct finding *finding)
{
	struct j2k j2k;

	if (j2k_walk(&j2k, view, 0, view_size(view))) {
		finding->length = j2k.end;
		return j2k.odd ? verdict_because(CARVE_UNVERIFIED, finding, "%s at 2", j2k.odd)
			       : CARVE_COMPLETE;
	}
	/* A codestream that contradicts itself and has no end either is considered chance. */
	if (j2k.odd)
		return verdict_because(CARVE_REJECT, finding, "%s at 2", j2k.odd);
	if (!j2k.parts)
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, j2k.problem, j2k.broken_at);
	if (j2k.cut)
		return walk_cut(view, finding, view_size(view) + 1, j2k.valid_end);
	finding->length = j2k.valid_end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "%s at %" PRIu64, j2k.problem, j2k.broken_at);
}

const struct carver j2k_carver = {
	.name = "j2k",
	.summary = "JPEG 2000 codestreams, by their markers and tile-parts",
	.check = check,
};
