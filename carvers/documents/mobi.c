/*
 * Palm databases with books: Mobipocket, Kindle (MobileRead wiki, MOBI and PDB) and PalmDOC.
 *
 *	header:  name (32 bytes), dates, ..., type and creator, number of records
 *	records: for each its offset (4 bytes, big-endian) and 4 bytes about it; then their
 *	         content
 *
 * No field has the file's length. Mobipocket's last record is four bytes long, E9 8E 0D 0A, and
 * programs always write it: there the file ends. The checks: the records' offsets rise, and the
 * first record begins with a compression, the text's length, and for Mobipocket its own header.
 * PalmDOC's last record has no end mark: where it is text, it ends when that has the length that the first record states;
 * else it is assumed to be as long as the longest other record, a guess.
 *
 * text: as it is (compression 1), or (2) bytes: 1 to 8: so many bytes follow as they are; 80 to BF and another: 3 to 10
 *       bytes again; C0 to FF: a blank and a letter; others as they are
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "dates.h"
#include "title.h"
#include "walk.h"

#define HEADER_LEN 78
#define LONGEST_GUESS 65536
#define TEXT_MAX 4096 /* bytes of a record of text */

enum { PLAIN = 1, PACKED = 2 };

static const uint8_t last_record[] = { 0xe9, 0x8e, 0x0d, 0x0a };

struct mobi {
	struct view *view;
	struct finding *finding;
	bool mobipocket;
	uint16_t count;
	uint16_t compression, text_count; /* of the text, and its records */
	uint32_t text_len;
	uint64_t first, last, longest; /* records' offsets, and a record's length */
};

/* What is wrong with the database's header, or NULL. */
static const char *read_header(struct mobi *mobi)
{
	const uint8_t *p = view_peek(mobi->view, 0, HEADER_LEN);
	uint32_t created;

	if (!p)
		return "a truncated header at 0";
	mobi->mobipocket = memcmp(p + 60, "BOOKMOBI", 8) == 0;
	if (!mobi->mobipocket && memcmp(p + 60, "TEXtREAd", 8) != 0)
		return "not a book's database type at 60";
	if (!memchr(p, 0, 32))
		return "an unterminated name at 0";
	mobi->count = be16(p + 76);
	if (mobi->count < 2)
		return "fewer than two records at 76";
	finding_set_title_latin1(mobi->finding, p, 32);
	/* The highest bit selects one of two epochs. */
	created = be32(p + 36);
	if (created & 0x80000000)
		mobi->finding->time = mac_seconds(created);
	else
		mobi->finding->time = created;
	return NULL;
}

/* The records' offsets rise, from the end of the list on. */
static const char *read_offsets(struct mobi *mobi)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < mobi->count; i++) {
		const uint8_t *p = view_peek(mobi->view, HEADER_LEN + 8 * i, 8);
		uint64_t at;

		if (!p)
			return "a truncated list of records at 78";
		at = be32(p);
		if (i == 0 && (at < HEADER_LEN + 8u * mobi->count ||
				      at > HEADER_LEN + 8u * mobi->count + 64))
			return "the first record does not follow the list at 78";
		if (i == 0)
			mobi->first = at;
		else if (at < before)
			return "record offsets that do not rise in the list at 78";
		if (i && at - before > mobi->longest)
			mobi->longest = at - before;
		before = at;
	}
	mobi->last = before;
	return NULL;
}

/* The first record: PalmDOC's header, followed by Mobipocket's. */
static const char *read_first_record(struct mobi *mobi)
{
	const uint8_t *p = view_peek(mobi->view, mobi->first, mobi->mobipocket ? 92 : 16);
	uint64_t name_at;
	uint32_t name_len;

	if (!p)
		return "a truncated first record";
	mobi->compression = be16(p);
	mobi->text_len = be32(p + 4);
	mobi->text_count = be16(p + 8);
	if ((mobi->compression != PLAIN && mobi->compression != PACKED &&
		    mobi->compression != 17480) ||
		be16(p + 2) != 0)
		return "an unknown text compression in the first record";
	if (!mobi->mobipocket)
		return be16(p + 10) == 4096
			       ? NULL
			       : "an impossible text record length in the first record";
	if (memcmp(p + 16, "MOBI", 4) != 0)
		return "no Mobipocket header in the first record";
	if (be32(p + 36) == 8)
		mobi->finding->extension = "azw3";
	name_at = mobi->first + be32(p + 84);
	name_len = be32(p + 88);
	if (be32(p + 84) > 65536 || name_len == 0 || name_len > 1024)
		return NULL;
	p = view_peek(mobi->view, name_at, name_len);
	if (p)
		finding_set_title_latin1(mobi->finding, p, name_len);
	return NULL;
}

/* Unpacks the record [*at, end) until it gives `want` bytes: how many it gave. *at is where it stopped. */
static uint32_t unpack(struct mobi *mobi, uint64_t *at, uint64_t end, uint32_t want)
{
	struct cursor cursor = { .view = mobi->view, .at = *at };
	uint32_t len = 0;

	while (len < want && cursor.at < end) {
		int byte = cursor_next(&cursor);

		if (byte < 0)
			break;
		if (mobi->compression == PACKED && byte >= 0xc0) {
			len += 2;
		} else if (mobi->compression == PACKED && byte >= 0x80) {
			len += 3 + ((uint32_t)cursor_next(&cursor) & 7);
		} else if (mobi->compression == PACKED && byte >= 1 && byte <= 8) {
			len += (uint32_t)byte;
			cursor.at += (uint32_t)byte;
		} else {
			len++;
		}
	}
	*at = cursor.at;
	return len;
}

/* Where the text ends, if it fills the last record; 0 if it does not. */
static uint64_t find_text_end(struct mobi *mobi)
{
	uint32_t left = mobi->text_len;

	if (mobi->text_count + 1u != mobi->count ||
		(mobi->compression != PLAIN && mobi->compression != PACKED))
		return 0;
	for (uint32_t i = 1; i < mobi->count; i++) {
		const uint8_t *p = view_peek(mobi->view, HEADER_LEN + 8 * i, 16);
		bool last = i + 1 == mobi->count;
		uint64_t at = p ? be32(p) : 0, end = p && !last ? be32(p + 8) : UINT64_MAX;
		uint32_t want = last ? left : TEXT_MAX + 1,
			 len = p ? unpack(mobi, &at, end, want) : 0;

		if (!len || len > TEXT_MAX || len > left || (!last && at != end))
			return 0;
		left -= len;
		if (last)
			return left ? 0 : at;
	}
	return 0;
}

static enum verdict judge_end(struct mobi *mobi)
{
	struct finding *finding = mobi->finding;
	uint64_t size = view_size(mobi->view), left, text_end;
	const uint8_t *p = view_peek(mobi->view, mobi->last, sizeof(last_record));

	if (mobi->last >= size || (!p && mobi->mobipocket))
		return walk_cut(mobi->view, finding, mobi->last + sizeof(last_record),
			view_ends_with_image(mobi->view) ? size : mobi->first + 16);
	view_holds(mobi->view, mobi->first, mobi->last);
	finding->length = mobi->last + sizeof(last_record);
	if (p && memcmp(p, last_record, sizeof(last_record)) == 0)
		return CARVE_COMPLETE;
	if (mobi->mobipocket) {
		finding->length = mobi->first + 16;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no last record at %" PRIu64, mobi->last);
	}
	text_end = find_text_end(mobi);
	if (text_end && text_end <= size) {
		finding->length = text_end;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing verifies the last record, at %" PRIu64, mobi->last);
	}
	left = size - mobi->last;
	if (left > mobi->longest)
		left = mobi->longest < LONGEST_GUESS ? mobi->longest : LONGEST_GUESS;
	finding->length = mobi->last + left;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the length of the last record at %" PRIu64 " is not stored", mobi->last);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mobi mobi = { .view = view, .finding = finding };
	const char *problem = read_header(&mobi);

	if (!problem)
		problem = read_offsets(&mobi);
	if (!problem)
		problem = read_first_record(&mobi);
	if (problem) {
		memset(finding, 0, sizeof(*finding));
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	}
	if (!mobi.mobipocket)
		finding->extension = "pdb";
	return judge_end(&mobi);
}

const struct carver mobi_carver = {
	.name = "mobi",
	.summary = "Mobipocket, Kindle and PalmDOC books, by their records",
	.check = check,
};
