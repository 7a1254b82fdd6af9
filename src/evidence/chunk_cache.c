/*
 * A set-associative cache: a hash of a chunk's number chooses its set, in which it may be in any of
 * a few entries; it replaces the least recently used one. Each set has a lock of its own, which is
 * held to look a chunk up, not while it is decompressed or copied. An entry with users keeps its
 * chunk.
 */
#include "evidence/chunk_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define WAYS 8

enum state { EMPTY, LOADING, READY };

struct cache_entry {
	uint64_t number, used; /* used: when, by the set's clock */
	uint8_t *bytes;        /* NULL: never used */
	enum state state;
	unsigned users; /* threads that load it, copy from it or wait for it */
};

struct cache_set {
	pthread_mutex_t lock;
	pthread_cond_t loaded;
	uint64_t clock;
	struct cache_entry entries[WAYS];
};

struct chunk_cache {
	size_t len, set_count;
	struct cache_set *sets;
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
			free(cache->sets[i].entries[j].bytes);
		pthread_cond_destroy(&cache->sets[i].loaded);
		pthread_mutex_destroy(&cache->sets[i].lock);
	}
	free(cache->sets);
	free(cache);
}

static struct cache_set *set_of(const struct chunk_cache *cache, uint64_t number)
{
	return &cache->sets[(number * 0x9e3779b97f4a7c15u >> 32) % cache->set_count];
}

/* The chunk's entry, or one that it may replace; NULL when all are in use. Under the lock. */
static struct cache_entry *find_entry(struct cache_set *set, uint64_t number)
{
	struct cache_entry *oldest = NULL;

	for (size_t i = 0; i < WAYS; i++) {
		struct cache_entry *entry = &set->entries[i];

		if (entry->state != EMPTY && entry->number == number)
			return entry;
		if (!entry->users && (!oldest || entry->used < oldest->used))
			oldest = entry;
	}
	return oldest;
}

static bool has_chunk(const struct cache_entry *entry, uint64_t number)
{
	return entry->state == READY && entry->number == number;
}

static void hold_entry(struct cache_set *set, struct cache_entry *entry)
{
	entry->users++;
	entry->used = ++set->clock;
}

static void release_entry(struct cache_set *set, struct cache_entry *entry)
{
	pthread_mutex_lock(&set->lock);
	entry->users--;
	pthread_mutex_unlock(&set->lock);
}

/* Fills a held entry that was found empty or with another chunk. Under the lock, which is released
 * meanwhile. */
static int fill_entry(struct chunk_cache *cache, struct cache_set *set, struct cache_entry *entry,
	uint64_t number, int (*load)(void *arg, uint64_t number, uint8_t *to), void *arg)
{
	int rc = -ENOMEM;

	entry->number = number;
	entry->state = LOADING;
	pthread_mutex_unlock(&set->lock);
	if (!entry->bytes)
		entry->bytes = malloc(cache->len);
	if (entry->bytes)
		rc = load(arg, number, entry->bytes);
	pthread_mutex_lock(&set->lock);
	entry->state = rc ? EMPTY : READY;
	if (rc)
		entry->used = 0;
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
	struct cache_set *set = set_of(cache, number);
	struct cache_entry *entry;
	int rc = 0;

	pthread_mutex_lock(&set->lock);
	entry = find_entry(set, number);
	if (!entry) {
		pthread_mutex_unlock(&set->lock);
		return read_uncached(cache, number, from, buffer, len, load, arg);
	}
	hold_entry(set, entry);
	while (entry->state == LOADING)
		pthread_cond_wait(&set->loaded, &set->lock);
	/* A waiting thread tries again, should the loading one have failed. */
	if (!has_chunk(entry, number))
		rc = fill_entry(cache, set, entry, number, load, arg);
	pthread_mutex_unlock(&set->lock);
	if (!rc)
		memcpy(buffer, entry->bytes + from, len);
	release_entry(set, entry);
	return rc;
}

bool chunk_cache_get(struct chunk_cache *cache, uint64_t number, uint8_t *to)
{
	struct cache_set *set = set_of(cache, number);
	struct cache_entry *entry;
	bool found;

	pthread_mutex_lock(&set->lock);
	entry = find_entry(set, number);
	found = entry && has_chunk(entry, number);
	if (found)
		hold_entry(set, entry);
	pthread_mutex_unlock(&set->lock);
	if (!found)
		return false;
	memcpy(to, entry->bytes, cache->len);
	release_entry(set, entry);
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
	struct cache_set *set = set_of(cache, number);
	const void *arg[] = { cache, bytes };
	struct cache_entry *entry;

	pthread_mutex_lock(&set->lock);
	entry = find_entry(set, number);
	if (entry && (entry->state == EMPTY || entry->number != number)) {
		hold_entry(set, entry);
		fill_entry(cache, set, entry, number, load_copy, arg);
		entry->users--;
	}
	pthread_mutex_unlock(&set->lock);
}
