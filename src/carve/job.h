/*
 * The carving stage's work item: one candidate on its way from its offer to the report. The stage's
 * thread owns a job, but for the time between the start of a check or write and the state that ends
 * it: then the job belongs to what does the work, which touches it no more once it has set that
 * state.
 *
 * There may be a million of them, most of which will be hidden or rejected: so a job is small, and
 * what only some have is allocated when they get it.
 */
#ifndef BURIN_CARVE_JOB_H
#define BURIN_CARVE_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"
#include "carve/check.h"
#include "carve/record_builder.h"
#include "report/record.h"

/* Most candidates are rejected after one look: starting the check of each by itself would cost more
 * than the look. */
#define CHECK_BATCH 16

enum job_state {
	JOB_WAITING, /* to be checked, also after its check was given up (carve/defer.h) */
	JOB_CHECKING,
	JOB_CHECKED,
	JOB_WRITING,
	JOB_DONE
};

struct carve_job {
	struct candidate candidate;
	/* Of its check, from JOB_CHECKED until it is decided on; NULL: it was not checked, because
	 * the decision needs no outcome, or nothing has to be read for it. */
	struct outcome *outcome;
	struct kept_file *file; /* NULL: it is not kept, or not decided on */
	uint64_t work_max;      /* units that its check may take */
	_Atomic enum job_state state;
	bool late;  /* it waits for others before it (carve/schedule.h) */
	bool force; /* everything waits for it */
	bool next;  /* it is checked right after such a one (decider_work_ahead) */
};

/* A record that is there before the file is reported, because it is written first, or was given. */
struct kept_record {
	struct file_record record;
	struct record_room room;
	bool given;             /* by carving_add_record... */
	struct hashes expected; /* ...with these; "" where not known */
};

/* What becomes a file. Hundreds of thousands may come in a second: so its record, which is large, is only made
 * from the plan by who needs it. */
struct kept_file {
	struct pool_job pool_job; /* first: its address is the file's */
	struct local_jobs *local; /* while a thread of the pool writes it */
	struct carve_job *job;
	uint64_t length; /* bytes */
	int status;      /* of writing */
	/* While the file is being written it belongs to who does that. NULL: it is not written, and what
	 * reports it makes the record. */
	struct kept_record *kept;
	struct record_plan plan; /* unless the record was given */
};

static inline enum job_state job_state(const struct carve_job *job)
{
	return atomic_load_explicit(&job->state, memory_order_acquire);
}

static inline void job_set_state(struct carve_job *job, enum job_state state)
{
	atomic_store_explicit(&job->state, state, memory_order_release);
}

/* What checks and writes work with. All of it is the stage's or its caller's. */
struct job_context {
	struct image *image;
	const struct rules *rules;
	struct output_dir *output_dir;
	struct pool *pool;
	struct tracker *tracker;
	struct defer *defer;
	struct cover *cover;          /* NULL: nothing covers anything */
	struct decider *decider;      /* NULL: none */
	_Atomic size_t *outcomes_len; /* bytes of the jobs' outcomes */
	uint32_t hash_mask;
	const struct hash_sets *sets; /* NULL: none */
	const struct ahead *ahead; /* what is known before checks (carve/ahead.h); NULL: nothing */
	struct record_builder *record_builder; /* NULL: nothing is written */
	bool nested;
	bool confined; /* checks are made in other processes (carve/check_worker.h), ... */
	struct lost_processes
		*lost; /* ...of which those that are lost are noted; NULL: they are not */
};

/* Sets what its check, which is about to begin, may take. False: checks that are not decided on may leave it too little, so
 * that it waits; not where everything waits for it. */
bool job_limit_work(const struct job_context *context, struct carve_job *job);
/* The same, of one whose check goes on. */
bool job_seems_spent(const struct job_context *context, const struct carve_job *job);
/* The decider will not use its outcome, so that none is needed. */
bool job_needs_no_outcome(const struct carve_job *job, const struct decider *decider);
/* The same, of a job that is next, also because its rule has nothing left. */
bool job_needs_no_check(const struct carve_job *job, const struct decider *decider);
/* Whether what is known of a job that is next suffices for the decision. One that took more than its share waits again, if
 * its rule has more left than that: for a check that may take all of it. */
bool job_may_be_decided(const struct job_context *context, struct carve_job *job);
/* Gives the job its outcome, whose content is taken over. */
void job_set_outcome(
	const struct job_context *context, struct carve_job *job, const struct outcome *outcome);
/* Takes it over, without its offsets, which only decisions need; NULL: there is none. The caller frees it. */
struct outcome *job_take_outcome(const struct job_context *context, struct carve_job *job);
/* Frees it, if there is one. */
void job_drop_outcome(const struct job_context *context, struct carve_job *job);

#endif
