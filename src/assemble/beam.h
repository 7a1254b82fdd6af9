/* The few steps after which most was validated, those first whose content fits at the joint: partial files from which further
 * steps are tried. */
#ifndef BURIN_ASSEMBLE_BEAM_H
#define BURIN_ASSEMBLE_BEAM_H

#include "assemble/field.h"

#define BEAM 3 /* partial files that are followed at a time */

/* What is kept of the steps from the partial files of one depth, in order. Zero-initialise. */
struct beam {
	struct partial items[BEAM];
	int64_t gaps[BEAM];
	uint64_t ends[BEAM]; /* numbers of the clusters in which their last pieces break off */
	size_t count;
};

/* The beam is empty after that. */
void beam_free(struct beam *beam);
/* Makes room for a partial file that reached that far, in order; NULL if there are better ones. One that came with the
 * same gap, or whose last piece breaks off at the same place, gives way or stays. end: the number of the cluster in which
 * that is; fits: as in struct partial. */
struct partial *beam_room(
	struct beam *beam, int64_t gap, uint64_t end, uint64_t reached, bool fits);
/* Whether there is such a one. */
bool beam_has_piece(const struct beam *beam, int64_t gap, uint64_t end);

#endif
