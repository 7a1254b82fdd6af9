/*
 * What is under way in the carving stage: how much work was started and completed, the first
 * failure, and whether the rest is cancelled. Functions are thread-safe where they say so; the
 * others are the stage's thread's.
 */
#ifndef BURIN_CARVE_TRACKER_H
#define BURIN_CARVE_TRACKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct tracker;

/* threads: how many work. interrupted: true cancels all that is under way, as soon as
 * tracker_is_cancelled asks it; thread-safe. NULL: never. */
struct tracker *tracker_new(unsigned threads, bool (*interrupted)(void));
/* NULL is fine. */
void tracker_free(struct tracker *tracker);

/* One more piece of work is under way. */
void tracker_start(struct tracker *tracker);
/* It is over: the last thing that it does. Thread-safe. */
void tracker_complete(struct tracker *tracker);
/* How much was completed so far. */
uint64_t tracker_completed(struct tracker *tracker);

enum tracker_wait {
	TRACKER_CHANGED, /* more than `seen` was completed */
	TRACKER_IDLE,    /* it was not, and nothing is under way */
	TRACKER_TIMEOUT, /* neither, after 0.1 s */
};
enum tracker_wait tracker_wait(struct tracker *tracker, uint64_t seen);
/* Waits until nothing is under way. */
void tracker_wait_all(struct tracker *tracker);

/* Keeps the first failure and cancels; a status of -ECANCELED is not one, as it follows from a
 * failure or a signal. context: the tracker. Thread-safe. */
void tracker_fail(void *context, int status, const struct error *error);
/* Of the first failure: 0 or a negative errno. Thread-safe. */
int tracker_status(const struct tracker *tracker);
/* Valid when tracker_status is not 0. */
const struct error *tracker_error(const struct tracker *tracker);

/* Thread-safe, all three. */
void tracker_cancel(struct tracker *tracker);
bool tracker_is_cancelled(struct tracker *tracker);
const atomic_bool *tracker_cancel_flag(const struct tracker *tracker);

#endif
