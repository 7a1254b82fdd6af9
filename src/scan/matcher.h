/*
 * A matcher is the part of a CPU engine that searches one piece of text in one thread.
 * scan/cpu_team.c makes an engine of it: it gives the pieces of a chunk to threads, and collects
 * sorted, bounded hits.
 */
#ifndef BURIN_SCAN_MATCHER_H
#define BURIN_SCAN_MATCHER_H

#include "patterns/regex.h"
#include "scan/scan.h"

/* Where a matcher puts its hits, in any order; duplicates are removed afterwards. */
struct hit_sink {
	struct hit *hits;
	size_t count, capacity;
	bool full; /* a hit did not fit: stop, the piece will be searched again in smaller ones */
};

static inline bool hit_sink_add(struct hit_sink *sink, uint64_t offset, uint32_t pattern)
{
	if (sink->count == sink->capacity) {
		sink->full = true;
		return false;
	}
	sink->hits[sink->count++] = (struct hit){ offset, pattern, 0 };
	return true;
}

/* The bytes of a pattern match at text[start], and it is a hit unless the pattern is a regex that
 * does not match: what a matcher searches for in place of a regex has the bytes of its prefix.
 * text_len: bytes of text that can be read. offset: of text[0] in the image. False: the sink is
 * full. Not inlined: few places come so far, and its registers would slow the loops that call it. */
__attribute__((noinline, cold, unused)) static bool matcher_add(const struct pattern *pattern,
	uint32_t id, const uint8_t *text, size_t start, size_t text_len, uint64_t offset,
	struct hit_sink *sink)
{
	if (pattern->regex && !regex_match_len(pattern->regex, text + start, text_len - start))
		return true;
	return hit_sink_add(sink, offset + start, id);
}

/* Puts the starts of a regex in text[from .. to) into the sink, by PCRE2 alone. offset: of text[0]
 * in the image. False: the sink is full. */
static inline bool matcher_find_regex(const struct pattern *pattern, uint32_t id,
	const uint8_t *text, size_t from, size_t to, size_t text_len, uint64_t offset,
	struct hit_sink *sink)
{
	for (size_t at = from; (at = regex_find(pattern->regex, text, at, to, text_len)) < to; at++)
		if (!hit_sink_add(sink, offset + at, id))
			return false;
	return true;
}

/* Who searches the pieces of a chunk. */
enum matcher_team {
	TEAM_POOL, /* the pool's threads, which do all other work of a run too */
	/* As many OpenMP threads as the pool has; a chunk is finished when submit returns. In a
	 * build without OpenMP only the caller searches. */
	TEAM_DYNAMIC,  /* each takes the next piece */
	TEAM_SEGMENTS, /* each gets one segment of the chunk: as many pieces as threads */
};

struct matcher {
	const char *name, *summary;
	enum matcher_team team;
	int (*probe)(char *reason, size_t len); /* NULL: always usable */
	/* Compiles the set. The database is immutable, and all threads share it. */
	int (*compile)(void **database, const struct pattern_set *set, struct error *error);
	void (*free)(void *database);
	/* Scratch space of one thread; both NULL where none is needed. scratch_new returns NULL
	 * when memory is short. */
	void *(*scratch_new)(const void *database);
	void (*scratch_free)(void *scratch);
	/* Finds all matches that start in text[0 .. len); text_len bytes (>= len)
	 * can be read. offset: of text[0] in the image. Returns 0 (also when the sink got full)
	 * or a negative errno. */
	int (*find)(const void *database, void *scratch, const uint8_t *text, size_t len,
		size_t text_len, uint64_t offset, struct hit_sink *sink);
	/* What the report names as the kernel, or NULL. */
	const char *(*kernel)(const void *database);
};

/* One of the ways in which an engine searches, and how many patterns go that way. */
struct matcher_part {
	const char *name;
	uint32_t count;
};

/* Writes "grams (504 patterns) + teddy (64)" for the report's kernel field; parts without patterns
 * are left out. */
void matcher_describe(char *text, size_t len, const struct matcher_part *parts, size_t part_count);

/* scan/cpu_team.c: the engine functions over a matcher. A row of the table is written
 *     static int open(...) { return cpu_scan_open(scan, &my_matcher, set, options, error); }
 *     const struct scan_engine my_engine = {
 *         .name = "my", .summary = "...", .probe = probe, .open = open, CPU_SCAN_CALLS };
 */
int cpu_scan_open(struct scan **scan, const struct matcher *matcher, const struct pattern_set *set,
	const struct scan_options *options, struct error *error);
int cpu_scan_submit(struct scan *scan, struct chunk *chunk);
int cpu_scan_reap(struct scan *scan, struct chunk **chunk);
void cpu_scan_close(struct scan *scan);
const char *cpu_scan_kernel(const struct scan *scan);
/* What is the same in all these rows. */
#define CPU_SCAN_CALLS \
	.submit = cpu_scan_submit, .reap = cpu_scan_reap, .close = cpu_scan_close, \
	.kernel = cpu_scan_kernel, .sifts = true

#endif
