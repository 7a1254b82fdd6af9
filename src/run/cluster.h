/*
 * Processes that share the work of one run, perhaps on many hosts. One, the coordinator (rank 0),
 * does all that must happen in order: pairing, deciding, naming, reporting. All of them, the
 * coordinator included, are workers: they search units of the image, check candidates, and write
 * files. What a worker does is the same in every process, and the result is that of a run in a
 * single process.
 *
 * This is the coordinator's view, and all that burin without MPI knows of clusters; src/cluster/
 * implements it.
 */
#ifndef BURIN_RUN_CLUSTER_H
#define BURIN_RUN_CLUSTER_H

#include "assemble/assemble.h"
#include "base/codec.h"
#include "base/error.h"
#include "base/ranges.h"
#include "carve/carving.h"
#include "report/record.h"
#include "run/run_options.h"
#include "run/traits.h"

struct cluster_hit {
	uint64_t offset;
	uint32_t pattern, len; /* bytes of the match */
};

/* What the check of the candidate that starts there for that rule found. */
struct cluster_outcome {
	uint64_t start;
	uint32_t rule;
	struct outcome outcome;
};

/* All hits after those of the result before, up to `until`. */
struct cluster_result {
	uint64_t until;
	const struct cluster_hit *hits;
	size_t hit_count;
	const struct range *unread; /* what of these bytes could not be read */
	size_t unread_count;
	const uint8_t *classes; /* of the slot's blocks, where it ends a slot (content_map.h) */
	size_t classes_len;
	/* In order of (start, rule): of some candidates that these hits or earlier ones settled.
	 * The receiver takes over what they hold. */
	struct cluster_outcome *outcomes;
	size_t outcome_count;
	bool ends_unit;
	struct rank_record spent; /* so far, where it ends a unit; without host and jobs */
};

struct cluster_begin {
	const struct run_options *options;
	const char *image_path, *output;
	const struct traits *traits;   /* must be the same in all processes */
	uint64_t position, end;        /* to be searched */
	struct output_dir *output_dir; /* NULL: no files are written */
};

#define CLUSTER_REDUCED 4

/* For measurements. */
struct cluster_reduced {
	uint64_t sums[CLUSTER_REDUCED];
	double maxima[CLUSTER_REDUCED];
};

struct cluster {
	unsigned rank, count; /* of this process, 0 for the coordinator; of all */
	unsigned threads;     /* for this process, unless --threads is given */
	const char *gpus;    /* --gpus for this process, unless it is given; NULL: as without MPI */
	const char *summary; /* "4 processes on 2 hosts" */

	/* ---- one image: the coordinator. What returns int returns a negative errno with error set
	 * when it fails. */

	/* Starts this process's own worker, waits for all workers to join, and compares their
	 * traits. engine: what rank 0 searches with; valid until end. */
	int (*begin)(const struct cluster_begin *begin, const char **engine, struct error *error);
	/* The next result, in order; valid until the next call. 1; 0: everything was searched;
	 * -EAGAIN: not yet, after a short wait. */
	int (*next)(struct cluster_result *result, struct error *error);
	/* Checks and writes files in all processes. After begin. */
	const struct remote_workers *carving;
	/* After everything was searched: has the other processes make their parts of all passes over files in pieces. task:
	 * what assembler_save_task saves. What it returns is valid until end. */
	const struct assemble_others *(*deal_passes)(const struct codec_writer *task);
	/* What a process has done so far. Before end. */
	void (*spent)(unsigned rank, struct rank_record *record);
	/* Releases the workers, whether begin succeeded or not; waits for the own one. */
	void (*end)(void);

	/* ---- one image: every other process */

	/* Works until the coordinator ends. Returns the exit code. */
	int (*work)(const struct run_options *options, const char *image_path, const char *output);

	/* ---- many images (cli/batch.c) */

	/* The coordinator: has another process carve the image of that number; waits. */
	int (*carve)(unsigned rank, size_t number, struct run_sums *sums);
	/* Another process: waits for an image. False: there are no more. */
	bool (*image)(size_t *number);
	void (*carved)(int code, const struct run_sums *sums);

	/* ---- measurements */

	/* All processes call it equally often. Replaces the numbers by the sums and maxima of all. */
	int (*reduce)(struct cluster_reduced *reduced, struct error *error);
	/* The same, right after a reduce. Adds the counts up at rank 0 by MPI_Reduce among the first
	 * `processes` of all. *seconds: what that took, once they all had come to it; 0 for the rest. */
	void (*total)(uint64_t *counts, unsigned count, unsigned processes, double *seconds);
};

/* Of this process; NULL when it is alone. Set once by main. */
extern const struct cluster *the_cluster;

#endif
