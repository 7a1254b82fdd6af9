/*
 * What the kernels of ac0..ac4 and mbm0..mbm4 share on the device: reading a block's text into
 * shared memory, tables in texture, and expanding an array of states or nodes.
 */
#ifndef BURIN_GPU_PAPERS_ZHA_CUH
#define BURIN_GPU_PAPERS_ZHA_CUH

#include "gpu/automaton.cuh"
#include "gpu/kernel.h"
#include "gpu/papers/zha.h"

/* 16 bytes at `at`, which may be outside of the text. */
static __device__ __forceinline__ uint4 zha_piece(const struct gpu_text *text, int64_t at)
{
	if (at < 0 || at >= text->len)
		return make_uint4(0, 0, 0, 0);
	return *(const uint4 *)(text->bytes + at);
}

/* The bytes that a block has in shared memory: S_block and the lead. */
static inline __host__ __device__ uint32_t zha_tile_len(
	uint32_t threads, const struct zha_deal *deal)
{
	return threads * 4 * deal->words + deal->lead;
}

/*
 * A block's bytes into shared memory, to be followed by __syncthreads. TOGETHER: by all threads
 * side by side (Fig. 3). Else each thread reads those pieces of 16 bytes that begin in its own
 * bytes, and the last one the lead's.
 */
template <bool TOGETHER>
static __device__ __forceinline__ void zha_read_tile(
	uint4 *tile, const struct gpu_text *text, const struct zha_deal *deal)
{
	uint32_t pieces = zha_tile_len(blockDim.x, deal) / 16;
	int64_t at = deal->origin + (int64_t)blockIdx.x * blockDim.x * 4 * deal->words;
	uint32_t first = threadIdx.x, end = pieces, step = blockDim.x;
	if (!TOGETHER) {
		first = (threadIdx.x * deal->words + 3) / 4;
		end = threadIdx.x + 1 < blockDim.x ? ((threadIdx.x + 1) * deal->words + 3) / 4
						   : pieces;
		step = 1;
	}
	for (uint32_t i = first; i < end; i += step)
		tile[i] = zha_piece(text, at + 16 * (int64_t)i);
}

/* A texture over `count` elements of linear memory. */
static cudaError_t zha_texture_make(
	cudaTextureObject_t *texture, const void *memory, size_t count, bool wide)
{
	struct cudaResourceDesc resource = {};
	struct cudaTextureDesc how = {};
	resource.resType = cudaResourceTypeLinear;
	resource.res.linear.devPtr = (void *)memory;
	resource.res.linear.desc =
		wide ? cudaCreateChannelDesc<uint32_t>() : cudaCreateChannelDesc<uint16_t>();
	resource.res.linear.sizeInBytes = count * (wide ? 4 : 2);
	how.readMode = cudaReadModeElementType;
	return cudaCreateTextureObject(texture, &resource, &how, NULL);
}

/* Blocks of `threads` threads. */
static inline uint32_t zha_blocks(const struct zha_deal *deal, uint32_t threads)
{
	return (uint32_t)((deal->threads + threads - 1) / threads);
}

/* Bytes of an array with a state or node for each byte of text, whole blocks being written. */
static inline size_t zha_array_len(const struct gpu_text *text, uint32_t words, bool wide)
{
	return ((size_t)text->len + 16 + ZHA_T * 4 * words) * (wide ? 4 : 2);
}

#define ZHA_EXPAND_THREADS 256

/* Reports what the accepting states in an array mean; REPORT::at knows whether their keywords end
 * or start there. */
template <bool WIDE, class REPORT>
static __global__ void __launch_bounds__(ZHA_EXPAND_THREADS) zha_expand_kernel(
	const __grid_constant__ struct automaton automaton,
	const __grid_constant__ struct gpu_text text, const __grid_constant__ struct gpu_hits hits,
	const void *array, uint64_t begin, uint64_t end)
{
	uint64_t step = (uint64_t)gridDim.x * ZHA_EXPAND_THREADS;
	for (uint64_t at = begin + blockIdx.x * ZHA_EXPAND_THREADS + threadIdx.x; at < end;
		at += step) {
		uint32_t state =
			WIDE ? ((const uint32_t *)array)[at] : ((const uint16_t *)array)[at];
		if (state >= automaton.accepting)
			REPORT::at(&automaton, state, (uint32_t)at, &text, &hits);
	}
}

/* Of positions [begin, end) of the array. */
template <class REPORT>
static cudaError_t zha_expand(const struct automaton *automaton, bool wide,
	const struct gpu_text *text, const struct gpu_hits *hits, const void *array, uint64_t begin,
	uint64_t end, cudaStream_t stream)
{
	if (begin >= end)
		return cudaSuccess;
	uint64_t wanted = (end - begin + ZHA_EXPAND_THREADS - 1) / ZHA_EXPAND_THREADS;
	uint32_t blocks = device_blocks(wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX, 8);
	auto function = wide ? zha_expand_kernel<true, REPORT> : zha_expand_kernel<false, REPORT>;
	function<<<blocks, ZHA_EXPAND_THREADS, 0, stream>>>(
		*automaton, *text, *hits, array, begin, end);
	return cudaGetLastError();
}

#endif
