/*
 * Checks in another process, burin-carver, which the candidates may crash or take over: it has the bytes of
 * the image, and can do nothing but compute. The check that a crash ended is made once more, alone, in a fresh
 * process; if that crashes too, its outcome says so.
 */
#ifndef BURIN_CARVE_CHECK_WORKER_H
#define BURIN_CARVE_CHECK_WORKER_H

#include "base/error.h"
#include "carve/check.h"
#include "carve/checker_process.h"

/* One process, for one thread; it starts with the first check. number: which of those that share a `struct defer` it
 * is. Never NULL. */
struct check_worker;
struct check_worker *check_worker_new(const struct check_workers *workers, unsigned number);
/* One of no stage, for single questions; it checks whether or not earlier files hide the candidate. What is given
 * must outlive it, and stay as it is. Never NULL. */
struct check_worker *check_worker_alone(struct image *image, const struct rules *rules);
/* No more checks follow: the process may end by itself. NULL is fine. */
void check_worker_dismiss(struct check_worker *worker);
/* Ends the process. NULL is fine. */
void check_worker_free(struct check_worker *worker);

struct check_request {
	const struct candidate *candidate;
	uint64_t work_max;              /* units of work that it may take */
	bool force;                     /* see defer_begin */
	uint64_t known_data, known_end; /* see view_know_end; 0: nothing is known */
};

/* What becomes of the requests, by their index, in their order. */
struct check_listener {
	void *context;
	/* Now and then while one is checked that has read up to `reached`. False: it is to be given up. */
	bool (*go_on)(void *context, size_t index, uint64_t reached);
	/* Takes over what the outcome owns. NULL: it was given up, or deferred. waited: up to where the start of other
	 * checks may have waited for this one; 0: none has. */
	void (*done)(void *context, size_t index, struct outcome *outcome, uint64_t waited);
	/* Whether all others are to be given up with one that is. NULL: they are not. */
	bool (*cancelled)(void *context);
};

/* Checks all requests, at least one. hidden_until: what starts before this is hidden. Returns 0, or a negative
 * errno with error set (EXIT_IO): memory ran out, or there is no process; then not all are done. */
int check_worker_check(struct check_worker *worker, const struct check_request *requests,
	size_t count, uint64_t hidden_until, const struct check_listener *listener,
	struct error *error);

/* Describes the coded data of candidates (carve/ahead.h), at least one: coded[i], which the caller frees; NULL: there is
 * none. False: the process ended instead, or there is none. */
bool check_worker_describe(struct check_worker *worker, const struct candidate *candidates,
	size_t count, struct carve_coded **coded);

#endif
