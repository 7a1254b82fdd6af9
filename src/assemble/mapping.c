/*
 * A table says what is where in the file; hits of the words in its anchors say where that is in the
 * image. Each pair gives a displacement, the difference of the two. Those of the file's pieces get
 * many votes. Which anchors are in which piece is what explains most of them with the fewest changes
 * of displacement from the file's start to its end: the cheapest path through the anchors, where a
 * change has a price, and so has an anchor that is not there, the more the more it says. So a weak
 * anchor that is found by chance makes no piece, and a piece may come before another in the image
 * as well as after it.
 */
#include "assemble/mapping.h"
#include "assemble/word_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define ANCHORS_MAX 65536
#define TAILS_MAX 64                  /* nearest tables that are looked at for a file */
#define BACK_MAX ((uint64_t)16 << 20) /* bytes before a tail that are in its view */
#define SAMPLE_MAX 64                 /* anchors by which a table is judged */
#define MISSES_MAX 3                  /* that are tolerated of them */
#define SHIFTS_MAX 64                 /* displacements that are considered */
#define VOTES_MAX ((size_t)1 << 20)
#define PLACES_MAX 4096 /* of an anchor; one that is in more shows no piece */
#define CHANGE_COST 4
#define MISS_COST_MAX 20
#define FITS_COST 8                  /* of one around which all fits */
#define FITS_AROUND ((uint64_t)4096) /* bytes on both sides of it that are looked at */
#define STRONG_BITS \
	64            /* an anchor that may be off the grid of clusters, unless all files have it */
#define AGREE_BITS 32 /* a table's anchors at the file's start must say that much */
#define HIT_WORK 8    /* units to look a hit up, */
#define MATCH_WORK 8  /* and to compare it with an anchor */
#define VOTE_WORK 64  /* to keep and sort one */
#define ANCHOR_WORK 64 /* to sort one, and for its step of the path */

struct anchors {
	struct carve_table table; /* first: add finds the rest */
	struct carve_anchor *items;
	size_t count, capacity;
};

static bool add_anchor(struct carve_table *table, const struct carve_anchor *anchor)
{
	struct anchors *anchors = (struct anchors *)table;

	if (anchors->count == ANCHORS_MAX)
		return false;
	anchors->items =
		xgrow(anchors->items, &anchors->capacity, anchors->count, sizeof(*anchors->items));
	anchors->items[anchors->count++] = *anchor;
	return true;
}

static uint32_t anchor_bits(const struct carve_anchor *anchor)
{
	return 8 * (anchor->len - (uint32_t)__builtin_popcountll(anchor->any));
}

static uint32_t miss_cost(const struct carve_map *map, const struct carve_anchor *anchor)
{
	uint32_t cost = anchor_bits(anchor) / 8 + (map->fits ? FITS_COST : 0);

	return cost < MISS_COST_MAX ? cost : MISS_COST_MAX;
}

static int by_offset(const void *a, const void *b)
{
	const struct carve_anchor *left = a, *right = b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	return memcmp(left->bytes, right->bytes, sizeof(left->bytes));
}

static void sort_anchors(struct anchors *anchors)
{
	qsort(anchors->items, anchors->count, sizeof(*anchors->items), by_offset);
}

/* ---- tables -------------------------------------------------------------------------------- */

/* Lets the carver read a table, with what work is left. */
static bool read_table(struct workbench *bench, const struct broken *broken,
	const struct source *source, const struct mapping *known, struct carve_table *table)
{
	const struct carve_map *map = bench->rule->carver->map;
	uint64_t back = source->offset < BACK_MAX ? source->offset : BACK_MAX;
	struct extents extents = { 0 };
	bool good;

	if (source->is_tail) {
		view_point(bench->view, bench->evidence, source->offset - back, back + BACK_MAX);
		view_limit_work(bench->view, bench->work_left);
		good = map->tail(bench->view, back, table);
	} else {
		if (!known || !known->count || !mapping_lay_out(bench, known, &extents))
			extents_add(&extents, broken->start, bench->clusters->end - broken->start);
		workbench_open(bench, &extents);
		good = map->head(bench->view, table);
	}
	workbench_close(bench);
	extents_free(&extents);
	return good;
}

static bool add_none(struct carve_table *table, const struct carve_anchor *anchor)
{
	(void)table;
	(void)anchor;
	return false;
}

/* Where a tail is, by the file's start. */
static void expect_tail(
	struct workbench *bench, const struct broken *broken, struct carve_table *table)
{
	const struct source head = { .offset = broken->start };
	struct carve_table expected = { .add = add_none };

	if (!bench->rule->carver->map->head)
		return;
	read_table(bench, broken, &head, NULL, &expected);
	if (expected.at) {
		table->at = expected.at;
		table->length = expected.length;
	}
}

/* known: the pieces that are known, with which a tail's anchors come together with those of the tables at
 * the file's start; or NULL. */
static bool read_source(struct workbench *bench, const struct broken *broken,
	const struct source *source, const struct mapping *known, struct anchors *anchors)
{
	const struct source head = { .offset = broken->start };
	bool good;

	*anchors = (struct anchors){ .table.add = add_anchor };
	if (source->is_tail)
		expect_tail(bench, broken, &anchors->table);
	good = read_table(bench, broken, source, known, &anchors->table);
	if (good && source->is_tail && known && bench->rule->carver->map->head) {
		struct carve_table table = anchors->table;

		if (read_table(bench, broken, &head, known, &anchors->table) && !table.length)
			table.length = anchors->table.length;
		anchors->table = table;
	}
	workbench_spend(bench, ANCHOR_WORK * anchors->count);
	if (good && anchors->count && workbench_goes_on(bench))
		return true;
	free(anchors->items);
	return false;
}

/* Whether the bytes can be the anchor's. */
static bool matches(const struct carve_anchor *anchor, const uint8_t *bytes)
{
	for (unsigned i = 0; i < anchor->len; i++)
		if (!(anchor->any >> i & 1) && bytes[i] != anchor->bytes[i])
			return false;
	return true;
}

bool mapping_is_there(struct workbench *bench, const struct carve_anchor *anchor, uint64_t offset)
{
	uint8_t bytes[sizeof(anchor->bytes)];

	return workbench_read(bench, offset, bytes, anchor->len) && matches(anchor, bytes);
}

/* By how much the anchors agree with what is at the file's start: up to where they no longer do, as the
 * first piece ends somewhere. */
static uint32_t agreement(
	struct workbench *bench, const struct broken *broken, struct anchors *anchors)
{
	uint32_t found = 0, missed = 0;

	sort_anchors(anchors);
	for (size_t i = 0; i < anchors->count && i < SAMPLE_MAX && missed < MISSES_MAX; i++) {
		const struct carve_anchor *anchor = &anchors->items[i];

		if (anchor->offset >= broken->length)
			break;
		if (mapping_is_there(bench, anchor, broken->start + anchor->offset))
			found += anchor_bits(anchor);
		else
			missed++;
	}
	return found;
}

static bool is_better(const struct source *source, const struct source *other)
{
	if (source->bits != other->bits)
		return source->bits > other->bits;
	return source->distance < other->distance;
}

static size_t add_source(struct source *sources, size_t count, const struct source *source)
{
	size_t at = count;

	while (at && is_better(source, &sources[at - 1]))
		at--;
	if (at == SOURCES_MAX)
		return count;
	if (count < SOURCES_MAX)
		count++;
	memmove(&sources[at + 1], &sources[at], (count - 1 - at) * sizeof(*sources));
	sources[at] = *source;
	return count;
}

uint64_t mapping_distance(uint64_t a, uint64_t b)
{
	return a - b < b - a ? a - b : b - a;
}

/* The tails in order of their distance from the file's start. */
static size_t nearest_tails(
	const uint64_t *hits, size_t count, uint64_t start, uint64_t nearest[TAILS_MAX])
{
	size_t above = 0, below, found = 0;

	while (above < count && hits[above] < start)
		above++;
	below = above;
	while (found < TAILS_MAX && (below > 0 || above < count)) {
		bool up =
			!below || (above < count && hits[above] - start <= start - hits[below - 1]);

		nearest[found++] = up ? hits[above++] : hits[--below];
	}
	return found;
}

static size_t try_source(struct workbench *bench, const struct broken *broken,
	struct source *source, struct source *sources, size_t count)
{
	struct anchors anchors;

	if (!read_source(bench, broken, source, NULL, &anchors))
		return count;
	source->bits = agreement(bench, broken, &anchors);
	if (source->bits >= AGREE_BITS || !source->is_tail)
		count = add_source(sources, count, source);
	free(anchors.items);
	return count;
}

size_t mapping_find_sources(
	struct workbench *bench, const struct broken *broken, struct source sources[SOURCES_MAX])
{
	const struct carve_map *map = bench->rule->carver->map;
	size_t count = 0;

	if (map->head) {
		struct source head = { .offset = broken->start };

		count = try_source(bench, broken, &head, sources, count);
	}
	for (unsigned word = 0; map->tail && word < CARVE_WORDS && map->words[word].len; word++) {
		uint64_t nearest[TAILS_MAX];
		size_t hit_count, tails;
		const uint64_t *hits = inner_hits_of(bench->hits, map, word, NULL, &hit_count);

		if (!map->words[word].tail)
			continue;
		tails = nearest_tails(hits, hit_count, broken->start, nearest);
		for (size_t i = 0; i < tails; i++) {
			struct source tail = { .is_tail = true,
				.offset = nearest[i],
				.distance = mapping_distance(nearest[i], broken->start) };

			count = try_source(bench, broken, &tail, sources, count);
		}
	}
	return workbench_goes_on(bench) ? count : 0;
}

/* ---- votes --------------------------------------------------------------------------------- */

/* An anchor that is at offset + shift. */
struct vote {
	uint64_t shift;
	uint32_t anchor;
};

/* An anchor whose word is looked for. */
struct wanted {
	/* What its hits have in common: the remainder, and, if the anchor says all of it, the key: remainder << 33 | 1 << 32 | key. */
	uint64_t group;
	uint32_t anchor;
};

struct votes {
	struct vote *items;
	size_t count, capacity;
	const struct carve_anchor *anchors; /* sorted by offset */
	struct wanted *wanted;              /* of one word, sorted */
	/* How many each has; TOO_MANY: it is in so many places that it shows no piece. */
	uint32_t *per_anchor;
	size_t wanted_count;
	bool has_too_many; /* some are of such an anchor */
};

#define TOO_MANY UINT32_MAX

static int by_group(const void *a, const void *b)
{
	const struct wanted *left = a, *right = b;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	return left->anchor < right->anchor ? -1 : left->anchor > right->anchor;
}

static int by_shift(const void *a, const void *b)
{
	const struct vote *left = a, *right = b;

	if (left->shift != right->shift)
		return left->shift < right->shift ? -1 : 1;
	return left->anchor < right->anchor ? -1 : left->anchor > right->anchor;
}

static void add_vote(struct votes *votes, uint64_t shift, uint32_t anchor)
{
	if (votes->count == VOTES_MAX)
		return;
	votes->items = xgrow(votes->items, &votes->capacity, votes->count, sizeof(*votes->items));
	votes->items[votes->count++] = (struct vote){ shift, anchor };
	if (votes->per_anchor[anchor] != TOO_MANY)
		votes->per_anchor[anchor]++;
}

/* The remainder in a sector where the anchor's word is, if a piece begins at a sector. */
static uint64_t remainder_of(const struct carve_anchor *anchor)
{
	return (anchor->offset + anchor->word_at) % SECTOR;
}

#define GROUP_KEY ((uint64_t)1 << 32)

bool mapping_key(const struct carve_anchor *anchor, size_t key_at, uint32_t *key)
{
	size_t at = anchor->word_at + key_at;

	*key = 0;
	if (at + WORD_KEY > anchor->len || anchor->any >> at & 15)
		return false;
	for (unsigned i = 0; i < WORD_KEY; i++)
		*key |= (uint32_t)anchor->bytes[at + i] << 8 * i;
	return true;
}

static void index_word(
	struct votes *votes, const struct anchors *anchors, unsigned word, size_t key_at)
{
	votes->wanted_count = 0;
	for (size_t i = 0; i < anchors->count; i++) {
		struct wanted wanted = { .group = remainder_of(&anchors->items[i]) << 33,
			.anchor = (uint32_t)i };
		uint32_t key;

		if (anchors->items[i].word != word)
			continue;
		if (mapping_key(&anchors->items[i], key_at, &key))
			wanted.group |= GROUP_KEY | key;
		votes->wanted[votes->wanted_count++] = wanted;
	}
	qsort(votes->wanted, votes->wanted_count, sizeof(*votes->wanted), by_group);
}

/* Whether the carver finds what it expects around the anchor. */
static bool fits(struct workbench *bench, const struct carve_anchor *anchor, uint64_t at)
{
	const struct carve_map *map = bench->rule->carver->map;
	uint64_t before = at < FITS_AROUND ? at : FITS_AROUND;
	bool does;

	if (!map->fits)
		return true;
	view_point(bench->view, bench->evidence, at - before, before + FITS_AROUND);
	view_limit_work(bench->view, bench->work_left);
	does = map->fits(bench->view, before, anchor);
	workbench_close(bench);
	return does;
}

/* The hits of an anchor's word. */
struct word_hits {
	size_t len, key_at; /* of the word */
	size_t count;
	const uint64_t *items;
	const uint32_t *keys;
};

/* One of them. */
struct place {
	uint64_t hit;
	uint32_t key;
	bool was_read;
	uint64_t from; /* of what is around it */
	uint8_t around[2 * sizeof(((struct carve_anchor *)NULL)->bytes)];
};

/* Whether the anchor is its word, and at most the key right after it: then all of it is known with a hit. */
static bool is_short(const struct carve_anchor *anchor, const struct word_hits *hits)
{
	return !anchor->word_at && hits->key_at == hits->len && anchor->len <= hits->len + WORD_KEY;
}

/* Whether the key can be the anchor's. */
static bool may_match(
	const struct carve_anchor *anchor, const struct word_hits *hits, const struct place *place)
{
	size_t at = anchor->word_at + hits->key_at;

	for (unsigned i = 0; i < WORD_KEY && at + i < anchor->len; i++)
		if (!(anchor->any >> (at + i) & 1) &&
			anchor->bytes[at + i] != (uint8_t)(place->key >> 8 * i))
			return false;
	return true;
}

static bool read_around(struct workbench *bench, struct place *place)
{
	uint64_t from = place->hit < 64 ? 0 : place->hit - 64, left = bench->clusters->end - from;
	size_t room = sizeof(place->around);

	place->from = from;
	place->was_read = true;
	return workbench_read(bench, from, place->around, left < room ? (size_t)left : room);
}

/* Whether the anchor may be there, as a part of the file. */
static bool is_at(struct workbench *bench, const struct broken *broken,
	const struct carve_anchor *anchor, const struct word_hits *hits, struct place *place)
{
	uint64_t at = place->hit - anchor->word_at;
	bool on_grid = bench->rule->carver->map->common || anchor_bits(anchor) < STRONG_BITS;
	bool is_known = is_short(anchor, hits);

	if (place->hit < anchor->word_at || anchor->len > bench->clusters->end - at ||
		!may_match(anchor, hits, place) ||
		(on_grid && (at - anchor->offset - broken->start) % bench->clusters->size))
		return false;
	if (!is_known && !place->was_read && !read_around(bench, place))
		return false;
	return (is_known || (anchor->len <= sizeof(place->around) - (at - place->from) &&
				    matches(anchor, place->around + (at - place->from)))) &&
	       fits(bench, anchor, at);
}

static struct word_hits hits_of(struct workbench *bench, unsigned word)
{
	const struct carve_map *map = bench->rule->carver->map;
	struct word_hits hits = { .len = map->words[word].len,
		.key_at = inner_hits_key_at(map, word) };

	hits.items = inner_hits_of(bench->hits, map, word, &hits.keys, &hits.count);
	return hits;
}

/* Some of the anchors at one of the hits. again: also those that are in too many places. */
static void try_hit(struct workbench *bench, const struct broken *broken,
	const struct word_hits *hits, size_t hit, const struct wanted *wanted, size_t count,
	bool again, struct votes *votes)
{
	struct place place = { .hit = hits->items[hit], .key = hits->keys[hit] };

	workbench_spend(bench, HIT_WORK);
	if (!clusters_are_free(bench->clusters, place.hit, 1))
		return;
	for (size_t i = 0; i < count && workbench_goes_on(bench); i++) {
		uint32_t number = wanted[i].anchor;
		const struct carve_anchor *anchor = &votes->anchors[number];

		workbench_spend(bench, MATCH_WORK);
		if ((votes->per_anchor[number] == TOO_MANY && !again) ||
			!is_at(bench, broken, anchor, hits, &place))
			continue;
		workbench_spend(bench, VOTE_WORK);
		add_vote(votes, place.hit - anchor->word_at - anchor->offset, number);
		if (votes->per_anchor[number] != TOO_MANY &&
			votes->per_anchor[number] > PLACES_MAX) {
			votes->per_anchor[number] = TOO_MANY;
			votes->has_too_many = true;
		}
	}
}

/* Anchors of a word that have a group in common, at all hits of it where they may be, if a piece begins at a sector. */
static void vote(struct workbench *bench, const struct broken *broken, unsigned word,
	const struct wanted *wanted, size_t count, struct votes *votes)
{
	const struct carve_map *map = bench->rule->carver->map;
	struct word_hits hits = hits_of(bench, word);
	uint64_t remainder = broken->start + (wanted->group >> 33);
	uint32_t key = (uint32_t)wanted->group;

	hits.items = inner_hits_at(bench->hits, map, word, remainder,
		wanted->group & GROUP_KEY ? &key : NULL, &hits.keys, &hits.count);
	workbench_spend(bench, MATCH_WORK);
	for (size_t i = 0; i < hits.count && workbench_goes_on(bench); i++) {
		if (count == 1 && votes->per_anchor[wanted->anchor] == TOO_MANY)
			break;
		try_hit(bench, broken, &hits, i, wanted, count, false, votes);
	}
}

/* How many anchors, from number `from` of those that are wanted on, are looked for at once. */
static size_t count_group(const struct votes *votes, const struct word_hits *hits, size_t from)
{
	const struct wanted *first = &votes->wanted[from];
	size_t next = from + 1;

	if (is_short(&votes->anchors[first->anchor], hits))
		return 1;
	while (next < votes->wanted_count && votes->wanted[next].group == first->group)
		next++;
	return next - from;
}

/* Those of anchors that are in too many places. */
static void drop_votes(struct votes *votes)
{
	size_t kept = 0;

	if (!votes->has_too_many)
		return;
	votes->has_too_many = false;
	for (size_t i = 0; i < votes->count; i++)
		if (votes->per_anchor[votes->items[i].anchor] != TOO_MANY)
			votes->items[kept++] = votes->items[i];
	votes->count = kept;
}

static void sort_votes(struct votes *votes)
{
	if (votes->count)
		qsort(votes->items, votes->count, sizeof(*votes->items), by_shift);
}

/* ---- the path ------------------------------------------------------------------------------ */

struct shifts {
	uint64_t items[SHIFTS_MAX];
	uint64_t votes[SHIFTS_MAX];
	size_t first[SHIFTS_MAX]; /* of its votes */
	size_t count;
};

static bool is_refused(const struct refused *refused, uint64_t shift)
{
	for (size_t i = 0; i < refused->count; i++)
		if (refused->shifts[i] == shift)
			return true;
	return false;
}

/* Those with the most votes, in their order, and of these the nearest; two always count: the file's start and the tail's. */
static void add_shift(
	struct shifts *shifts, uint64_t start, uint64_t shift, uint64_t count, size_t first)
{
	size_t at = shifts->count;

	while (at && (count > shifts->votes[at - 1] ||
			     (count == shifts->votes[at - 1] &&
				     mapping_distance(shift, start) <
					     mapping_distance(shifts->items[at - 1], start))))
		at--;
	if (at == SHIFTS_MAX)
		return;
	if (shifts->count < SHIFTS_MAX)
		shifts->count++;
	for (size_t i = shifts->count - 1; i > at; i--) {
		shifts->items[i] = shifts->items[i - 1];
		shifts->votes[i] = shifts->votes[i - 1];
		shifts->first[i] = shifts->first[i - 1];
	}
	shifts->items[at] = shift;
	shifts->votes[at] = count;
	shifts->first[at] = first;
}

static void find_shifts(const struct votes *votes, uint64_t start, uint64_t tail,
	const struct refused *refused, struct shifts *shifts)
{
	bool has_start = false, has_tail = tail == start;

	for (size_t i = 0, next; i < votes->count; i = next) {
		uint64_t shift = votes->items[i].shift, count;

		for (next = i + 1; next < votes->count && votes->items[next].shift == shift;)
			next++;
		if (is_refused(refused, shift))
			continue;
		count = shift == start || shift == tail ? UINT64_MAX : next - i;
		add_shift(shifts, start, shift, count, i);
		has_start |= shift == start;
		has_tail |= shift == tail;
	}
	if (!has_start)
		add_shift(shifts, start, start, UINT64_MAX, votes->count);
	if (!has_tail)
		add_shift(shifts, start, tail, UINT64_MAX, votes->count);
}

/* What is in too many places is looked for where the other anchors show pieces. */
static void vote_again(struct workbench *bench, const struct broken *broken,
	const struct shifts *shifts, uint32_t number, struct votes *votes)
{
	const struct carve_anchor *anchor = &votes->anchors[number];
	const struct wanted wanted = { .anchor = number };
	struct word_hits hits = hits_of(bench, anchor->word);

	for (size_t s = 0; s < shifts->count && workbench_goes_on(bench); s++) {
		uint64_t hit = anchor->offset + anchor->word_at + shifts->items[s];
		size_t low = 0, high = hits.count;

		workbench_spend(bench, MATCH_WORK);
		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (hits.items[middle] < hit)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < hits.count && hits.items[low] == hit)
			try_hit(bench, broken, &hits, low, &wanted, 1, true, votes);
	}
}

static void collect_votes(struct workbench *bench, const struct broken *broken,
	const struct anchors *anchors, uint64_t start, uint64_t tail, const struct refused *refused,
	struct votes *votes)
{
	const struct carve_map *map = bench->rule->carver->map;
	struct shifts shifts = { 0 };

	for (unsigned word = 0; word < CARVE_WORDS && map->words[word].len; word++) {
		struct word_hits hits = hits_of(bench, word);

		index_word(votes, anchors, word, hits.key_at);
		for (size_t i = 0, count; i < votes->wanted_count; i += count) {
			count = count_group(votes, &hits, i);
			vote(bench, broken, word, votes->wanted + i, count, votes);
			if (votes->count > VOTES_MAX / 2)
				drop_votes(votes);
		}
	}
	drop_votes(votes);
	sort_votes(votes);
	find_shifts(votes, start, tail, refused, &shifts);
	for (size_t i = 0; i < anchors->count && workbench_goes_on(bench); i++)
		if (votes->per_anchor[i] == TOO_MANY)
			vote_again(bench, broken, &shifts, (uint32_t)i, votes);
	sort_votes(votes);
	if (bench->compared < votes->count)
		bench->compared = votes->count;
}

/* The cheapest way through the anchors. */
struct path {
	const struct carve_map *map;
	const struct anchors *anchors;
	const struct votes *votes;
	const struct shifts *shifts;
	size_t next_vote[SHIFTS_MAX];
	uint32_t cost[SHIFTS_MAX];
	/* SHIFTS_MAX for each anchor: the shift before it; its top bit: it is there */
	uint8_t *from;
};

#define IS_THERE 0x80

static size_t cheapest(const struct path *path)
{
	size_t best = 0;

	for (size_t s = 1; s < path->shifts->count; s++)
		if (path->cost[s] < path->cost[best])
			best = s;
	return best;
}

/* Whether the anchor has a vote for the shift; called with rising anchors. */
static bool has_vote(struct path *path, size_t s, size_t anchor)
{
	const struct votes *votes = path->votes;
	size_t i = path->next_vote[s];
	uint64_t shift = path->shifts->items[s];

	while (i < votes->count && votes->items[i].shift == shift &&
		votes->items[i].anchor < anchor)
		i++;
	path->next_vote[s] = i;
	return i < votes->count && votes->items[i].shift == shift &&
	       votes->items[i].anchor == anchor;
}

static void step(struct path *path, size_t anchor)
{
	size_t best = cheapest(path);
	uint32_t change = path->cost[best] + CHANGE_COST;
	uint32_t miss = miss_cost(path->map, &path->anchors->items[anchor]);
	uint8_t *from = path->from + anchor * SHIFTS_MAX;

	for (size_t s = 0; s < path->shifts->count; s++) {
		bool there = has_vote(path, s, anchor), changes = change < path->cost[s];

		from[s] = (uint8_t)((changes ? best : s) | (there ? IS_THERE : 0));
		path->cost[s] = (changes ? change : path->cost[s]) + (there ? 0 : miss);
	}
}

static void add_stretch(struct mapping *mapping, const struct stretch *stretch)
{
	struct stretch *last = mapping->count ? &mapping->items[mapping->count - 1] : NULL;

	if (last && last->shift == stretch->shift) {
		if (stretch->to > last->to)
			last->to = stretch->to;
		last->own_bits += stretch->own_bits;
		return;
	}
	mapping->items =
		xgrow(mapping->items, &mapping->capacity, mapping->count, sizeof(*mapping->items));
	mapping->items[mapping->count++] = *stretch;
}

/* From the path's end back to its start; then the stretches in order. */
static void follow(const struct path *path, size_t end, struct mapping *mapping)
{
	size_t count = path->anchors->count, s = end;
	uint8_t *states = xmalloc(count + 1);

	for (size_t i = count; i > 0; i--) {
		uint8_t from = path->from[(i - 1) * SHIFTS_MAX + s];

		states[i - 1] = (uint8_t)(s | (from & IS_THERE));
		s = from & (IS_THERE - 1);
	}
	for (size_t i = 0; i < count; i++) {
		const struct carve_anchor *anchor = &path->anchors->items[i];
		struct stretch stretch = { .from = anchor->offset,
			.to = anchor->offset + anchor->len,
			.shift = path->shifts->items[states[i] & (IS_THERE - 1)],
			.own_bits = path->votes->per_anchor[i] == 1 ? anchor_bits(anchor) : 0 };

		if (states[i] & IS_THERE)
			add_stretch(mapping, &stretch);
	}
	free(states);
}

/* The displacement of the file's end; start: nothing says another. */
static uint64_t tail_shift(
	const struct source *source, const struct carve_table *table, uint64_t start)
{
	return source->is_tail && table->at ? source->offset - table->at : start;
}

/* Adds the stretches that follow the last one, or the file's start. */
static void find_path(const struct carve_map *map, const struct source *source,
	const struct anchors *anchors, const struct votes *votes, const struct refused *refused,
	struct mapping *mapping)
{
	const struct carve_table *table = &anchors->table;
	uint64_t start = mapping->items[mapping->count - 1].shift;
	bool has_end = source->is_tail && table->at;
	uint64_t tail = tail_shift(source, table, start);
	struct shifts shifts = { 0 };
	struct path path = { .map = map, .anchors = anchors, .votes = votes, .shifts = &shifts };
	struct stretch end = {
		.from = table->from, .to = table->at, .shift = tail, .own_bits = STRONG_BITS
	};

	find_shifts(votes, start, tail, refused, &shifts);
	for (size_t s = 0; s < shifts.count; s++) {
		path.cost[s] = shifts.items[s] == start ? 0 : CHANGE_COST;
		path.next_vote[s] = shifts.first[s];
	}
	path.from = xcalloc(anchors->count, SHIFTS_MAX);
	for (size_t i = 0; i < anchors->count; i++)
		step(&path, i);
	if (has_end) /* the end is there, whatever it costs */
		for (size_t s = 0; s < shifts.count; s++)
			path.cost[s] += shifts.items[s] == tail ? 0 : CHANGE_COST;
	mapping->length = table->length;
	follow(&path, cheapest(&path), mapping);
	if (has_end)
		add_stretch(mapping, &end);
	free(path.from);
}

/* Drops the anchors in what is known already. */
static void drop_known(const struct mapping *mapping, struct anchors *anchors)
{
	uint64_t known = mapping->items[mapping->count - 1].to;
	size_t kept = 0;

	for (size_t i = 0; i < anchors->count; i++)
		if (anchors->items[i].offset >= known)
			anchors->items[kept++] = anchors->items[i];
	anchors->count = kept;
}

bool mapping_extend(struct workbench *bench, const struct broken *broken,
	const struct source *source, const struct refused *refused, struct mapping *mapping)
{
	struct stretch head = { .shift = broken->start, .own_bits = AGREE_BITS };
	struct anchors anchors;
	struct votes votes = { 0 };
	struct stretch last;
	size_t count;

	if (!read_source(bench, broken, source, mapping, &anchors))
		return false;
	if (!mapping->count)
		add_stretch(mapping, &head);
	count = mapping->count;
	last = mapping->items[count - 1];
	drop_known(mapping, &anchors);
	sort_anchors(&anchors);
	votes.anchors = anchors.items;
	votes.wanted = xcalloc(anchors.count + 1, sizeof(*votes.wanted));
	votes.per_anchor = xcalloc(anchors.count + 1, sizeof(*votes.per_anchor));
	collect_votes(bench, broken, &anchors, last.shift,
		tail_shift(source, &anchors.table, last.shift), refused, &votes);
	if (workbench_goes_on(bench))
		find_path(bench->rule->carver->map, source, &anchors, &votes, refused, mapping);
	free(votes.wanted);
	free(votes.per_anchor);
	free(votes.items);
	free(anchors.items);
	if (mapping->count > count)
		return true;
	mapping->items[count - 1] = last;
	return false;
}

bool mapping_find_tail(struct workbench *bench, const struct broken *broken, struct tail *tail)
{
	const struct refused refused = { .count = 0 };
	struct source sources[SOURCES_MAX];
	struct mapping mapping = { 0 };
	bool found = false;

	if (!bench->rule->carver->map ||
		broken->start % bench->clusters->size != bench->clusters->origin ||
		!mapping_find_sources(bench, broken, sources))
		return false;
	if (mapping_extend(bench, broken, &sources[0], &refused, &mapping)) {
		const struct stretch *last = &mapping.items[mapping.count - 1];
		uint64_t place = last->from + last->shift - bench->clusters->origin;
		uint64_t over = place % bench->clusters->size;

		*tail = (struct tail){ last->from - over, last->shift, mapping.length };
		found = last->shift != broken->start && last->from > over &&
			last->from - over >= 2 * bench->clusters->size;
	}
	mapping_free(&mapping);
	return found;
}

void mapping_free(struct mapping *mapping)
{
	free(mapping->items);
	*mapping = (struct mapping){ 0 };
}
