/*
 * Processes that share the work of one run, perhaps on many hosts. One, the conductor, does all
 * that must happen in order: pairing, deciding, naming, reporting. All of them, it included, help:
 * they search units of the image, look at what they found there as a run alone does, check what
 * else they are asked about, and write files. So what a helper does is the same in every process,
 * and the result is that of a run alone.
 *
 * src/cluster/ fulfils this with MPI; burin without it has none.
 */
#ifndef BURIN_RUN_RUN_CLUSTER_H
#define BURIN_RUN_RUN_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ranges.h"
#include "carve/carving.h"
#include "report/record.h"

struct run_hit {
	uint64_t offset;
	uint32_t pattern, len; /* bytes of the match */
};

/* What the check of a candidate of that rule has found which starts there. */
struct run_outcome {
	uint64_t start;
	uint32_t rule;
	struct outcome outcome;
};

/* All hits up to until and behind those of the piece before. */
struct run_piece {
	uint64_t until;
	const struct run_hit *hits;
	size_t hit_count;
	const struct range *unread; /* what of it could not be read */
	size_t unread_count;
	const uint8_t *classes; /* of the slot's blocks, where it ends a slot (run/run_map.c) */
	size_t classes_len;
	/* In order of (start, rule): of some candidates that these hits or those before have
	 * settled. */
	struct run_outcome *outcomes; /* whoever takes the piece takes over what they hold */
	size_t outcome_count;
	bool ends_unit;
	struct rank_record
		spent; /* so far, where it ends a unit; of host and jobs nothing is known here */
};

/* What must be the same in all processes, as text. */
struct run_alike {
	const char *const *names;
	char *const *values; /* "" for what is not known */
	size_t count;
};

/* What the conductor begins with. */
struct run_begin {
	struct run_alike alike;
	uint64_t position, end;        /* to be searched */
	uint64_t unit_size;            /* 0: by the number of processes */
	uint64_t chunk_size;           /* units are multiples of it */
	struct output_dir *output_dir; /* NULL: no files are written */
	const struct rules *rules;
};

/* What a helper joins with. */
struct run_join {
	struct run_alike alike;
	struct image *image; /* what is searched */
	const struct rules *rules;
	struct pool *pool;
	const char *output; /* NULL: no files are written */
	uint32_t hash_mask;
	const char *engine; /* "cpu" */
	/* It was decided that what starts before this is hidden. Called in any thread, until
	 * leave. */
	void (*hide)(void *context, uint64_t until);
	void *context;
};

struct run_sums;

#define RUN_COMBINED 4

struct run_combined {
	uint64_t sums[RUN_COMBINED];
	double most[RUN_COMBINED];
};

struct run_cluster {
	unsigned rank, count; /* of this process, 0 for the conductor; of all */
	/* How many threads a process is to have where nothing was said. */
	unsigned threads;
	/* --gpus for this process, where nothing was said; NULL: as for a run alone. */
	const char *gpus;
	/* "4 processes on 2 hosts" */
	const char *summary;

	/* ---- the conductor; what returns int returns a negative errno with error set when it
	 * fails */

	/* Waits for all to join, and compares. */
	int (*begin)(const struct run_begin *begin, struct error *error);
	/* The next piece, in order; good until the next call. 1; 0: all was searched; -EAGAIN: not
	 * yet, after a moment. */
	int (*next)(struct run_piece *piece, struct error *error);
	/* After begin. */
	const struct remote_workers *carving;
	/* What rank 0 searches with. */
	const char *(*engine)(void);
	/* What a process has done so far. Before end. */
	void (*spent)(unsigned rank, struct rank_record *record);
	/* What begin began. The helpers go home. */
	void (*end)(void);

	/* ---- helpers */

	/* Waits until the conductor has begun. 1; 0: there is nothing to help with. From then on
	 * checks and writes are done in the pool. */
	int (*join)(const struct run_join *join, struct error *error);
	/* The next unit to search. 1; 0: there are no more; -EAGAIN: not yet. */
	int (*unit)(bool wait, struct range *unit, bool *last);
	/* Waits until there is room. -ECANCELED: nobody wants it any more. */
	int (*give)(const struct run_piece *piece);
	/* The run can't go on. */
	void (*fail)(const struct error *error);
	/* Waits until the conductor has ended, and for all checks and writes. */
	void (*leave)(void);

	/* ---- measurements: all processes call it equally often. Replaces the numbers by the
	 * sums, and the largest, of all. 0, or a negative errno with error set. */
	int (*combine)(struct run_combined *combined, struct error *error);

	/* ---- whole images (cli/batch.c) */

	/* The conductor: has another process carve the image of that number; waits. */
	int (*carve)(unsigned rank, size_t number, struct run_sums *sums);
	/* A helper: waits for an image. False: there are no more. */
	bool (*image)(size_t *number);
	void (*carved)(int code, const struct run_sums *sums);
};

/* Of this process; NULL when it is alone. Set once by main. */
extern const struct run_cluster *run_cluster;

#endif
