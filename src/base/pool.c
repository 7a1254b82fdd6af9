#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"

struct queue {
	struct pool_job *first, **last;
};

struct worker {
	struct pool *pool;
	unsigned index;
	pthread_t thread;
};

struct pool {
	pthread_mutex_t lock;
	unsigned idle; /* threads that found no job, and were not woken since */
	sem_t wake;    /* a post for each that was */
	struct queue queues[POOL_PRIORITIES];
	bool closing;
	unsigned threads;
	struct worker *workers;
};

static struct pool_job *dequeue(struct queue *queue)
{
	struct pool_job *job = queue->first;

	if (!job)
		return NULL;
	queue->first = job->next;
	if (!queue->first)
		queue->last = &queue->first;
	return job;
}

static struct pool_job *next_job(struct pool *pool)
{
	struct pool_job *job = NULL;

	for (int priority = 0; priority < POOL_PRIORITIES && !job; priority++)
		job = dequeue(&pool->queues[priority]);
	return job;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct pool *pool = worker->pool;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		struct pool_job *job = next_job(pool);

		if (job) {
			pthread_mutex_unlock(&pool->lock);
			job->run(job, worker->index);
			pthread_mutex_lock(&pool->lock);
		} else if (pool->closing) {
			break;
		} else {
			pool->idle++;
			pthread_mutex_unlock(&pool->lock);
			thread_sem_take(&pool->wake);
			pthread_mutex_lock(&pool->lock);
		}
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static unsigned usable_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (unsigned)CPU_COUNT(&set);
	return 1;
}

static void start_workers(struct pool *pool, unsigned threads)
{
	for (unsigned i = 0; i < threads; i++) {
		struct worker *worker = &pool->workers[i];

		worker->pool = pool;
		worker->index = i;
		if (thread_start(&worker->thread, work, worker))
			break;
		pool->threads++;
	}
}

struct pool *pool_new(unsigned threads)
{
	struct pool *pool = xcalloc(1, sizeof(*pool));

	if (!threads)
		threads = usable_processors();
	thread_lock_init(&pool->lock);
	sem_init(&pool->wake, 0, 0);
	for (int i = 0; i < POOL_PRIORITIES; i++)
		pool->queues[i].last = &pool->queues[i].first;
	pool->workers = xcalloc(threads, sizeof(*pool->workers));
	start_workers(pool, threads);
	if (!pool->threads) {
		pool_free(pool);
		return NULL;
	}
	return pool;
}

unsigned pool_threads(const struct pool *pool)
{
	return pool->threads;
}

void pool_submit(struct pool *pool, enum pool_priority priority, struct pool_job *job)
{
	struct queue *queue = &pool->queues[priority];
	bool wakes;

	job->next = NULL;
	pthread_mutex_lock(&pool->lock);
	*queue->last = job;
	queue->last = &job->next;
	wakes = pool->idle > 0;
	pool->idle -= wakes;
	pthread_mutex_unlock(&pool->lock);
	if (wakes) /* not before: the thread that wakes would only wait for the lock */
		sem_post(&pool->wake);
}

struct pool_job *pool_take(struct pool *pool, enum pool_priority priority,
	bool (*is_alike)(const struct pool_job *job, const void *context), const void *context)
{
	struct queue *queue = &pool->queues[priority];
	struct pool_job *job = NULL;

	pthread_mutex_lock(&pool->lock);
	if (queue->first && is_alike(queue->first, context))
		job = dequeue(queue);
	pthread_mutex_unlock(&pool->lock);
	return job;
}

/* ---- work that is shared ------------------------------------------------------------------- */

struct shared {
	void (*run)(void *context, unsigned number, unsigned worker);
	void *context;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	unsigned left; /* jobs that have not ended */
};

struct share {
	struct pool_job job; /* first */
	struct shared *shared;
	unsigned number;
};

static void run_share(struct pool_job *job, unsigned worker)
{
	const struct share *share = (const struct share *)job;
	struct shared *shared = share->shared;

	shared->run(shared->context, share->number, worker);
	pthread_mutex_lock(&shared->lock);
	if (!--shared->left)
		pthread_cond_signal(&shared->ended);
	pthread_mutex_unlock(&shared->lock);
}

void pool_share(struct pool *pool, enum pool_priority priority, unsigned count,
	void (*run)(void *context, unsigned number, unsigned worker), void *context)
{
	struct shared shared = { .run = run, .context = context, .left = count };
	struct share shares[POOL_SHARES_MAX];

	assert(count <= POOL_SHARES_MAX);
	pthread_mutex_init(&shared.lock, NULL);
	pthread_cond_init(&shared.ended, NULL);
	for (unsigned i = 0; i < count; i++) {
		shares[i] = (struct share){ { .run = run_share }, &shared, i };
		pool_submit(pool, priority, &shares[i].job);
	}
	pthread_mutex_lock(&shared.lock);
	while (shared.left)
		pthread_cond_wait(&shared.ended, &shared.lock);
	pthread_mutex_unlock(&shared.lock);
	pthread_cond_destroy(&shared.ended);
	pthread_mutex_destroy(&shared.lock);
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->closing = true;
	for (; pool->idle; pool->idle--)
		sem_post(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->threads; i++)
		pthread_join(pool->workers[i].thread, NULL);
	sem_destroy(&pool->wake);
	pthread_mutex_destroy(&pool->lock);
	free(pool->workers);
	free(pool);
}
