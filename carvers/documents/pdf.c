/*
 * PDF (ISO 32000-2; earlier: Adobe's PDF Reference, sixth edition).
 *
 *	file:     %PDF-1.n, then revisions
 *	revision: objects, cross-references, startxref, their offset, %%EOF
 *	object:   number, generation, obj, a value, [stream ... endstream,] endobj
 *
 * A file saved again has a later revision after its first %%EOF. A linearized file has its first
 * page's cross-references at its beginning, followed by an %%EOF, and states its length in its
 * first object. Readers search the last %%EOF from the file's end; here all objects are walked, and
 * the file ends after the %%EOF (and a line end) that no further object follows.
 *
 * The checks: the syntax of every object; the ends of all streams against their /Length; that a
 * linearized file does not end after its early %%EOF; and the cross-references: startxref and each
 * /Prev must refer to some, and their entries to objects of the walk. The content of other streams
 * is decompressed only if needed.
 *
 * Damage. The valid part ends after the last object that parses, or inside a stream: where its
 * deflated data break. If a later revision is not whole, the file is truncated, too; and if the last cross-references are
 * another file's, which starts at another sector. Programs that
 * took a file for text and converted its line ends or characters moved all that follows: if all
 * objects parse, it is unverified. After bytes that can't be read the walk goes on at the end of the next
 * object, or at cross-references.
 */
#include "pdf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "walk.h"

#define MAX_OBJECTS ((size_t)1 << 18)
#define MAX_SECTIONS ((size_t)4096)
#define MAX_PADDING 1024
#define MAX_KEPT 65536
/* A token may reach this far before it turns out not to be one. */
#define TOKEN_LATE 65536
/* How far after bytes that can't be read the next object's end is looked for. */
#define UNREAD_FAR ((uint64_t)4 << 20)

/* Ends a revision after %%EOF and one line end, perhaps with a blank before it. */
static void end_revision(struct pdf *pdf, uint64_t startxref)
{
	struct cursor *cursor = &pdf->cursor;
	uint64_t end = cursor->at;

	if (cursor_peek(cursor) == ' ')
		cursor->at++;
	if (cursor_peek(cursor) == '\r')
		end = ++cursor->at;
	if (cursor_peek(cursor) == '\n')
		end = ++cursor->at;
	cursor->at = end;
	pdf->startxref = startxref;
	pdf->continues = false;
	pdf->eof = pdf->valid_end = end;
}

/* Reads startxref's number and %%EOF; the cursor is after the word. */
static bool read_startxref(struct pdf *pdf)
{
	struct pdf_token number, token;

	if (pdf_next(&pdf->cursor, &number) != PDF_NUMBER || number.number < 0)
		return false;
	pdf->valid_end = pdf->cursor.at;
	if (pdf_next(&pdf->cursor, &token) != PDF_EOF)
		return false;
	end_revision(pdf, (uint64_t)number.number);
	return true;
}

/* Reads xref's subsections, trailer, its dictionary. */
static bool read_table(struct pdf *pdf, uint64_t at)
{
	struct pdf_token token;
	struct pdf_value value;

	pdf_places_add(pdf->view, &pdf->sections, at, 0);
	do {
		pdf->valid_end = pdf->cursor.at;
		pdf_next(&pdf->cursor, &token);
	} while (token.kind == PDF_NUMBER ||
		 (token.kind == PDF_WORD && strchr("nf", token.text[0]) && !token.text[1]));
	if (token.kind != PDF_WORD || strcmp(token.text, "trailer") != 0)
		return false;
	pdf_read_value(&pdf->cursor, &value, &token);
	if (token.kind != PDF_WORD || !value.is_dict)
		return false;
	pdf->valid_end = token.text[0] ? token.at : pdf->cursor.at;
	pdf->cursor.at = pdf->valid_end;
	return true;
}

/* Reads a stream with its endobj. */
static bool read_stream(struct pdf *pdf, const struct pdf_value *value)
{
	struct pdf_token token;
	enum pdf_stream end = pdf_skip_stream(pdf, value);

	if (end == PDF_STREAM_LOST)
		return false;
	if (end == PDF_STREAM_DIFFERS && !pdf->doubtful)
		pdf->doubtful = pdf->stream_at;
	if (end != PDF_STREAM_ENDS)
		pdf->inexact = pdf->stream_at;
	if (pdf->decodes && !pdf_prove_stream(pdf, value))
		return false;
	if (!pdf->decodes && !pdf->undecoded && !pdf_stream_decodes(pdf))
		pdf->undecoded = pdf->stream_at;
	pdf->stream_at = 0;
	pdf->valid_end = pdf->cursor.at;
	if (pdf_next(&pdf->cursor, &token) == PDF_WORD && strcmp(token.text, "endobj") == 0)
		pdf->valid_end = pdf->cursor.at;
	pdf->cursor.at = pdf->valid_end;
	return true;
}

/* Reads generation, obj, ...; `number` was read. */
static bool read_object(struct pdf *pdf, const struct pdf_token *number)
{
	struct cursor *cursor = &pdf->cursor;
	struct pdf_token token;
	struct pdf_value value;

	if (pdf_next(cursor, &token) != PDF_NUMBER || pdf_next(cursor, &token) != PDF_WORD ||
		strcmp(token.text, "obj") != 0)
		return false;
	pdf->continues = true;
	pdf_read_value(cursor, &value, &token);
	if (token.kind != PDF_WORD)
		return false;
	if (pdf->objects.count == 0 && !pdf->resumed && value.linearized)
		pdf->linear_len = value.linear_len;
	pdf_places_add(pdf->view, &pdf->objects, number->at, (uint32_t)number->number);
	if (value.is_xref)
		pdf_places_add(pdf->view, &pdf->sections, number->at, 0);
	if (strcmp(token.text, "stream") == 0)
		return read_stream(pdf, &value);
	if (strcmp(token.text, "endobj") != 0)
		cursor->at = token.text[0] ? token.at : cursor->at;
	pdf->valid_end = cursor->at;
	return true;
}

/* Reads the next item at the outermost level; false: it does not belong to the file. */
static bool read_part(struct pdf *pdf, struct pdf_token *token)
{
	switch (pdf_next(&pdf->cursor, token)) {
	case PDF_NUMBER:
		return read_object(pdf, token);
	case PDF_EOF:
		/* Without startxref it counts as a comment. */
		pdf->cursor.at = token->at + 5;
		return !pdf->eof || pdf->valid_end > pdf->eof;
	case PDF_WORD:
		break;
	default:
		return false;
	}
	if (strcmp(token->text, "xref") == 0)
		return read_table(pdf, token->at);
	if (strcmp(token->text, "startxref") == 0)
		return read_startxref(pdf);
	/* A second endobj. */
	return strcmp(token->text, "endobj") == 0 && (pdf->objects.count || pdf->resumed);
}

/* Moves from a part in which bytes can't be read to the end of an object, to a table or to startxref. */
static bool skip_unread(struct pdf *pdf, const struct pdf_token *token)
{
	uint64_t lost = pdf->valid_end, at, end;
	struct cursor *cursor = &pdf->cursor;

	if (!walk_unread(pdf->view, lost, (lost > token->at ? lost : token->at) + TOKEN_LATE, &at))
		return false;
	end = at + UNREAD_FAR;
	for (; walk_find_word(pdf->view, &at, end, "endoxrefstar%PDF"); at++) {
		bool ends;

		cursor_forget(cursor);
		cursor->at = at;
		if (cursor_at_text(cursor, "%PDF-"))
			return false;
		ends = cursor_at_text(cursor, "endobj");
		if (!ends && !cursor_at_text(cursor, "xref") &&
			!cursor_at_text(cursor, "startxref"))
			continue;
		cursor->at += ends ? 6 : 0;
		view_unverified(pdf->view, lost, cursor->at);
		pdf->valid_end = cursor->at;
		pdf->stream_at = 0;
		pdf->lost = pdf->continues = true;
		return true;
	}
	return false;
}

/* A linearized file's end, if it was padded after its %%EOF. */
static uint64_t padded_end(struct pdf *pdf)
{
	uint64_t len = pdf->linear_len;
	const uint8_t *p;

	if (len <= pdf->eof || len - pdf->eof > MAX_PADDING)
		return pdf->eof;
	p = view_peek(pdf->view, pdf->eof, (size_t)(len - pdf->eof));
	cursor_forget(&pdf->cursor);
	for (uint64_t i = 0; p && i < len - pdf->eof; i++)
		if (!memchr(" \t\r\n", p[i], 5))
			return pdf->eof;
	return p ? len : pdf->eof;
}

/* The verdict if the last revision is whole. */
static enum verdict judge_whole(struct pdf *pdf)
{
	struct finding *finding = pdf->finding;
	const char *problem;
	uint64_t shift, wrong_at, foreign;

	finding->length = padded_end(pdf);
	problem = pdf_check_xref(pdf, &shift, &wrong_at);
	/* Cut after its early %%EOF; else something at the end was lost or never existed. */
	if (problem && pdf->linear_len > finding->length)
		return verdict_because(CARVE_TRUNCATED, finding,
			"the linearized length is %" PRIu64 ", but the file ends at %" PRIu64,
			pdf->linear_len, finding->length);
	if (problem && pdf->lost)
		return verdict_because(
			CARVE_UNVERIFIED, finding, "%s: %" PRIu64, problem, wrong_at);
	if (problem && pdf->doubtful && pdf_converted(pdf->view, pdf->doubtful, finding->length))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the file was converted like text, as the stream at %" PRIu64 " shows",
			pdf->doubtful);
	/* Another file's end, as only that has these offsets. */
	if ((problem || shift) && pdf->doubtful) {
		finding->length = pdf->doubtful;
		return verdict_because(CARVE_TRUNCATED, finding,
			"the stream at %" PRIu64 " does not end at its /Length", pdf->doubtful);
	}
	foreign = problem ? pdf_foreign_start(pdf) / SECTOR * SECTOR : 0;
	if (foreign) {
		finding->length = foreign;
		return verdict_because(CARVE_TRUNCATED, finding,
			"the cross-references are another file's, whose objects begin after "
			"%" PRIu64,
			foreign);
	}
	if (problem)
		return verdict_because(
			walk_over_wrong(pdf->view), finding, "%s: %" PRIu64, problem, wrong_at);
	if (pdf->wrong_entries)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no object where the cross-references have one, %" PRIu64 " times",
			pdf->wrong_entries);
	if (pdf->undecoded && !pdf->encrypted)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the deflated stream at %" PRIu64 " is invalid", pdf->undecoded);
	if (shift)
		return verdict_because(CARVE_COMPLETE, finding,
			"offsets count %" PRIu64 " bytes before the header", shift);
	if (pdf->inexact)
		return verdict_because(CARVE_COMPLETE, finding,
			"whole, but the stream at %" PRIu64 " has a wrong /Length", pdf->inexact);
	return CARVE_COMPLETE;
}

/* The verdict if the token does not belong to the file. */
static enum verdict judge_end(struct pdf *pdf, const struct pdf_token *token)
{
	struct finding *finding = pdf->finding;
	uint64_t size = view_size(pdf->view), broken = pdf->stream_at, at = token->at;

	if (!pdf->objects.count && !pdf->resumed && !broken)
		return verdict_because(CARVE_REJECT, finding, "no PDF object at %" PRIu64, at);
	if (pdf->eof && pdf->valid_end == pdf->eof && !pdf->continues) {
		if (!pdf->resumed)
			return judge_whole(pdf);
		/* The cross-references have all objects. */
		view_start_over(pdf->view);
		return CARVE_TRUNCATED;
	}
	finding->length = broken ? pdf_stream_valid_end(pdf) : pdf->valid_end;
	cursor_forget(&pdf->cursor);
	if (finding->length >= size || cursor_peek(&pdf->cursor) < 0) {
		/* An object that the image cuts is kept up to the image's end, but not a wiped
		 * area. */
		if (!broken && view_ends_with_image(pdf->view) && size - pdf->valid_end < MAX_KEPT)
			finding->length = walk_before_fill(pdf->view, pdf->valid_end, size);
		return walk_cut(pdf->view, finding, size + 1, finding->length);
	}
	if (broken)
		return verdict_because(
			CARVE_TRUNCATED, finding, "no end of the stream at %" PRIu64, broken);
	return verdict_because(CARVE_TRUNCATED, finding, "no PDF object at %" PRIu64, at);
}

static bool read_header(struct cursor *cursor)
{
	const uint8_t *p = cursor_bytes(cursor, 8);

	if (!p || memcmp(p, "%PDF-", 5) != 0 || p[5] < '1' || p[5] > '2' || p[6] != '.' ||
		p[7] < '0' || p[7] > '9')
		return false;
	cursor->at += 8;
	/* The rest of the line, as if it were a comment. */
	while (cursor->at < 64) {
		int byte = cursor_peek(cursor);

		if (byte < 0 || byte == '\r' || byte == '\n')
			break;
		cursor->at++;
	}
	return true;
}

/* Bytes from one state to the next. */
#define STATE_STEP 1024

/* What of a walk does not depend on its objects' places. */
struct state {
	uint64_t valid_end, eof, startxref, linear_len, inexact, doubtful, undecoded;
	bool continues, lost, proved;
};

/* Saves the state after a part of which the walk saw one more byte. */
static void save_state(struct pdf *pdf)
{
	struct state kept = { pdf->valid_end, pdf->eof, pdf->startxref, pdf->linear_len,
		pdf->inexact, pdf->doubtful, pdf->undecoded, pdf->continues, pdf->lost,
		pdf->proved };
	struct carve_state state = { pdf->valid_end + 1, sizeof(kept), &kept };

	if (pdf->valid_end < pdf->saved + STATE_STEP || pdf->cursor.at != pdf->valid_end)
		return;
	pdf->saved = pdf->valid_end;
	view_save(pdf->view, &state);
}

static void go_on_from(struct pdf *pdf, const struct carve_state *state)
{
	struct state kept;

	memcpy(&kept, state->data, sizeof(kept));
	pdf->cursor.at = pdf->valid_end = pdf->saved = kept.valid_end;
	pdf->eof = kept.eof;
	pdf->startxref = kept.startxref;
	pdf->linear_len = kept.linear_len;
	pdf->inexact = kept.inexact;
	pdf->doubtful = kept.doubtful;
	pdf->undecoded = kept.undecoded;
	pdf->continues = kept.continues;
	pdf->lost = kept.lost;
	pdf->proved = kept.proved;
	pdf->resumed = true;
}

/* from: NULL, or where the walk goes on. */
static enum verdict walk(struct view *view, const struct carve_state *from, struct finding *finding)
{
	bool saves = view_wants_states(view);
	struct pdf pdf = { .view = view,
		.finding = finding,
		.cursor.view = view,
		.objects.max = MAX_OBJECTS,
		.sections.max = MAX_SECTIONS,
		.decodes = walk_assembles(view) };
	struct pdf_token token = { 0 };
	enum verdict verdict;

	if (from)
		go_on_from(&pdf, from);
	else if (!read_header(&pdf.cursor))
		return verdict_because(CARVE_REJECT, finding, "no PDF header with a version at 0");
	while (read_part(&pdf, &token) || skip_unread(&pdf, &token))
		if (saves)
			save_state(&pdf);
	cursor_forget(&pdf.cursor);
	verdict = judge_end(&pdf, &token);
	cursor_forget(&pdf.cursor);
	if (verdict != CARVE_REJECT && !from)
		pdf_read_info(&pdf);
	free(pdf.objects.list);
	free(pdf.sections.list);
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return walk(view, NULL, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	return walk(view, state, finding);
}

const struct carver pdf_carver = {
	.name = "pdf",
	.summary = "PDF documents, by their objects and cross-references",
	.check = check,
	.resume = resume,
	.map = &pdf_map,
};
