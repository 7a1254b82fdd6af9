/* Makes the automaton of gpu/ac.h: chooses keywords, grows their trie, and fills in its transitions
 * level by level. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/ac.h"
#include "gpu/rarity.h"
#include "rules/pattern.h"

#define VARIANTS_MAX 128       /* of one keyword; a byte with one fixed bit has so many */
#define TABLE_MAX (1ull << 30) /* bytes of the transition table, as 32-bit states */
#define WEIGHED_MAX 16         /* bytes of a run that are weighed: more make no difference */
#define NONE UINT32_MAX

struct keyword {
	uint32_t back, len;
	uint32_t variants;
};

struct ac_program {
	struct ac_tables tables;
};

/* The trie, then the automaton, in the making. */
struct trie {
	uint32_t columns;
	uint8_t classes[256];
	uint32_t *next; /* rows of `columns`; NONE where the trie has no child */
	size_t state_count, state_capacity;
	uint32_t *fail, *order; /* order: states by depth */
	uint16_t *depths;
	uint32_t *first; /* of each state, its newest end, or NONE */
	struct end {
		struct ac_record record;
		uint32_t following;
	} * ends;
	size_t end_count, end_capacity;
};

const struct ac_tables *ac_tables(const struct gpu_program *program)
{
	return &((const struct ac_program *)program)->tables;
}

/* ---- keywords ---- */

static uint32_t byte_variants(uint8_t mask)
{
	return 1u << (8 - __builtin_popcount(mask));
}

/*
 * The run of at most `longest` bytes, with no more than VARIANTS_MAX ways to fill its wild bits,
 * that is the rarest on disks: of "BM ?? ?? 00 00 00" not the zeros. Every pattern has one, be it a
 * byte with several variants: a mask is never all 0. A pattern without wild bits that is short
 * enough is its own keyword, and its matches need no confirmation.
 */
static struct keyword choose_keyword(
	const struct pattern *pattern, uint32_t longest, const float share[RARITY_KINDS][256])
{
	struct keyword best = { 0 };
	double least = 2;
	for (uint32_t back = 0; back < pattern->len; back++) {
		struct keyword keyword = { back, 0, 1 };
		while (back + keyword.len < pattern->len && keyword.len < longest) {
			uint8_t mask = pattern->mask[back + keyword.len];
			if (!mask || keyword.variants * byte_variants(mask) > VARIANTS_MAX)
				break;
			keyword.variants *= byte_variants(mask);
			keyword.len++;
		}
		if (keyword.len == 0)
			continue;
		uint32_t weighed = keyword.len < WEIGHED_MAX ? keyword.len : WEIGHED_MAX;
		double rate =
			rarity_run(share, pattern->bytes + back, pattern->mask + back, weighed);
		if (rate < least) {
			least = rate;
			best = keyword;
		}
		if (keyword.len == pattern->len - back)
			break; /* a later start gives no more */
	}
	return best;
}

/* An upper bound of the states that the keywords make: in depth 1 and 2 there are no more than
 * bytes allow. */
static uint64_t states_bound(uint64_t sum, uint32_t limit)
{
	uint64_t most = limit == 1 ? 256 : limit == 2 ? 256 + 65536 : UINT64_MAX;
	return 1 + (sum < most ? sum : most);
}

/* Chooses keywords, with the largest limit of their length with which the table stays within
 * TABLE_MAX; 2 always does. */
static void choose_keywords(
	struct keyword *keywords, const struct pattern_set *set, uint32_t columns)
{
	static const uint32_t limits[] = { 4096, 64, 32, 16, 12, 8, 6, 4, 3, 2 };
	float share[RARITY_KINDS][256];
	rarity_bytes(share);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		uint64_t sum = 0;
		for (uint32_t p = 0; p < set->count; p++) {
			keywords[p] = choose_keyword(&set->patterns[p], limits[i], share);
			sum += (uint64_t)keywords[p].len * keywords[p].variants;
		}
		if (states_bound(sum, limits[i]) * columns * sizeof(uint32_t) <= TABLE_MAX)
			return;
	}
}

/* A column for each byte that any keyword can contain, and one for all others. */
static void make_classes(struct trie *trie, const struct pattern_set *set)
{
	bool used[256] = { false };
	for (uint32_t p = 0; p < set->count; p++)
		for (uint32_t i = 0; i < set->patterns[p].len; i++) {
			uint8_t mask = set->patterns[p].mask[i], value = set->patterns[p].bytes[i];
			for (unsigned byte = 0; mask && byte < 256; byte++)
				used[byte] |= (byte & mask) == (value & mask);
		}
	unsigned unused = 0;
	for (unsigned byte = 0; byte < 256; byte++)
		unused += !used[byte];
	trie->columns = unused ? 1 : 0;
	for (unsigned byte = 0; byte < 256; byte++)
		trie->classes[byte] = used[byte] ? (uint8_t)trie->columns++ : 0;
}

/* ---- the trie ---- */

static uint32_t add_state(struct trie *trie, unsigned depth)
{
	if (trie->state_count == trie->state_capacity) {
		trie->state_capacity = trie->state_capacity ? trie->state_capacity * 2 : 64;
		trie->next = xreallocarray(
			trie->next, trie->state_capacity, trie->columns * sizeof(*trie->next));
		trie->depths =
			xreallocarray(trie->depths, trie->state_capacity, sizeof(*trie->depths));
		trie->first =
			xreallocarray(trie->first, trie->state_capacity, sizeof(*trie->first));
	}
	uint32_t state = (uint32_t)trie->state_count++;
	memset(trie->next + (size_t)state * trie->columns, 0xff,
		trie->columns * sizeof(*trie->next));
	trie->depths[state] = (uint16_t)depth;
	trie->first[state] = NONE;
	return state;
}

/* Adds one variant: the keyword's bytes with `choice`, a number in mixed base, spread over their
 * wild bits. */
static void add_variant(struct trie *trie, const struct pattern *pattern,
	const struct keyword *keyword, uint32_t choice, uint32_t id)
{
	uint32_t state = 0;
	for (uint32_t i = 0; i < keyword->len; i++) {
		uint8_t mask = pattern->mask[keyword->back + i];
		uint8_t byte = pattern->bytes[keyword->back + i] & mask;
		for (unsigned bit = 0; bit < 8; bit++)
			if (!(mask >> bit & 1)) {
				byte |= (uint8_t)((choice & 1) << bit);
				choice >>= 1;
			}
		uint32_t *child = &trie->next[(size_t)state * trie->columns + trie->classes[byte]];
		if (*child == NONE) {
			size_t at = child - trie->next;
			uint32_t made = add_state(trie, i + 1);
			trie->next[at] = made; /* the array may have moved */
			state = made;
		} else {
			state = *child;
		}
	}
	bool exact = keyword->len == pattern->len && keyword->variants == 1;
	trie->ends = xgrow(trie->ends, &trie->end_capacity, trie->end_count, sizeof(*trie->ends));
	trie->ends[trie->end_count] =
		(struct end){ { id, (uint16_t)keyword->back, (uint16_t)keyword->len, exact },
			trie->first[state] };
	trie->first[state] = (uint32_t)trie->end_count++;
}

/* Turns the trie into an automaton: level by level, what a state lacks it takes from its longest
 * suffix. */
static void complete(struct trie *trie)
{
	trie->fail = xcalloc(trie->state_count, sizeof(*trie->fail));
	trie->order = xcalloc(trie->state_count, sizeof(*trie->order));
	size_t queued = 1;
	for (size_t i = 0; i < trie->state_count; i++) {
		uint32_t state = trie->order[i];
		uint32_t *row = trie->next + (size_t)state * trie->columns;
		const uint32_t *suffix = trie->next + (size_t)trie->fail[state] * trie->columns;
		for (uint32_t column = 0; column < trie->columns; column++) {
			uint32_t child = row[column];
			if (child == NONE) {
				row[column] = state ? suffix[column] : 0;
				continue;
			}
			trie->fail[child] = state ? suffix[column] : 0;
			trie->order[queued++] = child;
		}
	}
}

/* ---- the tables ---- */

/* Fills in number (the final number of each state) and link (of each state, the accepting state to
 * go on with: old number, or NONE). */
static uint32_t number_states(const struct trie *trie, uint32_t *number, uint32_t *link)
{
	uint32_t plain = 0;
	for (size_t i = 0; i < trie->state_count; i++) {
		uint32_t state = trie->order[i], fail = trie->fail[state];
		link[state] = NONE;
		if (state)
			link[state] = trie->first[fail] != NONE ? fail : link[fail];
		if (trie->first[state] == NONE && link[state] == NONE)
			number[state] = plain++;
	}
	uint32_t accepting = plain;
	for (size_t i = 0; i < trie->state_count; i++) {
		uint32_t state = trie->order[i];
		if (trie->first[state] != NONE || link[state] != NONE)
			number[state] = accepting++;
	}
	return plain;
}

static void make_outputs(struct ac_tables *tables, const struct trie *trie, const uint32_t *number,
	const uint32_t *link)
{
	struct ac_output *outputs =
		xcalloc(trie->state_count - tables->accepting, sizeof(*outputs));
	struct ac_record *records = xcalloc(trie->end_count, sizeof(*records));
	for (size_t state = 0; state < trie->state_count; state++) {
		if (number[state] < tables->accepting)
			continue;
		struct ac_output *output = &outputs[number[state] - tables->accepting];
		output->first = tables->record_count;
		for (uint32_t end = trie->first[state]; end != NONE;
			end = trie->ends[end].following)
			records[tables->record_count++] = trie->ends[end].record;
		output->count = tables->record_count - output->first;
		output->link = link[state] == NONE ? 0 : number[link[state]];
	}
	tables->outputs = outputs;
	tables->records = records;
}

static void make_transitions(
	struct ac_tables *tables, const struct trie *trie, const uint32_t *number)
{
	size_t columns = trie->columns;
	bool wide = trie->state_count > 65536;
	uint16_t *next16 = wide ? NULL : xcalloc(trie->state_count, columns * sizeof(*next16));
	uint32_t *next32 = wide ? xcalloc(trie->state_count, columns * sizeof(*next32)) : NULL;
	uint16_t *depths = xcalloc(trie->state_count, sizeof(*depths));
	for (size_t state = 0; state < trie->state_count; state++) {
		const uint32_t *row = trie->next + state * columns;
		size_t at = number[state] * columns;
		depths[number[state]] = trie->depths[state];
		for (size_t column = 0; column < columns; column++)
			if (wide)
				next32[at + column] = number[row[column]];
			else
				next16[at + column] = (uint16_t)number[row[column]];
	}
	tables->next16 = next16;
	tables->next32 = next32;
	tables->depths = depths;
}

static void make_tables(struct ac_tables *tables, const struct trie *trie)
{
	uint32_t *number = xcalloc(trie->state_count, sizeof(*number));
	uint32_t *link = xcalloc(trie->state_count, sizeof(*link));
	uint8_t *classes = xmalloc(256);
	memcpy(classes, trie->classes, 256);
	tables->classes = classes;
	tables->columns = trie->columns;
	tables->state_count = (uint32_t)trie->state_count;
	tables->accepting = number_states(trie, number, link);
	make_outputs(tables, trie, number, link);
	make_transitions(tables, trie, number);
	free(number);
	free(link);
}

static void trie_free(struct trie *trie)
{
	free(trie->next);
	free(trie->fail);
	free(trie->order);
	free(trie->depths);
	free(trie->first);
	free(trie->ends);
}

/* ---- the rows' functions ---- */

int ac_compile(struct gpu_program **program, const struct pattern_set *set, struct error *error)
{
	(void)error; /* it takes every set */
	struct trie trie = { 0 };
	struct keyword *keywords = xcalloc(set->count, sizeof(*keywords));
	struct ac_program *ac = xcalloc(1, sizeof(*ac));
	make_classes(&trie, set);
	choose_keywords(keywords, set, trie.columns);
	add_state(&trie, 0);
	for (uint32_t p = 0; p < set->count; p++) {
		for (uint32_t choice = 0; choice < keywords[p].variants; choice++)
			add_variant(&trie, &set->patterns[p], &keywords[p], choice, p);
		if (keywords[p].back > ac->tables.reach)
			ac->tables.reach = keywords[p].back;
	}
	complete(&trie);
	make_tables(&ac->tables, &trie);
	confirm_build(&ac->tables.confirm, set, NULL, 0);
	trie_free(&trie);
	free(keywords);
	*program = (struct gpu_program *)ac;
	return 0;
}

void ac_free(struct gpu_program *program)
{
	struct ac_program *ac = (struct ac_program *)program;
	if (!ac)
		return;
	free((void *)ac->tables.next16);
	free((void *)ac->tables.next32);
	free((void *)ac->tables.classes);
	free((void *)ac->tables.depths);
	free((void *)ac->tables.outputs);
	free((void *)ac->tables.records);
	confirm_free(&ac->tables.confirm);
	free(ac);
}

/* A lookup for every byte: in shared memory while the table fits, else through the caches while it
 * fits there. As measured. */
double ac_cost(const struct gpu_program *program)
{
	const struct ac_tables *tables = ac_tables(program);
	size_t len = (size_t)tables->state_count * tables->columns * (tables->next32 ? 4 : 2);
	return len < 150ul << 10 ? 110 : len < 8ul << 20 ? 170 : len < 64ul << 20 ? 240 : 850;
}

void ac_describe(const struct gpu_program *program, char *text, size_t len)
{
	const struct ac_tables *tables = ac_tables(program);
	snprintf(text, len, "ac (%u states of %u bits, %u columns)", tables->state_count,
		tables->next32 ? 32 : 16, tables->columns);
}
