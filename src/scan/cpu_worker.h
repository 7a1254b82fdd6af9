/*
 * One thread's search of one stretch of a chunk, in bounded memory.
 *
 * The matcher writes hits into the thread's own buffer, where they are sorted, and from which the
 * chunk's list takes them. When a stretch has more hits than the buffer, it is searched again in
 * halves, down to one byte, where all patterns are asked one by one. How long stretches are to be
 * is handed from search to search (extent), so a flood of hits costs about one search in vain for
 * each doubling of its density, not for each piece.
 */
#ifndef BURIN_SCAN_CPU_WORKER_H
#define BURIN_SCAN_CPU_WORKER_H

#include "scan/matcher.h"

/* Bytes that are searched at a time at the most; an extent starts with it. */
#define CPU_EXTENT_MAX ((size_t)512 << 10)

struct cpu_worker {
	const struct matcher *matcher;
	const void *database;
	const struct pattern_set *set;
	void *scratch;
	struct hit *hits, *spare;
	size_t buffer_count; /* hits of each of the two */
};

/* Takes hits that are sorted, and starts at or behind none of those it took before. Returns the end
 * of the starts that are still wanted, relative to the chunk's data. */
struct cpu_taker {
	size_t (*take)(void *context, const struct hit *hits, size_t count);
	void *context;
};

/* buffer_count: more than 0. False: memory is short; to be freed all the same. */
bool cpu_worker_init(struct cpu_worker *worker, const struct matcher *matcher, const void *database,
	const struct pattern_set *set, size_t buffer_count);
/* Finds what starts in [from, to) of the chunk's data. extent: the bytes with which the searching
 * begins; out: with which it would go on. Returns 0 or a negative errno. */
int cpu_worker_search(struct cpu_worker *worker, const struct chunk *chunk, size_t from, size_t to,
	size_t *extent, const struct cpu_taker *taker);
void cpu_worker_free(struct cpu_worker *worker);

#endif
