/*
 * Files in pieces: after the decisions of a scan, puts files together that broke off, where that can
 * be proved. README.md has the overview. One thread calls, the trials run in the pool.
 */
#ifndef BURIN_ASSEMBLE_ASSEMBLE_H
#define BURIN_ASSEMBLE_ASSEMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assemble/search_device.h"
#include "base/codec.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/ranges.h"
#include "carve/check.h"
#include "carve/decide.h"
#include "evidence/image.h"
#include "evidence/volumes.h"
#include "report/record.h"
#include "rules/rules.h"

struct assembler;
struct broken; /* a file that broke off (assemble/workbench.h) */

/* How far it goes; each does what those before it do, too. */
enum assemble_level {
	FRAGMENTS_OFF,
	FRAGMENTS_KNOWN, /* layouts that need no search */
	FRAGMENTS_NEAR, /* two pieces, the second soon after the first, if no other layout would do */
	FRAGMENTS_SEARCH, /* any clusters */
};

/* The choices of --fragments, in that order. */
#define ASSEMBLE_LEVEL_CHOICES "off|known|near|search"

/* Where a file system's record of a file says that its bytes are. */
struct recorded {
	bool is_known;      /* else there is no record */
	struct range *runs; /* of the evidence, in the file's order */
	size_t count;
	bool is_guessed;     /* only its start is recorded */
	bool is_reallocated; /* other files have taken over blocks of it */
};

/* Processes that make the same passes over the same broken files: each tries a part of them, and all take over what the
 * others' parts came to before they claim anything, so that they come to the same. */
struct assemble_others {
	unsigned part, parts; /* this process's, of all */
	/* After its part of a pass: gives the others `own`, and appends to theirs what each of them gave, in order of the parts,
	 * as codec_put_bytes does. False: they do not go on. */
	bool (*exchange)(
		void *context, const struct codec_writer *own, struct codec_writer *theirs);
	/* This process can't go on, and the others are to know. */
	void (*give_up)(void *context);
	void *context;
	const char *(*keep)(const char *text); /* as for outcome_load, of what they give */
};

struct assemble_options {
	struct image *image;           /* that was searched */
	const struct volumes *volumes; /* NULL: none are known */
	/* NULL: the volumes are asked. Else as recorded_find. */
	bool (*find_record)(uint64_t start, struct recorded *recorded);
	const struct rules *rules;
	struct pool *pool;
	enum assemble_level level;
	bool strict;                    /* only complete files are wanted */
	uint64_t budget;                /* percent of the usual work */
	const struct search_tool *tool; /* that opens the devices for searches; NULL: none */
	const char *devices;            /* as --gpus has them */
	const struct kept_text
		*kept_text; /* what the scan has kept there of the evidence; NULL: nothing */
	struct lost_processes *
		lost; /* processes that make the passes, and are lost, are noted; NULL: they are not */
	/* Polled by every trial: true ends the pass. Thread-safe. */
	bool (*interrupted)(void);
	/* NULL, or called by each thread with the file that it tries now, in the files' order by one thread after the
	 * other: its number in the pass; file NULL: it tries none any more. */
	void (*on_file)(const struct broken *file, size_t number);
	/* NULL, or called after each pass by the thread that had it made. */
	void (*on_pass)(void *context, const struct assembler *assembler);
	void *context;
	const struct assemble_others *others; /* NULL: there are none */
	bool alone; /* threads make no trials for each other, also not ahead of their turn */
};

/* What the volumes know of the file at start; its runs are the caller's to free. False: nothing. Thread-safe. */
bool recorded_find(const struct volumes *volumes, uint64_t start, struct recorded *recorded);

/* One that is not put together, as that crashed. */
struct crashed {
	uint64_t start; /* in the evidence */
	uint32_t rule;
};

/* A file that was put together. Its outcome's offsets are in the file. */
struct assembled {
	uint64_t start; /* of the file, in the evidence */
	uint32_t rule;
	uint32_t run_count;
	struct range *runs; /* in the evidence */
	struct outcome outcome;
	struct assembly assembly;
	bool is_whole; /* its carver finds it complete, whether or not the joints are proved */
	unsigned pass; /* that found it */
};

/* Never NULL. What the options point to must outlive it. */
struct assembler *assembler_new(const struct assemble_options *options);
const struct assemble_options *assembler_options(const struct assembler *assembler);
/* A decision of the scan, in order: keeps what it needs of it. */
void assembler_note(struct assembler *assembler, const struct decision *decision);
/* Whether there is another pass to make. */
bool assembler_has_pass(const struct assembler *assembler);
/* Its name; NULL: there is none. */
const char *assembler_next_pass(const struct assembler *assembler);
/* Units of work that it may spend on each file that it concerns. */
uint64_t assembler_next_work(const struct assembler *assembler);
/* Makes the next pass over all files that broke off. Returns 0, -EINTR (interrupted: the pass will
 * have to be made again), -ENOLINK (the other processes do not go on: the same, error is not set), or another negative errno
 * with error set. */
int assembler_pass(struct assembler *assembler, struct error *error);
/* After the last pass: *count results in order of (start, rule), valid until the next call or assembler_free. */
const struct assembled *assembler_results(struct assembler *assembler, size_t *count);
/* Files that broke off and of which no more could be kept in mind. */
uint64_t assembler_left_out(const struct assembler *assembler);
/* After the last pass, before assembler_results: files that were not put together, and for which some
 * trials were not made because their share of the work was spent. */
uint64_t assembler_unfinished(const struct assembler *assembler);
/* Sets the error of a pass without memory, and returns -ENOMEM. */
int assemble_memory_error(struct error *error);
/* After the last decision; the first pass does it, too. */
void assembler_end_scan(struct assembler *assembler);
/* For a checkpoint: what was noted, and what the passes so far have come to. */
void assembler_save(const struct assembler *assembler, struct codec_writer *writer);
/* Into a new one with the same options. keep: as for outcome_load. Invalid values fail the reader. */
void assembler_load(struct assembler *assembler, const char *(*keep)(const char *text),
	struct codec_reader *reader);
/* Who makes parts of the passes from now on; NULL: nobody else does. */
void assembler_set_others(struct assembler *assembler, const struct assemble_others *others);
/* For another process that makes the passes (assemble/confined.h): what assembler_save saves, and the options that the
 * image did not give. */
void assembler_save_task(const struct assembler *assembler, struct codec_writer *writer);
/* There: options has what that process has itself. Invalid values fail the reader. Never NULL. */
struct assembler *assembler_load_task(const struct assemble_options *options,
	const char *(*keep)(const char *text), struct codec_reader *reader);
/* There, after each pass: what the passes came to for the files from this number on, until there are `most` bytes of it.
 * Returns from where to go on; SIZE_MAX: that was all. Then assembler_save_pass. */
size_t assembler_save_files(
	const struct assembler *assembler, size_t from, size_t most, struct codec_writer *writer);
void assembler_save_pass(const struct assembler *assembler, struct codec_writer *writer);
/* Here: takes them over, once the pass is complete. What can't be so fails the reader. keep: as for outcome_load. */
void assembler_take_files(struct assembler *assembler, const char *(*keep)(const char *text),
	struct codec_reader *reader);
void assembler_take_pass(struct assembler *assembler, struct codec_reader *reader);
/* Here: the process has ended before that. */
void assembler_drop_files(struct assembler *assembler);
/* Here, as if no pass had been made. */
void assembler_forget_passes(struct assembler *assembler);
#define CRASHED_MAX 8
/* A file that must not be tried any more, as that crashed: all passes will be made again. False: no such file is broken, or
 * there are too many. */
bool assembler_leave_out(struct assembler *assembler, uint64_t start, uint32_t rule);
/* These files. */
const struct crashed *assembler_crashed(const struct assembler *assembler, size_t *count);
/* NULL is fine. */
void assembler_free(struct assembler *assembler);

#endif
