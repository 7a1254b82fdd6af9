/* One run over one image: the only place that knows the whole way from evidence to reports. */
#ifndef BURIN_RUN_RUN_H
#define BURIN_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "carve/decide.h"
#include "carve/record_builder.h"
#include "evidence/reader.h"
#include "evidence/volumes.h"
#include "scan/gpu_options.h"
#include "hashing/hash_sets.h"
#include "output/progress.h"
#include "rules/rules.h"

/* Whether the evidence itself is hashed, and compared with what it stores. */
enum run_verify {
	RUN_VERIFY_SPARE, /* what it stores, in the processors' spare time */
	RUN_VERIFY_NONE,
	RUN_VERIFY_STORED, /* what it stores, or else SHA-256 */
	RUN_VERIFY_KINDS,  /* verify_mask */
};

/* Which bytes of the image are searched. */
enum run_space { SPACE_ALL, SPACE_UNALLOCATED, SPACE_ALLOCATED };
#define RUN_SPACE_CHOICES "all|unallocated|allocated"

struct run_cluster;

/* For `burin carve` the table in run/carve_options.c fills most of this. */
struct run_options {
	const struct rules *rules;
	char **arguments;            /* the command line as typed, ended by NULL, for the report */
	const char *engine, *kernel; /* NULL: auto, the engine's choice */
	struct gpu_options gpu;
	unsigned threads;    /* 0: one a processor */
	struct pool *pool;   /* one that several runs share; NULL: the run makes one of `threads` */
	uint64_t chunk_size; /* bytes; 0: the engine's choice, or 8 MiB */
	enum reader_method io;
	enum reader_cache cache;
	const char *map_path; /* of a ddrescue map of the image; NULL for none */
	uint64_t offset,
		length; /* the range of the image in which files start; length 0: to the end */
	enum volumes_depth
		file_systems; /* what is found out about them; all, when space asks for it */
	enum run_space space;
	uint64_t align; /* as Scalpel's -q */
	bool both;      /* as Scalpel's -b */
	bool dry_run, flat, no_extension;
	unsigned scalpel;    /* 1: decide, name and audit as Scalpel does */
	bool no_content_map; /* map.bin is not written */
	enum carving_label label;
	struct decide_options decide;
	uint32_t hash_mask;
	const struct hash_sets *sets; /* that carved files are looked up in; NULL: in none */
	bool skip_known;              /* and left out, when they are known and not wanted */
	enum run_verify verify;
	uint32_t verify_mask; /* enum hash_kind or-ed together */
	struct progress_options progress;
	uint64_t
		checkpoint_interval; /* milliseconds; 0: no checkpoints, so the run can't be resumed */
	const struct run_cluster *
		cluster; /* processes that share the work (run/run_cluster.h); NULL: this one is alone */
	uint64_t unit_size; /* bytes that one of them searches at a time; 0: by the image's size */
	bool resume;        /* goes on from the checkpoint in the output folder */
};

struct run_sums {
	uint64_t files, bytes;  /* carved */
	uint64_t scanned, hits; /* bytes searched, places at which patterns match */
	/* Seconds: in all; until the first chunk could be searched; and what the conductor spent
	 * waiting for chunks to be read, to be searched, and for room in the carving stage. */
	double total, start, read_wait, scan_wait, carve_wait;
	bool unsuited; /* nothing was searched: the engine or kernel that was asked for takes no such rules */
	char kernel[128];    /* how the engine worked, cut if need be */
	uint64_t image_size; /* bytes; 0 when it could not be opened */
	enum evidence_state evidence;
	char problem[512]; /* what the report calls problems, cut if need be; "" for none */
};

/* SIGINT and SIGTERM end the run in hand soon, with a complete report so far; a second one ends the
 * process. */
void run_catch_signals(void);
/* The signal that was caught, 0 for none. */
int run_caught_signal(void);

/* A pool for several runs, and room for their descriptors. NULL when no thread can be started. */
struct pool *run_pool_new(unsigned threads);

/* Carves image_path into the new or empty folder output. Says on stderr what a person needs to
 * know; returns the exit code. sums (may be NULL): what was carved. */
int run_carve(const struct run_options *options, const char *image_path, const char *output,
	struct run_sums *sums);

/* The part of a process that helps another with that run: options->cluster. */
int run_help(const struct run_options *options, const char *image_path, const char *output);

/* Writes the files that a report of an earlier run lists (perhaps filtered) into output, without
 * scanning. image_path: the evidence, or NULL for the one that the report names. Only threads,
 * hash_mask, arguments and progress of the options count. */
int run_extract(const struct run_options *options, const char *report_path, const char *image_path,
	const char *output, struct run_sums *sums);

#endif
