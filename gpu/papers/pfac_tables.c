/*
 * Makes the failureless machine of gpu/papers/pfac.h: the trie of the keywords and nothing else,
 * for a thread that finds no transition is done. Its final states are numbered first, in the order
 * of the keywords, so that the number of the initial state is that of the keywords (section 4.3).
 */
#include "gpu/papers/pfac.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "patterns/trie.h"
#include "scan/gpu_options.h"

/* Keywords need not be short for PFAC; they are as long as those of `ac`. */
#define LONGEST_MAX 4096

struct pfac_program {
	struct pfac_tables tables;
	uint32_t longest; /* the most bytes of a keyword */
	bool cut;         /* some pattern is longer than its keyword, or has wild bits */
};

const struct pfac_tables *pfac_tables(const struct gpu_program *program)
{
	return &((const struct pfac_program *)program)->tables;
}

/* As long as the table allows; of two bytes there are never too many. */
static uint32_t make_keywords(struct keyword_set *keywords, const struct pattern_set *set)
{
	static const uint32_t limits[] = { LONGEST_MAX, 1024, 256, 64, 32, 16, 12, 8, 6, 4, 3, 2 };
	size_t i = 0;

	keywords_make(keywords, set, limits[i]);
	while (keywords_states(keywords) > PFAC_STATES_MAX) {
		keywords_free(keywords);
		keywords_make(keywords, set, limits[++i]);
	}
	return limits[i];
}

/* Final states get the numbers of their keywords; the initial one and the rest come after them. */
static uint32_t *number_states(const struct trie *trie, uint32_t initial)
{
	uint32_t *number = xcalloc(trie->state_count, sizeof(*number)), next = initial;

	for (uint32_t state = 0; state < trie->state_count; state++)
		number[state] = trie->keywords[state] != TRIE_NONE ? trie->keywords[state] : next++;
	return number;
}

static uint32_t merge(const struct pfac_tables *tables, uint32_t state)
{
	return state == PFAC_TRAP ? PFAC_TRAP_MERGED : state | tables->outputs[state] << 16;
}

static void fill_entries(
	uint32_t *entries, const struct pfac_tables *tables, const struct trie *trie)
{
	uint32_t *number = number_states(trie, tables->initial);

	for (uint32_t state = 0; state < trie->state_count; state++)
		for (unsigned byte = 0; byte < 256; byte++) {
			uint32_t child = trie_next(trie, state, (uint8_t)byte);
			uint32_t next = child == TRIE_NONE ? PFAC_TRAP : number[child];

			entries[(size_t)number[state] * 256 + byte] =
				tables->merged ? merge(tables, next) : next;
		}
	free(number);
}

static int make_tables(struct pfac_tables *tables, const struct trie *trie,
	const struct keyword_set *keywords, const struct pattern_set *set, struct error *error)
{
	uint32_t *outputs = xcalloc(trie->state_count, sizeof(*outputs));
	uint32_t *entries = malloc((size_t)trie->state_count * 256 * sizeof(*entries));

	for (uint32_t i = 0; i < keywords->count; i++)
		outputs[i] = i + 1;
	tables->outputs = outputs;
	tables->entries = entries;
	tables->state_count = trie->state_count;
	tables->initial = keywords->count;
	found_build(&tables->found, keywords, set);
	if (!entries)
		return error_set(error, EXIT_NO_ENGINE, ENOMEM,
			"the table of pfac, %u states of 1 KiB, does not fit into this machine's "
			"memory",
			trie->state_count);
	fill_entries(entries, tables, trie);
	return 0;
}

static bool any_cut(const struct keyword_set *keywords)
{
	for (uint32_t i = 0; i < keywords->record_count; i++)
		if (!keywords->records[i].whole)
			return true;
	return false;
}

static int compile(struct gpu_program **result, const struct pattern_set *set, bool merged,
	struct error *error)
{
	struct pfac_program *program = xcalloc(1, sizeof(*program));
	struct keyword_set keywords;
	struct trie trie;
	int status;

	program->longest = make_keywords(&keywords, set);
	program->cut = any_cut(&keywords);
	trie_grow(&trie, &keywords, TRIE_CLASSES, false);
	/* States up to 0xfffe, for 0xffff is the trap; there are fewer matches than states. */
	program->tables.merged = merged && trie.state_count <= PFAC_TRAP_MERGED;
	status = make_tables(&program->tables, &trie, &keywords, set, error);
	trie_free(&trie);
	keywords_free(&keywords);
	if (status)
		pfac_free((struct gpu_program *)program);
	else
		*result = (struct gpu_program *)program;
	return status;
}

/* ---- the rows' functions ---- */

int pfac_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	(void)tuning; /* nothing can be asked of it */
	return compile(program, set, false, error);
}

int pfac_compile_merged(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	return compile(program, set, !(tuning && tuning->unmerged), error);
}

void pfac_free(struct gpu_program *memory)
{
	struct pfac_program *program = (struct pfac_program *)memory;

	if (!program)
		return;
	free((void *)program->tables.entries);
	free((void *)program->tables.outputs);
	found_free(&program->tables.found);
	free(program);
}

void pfac_describe(const struct gpu_program *memory, char *text, size_t len)
{
	const struct pfac_program *program = (const struct pfac_program *)memory;
	const struct pfac_tables *tables = &program->tables;
	char cut[64] = "";

	if (program->cut)
		snprintf(cut, sizeof(cut), ", keywords of at most %u bytes confirmed",
			program->longest);
	snprintf(text, len, "pfac (%u states, %s entries%s)", tables->state_count,
		tables->merged ? "16+16-bit" : "32-bit", cut);
}

uint64_t pfac_lookups(const struct gpu_program *program, const struct gpu_text *text)
{
	const struct pfac_tables *tables = pfac_tables(program);
	struct pfac_view view = { .merged = tables->merged };
	uint64_t sum = 0;

	for (uint32_t at = text->from; at < text->to; at++)
		sum += pfac_search(tables, &view, at, text, NULL, NULL);
	return sum;
}
