/*
 * WOFF fonts for the web (W3C, WOFF File Format 1.0 and 2.0).
 *
 *	header: signature, flavor, length of the file, number of tables, 0, size as a plain font,
 *	        ..., places of metadata and of private data
 *	1.0:    of each table: tag, place, packed and plain length, checksum; packed with zlib
 *	2.0:    tags and lengths of tables, then all of them in one Brotli stream (woff2.c)
 *
 * The header tells the length, and the parts have to fill it but for padding. In 1.0 each table is
 * unpacked and its checksum compared: where that fails the font is cut. 2.0 has no checksums; its
 * stream has to end where the header says, and to give as many bytes as the tables have.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "inflated.h"
#include "noise.h"
#include "sfnt.h"
#include "walk.h"
#include "woff2.h"

struct woff {
	struct view *view;
	struct finding *finding;
	uint32_t len, count;
	uint64_t end;   /* of all parts */
	uint64_t sound; /* behind the last table that is */
	uint64_t where;
};

/* A table as it comes out. */
struct unpacked {
	struct sfnt_sum sum;
	uint8_t head[4096]; /* its first bytes */
};

static bool take_output(void *context, const uint8_t *bytes, size_t len)
{
	struct unpacked *unpacked = context;
	uint64_t at = unpacked->sum.len;

	if (at < sizeof(unpacked->head))
		memcpy(unpacked->head + at, bytes,
			len < sizeof(unpacked->head) - at ? len : sizeof(unpacked->head) - at);
	sfnt_sum_add(&unpacked->sum, bytes, len);
	return true;
}

static bool unpack(struct woff *woff, uint64_t at, uint64_t end, struct unpacked *unpacked)
{
	struct inflated inflated = { .inspect = take_output, .context = unpacked };
	enum inflated_state state = INFLATED_MORE;
	size_t len;

	if (!inflated_open(&inflated, INFLATED_ZLIB))
		return false;
	while (at < end && state == INFLATED_MORE) {
		const uint8_t *p = walk_window(woff->view, at, end, &len);

		if (!p)
			break;
		state = inflated_feed(&inflated, p, len, NULL);
		at += len;
	}
	inflated_close(&inflated);
	return state == INFLATED_DONE;
}

static bool copy(struct woff *woff, uint64_t at, uint64_t end, struct unpacked *unpacked)
{
	size_t len;

	for (; at < end; at += len) {
		const uint8_t *p = walk_window(woff->view, at, end, &len);

		if (!p)
			return false;
		take_output(unpacked, p, len);
	}
	return true;
}

static void read_details(struct woff *woff, uint32_t tag, const struct unpacked *unpacked)
{
	size_t len = unpacked->sum.len < sizeof(unpacked->head) ? (size_t)unpacked->sum.len
								: sizeof(unpacked->head);

	if (tag == 0x6e616d65)
		sfnt_read_name(woff->finding, unpacked->head, len);
	if (tag == 0x68656164)
		sfnt_read_head(woff->finding, unpacked->head, len);
}

/* Entry `index` of the directory of 1.0: its table is there and sound. */
static const char *check_table(struct woff *woff, uint32_t index)
{
	struct unpacked unpacked = { 0 };
	uint64_t entry = 44 + 20 * (uint64_t)index;
	const uint8_t *p = view_peek(woff->view, entry, 20);
	uint32_t at, len, plain_len, sum, tag;

	woff->where = entry;
	if (!p || !sfnt_tag(p))
		return "no table in the directory";
	tag = be32(p);
	at = be32(p + 4);
	len = be32(p + 8);
	plain_len = be32(p + 12);
	sum = be32(p + 16);
	if (at < 44 || len > plain_len || (uint64_t)at + len > woff->len)
		return "no table in the directory";
	woff->where = at;
	if ((uint64_t)at + len > view_size(woff->view))
		return "a table that is not all there";
	if (len < plain_len ? !unpack(woff, at, (uint64_t)at + len, &unpacked)
			    : !copy(woff, at, (uint64_t)at + len, &unpacked))
		return "a table that does not unpack";
	if (tag == 0x68656164 && unpacked.sum.len >= 12)
		unpacked.sum.sum -= be32(unpacked.head + 8);
	if (unpacked.sum.len != plain_len || unpacked.sum.sum != sum)
		return "a table with a wrong checksum";
	read_details(woff, tag, &unpacked);
	if ((uint64_t)at + len > woff->sound)
		woff->sound = (uint64_t)at + len;
	return NULL;
}

/* A part that the header places, of `len` bytes: it must lie in the file. */
static bool take_part(struct woff *woff, uint32_t at, uint32_t len)
{
	if (len == 0)
		return true;
	if (at < 44 || (uint64_t)at + len > woff->len)
		return false;
	if ((uint64_t)at + len > woff->end)
		woff->end = (uint64_t)at + len;
	return true;
}

static bool metadata_sound(struct woff *woff, const uint32_t place[2])
{
	struct unpacked unpacked = { 0 };

	woff->where = place[0];
	return place[1] == 0 || unpack(woff, place[0], (uint64_t)place[0] + place[1], &unpacked);
}

/* Every entry of the directory of 1.0 is one: such a list is not made by chance. */
static bool directory_sound(const struct woff *woff)
{
	for (uint32_t i = 0; i < woff->count; i++) {
		const uint8_t *p = view_peek(woff->view, 44 + 20 * (uint64_t)i, 20);

		if (!p || !sfnt_tag(p) || be32(p + 4) < 44 || be32(p + 8) > be32(p + 12) ||
			(uint64_t)be32(p + 4) + be32(p + 8) > woff->len)
			return false;
	}
	return woff->count >= 4;
}

static enum verdict check_1(struct woff *woff, const uint32_t metadata[2])
{
	struct finding *finding = woff->finding;
	uint64_t directory = 44 + 20 * (uint64_t)woff->count;
	const char *problem = NULL;
	uint32_t held = 0;

	if (directory > woff->len || directory > view_size(woff->view))
		return verdict_because(CARVE_REJECT, finding, "no directory of tables at 44");
	woff->sound = directory;
	for (uint32_t i = 0; i < woff->count && !problem; i++, held++)
		problem = check_table(woff, i);
	if (problem && held <= 1 && !directory_sound(woff))
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, problem, woff->where);
	if (woff->sound > woff->end)
		woff->end = woff->sound;
	if (!problem && !metadata_sound(woff, metadata))
		problem = "metadata that do not unpack";
	if (!problem && (woff->len - woff->end > 3 || woff->len > view_size(woff->view)))
		problem = "the length is not that of the parts";
	finding->length = woff->len;
	if (!problem)
		return CARVE_COMPLETE;
	if (woff->len > view_size(woff->view))
		return walk_cut(woff->view, finding, woff->len,
			woff->where < view_size(woff->view) ? view_size(woff->view) : woff->sound);
	finding->length = woff->sound;
	return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, woff->where);
}

static enum verdict check_2(struct woff *woff, bool collection, uint32_t packed_len)
{
	struct finding *finding = woff->finding;
	uint64_t at, tables, plain_len;

	if (woff2_directory(woff->view, woff->count, collection, &at, &plain_len) == WOFF2_NONE)
		return verdict_because(
			CARVE_REJECT, finding, "no directory of tables at %" PRIu64, at);
	tables = at;
	if (at + packed_len > woff->end)
		woff->end = at + packed_len;
	if (packed_len == 0 || woff->end > woff->len || woff->len - woff->end > 3)
		return verdict_because(CARVE_REJECT, finding,
			"the length is not that of the parts, which end at %" PRIu64, woff->end);
	if (woff->len > view_size(woff->view))
		return walk_cut(woff->view, finding, woff->len, view_size(woff->view));
	finding->length = woff->len;
	switch (woff2_unpack(woff->view, &at, tables + packed_len, plain_len)) {
	case WOFF2_DONE:
		break;
	case WOFF2_REFUSED:
		return verdict_because(CARVE_UNVERIFIED, finding,
			"too much to unpack from %" PRIu64 " on", tables);
	default:
		finding->length = plain_start(woff->view, tables, at);
		return verdict_because(
			CARVE_TRUNCATED, finding, "tables that do not unpack, before %" PRIu64, at);
	}
	/* Metadata and private data stand behind, and hardly any font has them. */
	if (woff->end > tables + packed_len + 3)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing vouches for what stands behind the tables, from %" PRIu64 " on",
			tables + packed_len);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct woff woff = { .view = view, .finding = finding };
	const uint8_t *p = view_peek(view, 0, 48);
	bool second = p && memcmp(p, "wOF2", 4) == 0, collection;
	uint32_t metadata[2], packed_len;

	if (!p || (!second && memcmp(p, "wOFF", 4) != 0))
		return verdict_because(CARVE_REJECT, finding, "no WOFF header at 0");
	woff.len = be32(p + 8);
	woff.count = be16(p + 12);
	packed_len = be32(p + 20);
	collection = memcmp(p + 4, "ttcf", 4) == 0;
	p += second ? 4 : 0;
	metadata[0] = be32(p + 24);
	metadata[1] = be32(p + 28);
	if (woff.len < 64 || woff.count == 0 || woff.count > 512 ||
		!take_part(&woff, metadata[0], metadata[1]) ||
		!take_part(&woff, be32(p + 36), be32(p + 40)))
		return verdict_because(CARVE_REJECT, finding, "impossible lengths at 8");
	finding->extension = second ? "woff2" : "woff";
	return second ? check_2(&woff, collection, packed_len) : check_1(&woff, metadata);
}

const struct carver woff_carver = {
	.name = "woff",
	.summary = "WOFF and WOFF2 fonts, by their tables",
	.check = check,
};
