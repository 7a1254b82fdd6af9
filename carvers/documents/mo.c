/*
 * GNU gettext's compiled messages (gettext manual, The Format of GNU MO Files).
 *
 *	header: 950412DE in either order, revision (0 or 1, and a lower half), number of texts, places of the tables of
 *	        originals and of translations, number and place of a hash table (4 bytes each)
 *	table:  for each text its length and place; texts end with a zero, which their length does not count
 *	hashes: 4 bytes each
 *	revision x.1: in the header numbers and places of segments, of texts made of parts, and of their two tables (4 each)
 *	segment: its length and place; text of parts: place of its parts; for each length and segment, FFFFFFFF after the last
 *
 * Each text has to end with its zero, and to be text. What ends last ends the file,
 * and is a text's zero or the hashes, whose numbers are checked.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define HEAD_LEN 28
#define LONG_HEAD_LEN 48
#define ENTRY_LEN 8
#define ENTRIES_AT_ONCE 512
#define SEGMENTS_MAX 4096
#define PARTS_MAX 64
#define LAST_SEGMENT UINT32_MAX
#define TEXTS_MAX (1u << 22)
#define TEXTS_MIN 2 /* that are valid before one that is not */
#define TEXT_MAX_LEN (1u << 20)

struct mo {
	struct view *view;
	bool big_endian;
	uint32_t count, originals, translations, hash_count, hashes;
	bool segments;  /* revision x.1 */
	uint32_t valid; /* texts */
	uint64_t texts_len;
	uint64_t end;    /* of what ends last */
	uint64_t broken; /* the lowest place that should be a text and is not; 0: all are */
};

static uint32_t number(const struct mo *mo, const uint8_t *p)
{
	return ordered32(mo->big_endian, p);
}

static bool read_header(struct mo *mo)
{
	const uint8_t *p = view_peek(mo->view, 0, HEAD_LEN);

	mo->big_endian = p && be32(p) == 0x950412de;
	if (!p || (!mo->big_endian && le32(p) != 0x950412de) || number(mo, p + 4) >> 16 > 1)
		return false;
	mo->segments = number(mo, p + 4) & 1;
	mo->count = number(mo, p + 8);
	mo->originals = number(mo, p + 12);
	mo->translations = number(mo, p + 16);
	mo->hash_count = number(mo, p + 20);
	mo->hashes = number(mo, p + 24);
	return mo->count && mo->count <= TEXTS_MAX && mo->hash_count <= TEXTS_MAX &&
	       mo->originals >= (mo->segments ? LONG_HEAD_LEN : HEAD_LEN) &&
	       mo->translations >= HEAD_LEN;
}

/* Whether [at, at + len) is text that a zero ends. Zeros inside are between its plural's forms. */
static bool is_text(struct mo *mo, uint64_t at, uint32_t len)
{
	uint64_t end = at + len;
	uint8_t before = 'x';
	const uint8_t *p;
	size_t got;

	for (; at < end; at += got) {
		p = walk_window(mo->view, at, end, &got);
		if (!p)
			return false;
		for (size_t i = 0; i < got; before = p[i++])
			if ((p[i] < ' ' && !memchr("\0\t\n\r\a\b\v\f\4\33\37", p[i], 11)) ||
				(!p[i] && !before))
				return false;
	}
	p = view_peek(mo->view, end, 1);
	return p && !*p;
}

static void add(struct mo *mo, uint64_t at, uint64_t len)
{
	if (at + len > mo->end)
		mo->end = at + len;
}

/* Reads a table's texts, many at once. False: a place or length is impossible, in the entry at *at. */
static bool read_table(struct mo *mo, uint64_t table, uint64_t *at)
{
	uint8_t entries[ENTRIES_AT_ONCE * ENTRY_LEN];

	for (uint32_t i = 0; i < mo->count; i++) {
		size_t in = i % ENTRIES_AT_ONCE;
		uint32_t left = mo->count - i, len;
		uint64_t place;

		*at = table + (uint64_t)i * ENTRY_LEN;
		if (!in) {
			size_t room = (left < ENTRIES_AT_ONCE ? left : ENTRIES_AT_ONCE) * ENTRY_LEN;
			const uint8_t *p = view_peek(mo->view, *at, room);

			if (!p)
				return false;
			memcpy(entries, p, room);
		}
		len = number(mo, entries + in * ENTRY_LEN);
		place = number(mo, entries + in * ENTRY_LEN + 4);
		if (len > TEXT_MAX_LEN || place < HEAD_LEN)
			return false;
		add(mo, place, len + UINT64_C(1));
		/* Texts do not overlap, so that looking at all of them is linear. */
		mo->texts_len += len + UINT64_C(1);
		if (mo->texts_len > mo->end)
			return false;
		if (place + len >= view_size(mo->view) || is_text(mo, place, len))
			mo->valid++;
		else if (!mo->broken || place < mo->broken)
			mo->broken = place;
	}
	return true;
}

/* Adds the text of parts that is described at `at`. */
static bool add_parts(struct mo *mo, uint64_t at)
{
	const uint8_t *p = view_peek(mo->view, at, 4);
	uint64_t place = p ? number(mo, p) : 0, len = 0;

	for (int i = 0; p && i < PARTS_MAX; i++) {
		p = view_peek(mo->view, at + 4 + 8 * (uint64_t)i, 8);
		if (!p)
			return false;
		len += number(mo, p);
		add(mo, at, 12 + 8 * (uint64_t)i);
		if (number(mo, p + 4) != LAST_SEGMENT)
			continue;
		add(mo, place, len);
		p = view_peek(mo->view, place + len - 1, 1);
		return !p || !*p;
	}
	return false;
}

/* Adds what revision x.1 has more. */
static bool add_segments(struct mo *mo)
{
	const uint8_t *p = view_peek(mo->view, HEAD_LEN, LONG_HEAD_LEN - HEAD_LEN);
	uint32_t segments = p ? number(mo, p) : 0, texts = p ? number(mo, p + 8) : 0;
	uint64_t at = p ? number(mo, p + 4) : 0, tables[2];

	if (!p || segments > SEGMENTS_MAX || texts > SEGMENTS_MAX)
		return false;
	tables[0] = number(mo, p + 12);
	tables[1] = number(mo, p + 16);
	for (; segments; segments--, at += ENTRY_LEN) {
		p = view_peek(mo->view, at, ENTRY_LEN);
		if (!p)
			return false;
		add(mo, at, ENTRY_LEN);
		add(mo, number(mo, p + 4), number(mo, p));
	}
	for (uint32_t i = 0; i < 2 * texts; i++) {
		at = tables[i / texts] + 4 * (uint64_t)(i % texts);
		p = view_peek(mo->view, at, 4);
		if (!p || !add_parts(mo, number(mo, p)))
			return false;
		add(mo, at, 4);
	}
	return true;
}

/* Whether the hashes are numbers of texts; *at is the first that is not one. */
static bool hashes_fit(struct mo *mo, uint64_t *at)
{
	*at = mo->hashes;
	for (uint32_t i = 0; i < mo->hash_count; i++, *at += 4) {
		const uint8_t *p = view_peek(mo->view, *at, 4);

		if (!p || (number(mo, p) > mo->count && number(mo, p) < UINT32_C(0x80000000)))
			return false;
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mo mo = { .view = view };
	uint64_t at, tables, hash_end, size = view_size(view);

	if (!read_header(&mo))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	tables = (mo.originals > mo.translations ? mo.originals : mo.translations) +
		 (uint64_t)mo.count * ENTRY_LEN;
	hash_end = mo.hash_count ? mo.hashes + UINT64_C(4) * mo.hash_count : 0;
	mo.end = hash_end > tables ? hash_end : tables;
	if (!read_table(&mo, mo.originals, &at) || !read_table(&mo, mo.translations, &at) ||
		(mo.broken && mo.valid < TEXTS_MIN))
		return verdict_because(
			CARVE_REJECT, finding, "no text as the entry at %" PRIu64 " says", at);
	if (mo.segments && !add_segments(&mo) && mo.end < size && !mo.broken)
		mo.broken = mo.end;
	if (mo.hash_count && !hashes_fit(&mo, &at) && at < size)
		return verdict_because(CARVE_REJECT, finding, "no hash at %" PRIu64, at);
	if (mo.end > size)
		return walk_cut(
			view, finding, mo.end, mo.broken && mo.broken < size ? mo.broken : size);
	finding->length = mo.broken ? mo.broken : mo.end;
	return mo.broken
		       ? verdict_because(CARVE_TRUNCATED, finding, "no text at %" PRIu64, mo.broken)
		       : CARVE_COMPLETE;
}

const struct carver mo_carver = {
	.name = "mo",
	.summary = "GNU gettext's compiled messages, by their tables and texts",
	.check = check,
	.quick = true,
};
