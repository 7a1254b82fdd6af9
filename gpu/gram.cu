/*
 * The paired-gram filter.
 *
 * The plain form, for one even position `at` of the text:
 *
 *     buckets = first[gram(at)] & second[gram(at + 2)];
 *     for each bucket: for each pattern whose window in it has these four bytes:
 *             compare the whole pattern
 *
 * The text is cut into grams, pairs of bytes at even positions. Each pattern has two windows of
 * four bytes, one for an even start in the text and one for an odd one, and each window is in one
 * of eight buckets. A table has for each gram the buckets for which it may be the first half of a
 * window (low byte) and those for which the second (high byte). So every two bytes cost one lookup
 * in the table and two or three instructions, whatever the number of patterns; wild bits only fill
 * the table. gram_tables.c chooses windows and buckets, which decides how many candidates remain.
 *
 * How the kernel uses the machine:
 *  - A block of 1,024 threads holds the table, 128 KiB, in the shared memory of a multiprocessor. A
 *    warp searches tiles of 2 KiB: four loads of 16 bytes a thread, and while it searches these the
 *    loads of its next tile are in flight.
 *  - The lookups of a warp fall into random banks: 3.4 wavefronts for 32 lanes on random data.
 *    Where the set is so small that a table of 11 or 12 bits is selective enough, it is kept in 32
 *    or 16 copies and conflicts vanish; the hash is one multiplication (one instruction, in an
 *    otherwise idle pipe), and a mask that keeps the bits and adds the lane's copy.
 *  - The entry of the gram after a thread's 16 bytes comes from the next lane by a shuffle; a tile
 *    is searched from its end, so that the last lane gets its own from the piece after.
 *  - Candidates go into a queue of the warp (queue.cuh).
 */
#include "gpu/filter.cuh"
#include "gpu/gram.h"
#include "gpu/queue.cuh"

#define THREADS 1024
#define LOADS 4
#define TILE (LOADS * 512) /* bytes that a warp searches in a round */
#define WARPS (THREADS / 32)
#define QUEUES_LEN (WARPS * (QUEUE_LEN * 4 + sizeof(struct gpu_stage)))

static_assert(TILE + 16 <= GPU_TEXT_PAD, "a tile may reach past the text");

/* A tile as one thread sees it. */
struct gram_tile {
	uint32_t words[LOADS][4];
	uint32_t after; /* lane 0: the gram after the tile */
};

static __device__ __forceinline__ void load_tile(
	struct gram_tile *tile, const uint8_t *bytes, uint32_t at, uint32_t lane)
{
#pragma unroll
	for (int i = 0; i < LOADS; i++)
		text_load(tile->words[i], bytes + at + 512 * i + 16 * lane);
	tile->after = lane ? 0 : *(const uint16_t *)(bytes + at + TILE);
}

static __device__ __forceinline__ void search_tile(const struct gram_tile *tile,
	struct queue *queue, uint32_t at, const struct gram_tables *tables, const void *filter,
	uint32_t lane, const struct gpu_text *text, const struct gpu_hits *hits)
{
	uint32_t lane_bits = gram_lane_bits(tables->hash, lane);
	uint32_t buckets[LOADS][2], any = 0;
	uint32_t after = gram_entry(filter, tables->hash, lane_bits, tile->after);
#pragma unroll
	for (int i = LOADS - 1; i >= 0; i--) {
		uint32_t entries[8];
		gram_lookup(filter, tables->hash, lane_bits, tile->words[i], entries);
		/* Lane 0 gives the last lane the first entry of the piece after. */
		uint32_t next = __shfl_sync(ALL_LANES, lane ? entries[0] : after, (lane + 1) & 31);
		after = entries[0];
		gram_combine(entries, next, buckets[i]);
		any |= buckets[i][0] | buckets[i][1];
	}
	if (!__any_sync(ALL_LANES, any))
		return;
	auto confirm = [=](uint32_t candidate) {
		gram_confirm(tables, filter, lane_bits, candidate, text, hits);
	};
#pragma unroll
	for (int i = 0; i < LOADS; i++)
		queue_add(queue, gram_nonzero(buckets[i][0]) | gram_nonzero(buckets[i][1]) << 4,
			at + 512 * i + 16 * lane, 2, lane, confirm);
}

template <bool TABLE_IN_SHARED>
static __global__ void __launch_bounds__(THREADS, 1) gram_kernel(
	const __grid_constant__ struct gram_tables tables,
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
		for (uint32_t i = threadIdx.x; i < GRAM_TABLE_LEN / 16; i += THREADS)
			copy[i] = ((const uint4 *)tables.filter)[i];
		__syncthreads();
		filter = copy;
	}
	uint32_t tile = blockIdx.x * WARPS + warp, step = gridDim.x * WARPS;
	struct gram_tile now, next;
	if (tile < tile_count)
		load_tile(&now, text.bytes, begin + tile * TILE, lane);
	for (; tile < tile_count; tile += step) {
		if (tile + step < tile_count)
			load_tile(&next, text.bytes, begin + (tile + step) * TILE, lane);
		search_tile(&now, &queue, begin + tile * TILE, &tables, filter, lane, &text, &hits);
		now = next;
	}
	queue_drain(&queue, 0, lane, [&](uint32_t candidate) {
		gram_confirm(&tables, filter, gram_lane_bits(tables.hash, lane), candidate, &text,
			&hits);
	});
}

/* ---- the row ---- */

static const struct filter_shape shape = { GRAM_TABLE_LEN, QUEUES_LEN, TILE, WARPS };

static filter_kernel<struct gram_tables> pick_variant(
	const struct filter_loaded<struct gram_tables> *loaded)
{
	return loaded->in_shared ? gram_kernel<true> : gram_kernel<false>;
}

static cudaError_t load(void **result, const struct gpu_program *program)
{
	return filter_load(result, gram_tables(program), &shape, pick_variant);
}

static cudaError_t launch(const void *tables, const struct gpu_text *text,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	return filter_launch(tables, text, hits, stream, &shape, pick_variant);
}

const struct gpu_kernel gpu_gram = { "gram", gram_compile, gram_free, gram_cost, gram_describe,
	load, filter_unload<struct gram_tables>, launch };
