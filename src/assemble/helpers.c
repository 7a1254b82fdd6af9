#include "assemble/helpers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

/* What one thread shares, on its stack. */
struct share {
	struct share *next;
	size_t count, taken, done;
	pthread_cond_t all_done;
	void (*run)(void *context, size_t part, struct view *view);
	void *context;
};

struct helpers {
	pthread_mutex_t lock;
	pthread_cond_t
		changed; /* for those that are idle: there are parts to do, or nobody searches any more */
	struct share *shares;  /* of which not all parts are taken */
	_Atomic unsigned idle; /* changed under the lock, and read without it */
	unsigned busy;
};

struct helpers *helpers_new(void)
{
	struct helpers *helpers = xcalloc(1, sizeof(*helpers));

	pthread_mutex_init(&helpers->lock, NULL);
	pthread_cond_init(&helpers->changed, NULL);
	return helpers;
}

void helpers_free(struct helpers *helpers)
{
	if (!helpers)
		return;
	pthread_mutex_destroy(&helpers->lock);
	pthread_cond_destroy(&helpers->changed);
	free(helpers);
}

void helpers_begin(struct helpers *helpers)
{
	pthread_mutex_lock(&helpers->lock);
	helpers->busy++;
	pthread_mutex_unlock(&helpers->lock);
}

static void take_out(struct helpers *helpers, const struct share *share)
{
	struct share **link = &helpers->shares;

	while (*link != share)
		link = &(*link)->next;
	*link = share->next;
}

/* Does some parts: many at first, so that threads seldom wait for the lock, and few when few are left, so that they
 * end together. The lock is held, but not meanwhile. */
static void do_parts(struct helpers *helpers, struct share *share, struct view *view)
{
	size_t first = share->taken;
	size_t some = (share->count - first) / (2 * (helpers->idle + 1)) + 1;

	share->taken += some;
	if (share->taken == share->count)
		take_out(helpers, share);
	pthread_mutex_unlock(&helpers->lock);
	for (size_t i = 0; i < some; i++)
		share->run(share->context, first + i, view);
	pthread_mutex_lock(&helpers->lock);
	share->done += some;
	if (share->done == share->count)
		pthread_cond_signal(&share->all_done);
}

void helpers_end(struct helpers *helpers, struct view *view)
{
	pthread_mutex_lock(&helpers->lock);
	if (!--helpers->busy)
		pthread_cond_broadcast(&helpers->changed);
	helpers->idle++;
	while (helpers->busy) {
		if (helpers->shares)
			do_parts(helpers, helpers->shares, view);
		else
			pthread_cond_wait(&helpers->changed, &helpers->lock);
	}
	helpers->idle--;
	pthread_mutex_unlock(&helpers->lock);
}

/* Asked for every gap by every thread: a lock here is what they would all wait for. */
unsigned helpers_idle(const struct helpers *helpers)
{
	return helpers ? atomic_load_explicit(&helpers->idle, memory_order_relaxed) : 0;
}

void helpers_share(struct helpers *helpers, struct view *view, size_t count,
	void (*run)(void *context, size_t part, struct view *view), void *context)
{
	struct share share = { .count = count, .run = run, .context = context };

	if (!count)
		return;
	pthread_cond_init(&share.all_done, NULL);
	pthread_mutex_lock(&helpers->lock);
	share.next = helpers->shares;
	helpers->shares = &share;
	for (size_t i = 1; i < count && i <= helpers->idle; i++)
		pthread_cond_signal(&helpers->changed);
	while (share.taken < count)
		do_parts(helpers, &share, view);
	while (share.done < count)
		pthread_cond_wait(&share.all_done, &helpers->lock);
	pthread_mutex_unlock(&helpers->lock);
	pthread_cond_destroy(&share.all_done);
}
