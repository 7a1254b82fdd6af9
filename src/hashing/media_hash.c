#include "hashing/media_hash.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"

#define KINDS_MAX 3
/* Between two checks whether to stop: less than a millisecond's work. */
#define STEP_LEN ((size_t)256 * 1024)

struct hash_chunk {
	const uint8_t *bytes;
	size_t len;
};

/* The evidence up to the end of a chunk. */
struct beginning {
	uint64_t len;
	struct hashes hashes;
};

struct worker {
	struct media_hash *hash;
	struct hasher *hasher;
	struct beginning *beginnings; /* of chunk n: [n % kept_count]; under the lock */
	pthread_t thread;
	uint64_t done; /* chunks; under the lock */
};

struct media_hash {
	struct worker workers[KINDS_MAX];
	unsigned worker_count;
	bool spare;
	struct hash_chunk *ring; /* chunk n is in ring[n % capacity] */
	unsigned capacity, kept_count;
	pthread_mutex_t lock;
	pthread_cond_t added_more, done_more;
	uint64_t added; /* chunks; under the lock */
	_Atomic bool stop;
};

/* False when it was stopped. */
static bool hash_one(struct worker *worker, const struct hash_chunk *chunk)
{
	for (size_t at = 0; at < chunk->len; at += STEP_LEN) {
		size_t left = chunk->len - at;

		if (atomic_load_explicit(&worker->hash->stop, memory_order_relaxed))
			return false;
		hasher_update(worker->hasher, chunk->bytes + at, left < STEP_LEN ? left : STEP_LEN);
	}
	return true;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct media_hash *hash = worker->hash;
	struct sched_param none = { 0 };
	uint64_t len = 0;

	if (hash->spare)
		pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
	pthread_mutex_lock(&hash->lock);
	while (!atomic_load(&hash->stop)) {
		struct beginning beginning;
		struct hash_chunk chunk;
		bool whole;

		if (worker->done == hash->added) {
			pthread_cond_wait(&hash->added_more, &hash->lock);
			continue;
		}
		chunk = hash->ring[worker->done % hash->capacity];
		pthread_mutex_unlock(&hash->lock);
		whole = hash_one(worker, &chunk);
		if (whole) {
			beginning.len = len += chunk.len;
			hasher_peek(worker->hasher, &beginning.hashes);
		}
		pthread_mutex_lock(&hash->lock);
		if (whole)
			worker->beginnings[worker->done++ % hash->kept_count] = beginning;
		pthread_cond_signal(&hash->done_more);
	}
	pthread_mutex_unlock(&hash->lock);
	return NULL;
}

static bool start_worker(struct media_hash *hash, uint32_t kind)
{
	struct worker *worker = &hash->workers[hash->worker_count];

	worker->hash = hash;
	worker->hasher = hasher_new(kind);
	worker->beginnings = xcalloc(hash->kept_count, sizeof(*worker->beginnings));
	if (thread_start(&worker->thread, work, worker)) {
		hasher_free(worker->hasher);
		free(worker->beginnings);
		return false;
	}
	hash->worker_count++;
	return true;
}

static bool start_workers(struct media_hash *hash, uint32_t mask)
{
	static const uint32_t kinds[KINDS_MAX] = { HASH_MD5, HASH_SHA1, HASH_SHA256 };
	bool ok = true;

	for (unsigned i = 0; i < KINDS_MAX && ok; i++)
		if (mask & kinds[i])
			ok = start_worker(hash, kinds[i]);
	return ok;
}

struct media_hash *media_hash_new(uint32_t mask, unsigned capacity, bool spare)
{
	struct media_hash *hash = xcalloc(1, sizeof(*hash));

	hash->spare = spare;
	hash->capacity = capacity;
	hash->kept_count = 2 * capacity; /* one thread may be a whole ring ahead of another */
	hash->ring = xcalloc(capacity, sizeof(*hash->ring));
	pthread_mutex_init(&hash->lock, NULL);
	pthread_cond_init(&hash->added_more, NULL);
	pthread_cond_init(&hash->done_more, NULL);
	if (start_workers(hash, mask))
		return hash;
	media_hash_free(hash);
	return NULL;
}

void media_hash_add(struct media_hash *hash, const void *bytes, size_t len)
{
	pthread_mutex_lock(&hash->lock);
	hash->ring[hash->added++ % hash->capacity] = (struct hash_chunk){ bytes, len };
	pthread_cond_broadcast(&hash->added_more);
	pthread_mutex_unlock(&hash->lock);
}

/* Under the lock. */
static uint64_t slowest_done(const struct media_hash *hash)
{
	uint64_t done = hash->workers[0].done;

	for (unsigned i = 1; i < hash->worker_count; i++)
		if (hash->workers[i].done < done)
			done = hash->workers[i].done;
	return done;
}

uint64_t media_hash_done(struct media_hash *hash)
{
	uint64_t done;

	pthread_mutex_lock(&hash->lock);
	done = slowest_done(hash);
	pthread_mutex_unlock(&hash->lock);
	return done;
}

void media_hash_await(struct media_hash *hash, uint64_t more_than)
{
	pthread_mutex_lock(&hash->lock);
	while (slowest_done(hash) <= more_than)
		pthread_cond_wait(&hash->done_more, &hash->lock);
	pthread_mutex_unlock(&hash->lock);
}

uint64_t media_hash_beginning(struct media_hash *hash, uint64_t until, struct hashes *hashes)
{
	uint64_t done, len = 0;

	*hashes = (struct hashes){ 0 };
	pthread_mutex_lock(&hash->lock);
	done = slowest_done(hash);
	for (uint64_t back = 1; back <= hash->kept_count && back <= done && !len; back++) {
		uint64_t chunk = done - back;
		bool kept = true;

		for (unsigned i = 0; i < hash->worker_count; i++)
			kept &= hash->workers[i].done <= chunk + hash->kept_count;
		len = hash->workers[0].beginnings[chunk % hash->kept_count].len;
		if (!kept || len > until)
			len = 0;
		for (unsigned i = 0; i < hash->worker_count && len; i++)
			hashes_merge(hashes,
				&hash->workers[i].beginnings[chunk % hash->kept_count].hashes);
	}
	pthread_mutex_unlock(&hash->lock);
	return len;
}

void media_hash_finish(struct media_hash *hash, struct hashes *hashes)
{
	*hashes = (struct hashes){ 0 };
	if (hash->added)
		media_hash_await(hash, hash->added - 1);
	for (unsigned i = 0; i < hash->worker_count; i++) {
		struct hashes one;

		hasher_finish(hash->workers[i].hasher, &one);
		hashes_merge(hashes, &one);
	}
}

void media_hash_free(struct media_hash *hash)
{
	if (!hash)
		return;
	pthread_mutex_lock(&hash->lock);
	atomic_store(&hash->stop, true);
	pthread_cond_broadcast(&hash->added_more);
	pthread_mutex_unlock(&hash->lock);
	for (unsigned i = 0; i < hash->worker_count; i++) {
		pthread_join(hash->workers[i].thread, NULL);
		hasher_free(hash->workers[i].hasher);
		free(hash->workers[i].beginnings);
	}
	pthread_cond_destroy(&hash->added_more);
	pthread_cond_destroy(&hash->done_more);
	pthread_mutex_destroy(&hash->lock);
	free(hash->ring);
	free(hash);
}
