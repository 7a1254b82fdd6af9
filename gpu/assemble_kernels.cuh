/* What the files of the device for src/assemble/search_device.h share: assemble_device.cu keeps the devices and their
 * memory, assemble_breaks.cu, assemble_coded.cu and assemble_words.cu have the kernels. */
#ifndef BURIN_GPU_ASSEMBLE_KERNELS_CUH
#define BURIN_GPU_ASSEMBLE_KERNELS_CUH

#include <cuda_runtime.h>

#include "assemble/search_device.h"
#include "assemble/word_search.h"

/* A struct crc_search on the device. */
struct breaks_job {
	uint32_t count, known_count, sums_from, sums_to, sums_count, rest_from, rest_to;
	const uint32_t *known, *rest, *sums, *ends; /* ends NULL: two breaks */
	const uint32_t *powers;                     /* 1 / x^i for each step-th displacement */
	struct crc_hit *hits;                       /* room for CRC_HITS_MAX */
	uint32_t *hit_count;                        /* zeroed; counts all hits, up to 2^31 */
};

/* Displacements between two of job->powers. */
uint32_t breaks_step(bool two);
/* Bytes of shared memory that a block takes. */
size_t breaks_shared_len(const struct crc_search *search);
cudaError_t breaks_launch(const struct breaks_job *job, cudaStream_t stream);
/* Clusters to look at, all on the device: as many heads, a multiple of 64, and zeroed bits, a word for each 32. */
struct coded_job {
	const struct carve_coded *coded;
	const uint8_t *heads;
	uint32_t *bits;
	uint32_t count;
};

/* That a job with so many clusters needs. */
uint32_t coded_blocks(uint32_t count);
/* jobs: job_count of them, on the device; blocks: the most that one of them needs. */
cudaError_t coded_launch(const struct coded_job *jobs, uint32_t job_count, uint32_t blocks,
	uint32_t head_len, cudaStream_t stream);

/* Part of the image, on the device; WORD_AFTER bytes more are there. */
struct words_stretch {
	const uint8_t *text;
	uint32_t len, number; /* in the question */
};

/* Words that a GPU looks for. */
struct words_table {
	uint32_t pairs[WORD_PAIRS / 32]; /* a bit for each two bytes that a word begins with */
	uint64_t values[WORDS_MAX],
		masks[WORDS_MAX]; /* of eight bytes, as a little-endian number */
	uint8_t key_at[WORDS_MAX];
	uint32_t count;
};

/* All on the device. */
struct words_job {
	const struct words_table *table;
	const struct words_stretch *stretches;
	struct word_hit *hits; /* room for WORD_HITS_MAX */
	uint32_t *hit_count;   /* zeroed; counts all hits */
};

void words_table_make(struct words_table *table, const struct word_set *words);
cudaError_t words_launch(const struct words_job *job, uint32_t stretch_count, cudaStream_t stream);

#endif
