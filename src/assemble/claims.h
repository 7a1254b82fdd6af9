/* Who gets which clusters: what a pass has found claims them, the surest first, so that each is given once. */
#ifndef BURIN_ASSEMBLE_CLAIMS_H
#define BURIN_ASSEMBLE_CLAIMS_H

#include "assemble/clusters.h"
#include "assemble/pass_state.h"

/* The complete files that the pass under way has found get their clusters; or, after the last pass, all others do. A file
 * that loses one is not found. Returns whether there were any. */
bool claims_make(struct clusters *clusters, struct pass_state *state, bool complete);
/* A file gets its clusters. */
void claims_take(struct clusters *clusters, const struct assembled *found);
/* What is not proved gives way to what is. */
void claims_drop_overlapping(const struct clusters *clusters, struct pass_state *state);

#endif
