/*
 * Places in sets: a chunk may be in any of the few places of its set, which is chosen by a hash of
 * its number, and takes the one that was used longest ago. One lock is enough: it is held to look a
 * chunk up, not while it is unpacked or copied. A place with users keeps its chunk.
 */
#include "evidence/chunk_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define CACHE_LEN (32u << 20)
#define WAYS 4

enum state { EMPTY, LOADING, READY };

struct place {
	uint64_t number, used; /* used: when, by the cache's clock */
	uint8_t *bytes;        /* NULL: never used */
	enum state state;
	unsigned users; /* who load it, copy from it or wait for it */
};

struct chunk_cache {
	pthread_mutex_t lock;
	pthread_cond_t loaded;
	size_t len, set_count;
	uint64_t clock;
	struct place *places; /* WAYS a set */
};

struct chunk_cache *chunk_cache_new(size_t len)
{
	struct chunk_cache *cache = xcalloc(1, sizeof(*cache));
	size_t sets = CACHE_LEN / WAYS / len;

	cache->len = len;
	cache->set_count = sets ? sets : 1;
	cache->places = xcalloc(cache->set_count * WAYS, sizeof(*cache->places));
	pthread_mutex_init(&cache->lock, NULL);
	pthread_cond_init(&cache->loaded, NULL);
	return cache;
}

void chunk_cache_free(struct chunk_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->set_count * WAYS; i++)
		free(cache->places[i].bytes);
	pthread_cond_destroy(&cache->loaded);
	pthread_mutex_destroy(&cache->lock);
	free(cache->places);
	free(cache);
}

/* The chunk's place, or one that it may take; NULL when all are in use. Under the lock. */
static struct place *find_place(struct chunk_cache *cache, uint64_t number)
{
	uint64_t hash = number * 0x9e3779b97f4a7c15u >> 20;
	struct place *set = &cache->places[hash % cache->set_count * WAYS], *oldest = NULL;

	for (size_t i = 0; i < WAYS; i++) {
		if (set[i].state != EMPTY && set[i].number == number)
			return &set[i];
		if (!set[i].users && (!oldest || set[i].used < oldest->used))
			oldest = &set[i];
	}
	return oldest;
}

/* Fills a place that was found empty or with another chunk. Under the lock, which is given up
 * meanwhile. */
static int fill_place(struct chunk_cache *cache, struct place *place, uint64_t number,
	int (*load)(void *arg, uint64_t number, uint8_t *to), void *arg)
{
	int rc = -ENOMEM;

	place->number = number;
	place->state = LOADING;
	pthread_mutex_unlock(&cache->lock);
	if (!place->bytes)
		place->bytes = malloc(cache->len);
	if (place->bytes)
		rc = load(arg, number, place->bytes);
	pthread_mutex_lock(&cache->lock);
	place->state = rc ? EMPTY : READY;
	if (rc)
		place->used = 0;
	pthread_cond_broadcast(&cache->loaded);
	return rc;
}

/* Waits until another thread has filled the place; one of those that wait tries again should that
 * have failed. Under the lock. */
static int hold_place(struct chunk_cache *cache, struct place *place, uint64_t number,
	int (*load)(void *arg, uint64_t number, uint8_t *to), void *arg)
{
	while (place->state == LOADING)
		pthread_cond_wait(&cache->loaded, &cache->lock);
	if (place->state == READY && place->number == number)
		return 0;
	return fill_place(cache, place, number, load, arg);
}

static int read_uncached(struct chunk_cache *cache, uint64_t number, size_t from, void *buffer,
	size_t len, int (*load)(void *arg, uint64_t number, uint8_t *to), void *arg)
{
	uint8_t *bytes = malloc(cache->len);
	int rc = bytes ? load(arg, number, bytes) : -ENOMEM;

	if (!rc)
		memcpy(buffer, bytes + from, len);
	free(bytes);
	return rc;
}

int chunk_cache_read(struct chunk_cache *cache, uint64_t number, size_t from, void *buffer,
	size_t len, int (*load)(void *arg, uint64_t number, uint8_t *to), void *arg)
{
	struct place *place;
	int rc;

	pthread_mutex_lock(&cache->lock);
	place = find_place(cache, number);
	if (!place) {
		pthread_mutex_unlock(&cache->lock);
		return read_uncached(cache, number, from, buffer, len, load, arg);
	}
	place->users++;
	place->used = ++cache->clock;
	rc = hold_place(cache, place, number, load, arg);
	pthread_mutex_unlock(&cache->lock);
	if (!rc)
		memcpy(buffer, place->bytes + from, len);
	pthread_mutex_lock(&cache->lock);
	place->users--;
	pthread_mutex_unlock(&cache->lock);
	return rc;
}
