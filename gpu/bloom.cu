/*
 * A Bloom filter over the windows of large dictionaries.
 *
 * The plain form, for every position `at` of the text:
 *
 *     hash = bloom_hash(bytes[at .. at + 4), bytes[at + 4 .. at + 8));
 *     if the three bits of the hash are set in its word of the filter:
 *             for each pattern whose window begins with these four bytes: compare the whole pattern
 *
 * The paired-gram filter has one table entry for every value of two bytes; with some thousand
 * patterns most entries name most buckets, and everything becomes a candidate. Here a window is
 * eight bytes long (four, when a pattern has no eight that are fixed), far more selective, and at
 * any position, so one a pattern is enough. All bits of a key are in one 32-bit word, so a
 * position costs one lookup: 128 KiB hold 50,000 keys with about one false candidate in 300
 * positions.
 *
 * The loop over tiles and the queue are those of gram.cu. Sixteen lookups for 16 bytes instead of
 * eight, each with 3.4 wavefronts, and the arithmetic of the hash make it half as fast as gram, but
 * as fast for 50,000 patterns as for 500.
 */
#include "gpu/bloom.h"
#include "gpu/filter.cuh"
#include "gpu/queue.cuh"

#define THREADS 1024
#define LOADS 2
#define TILE (LOADS * 512) /* bytes that a warp searches in a round */
#define WARPS (THREADS / 32)
#define QUEUES_LEN (WARPS * (QUEUE_LEN * 4 + sizeof(struct gpu_stage)))

static_assert(TILE + 16 <= GPU_TEXT_PAD, "a tile may reach past the text");

/* A tile as one thread sees it. */
struct bloom_tile {
	uint32_t words[LOADS][4];
	uint32_t after[2]; /* lane 0: the eight bytes after the tile */
};

static __device__ __forceinline__ void load_tile(
	struct bloom_tile *tile, const uint8_t *bytes, uint32_t at, uint32_t lane)
{
#pragma unroll
	for (int i = 0; i < LOADS; i++)
		text_load(tile->words[i], bytes + at + 512 * i + 16 * lane);
	const uint32_t *after = (const uint32_t *)(bytes + at + TILE);
	tile->after[0] = lane ? 0 : after[0];
	tile->after[1] = lane ? 0 : after[1];
}

template <bool EIGHT>
static __device__ __forceinline__ void search_tile(const struct bloom_tile *tile,
	struct queue *queue, uint32_t at, const struct bloom_tables *tables, const void *filter,
	uint32_t lane, const struct gpu_text *text, const struct gpu_hits *hits)
{
	uint32_t after[2] = { tile->after[0], tile->after[1] };
#pragma unroll
	for (int i = LOADS - 1; i >= 0; i--) {
		uint32_t words[6];
		for (int j = 0; j < 4; j++)
			words[j] = tile->words[i][j];
		/* Lane 0 gives the last lane the beginning of the piece after. */
		for (int j = 0; j < 2; j++) {
			words[4 + j] =
				__shfl_sync(ALL_LANES, lane ? words[j] : after[j], (lane + 1) & 31);
			after[j] = words[j];
		}
		uint32_t found = bloom_filter(filter, EIGHT, words);
		queue_add(queue, found, at + 512 * i + 16 * lane, 1, lane,
			[=](uint32_t candidate) { bloom_confirm(tables, candidate, text, hits); });
	}
}

template <bool EIGHT, bool TABLE_IN_SHARED>
static __global__ void __launch_bounds__(THREADS, 1) bloom_kernel(
	const __grid_constant__ struct bloom_tables tables,
	const __grid_constant__ struct gpu_text text,
	const __grid_constant__ struct gpu_hits called_hits, uint32_t begin, uint32_t tile_count)
{
	extern __shared__ uint4 shared[];
	uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
	const void *filter = tables.filter;
	struct gpu_stage *stages = (struct gpu_stage *)shared;
	struct gpu_hits hits = hits_with_stage(&called_hits, stages + warp, lane);
	struct queue queue = { (uint32_t *)(stages + WARPS) + warp * QUEUE_LEN, 0, &hits };
	if (TABLE_IN_SHARED) {
		uint4 *copy = shared + QUEUES_LEN / 16;
		for (uint32_t i = threadIdx.x; i < BLOOM_TABLE_LEN / 16; i += THREADS)
			copy[i] = ((const uint4 *)tables.filter)[i];
		__syncthreads();
		filter = copy;
	}
	uint32_t tile = blockIdx.x * WARPS + warp, step = gridDim.x * WARPS;
	struct bloom_tile now, next;
	if (tile < tile_count)
		load_tile(&now, text.bytes, begin + tile * TILE, lane);
	for (; tile < tile_count; tile += step) {
		if (tile + step < tile_count)
			load_tile(&next, text.bytes, begin + (tile + step) * TILE, lane);
		search_tile<EIGHT>(
			&now, &queue, begin + tile * TILE, &tables, filter, lane, &text, &hits);
		now = next;
	}
	queue_drain(&queue, 0, lane,
		[&](uint32_t candidate) { bloom_confirm(&tables, candidate, &text, &hits); });
}

/* ---- the row ---- */

static const struct filter_shape shape = { BLOOM_TABLE_LEN, QUEUES_LEN, TILE, WARPS };

static filter_kernel<struct bloom_tables> pick_variant(
	const struct filter_loaded<struct bloom_tables> *loaded)
{
	if (loaded->tables.window_len == 8)
		return loaded->in_shared ? bloom_kernel<true, true> : bloom_kernel<true, false>;
	return loaded->in_shared ? bloom_kernel<false, true> : bloom_kernel<false, false>;
}

static cudaError_t load(void **result, const struct gpu_program *program)
{
	return filter_load(result, bloom_tables(program), &shape, pick_variant);
}

static cudaError_t launch(const void *tables, const struct gpu_text *text,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	return filter_launch(tables, text, hits, stream, &shape, pick_variant);
}

const struct gpu_kernel gpu_bloom = { "bloom", bloom_compile, bloom_free, bloom_cost,
	bloom_describe, load, filter_unload<struct bloom_tables>, launch };
