/*
 * A PDF's cross-references give the place of each object, and `startxref`, at the end, that of the
 * cross-references. So an object is found by its number wherever it is in an image. A linearized file
 * has its first page's cross-references at its start, and its length, hence the place of its end; what
 * is before its last `startxref` does not say where it is.
 */
#include "pdf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inflated.h"
#include "walk.h"

/* The words of the map. */
enum { WORD_OBJECT, WORD_START };

#define WINDOW 4096
#define SECTION_FAR \
	((uint64_t)1 << 20) /* bytes before `startxref` in which its section is searched */
#define SECTIONS_MAX 256
#define NUMBERS_MAX 128
#define ROW_MAX 32
#define FIELD_MAX 8

/* What a section says. */
struct section {
	struct view *view;
	struct carve_table *table;
	uint64_t last; /* the largest offset of an object */
	uint64_t prev; /* the offset of the section before; 0: none */
	bool full;     /* no more anchors are wanted */
};

static void add_object(struct section *section, uint64_t number, uint64_t generation, uint64_t at)
{
	struct carve_anchor anchor = { .offset = at, .word = WORD_OBJECT };
	char text[sizeof(anchor.bytes)];
	int len;

	if (!at || section->full || number > UINT32_MAX || generation > UINT16_MAX)
		return;
	len = snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64, number, generation);
	anchor.word_at = (uint8_t)len;
	strcpy(text + len, " obj");
	anchor.len = (uint8_t)(len + 4);
	memcpy(anchor.bytes, text, anchor.len);
	if (at > section->last)
		section->last = at;
	section->full = !section->table->add(section->table, &anchor);
}

/* ---- a table of lines ---------------------------------------------------------------------- */

/* Reads the table whose `xref` the cursor is after, and its trailer. */
static bool read_lines(struct section *section, struct cursor *cursor)
{
	struct pdf_lines lines = { 0 };
	struct pdf_value trailer;
	struct pdf_token last;

	while (pdf_next_object(cursor, &lines))
		add_object(section, lines.number, lines.generation, lines.at);
	if (lines.last.kind != PDF_WORD || strcmp(lines.last.text, "trailer") != 0)
		return false;
	pdf_read_value(cursor, &trailer, &last);
	section->prev = trailer.prev;
	return true;
}

/* ---- a stream ------------------------------------------------------------------------------ */

struct numbers {
	uint64_t items[NUMBERS_MAX];
	size_t count;
};

/* An xref stream's dictionary, and what was decoded. */
struct stream {
	struct section *section;
	struct numbers widths, index, columns, predictor, size, length, prev;
	size_t row_len; /* with the filter's byte, if there is one */
	size_t filled;
	uint8_t row[ROW_MAX + 1], before[ROW_MAX];
	size_t part;    /* of the index */
	uint64_t entry; /* of that part */
};

static struct numbers *numbers_of(struct stream *stream, const char *key)
{
	struct {
		const char *key;
		struct numbers *numbers;
	} rows[] = {
		{ "W", &stream->widths },
		{ "Index", &stream->index },
		{ "Columns", &stream->columns },
		{ "Predictor", &stream->predictor },
		{ "Size", &stream->size },
		{ "Length", &stream->length },
		{ "Prev", &stream->prev },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(rows[i].key, key) == 0)
			return rows[i].numbers;
	return NULL;
}

/* Reads the dictionary, all of whose numbers are those of the name before; the cursor is then after
 * `stream`. */
static bool read_dictionary(struct stream *stream, struct cursor *cursor)
{
	struct numbers *numbers = NULL;
	struct pdf_token token;
	bool is_xref = false;

	while (pdf_next(cursor, &token) != PDF_WORD || strcmp(token.text, "R") == 0) {
		if (token.kind == PDF_NAME) {
			numbers = numbers_of(stream, token.text);
			is_xref |= strcmp(token.text, "XRef") == 0;
		} else if (token.kind == PDF_NUMBER) {
			if (numbers && numbers->count < NUMBERS_MAX && token.number >= 0)
				numbers->items[numbers->count++] = (uint64_t)token.number;
		} else if (token.kind == PDF_CUT || token.kind == PDF_BAD ||
			   token.kind == PDF_EOF || token.kind == PDF_HEADER) {
			return false;
		}
	}
	return is_xref && strcmp(token.text, "stream") == 0;
}

static uint64_t read_field(const uint8_t *bytes, uint64_t width)
{
	uint64_t value = 0;

	while (width--)
		value = value << 8 | *bytes++;
	return value;
}

static void add_entry(struct stream *stream, const uint8_t *row)
{
	const uint64_t *widths = stream->widths.items, *index = stream->index.items;
	uint64_t kind = widths[0] ? read_field(row, widths[0]) : 1;
	uint64_t at = read_field(row + widths[0], widths[1]);
	uint64_t generation = read_field(row + widths[0] + widths[1], widths[2]);

	while (stream->part + 1 < stream->index.count && stream->entry >= index[stream->part + 1]) {
		stream->part += 2;
		stream->entry = 0;
	}
	if (stream->part + 1 >= stream->index.count)
		return;
	if (kind == 1)
		add_object(stream->section, index[stream->part] + stream->entry, generation, at);
	stream->entry++;
}

/* Undoes PNG's filter, as far as it is one of those that writers use here. */
static bool unfilter(struct stream *stream, size_t len)
{
	uint8_t *row = stream->row + 1;

	for (size_t i = 0; i < len; i++) {
		if (stream->row[0] == 2)
			row[i] = (uint8_t)(row[i] + stream->before[i]);
		else if (stream->row[0] == 1 && i)
			row[i] = (uint8_t)(row[i] + row[i - 1]);
		else if (stream->row[0] > 2)
			return false;
	}
	memcpy(stream->before, row, len);
	return true;
}

static bool take_rows(void *context, const uint8_t *bytes, size_t len)
{
	struct stream *stream = context;
	bool filtered = stream->predictor.count && stream->predictor.items[0] >= 10;

	while (len--) {
		stream->row[stream->filled++] = *bytes++;
		if (stream->filled < stream->row_len)
			continue;
		stream->filled = 0;
		if (filtered && !unfilter(stream, stream->row_len - 1))
			return false;
		add_entry(stream, stream->row + filtered);
	}
	return !stream->section->full;
}

/* The lengths of fields and rows. */
static bool prepare(struct stream *stream)
{
	const struct numbers *widths = &stream->widths;

	if (widths->count != 3)
		return false;
	for (size_t i = 0; i < 3; i++) {
		if (widths->items[i] > FIELD_MAX)
			return false;
		stream->row_len += widths->items[i];
	}
	if (stream->predictor.count && stream->predictor.items[0] >= 10) {
		if (!stream->columns.count || stream->columns.items[0] != stream->row_len)
			return false;
		stream->row_len++;
	}
	if (!stream->index.count && stream->size.count) {
		stream->index.items[1] = stream->size.items[0];
		stream->index.count = 2;
	}
	return stream->row_len > 1;
}

/* Reads the stream whose dictionary begins at the cursor. */
static bool read_stream(struct section *section, struct cursor *cursor)
{
	struct stream stream = { .section = section };
	struct inflated inflated = { .inspect = take_rows, .context = &stream };
	enum inflated_state state;
	uint64_t at, end;

	if (!read_dictionary(&stream, cursor) || !prepare(&stream))
		return false;
	if (cursor_peek(cursor) == '\r')
		cursor->at++;
	if (cursor_peek(cursor) == '\n')
		cursor->at++;
	at = cursor->at;
	end = view_size(section->view);
	if (stream.length.count && stream.length.items[0] < end - at)
		end = at + stream.length.items[0];
	cursor_forget(cursor);
	state = inflated_walk(&inflated, section->view, INFLATED_ZLIB, &at, end);
	section->prev = stream.prev.count ? stream.prev.items[0] : 0;
	return state == INFLATED_DONE;
}

/* ---- sections ------------------------------------------------------------------------------ */

/* Reads the section at `at`, of either kind. */
static bool read_section(struct section *section, uint64_t at)
{
	struct cursor cursor = { .view = section->view, .at = at };
	struct pdf_token token;

	section->prev = 0;
	if (cursor_at_text(&cursor, "xref")) {
		cursor.at += 4;
		return read_lines(section, &cursor);
	}
	if (pdf_next(&cursor, &token) != PDF_NUMBER || pdf_next(&cursor, &token) != PDF_NUMBER ||
		pdf_next(&cursor, &token) != PDF_WORD || strcmp(token.text, "obj") != 0)
		return false;
	return read_stream(section, &cursor);
}

struct visitor {
	struct carve_table table;
	void (*visit)(void *context, uint64_t number, uint64_t at);
	void *context;
};

static bool visit_anchor(struct carve_table *table, const struct carve_anchor *anchor)
{
	struct visitor *visitor = (struct visitor *)table;

	visitor->visit(
		visitor->context, strtoull((const char *)anchor->bytes, NULL, 10), anchor->offset);
	return true;
}

bool pdf_visit_stream(struct view *view, uint64_t at,
	void (*visit)(void *context, uint64_t number, uint64_t at), void *context)
{
	struct visitor visitor = { .table.add = visit_anchor, .visit = visit, .context = context };
	struct section section = { .view = view, .table = &visitor.table };

	return read_section(&section, at);
}

/* Where the object begins whose " obj" is at p[at]; at: nowhere. */
static size_t object_start(const uint8_t *p, size_t at)
{
	size_t start = at;

	while (start && p[start - 1] >= '0' && p[start - 1] <= '9')
		start--;
	if (!start || start == at || p[start - 1] != ' ')
		return at;
	for (start--; start && p[start - 1] >= '0' && p[start - 1] <= '9';)
		start--;
	return start;
}

/* The last section or object that begins in p[0, len). */
static bool find_last(const uint8_t *p, size_t len, size_t *found)
{
	for (size_t at = len; at-- > 0;) {
		if (at && memcmp(p + at, "xref", 4) == 0 && p[at - 1] != 't') {
			*found = at;
			return true;
		}
		if (memcmp(p + at, " obj", 4) == 0) {
			*found = object_start(p, at);
			return *found != at;
		}
	}
	return false;
}

/* Finds the section before the word at `at`. */
static bool find_section(struct view *view, uint64_t at, uint64_t *found)
{
	uint64_t to = at, least = at < SECTION_FAR ? 0 : at - SECTION_FAR;
	size_t inside;

	while (to > least) {
		uint64_t from = to - least < WINDOW ? least : to - WINDOW;
		const uint8_t *p = view_peek(view, from, (size_t)(to - from) + 4);

		if (!p)
			return false;
		if (find_last(p, (size_t)(to - from), &inside)) {
			*found = from + inside;
			return true;
		}
		if (from == least)
			return false;
		to = from + 32; /* numbers may be before it */
	}
	return false;
}

/* Reads the section that `startxref` at `at` is after, and those before it that are in the same
 * piece. */
static bool read_tail(struct view *view, uint64_t at, struct carve_table *table)
{
	struct section section = { .view = view, .table = table };
	struct cursor cursor = { .view = view, .at = at + strlen("startxref") };
	struct pdf_token number;
	uint64_t first, place;

	if (pdf_next(&cursor, &number) != PDF_NUMBER || number.number <= 0 ||
		!find_section(view, at, &first) || !read_section(&section, first))
		return false;
	place = (uint64_t)number.number;
	if (section.last > place) /* the end of a linearized file */
		return true;
	table->from = place;
	table->at = place + (at - first);
	for (unsigned i = 0; i < SECTIONS_MAX && section.prev; i++) {
		uint64_t prev = section.prev;

		if (prev >= place || place - prev > first || section.full ||
			!read_section(&section, first - (place - prev)))
			break;
		first -= place - prev;
		place = prev;
	}
	return true;
}

/* The last words of a linearized file of that length, whose first section is at `section`. */
static void expect_end(struct carve_table *table, uint64_t len, uint64_t section)
{
	static const char *const ends[] = { "\n", "\r\n", "\r" };

	for (size_t i = 0; i < 3; i++)
		for (unsigned last = 0; last < 2; last++) {
			struct carve_anchor anchor = { .word = WORD_START };
			int text_len = snprintf((char *)anchor.bytes, sizeof(anchor.bytes),
				"startxref%s%" PRIu64 "%s%%%%EOF%s", ends[i], section, ends[i],
				last ? ends[i] : "");

			anchor.len = (uint8_t)text_len;
			anchor.offset = len - anchor.len;
			table->add(table, &anchor);
		}
}

/* Reads the first section of a linearized file. */
static bool read_head(struct view *view, struct carve_table *table)
{
	struct section section = { .view = view, .table = table };
	struct cursor cursor = { .view = view, .at = strlen("%PDF-1.0") };
	struct pdf_token token;
	struct pdf_value value;

	for (int i = 0; i < 3; i++) /* number, generation, obj */
		if (pdf_next(&cursor, &token) != (i < 2 ? PDF_NUMBER : PDF_WORD))
			return false;
	pdf_read_value(&cursor, &value, &token);
	if (!value.linearized || value.linear_len < WINDOW)
		return false;
	pdf_next(&cursor, &token);
	expect_end(table, value.linear_len, token.at);
	read_section(&section, token.at);
	table->length = value.linear_len;
	return true;
}

const struct carve_map pdf_map = {
	.words = { { 4, false, " obj" }, { 8, true, "startxref" } },
	.head = read_head,
	.tail = read_tail,
};
