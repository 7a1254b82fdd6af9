/*
 * Palm databases with books: Mobipocket, Kindle (MobileRead wiki, MOBI and PDB) and PalmDOC.
 *
 *	header:  name (32 bytes), dates, ..., type and creator, number of records
 *	records: for each where it begins (4 bytes, big-endian) and 4 bytes about it; then their
 *	         content
 *
 * No field has the file's length. Mobipocket's last record is four bytes long, E9 8E 0D 0A, and
 * programs write it always; where it stands, the file ends. Checked are the places of all records,
 * that rise, and what the first record begins with: a compression, the text's length, and for
 * Mobipocket its own header. PalmDOC's last record has no end: it is taken to be as long as the
 * longest of the others, and the result is a guess.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "title.h"
#include "walk.h"

#define HEADER_LEN 78
#define LONGEST_GUESS 65536

static const uint8_t last_record[] = { 0xe9, 0x8e, 0x0d, 0x0a };

struct mobi {
	struct view *view;
	struct finding *finding;
	bool mobipocket;
	uint16_t count;
	uint64_t first, last, longest; /* places of records, and a record's length */
};

/* What is wrong with the database's header, or NULL. */
static const char *read_header(struct mobi *mobi)
{
	const uint8_t *p = view_peek(mobi->view, 0, HEADER_LEN);
	uint32_t created;

	if (!p)
		return "a header that is cut off";
	mobi->mobipocket = memcmp(p + 60, "BOOKMOBI", 8) == 0;
	if (!mobi->mobipocket && memcmp(p + 60, "TEXtREAd", 8) != 0)
		return "another type of database";
	if (!memchr(p, 0, 32))
		return "a name without end";
	mobi->count = be16(p + 76);
	if (mobi->count < 2)
		return "too few records";
	finding_set_title_latin1(mobi->finding, p, 32);
	/* The highest bit tells which of the two epochs was used. */
	created = be32(p + 36);
	if (created & 0x80000000)
		mobi->finding->time = mac_seconds(created);
	else
		mobi->finding->time = created;
	return NULL;
}

/* The records' places rise from behind the list. */
static const char *read_places(struct mobi *mobi)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < mobi->count; i++) {
		const uint8_t *p = view_peek(mobi->view, HEADER_LEN + 8 * i, 8);
		uint64_t at;

		if (!p)
			return "a list of records that is cut off";
		at = be32(p);
		if (i == 0 && (at < HEADER_LEN + 8u * mobi->count ||
				      at > HEADER_LEN + 8u * mobi->count + 64))
			return "a first record in the wrong place";
		if (i == 0)
			mobi->first = at;
		else if (at < before)
			return "records that don't follow each other";
		if (i && at - before > mobi->longest)
			mobi->longest = at - before;
		before = at;
	}
	mobi->last = before;
	return NULL;
}

/* The first record: PalmDOC's header, Mobipocket's behind it. */
static const char *read_first(struct mobi *mobi)
{
	const uint8_t *p = view_peek(mobi->view, mobi->first, mobi->mobipocket ? 92 : 16);
	uint64_t name_at;
	uint32_t name_len;
	uint16_t packing;

	if (!p)
		return "a first record that is cut off";
	packing = be16(p);
	if ((packing != 1 && packing != 2 && packing != 17480) || be16(p + 2) != 0)
		return "an unknown compression of the text";
	if (!mobi->mobipocket)
		return be16(p + 10) == 4096 ? NULL : "an impossible length of text records";
	if (memcmp(p + 16, "MOBI", 4) != 0)
		return "no header of Mobipocket";
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

static enum verdict judge(struct mobi *mobi)
{
	struct finding *finding = mobi->finding;
	uint64_t size = view_size(mobi->view), left;
	const uint8_t *p = view_peek(mobi->view, mobi->last, sizeof(last_record));

	if (mobi->last >= size || (!p && mobi->mobipocket))
		return walk_cut(mobi->view, finding, mobi->last + sizeof(last_record),
			view_ends_with_image(mobi->view) ? size : mobi->first + 16);
	finding->length = mobi->last + sizeof(last_record);
	if (p && memcmp(p, last_record, sizeof(last_record)) == 0)
		return CARVE_COMPLETE;
	if (mobi->mobipocket) {
		finding->length = mobi->first + 16;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no last record at %" PRIu64, mobi->last);
	}
	left = size - mobi->last;
	if (left > mobi->longest)
		left = mobi->longest < LONGEST_GUESS ? mobi->longest : LONGEST_GUESS;
	finding->length = mobi->last + left;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing tells how long the last record at %" PRIu64 " is", mobi->last);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mobi mobi = { .view = view, .finding = finding };
	const char *problem = read_header(&mobi);

	if (!problem)
		problem = read_places(&mobi);
	if (!problem)
		problem = read_first(&mobi);
	if (problem) {
		memset(finding, 0, sizeof(*finding));
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	}
	if (!mobi.mobipocket)
		finding->extension = "pdb";
	return judge(&mobi);
}

const struct carver mobi_carver = {
	.name = "mobi",
	.summary = "Mobipocket, Kindle and PalmDOC books, by their records",
	.check = check,
};
