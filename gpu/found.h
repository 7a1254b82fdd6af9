/*
 * What follows where an algorithm for exact strings has found a keyword (patterns/keywords.h): the
 * patterns that it was taken from are reported, after confirmation where it is only a part of them.
 * Shared by all such kernels and by their forms on the CPU.
 */
#ifndef BURIN_GPU_FOUND_H
#define BURIN_GPU_FOUND_H

#include "gpu/confirm.h"

struct found_record {
	uint32_t pattern;
	uint16_t back;  /* of the keyword in the pattern, bytes */
	uint16_t whole; /* the keyword is the whole pattern: no need to compare */
};

struct found_keyword {
	uint32_t first, count; /* records */
	uint32_t len;          /* bytes */
};

struct found {
	const struct found_record *records;
	const struct found_keyword *keywords;
	uint32_t record_count, keyword_count;
	uint32_t reach;         /* the most bytes from a pattern's start to its keyword's */
	struct confirm confirm; /* patterns and words only */
};

/* A keyword begins at start. Checks that each pattern's start counts and that it ends within the
 * text; the caller checks that the keyword belongs to the thread. */
GPU_INLINE void found_report(const struct found *found, struct found_keyword keyword, int64_t start,
	const struct gpu_text *text, const struct gpu_hits *hits)
{
	for (uint32_t i = 0; i < keyword.count; i++) {
		struct found_record record = found->records[keyword.first + i];
		if (!record.whole)
			confirm_start(
				&found->confirm, record.pattern, start - record.back, text, hits);
		else if (start >= text->from && start < text->to &&
			 start + keyword.len <= text->len)
			gpu_hits_add(hits, (uint32_t)start, record.pattern);
	}
}

/* Where the last keyword that counts may begin, exclusive: the bytes from text->from to there belong
 * to the threads. */
GPU_INLINE uint32_t found_end(const struct found *found, const struct gpu_text *text)
{
	uint64_t end = (uint64_t)text->to + found->reach;
	return end < text->len ? (uint32_t)end : text->len;
}

#ifdef __CUDACC__
extern "C"
#endif
	/* Whether every keyword is the whole of its patterns, so that nothing has to be confirmed. */
	bool
	found_all_whole(const struct found *found);

#ifndef __CUDACC__
#include "patterns/keywords.h"

/* Copies what it needs; found_free when done. */
void found_build(
	struct found *found, const struct keyword_set *keywords, const struct pattern_set *set);
void found_free(struct found *found);
#endif

#endif
