/* What a run is asked to do, and what it came to: for the command line, batches, the self-test and
 * the benchmarks. */
#ifndef BURIN_RUN_RUN_OPTIONS_H
#define BURIN_RUN_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "base/pool.h"
#include "carve/decide.h"
#include "carve/record_builder.h"
#include "evidence/reader.h"
#include "evidence/volumes.h"
#include "hashing/hash_sets.h"
#include "report/progress.h"
#include "report/record.h"
#include "rules/rules.h"
#include "scan/gpu_options.h"

/* Whether the evidence itself is hashed, and compared with what it stores. */
enum run_verify {
	RUN_VERIFY_SPARE, /* the kinds that it stores, in the processors' spare time */
	RUN_VERIFY_NONE,
	RUN_VERIFY_STORED, /* the kinds that it stores, or else SHA-256 */
	RUN_VERIFY_KINDS,  /* verify_mask */
};

/* Which bytes of the image are searched. */
#define RUN_SPACE_CHOICES "all|unallocated|allocated"
enum run_space { SPACE_ALL, SPACE_UNALLOCATED, SPACE_ALLOCATED };

/* decide.max_bytes for the default limit of an image's output, in bytes: its size times
 * OUTPUT_LIMIT_FACTOR, but at least OUTPUT_LIMIT_MIN. */
#define OUTPUT_LIMIT_AUTO UINT64_MAX
#define OUTPUT_LIMIT_FACTOR 4
#define OUTPUT_LIMIT_MIN ((uint64_t)1 << 30)

#define CASE_ROW(option, settings, member, heading, words) \
	{ \
		.name = option, .kind = OPTION_STRING, .metavar = "TEXT", \
		.offset = offsetof(settings, member), .result = true, .group = heading, \
		.help = words \
	}
/* The rows of the options that fill the struct case_record which is a member of a command's settings;
 * heading: their group, or NULL. */
#define CASE_ROWS(settings, member, heading) \
	CASE_ROW("case", settings, member.number, heading, \
		"Number or name of the case, for the reports"), \
		CASE_ROW("examiner", settings, member.examiner, heading, \
			"Name of the examiner, for the reports"), \
		CASE_ROW("note", settings, member.note, heading, "Remark for the reports")

struct cluster;

/* What the output folder's folders are named after, in the order of FOLDERS_CHOICES. */
enum run_folders { FOLDERS_BY_TYPE, FOLDERS_BY_KIND };
#define FOLDERS_CHOICES "type|kind"

/* For `burin carve` the table in run/carve_options.c fills most of this. */
struct run_options {
	const struct plugin_record
		*plugins; /* that were loaded, ended by one without a path; NULL: none */
	const struct rules *rules;
	char **arguments;            /* the command line as typed, ended by NULL, for the report */
	const char *engine, *kernel; /* NULL: auto, the engine's choice */
	struct gpu_options gpu;
	unsigned threads;    /* 0: one a processor */
	struct pool *pool;   /* one that several runs share; NULL: the run makes one of `threads` */
	uint64_t chunk_size; /* bytes; 0: the engine's choice, or 8 MiB */
	enum reader_method io;
	enum reader_cache cache;
	struct case_record about;
	const char *map_path; /* of a ddrescue map of the image; NULL for none */
	/* The range of the image in which files start; length 0: to the end. */
	uint64_t offset, length;
	enum volumes_depth file_systems; /* what is read of them; all, when space asks for it */
	enum run_space space;
	bool no_slack;            /* SPACE_UNALLOCATED leaves out the slack of files */
	uint64_t align;           /* as Scalpel's -q */
	bool both;                /* as Scalpel's -b */
	unsigned fragments;       /* enum assemble_level */
	uint64_t fragment_budget; /* percent */
	bool dry_run, flat;
	unsigned scalpel;    /* 1: decide, name and audit as Scalpel does */
	bool no_content_map; /* map.bin is not written */
	struct record_style style;
	enum run_folders folders;
	struct decide_options decide;
	uint32_t hash_mask;
	const struct hash_sets *sets; /* that carved files are looked up in; NULL: in none */
	bool skip_known;              /* leaves out files that are known and not wanted */
	enum run_verify verify;
	uint32_t verify_mask; /* enum hash_kind or-ed together */
	struct progress_options progress;
	uint64_t checkpoint_interval; /* milliseconds; 0: no checkpoints, so no resuming */
	const struct cluster
		*cluster; /* processes that share the work (run/cluster.h); NULL: this one alone */
	uint64_t unit_size; /* bytes that one of them searches at a time; 0: by the image's size */
	bool resume;        /* continues from the checkpoint in the output folder */
};

struct run_sums {
	uint64_t files, bytes;  /* carved */
	uint64_t scanned, hits; /* bytes searched, places at which patterns match */
	/* Seconds: in all; until the first chunk could be searched; and what the run's thread spent
	 * waiting for chunks to be read, to be searched, and for room in the carving stage. */
	double total, start, read_wait, scan_wait, carve_wait;
	bool unsuited;    /* nothing was searched: the engine or kernel that was asked for does not
			  support such rules */
	char kernel[128]; /* how the engine worked, cut if need be */
	uint64_t image_size; /* bytes; 0 when it could not be opened */
	enum evidence_state evidence;
	char problem[512]; /* what the report calls problems, cut if need be; "" for none */
};

#endif
