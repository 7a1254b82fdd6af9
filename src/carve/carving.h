/*
 * The carving stage: candidates in, files and report lines out. Checking and writing run in the
 * pool, deciding in the caller's thread and reporting in one of its own (report/report_queue.h), both
 * in order. All functions are called by one thread.
 */
#ifndef BURIN_CARVE_CARVING_H
#define BURIN_CARVE_CARVING_H

#include <stdatomic.h>

#include "base/pool.h"
#include "carve/check.h"
#include "carve/decide.h"
#include "carve/record_builder.h"
#include "carve/remote.h"
#include "hashing/hash_sets.h"
#include "output/progress.h"
#include "report/report.h"
#include "output/output_dir.h"

/* What was found and neither carved nor refused, because the run ended early, is counted as
 * skipped under this. */
#define SKIPPED_BY_END "not decided when the run ended"
/* What --skip-known leaves out. */
#define SKIPPED_KNOWN "known"

struct carving_options {
	struct image *
		image; /* what is searched; files are copied from its evidence (evidence/extent_image.h) */
	struct volumes *volumes;   /* NULL: nothing is known of them */
	const struct rules *rules; /* NULL when only carving_add_record is used */
	struct output_dir *output_dir;
	struct report *report;
	struct progress *progress; /* NULL for none */
	struct pool *pool;
	const struct remote_workers *remote; /* NULL: this process checks and writes itself */
	struct decide_options decide;
	enum carving_names names;
	enum carving_label label;
	bool no_extension, dry_run;
	uint32_t hash_mask;
	const struct hash_sets *sets;    /* that files are looked up in; NULL: in none */
	bool skip_known;                 /* and left out, when they are known and not wanted */
	const struct ranges *unreadable; /* what the reader could not read, growing; for dry runs */
	/* Called now and then while waiting, when carving_save may be. NULL: never. */
	void (*on_wait)(void *context);
	void *context;
	/* Makes no files: tells, in order, what the checks have found of all that is not hidden,
	 * for a process that decides. NULL: makes them. */
	void (*on_outcome)(
		void *context, const struct candidate *candidate, const struct outcome *outcome);
	bool (*interrupted)(
		void); /* asked while waiting: true ends the writing, as carving_cancel does. NULL: never */
	struct tallies *rejected, *skipped, *by_type;
};

struct carving;

struct carving *carving_new(const struct carving_options *options);

/* Takes a candidate, in order of (start, rule, pattern). Waits while workers are behind.
 * -EAGAIN: scan on and come back (the oldest file reaches beyond what was scanned, and a dry run
 * must know whether it can be read); another negative errno: the run must end, carving_error
 * says why. */
int carving_offer(struct carving *carving, const struct candidate *candidate);
/* Takes a file that was decided on elsewhere: path and runs are taken over (and NULL
 * afterwards), the other texts must outlive the carving. Hashes in the record are what its bytes
 * are expected to have. Result as for carving_offer. */
int carving_add_record(struct carving *carving, struct file_record *record);

/* What the check of the candidate that starts there for that rule has found, before it is
 * offered: in order. Takes over what the outcome holds. */
void carving_add_precheck(
	struct carving *carving, uint64_t start, uint32_t rule, struct outcome *outcome);
/* Another process has decided that what starts before this is hidden. From any thread. */
void carving_hide(struct carving *carving, uint64_t until);

/* Everything that starts before position has been offered: it need not wait for what comes next. */
void carving_set_offered_until(struct carving *carving, uint64_t position);

/* The image was scanned up to here. Does what can be done without waiting. Result as for
 * carving_offer. */
int carving_scanned(struct carving *carving, uint64_t position);
/* Waits until all that was offered and starts before position is being checked, or can't be for
 * now. Result as for carving_offer, but for -EAGAIN. */
int carving_start_checks(struct carving *carving, uint64_t position);
/* All that starts before this has been decided on. */
uint64_t carving_decided_until(const struct carving *carving);
/* Waits until that is at least position, all before which has been offered. Result as for
 * carving_start_checks. */
int carving_decide_until(struct carving *carving, uint64_t position);
/* What starts before this is hidden. */
uint64_t carving_hidden_until(const struct carving *carving);

/* What is reported so far reaches the disk. Returns 0 or a negative errno with error set. */
int carving_flush(struct carving *carving, struct error *error);

/* No more candidates, everything was scanned: decides, writes and reports the rest. Result as
 * for carving_offer, but for -EAGAIN. */
int carving_finish(struct carving *carving);
/* Drops what is not yet written, takes back half-written files, reports what is there. To be
 * called after an interruption and after any function that failed. */
void carving_cancel(struct carving *carving);

/* For a checkpoint: what was decided, and what was offered since. Call carving_flush before, so
 * that the reports hold all that is not saved here. Good at any time, also after a failure and
 * before carving_cancel. */
void carving_save(struct carving *carving, struct codec_writer *writer);
/* Into a new one with the same options: files that were decided on and not reported are written
 * again, what else a killed run left is removed. Returns 0 or as carving_offer; what can't be fails
 * the reader. */
int carving_load(struct carving *carving, struct codec_reader *reader);

/* Removes what a killed run left of files that this one has not come to. */
void carving_remove_leftovers(struct carving *carving);

const struct error *carving_error(const struct carving *carving);
/* How many files were carved, and their bytes. */
void carving_sums(const struct carving *carving, uint64_t *files, uint64_t *bytes);
/* Bytes that carved files lack because they could not be read. */
uint64_t carving_unreadable(const struct carving *carving);
/* Files given to carving_add_record whose bytes hashed to something else than their record said. */
uint64_t carving_mismatches(const struct carving *carving);
/* Files among the sums that a set of known ones holds, and a set of wanted ones. */
void carving_marks(const struct carving *carving, uint64_t *known, uint64_t *alert);
bool carving_quota_reached(const struct carving *carving);
/* Waited for workers so far, seconds. */
double carving_waited(const struct carving *carving);
/* NULL is fine. */
void carving_free(struct carving *carving);

#endif
