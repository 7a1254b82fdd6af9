/*
 * Embedded OpenType fonts (W3C submission of 5 March 2008), versions 1.0, 2.1 and 2.2.
 *
 *	size of the file, size of the font, version, flags, ...; names, each after its length; the
 *	font
 *
 * Both sizes have to agree with the names. The font is a TrueType font, plain or with each byte
 * XORed with 50h: then its tables' checksums confirm it. Compressed fonts have no checksums, and
 * are unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "foreign.h"
#include "sfnt.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 82
#define COMPRESSED 4
#define MASKED 0x10000000
#define TABLES_MAX 255

struct eot {
	struct view *view;
	struct finding *finding;
	uint64_t size, font;
	uint32_t font_len, version, flags;
};

/* The end of the names and of what else precedes the font; 0 if they are invalid. */
static uint64_t walk_names(struct eot *eot)
{
	int count = eot->version == 0x10000 ? 4 : eot->version == 0x20001 ? 5 : 7;
	uint64_t at = HEAD_LEN;

	for (int i = 0; i < count; i++) {
		const uint8_t *p;
		uint16_t len;

		/* A checksum and a code page precede the signature, flags and character data follow
		 * it. */
		at += i == 5 ? 8 : i == 6 ? 4 : 0;
		p = view_peek(eot->view, at, 4);
		if (i == 6) {
			uint32_t data_len = p ? le32(p) : 1;

			return p && data_len < 1 << 24 ? at + 4 + data_len : 0;
		}
		/* Two zeros precede all but the first. */
		len = p ? le16(p + (i ? 2 : 0)) : 0;
		if (!p || (i && le16(p)) || (i < 4 && len % 2))
			return 0;
		at += i ? 4 : 2;
		p = len && i == 3 ? view_peek(eot->view, at, len) : NULL;
		if (p)
			finding_set_title_utf16(eot->finding, p, len, false);
		at += len;
	}
	return at;
}

/* Copies len bytes at offset `at` of the font, unmasked; false if they are not all there. */
static bool read_font(const struct eot *eot, uint64_t at, uint8_t *bytes, size_t len)
{
	const uint8_t *p = view_peek(eot->view, eot->font + at, len);

	for (size_t i = 0; p && i < len; i++)
		bytes[i] = p[i] ^ (eot->flags & MASKED ? 0x50 : 0);
	return p != NULL;
}

/* Whether the table at `at` has this checksum; that of `head` leaves out the word at 8. */
static bool is_valid_table(
	const struct eot *eot, uint64_t at, uint32_t len, bool head, uint32_t want)
{
	struct sfnt_sum sum = { 0 };
	uint8_t block[4096];

	for (uint64_t end = at + len; at < end;) {
		size_t take = end - at < sizeof(block) ? (size_t)(end - at) : sizeof(block);

		if (!read_font(eot, at, block, take))
			return false;
		if (head && sum.len == 0 && take >= 12)
			memset(block + 8, 0, 4);
		if (head && sum.len == 0)
			sfnt_read_head(eot->finding, block, take);
		sfnt_sum_add(&sum, block, take);
		at += take;
	}
	return sum.sum == want;
}

/* The number of the font's tables with a wrong checksum; -1 if there is no directory. *reached is
 * the end of the last. */
static int count_wrong_tables(const struct eot *eot, uint64_t *reached)
{
	uint8_t head[12], entry[16];
	int count, wrong = 0;

	*reached = 0;
	if (!read_font(eot, 0, head, 12) || (be32(head) != 0x10000 && be32(head) != 0x4f54544f))
		return -1;
	count = be16(head + 4);
	if (count == 0 || count > TABLES_MAX)
		return -1;
	for (int i = 0; i < count; i++) {
		uint32_t at, len;

		if (!read_font(eot, 12 + 16 * (uint64_t)i, entry, 16) || !sfnt_is_tag(entry))
			return -1;
		at = be32(entry + 8);
		len = be32(entry + 12);
		if (at > eot->font_len || len > eot->font_len - at)
			return -1;
		if (at + (uint64_t)len > *reached)
			*reached = at + (uint64_t)len;
		wrong += !is_valid_table(
			eot, at, len, memcmp(entry, "head", 4) == 0, be32(entry + 4));
	}
	return wrong;
}

static const char *read_head(struct eot *eot)
{
	const uint8_t *p = view_peek(eot->view, 0, HEAD_LEN);

	if (!p || le16(p + 34) != 0x504c)
		return "no magic at 34";
	eot->size = le32(p);
	eot->font_len = le32(p + 4);
	eot->version = le32(p + 8);
	eot->flags = le32(p + 12);
	if (eot->version != 0x10000 && eot->version != 0x20001 && eot->version != 0x20002)
		return "an unknown version at 8";
	for (int i = 64; i < HEAD_LEN; i++)
		if (p[i])
			return "reserved bytes at 64 are not zero";
	eot->font = walk_names(eot);
	if (eot->font == 0 || eot->font_len == 0 || eot->font + eot->font_len != eot->size)
		return "the sizes at 0 differ from those of the parts";
	return NULL;
}

static enum verdict judge_compressed(const struct eot *eot)
{
	uint64_t cluster = foreign_cluster(eot->view, eot->font, eot->size);

	if (cluster == eot->size)
		return verdict_because(CARVE_UNVERIFIED, eot->finding,
			"the compressed font before %" PRIu64 " cannot be verified", eot->size);
	eot->finding->length = cluster;
	return verdict_because(CARVE_TRUNCATED, eot->finding,
		"equal bytes or text instead of the compressed font at %" PRIu64, cluster);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct eot eot = { .view = view, .finding = finding };
	const char *problem = read_head(&eot);
	uint64_t reached;
	int wrong;

	if (problem) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	}
	if (!(eot.flags & (COMPRESSED | MASKED)))
		view_part(view, eot.font);
	if (eot.size > view_size(view))
		return walk_cut(view, finding, eot.size, view_size(view));
	finding->length = eot.size;
	if (eot.flags & COMPRESSED)
		return judge_compressed(&eot);
	wrong = count_wrong_tables(&eot, &reached);
	if (wrong == 0 && reached + 4 > eot.font_len)
		return CARVE_COMPLETE;
	if (wrong >= 0 && wrong < 2)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"a wrong table checksum, or bytes after the tables, before %" PRIu64,
			eot.size);
	finding->length = walk_before_fill(view, eot.font, eot.size);
	return verdict_because(
		CARVE_TRUNCATED, finding, "no valid font from %" PRIu64 " on", eot.font);
}

const struct carver eot_carver = {
	.name = "eot",
	.summary = "Embedded OpenType fonts, by their sizes and the font's checksums",
	.check = check,
};
