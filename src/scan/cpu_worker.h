/*
 * One thread's search of one stretch of a chunk, in bounded memory.
 *
 * The matcher writes hits into the thread's own buffer, which is sorted and then merged into the
 * chunk's list. When a stretch has more hits than the buffer holds, it is searched again in halves,
 * down to one byte, where all patterns are tried one by one. Each search passes on the length that
 * worked (extent), so a flood of hits costs about one wasted search for each doubling of its
 * density, not for each piece.
 */
#ifndef BURIN_SCAN_CPU_WORKER_H
#define BURIN_SCAN_CPU_WORKER_H

#include "scan/matcher.h"

/* The most bytes that are searched at a time; the first extent. */
#define CPU_EXTENT_MAX ((size_t)512 << 10)

struct cpu_worker {
	const struct matcher *matcher;
	const void *database;
	const struct pattern_set *set;
	void *scratch;
	struct hit *hits, *spare;
	size_t buffer_count; /* hits of each of the two */
};

/* Receives sorted hits, each batch after the previous one, and may write their notes. Returns the end of the starts that are
 * still to be searched, relative to the chunk's data. */
struct cpu_taker {
	size_t (*take)(void *context, struct hit *hits, size_t count);
	void *context;
};

/* buffer_count: more than 0. False: memory is short; cpu_worker_free must follow all the same. */
bool cpu_worker_init(struct cpu_worker *worker, const struct matcher *matcher, const void *database,
	const struct pattern_set *set, size_t buffer_count);
/* Finds what starts in [from, to) of the chunk's data. extent: in: how many bytes to search first;
 * out: how many next. Returns 0 or a negative errno. */
int cpu_worker_search(struct cpu_worker *worker, const struct chunk *chunk, size_t from, size_t to,
	size_t *extent, const struct cpu_taker *taker);
void cpu_worker_free(struct cpu_worker *worker);

#endif
