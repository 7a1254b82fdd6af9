/*
 * The trie of a set of keywords, and what Aho and Corasick (CACM 18, 1975) derive from it: the
 * supply (failure) function, the output function, and the automaton without failures. It is only
 * used to build tables; each algorithm copies what it needs, in the layout it needs.
 */
#ifndef BURIN_PATTERNS_TRIE_H
#define BURIN_PATTERNS_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "patterns/keywords.h"

#define TRIE_NONE UINT32_MAX

struct trie {
	uint32_t columns;     /* of a row: 256, or one for each class of bytes */
	uint8_t classes[256]; /* the column of a byte */
	uint32_t *next;       /* rows of children; TRIE_NONE for none. The root is state 0 */
	uint32_t state_count;
	uint16_t *depths;   /* of each state */
	uint32_t *keywords; /* of each state, the keyword that it spells, or TRIE_NONE */
	/* Set by trie_link: */
	uint32_t *order;  /* the states by depth */
	uint32_t *fail;   /* the supply function: the longest proper suffix that is a state */
	uint32_t *output; /* the longest proper suffix that is a keyword, or TRIE_NONE */
	size_t capacity;
};

enum trie_columns {
	TRIE_CLASSES, /* a column for each byte that occurs in a keyword, and one for all others */
	TRIE_BYTES,   /* a column for every byte */
};

/* Builds the trie; reversed: of the keywords read backwards. States are numbered in the order of
 * the sorted keywords, parents before children. trie_free when done. */
void trie_grow(struct trie *trie, const struct keyword_set *keywords, enum trie_columns columns,
	bool reversed);
/* Fills in order, fail and output. */
void trie_link(struct trie *trie);
/* After trie_link: fills the gaps in the rows from the supply function, which makes the
 * deterministic automaton. */
void trie_complete(struct trie *trie);
void trie_free(struct trie *trie);

/* The child of the state for a byte. */
static inline uint32_t trie_next(const struct trie *trie, uint32_t state, uint8_t byte)
{
	return trie->next[(size_t)state * trie->columns + trie->classes[byte]];
}

/* Whether a match ends in the state: of its own keyword or of a suffix. */
static inline bool trie_accepts(const struct trie *trie, uint32_t state)
{
	return trie->keywords[state] != TRIE_NONE || trie->output[state] != TRIE_NONE;
}

#endif
