/* Makes the reverse trie and the shift functions of gpu/papers/mbm.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/ac.h"
#include "gpu/papers/mbm.h"
#include "patterns/trie.h"

struct mbm_program {
	struct mbm_tables tables;
	unsigned stage; /* 0 .. 4 */
};

const struct mbm_tables *mbm_tables(const struct gpu_program *program)
{
	return &((const struct mbm_program *)program)->tables;
}

/* The children, with the nodes' new numbers; the trie must not be completed. */
static void make_children(
	struct mbm_tables *tables, const struct trie *trie, const uint32_t *number)
{
	bool wide = trie->state_count > 65536;
	uint16_t *next16 = wide ? NULL : xcalloc(trie->state_count, ZHA_COLUMNS * sizeof(*next16));
	uint32_t *next32 = wide ? xcalloc(trie->state_count, ZHA_COLUMNS * sizeof(*next32)) : NULL;

	for (uint32_t node = 0; node < trie->state_count; node++)
		for (unsigned byte = 0; byte < ZHA_COLUMNS; byte++) {
			uint32_t child = trie_next(trie, node, (uint8_t)byte);
			size_t at = (size_t)number[node] * ZHA_COLUMNS + byte;

			if (child == TRIE_NONE)
				continue;
			if (wide)
				next32[at] = number[child];
			else
				next16[at] = (uint16_t)number[child];
		}
	tables->next16 = next16;
	tables->next32 = next32;
}

/* char(c): a node's row has the bytes of the depth below it. */
static void make_chars(struct mbm_tables *tables, const struct trie *trie)
{
	uint16_t *chars = xcalloc(ZHA_COLUMNS, sizeof(*chars));

	for (unsigned byte = 0; byte < ZHA_COLUMNS; byte++)
		chars[byte] = (uint16_t)(tables->shortest + 1);
	for (uint32_t node = 0; node < trie->state_count; node++)
		for (unsigned byte = 0; byte < ZHA_COLUMNS; byte++)
			if (trie_next(trie, node, (uint8_t)byte) != TRIE_NONE &&
				trie->depths[node] + 1u < chars[byte])
				chars[byte] = (uint16_t)(trie->depths[node] + 1);
	tables->chars = chars;
}

static void lower(uint16_t *shift, unsigned distance)
{
	if (distance < *shift)
		*shift = (uint16_t)distance;
}

/*
 * The nodes whose string ends with that of v are those from which the supply function leads to v.
 * The nearest of them leads there in one step, so one step from every node gives shift1. The
 * nearest whole keyword may be several steps away: each keyword's node goes all of its way. A
 * keyword has no more steps than bytes, and those not less than the shortest one's length change
 * nothing.
 */
static void lower_shifts(
	struct mbm_shift *shifts, const struct trie *trie, uint32_t node, uint32_t shortest)
{
	uint32_t suffix = trie->fail[node];

	lower(&shifts[suffix].first, trie->depths[node] - trie->depths[suffix]);
	if (trie->keywords[node] == TRIE_NONE)
		return;
	while ((uint32_t)(trie->depths[node] - trie->depths[suffix]) < shortest) {
		lower(&shifts[suffix].second, trie->depths[node] - trie->depths[suffix]);
		if (!suffix)
			break;
		suffix = trie->fail[suffix];
	}
}

static void make_shifts(struct mbm_tables *tables, const struct trie *trie, const uint32_t *number)
{
	struct mbm_shift *shifts = xcalloc(trie->state_count, sizeof(*shifts));
	struct mbm_shift *numbered = xcalloc(trie->state_count, sizeof(*numbered));

	for (uint32_t node = 0; node < trie->state_count; node++)
		shifts[node] = (struct mbm_shift){ (uint16_t)tables->shortest,
			(uint16_t)tables->shortest };
	for (uint32_t node = 1; node < trie->state_count; node++)
		lower_shifts(shifts, trie, node, tables->shortest);
	/* Handed down: a parent's number is lower than its children's. */
	for (uint32_t node = 0; node < trie->state_count; node++) {
		for (unsigned byte = 0; byte < ZHA_COLUMNS; byte++) {
			uint32_t child = trie_next(trie, node, (uint8_t)byte);

			if (child != TRIE_NONE)
				lower(&shifts[child].second, shifts[node].second);
		}
		numbered[number[node]] = shifts[node];
	}
	free(shifts);
	tables->shifts = numbered;
}

int mbm_compile(struct gpu_program **result, unsigned stage, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	struct mbm_program *program = xcalloc(1, sizeof(*program));
	struct mbm_tables *tables = &program->tables;
	struct keyword_set keywords;
	struct trie trie;
	uint32_t *number;

	(void)tuning; /* nothing can be asked of it, */
	(void)error;  /* and it takes every set */
	keywords_make(&keywords, set, ac_longest(set, ZHA_MAXL, ZHA_STATES_MAX));
	trie_grow(&trie, &keywords, TRIE_BYTES, true);
	trie_link(&trie);
	program->stage = stage;
	tables->shortest = keywords.shortest;
	tables->longest = keywords.longest;
	number = xcalloc(trie.state_count, sizeof(*number));
	automaton_build(&tables->automaton, number, &trie, &keywords, set);
	make_children(tables, &trie, number);
	make_chars(tables, &trie);
	make_shifts(tables, &trie, number);
	free(number);
	trie_free(&trie);
	keywords_free(&keywords);
	*result = (struct gpu_program *)program;
	return 0;
}

void mbm_free(struct gpu_program *memory)
{
	struct mbm_program *program = (struct mbm_program *)memory;

	if (!program)
		return;
	free((void *)program->tables.next16);
	free((void *)program->tables.next32);
	free((void *)program->tables.shifts);
	free((void *)program->tables.chars);
	automaton_free(&program->tables.automaton);
	free(program);
}

void mbm_describe(const struct gpu_program *memory, char *text, size_t len)
{
	const struct mbm_program *program = (const struct mbm_program *)memory;
	const struct mbm_tables *tables = &program->tables;

	snprintf(text, len, "mbm%u (%u nodes of %u bits, keywords of %u to %u bytes)",
		program->stage, tables->automaton.state_count, tables->next32 ? 32 : 16,
		tables->shortest, tables->longest);
}
