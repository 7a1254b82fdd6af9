/*
 * Multipattern Boyer-Moore from GPU to GPU, after Zha and Sahni (IEEE Transactions on Computers
 * 62, 2013), sections 2, 3 and 5.1.2: mbm0 to mbm4. They built mbm0 and mbm1, found them 7 to 10 %
 * slower than ac0 and ac1, and did not expect the other steps to pay; they are here so that this
 * can be measured.
 *
 * The plain form is mbm_search in mbm.h, where the functions char, shift1 and shift2 are: a window
 * is read backwards from its end, along a trie of the reversed keywords, until no child fits; then
 * the functions give the distance by which the window moves. Each node on the way has the keywords
 * that start at the byte by which it was reached. A thread searches its S_thread own bytes and the
 * maxL - 1 after them, as if there were no other text. T, tWord and the rest are as in zha_ac.cu.
 *
 *  mbm0  The trie in device memory, with 256 children for every node, and the text read from there
 *        byte by byte.
 *  mbm1  The trie is looked up through texture.
 *  mbm2  A thread reads its text 16 bytes at a time to shared memory. It does not use them in
 *        order, so it reads all of its bytes first, not a piece at a time as ac2 does.
 *  mbm3  The threads of a block read its text together, side by side.
 *  mbm4  Each thread moves its bytes out of shared memory, which is then free for the output, and
 *        all is written together, 16 bytes a thread and side by side. In ac4 registers hold these
 *        bytes; but here the compiler cannot know which is read next, so it puts them into local
 *        memory, that is into the first-level cache.
 *
 * The output is a node for each byte of the text (section 3.1): the last one that was visited there,
 * over all windows, or zero where no window came. A byte can be reached from several windows, but
 * the last of them ended farthest to the right, so that the keywords of the other windows are
 * prefixes of what its node spells: the node's list has them all. Reversed, prefixes are suffixes,
 * and the list is what Aho and Corasick call an output function. The array is filled with zeros
 * before, except by mbm4.
 *
 * The functions are in shared memory for up to 4,096 nodes, as in the paper, in entries of 16 bits;
 * for more they are read from device memory. char is always in shared memory.
 *
 * What is different: nodes have 32 bits when there are more than 65,536; the longest keyword is of
 * 64 bytes; and with the form with hits, in which the carver uses these kernels, a node is compared
 * with its depth in place of a write. A set with a keyword of one byte can never skip, and is
 * searched all the same.
 */
#include <stdlib.h>

#include "gpu/papers/mbm.h"
#include "gpu/papers/zha.cuh"
#include "gpu/kernel.h"

/* Their limit (section 3.1), set by 16 KiB of shared memory. More would leave a multiprocessor of
 * today with few blocks. */
#define SHARED_NODES 4096

/* The tables on a device. */
struct mbm_loaded {
	struct mbm_tables tables;
	cudaTextureObject_t texture;
	bool wide;
	bool shared;      /* the shift functions are */
	uint32_t threads; /* of a block: T, or half of it where shared memory is short */
};

/* What is the same for all threads of a launch. */
struct mbm_launch {
	struct mbm_tables tables;
	cudaTextureObject_t texture;
	struct gpu_text text;
	struct zha_deal deal;
	struct gpu_hits hits;
	void *array; /* of nodes; NULL: hits are wanted */
};

static inline __host__ __device__ uint32_t shifts_len(const struct mbm_tables *tables)
{
	return (tables->automaton.state_count * sizeof(struct mbm_shift) + 15) & ~15u;
}

/* mbm4, once the block's bytes are in shared memory. */
template <bool WIDE, bool ARRAY>
static __device__ __forceinline__ void search_held(
	struct mbm_view *view, const struct zha_window *window, uint4 *shared, void *block_array)
{
	const uint32_t *own = (const uint32_t *)shared + threadIdx.x * ZHA_TWORD;
	uint32_t held[ZHA_TWORD + ZHA_MAXL / 4];
	for (uint32_t i = 0; i < (window->own + window->lead) / 4; i++)
		held[i] = own[i];
	uint32_t pieces = blockDim.x * window->own * (WIDE ? 4 : 2) / 16;
	if (ARRAY) {
		__syncthreads(); /* what was the text's is the nodes' now */
		for (uint32_t i = threadIdx.x; i < pieces; i += blockDim.x)
			shared[i] = make_uint4(0, 0, 0, 0);
		__syncthreads();
		view->nodes = (uint8_t *)shared + threadIdx.x * window->own * (WIDE ? 4 : 2);
	}
	mbm_search(view, window, (const uint8_t *)held);
	if (ARRAY) {
		__syncthreads();
		for (uint32_t i = threadIdx.x; i < pieces; i += blockDim.x)
			((uint4 *)block_array)[i] = shared[i];
	}
}

template <uint32_t STAGE, bool WIDE, bool ARRAY, bool SHARED>
static __device__ __forceinline__ void search(
	const struct mbm_launch *launch, const struct gpu_hits *hits, uint4 *shared)
{
	__shared__ uint16_t chars[ZHA_COLUMNS];
	const struct mbm_tables *tables = &launch->tables;
	uint4 *tile = shared + (SHARED ? shifts_len(tables) / 16 : 0);
	for (uint32_t i = threadIdx.x; i < ZHA_COLUMNS; i += blockDim.x)
		chars[i] = tables->chars[i];
	if (SHARED)
		for (uint32_t i = threadIdx.x; i < tables->automaton.state_count; i += blockDim.x)
			((struct mbm_shift *)shared)[i] = tables->shifts[i];
	if (STAGE >= 2)
		zha_read_tile<STAGE >= 3>(tile, &launch->text, &launch->deal);
	__syncthreads();

	uint64_t number = (uint64_t)blockIdx.x * blockDim.x;
	struct zha_window window = zha_window_of(&launch->deal, number + threadIdx.x);
	size_t node_len = WIDE ? 4 : 2;
	void *block_array =
		(uint8_t *)launch->array + (launch->deal.origin + number * window.own) * node_len;
	struct mbm_view view = { tables, &launch->text, ARRAY ? NULL : hits,
		(uint8_t *)block_array + threadIdx.x * window.own * node_len,
		SHARED ? (const struct mbm_shift *)shared : tables->shifts, chars, launch->texture,
		STAGE >= 1, WIDE };
	if (STAGE <= 1)
		mbm_search(&view, &window, launch->text.bytes + window.at);
	else if (STAGE <= 3)
		mbm_search(&view, &window, (const uint8_t *)tile + threadIdx.x * window.own);
	else
		search_held<WIDE, ARRAY>(&view, &window, tile, block_array);
}

template <uint32_t STAGE, bool WIDE, bool ARRAY, bool SHARED>
static __global__ void __launch_bounds__(ZHA_T)
	mbm_kernel(const __grid_constant__ struct mbm_launch launch)
{
	extern __shared__ uint4 shared[];
	if constexpr (ARRAY) {
		search<STAGE, WIDE, ARRAY, SHARED>(&launch, NULL, shared);
	} else {
		__shared__ struct gpu_stage stages[ZHA_T / 32];
		uint32_t lane = threadIdx.x & 31;
		struct gpu_hits hits =
			hits_with_stage(&launch.hits, stages + threadIdx.x / 32, lane);
		search<STAGE, WIDE, ARRAY, SHARED>(&launch, &hits, shared);
		hits_flush(&hits, 1, lane);
	}
}

/* ---- which of them ---- */

using mbm_function = void (*)(struct mbm_launch);

template <uint32_t STAGE, bool ARRAY> static mbm_function pick(const struct mbm_loaded *loaded)
{
	if (loaded->wide)
		return mbm_kernel<STAGE, true, ARRAY, false>;
	return loaded->shared ? mbm_kernel<STAGE, false, ARRAY, true>
			      : mbm_kernel<STAGE, false, ARRAY, false>;
}

/* Shared memory of a block that is asked for at the launch. */
static uint32_t shared_len(
	const struct mbm_loaded *loaded, unsigned stage, bool array, uint32_t threads)
{
	struct zha_deal deal = {};
	deal.words = ZHA_TWORD;
	deal.lead = zha_lead(loaded->tables.longest);
	uint32_t tile = stage < 2 ? 0 : zha_tile_len(threads, &deal);
	uint32_t nodes = threads * 4 * ZHA_TWORD * (loaded->wide ? 4 : 2);
	if (stage == 4 && array)
		tile = nodes > tile ? nodes : tile;
	return tile + (loaded->shared ? shifts_len(&loaded->tables) : 0);
}

/* ---- the rows ---- */

static void unload(void *tables)
{
	struct mbm_loaded *loaded = (struct mbm_loaded *)tables;
	if (!loaded)
		return;
	if (loaded->texture)
		cudaDestroyTextureObject(loaded->texture);
	cudaFree((void *)loaded->tables.next16);
	cudaFree((void *)loaded->tables.next32);
	cudaFree((void *)loaded->tables.shifts);
	cudaFree((void *)loaded->tables.chars);
	automaton_unload(&loaded->tables.automaton);
	free(loaded);
}

static cudaError_t load_tables(struct mbm_loaded *loaded, const struct mbm_tables *host)
{
	struct mbm_tables *tables = &loaded->tables;
	size_t count = (size_t)host->automaton.state_count * ZHA_COLUMNS;
	cudaError_t error = automaton_load(&tables->automaton, &host->automaton);
	if (error)
		return error;
	error = host->next32 ? device_copy(&tables->next32, host->next32, count * 4)
			     : device_copy(&tables->next16, host->next16, count * 2);
	if (!error)
		error = device_copy(&tables->shifts, host->shifts,
			host->automaton.state_count * sizeof(*host->shifts));
	if (!error)
		error = device_copy(
			&tables->chars, host->chars, ZHA_COLUMNS * sizeof(*host->chars));
	if (!error)
		error = zha_texture_make(&loaded->texture,
			loaded->wide ? (const void *)tables->next32 : (const void *)tables->next16,
			count, loaded->wide);
	return error;
}

/* Where a block of T threads does not get its shared memory, one of half of them does. */
template <uint32_t STAGE> static cudaError_t allow_shared(struct mbm_loaded *loaded)
{
	size_t room = device_shared_len() - 2048; /* char and the stages of hits */
	loaded->threads = ZHA_T;
	if (shared_len(loaded, STAGE, true, ZHA_T) > room)
		loaded->threads = ZHA_T / 2;
	cudaError_t error = cudaFuncSetAttribute(pick<STAGE, false>(loaded),
		cudaFuncAttributeMaxDynamicSharedMemorySize,
		(int)shared_len(loaded, STAGE, false, loaded->threads));
	if (!error)
		error = cudaFuncSetAttribute(pick<STAGE, true>(loaded),
			cudaFuncAttributeMaxDynamicSharedMemorySize,
			(int)shared_len(loaded, STAGE, true, loaded->threads));
	return error;
}

template <uint32_t STAGE> static cudaError_t load(void **result, const struct gpu_program *program)
{
	const struct mbm_tables *host = mbm_tables(program);
	*result = NULL;
	struct mbm_loaded *loaded = (struct mbm_loaded *)calloc(1, sizeof(*loaded));
	if (!loaded)
		return cudaErrorMemoryAllocation;
	loaded->wide = host->next32 != NULL;
	loaded->shared = host->automaton.state_count <= SHARED_NODES;
	loaded->tables.shortest = host->shortest;
	loaded->tables.longest = host->longest;
	cudaError_t error = load_tables(loaded, host);
	if (!error)
		error = allow_shared<STAGE>(loaded);
	if (error)
		unload(loaded);
	else
		*result = loaded;
	return error;
}

template <uint32_t STAGE, bool ARRAY>
static cudaError_t start(const struct mbm_loaded *loaded, const struct gpu_text *text,
	const struct gpu_hits *hits, void *array, cudaStream_t stream)
{
	struct mbm_launch launch = {};
	launch.tables = loaded->tables;
	launch.texture = loaded->texture;
	launch.text = *text;
	launch.deal = zha_deal_text(
		text, &loaded->tables.automaton.found, loaded->tables.longest, ZHA_TWORD, false);
	if (hits)
		launch.hits = *hits;
	launch.array = array;
	if (!launch.deal.threads)
		return cudaSuccess;
	pick<STAGE, ARRAY>(loaded)<<<zha_blocks(&launch.deal, loaded->threads), loaded->threads,
		shared_len(loaded, STAGE, ARRAY, loaded->threads), stream>>>(launch);
	return cudaGetLastError();
}

template <uint32_t STAGE>
static cudaError_t launch(const void *tables, const struct gpu_text *text,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	const struct mbm_loaded *loaded = (const struct mbm_loaded *)tables;
	return start<STAGE, false>(loaded, text, hits, NULL, stream);
}

static bool form_takes(const struct gpu_program *program)
{
	return found_all_whole(&mbm_tables(program)->automaton.found);
}

static size_t form_len(const void *tables, const struct gpu_text *text)
{
	return zha_array_len(text, ZHA_TWORD, ((const struct mbm_loaded *)tables)->wide);
}

template <uint32_t STAGE>
static cudaError_t launch_form(
	const void *tables, const struct gpu_text *text, void *array, cudaStream_t stream)
{
	const struct mbm_loaded *loaded = (const struct mbm_loaded *)tables;
	if (STAGE < 4) {
		cudaError_t error = cudaMemsetAsync(array, 0, form_len(tables, text), stream);
		if (error)
			return error;
	}
	return start<STAGE, true>(loaded, text, NULL, array, stream);
}

/* A node at a byte: keywords start there. */
struct report_start {
	static __device__ void at(const struct automaton *automaton, uint32_t node, uint32_t at,
		const struct gpu_text *text, const struct gpu_hits *hits)
	{
		mbm_report_node(automaton, node, at, text, hits);
	}
};

static cudaError_t form_expand(const void *tables, const struct gpu_text *text, const void *array,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	const struct mbm_loaded *loaded = (const struct mbm_loaded *)tables;
	const struct automaton *automaton = &loaded->tables.automaton;
	uint64_t end = text->from < text->to ? found_end(&automaton->found, text) : 0;
	return zha_expand<report_start>(
		automaton, loaded->wide, text, hits, array, text->from & ~15u, end, stream);
}

template <uint32_t STAGE>
static int compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	return mbm_compile(program, STAGE, set, tuning, error);
}

template <uint32_t STAGE>
static const struct gpu_form form = { "a node for each byte", GPU_FORM_ALL, form_takes, form_len,
	launch_form<STAGE>, form_expand };

#define ROW(STAGE) \
	{ \
		"mbm" #STAGE, compile<STAGE>, mbm_free, NULL, mbm_describe, load<STAGE>, unload, \
			launch<STAGE>, &form<STAGE> \
	}

const struct gpu_kernel gpu_mbm0 = ROW(0);
const struct gpu_kernel gpu_mbm1 = ROW(1);
const struct gpu_kernel gpu_mbm2 = ROW(2);
const struct gpu_kernel gpu_mbm3 = ROW(3);
const struct gpu_kernel gpu_mbm4 = ROW(4);
