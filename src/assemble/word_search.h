/*
 * Where words are in bytes of an image: what inner_hits.c finds with the processor, and a device for searches
 * (search_device.h) answers in the same way.
 */
#ifndef BURIN_ASSEMBLE_WORD_SEARCH_H
#define BURIN_ASSEMBLE_WORD_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WORDS_MAX 64
#define WORD_LEN_MIN 2
#define WORD_LEN_MAX 8
/* A hit's key: as many bytes, in which most places of the word differ, as a little-endian number. */
#define WORD_KEY 4
#define WORD_KEY_AT_MAX 64 /* from the word's start */
/* Bytes after a place that are looked at. */
#define WORD_AFTER (WORD_KEY_AT_MAX + WORD_KEY)
#define WORD_PAIRS 65536 /* values of two bytes */

struct search_word {
	uint8_t bytes[WORD_LEN_MAX]; /* zeros after the word */
	uint8_t len, key_at;
	uint8_t next; /* the next word that begins with the same two bytes, plus 1; 0: none */
};

/* Zero-initialise. */
struct word_set {
	struct search_word words[WORDS_MAX];
	size_t count;
	bool is_plain;  /* it is to be searched without vector instructions */
	bool has_zeros; /* one is nothing else */
	uint8_t classes
		[WORD_LEN_MIN]
		[256]; /* the words whose first and second byte a byte is, a bit for every eighth */
	uint8_t first[WORD_PAIRS]; /* the first word that begins with these bytes, plus 1 */
};

/* False: there is no room, or the word can't be searched: its length or key_at is out of bounds. */
bool word_set_add(struct word_set *set, const void *bytes, size_t len, size_t key_at);
/* Calls `found` for each word that begins in the first `step_len` of `len` bytes and is whole in them, in order of places; what
 * a key has past them is zeros. */
void word_set_search(const struct word_set *set, const uint8_t *bytes, size_t step_len, size_t len,
	void (*found)(void *context, unsigned word, size_t at, uint32_t key), void *context);

#ifdef __cplusplus
}
#endif

#endif
