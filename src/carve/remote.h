/*
 * The contract with other processes that check and write in place of this one's threads: the
 * cluster implements it (src/cluster/), the carving stage uses it. Requests are asynchronous.
 */
#ifndef BURIN_CARVE_REMOTE_H
#define BURIN_CARVE_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

struct candidate;
struct error;
struct file_record;
struct outcome;

/* A candidate to be checked. */
struct remote_check {
	const struct candidate *candidate;
	uint64_t work_max;       /* units of work that it may take */
	bool force;              /* defer it only when it is hidden */
	bool deferred;           /* result: it was not checked (carve/defer.h) */
	struct outcome *outcome; /* result, unless it was deferred */
};

/* A file to be written. */
struct remote_write {
	struct file_record *record; /* result: hashes and unreadable bytes */
	int status;                 /* result: 0 or a negative errno */
};

/* Either checks or writes. The caller owns it; it must stay valid and unmodified until `done` is
 * called. */
struct remote_request {
	struct remote_check *checks;
	struct remote_write *writes;
	uint32_t check_count, write_count; /* one of them is 0 */
	uint64_t hidden_until;             /* what starts before this is hidden */
	/* The check of the candidate at start has read up to `reached`. In any thread, before
	 * done. */
	void (*reached)(struct remote_request *request, uint64_t start, uint64_t reached);
	/* Called once, in any thread, not before submit returns. status: 0, or a negative errno
	 * with its error when the request failed; then checks have no outcomes. */
	void (*done)(struct remote_request *request, int status, const struct error *error);
};

/* Implemented by the cluster. Thread-safe. */
struct remote_workers {
	/* How many requests for checks are worth having under way at a time. */
	unsigned (*capacity)(void);
	void (*submit)(struct remote_request *request);
	/* Called now and then while there are requests. Ends with an error those that will not
	 * be answered any more, and, some time after `cancelled`, those that workers do not
	 * abandon. */
	void (*poll)(bool cancelled);
	/* What starts before this is hidden from now on. */
	void (*hide)(uint64_t until);
};

#endif
