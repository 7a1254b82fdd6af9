/*
 * WOFF fonts for the web (W3C, WOFF File Format 1.0 and 2.0).
 *
 *	header: signature, flavor, length of the file, number of tables, 0, size when decompressed,
 *	        ..., offsets of metadata and of private data
 *	1.0:    of each table: tag, offset, compressed and plain length, checksum; zlib streams
 *	2.0:    tags and lengths of tables, then all of them in one Brotli stream (woff2.c)
 *
 * The header states the length, and the parts have to fill it except for padding. In 1.0 each table
 * is decompressed and its checksum compared: the font is cut where that fails. 2.0 has no
 * checksums of its own; its stream has to end at the header's length, and to yield as many bytes as the tables
 * have. Where proof is asked for they are restored to a font, which has one (woff2_sum.c).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "inflated.h"
#include "noise.h"
#include "sfnt.h"
#include "walk.h"
#include "woff2.h"
#include "woff2_sum.h"

/* Of a table: its checksum, and zlib's (view_proved). */
enum { SUM_BITS = 32, ADLER_BITS = 32 };
/* Of a font: the sums of its tables are twice in it (woff2_sum.c), and either of two is right, which leaves 30 bits; of 22,900 layouts with a wrong joint one
 * decompressed to as many bytes as it should, and ended where it should: 10 bits, and more. */
#define FONT_BITS (30 + 10)
/* Tables that are decompressed to be restored to a font. */
#define KEPT_MAX ((uint64_t)16 << 20)

struct woff {
	struct view *view;
	struct finding *finding;
	uint32_t len, count;
	uint64_t end;       /* of all parts */
	uint64_t valid_end; /* after the last valid table */
	uint64_t problem_at;
	uint64_t reached; /* in a table that is compressed: what is before it can be the table's */
};

/* A decompressed table. */
struct woff_table {
	struct sfnt_sum sum;
	uint8_t head[4096]; /* its first bytes */
};

static bool add_output(void *context, const uint8_t *bytes, size_t len)
{
	struct woff_table *table = context;
	uint64_t at = table->sum.len;

	if (at < sizeof(table->head))
		memcpy(table->head + at, bytes,
			len < sizeof(table->head) - at ? len : sizeof(table->head) - at);
	sfnt_sum_add(&table->sum, bytes, len);
	return true;
}

static bool decompress(struct woff *woff, uint64_t at, uint64_t end, struct woff_table *table)
{
	struct inflated inflated = { .inspect = add_output, .context = table };
	enum inflated_state state = inflated_walk(&inflated, woff->view, INFLATED_ZLIB, &at, end);

	if (state != INFLATED_DONE)
		woff->reached = at;
	return state == INFLATED_DONE;
}

static bool copy(struct woff *woff, uint64_t at, uint64_t end, struct woff_table *table)
{
	size_t len;

	for (; at < end; at += len) {
		const uint8_t *p = walk_window(woff->view, at, end, &len);

		if (!p)
			return false;
		add_output(table, p, len);
	}
	return true;
}

static void read_details(struct woff *woff, uint32_t tag, const struct woff_table *table)
{
	size_t len =
		table->sum.len < sizeof(table->head) ? (size_t)table->sum.len : sizeof(table->head);

	if (tag == 0x6e616d65)
		sfnt_read_name(woff->finding, table->head, len);
	if (tag == 0x68656164)
		sfnt_read_head(woff->finding, table->head, len);
}

/* Checks the table of entry `index` of the directory of 1.0: what is wrong, or NULL. */
static const char *check_table(struct woff *woff, uint32_t index)
{
	struct woff_table table = { 0 };
	uint64_t entry = 44 + 20 * (uint64_t)index;
	const uint8_t *p = view_peek(woff->view, entry, 20);
	uint32_t at, len, plain_len, sum, tag;

	woff->problem_at = entry;
	if (!p || !sfnt_is_tag(p))
		return "no table entry in the directory";
	tag = be32(p);
	at = be32(p + 4);
	len = be32(p + 8);
	plain_len = be32(p + 12);
	sum = be32(p + 16);
	if (at < 44 || len > plain_len || (uint64_t)at + len > woff->len)
		return "no table entry in the directory";
	woff->problem_at = at;
	if ((uint64_t)at + len > view_size(woff->view)) {
		if (view_thorough(woff->view) && len < plain_len)
			decompress(woff, at, (uint64_t)at + len, &table);
		else
			woff->reached = view_size(woff->view);
		return "a table past the end";
	}
	if (len < plain_len ? !decompress(woff, at, (uint64_t)at + len, &table)
			    : !copy(woff, at, (uint64_t)at + len, &table))
		return "a table that does not decompress";
	if (tag == 0x68656164 && table.sum.len >= 12)
		table.sum.sum -= be32(table.head + 8);
	if (table.sum.len != plain_len || table.sum.sum != sum)
		return "wrong checksum of the table";
	/* Clusters of a table in another order have the same sum, unless they are decompressed in that order. */
	if (len < plain_len)
		view_proved(woff->view, at, (uint64_t)at + len, SUM_BITS + ADLER_BITS);
	else
		view_linked(woff->view, at, (uint64_t)at + len, SUM_BITS);
	read_details(woff, tag, &table);
	if ((uint64_t)at + len > woff->valid_end)
		woff->valid_end = (uint64_t)at + len;
	return NULL;
}

/* Adds a part that the header lists, of `len` bytes: false if it is not in the file. */
static bool add_part(struct woff *woff, uint32_t at, uint32_t len)
{
	if (len == 0)
		return true;
	if (at < 44 || (uint64_t)at + len > woff->len)
		return false;
	if ((uint64_t)at + len > woff->end)
		woff->end = (uint64_t)at + len;
	return true;
}

static bool is_metadata_valid(struct woff *woff, const uint32_t range[2])
{
	struct woff_table table = { 0 };

	woff->problem_at = range[0];
	return range[1] == 0 || decompress(woff, range[0], (uint64_t)range[0] + range[1], &table);
}

/* Whether all entries of the directory of 1.0 are valid: chance does not produce such a list. */
static bool is_directory_valid(const struct woff *woff)
{
	for (uint32_t i = 0; i < woff->count; i++) {
		const uint8_t *p = view_peek(woff->view, 44 + 20 * (uint64_t)i, 20);

		if (!p || !sfnt_is_tag(p) || be32(p + 4) < 44 || be32(p + 8) > be32(p + 12) ||
			(uint64_t)be32(p + 4) + be32(p + 8) > woff->len)
			return false;
	}
	return woff->count >= 4;
}

/* Where the table of an entry begins; of two at one place the later entry is after the other one. */
static uint64_t place_of(struct woff *woff, uint32_t index)
{
	const uint8_t *p = view_peek(woff->view, 44 + 20 * (uint64_t)index, 8);

	return (p ? (uint64_t)be32(p + 4) << 32 : 0) | index;
}

/* The entry whose table follows that of `last`, where they are in the file. */
static uint32_t next_table(struct woff *woff, uint32_t last, bool is_first)
{
	uint64_t after = is_first ? 0 : place_of(woff, last) + 1, best = UINT64_MAX;

	for (uint32_t i = 0; i < woff->count; i++) {
		uint64_t place = place_of(woff, i);

		if (place >= after && place < best)
			best = place;
	}
	return (uint32_t)best;
}

static enum verdict check_1(struct woff *woff, const uint32_t metadata[2])
{
	struct finding *finding = woff->finding;
	uint64_t directory = 44 + 20 * (uint64_t)woff->count;
	const char *problem = NULL;
	uint64_t size = view_size(woff->view);
	uint32_t table_count = 0, index = 0;

	if (directory > woff->len || directory > size)
		return verdict_because(CARVE_REJECT, finding, "no table directory at 44");
	woff->valid_end = directory;
	for (; table_count < woff->count && !problem; table_count++) {
		if (view_thorough(woff->view))
			index = next_table(woff, index, !table_count);
		else
			index = table_count;
		problem = check_table(woff, index);
	}
	if (problem && table_count <= 1 && !is_directory_valid(woff))
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, problem, woff->problem_at);
	if (woff->valid_end > woff->end)
		woff->end = woff->valid_end;
	if (!problem && !is_metadata_valid(woff, metadata))
		problem = "metadata that do not decompress";
	if (!problem && (woff->len - woff->end > 3 || woff->len > view_size(woff->view)))
		problem = "the length differs from that of the parts";
	finding->length = woff->len;
	if (!problem)
		return CARVE_COMPLETE;
	if (woff->reached < woff->valid_end)
		woff->reached = woff->valid_end;
	if (woff->len > size && view_thorough(woff->view))
		return walk_cut(woff->view, finding, woff->len, woff->reached);
	if (woff->len > size)
		return walk_cut(woff->view, finding, woff->len,
			woff->problem_at < size ? size : woff->valid_end);
	finding->length = view_thorough(woff->view) ? woff->reached : woff->valid_end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, woff->problem_at);
}

/* Decompresses the tables, [*at, end). Where proof is asked for the font's sum is compared. */
static enum woff2_state decompress_2(struct woff *woff, const struct woff2_tables *tables,
	uint64_t *at, uint64_t end, enum woff2_sum *sum)
{
	uint64_t from = *at;
	enum woff2_state state;
	const uint8_t *p;
	uint8_t *plain = NULL;

	if (view_thorough(woff->view) && tables->all_len <= KEPT_MAX) {
		plain = malloc((size_t)tables->all_len + 1);
		if (!plain)
			view_no_memory(woff->view);
	}
	state = woff2_decompress(woff->view, at, end, tables->all_len, plain);
	p = plain && state == WOFF2_DONE ? view_peek(woff->view, 4, 4) : NULL;
	*sum = p ? woff2_sum_check(woff->view, be32(p), tables, plain) : WOFF2_SUM_UNKNOWN;
	if (*sum == WOFF2_SUM_AGREES)
		view_proved(woff->view, from, end, FONT_BITS);
	free(plain);
	return state;
}

static enum verdict check_2(struct woff *woff, bool collection, uint32_t compressed_len)
{
	struct finding *finding = woff->finding;
	struct woff2_tables tables = { .count = woff->count };
	uint64_t at, from, size = view_size(woff->view);
	enum woff2_sum sum;

	if (woff2_directory(woff->view, collection, &at, &tables) == WOFF2_NONE)
		return verdict_because(CARVE_REJECT, finding, "no table directory at %" PRIu64, at);
	from = at;
	if (at + compressed_len > woff->end)
		woff->end = at + compressed_len;
	if (compressed_len == 0 || woff->end > woff->len || woff->len - woff->end > 3)
		return verdict_because(CARVE_REJECT, finding,
			"the length differs from that of the parts, which end at %" PRIu64,
			woff->end);
	if (woff->len > size && !view_thorough(woff->view))
		return walk_cut(woff->view, finding, woff->len, size);
	finding->length = woff->len;
	switch (decompress_2(woff, &tables, &at, from + compressed_len, &sum)) {
	case WOFF2_DONE:
		break;
	case WOFF2_CUT:
		return walk_cut(woff->view, finding, woff->len, size);
	case WOFF2_REFUSED:
		if (woff->len > size)
			return walk_cut(woff->view, finding, woff->len, size);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"too much data to decompress from %" PRIu64 " on", from);
	default:
		finding->length = plain_start(woff->view, from, at);
		return verdict_because(CARVE_TRUNCATED, finding,
			"tables that do not decompress before %" PRIu64, at);
	}
	if (woff->len > size)
		return walk_cut(woff->view, finding, woff->len, size);
	if (sum == WOFF2_SUM_INVALID)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the outlines in the tables from %" PRIu64 " on are invalid", from);
	/* Metadata and private data may follow, but hardly any font has them. */
	if (woff->end > from + compressed_len + 3)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the data after the tables, from %" PRIu64 " on, cannot be verified",
			from + compressed_len);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct woff woff = { .view = view, .finding = finding };
	const uint8_t *p = view_peek(view, 0, 48);
	bool is_woff2 = p && memcmp(p, "wOF2", 4) == 0, collection;
	uint32_t metadata[2], compressed_len;

	if (!p || (!is_woff2 && memcmp(p, "wOFF", 4) != 0))
		return verdict_because(CARVE_REJECT, finding, "no WOFF header at 0");
	woff.len = be32(p + 8);
	woff.count = be16(p + 12);
	compressed_len = be32(p + 20);
	collection = memcmp(p + 4, "ttcf", 4) == 0;
	p += is_woff2 ? 4 : 0;
	metadata[0] = be32(p + 24);
	metadata[1] = be32(p + 28);
	if (woff.len < 64 || woff.count == 0 || woff.count > WOFF2_TABLES_MAX ||
		!add_part(&woff, metadata[0], metadata[1]) ||
		!add_part(&woff, be32(p + 36), be32(p + 40)))
		return verdict_because(CARVE_REJECT, finding, "impossible lengths at 8");
	finding->extension = is_woff2 ? "woff2" : "woff";
	return is_woff2 ? check_2(&woff, collection, compressed_len) : check_1(&woff, metadata);
}

const struct carver woff_carver = {
	.name = "woff",
	.summary = "WOFF and WOFF2 fonts, by their tables",
	.check = check,
};
