#include "carve/tracker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"

#define IN_HAND_PER_THREAD 2
/* A file may take hours to write: the waiting thread looks at signals meanwhile. */
#define WAIT_SECONDS 0.1

struct tracker {
	unsigned threads;
	pthread_mutex_t lock; /* guards completed and the setting of error */
	pthread_cond_t changed;
	uint64_t completed;       /* since the start */
	_Atomic uint64_t started; /* since the start, by the stage's thread */
	struct error error;
	_Atomic int status;
	atomic_bool cancelled;
	bool (*interrupted)(void); /* NULL: never */
};

struct tracker *tracker_new(unsigned threads, bool (*interrupted)(void))
{
	struct tracker *tracker = xcalloc(1, sizeof(*tracker));

	tracker->threads = threads;
	tracker->interrupted = interrupted;
	thread_lock_init(&tracker->lock);
	thread_cond_init(&tracker->changed);
	return tracker;
}

void tracker_free(struct tracker *tracker)
{
	if (!tracker)
		return;
	assert(tracker->completed == tracker->started);
	pthread_cond_destroy(&tracker->changed);
	pthread_mutex_destroy(&tracker->lock);
	free(tracker);
}

void tracker_start(struct tracker *tracker)
{
	atomic_fetch_add_explicit(&tracker->started, 1, memory_order_relaxed);
}

/* While more is under way than will be begun soon, the waiting thread is not woken, which would
 * take a processor from the work: it could only start more that has to wait. */
void tracker_complete(struct tracker *tracker)
{
	uint64_t left;

	pthread_mutex_lock(&tracker->lock);
	left = atomic_load_explicit(&tracker->started, memory_order_relaxed);
	assert(tracker->completed < left);
	left -= ++tracker->completed;
	if (left <= (uint64_t)IN_HAND_PER_THREAD * tracker->threads)
		pthread_cond_signal(&tracker->changed);
	pthread_mutex_unlock(&tracker->lock);
}

uint64_t tracker_completed(struct tracker *tracker)
{
	uint64_t completed;

	pthread_mutex_lock(&tracker->lock);
	completed = tracker->completed;
	pthread_mutex_unlock(&tracker->lock);
	return completed;
}

enum tracker_wait tracker_wait(struct tracker *tracker, uint64_t seen)
{
	enum tracker_wait result = TRACKER_TIMEOUT;
	bool woken = true;

	pthread_mutex_lock(&tracker->lock);
	while (woken && tracker->completed == seen && tracker->completed < tracker->started)
		woken = thread_cond_wait(&tracker->changed, &tracker->lock, WAIT_SECONDS);
	if (tracker->completed != seen)
		result = TRACKER_CHANGED;
	else if (tracker->completed == tracker->started)
		result = TRACKER_IDLE;
	pthread_mutex_unlock(&tracker->lock);
	return result;
}

/* Work counts as completed after its job's last state was set, when the job may long have been
 * reported. */
void tracker_wait_all(struct tracker *tracker)
{
	pthread_mutex_lock(&tracker->lock);
	while (tracker->completed < tracker->started)
		pthread_cond_wait(&tracker->changed, &tracker->lock);
	pthread_mutex_unlock(&tracker->lock);
}

void tracker_fail(void *context, int status, const struct error *error)
{
	struct tracker *tracker = context;

	if (status == -ECANCELED)
		return;
	pthread_mutex_lock(&tracker->lock);
	if (!tracker->status) {
		tracker->error = *error;
		tracker->status = status;
	}
	pthread_mutex_unlock(&tracker->lock);
	tracker_cancel(tracker);
}

int tracker_status(const struct tracker *tracker)
{
	return atomic_load_explicit(&tracker->status, memory_order_acquire);
}

const struct error *tracker_error(const struct tracker *tracker)
{
	return &tracker->error;
}

void tracker_cancel(struct tracker *tracker)
{
	atomic_store(&tracker->cancelled, true);
}

/* The stage's thread may be busy elsewhere when a signal comes: who works asks by itself. */
bool tracker_is_cancelled(struct tracker *tracker)
{
	if (tracker->interrupted && tracker->interrupted())
		tracker_cancel(tracker);
	return atomic_load(&tracker->cancelled);
}

const atomic_bool *tracker_cancel_flag(const struct tracker *tracker)
{
	return &tracker->cancelled;
}
