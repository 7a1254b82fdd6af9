/*
 * Exact confirmation, shared by the filter kernels. A filter searches for windows: four bytes at a
 * known distance from the start of a pattern. Where it passes one, this looks up the patterns that
 * have that window (a hash table by the window's value, a list for each mask that occurs), and
 * compares all of each with the text.
 *
 * Windows are in buckets, small numbers that the filter gives a meaning: a candidate names the
 * buckets it may be in, and each window is in one, so that no pattern is compared twice at one
 * place.
 */
#ifndef BURIN_GPU_CONFIRM_H
#define BURIN_GPU_CONFIRM_H

#include <string.h>

#include "gpu/gpu_text.h"

#define CONFIRM_BUCKETS 8

struct confirm_slot {
	uint32_t value; /* of the window, 0 in wild bits */
	uint32_t list;  /* index of the mask */
	uint32_t first; /* record */
	uint32_t count; /* records; 0: an empty slot, which ends the search */
};

struct confirm_record {
	uint32_t pattern;
	int16_t back;         /* from the start of the pattern to the window, bytes; may be -1 */
	int16_t beside;       /* 4 or -4: the four bytes after the window or before it ... */
	uint32_t value, mask; /* ... are compared first, as many patterns may share a window */
};

/* Four bytes of a pattern; the mask is 0 past its end. */
struct confirm_word {
	uint32_t value, mask;
};

struct confirm_pattern {
	uint32_t first_word;
	uint32_t len; /* bytes */
};

struct confirm {
	const struct confirm_slot *slots;
	const struct confirm_record *records;
	const struct confirm_pattern *patterns;
	const struct confirm_word *words;
	const uint32_t *masks; /* grouped by bucket */
	uint32_t mask_first[CONFIRM_BUCKETS +
			    1]; /* bucket b has masks [mask_first[b], mask_first[b + 1]) */
	uint32_t slot_mask;     /* number of slots - 1 */
	uint32_t slot_count, record_count, pattern_count, word_count, mask_count;
};

GPU_INLINE uint32_t confirm_hash(uint32_t value, uint32_t list)
{
	uint32_t hash = (value ^ list * 0x85ebca6bu) * 0x9e3779b1u;
	return hash ^ hash >> 15;
}

GPU_INLINE bool confirm_pattern_matches(
	const struct confirm *confirm, uint32_t pattern, const uint8_t *bytes, uint32_t start)
{
	struct confirm_pattern p = confirm->patterns[pattern];
	const struct confirm_word *word = confirm->words + p.first_word;
	for (uint32_t i = 0; i < p.len; i += 4, word++) {
#ifdef __CUDA_ARCH__
		uint32_t value = gpu_text_read(bytes, start + i);
#else
		uint32_t value = 0; /* past the pattern's end there may be nothing to read */
		memcpy(&value, bytes + start + i, p.len - i < 4 ? p.len - i : 4);
#endif
		if ((value ^ word->value) & word->mask)
			return false;
	}
	return true;
}

/* Reports one pattern, if it starts where it may start, ends within the text and matches. */
GPU_INLINE void confirm_start(const struct confirm *confirm, uint32_t pattern, int64_t start,
	const struct gpu_text *text, const struct gpu_hits *hits)
{
	if (start < text->from || start >= text->to ||
		confirm->patterns[pattern].len > text->len - start)
		return;
	if (confirm_pattern_matches(confirm, pattern, text->bytes, (uint32_t)start))
		gpu_hits_add(hits, (uint32_t)start, pattern);
}

/* All patterns whose window in the bucket agrees with value, the four bytes at `at`. */
GPU_INLINE void confirm_window(const struct confirm *confirm, uint32_t bucket, uint32_t at,
	uint32_t value, const struct gpu_text *text, const struct gpu_hits *hits)
{
	for (uint32_t list = confirm->mask_first[bucket]; list < confirm->mask_first[bucket + 1];
		list++) {
		uint32_t masked = value & confirm->masks[list];
		uint32_t at_slot = confirm_hash(masked, list) & confirm->slot_mask;
		struct confirm_slot slot = confirm->slots[at_slot];
		while (slot.count && (slot.value != masked || slot.list != list)) {
			at_slot = (at_slot + 1) & confirm->slot_mask;
			slot = confirm->slots[at_slot];
		}
		for (uint32_t i = 0; i < slot.count; i++) {
			struct confirm_record record = confirm->records[slot.first + i];
			int64_t beside = (int64_t)at + record.beside;
			if (beside >= 0 &&
				((gpu_text_read(text->bytes, (uint32_t)beside) ^ record.value) &
					record.mask))
				continue;
			confirm_start(
				confirm, record.pattern, (int64_t)at - record.back, text, hits);
		}
	}
}

#ifndef __CUDACC__
#include "patterns/pattern_set.h"

/* A window that a filter has chosen for a pattern. */
struct confirm_choice {
	uint32_t value, mask; /* value is 0 in wild bits */
	uint32_t pattern;
	int32_t back;
	uint32_t bucket;
};

/* The four bytes of a pattern from position `back` on, which may be -1 or near the end: bytes
 * outside are wild. */
void confirm_window_of(
	const struct pattern *pattern, int64_t back, uint32_t *value, uint32_t *mask);

/* Makes the tables; confirm_free when done. Sorts the choices. */
void confirm_build(struct confirm *confirm, const struct pattern_set *set,
	struct confirm_choice *choices, uint32_t choice_count);
void confirm_free(struct confirm *confirm);
#endif

#endif
