/*
 * A chunk's way through a GPU.
 *
 * The usual case costs the host two calls: copy, kernel and a last small kernel are put on the
 * stream at once, and the last one sorts the hits and writes no more than those into host memory.
 * No round trip asks for the count first. If there are more hits than one block can sort, the host
 * has all of them sorted and fetches what fits into the chunk.
 *
 * If there are more than the device has room for, they are only counted, and the text is searched
 * again in pieces whose hits fit, until the chunk's own room is used up; the cut is between two
 * starts, as the contract says. So a flood costs time in proportion to the delivered hits, and no
 * memory. After a flood, only as much of the next chunk is copied as will probably be answered.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "gpu/text_store.cuh"
#include "gpu/slot.cuh"

#define SHIP_THREADS 512
#define SHIP_ITEMS (SLOT_SHIPPED / SHIP_THREADS)
#define PIECE_MIN 65536 /* bytes that are copied at least */

/* ---- hits to the host ---- */

/* One block: sorts up to SLOT_SHIPPED hits and writes them, and the count, to host memory. */
static __global__ void __launch_bounds__(SHIP_THREADS)
	ship_kernel(struct gpu_hits hits, uint64_t *keys, unsigned long long *count)
{
	using sorter = cub::BlockRadixSort<uint64_t, SHIP_THREADS, SHIP_ITEMS>;
	__shared__ typename sorter::TempStorage space;
	unsigned long long found = *hits.count;
	if (threadIdx.x == 0)
		*count = found;
	if (found == 0 || found > SLOT_SHIPPED)
		return;
	uint64_t items[SHIP_ITEMS];
	for (int i = 0; i < SHIP_ITEMS; i++) {
		uint32_t at = threadIdx.x * SHIP_ITEMS + i;
		items[i] = at < found ? hits.keys[at] : UINT64_MAX;
	}
	if (found > 1)
		sorter(space).SortBlockedToStriped(items);
	for (int i = 0; i < SHIP_ITEMS; i++) {
		uint32_t at =
			found > 1 ? i * SHIP_THREADS + threadIdx.x : threadIdx.x * SHIP_ITEMS + i;
		if (at < found)
			keys[at] = items[i];
	}
}

/* Sorts `count` hits into device->fetched. */
static cudaError_t fetch_sorted(struct gpu_slot *slot, uint32_t count)
{
	struct gpu_device *device = slot->device;
	size_t space = device->sort_space_len;
	cudaError_t error = cub::DeviceRadixSort::SortKeys(device->sort_space, space,
		slot->hits.keys, device->sorted, count, 0, 64, slot->stream);
	if (!error)
		error = cudaMemcpyAsync(device->fetched, device->sorted, count * sizeof(uint64_t),
			cudaMemcpyDeviceToHost, slot->stream);
	if (!error)
		error = cudaStreamSynchronize(slot->stream);
	return error;
}

/* Whether the device's hit is one: for a regex the device has only compared what its matches begin
 * with. */
static bool is_hit(const struct gpu_slot *slot, uint64_t key)
{
	const struct pattern *pattern = &slot->regexes->patterns[(uint32_t)key];
	const struct chunk *chunk = slot->chunk;
	size_t start = chunk->from + (key >> 32);
	return !pattern->regex || pattern_match_len(pattern, chunk->data + start,
					  chunk->len + chunk->tail_len - start) > 0;
}

/* Adds sorted hits to the chunk's. False when it is full: chunk->until is then the first start that
 * did not fit. */
static bool deliver(struct gpu_slot *slot, const uint64_t *keys, size_t count)
{
	struct chunk *chunk = slot->chunk;
	size_t group = chunk->hit_count; /* where the hits at the current start begin */
	for (size_t i = 0; i < count; i++) {
		if (i && keys[i] >> 32 != keys[i - 1] >> 32)
			group = chunk->hit_count;
		if (slot->regexes && !is_hit(slot, keys[i]))
			continue;
		if (chunk->hit_count == chunk->hit_capacity) {
			chunk->hit_count = group;
			chunk->until = chunk->from + (keys[i] >> 32);
			return false;
		}
		struct hit *hit = &chunk->hits[chunk->hit_count++];
		hit->offset = chunk->offset + chunk->from + (keys[i] >> 32);
		hit->pattern = (uint32_t)keys[i];
		hit->note = 0;
	}
	return true;
}

/* ---- text to the device ---- */

/* Starts copying the text up to `end` to the device. */
static void copy_text(struct gpu_slot *slot, uint32_t end, bool pinned)
{
	if (end <= slot->copied || slot->error)
		return;
	const uint8_t *data = slot->chunk->data + slot->chunk->from + slot->copied;
	if (!pinned) {
		memcpy(slot->bounce + slot->copied, data, end - slot->copied);
		data = slot->bounce + slot->copied;
	}
	slot->error = cudaMemcpyAsync(slot->text + slot->copied, data, end - slot->copied,
		cudaMemcpyHostToDevice, slot->stream);
	slot->copied = end;
}

/* Puts the search for starts in [from, to) on the stream, with copying its text before and shipping
 * its hits after it. */
static void launch_search(struct gpu_slot *slot, uint32_t from, uint32_t to, bool pinned)
{
	uint64_t end = (uint64_t)to + slot->longest - 1;
	copy_text(slot, end < slot->len ? (uint32_t)end : slot->len, pinned);
	struct gpu_text text = { slot->text, from, to, slot->copied };
	if (!slot->error)
		slot->error = cudaMemsetAsync(
			slot->hits.count, 0, sizeof(*slot->hits.count), slot->stream);
	if (!slot->error && slot->kernel)
		slot->error = slot->kernel->launch(
			slot->device->tables, &text, &slot->hits, slot->stream);
	if (slot->error)
		return;
	ship_kernel<<<1, SHIP_THREADS, 0, slot->stream>>>(
		slot->hits, slot->shipped, slot->shipped_count);
	slot->error = cudaGetLastError();
}

/* Puts the summaries of the text's tiles on the stream: it is all there. */
static void launch_tiles(struct gpu_slot *slot)
{
	uint32_t count = (slot->to + PHOTO_TILE - 1) / PHOTO_TILE;
	slot->error =
		photo_tiles_launch(slot->text, slot->to, slot->copied, slot->tiles, slot->stream);
	if (!slot->error)
		slot->error = cudaMemcpyAsync(slot->tiles_got, slot->tiles,
			count * sizeof(*slot->tiles), cudaMemcpyDeviceToHost, slot->stream);
	slot->kept = { slot->chunk->offset + slot->chunk->from, slot->to,
		slot->chunk->data + slot->chunk->from, slot->text, slot->tiles_got };
}

void gpu_slot_start(struct gpu_slot *slot, struct chunk *chunk, bool pinned, double density)
{
	assert(!slot->chunk);
	slot->chunk = chunk;
	slot->len = (uint32_t)(chunk->len + chunk->tail_len - chunk->from);
	slot->to = (uint32_t)(chunk->len - chunk->from);
	slot->copied = 0;
	slot->searched = slot->to;
	size_t room = chunk->hit_capacity < slot->hits.capacity ? chunk->hit_capacity
								: slot->hits.capacity;
	if (density * slot->to > 2.0 * room) {
		double answered = 2.0 * room / density;
		slot->searched = answered < PIECE_MIN ? PIECE_MIN : (uint32_t)answered;
		if (slot->searched > slot->to)
			slot->searched = slot->to;
	}
	slot->kept.len = 0;
	launch_search(slot, 0, slot->searched, pinned);
	if (slot->tiles && slot->searched == slot->to && !slot->error)
		launch_tiles(slot);
	if (slot->device->kept_text && slot->searched == slot->to && !slot->error)
		kept_text_add(slot->device->kept_text, chunk->offset + chunk->from, slot->text,
			slot->to, slot->stream);
}

/* ---- the end ---- */

/* Waits for the search on the stream; delivers its hits if the device had room for them. Returns
 * how many were found. */
static uint64_t collect(struct gpu_slot *slot, bool *full)
{
	*full = false;
	if (!slot->error)
		slot->error = cudaStreamSynchronize(slot->stream);
	if (slot->error)
		return 0;
	uint64_t count = *slot->shipped_count;
	if (count <= SLOT_SHIPPED) {
		*full = !deliver(slot, slot->shipped, count);
	} else if (count <= slot->hits.capacity) {
		slot->error = fetch_sorted(slot, (uint32_t)count);
		if (!slot->error)
			*full = !deliver(slot, slot->device->fetched, count);
	}
	return count;
}

/* Searches the rest from `at` on in pieces, the first `piece` starts long, until the chunk is done
 * or full. */
static void collect_pieces(struct gpu_slot *slot, uint32_t at, uint32_t piece, bool pinned)
{
	bool full = false;
	while (at < slot->to && !full && !slot->error) {
		if (piece > slot->to - at)
			piece = slot->to - at;
		launch_search(slot, at, at + piece, pinned);
		uint64_t count = collect(slot, &full);
		if (count <= slot->hits.capacity)
			at += piece;
		else
			piece = (uint32_t)((double)piece * slot->hits.capacity / count / 2);
		if (count < slot->hits.capacity / 4 && piece <= UINT32_MAX / 2)
			piece *= 2;
		if (piece == 0)
			piece = 1;
	}
}

double gpu_slot_finish(struct gpu_slot *slot, bool pinned)
{
	struct chunk *chunk = slot->chunk;
	bool full;
	chunk->hit_count = 0;
	chunk->until = chunk->len;
	chunk->status = 0;
	uint64_t count = collect(slot, &full);
	double density = slot->searched ? (double)count / slot->searched : 0;
	if (!full && !slot->error) {
		bool overflow = count > slot->hits.capacity;
		double piece = overflow ? slot->hits.capacity / density / 2 : slot->searched;
		collect_pieces(slot, overflow ? 0 : slot->searched, piece < 1 ? 1 : (uint32_t)piece,
			pinned);
	}
	if (slot->error) {
		chunk->status = -EIO;
		chunk->hit_count = 0;
		(void)cudaGetLastError();
	}
	slot->chunk = NULL;
	return density;
}

/* ---- memory ---- */

cudaError_t gpu_device_open(struct gpu_device *device, uint32_t key_capacity)
{
	device->key_capacity = key_capacity;
	cudaError_t error = cudaMalloc((void **)&device->sorted, key_capacity * sizeof(uint64_t));
	if (!error)
		error = cudaHostAlloc((void **)&device->fetched, key_capacity * sizeof(uint64_t),
			cudaHostAllocDefault);
	if (!error)
		error = cub::DeviceRadixSort::SortKeys(NULL, device->sort_space_len, device->sorted,
			device->sorted, key_capacity, 0, 64);
	if (!error)
		error = cudaMalloc(&device->sort_space, device->sort_space_len);
	return error;
}

void gpu_device_close(struct gpu_device *device)
{
	cudaFree(device->sorted);
	cudaFreeHost(device->fetched);
	cudaFree(device->sort_space);
}

cudaError_t gpu_slot_open(struct gpu_slot *slot, bool with_bounce, bool with_tiles)
{
	slot->hits.capacity = slot->device->key_capacity;
	cudaError_t error = cudaStreamCreateWithFlags(&slot->stream, cudaStreamNonBlocking);
	if (!error)
		error = cudaMalloc((void **)&slot->text, slot->text_capacity + GPU_TEXT_PAD);
	if (!error) /* kernels read past a text, though no result depends on it */
		error = cudaMemset(slot->text, 0, slot->text_capacity + GPU_TEXT_PAD);
	if (!error)
		error = cudaMalloc(
			(void **)&slot->hits.keys, slot->hits.capacity * sizeof(uint64_t));
	if (!error)
		error = cudaMalloc((void **)&slot->hits.count, sizeof(*slot->hits.count));
	if (!error)
		error = cudaHostAlloc((void **)&slot->shipped, SLOT_SHIPPED * sizeof(uint64_t),
			cudaHostAllocMapped);
	if (!error)
		error = cudaHostAlloc((void **)&slot->shipped_count, sizeof(*slot->shipped_count),
			cudaHostAllocMapped);
	size_t tiles = slot->text_capacity / PHOTO_TILE + 1;
	if (!error && with_tiles)
		error = cudaMalloc((void **)&slot->tiles, tiles * sizeof(*slot->tiles));
	if (!error && with_tiles)
		error = cudaHostAlloc((void **)&slot->tiles_got, tiles * sizeof(*slot->tiles),
			cudaHostAllocDefault);
	if (!error)
		error = cudaDeviceSynchronize();
	if (!error && with_bounce)
		error = cudaHostAlloc(
			(void **)&slot->bounce, slot->text_capacity, cudaHostAllocDefault);
	return error;
}

void gpu_slot_close(struct gpu_slot *slot)
{
	if (slot->stream)
		cudaStreamDestroy(slot->stream);
	cudaFree(slot->text);
	cudaFree(slot->hits.keys);
	cudaFree(slot->hits.count);
	cudaFreeHost(slot->shipped);
	cudaFreeHost(slot->shipped_count);
	cudaFreeHost(slot->bounce);
	cudaFree(slot->tiles);
	cudaFreeHost(slot->tiles_got);
}
