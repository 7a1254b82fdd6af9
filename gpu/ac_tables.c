/* Makes the automaton of gpu/ac.h from the trie of the keywords. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/ac.h"
#include "patterns/trie.h"

/* With a column for every byte, and 32 bits a state, they make a table of 1 GiB. */
#define STATES_MAX (1ull << 20)

struct ac_program {
	struct ac_tables tables;
};

const struct ac_tables *ac_tables(const struct gpu_program *program)
{
	return &((const struct ac_program *)program)->tables;
}

/* An upper bound of the states that keywords of this many bytes make: depths 1 and 2 have no more
 * than bytes allow. */
static uint64_t states_bound(uint64_t len, uint32_t longest)
{
	uint64_t most = longest == 1 ? 256 : longest == 2 ? 256 + 65536 : UINT64_MAX;
	return 1 + (len < most ? len : most);
}

uint32_t ac_longest(const struct pattern_set *set, uint32_t longest, uint64_t states_max)
{
	static const uint32_t limits[] = { 4096, 64, 32, 16, 12, 8, 6, 4, 3 };
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (limits[i] <= longest &&
			states_bound(keywords_len(set, limits[i]), limits[i]) <= states_max)
			return limits[i];
	return 2;
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

static void make_tables(struct ac_tables *tables, const struct trie *trie,
	const struct keyword_set *keywords, const struct pattern_set *set)
{
	uint32_t *number = xcalloc(trie->state_count, sizeof(*number));
	uint8_t *classes = xmalloc(256);
	memcpy(classes, trie->classes, 256);
	tables->classes = classes;
	tables->columns = trie->columns;
	automaton_build(&tables->automaton, number, trie, keywords, set);
	make_transitions(tables, trie, number);
	free(number);
}

/* ---- the rows' functions ---- */

struct gpu_program *ac_make(
	const struct pattern_set *set, uint32_t longest, enum trie_columns columns)
{
	struct ac_program *ac = xcalloc(1, sizeof(*ac));
	struct keyword_set keywords;
	struct trie trie;
	keywords_make(&keywords, set, longest);
	trie_grow(&trie, &keywords, columns, false);
	trie_link(&trie);
	trie_complete(&trie);
	make_tables(&ac->tables, &trie, &keywords, set);
	trie_free(&trie);
	keywords_free(&keywords);
	return (struct gpu_program *)ac;
}

int ac_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	(void)tuning; /* it has no options, */
	(void)error;  /* and takes every set */
	*program = ac_make(set, ac_longest(set, 4096, STATES_MAX), TRIE_CLASSES);
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
	automaton_free(&ac->tables.automaton);
	free(ac);
}

/* A lookup for every byte: in shared memory while the table fits, else through the caches while it
 * fits there. Measured. */
double ac_cost(const struct gpu_program *program)
{
	const struct ac_tables *tables = ac_tables(program);
	size_t len =
		(size_t)tables->automaton.state_count * tables->columns * (tables->next32 ? 4 : 2);
	return len < 150ul << 10 ? 110 : len < 8ul << 20 ? 170 : len < 64ul << 20 ? 240 : 850;
}

void ac_describe(const struct gpu_program *program, char *text, size_t len)
{
	const struct ac_tables *tables = ac_tables(program);
	snprintf(text, len, "ac (%u states of %u bits, %u columns)", tables->automaton.state_count,
		tables->next32 ? 32 : 16, tables->columns);
}
