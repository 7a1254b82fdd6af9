/*
 * The words are searched here, and not by the scan's engines: they matter only around files that
 * broke off, which are known after the scan, and only those of the formats of these files. The
 * windows, and so the bytes that are read again, are bounded; complete files are left out. What the
 * scan has kept on a GPU is not read again: the GPU searches it.
 *
 * Each window is cut into steps, which the threads search on their own, and the steps' hits are put
 * together in order. A step keeps a bounded number of hits of each word, so that an image full of
 * one word costs no more than others.
 */
#include "assemble/inner_hits.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/word_search.h"
#include "base/memory.h"

#define STEP WORD_STRETCH_MAX
#define ROUND ((size_t)8 * 1024)   /* steps */
#define STEP_HITS_MAX 32768        /* of one word */
#define HITS_MAX ((size_t)1 << 21) /* of one word, in all */

struct hit_list {
	uint64_t *items;
	uint32_t *keys; /* of each hit */
	size_t count, capacity, keys_capacity;
};

struct word {
	const struct carve_map *map;
	unsigned number; /* in the map */
	struct hit_list hits;
	/* The hits and their keys, sorted by what inner_hits_at looks for, and where those of each remainder begin. */
	uint64_t *sorted;
	uint32_t *sorted_keys;
	uint32_t *begin; /* SECTOR + 1 */
};

struct inner_hits {
	struct word_set set;
	struct word words[WORDS_MAX]; /* of the set */
	struct ranges windows;
};

struct inner_hits *inner_hits_new(void)
{
	return xcalloc(1, sizeof(struct inner_hits));
}

size_t inner_hits_key_at(const struct carve_map *map, unsigned word)
{
	const struct carve_word *found = &map->words[word];

	return found->key_at ? found->key_at : found->len;
}

void inner_hits_add_map(struct inner_hits *hits, const struct carve_map *map)
{
	for (size_t i = 0; i < hits->set.count; i++)
		if (hits->words[i].map == map)
			return;
	for (unsigned i = 0; i < CARVE_WORDS && map->words[i].len; i++)
		if (word_set_add(&hits->set, map->words[i].bytes, map->words[i].len,
			    inner_hits_key_at(map, i)))
			hits->words[hits->set.count - 1] = (struct word){ .map = map, .number = i };
}

void inner_hits_add_window(struct inner_hits *hits, uint64_t offset, uint64_t length)
{
	ranges_add(&hits->windows, offset, length);
}

/* ---- the search ---------------------------------------------------------------------------- */

static void add_hit(struct hit_list *list, uint64_t offset, uint32_t key, size_t most)
{
	if (list->count == most)
		return;
	list->items = xgrow(list->items, &list->capacity, list->count, sizeof(*list->items));
	list->keys = xgrow(list->keys, &list->keys_capacity, list->count, sizeof(*list->keys));
	list->keys[list->count] = key;
	list->items[list->count++] = offset;
}

/* What the threads share. */
struct search {
	const struct inner_hits *hits;
	const struct inner_hits_source *source;
	bool (*interrupted)(void);
	struct range *steps;
	size_t step_count, step_capacity;
	size_t batch;           /* steps that a thread takes at a time */
	size_t from, to;        /* steps of the round */
	struct hit_list *found; /* a list for each word of each of them */
	_Atomic size_t next;
	_Atomic bool stopped;
};

static struct hit_list *lists_of(const struct search *search, size_t step)
{
	return search->found + (step - search->from) * search->hits->set.count;
}

struct step_hits {
	uint64_t offset; /* of the step */
	struct hit_list *found;
};

static void add_found(void *context, unsigned word, size_t at, uint32_t key)
{
	const struct step_hits *hits = context;

	add_hit(&hits->found[word], hits->offset + at, key, STEP_HITS_MAX);
}

/* With the processor. bytes: room for STEP + WORD_AFTER. */
static void search_step(struct search *search, size_t index, uint8_t *bytes)
{
	struct image *image = search->source->image;
	const struct range *step = &search->steps[index];
	struct step_hits hits = { step->offset, lists_of(search, index) };
	uint64_t left = image_info(image)->size - step->offset;
	size_t len = (size_t)step->length + WORD_AFTER;

	if (len > left)
		len = (size_t)left;
	image_read_around(image, step->offset, bytes, len);
	if (image_was_cut(image) || (search->interrupted && search->interrupted()))
		search->stopped = true;
	word_set_search(&search->hits->set, bytes, (size_t)step->length, len, add_found, &hits);
}

/* What a device answers about the steps from `first` on; returns a bit for each that is done. */
static uint64_t ask_device(
	struct search *search, size_t first, size_t count, struct word_answer *answer)
{
	const struct word_question question = { &search->hits->set, search->steps + first, count };

	searcher_find_words(search->source->searcher, search->source->kept, &question, answer);
	if (search->interrupted && search->interrupted())
		search->stopped = true;
	for (size_t i = 0; i < answer->count; i++) {
		const struct word_hit *hit = &answer->items[i];
		size_t step = first + hit->stretch;
		struct step_hits hits = { search->steps[step].offset, lists_of(search, step) };

		add_found(&hits, hit->word, hit->at, hit->key);
	}
	return answer->answered;
}

static void search_steps(void *context, unsigned number, unsigned worker)
{
	struct search *search = context;
	uint8_t *bytes = xmalloc(STEP + WORD_AFTER);
	struct word_answer *answer = search->batch > 1 ? xmalloc(sizeof(*answer)) : NULL;
	size_t first;

	(void)number;
	(void)worker;
	while ((first = atomic_fetch_add(&search->next, search->batch)) < search->to &&
		!search->stopped) {
		size_t left = search->to - first;
		size_t count = left < search->batch ? left : search->batch;
		uint64_t done = answer ? ask_device(search, first, count, answer) : 0;

		for (size_t i = 0; i < count && !search->stopped; i++)
			if (!(done >> i & 1))
				search_step(search, first + i, bytes);
	}
	free(answer);
	free(bytes);
}

static void add_steps(struct search *search, uint64_t from, uint64_t to, uint64_t *left)
{
	while (from < to && *left) {
		uint64_t len = to - from < STEP ? to - from : STEP;

		if (len > *left)
			len = *left;
		search->steps = xgrow(search->steps, &search->step_capacity, search->step_count,
			sizeof(*search->steps));
		search->steps[search->step_count++] = (struct range){ from, len };
		from += len;
		*left -= len;
	}
}

/* Cuts the windows into steps, without what is taken. */
static void make_steps(struct search *search, const struct ranges *taken, uint64_t most)
{
	const struct ranges *windows = &search->hits->windows;

	for (size_t i = 0; i < windows->count; i++) {
		uint64_t at = windows->items[i].offset, end = at + windows->items[i].length;

		while (at < end && most) {
			const struct range *next = ranges_after(taken, at);
			uint64_t to = next && next->offset < end ? next->offset : end;

			if (to > at)
				add_steps(search, at, to, &most);
			at = next && next->offset < end ? next->offset + next->length : end;
		}
	}
}

/* The round's hits become the words', in order. */
static void gather(struct inner_hits *hits, struct search *search)
{
	for (size_t i = 0; i < (search->to - search->from) * hits->set.count; i++) {
		struct hit_list *from = &search->found[i];
		struct hit_list *to = &hits->words[i % hits->set.count].hits;

		for (size_t n = 0; n < from->count && !search->stopped; n++)
			add_hit(to, from->items[n], from->keys[n], HITS_MAX);
		free(from->items);
		free(from->keys);
	}
}

/* The next steps, as many as there is memory for lists. */
static void search_round(struct inner_hits *hits, struct search *search, struct pool *pool)
{
	size_t left = search->step_count - search->to;

	search->from = search->to;
	search->next = search->to;
	search->to += left < ROUND ? left : ROUND;
	search->found =
		xcalloc((search->to - search->from) * hits->set.count, sizeof(*search->found));
	pool_share(pool, POOL_CHECK, pool_threads(pool), search_steps, search);
	gather(hits, search);
	free(search->found);
}

/* ---- in another order ---------------------------------------------------------------------- */

/* A hit's number after its key, which is what is compared. */
static int by_key(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* Sorts the hits of one remainder, which are keys << 32 | numbers, and puts them side by side: each file that broke off may visit
 * them. */
static void sort_hits(struct word *word, uint64_t *hits, uint32_t begin, uint32_t end)
{
	qsort(hits + begin, end - begin, sizeof(*hits), by_key);
	for (uint32_t i = begin; i < end; i++) {
		word->sorted[i] = word->hits.items[(uint32_t)hits[i]];
		word->sorted_keys[i] = (uint32_t)(hits[i] >> 32);
	}
}

static void sort_word(struct word *word)
{
	const struct hit_list *list = &word->hits;
	uint64_t *hits = xmalloc((list->count + 1) * sizeof(*hits));
	uint32_t next[SECTOR] = { 0 }, begin = 0;

	word->sorted = xmalloc((list->count + 1) * sizeof(*word->sorted));
	word->sorted_keys = xmalloc((list->count + 1) * sizeof(*word->sorted_keys));
	word->begin = xmalloc((SECTOR + 1) * sizeof(*word->begin));
	for (size_t i = 0; i < list->count; i++)
		next[list->items[i] % SECTOR]++;
	for (size_t i = 0; i < SECTOR; i++) {
		uint32_t count = next[i];

		next[i] = word->begin[i] = begin;
		begin += count;
	}
	word->begin[SECTOR] = begin;
	for (size_t i = 0; i < list->count; i++)
		hits[next[list->items[i] % SECTOR]++] = (uint64_t)list->keys[i] << 32 | i;
	for (size_t i = 0; i < SECTOR; i++)
		sort_hits(word, hits, word->begin[i], word->begin[i + 1]);
	free(hits);
}

/* The first of the sorted hits [from, to) whose key is this or more. */
static uint32_t first_key(const struct word *word, uint32_t from, uint32_t to, uint64_t key)
{
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (word->sorted_keys[middle] < key)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static const struct word *find_word(
	const struct inner_hits *hits, const struct carve_map *map, unsigned number)
{
	for (size_t i = 0; i < hits->set.count; i++)
		if (hits->words[i].map == map && hits->words[i].number == number)
			return &hits->words[i];
	return NULL;
}

/* ---- what others see ----------------------------------------------------------------------- */

bool inner_hits_find(struct inner_hits *hits, const struct inner_hits_source *source,
	const struct ranges *taken, uint64_t most, struct pool *pool, bool (*interrupted)(void))
{
	struct search search = { .hits = hits,
		.source = source,
		.interrupted = interrupted,
		.batch = source->searcher && searcher_has_device(source->searcher)
				 ? WORD_STRETCHES_MAX
				 : 1 };

	if (hits->set.count)
		make_steps(&search, taken, most);
	if (!search.step_count)
		return true;
	while (search.to < search.step_count && !search.stopped)
		search_round(hits, &search, pool);
	for (size_t i = 0; i < hits->set.count && !search.stopped; i++)
		sort_word(&hits->words[i]);
	free(search.steps);
	return !search.stopped;
}

const uint64_t *inner_hits_of(const struct inner_hits *hits, const struct carve_map *map,
	unsigned word, const uint32_t **keys, size_t *count)
{
	const struct word *found = find_word(hits, map, word);

	*count = found ? found->hits.count : 0;
	if (keys)
		*keys = found ? found->hits.keys : NULL;
	return found ? found->hits.items : NULL;
}

const uint64_t *inner_hits_at(const struct inner_hits *hits, const struct carve_map *map,
	unsigned word, uint64_t remainder, const uint32_t *key, const uint32_t **keys,
	size_t *count)
{
	const struct word *found = find_word(hits, map, word);
	uint32_t from, to;

	*count = 0;
	*keys = NULL;
	if (!found || !found->sorted)
		return NULL;
	from = found->begin[remainder % SECTOR];
	to = found->begin[remainder % SECTOR + 1];
	if (key) {
		from = first_key(found, from, to, *key);
		to = first_key(found, from, to, (uint64_t)*key + 1);
	}
	*count = to - from;
	*keys = found->sorted_keys + from;
	return found->sorted + from;
}

void inner_hits_free(struct inner_hits *hits)
{
	if (!hits)
		return;
	for (size_t i = 0; i < hits->set.count; i++) {
		free(hits->words[i].hits.items);
		free(hits->words[i].hits.keys);
		free(hits->words[i].sorted);
		free(hits->words[i].sorted_keys);
		free(hits->words[i].begin);
	}
	ranges_free(&hits->windows);
	free(hits);
}
