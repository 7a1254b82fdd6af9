/*
 * Several State Transition Tables in place of one, after Tran, Lee and Choi (2015): what one thread
 * does (for device and host), and making the tables. stt.cu explains it.
 */
#ifndef BURIN_GPU_PAPERS_STT_H
#define BURIN_GPU_PAPERS_STT_H

#include "gpu/automaton.h"
#include "scan/gpu_options.h"

/* Their Figure 5: a row a state; column 0, M, marks matched states, and the other columns hold the
 * next state by each byte. Their mark is 1; here it is the number of the longest keyword that ends in
 * the state (struct stt_tables), so that one array can take the matches of all tables. */
#define STT_COLUMNS 257
#define STT_MATCHED 0
#define STT_NEXT 1 /* the column of byte 0 */

/* Longer keywords are cut: each thread reads as much past its own bytes. */
#define STT_LONGEST_MAX 64

/* More keywords than this have another threshold and other blocks. With them their 20,000 patterns,
 * at which both change, are meant: patterns were drawn from running text, so that most occurred
 * repeatedly, and 20,000 were about this many different ones (src/bench/papers/paper_data.c). */
#define STT_MANY_KEYWORDS 4000

#define STT_THREADS_MAX 1024 /* of a block */
#define STT_MANY_THREADS 512 /* of stt-p2, for many keywords: the largest of its own numbers */

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
	/* What ends at a place where the longest keyword of all parts is the i-th: its state is i,
	 * and its links lead to the keywords that it ends with. Keywords are numbered from 1, shorter
	 * ones first. */
	struct automaton matches;
	uint32_t threads;   /* a block, a power of two; 0: the kernel's own number */
	uint32_t chunk_len; /* stt-p1: bytes of a thread */
	uint32_t block_len; /* stt-p2: bytes of a block; a power of two */
	bool no_diagonal;
};

/* Where the text is that a thread reads. */
struct stt_view {
	const uint8_t *bytes; /* aligned to 4 */
	uint32_t first;       /* position of bytes[0] in the text */
	bool shared;          /* in a data block, in units of 4 bytes */
	bool diagonal;        /* they are stored so */
	uint32_t shift;       /* a thread's chunk there has 1 << shift units */
};

/* Where matches go: to the hits, or, by the numbers of M, into an array over the text. */
struct stt_out {
	const struct gpu_hits *hits;
	uint32_t *matches; /* an element for each byte of the text, 0 before; NULL: to the hits */
};

/* Their section 4.3 (ii): unit i of a data block is stored at this place, in units. Chunk t is
 * moved on, in a circle, by one unit more than the chunks that use the same banks before it, so
 * that 32 threads in a row find the j-th unit of their chunks in 32 banks. A chunk has 1 << shift
 * units. */
GPU_INLINE uint32_t stt_place(uint32_t i, uint32_t shift, bool diagonal)
{
	uint32_t chunk = i >> shift, last = (1u << shift) - 1;
	uint32_t before = shift < 5 ? chunk >> (5 - shift) : chunk;
	return diagonal ? (i & ~last) + ((i + before) & last) : i;
}

GPU_INLINE uint8_t stt_byte(const struct stt_view *view, uint32_t at)
{
	uint32_t offset = at - view->first;
	if (!view->shared)
		return view->bytes[offset];
	return view->bytes[stt_place(offset / 4, view->shift, view->diagonal) * 4 + offset % 4];
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

/* A state before `end` with this mark. Several threads may reach a place: those whose bytes overlap
 * there, and one of each table. The greatest mark is that of the longest keyword, and whatever else ends
 * there is what this one ends with. */
GPU_INLINE void stt_output(const struct stt_part *part, uint32_t state, uint32_t mark, uint32_t end,
	uint32_t own_end, const struct gpu_text *text, const struct stt_out *out)
{
	if (!out->matches) {
		automaton_report(&part->automaton, state, end, own_end, text, out->hits);
		return;
	}
#ifdef __CUDA_ARCH__
	atomicMax(out->matches + end - 1, mark);
#else
	if (out->matches[end - 1] < mark)
		out->matches[end - 1] = mark;
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
		uint32_t mark = stt_entry(part, state, STT_MATCHED);
		if (mark)
			stt_output(part, state, mark, at + 1, own_end, text, out);
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
 * at most GPU_PARTS_MAX; 0: 8. Parts that get no keyword are left out. -EINVAL also for threads and
 * lengths that the kernels do not have. */
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
