/*
 * The carving stage: candidates in, files and report lines out. Checks and writes run in the pool
 * or in other processes, decisions in the caller's thread, reporting in a thread of its own
 * (report/report_queue.h); decisions and reports are in order. All functions are called by one
 * thread, unless they say otherwise.
 */
#ifndef BURIN_CARVE_CARVING_H
#define BURIN_CARVE_CARVING_H

#include "base/pool.h"
#include "carve/check.h"
#include "carve/decide.h"
#include "carve/record_builder.h"
#include "carve/rejections.h"
#include "carve/remote.h"
#include "hashing/hash_sets.h"
#include "output/output_dir.h"
#include "report/progress.h"
#include "report/report.h"

/* Candidates that were neither kept nor rejected, because the run ended early, are counted as
 * skipped under this. */
#define SKIPPED_BY_END "not decided when the run ended"
/* Files that --skip-known leaves out. */
#define SKIPPED_KNOWN "known"

struct carving_options {
	struct image *image;       /* what is searched; files are copied from its evidence
				(evidence/extent_image.h) */
	struct volumes *volumes;   /* NULL: none are known */
	const struct rules *rules; /* NULL when only carving_add_record is used */
	struct output_dir *output_dir;
	struct report *report;
	struct progress *progress; /* NULL for none */
	struct pool *pool;
	const struct remote_workers *remote; /* NULL: this process checks and writes itself */
	struct decide_options decide;
	enum carving_names names;
	struct record_style style;
	bool dry_run; /* files are not written; and not read either, unless there are sets */
	bool confined; /* this process's checks are made in others, which are (carve/check_worker.h), ... */
	struct lost_processes
		*lost; /* ...of which those that are lost are noted; NULL: they are not */
	uint32_t hash_mask;
	const struct hash_sets *sets;    /* to look files up in; NULL: none */
	const struct ranges *unreadable; /* what the reader could not read, growing; for dry runs */
	/* Called now and then while waiting, when carving_save may be called. NULL: never. */
	void (*on_wait)(void *context);
	void *context;
	/* If set, no files are made: it gets, in order, the outcomes of all candidates that are not
	 * hidden, for a process that decides. */
	void (*on_outcome)(
		void *context, const struct candidate *candidate, const struct outcome *outcome);
	/* Polled while waiting, and by each check under way: true ends all work, as carving_cancel
	 * does. Thread-safe. NULL: never. */
	bool (*interrupted)(void);
	const struct ahead *ahead; /* what is known before checks (carve/ahead.h); NULL: nothing */
	const struct rejections *rejections; /* of candidates that were checked before; or NULL */
	struct tallies *rejected, *skipped, *by_type, *by_kind;
};

static inline bool carving_reads_files(const struct carving_options *options)
{
	return !options->dry_run || options->sets;
}

struct carving;

/* What the options point to must outlive it. Never NULL. */
struct carving *carving_new(const struct carving_options *options);

/* on_decided gets every decision that is made from now on, in order, but those on what is hidden. */
void carving_watch_decisions(struct carving *carving,
	void (*on_decided)(void *context, const struct decision *decision), void *context);

/* Takes a candidate, in order of (start, rule, pattern). Waits while the ring is full.
 * -EAGAIN: scan on and come back (the oldest file reaches past what was scanned, and a dry run must
 * know whether it can be read); another negative errno: the run must end, carving_error says why. */
int carving_offer(struct carving *carving, const struct candidate *candidate);
/* A candidate that will be offered, unless it is hidden then, may be checked already, if it is a likely file: in the same
 * order. False: there is no room. */
bool carving_offer_early(struct carving *carving, const struct candidate *candidate);
/* Whether the candidate, which is next, is better offered later: when a file that probably hides it is decided on. Then all
 * that start before it count as offered. Only to save time and memory. Never after all was scanned. */
bool carving_holds(struct carving *carving, const struct candidate *candidate);
/* Instead of offering them: `count` candidates, all that were not offered and start before carving_hidden_until. */
void carving_skip_hidden(struct carving *carving, uint64_t until, uint64_t count);
/* Takes a file that was decided on elsewhere: path and runs are taken over (and NULL afterwards),
 * the other texts must outlive the carving. Hashes in the record are those that its bytes are
 * expected to have. Result as for carving_offer. */
int carving_add_record(struct carving *carving, struct file_record *record);

/* The outcome, known ahead of time, of the candidate of that rule that starts there: called in
 * order, before the candidate is offered. Takes over what the outcome owns. */
void carving_add_precheck(
	struct carving *carving, uint64_t start, uint32_t rule, struct outcome *outcome);
/* Another process has decided that what starts before this is hidden. Thread-safe. */
void carving_hide(struct carving *carving, uint64_t until);

/* All candidates that start before position have been offered: they need not wait for more of the
 * same start. */
void carving_set_offered_until(struct carving *carving, uint64_t position);

/* The image was scanned up to here. Does what can be done without waiting. Result as for
 * carving_offer. */
int carving_scanned(struct carving *carving, uint64_t position);
/* Waits until the checks of all that was offered and starts before position are begun, or nothing
 * more can be begun for now. Result as for carving_offer, without -EAGAIN. */
int carving_start_checks(struct carving *carving, uint64_t position);
/* All that starts before this has been decided on. */
uint64_t carving_decided_until(const struct carving *carving);
/* Waits until that is at least position; all candidates before it have been offered. Result as for
 * carving_start_checks. */
int carving_decide_until(struct carving *carving, uint64_t position);
/* What starts before this is hidden. */
uint64_t carving_hidden_until(const struct carving *carving);

/* Brings what was reported so far to the disk. Returns 0 or a negative errno with error set. */
int carving_flush(struct carving *carving, struct error *error);

/* No more candidates, everything was scanned: decides, writes and reports the rest. Result as for
 * carving_offer, without -EAGAIN. */
int carving_finish(struct carving *carving);
/* Drops what is not written yet, removes half-written files, reports what is complete. To be called
 * after an interruption, and after any function that failed. */
void carving_cancel(struct carving *carving);

/* For a checkpoint: what was decided, and what was offered since. Call carving_flush before, so
 * that the reports hold all that is not saved here. Valid at any time, also after a failure and
 * before carving_cancel. */
void carving_save(struct carving *carving, struct codec_writer *writer);
/* Into a new one with the same options. Invalid values fail the reader. Nothing is acted on before
 * carving_resume. */
void carving_load(struct carving *carving, struct codec_reader *reader);
/* All of the checkpoint is valid: files that were decided on and not reported are written again,
 * other leftovers of the killed run are removed. Returns 0 or as carving_offer. Also where there was
 * nothing to load. */
int carving_resume(struct carving *carving);

/* After carving_finish: the files were reported again, to this report. */
void carving_was_reported(
	struct carving *carving, struct report *report, const struct file_sums *sums);
/* For the record of a file in pieces (carve/record_builder.h). */
struct record_builder *carving_record_builder(struct carving *carving);

/* Why a function failed. */
const struct error *carving_error(const struct carving *carving);
/* Over the files that were reported. */
const struct file_sums *carving_sums(const struct carving *carving);
/* Files given to carving_add_record whose hashes differ from those in their records. */
uint64_t carving_mismatches(const struct carving *carving);
/* As decider_quota; zeros where files were decided on elsewhere. */
void carving_quota(const struct carving *carving, struct quota_state *quota);
/* Candidates that were not checked because their rules had no work left (carve/decide.h). */
uint64_t carving_unchecked(const struct carving *carving);
/* As decider_crashed; NULL where files were decided on elsewhere. */
const struct crashed_checks *carving_crashed(const struct carving *carving);
/* As decider_tally_checks. */
void carving_tally_checks(const struct carving *carving, struct tallies *checks);
/* Seconds spent waiting for checks, writes and reports so far. */
double carving_waited(const struct carving *carving);
/* NULL is fine. */
void carving_free(struct carving *carving);

#endif
