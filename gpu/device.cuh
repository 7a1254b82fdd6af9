/* What the kernel families share on the device side: copying tables over, loading text, the
 * grid. */
#ifndef BURIN_GPU_DEVICE_CUH
#define BURIN_GPU_DEVICE_CUH

#include <cuda_runtime.h>

#include "gpu/confirm.h"

/* Allocates device memory and copies len bytes there. *copy is NULL on error. */
template <typename T> static cudaError_t device_copy(const T **copy, const T *data, size_t len)
{
	void *memory = NULL;
	*copy = NULL;
	cudaError_t error = cudaMalloc(&memory, (len | 15) + 1); /* kernels may copy whole words */
	if (error)
		return error;
	error = cudaMemcpy(memory, data, len, cudaMemcpyHostToDevice);
	if (error)
		cudaFree(memory);
	else
		*copy = (const T *)memory;
	return error;
}

static inline void confirm_unload(struct confirm *confirm)
{
	cudaFree((void *)confirm->slots);
	cudaFree((void *)confirm->records);
	cudaFree((void *)confirm->patterns);
	cudaFree((void *)confirm->words);
	cudaFree((void *)confirm->masks);
}

/* Makes *device a copy of host with its arrays on the current device. On error nothing stays
 * allocated. */
static inline cudaError_t confirm_load(struct confirm *device, const struct confirm *host)
{
	*device = *host;
	device->slots = NULL, device->records = NULL, device->patterns = NULL;
	device->words = NULL, device->masks = NULL;
	cudaError_t error =
		device_copy(&device->slots, host->slots, host->slot_count * sizeof(*host->slots));
	if (!error)
		error = device_copy(&device->records, host->records,
			host->record_count * sizeof(*host->records));
	if (!error)
		error = device_copy(&device->patterns, host->patterns,
			host->pattern_count * sizeof(*host->patterns));
	if (!error)
		error = device_copy(
			&device->words, host->words, host->word_count * sizeof(*host->words));
	if (!error)
		error = device_copy(
			&device->masks, host->masks, host->mask_count * sizeof(*host->masks));
	if (error)
		confirm_unload(device);
	return error;
}

/* An attribute of the current device; `otherwise` when CUDA does not report it. */
static inline int device_attribute(enum cudaDeviceAttr attribute, int otherwise)
{
	int device, value;
	if (cudaGetDevice(&device) || cudaDeviceGetAttribute(&value, attribute, device))
		return otherwise;
	return value;
}

/* Shared memory that one block can have. With -DGPU_SHARED_LEN=49152 a large device behaves like a
 * small one, for tests. */
static inline size_t device_shared_len(void)
{
#ifdef GPU_SHARED_LEN
	return GPU_SHARED_LEN;
#endif
	return device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, 48 * 1024);
}

/* As many blocks as there is work for, but no more than run at a time. */
static inline uint32_t device_blocks(uint32_t wanted, uint32_t for_each_multiprocessor)
{
	uint32_t limit =
		for_each_multiprocessor * device_attribute(cudaDevAttrMultiProcessorCount, 1);
	return wanted < limit ? wanted : limit;
}

/* 16 bytes of text: read once, so kept out of the first-level cache. */
static __device__ __forceinline__ void text_load(uint32_t words[4], const uint8_t *bytes)
{
	asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
		     : "l"(bytes));
}

/* Moves the staged hits to the list, if there are at least `least`; all lanes of the warp must call
 * it. */
static __device__ __forceinline__ void hits_flush(
	const struct gpu_hits *hits, uint32_t least, uint32_t lane)
{
	struct gpu_stage *stage = hits->stage;
	__syncwarp();
	uint32_t count = min(stage->count, GPU_STAGE_LEN);
	__syncwarp();
	if (count < least || count == 0)
		return;
	unsigned long long at = 0;
	if (lane == 0) {
		at = atomicAdd(hits->count, (unsigned long long)count);
		stage->count = 0;
	}
	at = __shfl_sync(0xffffffffu, at, 0) + lane;
	if (lane < count && at < hits->capacity)
		hits->keys[at] = stage->keys[lane];
	__syncwarp();
}

/* The kernel's own copy of its argument, with the warp's stage, which is emptied. */
static __device__ __forceinline__ struct gpu_hits hits_with_stage(
	const struct gpu_hits *hits, struct gpu_stage *stage, uint32_t lane)
{
	struct gpu_hits own = *hits;
	own.stage = stage;
	if (lane == 0)
		stage->count = 0;
	__syncwarp();
	return own;
}

#endif
