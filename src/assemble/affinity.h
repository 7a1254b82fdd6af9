/* Which bytes look like a file's own, where its format does not show it. */
#ifndef BURIN_ASSEMBLE_AFFINITY_H
#define BURIN_ASSEMBLE_AFFINITY_H

#include "assemble/workbench.h"

/* What is known of a file's content, and of others'. */
struct affinity;

/* Knows nothing of the file, and some places of the image as others'. */
struct affinity *affinity_new(struct workbench *bench);
/* Learns from length bytes at offset in the evidence, as far as they are inside. */
void affinity_learn(struct affinity *affinity, struct workbench *bench, uint64_t offset,
	uint64_t length, bool is_own);
/* By how many bits the bytes at offset in the evidence, 64 KiB at most, look more like the file's own
 * than like others'. Nothing can be learnt from then on. */
int64_t affinity_bits(
	struct affinity *affinity, struct workbench *bench, uint64_t offset, uint64_t length);
void affinity_free(struct affinity *affinity);

#endif
