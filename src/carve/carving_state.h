/* What the files of carving*.c share; nobody else includes this. */
#ifndef BURIN_CARVE_CARVING_STATE_H
#define BURIN_CARVE_CARVING_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "carve/defer.h"
#include "carve/carving.h"
#include "carve/copy.h"
#include "carve/precheck_cache.h"
#include "report/report_queue.h"

/* Most candidates are refused after one look: a job for each would cost more than the look. */
#define CHECK_BATCH 16

enum ticket_state {
	TICKET_OFFERED,
	TICKET_CHECKING,
	TICKET_PUT_OFF, /* it may be hidden soon: carve/defer.h */
	TICKET_CHECKED,
	TICKET_WRITING,
	TICKET_DONE
};

struct ticket {
	struct pool_job job; /* first: a job's address is its ticket's */
	struct carving *carving;
	struct ticket *next; /* that its check job covers, too */
	bool force;          /* it was put off, and all wait for it */
	_Atomic enum ticket_state state;
	struct candidate candidate;
	struct outcome outcome;
	bool keep;
	int status; /* of writing */
	struct file_record record;
	struct range run;
	struct hashes expected; /* carving_add_record: "" for what is not known */
};

struct worker_room {
	struct carving *carving;
	struct view *view;
	struct copier copier;
};

struct carving {
	struct carving_options options;
	struct decider *decider;
	struct ticket *ring;
	size_t ring_len;
	uint64_t retired, decided, checked, offered; /* cursors: counts since the start */
	struct worker_room *rooms;                   /* one a worker of the pool */
	unsigned threads;       /* those, or how much others can do at a time */
	struct asking *writing; /* files that others are going to be asked to write */
	struct asking **spans;  /* whose checks are in `ahead`, by worker; under the lock */
	_Atomic unsigned spans_used;
	uint64_t scanned;
	uint64_t offered_until; /* whatever starts before this has been offered */
	struct defer *defer;
	struct precheck_cache *early;
	/* Of what was told early: what starts behind `from` and before `until` waits for what
	 * becomes of it (carve/defer.h). */
	uint64_t precheck_cache_from, precheck_cache_until;
	atomic_bool cancelled;
	bool dropping;        /* what could not be written is given up */
	pthread_mutex_t lock; /* guards bell and the setting of error */
	pthread_cond_t rung;
	uint64_t bell;         /* jobs finished since the start */
	_Atomic uint64_t jobs; /* jobs started since the start, by the caller's thread */
	struct error error;    /* good once status is not 0 */
	_Atomic int status;
	uint64_t files, bytes, unreadable, mismatches;
	uint64_t known, alert;
	struct record_builder *record_builder;
	struct report_queue *report_queue;
	struct decision *group;
	double waited;
	struct strpool texts; /* of records that were loaded */
};

static inline struct ticket *ticket_at(const struct carving *carving, uint64_t cursor)
{
	return &carving->ring[cursor % carving->ring_len];
}

static inline enum ticket_state ticket_state(struct ticket *ticket)
{
	return atomic_load_explicit(&ticket->state, memory_order_acquire);
}

static inline void ticket_set_state(struct ticket *ticket, enum ticket_state state)
{
	atomic_store_explicit(&ticket->state, state, memory_order_release);
}

/* One job more is under way, which rings the bell when it is finished. */
static inline void note_job(struct carving *carving)
{
	atomic_fetch_add_explicit(&carving->jobs, 1, memory_order_relaxed);
}

/* carving_jobs.c: what runs in the pool's threads, and waiting for it. */

/* The first failure ends the carving. context: struct carving. Thread-safe. */
void jobs_note_error(void *context, int status, const struct error *error);
/* A view's watcher; context: struct worker_room. */
bool jobs_go_on(void *context, uint64_t reached);
/* Checks first and those that hang on it. */
void jobs_start_checks(struct carving *carving, struct ticket *first);
void jobs_start_write(struct carving *carving, struct ticket *ticket);
/* How often a job has finished; then waits until it has done so more often. False when none did and
 * none is running: then nothing will change. */
uint64_t jobs_bell(struct carving *carving);
bool jobs_wait(struct carving *carving, uint64_t seen);
/* Until none is running. */
void jobs_wait_all(struct carving *carving);
/* A job is finished; the last that it does. */
void jobs_ring_bell(struct carving *carving);

/* carving_remote.c: the same by others. */

bool remote_may_check(struct carving *carving);
void remote_check(struct carving *carving, struct ticket *first);
/* They are asked when there are many, or with remote_push: whoever waits calls that before. */
void remote_write(struct carving *carving, struct ticket *ticket);
void remote_push(struct carving *carving);

/* carving_cursors.c: the way of the tickets. */

/* Does what can be done without waiting. no_more: there will be no more candidates. */
void cursors_pump(struct carving *carving, bool no_more);
/* The part of it that starts no job. */
void cursors_retire(struct carving *carving);
/* Has the file of a ticket's record written. */
void cursors_write(struct carving *carving, struct ticket *ticket);

#endif
