/*
 * AVI's index 'idx1' says of each chunk in the list 'movi' its id, place and length; id and length are the 8 bytes at that
 * place. Places count from the list's type or from the file's start. Where the list ends, and with it where the index
 * is, follows from the file's start.
 */
#include "riff_avi.h"

#include <string.h>

#include "bytes.h"

#define ENTRY_LEN 16
#define HEAD_LEN 8    /* id and length of a chunk */
#define CHUNKS_MAX 64 /* before 'movi' */
#define INDEX_WORD 5  /* of avi_words */

/* clang-format off */
#define AVI_WORDS \
	{ 4, false, "00dc", 0 }, { 4, false, "00db", 0 }, { 4, false, "01wb", 0 }, \
	{ 4, false, "00wb", 0 }, { 4, false, "01dc", 0 }, { 4, true, "idx1", 0 }
/* clang-format on */

static bool find_movi(struct riff *riff, struct riff_chunk *chunk)
{
	for (unsigned i = 0; i < CHUNKS_MAX && riff_next(riff, chunk) == RIFF_CHUNK; i++) {
		const uint8_t *type =
			riff_is(chunk->id, "LIST") ? view_peek(riff->view, chunk->data, 4) : NULL;

		if (type && memcmp(type, "movi", 4) == 0)
			return true;
	}
	return false;
}

/* Where the index is, by the list's length. */
static bool read_head(struct view *view, struct carve_table *table)
{
	struct carve_anchor anchor = { .len = 4, .word = INDEX_WORD, .bytes = "idx1" };
	struct riff_chunk movi;
	struct riff riff;

	if (!riff_open(&riff, view, 0) || riff.big_endian || !riff_is(riff.form, "AVI ") ||
		!find_movi(&riff, &movi) || movi.end + HEAD_LEN > riff.end)
		return false;
	table->length = riff.end;
	table->at = anchor.offset = movi.end + (movi.end & 1);
	table->add(table, &anchor);
	return true;
}

/* Which word an id is; -1: none. */
static int find_word(const uint8_t *id)
{
	static const struct carve_word words[] = { AVI_WORDS };

	for (int i = 0; i < INDEX_WORD; i++)
		if (memcmp(id, words[i].bytes, 4) == 0)
			return i;
	return -1;
}

/* The end of the chunk that is farthest from where places count. */
static uint64_t find_last_end(struct view *view, uint64_t at, uint32_t len)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < len; i += ENTRY_LEN) {
		const uint8_t *p = view_peek(view, at + i, ENTRY_LEN);
		uint64_t end = p ? (uint64_t)le32(p + 8) + HEAD_LEN + le32(p + 12) : 0;

		if (!p)
			return 0;
		last = end > last ? end : last;
	}
	return last + (last & 1);
}

static bool add_entries(
	struct view *view, uint64_t at, uint32_t len, uint64_t base, struct carve_table *table)
{
	for (uint32_t i = 0; i < len; i += ENTRY_LEN) {
		struct carve_anchor anchor = { .len = HEAD_LEN };
		const uint8_t *p = view_peek(view, at + i, ENTRY_LEN);
		int word = p ? find_word(p) : -1;

		if (!p)
			return false;
		if (word < 0)
			continue;
		anchor.word = (uint8_t)word;
		anchor.offset = base + le32(p + 8);
		memcpy(anchor.bytes, p, 4);
		memcpy(anchor.bytes + 4, p + 12, 4);
		if (anchor.offset < table->at && !table->add(table, &anchor))
			break;
	}
	return true;
}

static bool read_tail(struct view *view, uint64_t at, struct carve_table *table)
{
	struct carve_anchor anchor = { .offset = table->at, .len = HEAD_LEN, .word = INDEX_WORD };
	const uint8_t *p = table->at ? view_peek(view, at, HEAD_LEN) : NULL;
	uint64_t last;
	uint32_t len;

	if (!p)
		return false;
	memcpy(anchor.bytes, p, HEAD_LEN);
	len = le32(p + 4);
	if (!len || len % ENTRY_LEN || len > view_size(view) - at - HEAD_LEN ||
		(table->length && (table->at + HEAD_LEN > table->length ||
					  len > table->length - table->at - HEAD_LEN)))
		return false;
	last = find_last_end(view, at + HEAD_LEN, len);
	if (!last || last > table->at || !table->add(table, &anchor))
		return false;
	table->from = table->at;
	return add_entries(view, at + HEAD_LEN, len, table->at - last, table);
}

/* Nothing verifies what is in a frame: so where a frame is in two pieces, only the size of clusters shows where they
 * meet, and that may be a guess. */
const struct carve_map riff_avi_map = {
	.words = { AVI_WORDS },
	.common = true,
	.head = read_head,
	.tail = read_tail,
};
