/* Whether the joints of a chain of clusters that samples made are proved. */
#ifndef BURIN_ASSEMBLE_SAMPLE_PROOF_H
#define BURIN_ASSEMBLE_SAMPLE_PROOF_H

#include "assemble/workbench.h"

/* The clusters of a file that the carver finds complete. */
struct sample_chain {
	const struct carve_stored *stored;
	uint64_t length;        /* of the file */
	uint64_t size;          /* of a cluster */
	const uint64_t *places; /* of the clusters in the evidence, in the file's order */
	const uint64_t
		*choices; /* of each: from how many it was chosen; 0: it follows the one before */
	size_t count;
};

/* The bits of the joint that is proved least. 0: nothing is proved, or no work is left. */
uint32_t sample_proof_bits(struct workbench *bench, const struct sample_chain *chain);

#endif
