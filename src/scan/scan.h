/*
 * The engine contract. An engine finds every place in a chunk at which a pattern of the set
 * matches: exactly the hits of the reference engine (scan/reference.c), no more, no fewer.
 */
#ifndef BURIN_SCAN_SCAN_H
#define BURIN_SCAN_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "scan/gpu_options.h"
#include "patterns/pattern_set.h"

struct pool;

struct hit {
	uint64_t offset;  /* of the first byte of the match, in the image */
	uint32_t pattern; /* index into the pattern set */
};

/*
 * A part of the image to be searched. A hit belongs to the chunk in which it starts: matches start
 * in data[from .. len) and may reach into the tail_len bytes behind.
 *
 * Hits come back sorted by (offset, pattern), each once, for all starts in data[from .. until).
 * until is less than len only when the next hit would not have fitted into hits; then the caller
 * uses these hits and submits the chunk again with from = until. Hits at one offset are never
 * split, so hit_capacity must be at least the number of patterns.
 */
struct chunk {
	const uint8_t *data; /* len + tail_len bytes */
	uint64_t offset;     /* of data[0] in the image */
	size_t len;          /* own bytes */
	size_t tail_len;     /* bytes behind, at most longest - 1; fewer only at the end of what is
				scanned */
	size_t from;         /* in: first start that is wanted, relative to data */
	size_t until; /* out: end of the starts that were searched, exclusive; from < until <= len,
			 or until == len */
	struct hit *hits;    /* out; the array is the caller's */
	size_t hit_capacity; /* elements */
	size_t hit_count;    /* out */
	int status; /* out: 0, or a negative errno: the engine broke down in this chunk and until
		       means nothing */
	void *engine_private; /* for the engine while it owns the chunk */
};

struct scan; /* an open engine */

struct scan_options {
	struct pool *pool; /* for engines that work on the CPU; outlives the scan */
	size_t chunk_len;  /* the largest len + tail_len that will be submitted, bytes */
	unsigned chunks;   /* how many chunks the caller has in flight at most */
	void *ring; /* the memory in which all chunks lie, or NULL when they may lie anywhere: an
		       engine may register it */
	size_t ring_len;               /* bytes */
	const char *kernel;            /* NULL, or the name of one of the engine's kernels */
	const struct gpu_options *gpu; /* scan/gpu_options.h; NULL: the defaults */
};

/* One row of the engine table (scan/engines.c). All but probe and the open's allocation are called
 * by one thread. */
struct scan_engine {
	const char *name, *summary;
	/* 0 when the engine can work on this machine; otherwise a negative errno and in reason (len
	 * bytes) why not. */
	int (*probe)(char *reason, size_t len);
	/* Compiles the patterns; the set and options stay the caller's and must outlive the scan.
	 * -EINVAL: the set does not suit this engine, with the reason in error. */
	int (*open)(struct scan **scan, const struct pattern_set *set,
		const struct scan_options *options, struct error *error);
	/* 0: the engine owns the chunk and its buffers until reap gives it back; -EAGAIN: reap
	 * first. */
	int (*submit)(struct scan *scan, struct chunk *chunk);
	/* Waits for a chunk to be finished, in any order; -EAGAIN when none is in flight. */
	int (*reap)(struct scan *scan, struct chunk **chunk);
	/* Only when nothing is in flight. NULL is fine. */
	void (*close)(struct scan *scan);
	/* Describes how the open scan works ("gram", "FDR + 2 short"): for the report's kernel
	 * field; never NULL. Optional: NULL. */
	const char *(*kernel)(const struct scan *scan);
	unsigned chunks;  /* see scan_engine_chunks */
	size_t chunk_len; /* the chunk size with which whole runs are fastest, bytes; 0: the
			     reader's default */
	bool comparison;  /* from a paper, to be compared with: `auto` never takes it, and `burin
			     bench` only by name */
};

/* How many chunks the engine likes to have in flight, those being read included; 0: it does not
 * mind. Several GPUs want more than one. */
static inline unsigned scan_engine_chunks(
	const struct scan_engine *engine, const struct gpu_options *gpu)
{
	return engine->chunks * (gpu && gpu->devices ? 2 : 1);
}

/* THE TABLE, ended by NULL, in the order in which `auto` tries them; those for comparison come
 * last. */
extern const struct scan_engine *const scan_engines[];

const struct scan_engine *scan_engine_find(const char *name);

/* Picks the engine: name, or for NULL and "auto" the first row whose probe succeeds and that is
 * meant for it. reason (len bytes) says why ("gpu: no driver; hyperscan: first that works"). NULL
 * and error set when the asked engine is unknown (EXIT_USAGE) or not available (EXIT_NO_ENGINE). */
const struct scan_engine *scan_engine_pick(
	const char *name, char *reason, size_t len, struct error *error);

/* Orders by (offset, pattern): for qsort. */
int hit_compare(const void *a, const void *b);

#endif
