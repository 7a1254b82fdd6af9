/*
 * ac0 .. ac4 of Zha and Sahni: what one thread does, for device and host. zha_ac.cu
 * explains it. The automaton is that of gpu/ac.h, with a column for every byte.
 */
#ifndef BURIN_GPU_PAPERS_ZHA_AC_H
#define BURIN_GPU_PAPERS_ZHA_AC_H

#include "gpu/ac.h"
#include "gpu/papers/zha.h"

/* How many of a thread's results are written together (section 3.2.2): 128 bytes of 16-bit
 * states. */
#define ZHA_ROUND 64

struct zha_ac_view {
	const struct ac_tables *tables;
	const struct gpu_text *text;
	const struct gpu_hits *hits; /* NULL: states are wanted */
	unsigned long long texture;  /* of the transitions */
	/* Constants to the compiler: */
	bool in_texture;
	bool wide; /* states have 32 bits */
};

GPU_INLINE uint32_t zha_ac_next(const struct zha_ac_view *view, uint32_t state, uint8_t byte)
{
	const struct ac_view plain = { NULL, NULL, 0, false, view->wide, true };
#ifdef __CUDA_ARCH__
	int at = (int)(state * ZHA_COLUMNS + byte);
	if (view->in_texture)
		return view->wide ? tex1Dfetch<uint32_t>(view->texture, at)
				  : tex1Dfetch<uint16_t>(view->texture, at);
#endif
	return ac_next(view->tables, &plain, state, byte);
}

/* An accepting state was reached by the byte `at`; own_end: of the thread's own bytes. */
GPU_INLINE void zha_ac_report(
	const struct zha_ac_view *view, uint32_t state, int64_t at, int64_t own_end)
{
	uint32_t len = view->text->len;
	if (at < len)
		automaton_report(&view->tables->automaton, state, (uint32_t)at + 1,
			own_end < len ? (uint32_t)own_end : len, view->text, view->hits);
}

/* Where a thread's states go: those of its own bytes from own byte `first` on. */
struct zha_ac_states {
	void *array;
	uint32_t first;
};

/* Takes byte k of the window. states: NULL in the lead before a thread's own bytes, where states
 * don't count. */
GPU_INLINE uint32_t zha_ac_step(const struct zha_ac_view *view, const struct zha_window *window,
	uint32_t state, uint8_t byte, uint32_t k, const struct zha_ac_states *states)
{
	state = zha_ac_next(view, state, byte);
	if (view->hits) {
		if (state >= view->tables->automaton.accepting)
			zha_ac_report(view, state, window->at + k, window->at + window->own);
	} else if (states) {
		zha_store(states->array, view->wide, k - window->own_first - states->first, state);
	}
	return state;
}

/* Bytes from .. to of the window, of which `bytes` has those from byte `base` on. */
GPU_INLINE uint32_t zha_ac_bytes(const struct zha_ac_view *view, const struct zha_window *window,
	uint32_t state, const uint8_t *bytes, int64_t base, uint32_t from, uint32_t to,
	const struct zha_ac_states *states)
{
	for (uint32_t k = from; k < to; k++)
		state = zha_ac_step(view, window, state, bytes[k - base], k, states);
	return state;
}

/* Four bytes, from byte k on, which shifts and masks take out of a word. Where hits are wanted
 * nothing is reported, for these are the unrolled loops: *highest is raised to the highest state,
 * and if that accepts, the caller goes through these bytes once more by zha_ac_bytes. */
GPU_INLINE uint32_t zha_ac_word(const struct zha_ac_view *view, const struct zha_window *window,
	uint32_t state, uint32_t word, uint32_t k, const struct zha_ac_states *states,
	uint32_t *highest)
{
	GPU_UNROLL
	for (uint32_t j = 0; j < 4; j++) {
		uint8_t byte = (uint8_t)(word >> 8 * j);
		if (!view->hits) {
			state = zha_ac_step(view, window, state, byte, k + j, states);
			continue;
		}
		state = zha_ac_next(view, state, byte);
		*highest = state > *highest ? state : *highest;
	}
	return state;
}

/* Where the lead before a thread's own bytes ends, within [first, last). */
GPU_INLINE uint32_t zha_ac_middle(const struct zha_window *window)
{
	uint32_t middle = window->own_first;
	if (middle < window->first)
		middle = window->first;
	return middle < window->last ? middle : window->last;
}

/* Algorithm basic (Fig. 2): ac0 and ac1 with bytes in device memory, ac3 in shared memory. */
GPU_INLINE void zha_ac_basic(const struct zha_ac_view *view, const struct zha_window *window,
	const uint8_t *bytes, const struct zha_ac_states *states)
{
	uint32_t middle = zha_ac_middle(window), state = 0;
	state = zha_ac_bytes(view, window, state, bytes, 0, window->first, middle, NULL);
	zha_ac_bytes(view, window, state, bytes, 0, middle, window->last, states);
}

/* Words from .. to of the window, counted in bytes. */
GPU_INLINE uint32_t zha_ac_words(const struct zha_ac_view *view, const struct zha_window *window,
	uint32_t state, const uint32_t *words, uint32_t from, uint32_t to,
	const struct zha_ac_states *states)
{
	for (uint32_t k = from; k < to; k += 4) {
		uint32_t before = state, highest = 0;
		state = zha_ac_word(view, window, state, words[k / 4], k, states, &highest);
		if (view->hits && highest >= view->tables->automaton.accepting)
			zha_ac_bytes(
				view, window, before, (const uint8_t *)words, 0, k, k + 4, NULL);
	}
	return state;
}

/* The variant of ac3 that reads uints. Leads end at words; it may read up to three bytes past
 * window->last. */
GPU_INLINE void zha_ac_uints(const struct zha_ac_view *view, const struct zha_window *window,
	const uint32_t *words, const struct zha_ac_states *states)
{
	uint32_t middle = zha_ac_middle(window), state = 0;
	state = zha_ac_words(view, window, state, words, window->first, middle, NULL);
	zha_ac_words(view, window, state, words, middle, window->last, states);
}

/* 16 bytes of the text; `at` is a multiple of 16 and within it. */
GPU_INLINE void zha_ac_read(uint8_t *piece, const struct gpu_text *text, uint32_t at)
{
#ifdef __CUDA_ARCH__
	*(uint4 *)piece = *(const uint4 *)(text->bytes + at);
#else
	memcpy(piece, text->bytes + at, text->len - at < 16 ? text->len - at : 16);
#endif
}

/* ac2: the thread reads 16 bytes at a time to its place in shared memory, `piece`. Its window may
 * begin and end within such a piece: S_thread is not a multiple of 16 when tWord is odd. */
GPU_INLINE void zha_ac_pieces(const struct zha_ac_view *view, const struct zha_window *window,
	uint8_t *piece, const struct zha_ac_states *states)
{
	uint32_t middle = zha_ac_middle(window), state = 0, from = window->first;
	while (from < window->last) {
		uint32_t at = (uint32_t)(window->at + from) & ~15u;
		int64_t base = at - window->at;
		uint32_t to = base + 16 < window->last ? (uint32_t)(base + 16) : window->last;
		uint32_t turn = to < middle ? to : from > middle ? from : middle;
		zha_ac_read(piece, view->text, at);
		state = zha_ac_bytes(view, window, state, piece, base, from, turn, NULL);
		state = zha_ac_bytes(view, window, state, piece, base, turn, to, states);
		from = to;
	}
}

/* ---- ac4 ---- */

/* The words of a row in shared memory, in which a thread leaves the states of a round: one more
 * than they need, so that it is odd, as Theorem 1 holds for these stores as well. */
GPU_INLINE uint32_t zha_ac_row_words(bool wide)
{
	return ZHA_ROUND * (wide ? 4 : 2) / 4 + 1;
}

/*
 * How many words of 32 bits a thread writes to device memory at once. What S_thread = 4 * tWord
 * states take is 8 * tWord bytes: with an odd tWord no whole number of 16, so that every other
 * thread's states begin 8 bytes after a multiple of 16, and uint2 is the widest write.
 * States of 32 bits take 16 * tWord bytes: they go by uint4 always.
 */
GPU_INLINE uint32_t zha_ac_write_words(uint32_t words, bool wide)
{
	return words * (wide ? 16 : 8) % 16 == 0 ? 4 : 2;
}

/* A round: up to 64 bytes that are held in registers, from own byte 64 * round on. Their states go
 * to the thread's row; where hits are wanted, *highest is raised. words (tWord) and round are
 * constants to the compiler. */
GPU_INLINE uint32_t zha_ac_round(const struct zha_ac_view *view, const struct zha_window *window,
	uint32_t state, const uint32_t *held, uint32_t words, uint32_t round, uint32_t *row,
	uint32_t *highest)
{
	struct zha_ac_states states = { row, round * ZHA_ROUND };
	GPU_UNROLL
	for (uint32_t i = 0; i < ZHA_ROUND / 4; i++) {
		uint32_t word = round * (ZHA_ROUND / 4) + i;
		uint32_t k = window->own_first + 4 * word;
		if (word < words)
			state = zha_ac_word(view, window, state, held[word], k, &states, highest);
	}
	return state;
}

GPU_INLINE void zha_ac_copy(uint32_t *to, const uint32_t *from, uint32_t count)
{
#ifdef __CUDA_ARCH__
	if (count == 4)
		*(uint4 *)to = make_uint4(from[0], from[1], from[2], from[3]);
	else
		*(uint2 *)to = make_uint2(from[0], from[1]);
#else
	memcpy(to, from, count * sizeof(*to));
#endif
}

/* A thread's share in writing the rows of all threads to the array, which begins with the states
 * of the block's own bytes: neighbours write side by side. */
GPU_INLINE void zha_ac_write(void *array, const uint32_t *rows, uint32_t thread, uint32_t threads,
	uint32_t words, uint32_t round, bool wide)
{
	uint32_t at_once = zha_ac_write_words(words, wide);
	uint32_t state_words = wide ? 4 : 2; /* of the states of a word of text */
	uint32_t left = words - round * (ZHA_ROUND / 4);
	uint32_t pieces = (left < ZHA_ROUND / 4 ? left : ZHA_ROUND / 4) * state_words / at_once;
	for (uint32_t i = thread; i < threads * pieces; i += threads) {
		uint32_t row = i / pieces, from = i % pieces * at_once;
		uint32_t to = (row * words + round * (ZHA_ROUND / 4)) * state_words + from;
		zha_ac_copy((uint32_t *)array + to, rows + row * zha_ac_row_words(wide) + from,
			at_once);
	}
}

/* ---- tables ---- */

#ifdef __CUDACC__
extern "C" {
#endif

/* The struct gpu_program of this family. */
struct zha_ac_program {
	struct gpu_program *ac;
	unsigned stage;   /* 0 .. 4 */
	unsigned words;   /* tWord */
	bool uints;       /* ac3 reads them */
	uint32_t longest; /* maxL: of the keywords */
};

int zha_ac_compile(struct gpu_program **program, unsigned stage, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error);
void zha_ac_free(struct gpu_program *program);
void zha_ac_describe(const struct gpu_program *program, char *text, size_t len);
#ifdef __CUDACC__
}
#endif

#endif
