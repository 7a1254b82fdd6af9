/*
 * What the kernels after Kouzinopoulos et al. (nfa-*, wm-*) have in common: a thread's own part of
 * the text, which the paper calls a sub-chunk, from where it is read, and where its matches go. For
 * device and host.
 */
#ifndef BURIN_GPU_PAPERS_SUBCHUNK_H
#define BURIN_GPU_PAPERS_SUBCHUNK_H

#include "gpu/found.h"

/* The longest keyword: longer patterns have a window of this many bytes, and are confirmed. It costs
 * room after a block's text in shared memory; theirs had 8. */
#define SUBCHUNK_KEYWORD_MAX 64

/* S_memsize: their 16,128 bytes, all of a multiprocessor of theirs had but 256. */
#define SUBCHUNK_MEMSIZE 16128

/* blockDim, for which they give no number: one that divides S_memsize evenly, 63 bytes each. */
#define SUBCHUNK_THREADS 256
#define SUBCHUNK_SHARE (SUBCHUNK_MEMSIZE / SUBCHUNK_THREADS)

/* Keywords that start in [begin, end) are the thread's own. */
struct subchunk {
	uint32_t begin, end;
	const uint8_t *bytes; /* the text from bytes_begin on, as far as a keyword may reach */
	uint32_t bytes_begin;
};

GPU_INLINE uint8_t subchunk_byte(const struct subchunk *own, uint32_t at)
{
	return own->bytes[at - own->bytes_begin];
}

/* Where keywords of at most `longest` bytes end that start before own->end. */
GPU_INLINE uint32_t subchunk_stop(
	const struct subchunk *own, uint32_t longest, const struct gpu_text *text)
{
	uint64_t stop = (uint64_t)own->end + longest - 1;
	return stop < text->len ? (uint32_t)stop : text->len;
}

/* Where matches go. */
struct subchunk_output {
	bool counting;               /* a constant to the compiler */
	uint32_t *matches;           /* their number, when counting */
	const struct gpu_hits *hits; /* otherwise */
};

/* A keyword begins at start. */
GPU_INLINE void subchunk_found(const struct subchunk_output *output, const struct found *found,
	uint32_t keyword, uint32_t start, const struct gpu_text *text)
{
	if (output->counting)
		*output->matches += found->keywords[keyword].count;
	else
		found_report(found, found->keywords[keyword], start, text, output->hits);
}

#endif
