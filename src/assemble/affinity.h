/* Which bytes look like a file's own, where its format does not show it. */
#ifndef BURIN_ASSEMBLE_AFFINITY_H
#define BURIN_ASSEMBLE_AFFINITY_H

#include "assemble/field.h"

/* What is known of a file's content, and of what is around it. */
struct affinity;

/* Learns from the partial file: its bytes before `least`, and if another piece follows with this gap
 * (0: none is known) the file's bytes [most, end), are its own; what is around is others'. */
struct affinity *affinity_new(struct workbench *bench, const struct partial *partial,
	uint64_t least, uint64_t most, int64_t gap, uint64_t end);
/* By how many bits the bytes at offset in the evidence look more like the file's own than like others',
 * at most 64 KiB. */
int64_t affinity_bits(
	struct affinity *affinity, struct workbench *bench, uint64_t offset, uint64_t length);
/* Of breaks (at least two, rising), all of which are possible with this gap, the one that gives the
 * file what looks most like its own. */
uint64_t affinity_choose(struct affinity *affinity, struct workbench *bench,
	const struct partial *partial, const uint64_t *breaks, size_t count, int64_t gap);
void affinity_free(struct affinity *affinity);

#endif
