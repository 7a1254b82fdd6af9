/* Texts are copied on the device to slabs of the image, which are on one GPU after the other. */
#include "gpu/text_store.cuh"

#include <stdlib.h>

#include "gpu/probe.cuh"

extern "C" {
#include "base/memory.h"
#include "base/ranges.h"
}

#define SLAB_LEN ((uint64_t)1 << 30)

struct kept_text {
	int ids[GPU_DEVICES_MAX];
	unsigned count;
	size_t slab_count;
	uint8_t **slabs;    /* NULL: nothing is kept of it */
	struct ranges kept; /* of the image */
	bool is_full;       /* there was no memory for a slab */
};

static bool has_room(const struct kept_text *kept, uint64_t len)
{
	uint64_t room = 0;
	for (unsigned i = 0; i < kept->count; i++) {
		size_t left = 0, all = 0;
		if (!cudaSetDevice(kept->ids[i]) && !cudaMemGetInfo(&left, &all) &&
			left > KEPT_MEMORY_LEFT)
			room += (left - KEPT_MEMORY_LEFT) / SLAB_LEN * SLAB_LEN;
	}
	(void)cudaGetLastError();
	return len <= room / 2;
}

extern "C" struct kept_text *kept_text_new(const char *devices, uint64_t len)
{
	struct kept_text *kept = (struct kept_text *)xcalloc(1, sizeof(*kept));
	char reason[256];
	int count = gpu_devices(kept->ids, devices, reason, sizeof(reason));
	kept->count = count > 0 ? (unsigned)count : 0;
	if (!has_room(kept, len)) {
		free(kept);
		return NULL;
	}
	kept->slab_count = (size_t)(len / SLAB_LEN) + 1;
	kept->slabs = (uint8_t **)xcalloc(kept->slab_count, sizeof(*kept->slabs));
	return kept;
}

extern "C" void kept_text_free(struct kept_text *kept)
{
	if (!kept)
		return;
	for (size_t i = 0; i < kept->slab_count; i++)
		cudaFree(kept->slabs[i]);
	(void)cudaGetLastError();
	free(kept->slabs);
	ranges_free(&kept->kept);
	free(kept);
}

/* On the GPU whose turn it is; the current one stays the current one. */
static bool add_slab(struct kept_text *kept, size_t number)
{
	int current = 0;
	if (kept->slabs[number] || kept->is_full)
		return !kept->is_full;
	kept->is_full = cudaGetDevice(&current) || cudaSetDevice(kept->ids[number % kept->count]) ||
			cudaMalloc((void **)&kept->slabs[number], SLAB_LEN);
	kept->is_full |= cudaSetDevice(current) != cudaSuccess;
	(void)cudaGetLastError();
	return !kept->is_full;
}

void kept_text_add(struct kept_text *kept, uint64_t offset, const uint8_t *text, size_t len,
	cudaStream_t stream)
{
	for (size_t done = 0, some; done < len; done += some) {
		uint64_t at = offset + done, in = at % SLAB_LEN;
		size_t number = (size_t)(at / SLAB_LEN);
		some = len - done < SLAB_LEN - in ? len - done : (size_t)(SLAB_LEN - in);
		if (number >= kept->slab_count || !add_slab(kept, number) ||
			cudaMemcpyAsync(kept->slabs[number] + in, text + done, some,
				cudaMemcpyDefault, stream)) {
			(void)cudaGetLastError();
			return;
		}
		ranges_add(&kept->kept, at, some);
	}
}

void kept_text_forget(struct kept_text *kept)
{
	kept->is_full = true;
	ranges_free(&kept->kept);
	kept->kept = {};
}

/* How many of the rows are whole in the slab in which the first one begins. */
static size_t whole_rows(uint64_t in, uint64_t size, size_t len, size_t count)
{
	uint64_t rows = in + len <= SLAB_LEN ? (SLAB_LEN - in - len) / size + 1 : 0;
	return rows < count ? (size_t)rows : count;
}

/* One row, part by part. */
static cudaError_t copy_row(
	const struct kept_text *kept, uint64_t offset, size_t len, uint8_t *to, cudaStream_t stream)
{
	cudaError_t failed = cudaSuccess;
	for (size_t done = 0, some; done < len && !failed; done += some) {
		uint64_t at = offset + done, in = at % SLAB_LEN;
		some = len - done < SLAB_LEN - in ? len - done : (size_t)(SLAB_LEN - in);
		failed = cudaMemcpyAsync(to + done, kept->slabs[at / SLAB_LEN] + in, some,
			cudaMemcpyDefault, stream);
	}
	return failed;
}

bool kept_text_copy(const struct kept_text *kept, uint64_t offset, uint64_t size, size_t len,
	size_t count, uint8_t *to, cudaStream_t stream, cudaError_t *failed)
{
	*failed = cudaSuccess;
	if (ranges_overlap(&kept->kept, offset, count * size) < count * size)
		return false;
	for (size_t done = 0, rows; done < count && !*failed; done += rows) {
		uint64_t at = offset + done * size, in = at % SLAB_LEN;
		rows = whole_rows(in, size, len, count - done);
		if (rows)
			*failed = cudaMemcpy2DAsync(to + done * len, len,
				kept->slabs[at / SLAB_LEN] + in, size, len, rows, cudaMemcpyDefault,
				stream);
		else
			*failed = copy_row(kept, at, len, to + done * len, stream);
		rows = rows ? rows : 1;
	}
	return true;
}

const uint8_t *kept_text_at(const struct kept_text *kept, uint64_t offset, uint64_t len, int *gpu)
{
	uint64_t in = offset % SLAB_LEN;
	size_t number = (size_t)(offset / SLAB_LEN);
	if (len > SLAB_LEN - in || ranges_overlap(&kept->kept, offset, len) < len)
		return NULL;
	*gpu = kept->ids[number % kept->count];
	return kept->slabs[number] + in;
}
