/* What the filter kernels (gram, bloom) share on the host side: their tables on a device, and the
 * grid. A block holds the filter in shared memory where it fits; each warp searches tiles. */
#ifndef BURIN_GPU_FILTER_CUH
#define BURIN_GPU_FILTER_CUH

#include <stdlib.h>

#include "gpu/device.cuh"
#include "gpu/kernel.h"

/* The tables on a device. TABLES: struct gram_tables, ... */
template <typename TABLES> struct filter_loaded {
	TABLES tables;
	bool in_shared; /* false on devices whose shared memory is too small for the filter */
};

template <typename TABLES>
using filter_kernel = void (*)(TABLES, struct gpu_text, struct gpu_hits, uint32_t, uint32_t);

struct filter_shape {
	size_t table_len;  /* bytes of the filter */
	size_t queues_len; /* bytes of shared memory that the kernel needs besides */
	uint32_t tile;     /* bytes that a warp searches in a round */
	uint32_t warps;    /* of a block */
};

/* Copies the tables to the current device. pick: the kernel's variant for them. On error nothing
 * stays allocated. */
template <typename TABLES>
static cudaError_t filter_load(void **result, const TABLES *host, const struct filter_shape *shape,
	filter_kernel<TABLES> (*pick)(const struct filter_loaded<TABLES> *))
{
	*result = NULL;
	struct filter_loaded<TABLES> *loaded =
		(struct filter_loaded<TABLES> *)calloc(1, sizeof(*loaded));
	if (!loaded)
		return cudaErrorMemoryAllocation;
	loaded->tables = *host;
	loaded->in_shared = device_shared_len() >= shape->table_len + shape->queues_len;
	cudaError_t error = cudaSuccess;
	if (loaded->in_shared)
		error = cudaFuncSetAttribute(pick(loaded),
			cudaFuncAttributeMaxDynamicSharedMemorySize,
			(int)(shape->table_len + shape->queues_len));
	if (!error)
		error = confirm_load(&loaded->tables.confirm, &host->confirm);
	if (!error) {
		error = device_copy(&loaded->tables.filter, host->filter, shape->table_len);
		if (error)
			confirm_unload(&loaded->tables.confirm);
	}
	if (error)
		free(loaded);
	else
		*result = loaded;
	return error;
}

template <typename TABLES> static void filter_unload(void *tables)
{
	struct filter_loaded<TABLES> *loaded = (struct filter_loaded<TABLES> *)tables;
	if (!loaded)
		return;
	cudaFree((void *)loaded->tables.filter);
	confirm_unload(&loaded->tables.confirm);
	free(loaded);
}

template <typename TABLES>
static cudaError_t filter_launch(const void *tables, const struct gpu_text *text,
	const struct gpu_hits *hits, cudaStream_t stream, const struct filter_shape *shape,
	filter_kernel<TABLES> (*pick)(const struct filter_loaded<TABLES> *))
{
	const struct filter_loaded<TABLES> *loaded = (const struct filter_loaded<TABLES> *)tables;
	if (text->from >= text->to)
		return cudaSuccess;
	uint32_t begin = text->from & ~15u;
	uint64_t last =
		(uint64_t)text->to - 1 + loaded->tables.reach; /* where a window may begin */
	if (last >= text->len)
		last = text->len - 1;
	uint32_t tile_count = (uint32_t)((last - begin) / shape->tile + 1);
	uint32_t blocks = device_blocks((tile_count + shape->warps - 1) / shape->warps, 1);
	size_t shared_len = shape->queues_len + (loaded->in_shared ? shape->table_len : 0);
	pick(loaded)<<<blocks, shape->warps * 32, shared_len, stream>>>(
		loaded->tables, *text, *hits, begin, tile_count);
	return cudaGetLastError();
}

#endif
