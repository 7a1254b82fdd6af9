/*
 * Where words of formats' tables begin in what the scan has kept. A lane has sixteen places at a time, looks up in shared
 * memory whether a word begins with the two bytes at each of them, and compares the words where one does, which is rare.
 * The loads are aligned.
 */
#include "gpu/assemble_kernels.cuh"

#define THREADS 256
#define OWN 16    /* places of a lane */
#define ROUNDS 16 /* so that the table is loaded for more than a few places */
#define BLOCK_LEN (THREADS * OWN * ROUNDS) /* bytes of a block */

void words_table_make(struct words_table *table, const struct word_set *words)
{
	*table = {};
	table->count = (uint32_t)words->count;
	for (size_t i = 0; i < words->count; i++) {
		const struct search_word *word = &words->words[i];
		uint32_t pair = word->bytes[0] | (uint32_t)word->bytes[1] << 8;
		table->pairs[pair / 32] |= 1u << pair % 32;
		for (unsigned k = 0; k < word->len; k++) {
			table->values[i] |= (uint64_t)word->bytes[k] << 8 * k;
			table->masks[i] |= (uint64_t)0xff << 8 * k;
		}
		table->key_at[i] = word->key_at;
	}
}

/* The words that begin with the eight bytes at a place. */
static __device__ __noinline__ void compare(const struct words_job *job,
	const struct words_stretch *stretch, uint32_t at, uint64_t bytes)
{
	const struct words_table *table = job->table;
	for (uint32_t i = 0; i < table->count; i++) {
		if ((bytes & table->masks[i]) != table->values[i])
			continue;
		uint32_t number = atomicAdd(job->hit_count, 1), key = 0;
		const uint8_t *from = stretch->text + at + table->key_at[i];
		for (int k = 0; k < WORD_KEY; k++)
			key |= (uint32_t)from[k] << 8 * k;
		if (number < WORD_HITS_MAX)
			job->hits[number] = { stretch->number, at, i, key };
	}
}

/* Four bytes from any place of them on. */
static __device__ __forceinline__ uint32_t four(const uint32_t *words, int at)
{
	return __funnelshift_r(words[at / 4], words[at / 4 + 1], 8 * (at % 4));
}

static __global__ void __launch_bounds__(THREADS)
	words_kernel(const __grid_constant__ struct words_job job)
{
	__shared__ uint32_t pairs[WORD_PAIRS / 32];
	struct words_stretch stretch = job.stretches[blockIdx.y];
	uint32_t before = (uint32_t)((uintptr_t)stretch.text % OWN), end = before + stretch.len;
	const uint8_t *text = stretch.text - before;
	uint32_t from = blockIdx.x * BLOCK_LEN;
	if (from >= end)
		return;
	for (uint32_t i = threadIdx.x; i < WORD_PAIRS / 32; i += THREADS)
		pairs[i] = job.table->pairs[i];
	__syncthreads();
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t own = from + (round * THREADS + threadIdx.x) * OWN;
		if (own >= end)
			return;
		uint4 first = *(const uint4 *)(text + own);
		uint32_t words[5] = { first.x, first.y, first.z, first.w,
			*(const uint32_t *)(text + own + OWN) };
		uint32_t any = 0;
#pragma unroll
		for (int i = 0; i < OWN; i++) {
			uint32_t pair = four(words, i) & 0xffff;
			any |= (pairs[pair / 32] >> pair % 32 & 1) << i;
		}
		while (any) {
			uint32_t i = (uint32_t)__ffs((int)any) - 1, at = own + i;
			any &= any - 1;
			if (at < before || at >= end)
				continue;
			uint64_t bytes = 0;
			for (int k = 0; k < WORD_LEN_MAX; k++)
				bytes |= (uint64_t)text[at + k] << 8 * k;
			compare(&job, &stretch, at - before, bytes);
		}
	}
}

cudaError_t words_launch(const struct words_job *job, uint32_t stretch_count, cudaStream_t stream)
{
	uint32_t blocks = (uint32_t)((WORD_STRETCH_MAX + OWN + BLOCK_LEN - 1) / BLOCK_LEN);
	words_kernel<<<dim3(blocks, stretch_count), THREADS, 0, stream>>>(*job);
	return cudaGetLastError();
}
