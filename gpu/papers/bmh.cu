/*
 * Boyer-Moore-Horspool as Yutong Han has it in "Accelerate String Searching Algorithm with GPU
 * Using CUDA".
 *
 * The plain form is bmh_search in bmh.h with one thread (the paper's Algorithm 1): a window as long
 * as the pattern is compared from right to left; if it differs, the window moves by the entry of
 * its last byte in the table of bad characters, and after a match by one byte. With long patterns
 * most bytes of the text are never read.
 *
 * The kernel: the table is made on the host; the text is cut into as many segments as there are
 * threads, 256 blocks of 16 by the paper's choice (its Table II tries others), and a thread's
 * windows reach M - 1 bytes into the next segment. Everything is in global memory. That is
 * all, and few threads for a device with room for tens of thousands.
 *
 * What differs from the paper:
 *  - Its segments are M longer, so that a match in the last of these bytes is found by two threads.
 *    Here the matches that start in a segment belong to its thread.
 *  - It has one pattern. Here each thread searches its segment once for each pattern of the set, so
 *    that many patterns take that many times as long.
 *  - Patterns may have wild bits, which compare as equal and shorten shifts; nothing is written out
 *    or confirmed.
 *  - "An integer array to record the locations" has an element for each byte of the text here: the
 *    number of the pattern that starts there, plus 1. Shorter patterns come first and longer ones
 *    write over them.
 * The worst case is that of the algorithm: M times the text's length for each pattern.
 */
#include <stdlib.h>

#include "gpu/device.cuh"
#include "gpu/kernel.h"
#include "gpu/papers/bmh.h"
#include "gpu/kernel.h"

/* places: the paper's array, or NULL for hits. */
template <bool FORM>
static __global__ void __launch_bounds__(BMH_THREADS_MAX, 1)
	bmh_kernel(const __grid_constant__ struct bmh_tables tables,
		const __grid_constant__ struct gpu_text text,
		const __grid_constant__ struct gpu_hits hits, uint32_t *places)
{
	struct bmh_out out = { &hits, FORM ? places : NULL };
	uint64_t begin, end;
	bmh_segment(&text, (uint64_t)blockIdx.x * blockDim.x + threadIdx.x,
		(uint64_t)gridDim.x * blockDim.x, &begin, &end);
	bmh_search(&tables, begin, end, &text, &out);
}

static __global__ void __launch_bounds__(256)
	expand_kernel(const __grid_constant__ struct gpu_text text,
		const __grid_constant__ struct gpu_hits hits, const uint32_t *places)
{
	uint64_t at = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (at < text.len && places[at])
		gpu_hits_add(&hits, (uint32_t)at, places[at] - 1);
}

/* ---- loading ---- */

static void unload(void *memory)
{
	struct bmh_tables *tables = (struct bmh_tables *)memory;
	if (!tables)
		return;
	cudaFree((void *)tables->patterns);
	cudaFree((void *)tables->shifts);
	cudaFree((void *)tables->bytes);
	cudaFree((void *)tables->masks);
	free(tables);
}

static cudaError_t load(void **result, const struct gpu_program *program)
{
	const struct bmh_tables *host = bmh_tables(program);
	struct bmh_tables *tables = (struct bmh_tables *)malloc(sizeof(*tables));
	*result = NULL;
	if (!tables)
		return cudaErrorMemoryAllocation;
	*tables = *host;
	tables->patterns = NULL, tables->shifts = NULL, tables->bytes = NULL, tables->masks = NULL;
	cudaError_t error = device_copy(
		&tables->patterns, host->patterns, host->count * sizeof(*host->patterns));
	if (!error)
		error = device_copy(
			&tables->shifts, host->shifts, host->count * 256 * sizeof(*host->shifts));
	if (!error)
		error = device_copy(&tables->bytes, host->bytes, host->byte_count);
	if (!error)
		error = device_copy(&tables->masks, host->masks, host->byte_count);
	if (error)
		unload(tables);
	else
		*result = tables;
	return error;
}

/* ---- launching ---- */

static cudaError_t launch(const void *memory, const struct gpu_text *text,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	const struct bmh_tables *tables = (const struct bmh_tables *)memory;
	if (text->from >= text->to || !tables->count)
		return cudaSuccess;
	bmh_kernel<false>
		<<<tables->blocks, tables->threads, 0, stream>>>(*tables, *text, *hits, NULL);
	return cudaGetLastError();
}

static size_t form_len(const void *memory, const struct gpu_text *text)
{
	(void)memory;
	return sizeof(uint32_t) * text->len;
}

static cudaError_t form_launch(
	const void *memory, const struct gpu_text *text, void *array, cudaStream_t stream)
{
	const struct bmh_tables *tables = (const struct bmh_tables *)memory;
	cudaError_t error = cudaMemsetAsync(array, 0, form_len(memory, text), stream);
	if (error || text->from >= text->to || !tables->count)
		return error;
	bmh_kernel<true><<<tables->blocks, tables->threads, 0, stream>>>(
		*tables, *text, gpu_hits(), (uint32_t *)array);
	return cudaGetLastError();
}

static cudaError_t form_expand(const void *memory, const struct gpu_text *text, const void *array,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	(void)memory;
	if (!text->len)
		return cudaSuccess;
	expand_kernel<<<((uint64_t)text->len + 255) / 256, 256, 0, stream>>>(
		*text, *hits, (const uint32_t *)array);
	return cudaGetLastError();
}

static const struct gpu_form form = { "a pattern for each byte", GPU_FORM_LONGEST, NULL, form_len,
	form_launch, form_expand };

const struct gpu_kernel gpu_bmh = { "bmh", bmh_compile, bmh_free, NULL, bmh_describe, load, unload,
	launch, &form };
