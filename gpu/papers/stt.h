/*
 * Several State Transition Tables in place of one, after Tran, Lee and Choi (2015): what one thread
 * does (for device and host), and making the tables. stt.cu explains it.
 */
#ifndef BURIN_GPU_PAPERS_STT_H
#define BURIN_GPU_PAPERS_STT_H

#include "gpu/automaton.h"
#include "scan/gpu_options.h"

/* Their Figure 5: a row a state; column 0, M, marks matched states, and the other columns hold the
 * next state by each byte. */
#define STT_COLUMNS 257
#define STT_MATCHED 0
#define STT_NEXT 1 /* the column of byte 0 */

/* Longer keywords are cut: each thread reads as much past its own bytes. */
#define STT_LONGEST_MAX 64

/* A texture has at most this many rows; the states beyond that are to the right of the first ones. */
#define STT_TEXTURE_ROWS 65536

/* One table and what its matched states mean. */
struct stt_part {
	const uint32_t *rows;       /* on the host: state_count rows of STT_COLUMNS */
	unsigned long long texture; /* on a device: the texture object with the same */
	struct automaton automaton;
};

struct stt_tables {
	struct stt_part parts[GPU_PARTS_MAX];
	uint32_t part_count;    /* none of them is without keywords */
	uint32_t keyword_count; /* of all parts */
	uint32_t longest;       /* X: bytes of the longest keyword of all parts */
	bool no_diagonal;
};

/* Where the text is that a thread reads. */
struct stt_view {
	const uint8_t *bytes; /* aligned to 4 */
	uint32_t first;       /* position of bytes[0] in the text */
	uint32_t words;       /* in shared memory: 4-byte units of a thread's chunk; 0: elsewhere */
	bool diagonal;        /* they are stored so */
};

/* Where matches go: to the hits, or as states into an array over the text. */
struct stt_out {
	const struct gpu_hits *hits;
	uint32_t *states; /* an element for each byte of the text, 0 before; NULL: to the hits */
};

/* Their section 4.3 (ii): unit i of a data block is stored at this place, in units. Chunk t is
 * moved on, in a circle, by one unit more than the chunks that use the same banks before it, so
 * that 32 threads in a row find the j-th unit of their chunks in 32 banks. words: a power of two up
 * to 32. */
GPU_INLINE uint32_t stt_place(uint32_t i, uint32_t words, bool diagonal)
{
	uint32_t chunk = i / words;
	return diagonal ? chunk * words + (i + chunk / (32 / words)) % words : i;
}

GPU_INLINE uint8_t stt_byte(const struct stt_view *view, uint32_t at)
{
	uint32_t offset = at - view->first;
	if (!view->words)
		return view->bytes[offset];
	return view->bytes[stt_place(offset / 4, view->words, view->diagonal) * 4 + offset % 4];
}

GPU_INLINE uint32_t stt_entry(const struct stt_part *part, uint32_t state, uint32_t column)
{
#ifdef __CUDA_ARCH__
	uint32_t x = state / STT_TEXTURE_ROWS * STT_COLUMNS + column, y = state % STT_TEXTURE_ROWS;
	return tex2D<unsigned int>(part->texture, x + 0.5f, y + 0.5f);
#else
	return part->rows[(size_t)state * STT_COLUMNS + column];
#endif
}

/* A matched state before `end`. Where the bytes of threads overlap, several reach the same place; the
 * one that has read the most is in the deepest state, whose outputs include those of the rest, and
 * which is the greatest, as states are numbered by depth. */
GPU_INLINE void stt_output(const struct stt_part *part, uint32_t state, uint32_t end,
	uint32_t own_end, const struct gpu_text *text, const struct stt_out *out)
{
	if (!out->states) {
		automaton_report(&part->automaton, state, end, own_end, text, out->hits);
		return;
	}
#ifdef __CUDA_ARCH__
	atomicMax(out->states + end - 1, state);
#else
	if (out->states[end - 1] < state)
		out->states[end - 1] = state;
#endif
}

/* Pseudocode 1 of the paper: one thread, one table. Its own bytes, and X - 1 beyond them. */
GPU_INLINE void stt_search(const struct stt_part *part, uint32_t longest,
	const struct stt_view *view, uint32_t begin, uint32_t own_end, const struct gpu_text *text,
	const struct stt_out *out)
{
	uint64_t stop = (uint64_t)own_end + longest - 1;
	uint32_t state = 0;
	if (stop > text->len)
		stop = text->len;
	for (uint32_t at = begin; at < stop; at++) {
		state = stt_entry(part, state, STT_NEXT + stt_byte(view, at));
		if (stt_entry(part, state, STT_MATCHED))
			stt_output(part, state, at + 1, own_end, text, out);
	}
}

#ifdef __CUDACC__
extern "C" {
#endif
struct gpu_program;
struct gpu_tuning;
struct pattern_set;
struct error;

/* The functions of the kernel rows (gpu/kernel.h). tuning->parts: the number of parts of the set,
 * at most GPU_PARTS_MAX; 0: 8. Parts that get no keyword are left out. */
int stt_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error);
void stt_free(struct gpu_program *program);
void stt_describe(const struct gpu_program *program, char *text, size_t len);
/* The tables in host memory. */
const struct stt_tables *stt_tables(const struct gpu_program *program);

/* What the paper's Tables 2, 3 and 4 say of a set of tables. */
struct stt_shape {
	uint32_t part_count;
	struct {
		uint32_t keyword_count, state_count;
		uint64_t len; /* bytes of its table */
	} parts[GPU_PARTS_MAX];
	double average_len; /* of a keyword, bytes */
	/* What dealing and building took, on one processor. */
	double seconds;
};

void stt_shape(const struct gpu_program *program, struct stt_shape *shape);
#ifdef __CUDACC__
}
#endif

#endif
