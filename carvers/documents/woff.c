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
 * checksums; its stream has to end at the header's length, and to yield as many bytes as the tables
 * have.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "inflated.h"
#include "noise.h"
#include "sfnt.h"
#include "walk.h"
#include "woff2.h"

/* Of a table: its checksum, and zlib's (view_proved). */
enum { SUM_BITS = 32, ADLER_BITS = 32 };

struct woff {
	struct view *view;
	struct finding *finding;
	uint32_t len, count;
	uint64_t end;       /* of all parts */
	uint64_t valid_end; /* after the last valid table */
	uint64_t problem_at;
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

	return inflated_walk(&inflated, woff->view, INFLATED_ZLIB, &at, end) == INFLATED_DONE;
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
	if ((uint64_t)at + len > view_size(woff->view))
		return "a table past the end";
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

static enum verdict check_1(struct woff *woff, const uint32_t metadata[2])
{
	struct finding *finding = woff->finding;
	uint64_t directory = 44 + 20 * (uint64_t)woff->count;
	const char *problem = NULL;
	uint32_t table_count = 0;

	if (directory > woff->len || directory > view_size(woff->view))
		return verdict_because(CARVE_REJECT, finding, "no table directory at 44");
	woff->valid_end = directory;
	for (uint32_t i = 0; i < woff->count && !problem; i++, table_count++)
		problem = check_table(woff, i);
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
	if (woff->len > view_size(woff->view))
		return walk_cut(woff->view, finding, woff->len,
			woff->problem_at < view_size(woff->view) ? view_size(woff->view)
								 : woff->valid_end);
	finding->length = woff->valid_end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, woff->problem_at);
}

static enum verdict check_2(struct woff *woff, bool collection, uint32_t compressed_len)
{
	struct finding *finding = woff->finding;
	uint64_t at, tables, plain_len;

	if (woff2_directory(woff->view, woff->count, collection, &at, &plain_len) == WOFF2_NONE)
		return verdict_because(CARVE_REJECT, finding, "no table directory at %" PRIu64, at);
	tables = at;
	if (at + compressed_len > woff->end)
		woff->end = at + compressed_len;
	if (compressed_len == 0 || woff->end > woff->len || woff->len - woff->end > 3)
		return verdict_because(CARVE_REJECT, finding,
			"the length differs from that of the parts, which end at %" PRIu64,
			woff->end);
	if (woff->len > view_size(woff->view))
		return walk_cut(woff->view, finding, woff->len, view_size(woff->view));
	finding->length = woff->len;
	switch (woff2_decompress(woff->view, &at, tables + compressed_len, plain_len)) {
	case WOFF2_DONE:
		break;
	case WOFF2_REFUSED:
		return verdict_because(CARVE_UNVERIFIED, finding,
			"too much data to decompress from %" PRIu64 " on", tables);
	default:
		finding->length = plain_start(woff->view, tables, at);
		return verdict_because(CARVE_TRUNCATED, finding,
			"tables that do not decompress before %" PRIu64, at);
	}
	/* Metadata and private data may follow, but hardly any font has them. */
	if (woff->end > tables + compressed_len + 3)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the data after the tables, from %" PRIu64 " on, cannot be verified",
			tables + compressed_len);
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
	if (woff.len < 64 || woff.count == 0 || woff.count > 512 ||
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
