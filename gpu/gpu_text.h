/*
 * The text that a kernel searches and the hits that it leaves; reading the one and adding to the
 * other. These functions are the same on the device and on the host, so that a single thread's work
 * is tested without a GPU.
 */
#ifndef BURIN_GPU_GPU_TEXT_H
#define BURIN_GPU_GPU_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define GPU_INLINE static __host__ __device__ __forceinline__
#else
#define GPU_INLINE static inline
#endif

#ifdef __CUDA_ARCH__
#define GPU_UNROLL _Pragma("unroll")
#else
#define GPU_UNROLL
#endif

/* How many bytes after a text must be readable (their values don't matter), as kernels load whole
 * tiles. */
#define GPU_TEXT_PAD 8192

struct gpu_text {
	const uint8_t *bytes; /* aligned to 16; len + GPU_TEXT_PAD bytes can be read */
	uint32_t from, to;    /* matches count that start in [from, to); to <= len */
	uint32_t len;         /* bytes, tail included: no match reaches past it */
};

#define GPU_STAGE_LEN 32

/* A warp's hits on their way out, in shared memory: if all threads of a device asked one counter for
 * room one by one, they would wait for it longer than they search. */
struct gpu_stage {
	uint32_t count; /* may exceed GPU_STAGE_LEN: the excess was stored without the stage */
	uint32_t unused;
	uint64_t keys[GPU_STAGE_LEN];
};

/* Hits as keys that sort by (start, pattern): the start within the text above, the pattern
 * below. */
struct gpu_hits {
	uint64_t *keys;
	unsigned long long
		*count; /* hits found; those beyond capacity are counted and not stored */
	uint32_t capacity;
	struct gpu_stage *stage; /* of this warp, or NULL; device.cuh empties it */
};

GPU_INLINE uint64_t gpu_hit_key(uint32_t start, uint32_t pattern)
{
	return (uint64_t)start << 32 | pattern;
}

/* Four bytes from any position, the first in the low byte. */
GPU_INLINE uint32_t gpu_text_read(const uint8_t *bytes, uint32_t at)
{
#ifdef __CUDA_ARCH__
	const uint32_t *words = (const uint32_t *)(bytes + (at & ~3u));
	return __funnelshift_r(__ldg(words), __ldg(words + 1), (at & 3) * 8);
#else
	return bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | (uint32_t)bytes[at + 3] << 24;
#endif
}

/* Counts a hit, and stores it if there is room. On the device it goes to the warp's stage; where
 * that is full or missing, the threads that call together ask for room together. */
GPU_INLINE void gpu_hits_add(const struct gpu_hits *hits, uint32_t start, uint32_t pattern)
{
	uint64_t key = gpu_hit_key(start, pattern);
#ifdef __CUDA_ARCH__
	if (hits->stage) {
		uint32_t place = atomicAdd(&hits->stage->count, 1);
		if (place < GPU_STAGE_LEN) {
			hits->stage->keys[place] = key;
			return;
		}
	}
	unsigned mask = __activemask();
	unsigned lane = threadIdx.x & 31;
	unsigned leader = __ffs(mask) - 1;
	unsigned long long at = 0;
	if (lane == leader)
		at = atomicAdd(hits->count, (unsigned long long)__popc(mask));
	at = __shfl_sync(mask, at, leader) + __popc(mask & ((1u << lane) - 1));
#else
	unsigned long long at = (*hits->count)++;
#endif
	if (at < hits->capacity)
		hits->keys[at] = key;
}

/* The position of the lowest set bit of a number that is not 0. */
GPU_INLINE uint32_t gpu_lowest_bit(uint32_t bits)
{
#ifdef __CUDA_ARCH__
	return __ffs(bits) - 1;
#else
	return __builtin_ctz(bits);
#endif
}

#endif
