/*
 * The kernel of Kouzinopoulos et al. around either of their algorithms: how the text is divided
 * among blocks and threads and how it is read (their section 4.2), and where the matches go. The stages
 * of their section 6, each with all that the one before has, are described in nfa.cu and wm.cu.
 *
 * An ALGORITHM is a struct that the kernel receives as it is, with the tables on the device:
 *     longest, found                          as in the tables
 *     template <int STAGE> search(own, text, output)   what one thread does
 */
#ifndef BURIN_GPU_PAPERS_SUBCHUNK_CUH
#define BURIN_GPU_PAPERS_SUBCHUNK_CUH

#include <stdlib.h>

#include "gpu/automaton.cuh"
#include "gpu/kernel.h"
#include "gpu/papers/subchunk.h"

enum subchunk_stage {
	SUBCHUNK_U,   /* unoptimised: text and tables from global memory */
	SUBCHUNK_TC,  /* the tables through texture */
	SUBCHUNK_CR,  /* the text is read together, to shared memory */
	SUBCHUNK_R16, /* and 16 bytes at a time */
	SUBCHUNK_CW,  /* a thread writes its count once, together with the other threads */
};

/* In stages without shared memory a thread has n / (numBlocks x blockDim) bytes, but of a short
 * text at least this many: the m - 1 after them are read twice. */
#define SUBCHUNK_SHARE_MIN 128

/* Room in shared memory: S_memsize and the m - 1 bytes after it. */
#define SUBCHUNK_TILE_LEN (SUBCHUNK_MEMSIZE + SUBCHUNK_KEYWORD_MAX)
static_assert(SUBCHUNK_MEMSIZE % SUBCHUNK_THREADS == 0 && SUBCHUNK_MEMSIZE % 16 == 0,
	"shares are equal, pieces whole");

/* What is the same for all threads of a launch. */
struct subchunk_launch {
	struct gpu_text text;
	struct gpu_hits hits;
	uint32_t *counts; /* out: a number for each thread */
	uint32_t end;     /* of the bytes where keywords may start; from text.from on */
};

/* Section 4.2.2: of 16 threads, each four begin their 16 bytes with another word, so that no two meet in a
 * bank of their devices. */
static __device__ __forceinline__ void subchunk_store_in_turns(uint32_t *tile, uint4 words)
{
	uint32_t turn = threadIdx.x % 16 / 4;
	if (turn == 0) {
		tile[0] = words.x;
		tile[1] = words.y;
		tile[2] = words.z;
		tile[3] = words.w;
	} else if (turn == 1) {
		tile[1] = words.y;
		tile[2] = words.z;
		tile[3] = words.w;
		tile[0] = words.x;
	} else if (turn == 2) {
		tile[2] = words.z;
		tile[3] = words.w;
		tile[0] = words.x;
		tile[1] = words.y;
	} else {
		tile[3] = words.w;
		tile[0] = words.x;
		tile[1] = words.y;
		tile[2] = words.z;
	}
}

/* The characters of one S_memsize, and the m - 1 after it: byte by byte, or by uint4 words that are
 * unpacked, or stored in turns. */
template <int STAGE>
static __device__ __forceinline__ void subchunk_read(
	uint8_t *tile, const struct gpu_text *text, uint32_t at, uint32_t longest, bool round_robin)
{
	uint32_t rest = text->len - at, by_words = SUBCHUNK_MEMSIZE;
	if (STAGE < SUBCHUNK_R16)
		by_words = 0;
	for (uint32_t j = threadIdx.x * 16; j < by_words && j < rest; j += SUBCHUNK_THREADS * 16) {
		uint4 words = *(const uint4 *)(text->bytes + at + j);
		if (round_robin) {
			subchunk_store_in_turns((uint32_t *)(tile + j), words);
			continue;
		}
		uint32_t word[4] = { words.x, words.y, words.z, words.w };
#pragma unroll
		for (uint32_t k = 0; k < 16; k++)
			tile[j + k] = (uint8_t)(word[k / 4] >> k % 4 * 8);
	}
	uint32_t len = min(SUBCHUNK_MEMSIZE + longest - 1, rest);
	for (uint32_t j = by_words + threadIdx.x; j < len; j += SUBCHUNK_THREADS)
		tile[j] = text->bytes[at + j];
}

template <int STAGE, typename ALGORITHM>
static __device__ __forceinline__ void subchunk_walk_global(const ALGORITHM *algorithm,
	const struct subchunk_launch *launch, const struct subchunk_output *output)
{
	uint64_t threads = (uint64_t)gridDim.x * SUBCHUNK_THREADS;
	uint64_t share = (launch->end - launch->text.from + threads - 1) / threads;
	share = max(share, (uint64_t)SUBCHUNK_SHARE_MIN);
	uint64_t begin =
		launch->text.from + ((uint64_t)blockIdx.x * SUBCHUNK_THREADS + threadIdx.x) * share;
	if (begin >= launch->end)
		return;
	struct subchunk own = { (uint32_t)begin,
		(uint32_t)min(begin + share, (uint64_t)launch->end), launch->text.bytes, 0 };
	algorithm->template search<STAGE>(&own, &launch->text, output);
}

/* All threads of the block must call it. */
template <int STAGE, typename ALGORITHM>
static __device__ __forceinline__ void subchunk_walk_tiles(const ALGORITHM *algorithm,
	const struct subchunk_launch *launch, const struct subchunk_output *output, uint8_t *tile)
{
	uint64_t step = (uint64_t)gridDim.x * SUBCHUNK_MEMSIZE;
	uint64_t at = (launch->text.from & ~15u) + (uint64_t)blockIdx.x * SUBCHUNK_MEMSIZE;
	for (; at < launch->end; at += step) {
		__syncthreads();
		subchunk_read<STAGE>(tile, &launch->text, (uint32_t)at, algorithm->longest,
			algorithm->tables.round_robin);
		__syncthreads();
		uint64_t begin = at + threadIdx.x * SUBCHUNK_SHARE;
		uint64_t end = min(begin + SUBCHUNK_SHARE, (uint64_t)launch->end);
		begin = max(begin, (uint64_t)launch->text.from);
		struct subchunk own = { (uint32_t)begin, (uint32_t)end, tile, (uint32_t)at };
		if (begin < end)
			algorithm->template search<STAGE>(&own, &launch->text, output);
		if (!output->counting)
			hits_flush(output->hits, GPU_STAGE_LEN / 2, threadIdx.x & 31);
	}
}

template <int STAGE, bool COUNTING, typename ALGORITHM>
static __global__ void __launch_bounds__(SUBCHUNK_THREADS)
	subchunk_kernel(const __grid_constant__ ALGORITHM algorithm,
		const __grid_constant__ struct subchunk_launch launch)
{
	__shared__ uint4 tile[STAGE < SUBCHUNK_CR ? 1 : SUBCHUNK_TILE_LEN / 16];
	__shared__ struct gpu_stage stages[COUNTING ? 1 : SUBCHUNK_THREADS / 32];
	uint32_t lane = threadIdx.x & 31;
	uint32_t *count = launch.counts + (blockIdx.x * SUBCHUNK_THREADS + threadIdx.x);
	uint32_t matches = 0;
	struct gpu_hits hits = launch.hits;
	struct subchunk_output output = { COUNTING, STAGE < SUBCHUNK_CW ? count : &matches, &hits };
	if (!COUNTING)
		hits = hits_with_stage(&launch.hits, stages + threadIdx.x / 32, lane);
	else if (STAGE < SUBCHUNK_CW)
		*count = 0;

	if (STAGE < SUBCHUNK_CR)
		subchunk_walk_global<STAGE>(&algorithm, &launch, &output);
	else
		subchunk_walk_tiles<STAGE>(&algorithm, &launch, &output, (uint8_t *)tile);

	if (!COUNTING)
		hits_flush(&hits, 1, lane);
	else if (STAGE == SUBCHUNK_CW)
		*count = matches;
}

/* The total number of matches was calculated by their CPU; this is only for comparing. */
static __global__ void subchunk_sum(
	const uint32_t *counts, uint32_t thread_count, unsigned long long *total)
{
	unsigned long long sum = 0;
	for (uint32_t i = threadIdx.x; i < thread_count; i += SUBCHUNK_THREADS)
		sum += counts[i];
	atomicAdd(total, sum);
}

/* ---- tables ---- */

static inline void subchunk_destroy(unsigned long long texture)
{
	if (texture)
		cudaDestroyTextureObject(texture);
}

/* A table, and a texture over it if that is wanted. */
template <typename T>
static cudaError_t subchunk_load(
	const T **copy, unsigned long long *texture, const T *host, size_t count, bool textured)
{
	struct cudaResourceDesc resource = {};
	struct cudaTextureDesc description = {};
	cudaError_t error = device_copy(copy, host, count * sizeof(T));
	if (error || !textured)
		return error;
	resource.resType = cudaResourceTypeLinear;
	resource.res.linear.devPtr = (void *)*copy;
	resource.res.linear.desc = cudaCreateChannelDesc<T>();
	resource.res.linear.sizeInBytes = count * sizeof(T);
	description.readMode = cudaReadModeElementType;
	return cudaCreateTextureObject(texture, &resource, &description, NULL);
}

/* ---- the rows' functions ---- */

/* Tables on a device. */
template <typename ALGORITHM> struct subchunk_loaded {
	ALGORITHM algorithm;
	uint32_t hits_resident, counts_resident; /* blocks that run at a time */
};

template <int STAGE, typename ALGORITHM> struct subchunk_row {
	using loaded = subchunk_loaded<ALGORITHM>;

	template <bool COUNTING> static cudaError_t choose_blocks(uint32_t *resident)
	{
		int blocks = 0;
		cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
			&blocks, subchunk_kernel<STAGE, COUNTING, ALGORITHM>, SUBCHUNK_THREADS, 0);
		*resident = device_blocks(UINT32_MAX, blocks > 0 ? blocks : 1);
		return error;
	}

	static uint32_t end_of(const loaded *tables, const struct gpu_text *text)
	{
		return text->from < text->to ? found_end(tables->algorithm.found(), text)
					     : text->from;
	}

	/* numBlocks: as few as fill the device, or have something to do. */
	static uint32_t block_count(
		const loaded *tables, const struct gpu_text *text, uint32_t resident)
	{
		uint64_t share = STAGE < SUBCHUNK_CR ? SUBCHUNK_SHARE_MIN * SUBCHUNK_THREADS
						     : SUBCHUNK_MEMSIZE;
		uint64_t len = end_of(tables, text) - (text->from & ~15u);
		uint64_t wanted = (len + share - 1) / share;
		return wanted < 1 ? 1 : wanted < resident ? (uint32_t)wanted : resident;
	}

	static uint32_t count_blocks(const void *tables, const struct gpu_text *text)
	{
		return block_count(
			(const loaded *)tables, text, ((const loaded *)tables)->counts_resident);
	}

	static void unload(void *tables)
	{
		if (tables)
			((loaded *)tables)->algorithm.unload();
		free(tables);
	}

	static cudaError_t load(void **result, const struct gpu_program *program)
	{
		*result = NULL;
		loaded *tables = (loaded *)calloc(1, sizeof(*tables));
		if (!tables)
			return cudaErrorMemoryAllocation;
		cudaError_t error = choose_blocks<false>(&tables->hits_resident);
		if (!error)
			error = choose_blocks<true>(&tables->counts_resident);
		if (!error)
			error = tables->algorithm.load(program, STAGE >= SUBCHUNK_TC);
		if (error)
			unload(tables);
		else
			*result = tables;
		return error;
	}

	static cudaError_t launch(const void *memory, const struct gpu_text *text,
		const struct gpu_hits *hits, cudaStream_t stream)
	{
		const loaded *tables = (const loaded *)memory;
		if (text->from >= text->to)
			return cudaSuccess;
		struct subchunk_launch all = { *text, *hits, NULL, end_of(tables, text) };
		uint32_t blocks = block_count(tables, text, tables->hits_resident);
		subchunk_kernel<STAGE, false>
			<<<blocks, SUBCHUNK_THREADS, 0, stream>>>(tables->algorithm, all);
		return cudaGetLastError();
	}

	static bool form_takes(const struct gpu_program *program)
	{
		return found_all_whole(ALGORITHM::found_of(program));
	}

	static size_t form_len(const void *tables, const struct gpu_text *text)
	{
		return (size_t)count_blocks(tables, text) * SUBCHUNK_THREADS * sizeof(uint32_t);
	}

	static cudaError_t form_launch(
		const void *memory, const struct gpu_text *text, void *array, cudaStream_t stream)
	{
		const loaded *tables = (const loaded *)memory;
		struct subchunk_launch all = { *text, {}, (uint32_t *)array, end_of(tables, text) };
		subchunk_kernel<STAGE, true>
			<<<count_blocks(memory, text), SUBCHUNK_THREADS, 0, stream>>>(
				tables->algorithm, all);
		return cudaGetLastError();
	}

	static cudaError_t form_expand(const void *tables, const struct gpu_text *text,
		const void *array, const struct gpu_hits *hits, cudaStream_t stream)
	{
		subchunk_sum<<<1, SUBCHUNK_THREADS, 0, stream>>>((const uint32_t *)array,
			count_blocks(tables, text) * SUBCHUNK_THREADS, hits->count);
		return cudaGetLastError();
	}

	static constexpr struct gpu_form form = { "a number of matches for each thread",
		GPU_FORM_COUNT, form_takes, form_len, form_launch, form_expand };
};

#endif
