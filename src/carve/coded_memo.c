/*
 * A stretch has one slot, by its key, which is exact: a number for the coding and the bit. Threads read and write slots without
 * locks: a slot's version is odd while one writes, and who reads looks whether it is the same before and after.
 */
#include "carve/coded_memo.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SLOT_BITS 18
#define WORDS 4
#define CODINGS 63  /* of which each is compared with all others */
#define BIT_BITS 58 /* of a key; those above have the coding */

_Static_assert(sizeof(struct coded_stretch) <= WORDS * sizeof(uint64_t), "a slot has room for it");
_Static_assert(CODINGS < 1 << (64 - BIT_BITS), "a key has room for it");

struct slot {
	_Atomic uint64_t version;
	_Atomic uint64_t key; /* 0: empty */
	_Atomic uint64_t words[WORDS];
};

struct coding {
	uint8_t *bytes;
	size_t len;
	void *made;
};

struct coded_memo {
	struct slot *slots;
	pthread_mutex_t adding;
	_Atomic uint32_t count;
	struct coding codings[CODINGS];
};

struct coded_memo *coded_memo_new(void)
{
	struct coded_memo *memo = xcalloc(1, sizeof(*memo));

	memo->slots = xcalloc((size_t)1 << SLOT_BITS, sizeof(*memo->slots));
	pthread_mutex_init(&memo->adding, NULL);
	return memo;
}

void coded_memo_free(struct coded_memo *memo)
{
	if (!memo)
		return;
	for (uint32_t i = 0; i < memo->count; i++) {
		free(memo->codings[i].bytes);
		free(memo->codings[i].made);
	}
	pthread_mutex_destroy(&memo->adding);
	free(memo->slots);
	free(memo);
}

/* Its number; 0: it is not there. */
static uint32_t find_coding(const struct coded_memo *memo, const struct coded_coding *coding)
{
	uint32_t count = atomic_load_explicit(&memo->count, memory_order_acquire);

	for (uint32_t i = 0; i < count; i++)
		if (memo->codings[i].len == coding->len &&
			memcmp(memo->codings[i].bytes, coding->bytes, coding->len) == 0)
			return i + 1;
	return 0;
}

/* Under the lock. */
static uint32_t add_coding(struct coded_memo *memo, const struct coded_coding *coding)
{
	uint32_t number = find_coding(memo, coding), count = memo->count;
	struct coding *added = &memo->codings[count];

	if (number || count == CODINGS)
		return number;
	added->bytes = xmalloc(coding->len);
	added->len = coding->len;
	memcpy(added->bytes, coding->bytes, coding->len);
	added->made = xcalloc(1, coding->made_len);
	coding->make(added->made, added->bytes);
	atomic_store_explicit(&memo->count, count + 1, memory_order_release);
	return count + 1;
}

uint32_t coded_memo_coding(
	struct coded_memo *memo, const struct coded_coding *coding, const void **made)
{
	uint32_t number = find_coding(memo, coding);

	if (!number && memo->count < CODINGS) {
		pthread_mutex_lock(&memo->adding);
		number = add_coding(memo, coding);
		pthread_mutex_unlock(&memo->adding);
	}
	if (number)
		*made = memo->codings[number - 1].made;
	return number;
}

/* 0: it has none. */
static uint64_t key_of(uint32_t coding, uint64_t bit)
{
	return bit >> BIT_BITS ? 0 : (uint64_t)coding << BIT_BITS | bit;
}

static struct slot *slot_of(const struct coded_memo *memo, uint64_t key)
{
	return &memo->slots[key * 0x9e3779b97f4a7c15u >> (64 - SLOT_BITS)];
}

bool coded_memo_find(
	const struct coded_memo *memo, uint32_t coding, uint64_t bit, struct coded_stretch *stretch)
{
	uint64_t key = key_of(coding, bit), words[WORDS];
	struct slot *slot = slot_of(memo, key);
	uint64_t version = atomic_load_explicit(&slot->version, memory_order_acquire);

	if (!key || version % 2 || atomic_load_explicit(&slot->key, memory_order_acquire) != key)
		return false;
	for (int i = 0; i < WORDS; i++)
		words[i] = atomic_load_explicit(&slot->words[i], memory_order_acquire);
	memcpy(stretch, words, sizeof(*stretch));
	return atomic_load_explicit(&slot->version, memory_order_relaxed) == version;
}

void coded_memo_add(
	struct coded_memo *memo, uint32_t coding, uint64_t bit, const struct coded_stretch *stretch)
{
	uint64_t key = key_of(coding, bit), words[WORDS] = { 0 };
	struct slot *slot = slot_of(memo, key);
	uint64_t version = atomic_load_explicit(&slot->version, memory_order_relaxed);

	/* Another thread that is at it may as well be the last. */
	if (!key || version % 2 ||
		!atomic_compare_exchange_strong_explicit(&slot->version, &version, version + 1,
			memory_order_acquire, memory_order_relaxed))
		return;
	memcpy(words, stretch, sizeof(*stretch));
	atomic_store_explicit(&slot->key, key, memory_order_release);
	for (int i = 0; i < WORDS; i++)
		atomic_store_explicit(&slot->words[i], words[i], memory_order_release);
	atomic_store_explicit(&slot->version, version + 2, memory_order_release);
}
