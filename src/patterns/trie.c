#include "patterns/trie.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void make_classes(
	struct trie *trie, const struct keyword_set *keywords, enum trie_columns columns)
{
	bool used[256] = { false };
	unsigned unused = 0;

	for (uint32_t i = 0; i < keywords->count; i++)
		for (uint32_t k = 0; k < keywords->items[i].len; k++)
			used[keywords->items[i].bytes[k]] = true;
	for (unsigned byte = 0; byte < 256; byte++)
		unused += !used[byte];
	trie->columns = unused && columns == TRIE_CLASSES ? 1 : 0;
	for (unsigned byte = 0; byte < 256; byte++)
		if (columns == TRIE_BYTES || used[byte])
			trie->classes[byte] = (uint8_t)trie->columns++;
}

static uint32_t add_state(struct trie *trie, uint32_t depth)
{
	uint32_t state = trie->state_count++;

	if (state == trie->capacity) {
		trie->capacity = trie->capacity ? trie->capacity * 2 : 64;
		trie->next = xreallocarray(
			trie->next, trie->capacity, trie->columns * sizeof(*trie->next));
		trie->depths = xreallocarray(trie->depths, trie->capacity, sizeof(*trie->depths));
		trie->keywords =
			xreallocarray(trie->keywords, trie->capacity, sizeof(*trie->keywords));
	}
	memset(trie->next + (size_t)state * trie->columns, 0xff,
		trie->columns * sizeof(*trie->next));
	trie->depths[state] = (uint16_t)depth;
	trie->keywords[state] = TRIE_NONE;
	return state;
}

static void add_keyword(
	struct trie *trie, const struct keyword *keyword, uint32_t number, bool reversed)
{
	uint32_t state = 0;

	for (uint32_t i = 0; i < keyword->len; i++) {
		uint8_t byte = keyword->bytes[reversed ? keyword->len - 1 - i : i];
		size_t at = (size_t)state * trie->columns + trie->classes[byte];
		uint32_t child = trie->next[at];

		if (child == TRIE_NONE) {
			child = add_state(trie, i + 1);
			trie->next[at] = child; /* the array may have moved */
		}
		state = child;
	}
	trie->keywords[state] = number;
}

void trie_grow(struct trie *trie, const struct keyword_set *keywords, enum trie_columns columns,
	bool reversed)
{
	memset(trie, 0, sizeof(*trie));
	make_classes(trie, keywords, columns);
	add_state(trie, 0);
	for (uint32_t i = 0; i < keywords->count; i++)
		add_keyword(trie, &keywords->items[i], i, reversed);
}

/* The fail state of a child: the child of the longest suffix of its parent that has such a child. */
static uint32_t find_fail(const struct trie *trie, uint32_t parent, uint32_t column)
{
	while (parent) {
		uint32_t child;

		parent = trie->fail[parent];
		child = trie->next[(size_t)parent * trie->columns + column];
		if (child != TRIE_NONE)
			return child;
	}
	return 0;
}

void trie_link(struct trie *trie)
{
	uint32_t queued = 1;

	trie->order = xcalloc(trie->state_count, sizeof(*trie->order));
	trie->fail = xcalloc(trie->state_count, sizeof(*trie->fail));
	trie->output = xcalloc(trie->state_count, sizeof(*trie->output));
	for (uint32_t i = 0; i < trie->state_count; i++) {
		uint32_t state = trie->order[i], fail = trie->fail[state];

		trie->output[state] = TRIE_NONE;
		if (state)
			trie->output[state] =
				trie->keywords[fail] != TRIE_NONE ? fail : trie->output[fail];
		for (uint32_t column = 0; column < trie->columns; column++) {
			uint32_t child = trie->next[(size_t)state * trie->columns + column];

			if (child == TRIE_NONE)
				continue;
			trie->fail[child] = find_fail(trie, state, column);
			trie->order[queued++] = child;
		}
	}
}

void trie_complete(struct trie *trie)
{
	for (uint32_t i = 0; i < trie->state_count; i++) {
		uint32_t state = trie->order[i];
		uint32_t *row = trie->next + (size_t)state * trie->columns;
		const uint32_t *suffix = trie->next + (size_t)trie->fail[state] * trie->columns;

		for (uint32_t column = 0; column < trie->columns; column++)
			if (row[column] == TRIE_NONE)
				row[column] = state ? suffix[column] : 0;
	}
}

void trie_free(struct trie *trie)
{
	free(trie->next);
	free(trie->depths);
	free(trie->keywords);
	free(trie->order);
	free(trie->fail);
	free(trie->output);
	memset(trie, 0, sizeof(*trie));
}
