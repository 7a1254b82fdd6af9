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
 *
 * Where a file in pieces is put together, 1.0's tables are checked in the order in which they are in the file, and the codes
 * of one that does not decompress are walked (deflate_codes.h), which shows sooner where they are not its own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "deflate_codes.h"
#include "inflated.h"
#include "noise.h"
#include "sfnt.h"
#include "walk.h"
#include "woff2.h"
#include "woff2_sum.h"

/* Of a table: its checksum, and zlib's (view_proved). */
enum { SUM_BITS = 32, ADLER_BITS = 32 };
/* Before and after a table's deflate stream (RFC 1950). */
enum { ZLIB_HEAD_LEN = 2, ADLER_LEN = 4 };
/* How often a table's content may change, as after the names in CFF. */
#define CHANGES_MAX 8
enum { DIRECTORY_AT = 44, ENTRY_LEN = 20 };
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
	uint32_t metadata[2]; /* where they are, and their length */
	bool assembled;       /* a file in pieces is put together */
};

/* An entry of the directory of 1.0. */
struct woff_entry {
	uint32_t tag, at, len, plain_len, sum;
};

/* Plain data: the tables before this one are valid. */
struct woff_state {
	uint32_t index; /* its entry */
	uint32_t table_count;
	uint64_t valid_end;
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

static bool read_entry(struct woff *woff, uint32_t index, struct woff_entry *entry)
{
	const uint8_t *p =
		view_peek(woff->view, DIRECTORY_AT + ENTRY_LEN * (uint64_t)index, ENTRY_LEN);

	if (!p || !sfnt_is_tag(p))
		return false;
	*entry = (struct woff_entry){ be32(p), be32(p + 4), be32(p + 8), be32(p + 12),
		be32(p + 16) };
	return entry->at >= DIRECTORY_AT && entry->len <= entry->plain_len &&
	       (uint64_t)entry->at + entry->len <= woff->len;
}

static uint64_t end_of(const struct woff_entry *entry)
{
	return (uint64_t)entry->at + entry->len;
}

/* The codes where the stream of a compressed table begins. False: it is too short for any. */
static bool begin_codes(const struct woff_entry *entry, struct deflate_codes *codes)
{
	*codes = (struct deflate_codes){ .member = entry->at,
		.bit = ((uint64_t)entry->at + ZLIB_HEAD_LEN) * 8 };
	return entry->len < entry->plain_len && entry->len > ZLIB_HEAD_LEN + ADLER_LEN;
}

/* Walks the codes of a table. False: not all of it is the font's, but only what is before woff->reached. */
static bool walk_codes(
	struct woff *woff, const struct woff_entry *entry, struct deflate_codes *codes)
{
	uint64_t end = end_of(entry) - ADLER_LEN;
	enum codes_state state;
	unsigned changes = 0;

	codes->stop = end * 8;
	do {
		state = deflate_codes_walk(woff->view, codes);
	} while (state == CODES_FOREIGN && changes++ < CHANGES_MAX && deflate_codes_restart(codes));
	if (state == CODES_END && (codes->bit + 7) / 8 == end)
		return true;
	woff->reached = deflate_codes_valid(codes);
	return false;
}

/* The same from the table's beginning, once it is known that it does not decompress. */
static void find_break(struct woff *woff, const struct woff_entry *entry)
{
	struct deflate_codes codes;

	if (begin_codes(entry, &codes))
		walk_codes(woff, entry, &codes);
	else
		woff->reached = view_size(woff->view);
}

/* Checks the table of entry `index` of the directory of 1.0: what is wrong, or NULL. */
static const char *check_table(struct woff *woff, uint32_t index)
{
	struct woff_table table = { 0 };
	struct woff_entry entry;
	bool is_compressed;

	woff->problem_at = DIRECTORY_AT + ENTRY_LEN * (uint64_t)index;
	if (!read_entry(woff, index, &entry))
		return "no table entry in the directory";
	is_compressed = entry.len < entry.plain_len;
	woff->problem_at = entry.at;
	if (end_of(&entry) > view_size(woff->view)) {
		if (woff->assembled)
			find_break(woff, &entry);
		return "a table past the end";
	}
	if (is_compressed ? !decompress(woff, entry.at, end_of(&entry), &table)
			  : !copy(woff, entry.at, end_of(&entry), &table)) {
		if (is_compressed && woff->assembled)
			find_break(woff, &entry);
		return "a table that does not decompress";
	}
	if (entry.tag == 0x68656164 && table.sum.len >= 12)
		table.sum.sum -= be32(table.head + 8);
	if (table.sum.len != entry.plain_len || table.sum.sum != entry.sum)
		return "wrong checksum of the table";
	/* Clusters of a table in another order have the same sum, unless they are decompressed in that order. */
	if (is_compressed)
		view_proved(woff->view, entry.at, end_of(&entry), SUM_BITS + ADLER_BITS);
	else
		view_linked(woff->view, entry.at, end_of(&entry), SUM_BITS);
	read_details(woff, entry.tag, &table);
	if (end_of(&entry) > woff->valid_end)
		woff->valid_end = end_of(&entry);
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

static bool is_metadata_valid(struct woff *woff)
{
	const uint32_t *range = woff->metadata;
	struct woff_table table = { 0 };

	woff->problem_at = range[0];
	return range[1] == 0 || decompress(woff, range[0], (uint64_t)range[0] + range[1], &table);
}

/* Whether all entries of the directory of 1.0 are valid: chance does not produce such a list. */
static bool is_directory_valid(struct woff *woff)
{
	struct woff_entry entry;

	for (uint32_t i = 0; i < woff->count; i++)
		if (!read_entry(woff, i, &entry))
			return false;
	return woff->count >= 4;
}

/* Where the table of an entry begins; of two at one place the later entry is after the other one. */
static uint64_t place_of(struct woff *woff, uint32_t index)
{
	const uint8_t *p = view_peek(woff->view, DIRECTORY_AT + ENTRY_LEN * (uint64_t)index, 8);

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

/* Notes where a check can go on: before the table of entry state->index. */
static void save_state(struct woff *woff, const struct woff_state *state)
{
	const struct carve_state saved = {
		.offset = place_of(woff, state->index) >> 32, .len = sizeof(*state), .data = state
	};

	if (view_wants_states(woff->view))
		view_save(woff->view, &saved);
}

/* The verdict on a font that breaks off. */
static enum verdict judge_damage(struct woff *woff, const char *problem)
{
	struct finding *finding = woff->finding;
	uint64_t size = view_size(woff->view);

	if (woff->reached < woff->valid_end)
		woff->reached = woff->valid_end;
	if (woff->len > size && woff->assembled)
		return walk_cut(woff->view, finding, woff->len,
			woff->reached < size ? woff->reached : size);
	if (woff->len > size)
		return walk_cut(woff->view, finding, woff->len,
			woff->problem_at < size ? size : woff->valid_end);
	finding->length = woff->assembled ? woff->reached : woff->valid_end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, woff->problem_at);
}

/* Checks the tables from one on. */
static enum verdict check_tables(struct woff *woff, struct woff_state state)
{
	const char *problem = NULL;

	woff->valid_end = state.valid_end;
	while (state.table_count < woff->count && !problem) {
		if (woff->assembled)
			save_state(woff, &state);
		problem = check_table(woff, state.index);
		state.table_count++;
		state.valid_end = woff->valid_end;
		if (state.table_count == woff->count)
			break;
		if (woff->assembled)
			state.index = next_table(woff, state.index, false);
		else
			state.index = state.table_count;
	}
	if (problem && state.table_count <= 1 && !is_directory_valid(woff))
		return verdict_because(
			CARVE_REJECT, woff->finding, "%s at %" PRIu64, problem, woff->problem_at);
	if (woff->valid_end > woff->end)
		woff->end = woff->valid_end;
	if (!problem && !is_metadata_valid(woff))
		problem = "metadata that do not decompress";
	if (!problem && (woff->len - woff->end > 3 || woff->len > view_size(woff->view)))
		problem = "the length differs from that of the parts";
	woff->finding->length = woff->len;
	return problem ? judge_damage(woff, problem) : CARVE_COMPLETE;
}

static enum verdict check_1(struct woff *woff)
{
	struct woff_state state = { .valid_end = DIRECTORY_AT + ENTRY_LEN * (uint64_t)woff->count };

	if (state.valid_end > woff->len || state.valid_end > view_size(woff->view))
		return verdict_because(
			CARVE_REJECT, woff->finding, "no table directory at %d", DIRECTORY_AT);
	if (woff->assembled)
		state.index = next_table(woff, 0, true);
	return check_tables(woff, state);
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

/* False: a reason to reject it is in woff->finding. */
static bool read_header(struct woff *woff, bool *is_woff2)
{
	const uint8_t *p = view_peek(woff->view, 0, 48);

	*is_woff2 = p && memcmp(p, "wOF2", 4) == 0;
	if (!p || (!*is_woff2 && memcmp(p, "wOFF", 4) != 0)) {
		verdict_because(CARVE_REJECT, woff->finding, "no WOFF header at 0");
		return false;
	}
	woff->len = be32(p + 8);
	woff->count = be16(p + 12);
	p += *is_woff2 ? 4 : 0;
	woff->metadata[0] = be32(p + 24);
	woff->metadata[1] = be32(p + 28);
	if (woff->len < 64 || woff->count == 0 || woff->count > WOFF2_TABLES_MAX ||
		!add_part(woff, woff->metadata[0], woff->metadata[1]) ||
		!add_part(woff, be32(p + 36), be32(p + 40))) {
		verdict_because(CARVE_REJECT, woff->finding, "impossible lengths at 8");
		return false;
	}
	woff->finding->extension = *is_woff2 ? "woff2" : "woff";
	return true;
}

/* assembled: a file in pieces is put together. */
static enum verdict check_font(struct view *view, struct finding *finding, bool assembled)
{
	struct woff woff = { .view = view, .finding = finding, .assembled = assembled };
	const uint8_t *p;
	bool is_woff2;

	if (!read_header(&woff, &is_woff2))
		return CARVE_REJECT;
	p = view_peek(view, 0, 24);
	if (!is_woff2)
		return check_1(&woff);
	return p ? check_2(&woff, memcmp(p + 4, "ttcf", 4) == 0, be32(p + 20)) : CARVE_REJECT;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return check_font(view, finding, view_thorough(view) || view_wants_states(view));
}

/* ---- files in pieces ----------------------------------------------------------------------- */

/* Finds the first compressed table of 1.0 that begins at an offset, and what is known if those before it are valid. */
static bool find_table(
	struct woff *woff, uint64_t at, struct woff_state *state, struct woff_entry *found)
{
	struct deflate_codes ignored;
	struct woff_entry entry;
	bool is_found = false;

	*state = (struct woff_state){ .valid_end =
					      DIRECTORY_AT + ENTRY_LEN * (uint64_t)woff->count };
	for (uint32_t i = 0; i < woff->count; i++) {
		if (!read_entry(woff, i, &entry))
			return false;
		if (entry.at == at && !is_found && begin_codes(&entry, &ignored)) {
			is_found = true;
			state->index = i;
			*found = entry;
		} else if (entry.at < at || (entry.at == at && !is_found)) {
			state->table_count++;
			if (end_of(&entry) > state->valid_end)
				state->valid_end = end_of(&entry);
		}
	}
	return is_found;
}

/* Where a check was: before a table, or in its codes. False: it is no state of it. */
static bool load_state(struct woff *woff, const struct carve_state *saved, struct woff_state *state,
	struct woff_entry *entry, struct deflate_codes *codes)
{
	if (deflate_codes_load(codes, saved))
		return find_table(woff, codes->member, state, entry) && codes->member;
	codes->member = 0;
	if (saved->len != sizeof(*state))
		return false;
	memcpy(state, saved->data, sizeof(*state));
	return true;
}

/* What makes no trial wants titles, too, which are in the tables before. */
static enum verdict resume(
	struct view *view, const struct carve_state *saved, struct finding *finding)
{
	struct woff woff = { .view = view, .finding = finding, .assembled = true };
	struct deflate_codes codes;
	struct woff_state state;
	struct woff_entry entry = { 0 };
	enum verdict verdict;
	bool is_woff2;

	if (!read_header(&woff, &is_woff2))
		return CARVE_REJECT;
	if (is_woff2 || !view_is_trial(view) || !load_state(&woff, saved, &state, &entry, &codes))
		return check_font(view, finding, true);
	if (codes.member && !walk_codes(&woff, &entry, &codes) &&
		deflate_codes_are_sure(&codes, saved->offset)) {
		woff.valid_end = state.valid_end;
		woff.problem_at = entry.at;
		return judge_damage(&woff, "a table that does not decompress");
	}
	verdict = check_tables(&woff, state);
	return verdict == CARVE_COMPLETE ? check_font(view, finding, true) : verdict;
}

/* The table in which the view ends. False: it ends in none. */
static bool find_last(struct woff *woff, struct woff_entry *entry)
{
	for (uint32_t i = 0; i < woff->count && read_entry(woff, i, entry); i++)
		if (entry->at < view_size(woff->view) && end_of(entry) > view_size(woff->view))
			return true;
	return false;
}

static void *begin_break(struct view *view, const struct carve_state *saved)
{
	struct finding ignored = { 0 };
	struct woff woff = { .view = view, .finding = &ignored };
	struct deflate_codes codes, last;
	struct woff_entry entry;
	bool is_woff2;

	if (!read_header(&woff, &is_woff2) || is_woff2 || !find_last(&woff, &entry) ||
		!begin_codes(&entry, &codes))
		return NULL;
	if (saved && deflate_codes_load(&last, saved) && last.member == codes.member)
		codes = last;
	return deflate_break_new(view, &codes);
}

static const struct carve_codes break_codes = {
	.begin = begin_break, .ask = deflate_break_ask, .end = deflate_break_free, .goes_on = true
};

const struct carver woff_carver = {
	.name = "woff",
	.summary = "WOFF and WOFF2 fonts, by their tables",
	.check = check,
	.resume = resume,
	.codes = &break_codes,
};
