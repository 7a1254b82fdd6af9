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

struct kept_text;
struct pool;

struct hit {
	uint64_t offset;  /* of the first byte of the match, in the image */
	uint32_t pattern; /* index into the pattern set */
	uint32_t note;    /* of the sifter (scan_options); 0: none */
};

/*
 * A part of the image to be searched. A hit belongs to the chunk in which it starts: matches start
 * in data[from .. len) and may reach into the tail_len bytes after it.
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
	size_t tail_len;     /* bytes after those, at most longest - 1; fewer only at the end of
				what is scanned */
	size_t from;         /* in: the first start to search, relative to data */
	size_t until; /* out: end of the starts that were searched, exclusive; from < until <= len,
			 or until == len */
	struct hit *hits;    /* out; the caller's array */
	size_t hit_capacity; /* elements */
	size_t hit_count;    /* out */
	int status; /* out: 0, or a negative errno: the engine failed in this chunk, and until is
		       not set */
	void *engine_private; /* for the engine while it owns the chunk */
};

struct scan; /* an open engine */

struct carve_coded; /* carvers/coded.h */
struct coded_batch; /* the engine's */

/* A picture's coded data, which an engine may decode where it has the bytes anyway. */
struct coded_scan {
	uint64_t picture, data;          /* where the picture and its data begin, in the image */
	const struct carve_coded *coded; /* what decode_begin needs of it */
	bool cut; /* out of decode_begin: the data goes on after the chunk that was reaped last */
	uint64_t
		end; /* out of decode_end: all of the data is valid, and the marker after it is there; 0:
			 not known */
};

/* What the caller wants done with hits where they are found, while the bytes are in the cache. It
 * may write the hits' notes and nothing else. From any thread of the pool; worker: its number. */
struct scan_sifter {
	void (*sift)(void *context, unsigned worker, const struct chunk *chunk, struct hit *hits,
		size_t count);
	void *context;
};

struct scan_options {
	struct pool *pool; /* for engines that work on the CPU; outlives the scan */
	size_t chunk_len;  /* the largest len + tail_len that will be submitted, bytes */
	unsigned chunks;   /* the most that the caller will have in flight */
	void *ring;      /* the memory that holds all chunks, or NULL when they may be anywhere: an
		       engine may register it */
	size_t ring_len; /* bytes */
	const char *kernel;               /* NULL, or the name of one of the engine's kernels */
	const struct gpu_options *gpu;    /* scan/gpu_options.h; NULL: the defaults */
	const struct scan_sifter *sifter; /* called by engines that sift; NULL: none */
	bool decodes; /* the caller has coded data decoded, where the engine can */
	struct kept_text
		*kept_text; /* where GPUs keep what they search (scan/kept_text.h); NULL: nowhere */
};

/* One row of the engine table (scan/engines.c). One thread calls all of its functions but probe. */
struct scan_engine {
	const char *name, *summary;
	/* 0 when the engine can work on this machine; otherwise a negative errno and in reason (len
	 * bytes) why not. */
	int (*probe)(char *reason, size_t len);
	/* Compiles the patterns. The set and the options belong to the caller and must outlive the
	 * scan. -EINVAL: this engine cannot search for the set; error says why. */
	int (*open)(struct scan **scan, const struct pattern_set *set,
		const struct scan_options *options, struct error *error);
	/* 0: the engine owns the chunk and its buffers until reap gives it back; -EAGAIN: reap
	 * first. */
	int (*submit)(struct scan *scan, struct chunk *chunk);
	/* Waits until a chunk is finished, in any order; -EAGAIN when none is in flight. */
	int (*reap)(struct scan *scan, struct chunk **chunk);
	/* Only when nothing is in flight. NULL is fine. */
	void (*close)(struct scan *scan);
	/* Describes how the open scan works ("gram, ...", "teddy (60 patterns)"): for the report's kernel
	 * field; never NULL. Optional: NULL. */
	const char *(*kernel)(const struct scan *scan);
	/* Optional: begins to decode coded data that begins in the chunk that was reaped last, or in the one
	 * before as long as that is not released, and returns at once. The answer is only ever what the
	 * data's carver would say. NULL: nothing is decoded. */
	struct coded_batch *(*decode_begin)(
		struct scan *scan, struct coded_scan *scans, size_t count);
	/* Waits for a batch, which must have been begun and is not valid after it. */
	void (*decode_end)(struct scan *scan, struct coded_batch *batch);
	unsigned chunks;  /* that it wants in flight, those being read included; 0: any number */
	size_t chunk_len; /* the chunk size with which whole runs are fastest, bytes; 0: the
			     reader's default */
	bool sifts; /* it calls the sifter once for each hit that it hands out; others' hits have
			     no notes */
	/* Optional: whether probe and open take so long here that another engine should search meanwhile. Takes a moment. */
	bool (*starts_late)(void);
	uint64_t
		late_len; /* then: bytes that a thread of the other one searches in that time, about */
	bool comparison; /* from a paper, to be compared with: `auto` never takes it, `burin bench`
			     only by name, and `burin list engines` shows it with --all */
};

/* THE TABLE, ended by NULL, in the order in which `auto` tries them. */
extern const struct scan_engine *const scan_engines[];

/* The engines of the table, and after them those for comparison (gpu/papers/cpu_engines.c); NULL
 * after the last. */
const struct scan_engine *scan_engine_at(unsigned number);

/* One of either kind; NULL when there is none of that name. */
const struct scan_engine *scan_engine_find(const char *name);

/* Picks the engine: the one called name, or for NULL and "auto" the first row of the table whose
 * probe succeeds. reason (len bytes) says why ("gpu: no driver; cpu: first that works"). NULL
 * and error set when the asked engine is unknown (EXIT_USAGE) or not available (EXIT_NO_ENGINE). */
const struct scan_engine *scan_engine_pick(
	const char *name, char *reason, size_t len, struct error *error);

/* Orders by (offset, pattern): for qsort. */
int hit_compare(const void *a, const void *b);

#endif
