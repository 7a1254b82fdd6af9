/* What the kernel families share on the device side: copying tables over, loading text, the grid.
 */
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

/* Makes *device a copy of host whose arrays lie on the current device. On error nothing stays
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

/* An attribute of the current device; `otherwise` when it cannot be found out. */
static inline int device_attribute(enum cudaDeviceAttr attribute, int otherwise)
{
	int device, value;
	if (cudaGetDevice(&device) || cudaDeviceGetAttribute(&value, attribute, device))
		return otherwise;
	return value;
}

/* Shared memory that one block can have. */
static inline size_t device_shared_len(void)
{
	return device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, 48 * 1024);
}

/* As many blocks as there is work for, but no more than run at a time. */
static inline uint32_t device_blocks(uint32_t wanted, uint32_t for_each_multiprocessor)
{
	uint32_t most =
		for_each_multiprocessor * device_attribute(cudaDevAttrMultiProcessorCount, 1);
	return wanted < most ? wanted : most;
}

/* 16 bytes of text: read once, so kept out of the first-level cache. */
static __device__ __forceinline__ void text_load(uint32_t words[4], const uint8_t *bytes)
{
	asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
		     : "l"(bytes));
}

#endif
