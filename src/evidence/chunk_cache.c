/*
 * A chunk may be in any of the few places of its set, which a hash of its number chooses, and takes
 * the one that was used longest ago. Each set has a lock of its own, which is held to look a chunk
 * up, not while it is unpacked or copied. A place with users keeps its chunk.
 */
#include "evidence/chunk_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define WAYS 8

enum state { EMPTY, LOADING, READY };

struct place {
	uint64_t number, used; /* used: when, by the set's clock */
	uint8_t *bytes;        /* NULL: never used */
	enum state state;
	unsigned users; /* who load it, copy from it or wait for it */
};

struct set {
	pthread_mutex_t lock;
	pthread_cond_t loaded;
	uint64_t clock;
	struct place places[WAYS];
};

struct chunk_cache {
	size_t len, set_count;
	struct set *sets;
};

struct chunk_cache *chunk_cache_new(size_t len, size_t memory)
{
	struct chunk_cache *cache = xcalloc(1, sizeof(*cache));
	size_t sets = memory / WAYS / len;

	cache->len = len;
	cache->set_count = sets ? sets : 1;
	cache->sets = xcalloc(cache->set_count, sizeof(*cache->sets));
	for (size_t i = 0; i < cache->set_count; i++) {
		pthread_mutex_init(&cache->sets[i].lock, NULL);
		pthread_cond_init(&cache->sets[i].loaded, NULL);
	}
	return cache;
}

void chunk_cache_free(struct chunk_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->set_count; i++) {
		for (size_t j = 0; j < WAYS; j++)
			free(cache->sets[i].places[j].bytes);
		pthread_cond_destroy(&cache->sets[i].loaded);
		pthread_mutex_destroy(&cache->sets[i].lock);
	}
	free(cache->sets);
	free(cache);
}

static struct set *set_of(const struct chunk_cache *cache, uint64_t number)
{
	return &cache->sets[(number * 0x9e3779b97f4a7c15u >> 32) % cache->set_count];
}

/* The chunk's place, or one that it may take; NULL when all are in use. Under the lock. */
static struct place *find_place(struct set *set, uint64_t number)
{
	struct place *oldest = NULL;

	for (size_t i = 0; i < WAYS; i++) {
		struct place *place = &set->places[i];

		if (place->state != EMPTY && place->number == number)
			return place;
		if (!place->users && (!oldest || place->used < oldest->used))
			oldest = place;
	}
	return oldest;
}

static bool has(const struct place *place, uint64_t number)
{
	return place->state == READY && place->number == number;
}

static void hold(struct set *set, struct place *place)
{
	place->users++;
	place->used = ++set->clock;
}

static void let_go(struct set *set, struct place *place)
{
	pthread_mutex_lock(&set->lock);
	place->users--;
	pthread_mutex_unlock(&set->lock);
}

/* Fills a held place that was found empty or with another chunk. Under the lock, which is given up
 * meanwhile. */
static int fill_place(struct chunk_cache *cache, struct set *set, struct place *place,
	uint64_t number, int (*load)(void *arg, uint64_t number, uint8_t *to), void *arg)
{
	int rc = -ENOMEM;

	place->number = number;
	place->state = LOADING;
	pthread_mutex_unlock(&set->lock);
	if (!place->bytes)
		place->bytes = malloc(cache->len);
	if (place->bytes)
		rc = load(arg, number, place->bytes);
	pthread_mutex_lock(&set->lock);
	place->state = rc ? EMPTY : READY;
	if (rc)
		place->used = 0;
	pthread_cond_broadcast(&set->loaded);
	return rc;
}

static int read_uncached(const struct chunk_cache *cache, uint64_t number, size_t from,
	void *buffer, size_t len, int (*load)(void *arg, uint64_t number, uint8_t *to), void *arg)
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
	struct set *set = set_of(cache, number);
	struct place *place;
	int rc = 0;

	pthread_mutex_lock(&set->lock);
	place = find_place(set, number);
	if (!place) {
		pthread_mutex_unlock(&set->lock);
		return read_uncached(cache, number, from, buffer, len, load, arg);
	}
	hold(set, place);
	while (place->state == LOADING)
		pthread_cond_wait(&set->loaded, &set->lock);
	/* One of those who waited tries again, should the other thread have failed. */
	if (!has(place, number))
		rc = fill_place(cache, set, place, number, load, arg);
	pthread_mutex_unlock(&set->lock);
	if (!rc)
		memcpy(buffer, place->bytes + from, len);
	let_go(set, place);
	return rc;
}

bool chunk_cache_get(struct chunk_cache *cache, uint64_t number, uint8_t *to)
{
	struct set *set = set_of(cache, number);
	struct place *place;
	bool found;

	pthread_mutex_lock(&set->lock);
	place = find_place(set, number);
	found = place && has(place, number);
	if (found)
		hold(set, place);
	pthread_mutex_unlock(&set->lock);
	if (!found)
		return false;
	memcpy(to, place->bytes, cache->len);
	let_go(set, place);
	return true;
}

static int load_copy(void *arg, uint64_t number, uint8_t *to)
{
	const struct chunk_cache *cache = ((const void **)arg)[0];

	(void)number;
	memcpy(to, ((const void **)arg)[1], cache->len);
	return 0;
}

void chunk_cache_put(struct chunk_cache *cache, uint64_t number, const uint8_t *bytes)
{
	struct set *set = set_of(cache, number);
	const void *arg[] = { cache, bytes };
	struct place *place;

	pthread_mutex_lock(&set->lock);
	place = find_place(set, number);
	if (place && (place->state == EMPTY || place->number != number)) {
		hold(set, place);
		fill_place(cache, set, place, number, load_copy, arg);
		place->users--;
	}
	pthread_mutex_unlock(&set->lock);
}
