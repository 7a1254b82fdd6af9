/*
 * PDF's cross-references (ISO 32000-2, 7.5.4 to 7.5.8): `startxref` gives the offset of a table or
 * of a stream, whose /Prev gives that of the previous revision. The walk must have found a section
 * at each of these offsets, and an object at each entry. Readers repair tables whose entries are
 * slightly wrong: more than half must be right, and all in a complete file, since another file's end has
 * references to objects at its own start.
 */
#include "pdf.h"
#include "walk.h"

#include <string.h>

#define TOLERANCE 4    /* bytes of white space allowed before the target of an offset */
#define MAX_SHIFT 4096 /* bytes that may precede the header, and be counted */

void pdf_places_add(struct view *view, struct pdf_places *places, uint64_t at, uint32_t number)
{
	struct pdf_place *list = walk_list_grow(
		view, places->list, places->count, &places->room, places->max, sizeof(*list));

	if (!list)
		return;
	places->list = list;
	places->list[places->count++] = (struct pdf_place){ .at = at, .number = number };
}

/* The place at `at`, or a little after it; NULL: none. */
static struct pdf_place *find_place(const struct pdf_places *places, uint64_t at)
{
	size_t low = 0, high = places->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (places->list[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == places->count || places->list[low].at - at > TOLERANCE)
		return NULL;
	return &places->list[low];
}

bool pdf_next_object(struct cursor *cursor, struct pdf_lines *lines)
{
	struct pdf_token second, kind;

	while (pdf_next(cursor, &lines->last) == PDF_NUMBER &&
		pdf_next(cursor, &second) == PDF_NUMBER) {
		if (!lines->left) {
			lines->next = (uint64_t)lines->last.number;
			lines->left = (uint64_t)second.number;
			continue;
		}
		lines->left--;
		lines->number = lines->next++;
		lines->generation = (uint64_t)second.number;
		lines->at = (uint64_t)lines->last.number;
		if (pdf_next(cursor, &kind) != PDF_WORD)
			return false;
		if (strcmp(kind.text, "n") == 0)
			return true;
	}
	return false;
}

struct pdf_entries {
	struct pdf *pdf;
	uint64_t shift;
	uint64_t right, wrong;
};

/* Counts an entry, by whether the object is there. */
static void count_entry(void *context, uint64_t number, uint64_t at)
{
	struct pdf_entries *entries = context;
	const struct pdf_place *object =
		at < entries->shift ? NULL
				    : find_place(&entries->pdf->objects, at - entries->shift);

	if (object && object->number == (uint32_t)number)
		entries->right++;
	else
		entries->wrong++;
}

/* Counts the entries of the table at the cursor. */
static void count_entries(struct pdf_entries *entries)
{
	struct pdf_lines lines = { 0 };
	struct pdf_token xref;
	struct cursor *cursor = &entries->pdf->cursor;

	pdf_next(cursor, &xref);
	while (pdf_next_object(cursor, &lines))
		count_entry(entries, lines.number, lines.at);
}

/* Checks the section at `at`; *prev is the previous one. */
static bool check_section(struct pdf *pdf, uint64_t at, uint64_t shift, struct pdf_entries *entries,
	uint64_t *prev, uint64_t *xref_stream)
{
	struct cursor *cursor = &pdf->cursor;
	struct pdf_place *section = find_place(&pdf->sections, at - shift);
	struct pdf_value value;
	struct pdf_token token;

	*prev = *xref_stream = 0;
	if (at < shift || !section)
		return false;
	if (section->done)
		return true;
	section->done = true;
	cursor->at = section->at;
	if (cursor_at_text(cursor, "xref")) {
		count_entries(entries);
	} else {
		pdf_visit_stream(pdf->view, section->at, count_entry, entries);
		cursor_forget(cursor);
		/* Number, generation, obj. */
		for (int i = 0; i < 3; i++)
			pdf_next(cursor, &token);
	}
	pdf_read_value(cursor, &value, &token);
	*prev = value.prev;
	*xref_stream = value.xref_stream;
	if (value.info && !pdf->info)
		pdf->info = value.info;
	if (value.encrypted)
		pdf->encrypted = true;
	return true;
}

/* The number of bytes before the header, if startxref counts them. */
static uint64_t guess_shift(const struct pdf *pdf)
{
	const struct pdf_places *sections = &pdf->sections;
	uint64_t last = sections->count ? sections->list[sections->count - 1].at : 0;

	if (last && pdf->startxref > last && pdf->startxref - last <= MAX_SHIFT)
		return pdf->startxref - last;
	return 0;
}

const char *pdf_check_xref(struct pdf *pdf, uint64_t *shift, uint64_t *wrong_at)
{
	uint64_t at = pdf->startxref, prev, xref_stream, ignored;
	struct pdf_entries entries = { .pdf = pdf };

	*shift = find_place(&pdf->sections, at) ? 0 : guess_shift(pdf);
	entries.shift = *shift;
	do {
		*wrong_at = at;
		if (!check_section(pdf, at, *shift, &entries, &prev, &xref_stream))
			return "no cross-references at the offset in startxref or /Prev";
		*wrong_at = xref_stream;
		if (xref_stream &&
			!check_section(pdf, xref_stream, *shift, &entries, &ignored, &ignored))
			return "no cross-references at the offset in /XRefStm";
		at = prev;
	} while (at);
	*wrong_at = pdf->startxref;
	pdf->wrong_entries = pdf->objects.count < pdf->objects.max ? entries.wrong : 0;
	if (entries.wrong > entries.right && pdf->objects.count < pdf->objects.max)
		return "most entries are wrong in the cross-references";
	/* Another file may have begun a few sectors before this one. */
	if (*shift && *shift % SECTOR == 0 && entries.wrong)
		return "entries are wrong in the cross-references, which count bytes before the "
		       "header";
	return NULL;
}

uint64_t pdf_foreign_start(struct pdf *pdf)
{
	const struct pdf_places *sections = &pdf->sections;
	uint64_t at = sections->count ? sections->list[sections->count - 1].at : 0, first = at;
	uint64_t start = at - pdf->startxref; /* modulo 2^64 */
	struct pdf_lines lines = { 0 };
	struct pdf_token xref;
	unsigned right = 0;

	if (!at || !start || start % SECTOR != 0)
		return 0;
	cursor_forget(&pdf->cursor);
	pdf->cursor.at = at;
	if (!cursor_at_text(&pdf->cursor, "xref"))
		return at;
	pdf_next(&pdf->cursor, &xref);
	while (pdf_next_object(&pdf->cursor, &lines)) {
		const struct pdf_place *object = find_place(&pdf->objects, lines.at + start);

		if (!object || object->number != (uint32_t)lines.number)
			continue;
		right++;
		first = object->at < first ? object->at : first;
	}
	return right ? first : 0;
}
