/* Makes the tables of gpu/papers/stt.h: deals the keywords, and builds an automaton of each
 * hand. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "gpu/papers/stt.h"
#include "gpu/papers/stt_deal.h"

#define DEFAULT_PARTS 8
#define DEFAULT_CHUNK_LEN 256
#define DEFAULT_BLOCK_LEN 8192
#define THREADS_MIN 32
#define BLOCK_LEN_MAX 32768 /* with what is read beyond it, it fits 48 KiB of shared memory */
#define ROW_LEN (STT_COLUMNS * sizeof(uint32_t))
#define STATES_MAX ((1ull << 30) / ROW_LEN) /* of all tables together */

struct stt_program {
	struct stt_tables tables;
	struct stt_shape shape;
};

const struct stt_tables *stt_tables(const struct gpu_program *program)
{
	return &((const struct stt_program *)program)->tables;
}

void stt_shape(const struct gpu_program *program, struct stt_shape *shape)
{
	*shape = ((const struct stt_program *)program)->shape;
}

static double processor_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- dealing ---- */

static int compare_items(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* How many first bytes two keywords share. */
static uint32_t shared_len(const struct keyword *a, const struct keyword *b)
{
	uint32_t len = 0;

	while (len < a->len && len < b->len && a->bytes[len] == b->bytes[len])
		len++;
	return len;
}

/* The states of a hand's automaton: its keywords are in order, so each adds what it does not share
 * with the one before. */
static uint64_t count_states(const struct stt_hand *hand, const struct keyword_set *keywords)
{
	const struct keyword *last = NULL;
	uint64_t count = 1;

	for (uint32_t i = 0; i < hand->count; i++) {
		const struct keyword *keyword = &keywords->items[hand->items[i]];

		count += keyword->len - (last ? shared_len(last, keyword) : 0);
		last = keyword;
	}
	return count;
}

/* Returns the states of all hands. */
static uint64_t deal_out(
	struct stt_deal *deal, const struct keyword_set *keywords, uint32_t part_count)
{
	uint64_t count = 0;

	stt_deal_make(deal, keywords, part_count);
	stt_deal_balance(deal, keywords, stt_threshold(keywords->count));
	for (uint32_t i = 0; i < deal->count; i++) {
		struct stt_hand *hand = &deal->hands[i];

		if (!hand->count)
			continue;
		qsort(hand->items, hand->count, sizeof(*hand->items), compare_items);
		count += count_states(hand, keywords);
	}
	return count;
}

/* Keywords as long as can be, with which the tables are not too large, and who has them. */
static int choose_keywords(struct keyword_set *keywords, struct stt_deal *deal,
	const struct pattern_set *set, uint32_t part_count, double *seconds, struct error *error)
{
	static const uint32_t limits[] = { STT_LONGEST_MAX, 32, 16, 12, 8, 6, 4, 3, 2 };

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		uint64_t state_count;

		keywords_make(keywords, set, limits[i]);
		*seconds = -processor_seconds();
		state_count = deal_out(deal, keywords, part_count);
		*seconds += processor_seconds();
		if (state_count <= STATES_MAX)
			return 0;
		stt_deal_free(deal);
		keywords_free(keywords);
	}
	return error_set(error, EXIT_NO_ENGINE, ENOMEM,
		"the pattern set does not fit the kernels stt-*: their tables may have %llu states "
		"in all; use another kernel",
		STATES_MAX);
}

/* ---- building ---- */

/* A hand's keywords as a set of their own; the bytes stay where they are. */
static void take_hand(
	struct keyword_set *part, const struct keyword_set *all, const struct stt_hand *hand)
{
	uint32_t record_count = 0;

	for (uint32_t i = 0; i < hand->count; i++)
		record_count += all->items[hand->items[i]].count;
	memset(part, 0, sizeof(*part));
	part->items = xcalloc(hand->count, sizeof(*part->items));
	part->records = xcalloc(record_count, sizeof(*part->records));
	part->longest = all->longest;
	part->shortest = all->shortest;
	part->reach = all->reach; /* so that all parts have the same own bytes */
	for (uint32_t i = 0; i < hand->count; i++) {
		const struct keyword *keyword = &all->items[hand->items[i]];

		part->items[part->count] = *keyword;
		part->items[part->count++].first = part->record_count;
		memcpy(part->records + part->record_count, all->records + keyword->first,
			keyword->count * sizeof(*part->records));
		part->record_count += keyword->count;
	}
}

/* mark: the numbers of all keywords. */
static uint32_t *make_rows(const struct trie *trie, const uint32_t *number,
	const struct automaton *automaton, const struct stt_hand *hand, const uint32_t *mark)
{
	uint32_t *rows = xmalloc(trie->state_count * ROW_LEN);

	for (uint32_t state = 0; state < trie->state_count; state++) {
		uint32_t *row = rows + (size_t)number[state] * STT_COLUMNS;
		uint32_t accepting = automaton->accepting;

		row[STT_MATCHED] = 0;
		if (number[state] >= accepting) {
			uint32_t at = number[state] - accepting;

			row[STT_MATCHED] = mark[hand->items[automaton->outputs[at].keyword]];
		}
		for (unsigned byte = 0; byte < 256; byte++)
			row[STT_NEXT + byte] = number[trie_next(trie, state, (uint8_t)byte)];
	}
	return rows;
}

static void build_part(struct stt_part *part, const struct keyword_set *all,
	const struct stt_hand *hand, const struct pattern_set *set, const uint32_t *mark)
{
	struct keyword_set keywords;
	struct trie trie;
	uint32_t *number;

	take_hand(&keywords, all, hand);
	trie_grow(&trie, &keywords, TRIE_CLASSES, false);
	trie_link(&trie);
	trie_complete(&trie);
	number = xcalloc(trie.state_count, sizeof(*number));
	automaton_build(&part->automaton, number, &trie, &keywords, set);
	part->rows = make_rows(&trie, number, &part->automaton, hand, mark);
	free(number);
	trie_free(&trie);
	free(keywords.items);
	free(keywords.records);
}

static void build_parts(struct stt_program *stt, const struct keyword_set *keywords,
	const struct stt_deal *deal, const struct pattern_set *set, const uint32_t *mark)
{
	struct stt_tables *tables = &stt->tables;
	struct stt_shape *shape = &stt->shape;
	uint64_t len = 0;

	for (uint32_t i = 0; i < deal->count; i++) {
		const struct stt_hand *hand = &deal->hands[i];
		uint32_t at = tables->part_count;

		if (!hand->count)
			continue;
		build_part(&tables->parts[at], keywords, hand, set, mark);
		shape->parts[at].keyword_count = hand->count;
		shape->parts[at].state_count = tables->parts[at].automaton.state_count;
		shape->parts[at].len = shape->parts[at].state_count * ROW_LEN;
		len += hand->len;
		tables->part_count++;
	}
	tables->keyword_count = keywords->count;
	tables->longest = keywords->longest;
	shape->part_count = tables->part_count;
	shape->average_len = keywords->count ? (double)len / keywords->count : 0;
}

/* ---- the array for the matches of all tables ---- */

/* Numbers the keywords from 1 by length, shorter ones first: the counts of the lengths say where each
 * length begins. */
static uint32_t *number_keywords(const struct keyword_set *keywords)
{
	uint32_t *mark = xcalloc((size_t)keywords->count + 1, sizeof(*mark));
	uint32_t next[STT_LONGEST_MAX + 2] = { 0 };

	for (uint32_t i = 0; i < keywords->count; i++)
		next[keywords->items[i].len + 1]++;
	next[0] = 1;
	for (uint32_t len = 1; len <= STT_LONGEST_MAX; len++)
		next[len] += next[len - 1];
	for (uint32_t i = 0; i < keywords->count; i++)
		mark[i] = next[keywords->items[i].len]++;
	return mark;
}

/* The keywords by their numbers, each with the longest other one that it ends with. */
static void build_matches(struct automaton *matches, const struct keyword_set *keywords,
	const struct pattern_set *set, const uint32_t *mark)
{
	struct automaton_output *outputs = xcalloc((size_t)keywords->count + 1, sizeof(*outputs));
	struct trie trie;

	trie_grow(&trie, keywords, TRIE_CLASSES, false);
	trie_link(&trie);
	for (uint32_t state = 0; state < trie.state_count; state++) {
		uint32_t keyword = trie.keywords[state], shorter = trie.output[state];

		if (keyword != TRIE_NONE)
			outputs[mark[keyword] - 1] = (struct automaton_output){ keyword,
				shorter == TRIE_NONE ? 0 : mark[trie.keywords[shorter]] };
	}
	trie_free(&trie);
	matches->outputs = outputs;
	matches->accepting = 1;
	matches->state_count = keywords->count + 1;
	found_build(&matches->found, keywords, set);
}

/* ---- the rows' functions ---- */

static bool is_power_of_two(uint32_t number)
{
	return number && !(number & (number - 1));
}

/* Fills in what a launch needs. A block's text has at least 4 bytes for each of its threads. */
static int take_tuning(
	struct stt_tables *tables, const struct gpu_tuning *tuning, struct error *error)
{
	static const struct gpu_tuning none;
	uint32_t threads;

	tuning = tuning ? tuning : &none;
	tables->no_diagonal = tuning->no_diagonal;
	tables->threads = threads = tuning->threads;
	tables->chunk_len = tuning->chunk_len ? tuning->chunk_len : DEFAULT_CHUNK_LEN;
	tables->block_len = tuning->block_len ? tuning->block_len : DEFAULT_BLOCK_LEN;
	if (tuning->parts > GPU_PARTS_MAX)
		return error_set(error, EXIT_USAGE, EINVAL,
			"the kernels stt-* divide the patterns into at most %d parts, not %u",
			GPU_PARTS_MAX, tuning->parts);
	if (threads &&
		(!is_power_of_two(threads) || threads < THREADS_MIN || threads > STT_THREADS_MAX))
		return error_set(error, EXIT_USAGE, EINVAL,
			"the kernels stt-* have a power of two from %d to %d threads a block, not "
			"%u",
			THREADS_MIN, STT_THREADS_MAX, threads);
	if (!is_power_of_two(tables->block_len) || tables->block_len > BLOCK_LEN_MAX ||
		tables->block_len < 4 * (threads ? threads : STT_MANY_THREADS))
		return error_set(error, EXIT_USAGE, EINVAL,
			"a block of stt-p2 has a power of two bytes of text, at most %d and at "
			"least 4 a thread, not %u",
			BLOCK_LEN_MAX, tables->block_len);
	return 0;
}

int stt_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	uint32_t part_count = tuning && tuning->parts ? tuning->parts : DEFAULT_PARTS, *mark;
	struct stt_tables tables = { 0 };
	struct keyword_set keywords;
	struct stt_program *stt;
	struct stt_deal deal;
	double dealing;
	int status = take_tuning(&tables, tuning, error);

	if (!status)
		status = choose_keywords(&keywords, &deal, set, part_count, &dealing, error);
	if (status)
		return status;
	stt = xcalloc(1, sizeof(*stt));
	stt->tables = tables;
	mark = number_keywords(&keywords);
	build_matches(&stt->tables.matches, &keywords, set, mark);
	stt->shape.seconds = dealing - processor_seconds();
	build_parts(stt, &keywords, &deal, set, mark);
	stt->shape.seconds += processor_seconds();
	free(mark);
	stt_deal_free(&deal);
	keywords_free(&keywords);
	*program = (struct gpu_program *)stt;
	return 0;
}

void stt_free(struct gpu_program *program)
{
	struct stt_program *stt = (struct stt_program *)program;

	if (!stt)
		return;
	for (uint32_t i = 0; i < stt->tables.part_count; i++) {
		free((void *)stt->tables.parts[i].rows);
		automaton_free(&stt->tables.parts[i].automaton);
	}
	automaton_free(&stt->tables.matches);
	free(stt);
}

void stt_describe(const struct gpu_program *program, char *text, size_t len)
{
	const struct stt_program *stt = (const struct stt_program *)program;
	uint64_t states = 0, largest = 0;

	for (uint32_t i = 0; i < stt->shape.part_count; i++) {
		states += stt->shape.parts[i].state_count;
		if (stt->shape.parts[i].state_count > largest)
			largest = stt->shape.parts[i].state_count;
	}
	snprintf(text, len, "stt (%u tables, %llu states, at most %llu in one%s)",
		stt->shape.part_count, (unsigned long long)states, (unsigned long long)largest,
		stt->tables.no_diagonal ? ", no diagonal" : "");
}
