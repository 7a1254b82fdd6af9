/*
 * Each chunk of a PNG has its length: after one whose CRC is wrong the next one is to be found where it
 * ends. Pictures have several IDAT chunks of the same length, or of one whose first two bytes are zeros;
 * text and the time may follow them, and the last chunk, IEND, is the same in all of them.
 */
#include "png.h"

#include <string.h>

#include "bytes.h"
#include "walk.h"

#define CHUNK_LEN 12 /* without data */

/* The words of the map. */
enum { WORD_DATA, WORD_END, WORD_TEXT, WORD_LONG_TEXT, WORD_TIME };

static bool add(struct carve_table *table, uint64_t at, const uint8_t *bytes, size_t len,
	uint8_t word, uint64_t any)
{
	struct carve_anchor anchor = {
		.offset = at, .len = (uint8_t)len, .word = word, .word_at = 4, .any = any
	};

	memcpy(anchor.bytes, bytes, len);
	return table->add(table, &anchor);
}

/* What the next chunk after picture data may be; `data` is the length and type of the data before. */
static void expect_next(struct carve_table *table, uint64_t at, const uint8_t *data, bool has_texts)
{
	static const uint8_t end[] = "\0\0\0\0IEND\xae\x42\x60\x82", other[] = "\0\0\0\0IDAT";
	static const uint8_t text[] = "\0\0\0\0tEXt", long_text[] = "\0\0\0\0iTXt";
	static const uint8_t time[] = "\0\0\0\7tIME";

	add(table, at, data, 8, WORD_DATA, 0);
	add(table, at, end, 12, WORD_END, 0);
	add(table, at, other, 8, WORD_DATA, 3 << 2);
	if (!has_texts)
		return;
	add(table, at, text, 8, WORD_TEXT, 3 << 2);
	add(table, at, long_text, 8, WORD_LONG_TEXT, 3 << 2);
	add(table, at, time, 8, WORD_TIME, 0);
}

/* A walk along the chunks whose CRCs match. */
struct chunk_walk {
	struct view *view;
	uint64_t at;     /* of the chunk, and */
	uint64_t end;    /* after it, if its head is one */
	uint8_t head[8]; /* its length and type */
	uint8_t data[9]; /* the same of the picture data before; or, at first, what is usual */
	bool is_chunk;
};

/* Goes to the next chunk. False: its CRC does not match, or there is none. */
static bool next_chunk(struct chunk_walk *walk)
{
	const uint8_t *p = view_peek(walk->view, walk->at, 8);
	uint32_t crc = 0;

	walk->is_chunk = false;
	if (!p || memcmp(walk->head + 4, "IEND", 4) == 0)
		return false;
	memcpy(walk->head, p, 8);
	walk->is_chunk = be32(p) <= INT32_MAX && png_type_valid((const char *)p + 4);
	walk->end = walk->at + 12 + be32(p);
	if (!walk->is_chunk || !walk_crc32(walk->view, walk->at + 4, (uint64_t)be32(p) + 4, &crc))
		return false;
	p = view_peek(walk->view, walk->end - 4, 4);
	return p && be32(p) == crc;
}

/* Whether the walk came to an end because the picture did. */
static bool has_ended(const struct chunk_walk *walk)
{
	return !walk->is_chunk && memcmp(walk->head + 4, "IEND", 4) == 0;
}

static bool is_data(const struct chunk_walk *walk)
{
	return memcmp(walk->head + 4, "IDAT", 4) == 0;
}

static void pass_chunk(struct chunk_walk *walk)
{
	if (is_data(walk))
		memcpy(walk->data, walk->head, 8);
	walk->at = walk->end;
}

static struct chunk_walk start(struct view *view, uint64_t at)
{
	return (struct chunk_walk){ .view = view, .at = at + 8, .data = "\0\0\x20\0IDAT" };
}

static bool read_chunks(struct view *view, struct carve_table *table)
{
	struct chunk_walk walk = start(view, 0);

	for (; next_chunk(&walk); pass_chunk(&walk))
		if (is_data(&walk) && !add(table, walk.at, walk.head, 8, WORD_DATA, 0))
			return true;
	if (has_ended(&walk))
		return true;
	/* Its own head may be another file's. */
	expect_next(table, walk.at, walk.data, true);
	if (walk.is_chunk && is_data(&walk))
		expect_next(table, walk.end, walk.head, true);
	return true;
}

/* What may follow a chunk. */
struct followers {
	struct carve_table table; /* first: add_follower finds the rest */
	struct carve_sum *sum;
};

static bool add_follower(struct carve_table *table, const struct carve_anchor *anchor)
{
	struct carve_sum *sum = ((struct followers *)table)->sum;

	sum->next[sum->next_count++] = *anchor;
	return sum->next_count < CARVE_NEXT;
}

bool png_find_sum(struct view *view, uint64_t at, bool has_texts, struct carve_sum *sum)
{
	struct followers followers = { .table.add = add_follower, .sum = sum };
	struct chunk_walk walk = start(view, at);

	while (next_chunk(&walk))
		pass_chunk(&walk);
	if (has_ended(&walk))
		return false;
	if (!walk.is_chunk) {
		sum->from = sum->to = walk.at;
		expect_next(&followers.table, walk.at, walk.data, has_texts);
		return true;
	}
	sum->from = walk.at + 4;
	sum->to = sum->stored = walk.end - 4;
	sum->before = UINT32_MAX;
	expect_next(&followers.table, walk.end, is_data(&walk) ? walk.head : walk.data, has_texts);
	return true;
}

static bool find_sum(struct view *view, struct carve_sum *sum)
{
	return png_find_sum(view, 0, true, sum);
}

uint64_t png_follow_chunks(struct view *view, uint64_t at, uint64_t end)
{
	struct chunk_walk walk = start(view, at);

	while (next_chunk(&walk) && walk.end <= end) {
		view_proved(view, walk.at, walk.end, PNG_CRC_BITS);
		pass_chunk(&walk);
	}
	if (walk.at + CHUNK_LEN > view_size(view) ||
		(walk.is_chunk && walk.end <= end && walk.end > view_size(view)))
		return view_size(view);
	return walk.at;
}

const struct carve_map png_map = {
	.words = { { 4, false, "IDAT" }, { 4, false, "IEND" }, { 4, false, "tEXt" },
		{ 4, false, "iTXt" }, { 4, false, "tIME" } },
	.common = true,
	.head = read_chunks,
	.sum = find_sum,
};
