/*
 * What every kind of run sets up and ends alike, whether it carves, extracts, or works for another
 * process: scope, output folder, pool, reports, progress, the carving stage, and what went wrong.
 *
 * A driver opens the parts that it needs in the order below, works with them, and calls
 * session_report and session_close, whatever failed before.
 */
#ifndef BURIN_RUN_SESSION_H
#define BURIN_RUN_SESSION_H

#include "base/error.h"
#include "carve/carving.h"
#include "output/output_dir.h"
#include "report/progress.h"
#include "report/report.h"
#include "run/problems.h"
#include "run/run_options.h"
#include "run/scope.h"

struct session {
	const struct run_options *options;
	const char *image_path;
	double started; /* clock_seconds; earlier for a run that was resumed */
	struct scope scope;
	struct pool *pool;
	struct output_dir *output_dir;
	struct progress *progress;
	struct report *report;
	struct run_options limited; /* the options, with this image's output limit */
	bool near_limit_logged;
	bool confinement_known; /* then checks_confined holds; see session_confines_checks */
	bool checks_confined;
	struct run_record record;
	struct summary_record summary;
	struct ahead *ahead;           /* what the engine has decoded; NULL: nothing */
	struct rejections *rejections; /* that checks in scanning threads have noted */
	struct carving *carving;
	struct lost_processes *lost; /* NULL: there are no checks */
	struct problems problems;
	struct error error; /* what ended the run; code 0: nothing did */
	bool whole; /* of session_report: all was done, though a reader of events may have missed it */
};

/* A pool for one or several runs, and room for their descriptors. What confines processes is known before it has
 * threads (sandbox_layers). NULL when no thread can be started. */
struct pool *session_pool_new(unsigned threads);

/* Sets all to nothing but these, which must outlive the session, and the time at which it began. Finds out what confines
 * processes (sandbox_layers). */
void session_init(
	struct session *session, const struct run_options *options, const char *image_path);

/* What returns int returns 0 or a negative errno with session->error set. */

/* threads: 0: one a processor. Not used where the options bring a pool. */
int session_open_pool(struct session *session, unsigned threads);
/* The new or empty folder; the evidence must be open. */
int session_open_output(struct session *session, const char *output);
/* Whether candidates are checked, and files put together, in processes of their own (carve/check_worker.h). Asks the
 * engines which one is to be used; the same answer each time, after a warning at the first where burin-carver is
 * missing. */
bool session_confines_checks(struct session *session);
/* Fills the record, but for engine, kernel, engine_reason and reader, and starts the progress.
 * total: bytes that it counts. */
void session_fill_record(struct session *session, uint64_t total);
int session_open_report(struct session *session);
/* on_wait: called now and then with the context while the carving stage waits; NULL: never. */
void session_start_carving(struct session *session, void (*on_wait)(void *context), void *context);
/* Warns, once, when the carved files have nearly reached the default output limit. To be called now
 * and then; session_report does as well. */
void session_watch_output(struct session *session);

/* The driver has failed with this status, or not (0). Sets an error where no part has set one. */
void session_fail(struct session *session, int status);
/* Completes the reports and logs what a person needs to know. The driver has filled the summary's
 * content, hits, scanned, ranks, and seconds but for the total. Returns the exit code. */
int session_report(struct session *session);
/* Fills sums, but for kernel and unsuited. After session_report. */
void session_sums(const struct session *session, struct run_sums *sums);
/* Ends the carving stage, whose threads read what the search keeps in memory: before search_close. */
void session_stop_carving(struct session *session);
/* Frees everything, the pool included: after search_close. */
void session_close(struct session *session);

#endif
