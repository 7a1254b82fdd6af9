/*
 * Puts a file together by its CRCs, one after another: the pieces that meet inside the bytes of each are found by arithmetic
 * (sum_breaks.c).
 */
#include <stdlib.h>
#include <string.h>

#include "assemble/strategies.h"
#include "assemble/sum_breaks.h"
#include "base/memory.h"

#define PIECES_MAX 64
#define OTHERS_MAX 64
#define TARGETS_MAX 64 /* places where the bytes may end */
#define TARGETS_NEAR 8 /* of these, those that are tried with a piece in between */
#define HIT_WORK 8     /* to look at a hit of a word */

/* Where the bytes of a piece, with this number in the mapping, may also be: the CRC agrees there, too. */
struct other {
	size_t number;
	uint64_t shift;
};

struct search {
	struct sum_breaks breaks;
	uint64_t targets[TARGETS_MAX]; /* displacements with which the bytes may end */
	size_t target_count;
	struct other others[OTHERS_MAX];
	size_t other_count;
	bool too_many_others;
	uint64_t tested_before; /* trials made for other CRCs */
};

/* ---- hits ---------------------------------------------------------------------------------- */

/* How far the carver gets with these pieces. */
static uint64_t reach_of(struct search *search, const struct sum_hit *hit)
{
	struct extents extents = { 0 };
	struct outcome outcome;
	uint64_t reached = 0;

	if (sum_breaks_lay_out(&search->breaks, hit, &extents) &&
		workbench_look(search->breaks.bench, &extents, &outcome)) {
		reached = outcome.length;
		outcome_free(&outcome);
	}
	extents_free(&extents);
	return reached;
}

/* Notes where else a hit that was not taken has pieces: the mapping has none of this CRC yet. */
static void note_others(
	struct search *search, const struct sum_hit *taken, const struct sum_hit *other)
{
	search->too_many_others |= other->count != taken->count;
	for (size_t i = 0; i < other->count && i < taken->count; i++) {
		if (other->pieces[i].shift == taken->pieces[i].shift)
			continue;
		search->too_many_others |= search->other_count == OTHERS_MAX;
		if (!search->too_many_others)
			search->others[search->other_count++] =
				(struct other){ search->breaks.mapping->count + i,
					other->pieces[i].shift };
	}
}

/* In how many ways that many pieces with the displacements of a hit can meet. */
static uint64_t count_breaks(const struct search *search, size_t count)
{
	uint64_t breaks = search->breaks.last + 1;

	return count == 1 ? breaks : breaks * (breaks - 1) / 2;
}

/* Adds the pieces with which the carver gets furthest. False: there are none. */
static bool take_best(struct search *search)
{
	size_t best = 0;
	uint64_t furthest = 0;

	if (!search->breaks.hit_count || search->breaks.too_many)
		return false;
	for (size_t i = 0; search->breaks.hit_count > 1 && i < search->breaks.hit_count; i++) {
		uint64_t reached = reach_of(search, &search->breaks.hits[i]);

		if (reached > furthest) {
			best = i;
			furthest = reached;
		}
	}
	for (size_t i = 0; i < search->breaks.hits[best].count; i++) {
		struct stretch *piece = &search->breaks.hits[best].pieces[i];

		piece->chance =
			workbench_bits(search->breaks.bench->tested - search->tested_before);
		piece->near = workbench_bits(count_breaks(search, search->breaks.hits[best].count));
	}
	for (size_t i = 0; i < search->breaks.hit_count; i++)
		if (i != best)
			note_others(search, &search->breaks.hits[best], &search->breaks.hits[i]);
	sum_hit_add(search->breaks.mapping, &search->breaks.hits[best]);
	return workbench_goes_on(search->breaks.bench);
}

/* ---- one CRC ------------------------------------------------------------------------------- */

/* How far a displacement is from the file's start. */
static uint64_t distance(const struct search *search, uint64_t shift)
{
	return mapping_distance(shift, search->breaks.mapping->items[0].shift);
}

static bool is_nearer(const struct search *search, uint64_t shift, uint64_t other)
{
	uint64_t own = distance(search, shift), its = distance(search, other);

	return own != its ? own < its : shift < other;
}

/* The nearest come first. */
static void add_target(struct search *search, uint64_t shift)
{
	uint64_t *targets = search->targets;
	size_t at = search->target_count;

	while (at && is_nearer(search, shift, targets[at - 1]))
		at--;
	if (at == TARGETS_MAX)
		return;
	if (search->target_count < TARGETS_MAX)
		search->target_count++;
	memmove(&targets[at + 1], &targets[at], (search->target_count - 1 - at) * sizeof(*targets));
	targets[at] = shift;
}

/* The displacements of pieces that have this anchor. */
static void add_targets(struct search *search, const struct carve_anchor *anchor)
{
	struct workbench *bench = search->breaks.bench;
	uint64_t start = search->breaks.mapping->items[0].shift,
		 in_file = anchor->offset + anchor->word_at;
	const uint32_t *keys;
	uint32_t key;
	bool has_key =
		mapping_key(anchor, inner_hits_key_at(search->breaks.map, anchor->word), &key);
	size_t count;
	const uint64_t *hits = inner_hits_at(bench->hits, search->breaks.map, anchor->word,
		start + in_file, has_key ? &key : NULL, &keys, &count);

	for (size_t i = 0; i < count && workbench_goes_on(bench); i++) {
		uint64_t at = hits[i] - anchor->word_at, shift = at - anchor->offset;

		workbench_spend(bench, HIT_WORK);
		if (distance(search, shift) % search->breaks.size == 0 &&
			hits[i] >= anchor->word_at && mapping_is_there(bench, anchor, at))
			add_target(search, shift);
	}
}

static void add_later(void *context, uint64_t shift)
{
	add_target(context, shift);
}

/* Adds the displacements with which other bytes, after those of the CRC, have their own sum. */
static void add_later_targets(struct search *search)
{
	const struct carve_sum *sum = &search->breaks.sum;
	struct sum_breaks later;

	if (search->breaks.order != SUM_OF_WORDS || sum->later_from >= sum->later_to)
		return;
	sum_breaks_init(&later, search->breaks.bench);
	later.mapping = search->breaks.mapping;
	later.sum = (struct carve_sum){
		.from = sum->later_from, .to = sum->later_to, .after = sum->later
	};
	sum_breaks_place(&later);
	sum_breaks_find_whole(&later, add_later, search);
}

static void try_targets(struct search *search)
{
	for (size_t i = 0; i < search->target_count; i++)
		sum_breaks_try_one(&search->breaks, search->targets[i]);
	for (size_t i = 0;
		i < search->target_count && i < TARGETS_NEAR && !search->breaks.hit_count; i++)
		sum_breaks_try_two(&search->breaks, search->targets[i], SUM_HITS_MAX, 0);
}

static void search_breaks(struct search *search)
{
	const struct carve_sum *sum = &search->breaks.sum;

	if ((!sum->next_count && !sum->stored) || search->breaks.order == SUM_OF_WORDS)
		sum_breaks_try_ends(&search->breaks);
	try_targets(search);
	if (search->breaks.hit_count || search->breaks.too_many)
		return;
	search->target_count = 0;
	add_later_targets(search);
	try_targets(search);
}

/* The file goes on elsewhere right after what is known: each of the displacements is a hit. */
static void add_ends(struct search *search)
{
	const struct carve_sum *sum = &search->breaks.sum;

	for (size_t i = 0; i < search->target_count; i++) {
		struct stretch piece = {
			.shift = search->targets[i], .has_joint = true, .joint = sum->to
		};

		sum_breaks_add(&search->breaks, &(struct sum_hit){ 1, { piece } });
	}
}

/* Searches the breaks in the bytes of one CRC. */
static void search_sum(struct search *search)
{
	const struct carve_sum *sum = &search->breaks.sum;

	sum_breaks_place(&search->breaks);
	search->target_count = 0;
	search->tested_before = search->breaks.bench->tested;
	for (unsigned i = 0; i < sum->next_count && i < CARVE_NEXT; i++)
		add_targets(search, &sum->next[i]);
	if (sum->from == sum->to && sum->from == search->breaks.first)
		add_ends(search);
	if (!sum_breaks_open(&search->breaks))
		return;
	search_breaks(search);
	sum_breaks_close(&search->breaks);
}

/* Reads the first CRC that does not agree with what is known. False: all do. */
static bool read_sum(struct search *search)
{
	struct extents extents = { 0 };
	bool found = false;

	search->breaks.sum = (struct carve_sum){ 0 };
	if (mapping_lay_out(search->breaks.bench, search->breaks.mapping, &extents)) {
		workbench_open(search->breaks.bench, &extents);
		found = search->breaks.map->sum(search->breaks.bench->view, &search->breaks.sum);
		workbench_close(search->breaks.bench);
	}
	extents_free(&extents);
	return found;
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Adds pieces until no CRC is wrong. False: none are found. */
static bool find_pieces(struct search *search)
{
	struct mapping *mapping = search->breaks.mapping;
	uint64_t agreed = 0;

	while (mapping->count <= PIECES_MAX && workbench_goes_on(search->breaks.bench)) {
		if (!read_sum(search))
			return mapping->count > 1;
		if (search->breaks.sum.from < agreed ||
			search->breaks.sum.to < search->breaks.sum.from)
			return false;
		search_sum(search);
		if (!take_best(search))
			return false;
		agreed = search->breaks.sum.to;
	}
	return false;
}

/* What the joint that is proved least is worth: each was found among trials of its own. What the carver finds besides the sum may
 * only show that the displacements are right, whatever the breaks: no other break is refused by more than the sum. */
static uint32_t least_evidence(const struct search *search)
{
	const struct mapping *mapping = search->breaks.mapping;
	uint32_t least = UINT32_MAX;

	for (size_t i = 1; i < mapping->count; i++) {
		const struct stretch *stretch = &mapping->items[i];
		uint32_t chance = stretch->chance + workbench_bits(mapping->count - 1);
		uint32_t bits = view_proof(search->breaks.bench->view, stretch->joint);

		bits = bits > chance ? bits - chance : 0;
		if (bits > SUM_BITS - stretch->near)
			bits = SUM_BITS - stretch->near;
		least = bits < least ? bits : least;
	}
	/* The trials of all will be taken off. */
	return least + workbench_bits(search->breaks.bench->tested);
}

/* Whether all pieces have the bytes of the others that the CRCs agree with as well: else they may be a copy's, which goes on
 * otherwise after the CRC's end. How far the carver gets with each shows nothing, as the right piece may end soon. Sums of
 * words are in the file's head, of all that follows. */
static bool are_unique(struct search *search, uint64_t length)
{
	const struct mapping *mapping = search->breaks.mapping;

	if (search->breaks.order == SUM_OF_WORDS)
		return true;
	for (size_t i = 0; i < search->other_count; i++) {
		const struct other *other = &search->others[i];
		const struct stretch *piece = &mapping->items[other->number];
		uint64_t end = other->number + 1 < mapping->count ? piece[1].joint : length;

		if (end > piece->joint &&
			!workbench_is_same(search->breaks.bench, piece->joint + piece->shift,
				piece->joint + other->shift, end - piece->joint))
			return false;
	}
	return !search->too_many_others;
}

/* Whether the carver finds the whole complete. */
static bool accept(struct search *search, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	struct workbench *bench = search->breaks.bench;
	struct extents whole = { 0 };
	uint32_t least_bits;

	if (mapping_lay_out(bench, search->breaks.mapping, &whole) &&
		workbench_try(bench, &whole, outcome)) {
		if (whole.count == search->breaks.mapping->count &&
			workbench_prove(bench, &whole, outcome, &least_bits, NULL)) {
			assembly->evidence = least_evidence(search);
			if (!are_unique(search, outcome->length))
				assembly->evidence = 0;
			*extents = whole;
			return true;
		}
		outcome_free(outcome);
	}
	extents_free(&whole);
	return false;
}

bool find_by_sum(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	const struct clusters *clusters = bench->clusters;
	const struct carve_map *map = bench->rule->carver->map;
	const struct sum_hit head = { 1, { { .shift = broken->start, .has_joint = true } } };
	struct mapping mapping = { 0 };
	struct search *search;
	bool found;

	if (!map || !map->sum || broken->start % clusters->size != clusters->origin)
		return false;
	search = xcalloc(1, sizeof(*search));
	sum_breaks_init(&search->breaks, bench);
	search->breaks.mapping = &mapping;
	sum_hit_add(&mapping, &head);
	found = find_pieces(search) && accept(search, extents, outcome, assembly);
	free(search);
	mapping_free(&mapping);
	return found;
}
