/*
 * Boyer-Moore-Horspool, after Han's "Accelerate String Searching Algorithm with GPU Using CUDA":
 * what one thread does (for device and host), and making the tables. bmh.cu explains it.
 *
 * Patterns are searched as they are, wild bits and all, one after the other.
 */
#ifndef BURIN_GPU_PAPERS_BMH_H
#define BURIN_GPU_PAPERS_BMH_H

#include "gpu/gpu_text.h"

/* The grid that the paper's Table II is for: "So I use 256 blocks and each blocks contains 16
 * threads". */
#define BMH_BLOCKS 256
#define BMH_THREADS 16
#define BMH_THREADS_MAX 1024

/* Shifts have 16 bits. */
#define BMH_PATTERN_MAX 65535

/* What is searched for in one pass. */
struct bmh_pattern {
	uint64_t first;  /* of its bytes */
	uint32_t len;    /* M of the paper */
	uint32_t number; /* in the pattern set */
	uint32_t masked; /* it has wild bits */
};

struct bmh_tables {
	const struct bmh_pattern *patterns; /* the short ones first */
	const uint16_t *shifts;             /* BadCharTable: 256 for each pattern */
	const uint8_t *bytes, *masks;       /* of all patterns */
	uint64_t byte_count;
	uint32_t count;
	uint32_t blocks, threads; /* the grid */
};

/* Where matches go: to the hits, or into an array over the text. */
struct bmh_out {
	const struct gpu_hits *hits;
	uint32_t *places; /* for each byte, number + 1 of the pattern that starts there, or 0; NULL:
			     to the hits */
};

/* The starts that are a thread's own: a segment of the wanted ones, all of them equally long but
 * the last. */
GPU_INLINE void bmh_segment(const struct gpu_text *text, uint64_t thread, uint64_t thread_count,
	uint64_t *begin, uint64_t *end)
{
	uint64_t len = (text->to - text->from + thread_count - 1) / thread_count;
	*begin = text->from + thread * len;
	*end = *begin + len < text->to ? *begin + len : text->to;
}

/* From right to left, as in Algorithm 1. */
GPU_INLINE bool bmh_matches(
	const struct bmh_tables *tables, const struct bmh_pattern *pattern, const uint8_t *window)
{
	for (uint32_t j = pattern->len; j-- > 0;) {
		uint8_t differs = window[j] ^ tables->bytes[pattern->first + j];
		if (pattern->masked)
			differs &= tables->masks[pattern->first + j];
		if (differs)
			return false;
	}
	return true;
}

/* Where the first match starts in [at, end), or a place that is not before end. The windows of all
 * those starts must end within the text. */
GPU_INLINE uint64_t bmh_next(const struct bmh_tables *tables, uint32_t pass,
	const struct bmh_pattern *pattern, uint64_t at, uint64_t end, const struct gpu_text *text)
{
	const uint16_t *shifts = tables->shifts + (uint64_t)pass * 256;
	while (at < end && !bmh_matches(tables, pattern, text->bytes + at))
		at += shifts[text->bytes[at + pattern->len - 1]];
	return at;
}

/* One thread: all passes over the starts in [begin, end). A window may reach into the next thread's
 * segment, by at most M - 1 bytes. */
GPU_INLINE void bmh_search(const struct bmh_tables *tables, uint64_t begin, uint64_t end,
	const struct gpu_text *text, const struct bmh_out *out)
{
	for (uint32_t pass = 0; pass < tables->count; pass++) {
		struct bmh_pattern pattern = tables->patterns[pass];
		if (pattern.len > text->len)
			return; /* nor do the longer ones after it fit */
		uint64_t last = text->len - pattern.len;
		uint64_t stop = end <= last ? end : last + 1;
		for (uint64_t at = bmh_next(tables, pass, &pattern, begin, stop, text); at < stop;
			at = bmh_next(tables, pass, &pattern, at + 1, stop, text)) {
			if (out->places)
				out->places[at] = pattern.number + 1;
			else
				gpu_hits_add(out->hits, (uint32_t)at, pattern.number);
		}
	}
}

#ifdef __CUDACC__
extern "C" {
#endif
struct gpu_program;
struct gpu_tuning;
struct pattern_set;
struct error;

/* The functions of the kernel row (gpu/kernel.h). tuning->blocks and threads: the grid. */
int bmh_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error);
void bmh_free(struct gpu_program *program);
void bmh_describe(const struct gpu_program *program, char *text, size_t len);
/* The tables in host memory. */
const struct bmh_tables *bmh_tables(const struct gpu_program *program);
#ifdef __CUDACC__
}
#endif

#endif
