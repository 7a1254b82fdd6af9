/*
 * Aho-Corasick from GPU to GPU, after Zha and Sahni (IEEE Transactions on Computers 62, 2013),
 * section 3: ac0 to ac4, each with all that the one before has.
 *
 * The plain form is theirs, Algorithm basic of Fig. 2, zha_ac_basic in zha_ac.h: a thread walks
 * maxL - 1 bytes to get into the right state, and then its own S_thread bytes; a
 * byte is one lookup in a table with a row for every state and a column for every byte value; the
 * state after each of its own bytes is written to the array `output`. Their parameters are kept:
 * T = 64, tWord = 57, so S_thread = 228 and S_block = 14,592; with maxL = 17 the threads read
 * 1.07 n bytes in all.
 *
 *  ac0  Algorithm basic, the table in device memory. Text is read byte by byte, states are written
 *       one by one, each thread 228 bytes from its neighbour: their deficiencies D1 and D2.
 *  ac1  The table is looked up through texture. On the GT200 this was the only cache for it, and
 *       worth nearly twice; today device memory is read through the same first-level cache.
 *  ac2  A thread reads 16 bytes of its text at a time (one uint4) into its place in shared memory,
 *       and takes them from there byte by byte. S_thread = 228 is not a multiple of 16, so windows
 *       begin and end within such a piece, which then is read by two threads.
 *  ac3  The threads of a block read S_block bytes, and maxL - 1 before them, together and side by
 *       side (Fig. 3), to shared memory: D1 is gone. Then each thread takes its own bytes; all are
 *       at the same place of stretches of tWord words, and by Theorem 1 (zha_bank_ways) do not meet
 *       in a bank if tWord is odd. With tuning->uints it takes words and not bytes.
 *  ac4  Each thread takes its bytes into registers, so that the shared memory is free for states.
 *       The threads leave the states of 64 bytes each there, and write them together: D2 is gone.
 *       An odd tWord has its price here. 4 * tWord states of 16 bits are 8 * tWord bytes, so
 *       every other thread's states begin at an odd multiple of 8 bytes: writes are of 8 bytes
 *       (uint2), and a thread's 128 bytes span two segments of 128 (zha_ac_write_words).
 *       With tWord = 48 and 56 writes are of 16 bytes, and with 48 in whole segments, but where
 *       stretches are read 16 and 8 threads of a warp meet in a bank. They found 57 the fastest, by
 *       14.78 and 7.8 %. On an H200 it is the other way round, by a quarter or more: writes take
 *       most of the time, and each word is read from shared memory once.
 *
 * What is different:
 *  - Shared memory has 32 banks and serves a warp of 32 at once: Theorem 1 for C = 32.
 *  - The rows in shared memory in which ac4 leaves states have a word more than they need. They say
 *    nothing about these stores; 32 words a row would put all threads of a warp into one bank.
 *  - They set the bytes before the text to one with which no pattern begins. There may be none, so
 *    a thread begins where there is text.
 *  - States have 32 bits when there are more than 65,536, and texture has up to 2^19 of them: with
 *    more, keywords are cut (zha_ac_tables.c).
 *  - In the form with hits, in which the carver uses these kernels, a match belongs to the thread
 *    in whose own bytes it starts; the window's other maxL - 1 bytes are after those then. The
 *    walk is the same. As accepting states are numbered after all others, one comparison takes
 *    the place of a write, so there is no D2, and ac4 differs from ac3 in the registers only.
 */
#include <stdlib.h>

#include "gpu/papers/zha.cuh"
#include "gpu/papers/zha_ac.h"
#include "gpu/kernel.h"

/* The tables on a device. */
struct zha_ac_loaded {
	struct ac_tables tables;
	cudaTextureObject_t texture;
	unsigned words;
	bool uints, wide;
	uint32_t longest;
};

/* What is the same for all threads of a launch. */
struct zha_ac_launch {
	struct ac_tables tables;
	cudaTextureObject_t texture;
	struct gpu_text text;
	struct zha_deal deal;
	struct gpu_hits hits;
	void *array; /* of states; NULL: hits are wanted */
};

/*
 * ac4, once the block's bytes are in shared memory. The loops over words and rounds are unrolled,
 * or there would be no registers to hold them. Where states are wanted, what was the text's place
 * in shared memory is theirs from then on; where hits are, the text stays, and a round in which
 * there are any is gone through once more.
 */
template <bool WIDE, bool ARRAY, uint32_t WORDS>
static __device__ __forceinline__ void search_registers(const struct zha_ac_view *view,
	const struct zha_window *window, uint32_t *shared, void *block_array)
{
	const uint32_t *own = shared + threadIdx.x * WORDS;
	const uint8_t *bytes = (const uint8_t *)own;
	uint32_t *row = shared + threadIdx.x * zha_ac_row_words(WIDE);
	uint32_t state = 0, held[WORDS];
	if (ARRAY)
		state = zha_ac_bytes(
			view, window, state, bytes, 0, window->first, window->own_first, NULL);
#pragma unroll
	for (uint32_t i = 0; i < WORDS; i++)
		held[i] = own[window->own_first / 4 + i];
	if (ARRAY)
		__syncthreads();
#pragma unroll
	for (uint32_t round = 0; round * (ZHA_ROUND / 4) < WORDS; round++) {
		uint32_t before = state, highest = 0, from = round * ZHA_ROUND;
		state = zha_ac_round(view, window, state, held, WORDS, round, row, &highest);
		if (ARRAY) {
			__syncthreads();
			zha_ac_write(
				block_array, shared, threadIdx.x, blockDim.x, WORDS, round, WIDE);
			__syncthreads();
		} else if (highest >= view->tables->automaton.accepting) {
			zha_ac_bytes(view, window, before, bytes, 0, from,
				min(from + ZHA_ROUND, window->own), NULL);
		}
	}
	if (!ARRAY)
		zha_ac_bytes(view, window, state, bytes, 0, window->own, window->last, NULL);
}

/* WORDS: of ac4; else 0. */
template <uint32_t STAGE, bool WIDE, bool ARRAY, bool UINTS, uint32_t WORDS>
static __device__ __forceinline__ void search(
	const struct zha_ac_launch *launch, const struct gpu_hits *hits, uint4 *shared)
{
	const struct zha_ac_view view = { &launch->tables, &launch->text, ARRAY ? NULL : hits,
		launch->texture, STAGE >= 1, WIDE };
	uint64_t number = (uint64_t)blockIdx.x * blockDim.x;
	uint64_t block_at =
		launch->deal.origin + launch->deal.lead + number * 4 * launch->deal.words;
	void *block_array = (uint8_t *)launch->array + block_at * (WIDE ? 4 : 2);
	struct zha_window window = zha_window_of(&launch->deal, number + threadIdx.x);
	const struct zha_ac_states states = {
		(uint8_t *)block_array + (size_t)threadIdx.x * window.own * (WIDE ? 4 : 2), 0
	};
	if (STAGE <= 1) {
		zha_ac_basic(&view, &window, launch->text.bytes + window.at, &states);
	} else if (STAGE == 2) {
		zha_ac_pieces(&view, &window, (uint8_t *)(shared + threadIdx.x), &states);
	} else {
		zha_read_tile<true>(shared, &launch->text, &launch->deal);
		__syncthreads();
		const uint32_t *own = (const uint32_t *)shared + threadIdx.x * launch->deal.words;
		if constexpr (STAGE == 4)
			search_registers<WIDE, ARRAY, WORDS>(
				&view, &window, (uint32_t *)shared, block_array);
		else if (UINTS)
			zha_ac_uints(&view, &window, own, &states);
		else
			zha_ac_basic(&view, &window, (const uint8_t *)own, &states);
	}
}

template <uint32_t STAGE, bool WIDE, bool ARRAY, bool UINTS, uint32_t WORDS>
static __global__ void __launch_bounds__(ZHA_T)
	zha_ac_kernel(const __grid_constant__ struct zha_ac_launch launch)
{
	extern __shared__ uint4 shared[];
	if constexpr (ARRAY) {
		search<STAGE, WIDE, ARRAY, UINTS, WORDS>(&launch, NULL, shared);
	} else {
		__shared__ struct gpu_stage stages[ZHA_T / 32];
		uint32_t lane = threadIdx.x & 31;
		struct gpu_hits hits =
			hits_with_stage(&launch.hits, stages + threadIdx.x / 32, lane);
		search<STAGE, WIDE, ARRAY, UINTS, WORDS>(&launch, &hits, shared);
		hits_flush(&hits, 1, lane);
	}
}

/* ---- which of them ---- */

using zha_ac_function = void (*)(struct zha_ac_launch);

template <uint32_t STAGE, bool WIDE, bool ARRAY>
static zha_ac_function pick_options(const struct zha_ac_loaded *loaded)
{
	if constexpr (STAGE == 3)
		return loaded->uints ? zha_ac_kernel<3, WIDE, ARRAY, true, 0>
				     : zha_ac_kernel<3, WIDE, ARRAY, false, 0>;
	else if constexpr (STAGE < 3)
		return zha_ac_kernel<STAGE, WIDE, ARRAY, false, 0>;
	else if (loaded->words == ZHA_TWORD_WRITES)
		return zha_ac_kernel<4, WIDE, ARRAY, false, ZHA_TWORD_WRITES>;
	else if (loaded->words == ZHA_TWORD_EVEN)
		return zha_ac_kernel<4, WIDE, ARRAY, false, ZHA_TWORD_EVEN>;
	else
		return zha_ac_kernel<4, WIDE, ARRAY, false, ZHA_TWORD>;
}

template <uint32_t STAGE>
static zha_ac_function pick(const struct zha_ac_loaded *loaded, bool array)
{
	if (loaded->wide)
		return array ? pick_options<STAGE, true, true>(loaded)
			     : pick_options<STAGE, true, false>(loaded);
	return array ? pick_options<STAGE, false, true>(loaded)
		     : pick_options<STAGE, false, false>(loaded);
}

/* Shared memory of a block beside the stages of hits. */
static uint32_t shared_len(const struct zha_ac_loaded *loaded, unsigned stage)
{
	struct zha_deal deal = {};
	deal.words = loaded->words;
	deal.lead = zha_lead(loaded->longest);
	uint32_t tile = zha_tile_len(ZHA_T, &deal);
	uint32_t rows = ZHA_T * zha_ac_row_words(loaded->wide) * 4;
	if (stage < 2)
		return 0;
	if (stage == 2)
		return ZHA_T * 16;
	return stage == 4 && rows > tile ? rows : tile;
}

/* ---- the rows ---- */

static void unload(void *tables)
{
	struct zha_ac_loaded *loaded = (struct zha_ac_loaded *)tables;
	if (!loaded)
		return;
	if (loaded->texture)
		cudaDestroyTextureObject(loaded->texture);
	cudaFree((void *)loaded->tables.next16);
	cudaFree((void *)loaded->tables.next32);
	automaton_unload(&loaded->tables.automaton);
	free(loaded);
}

/* The transitions, which are all that is looked up for a byte, and their texture. */
static cudaError_t load_transitions(struct zha_ac_loaded *loaded, const struct ac_tables *host)
{
	size_t count = (size_t)host->automaton.state_count * ZHA_COLUMNS;
	cudaError_t error = host->next32
				    ? device_copy(&loaded->tables.next32, host->next32, count * 4)
				    : device_copy(&loaded->tables.next16, host->next16, count * 2);
	const void *memory = host->next32 ? (const void *)loaded->tables.next32
					  : (const void *)loaded->tables.next16;
	return error ? error
		     : zha_texture_make(&loaded->texture, memory, count, host->next32 != NULL);
}

template <uint32_t STAGE> static cudaError_t load(void **result, const struct gpu_program *memory)
{
	const struct zha_ac_program *program = (const struct zha_ac_program *)memory;
	const struct ac_tables *host = ac_tables(program->ac);
	*result = NULL;
	struct zha_ac_loaded *loaded = (struct zha_ac_loaded *)calloc(1, sizeof(*loaded));
	if (!loaded)
		return cudaErrorMemoryAllocation;
	loaded->wide = host->next32 != NULL;
	loaded->words = program->words;
	loaded->uints = program->uints;
	loaded->longest = program->longest;
	loaded->tables.columns = host->columns;
	cudaError_t error = automaton_load(&loaded->tables.automaton, &host->automaton);
	if (!error)
		error = load_transitions(loaded, host);
	if (error)
		unload(loaded);
	else
		*result = loaded;
	return error;
}

template <uint32_t STAGE>
static cudaError_t start(const struct zha_ac_loaded *loaded, const struct gpu_text *text,
	const struct gpu_hits *hits, void *array, cudaStream_t stream)
{
	struct zha_ac_launch launch = {};
	launch.tables = loaded->tables;
	launch.texture = loaded->texture;
	launch.text = *text;
	launch.deal = zha_deal_text(text, &loaded->tables.automaton.found, loaded->longest,
		loaded->words, array != NULL);
	if (hits)
		launch.hits = *hits;
	launch.array = array;
	if (!launch.deal.threads)
		return cudaSuccess;
	pick<STAGE>(loaded, array != NULL)<<<zha_blocks(&launch.deal, ZHA_T), ZHA_T,
		shared_len(loaded, STAGE), stream>>>(launch);
	return cudaGetLastError();
}

template <uint32_t STAGE>
static cudaError_t launch(const void *tables, const struct gpu_text *text,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	return start<STAGE>((const struct zha_ac_loaded *)tables, text, hits, NULL, stream);
}

template <uint32_t STAGE>
static cudaError_t launch_form(
	const void *tables, const struct gpu_text *text, void *array, cudaStream_t stream)
{
	return start<STAGE>((const struct zha_ac_loaded *)tables, text, NULL, array, stream);
}

static bool form_takes(const struct gpu_program *program)
{
	return found_all_whole(
		&ac_tables(((const struct zha_ac_program *)program)->ac)->automaton.found);
}

static size_t form_len(const void *tables, const struct gpu_text *text)
{
	const struct zha_ac_loaded *loaded = (const struct zha_ac_loaded *)tables;
	return zha_array_len(text, loaded->words, loaded->wide);
}

/* A state at a byte: keywords have ended there. */
struct report_end {
	static __device__ void at(const struct automaton *automaton, uint32_t state, uint32_t at,
		const struct gpu_text *text, const struct gpu_hits *hits)
	{
		automaton_report(automaton, state, at + 1, UINT32_MAX, text, hits);
	}
};

static cudaError_t form_expand(const void *tables, const struct gpu_text *text, const void *array,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	const struct zha_ac_loaded *loaded = (const struct zha_ac_loaded *)tables;
	const struct automaton *automaton = &loaded->tables.automaton;
	struct zha_deal deal =
		zha_deal_text(text, &automaton->found, loaded->longest, loaded->words, true);
	uint64_t end = text->from < text->to ? deal.limit : 0;
	return zha_expand<report_end>(
		automaton, loaded->wide, text, hits, array, text->from & ~15u, end, stream);
}

template <uint32_t STAGE>
static int compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	return zha_ac_compile(program, STAGE, set, tuning, error);
}

template <uint32_t STAGE>
static const struct gpu_form form = { "a state for each byte", GPU_FORM_ALL, form_takes, form_len,
	launch_form<STAGE>, form_expand };

#define ROW(STAGE) \
	{ \
		"ac" #STAGE, compile<STAGE>, zha_ac_free, NULL, zha_ac_describe, load<STAGE>, \
			unload, launch<STAGE>, &form<STAGE> \
	}

const struct gpu_kernel gpu_zha_ac0 = ROW(0);
const struct gpu_kernel gpu_zha_ac1 = ROW(1);
const struct gpu_kernel gpu_zha_ac2 = ROW(2);
const struct gpu_kernel gpu_zha_ac3 = ROW(3);
const struct gpu_kernel gpu_zha_ac4 = ROW(4);
