/*
 * What few files have, but versions of one: words at the same place of a page, as cells of a workbook keep their places; runs of
 * text wherever they are, of which those are kept whose first bytes have a hash that is a multiple of 16 (winnowing by values: Manber,
 * Finding similar files in a large file system, 1994); and the times at which the file was created, or a message sent.
 */
#include "ole_kin.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "ole_pages.h"
#include "sorted.h"
#include "walk.h"

#define WORDS (OLE_PAGE / 4)
#define WORDS_MAX ((size_t)1 << 22)
#define OWN_PART 6 /* a version has one in six, or more, of a page's own words, */
#define OWN_MIN 4  /* and at least as many */
#define FILTER_BITS 20
#define FACTOR 0x9e3779b97f4a7c15u

#define TIMES_MAX 8
#define TIME_TOP 0x01  /* the highest byte of a time: 1829 to 2057 */
#define RUN 24         /* bytes of text */
#define RUN_KEPT 4     /* bits: one run in 16 is kept */
#define DIFFERENT 8    /* bytes of a run, at least, that are not the same */
#define RUNS_MAX 32768 /* of a file */
#define SLOTS (2 * RUNS_MAX)
#define RUNS_KNOWN 4 /* runs by which versions are known, if nothing else is */
#define RUNS_MIN 6   /* that a version has in a page: files of a program have some in common, */
#define RUNS_PART 3  /* but not a third of a page's */

/* A word that few files have at this offset of a page: sorted by key. */
struct own_word {
	uint64_t key; /* the offset, in words, and the word */
	uint32_t page;
};

struct run {
	uint64_t hash; /* 0: none */
	uint32_t page; /* in which it begins */
};

struct ole_kin {
	struct view *view;
	struct own_word *own;
	size_t own_count, own_room;
	uint8_t *own_of;  /* of each page, how many words */
	uint8_t *filter;  /* a bit for each hash of a key */
	struct run *runs; /* SLOTS */
	uint32_t run_count;
	uint64_t times[TIMES_MAX];
	unsigned time_count;
};

struct ole_kin *ole_kin_new(struct view *view, uint32_t count)
{
	struct ole_kin *kin = calloc(1, sizeof(*kin));

	if (kin) {
		kin->view = view;
		kin->own_of = calloc((size_t)count + 1, 1);
		kin->filter = calloc(1u << (FILTER_BITS - 3), 1);
		kin->runs = calloc(SLOTS, sizeof(*kin->runs));
	}
	if (kin && kin->own_of && kin->filter && kin->runs)
		return kin;
	view_no_memory(view);
	ole_kin_free(kin);
	return NULL;
}

void ole_kin_free(struct ole_kin *kin)
{
	if (!kin)
		return;
	free(kin->own);
	free(kin->own_of);
	free(kin->filter);
	free(kin->runs);
	free(kin);
}

/* ---- words ---------------------------------------------------------------------------------- */

static uint32_t hash_of(uint64_t key)
{
	return (uint32_t)((key * FACTOR) >> (64 - FILTER_BITS));
}

static uint64_t key_of(unsigned word, uint32_t value)
{
	return (uint64_t)word << 32 | value;
}

static bool is_usual(uint32_t value)
{
	return value <= UINT16_MAX || value == UINT32_MAX || value == (value & 0xff) * 0x01010101u;
}

void ole_kin_add_words(
	struct ole_kin *kin, uint32_t page, uint32_t at, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i + 4 <= len; i += 4) {
		uint32_t value = le32(bytes + i);
		uint64_t key = key_of((unsigned)(at + i) / 4, value);
		struct own_word *list;

		if (is_usual(value))
			continue;
		list = walk_list_grow(kin->view, kin->own, kin->own_count, &kin->own_room,
			WORDS_MAX, sizeof(*list));
		if (!list)
			return;
		kin->own = list;
		kin->own_of[page]++;
		list[kin->own_count++] = (struct own_word){ key, page };
		kin->filter[hash_of(key) / 8] |= (uint8_t)(1 << hash_of(key) % 8);
	}
}

static int compare_words(const void *a, const void *b)
{
	const struct own_word *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return left->page < right->page ? -1 : left->page > right->page;
}

/* The first word with this key, of those in order. */
static size_t find_key(const struct ole_kin *kin, uint64_t key)
{
	return sorted_first(
		kin->own, kin->own_count, sizeof(*kin->own), offsetof(struct own_word, key), key);
}

/* Whether one of the file's pages has words of its own that these bytes have at the same offsets; *page: which. */
static bool has_words(
	const struct ole_kin *kin, const uint64_t *keys, unsigned key_count, uint32_t *page)
{
	uint32_t candidates[WORDS];
	unsigned count = 0, same = 0;

	/* Of words that many pages have, one is enough: pages that have OWN_MIN words have others, too. */
	for (unsigned i = 0; i < key_count; i++) {
		size_t at = find_key(kin, keys[i]);

		for (unsigned n = 0; n < 4 && count < WORDS && at + n < kin->own_count &&
				     kin->own[at + n].key == keys[i];
			n++)
			candidates[count++] = kin->own[at + n].page;
	}
	qsort(candidates, count, sizeof(*candidates), sorted_compare_numbers);
	for (unsigned i = 0; i < count; i++) {
		same = i && candidates[i] == candidates[i - 1] ? same + 1 : 1;
		if (same < OWN_MIN || same * OWN_PART < kin->own_of[candidates[i]])
			continue;
		*page = candidates[i];
		return true;
	}
	return false;
}

static bool find_words(const struct ole_kin *kin, const uint8_t *bytes, uint32_t *page)
{
	uint64_t keys[WORDS];
	unsigned count = 0;

	if (!kin->own_count)
		return false;
	for (unsigned i = 0; i < WORDS; i++) {
		uint64_t key = key_of(i, le32(bytes + 4 * (size_t)i));

		if (kin->filter[hash_of(key) / 8] >> hash_of(key) % 8 & 1)
			keys[count++] = key;
	}
	return count >= OWN_MIN && has_words(kin, keys, count, page);
}

/* ---- text ----------------------------------------------------------------------------------- */

/* Whether a run is kept that begins here, by its first eight bytes. */
static bool is_kept(const uint8_t *p)
{
	return (le64(p) * FACTOR) >> (64 - RUN_KEPT) == 0;
}

/* 0: it is not of text, or of too little. */
static uint64_t run_hash(const uint8_t *p)
{
	uint64_t seen[4] = { 0 }, hash = 0;
	int count = 0;

	for (int i = 0; i < RUN; i++)
		seen[p[i] / 64] |= UINT64_C(1) << p[i] % 64;
	for (int i = 0; i < 4; i++)
		count += __builtin_popcountll(seen[i]);
	for (int i = 0; i < RUN; i += 8) {
		hash = (hash ^ le64(p + i)) * FACTOR;
		hash ^= hash >> 29;
	}
	return count < DIFFERENT ? 0 : hash;
}

/* Its slot, or the free one where it would be. */
static struct run *find_run(const struct ole_kin *kin, uint64_t hash)
{
	uint32_t at = (uint32_t)(hash >> 40) % SLOTS;

	while (kin->runs[at].hash && kin->runs[at].hash != hash)
		at = (at + 1) % SLOTS;
	return &kin->runs[at];
}

void ole_kin_add_text(struct ole_kin *kin, uint32_t page, const uint8_t *bytes, size_t len)
{
	if (!view_work(kin->view, len))
		return;
	for (size_t i = 0; i + RUN <= len && kin->run_count < RUNS_MAX; i++) {
		uint64_t hash = is_kept(bytes + i) ? run_hash(bytes + i) : 0;
		struct run *run = hash ? find_run(kin, hash) : NULL;

		if (!run || run->hash)
			continue;
		*run = (struct run){ hash, page };
		kin->run_count++;
	}
}

static bool find_text(const struct ole_kin *kin, const uint8_t *bytes, uint32_t *page)
{
	uint32_t all = 0, found = 0;
	uint32_t least = kin->run_count < RUNS_MIN ? kin->run_count : RUNS_MIN;

	for (size_t i = 0; least && i + RUN <= OLE_PAGE; i++) {
		uint64_t hash = is_kept(bytes + i) ? run_hash(bytes + i) : 0;
		const struct run *run = hash ? find_run(kin, hash) : NULL;

		all += hash != 0;
		if (!run || !run->hash)
			continue;
		*page = run->page;
		found++;
	}
	return least && found >= least && found >= all / RUNS_PART;
}

/* ---- all ------------------------------------------------------------------------------------ */

void ole_kin_add_time(struct ole_kin *kin, uint64_t time)
{
	for (unsigned i = 0; i < kin->time_count; i++)
		if (kin->times[i] == time)
			return;
	if (time >> 56 == TIME_TOP && kin->time_count < TIMES_MAX)
		kin->times[kin->time_count++] = time;
}

bool ole_kin_close(struct ole_kin *kin)
{
	if (kin->own_count)
		qsort(kin->own, kin->own_count, sizeof(*kin->own), compare_words);
	return kin->time_count || kin->own_count >= OWN_MIN || kin->run_count >= RUNS_KNOWN;
}

static bool find_time(const struct ole_kin *kin, const uint8_t *bytes)
{
	for (size_t at = 0; kin->time_count && at + 8 <= OLE_PAGE; at += 4) {
		if (bytes[at + 7] != TIME_TOP)
			continue;
		for (unsigned i = 0; i < kin->time_count; i++)
			if (le64(bytes + at) == kin->times[i])
				return true;
	}
	return false;
}

bool ole_kin_has(const struct ole_kin *kin, const uint8_t *bytes, uint32_t *page)
{
	*page = UINT32_MAX;
	return find_words(kin, bytes, page) || find_text(kin, bytes, page) || find_time(kin, bytes);
}
