/*
 * Searches over all clusters of an image: much arithmetic on little data, which leaves few places for the
 * caller to look at. A device answers them, the processor (search_cpu.c) or a GPU, and all devices give the
 * same answer, bit for bit, so that it does not matter which one was asked. Thread-safe.
 */
#ifndef BURIN_ASSEMBLE_SEARCH_DEVICE_H
#define BURIN_ASSEMBLE_SEARCH_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct error;
struct carve_coded;
struct kept_text;
struct range;
struct search_device;
struct word_set;

/*
 * Breaks with which a CRC agrees; by_sum.c has the arithmetic. Displacement i, from 0 to count - 1, is a piece
 * of which cluster i is at the first break; k and j are numbers of breaks. They fit when
 *
 *	one break:   known[k] / x^i + sums[i+k] = ends[i]
 *	two breaks:  known[j] / x^i + sums[i+j] = rest[k] / x^i + sums[i+k]    and j < k
 */
struct crc_search {
	size_t count;
	const uint32_t *known;
	size_t known_count; /* k is less, or j */
	const uint32_t *sums;
	size_t sums_from, sums_to; /* the indices that count, [from, to); sums has count + breaks */
	const uint32_t *ends;      /* NULL: two breaks */
	const uint32_t *rest;
	size_t rest_from, rest_to; /* k is one of [from, to) */
};

/* The most hits that are kept. */
#define CRC_HITS_MAX 4096

struct crc_hit {
	uint32_t displacement, second, first; /* breaks; one break: second */
};

struct crc_hits {
	size_t count;                       /* all; more than CRC_HITS_MAX: items mean nothing */
	struct crc_hit items[CRC_HITS_MAX]; /* in order of displacement, second, first */
};

/* Bytes of a cluster that decide whether it may go on with coded data: the most, and the fewest. */
#define SEARCH_HEAD_MAX 4096
#define SEARCH_HEAD_MIN 512

/* Which of the clusters [first, first + count), of those that a device keeps, may go on with the data, by the bytes that
 * it keeps (carvers/coded.h). first and count are multiples of 64. */
struct coded_question {
	const struct carve_coded *coded;
	uint64_t first, count;
	uint64_t *bits; /* out: bit n is set if the cluster first + n may */
};

/* That are asked at once. */
#define CODED_QUESTIONS_MAX 128

/* Where words (word_search.h) begin in stretches of the image. */
struct word_question {
	const struct word_set *words;
	const struct range *stretches; /* of 1 to WORD_STRETCH_MAX bytes each... */
	size_t count;                  /* ...and WORD_STRETCHES_MAX at most */
};

#define WORD_STRETCH_MAX ((size_t)1 << 20)
#define WORD_STRETCHES_MAX 64
/* The most hits that are kept. */
#define WORD_HITS_MAX ((size_t)1 << 17)

struct word_hit {
	uint32_t stretch, at; /* bytes from the stretch's start */
	uint32_t word, key;
};

struct word_answer {
	uint64_t
		answered; /* bit n: the hits of stretch n are all there; the caller searches the others itself */
	size_t count;
	struct word_hit items[WORD_HITS_MAX]; /* in order of stretches, places, and words */
};

/* Threads that ask a device at a time. */
#define SEARCHES_MAX 8

struct search_tool {
	const char *name; /* "cpu" */
	/* devices: as --gpus has them. Returns 0, or a negative errno with error set. */
	int (*open)(struct search_device **device, const char *devices, struct error *error);
	/* NULL is fine. */
	void (*close)(struct search_device *device);
	/* These return 0, or a negative errno, once they have logged why: then the device can't be used any
	 * longer. */
	int (*find_breaks)(struct search_device *device, const struct crc_search *search,
		struct crc_hits *hits);
	/* count: CODED_QUESTIONS_MAX at most. One question takes a device nearly as long as many. */
	int (*find_coded)(
		struct search_device *device, const struct coded_question *questions, size_t count);
	/* In what the scan has kept on the device (NULL: nothing). NULL: no device searches words. */
	int (*find_words)(struct search_device *device, const struct kept_text *kept,
		const struct word_question *question, struct word_answer *hits);
	/* Bytes that it can keep. */
	uint64_t (*room)(struct search_device *device);
	/* Where the first len bytes of the next *count clusters, a multiple of 64, are put for keep: always
	 * as many, a power of 2, SEARCH_HEAD_MIN or more. NULL: there is no room for more. */
	uint8_t *(*stage)(struct search_device *device, size_t len, size_t *count);
	/* Keeps them. */
	int (*keep)(struct search_device *device, size_t count);
	/* Instead of stage and keep, of clusters that are `size` bytes each, the next one at `offset` in the image: the scan has
	 * kept them. Returns how many it has taken, as many as for stage; 0: they are not all there. NULL: no device keeps
	 * any. */
	size_t (*take)(struct search_device *device, const struct kept_text *kept, uint64_t offset,
		uint64_t size, size_t len);
	/* Instead of room, stage and keep, where the device is another process's, which reads the image itself: keeps the
	 * first *len bytes of *count clusters, which are `size` bytes each, from `origin` on, as far as `end`. -EINTR: it was
	 * interrupted. NULL: those are used. */
	int (*keep_image)(struct search_device *device, uint64_t size, uint64_t origin,
		uint64_t end, size_t *len, uint64_t *count);
};

extern const struct search_tool search_cpu;
/* find_breaks for sums of words (crc_algebra.h), which the processor alone can: sums are differences, and x is 1. */
void search_cpu_word_breaks(const struct crc_search *search, struct crc_hits *hits);
/* NULL in a build without CUDA. */
extern const struct search_tool *const search_gpu;

#ifdef __cplusplus
}
#endif

#endif
