/*
 * Streams in PDF (ISO 32000-2, 7.3.8): the word `stream` and a line end, /Length bytes, an optional
 * line end, `endstream`. If the length is a reference, or wrong, the end is searched: not past the
 * header of another file, and not far past a wrong length.
 */
#include "pdf.h"

#include "bytes.h"
#include "inflated.h"
#include "plain_text.h"
#include "walk.h"

#define SEARCH_MAX ((uint64_t)256 << 20)
#define SEARCH_STEP 65000 /* fits into one view_peek */
#define LENGTH_SLACK 65536
#define END_LEN 12 /* of `endstream`, with what may precede it */
/* Writers and editors are wrong by a few bytes; a lost or foreign part is at least a sector. */
#define MIN_GAP 500
/* Bytes of compressed data in which one value is missing by chance, or always precedes another,
 * once in a million times. */
#define MIN_CONVERTED 4096
#define ADLER_BITS 32 /* see view_proved */
/* Bytes within which inflating an encrypted stream fails. */
#define ENCRYPTED_MAX 64
/* Bytes that may follow deflated data in a stream. */
#define OWN_END_SLACK 4096

static void skip_line_end(struct cursor *cursor)
{
	if (cursor_peek(cursor) == '\r')
		cursor->at++;
	if (cursor_peek(cursor) == '\n')
		cursor->at++;
}

/* Whether `endstream` is at `at`, where the dictionary places it. */
static bool ends_at(struct cursor *cursor, uint64_t at)
{
	cursor->at = at;
	if (at > view_size(cursor->view))
		return false;
	skip_line_end(cursor);
	if (cursor_peek(cursor) == ' ')
		cursor->at++;
	return cursor_at_text(cursor, "endstream");
}

/* Moves to the next `endstream` before end, unless a header comes first. */
static bool search_end(struct pdf *pdf, uint64_t data_at, uint64_t end)
{
	struct cursor *cursor = &pdf->cursor;
	struct cursor header = { .view = pdf->view };

	if (end > view_size(pdf->view))
		end = view_size(pdf->view);
	/* In steps, so that a search that ends at a header stops soon after it. */
	for (uint64_t at = data_at; at < end; at += SEARCH_STEP) {
		uint64_t step_end = end - at > SEARCH_STEP + 16 ? at + SEARCH_STEP + 16 : end;
		bool found;

		cursor->at = header.at = at;
		found = cursor_find(cursor, step_end, "endstream");
		if (cursor_find(&header, found ? cursor->at : step_end, "%PDF-"))
			return false;
		if (found)
			return true;
	}
	return false;
}

/* Inflates the stream from *at on, and moves *at to where it ends or becomes invalid. */
static enum inflated_state inflate_stream(struct pdf *pdf, uint64_t *at)
{
	struct inflated inflated = { 0 };

	if ((!pdf->flate && !pdf->ascii) || pdf->encrypted)
		return INFLATED_BAD;
	if (pdf->inflated.at != *at) {
		pdf->inflated.at = pdf->inflated.end = *at;
		pdf->inflated.state = pdf->ascii
					      ? pdf_ascii85_walk(pdf->view, pdf->flate,
							&pdf->inflated.end, pdf->stream_end)
					      : inflated_walk(&inflated, pdf->view, INFLATED_ZLIB,
							&pdf->inflated.end, pdf->stream_end);
		cursor_forget(&pdf->cursor);
	}
	*at = pdf->inflated.end;
	return pdf->inflated.state;
}

/* Whether a deflated stream, whose end the dictionary does not give, is valid to its own end, or may be encrypted. If it is valid,
 * `endstream` is in [*from, *end). */
static bool find_own_end(struct pdf *pdf, uint64_t *from, uint64_t *end)
{
	uint64_t at = pdf->stream_at;

	if (inflate_stream(pdf, &at) != INFLATED_DONE)
		return !pdf->proved && at - pdf->stream_at < ENCRYPTED_MAX;
	*from = at;
	if (*end > at + OWN_END_SLACK)
		*end = at + OWN_END_SLACK;
	return true;
}

enum pdf_stream pdf_skip_stream(struct pdf *pdf, const struct pdf_value *value)
{
	struct cursor *cursor = &pdf->cursor;
	uint64_t data_at, from, found, search = SEARCH_MAX;
	bool direct = value->has_length && !value->indirect_length;

	skip_line_end(cursor);
	data_at = pdf->stream_at = cursor->at;
	pdf->ascii = value->ascii && pdf->decodes;
	pdf->flate = value->flate && (!value->ascii || pdf->decodes);
	pdf->jpeg = value->jpeg;
	pdf->stream_end = view_size(pdf->view);
	if (direct && value->length < pdf->stream_end - data_at)
		pdf->stream_end = data_at + value->length;
	if (direct && value->length < UINT64_MAX / 4) {
		if (ends_at(cursor, data_at + value->length)) {
			cursor->at += 9;
			return PDF_STREAM_ENDS;
		}
		found = data_at + value->length;
		if (walk_unread(pdf->view, found, found + END_LEN, &search)) {
			pdf->valid_end = found;
			return PDF_STREAM_LOST;
		}
		search = value->length * 2 + LENGTH_SLACK;
	}
	from = data_at;
	search += data_at;
	if (pdf->decodes && (pdf->flate || pdf->ascii) && !find_own_end(pdf, &from, &search))
		return PDF_STREAM_LOST;
	if (!search_end(pdf, from, search))
		return PDF_STREAM_LOST;
	found = cursor->at - data_at;
	cursor->at += 9;
	if (!direct)
		return PDF_STREAM_ENDS;
	if (found < value->length + MIN_GAP && value->length < found + MIN_GAP)
		return PDF_STREAM_NEARLY;
	return PDF_STREAM_DIFFERS;
}

bool pdf_converted(struct view *view, uint64_t start, uint64_t end)
{
	size_t len, high = 0, cr = 0, lf = 0, both = 0, whole;
	const uint8_t *p = walk_window(view, start, end, &len);

	if (!p || len < MIN_CONVERTED)
		return false;
	for (size_t i = 0; i < len; i++) {
		high += p[i] >= 0x80;
		cr += p[i] == '\r';
		lf += p[i] == '\n';
		both += i && p[i] == '\n' && p[i - 1] == '\r';
	}
	/* Not within a character. */
	for (whole = len; len - whole < 3 && p[whole - 1] >> 6 == 2; whole--)
		;
	return high >= len / 4 && (!cr || !lf || lf == both || utf8_valid(p, whole - 1));
}

/* Whether this byte may follow FF at the start of a segment of a JPEG picture. */
static bool is_marker(uint8_t byte)
{
	return byte >= 0xc0 && byte != 0xc8 && (byte < 0xd0 || byte > 0xd8) &&
	       (byte < 0xf0 || byte == 0xfe);
}

/* Moves *at to the marker after coded data, in which FF is followed by 0 or the number of a restart. */
static void skip_coded(struct view *view, uint64_t *at, uint64_t end)
{
	const uint8_t *p;
	size_t len, i;

	while (end - *at >= 2 && (p = walk_window(view, *at, end, &len)) && len >= 2) {
		for (i = 0; i + 1 < len; i++)
			if (p[i] == 0xff && p[i + 1] && p[i + 1] != 0xff &&
				p[i + 1] >> 3 != 0xd0 >> 3)
				break;
		*at += i;
		if (i + 1 < len)
			return;
	}
}

/* How far the stream may be a JPEG picture, by its markers: foreign bytes seldom have only those that may
 * be there. */
static uint64_t jpeg_valid_end(const struct pdf *pdf)
{
	uint64_t at = pdf->stream_at, end = pdf->stream_end;
	const uint8_t *p = end - at >= 2 ? view_peek(pdf->view, at, 2) : NULL;

	if (!p || p[0] != 0xff || p[1] != 0xd8)
		return end; /* it may be encrypted */
	at += 2;
	while (end - at >= 4 && (p = view_peek(pdf->view, at, 4)) && p[0] == 0xff) {
		uint64_t len = p[1] == 0xff ? 1 : 2 + (uint64_t)be16(p + 2);
		bool is_scan = p[1] == 0xda;

		if (p[1] == 0xd9)
			return end;
		if ((p[1] != 0xff && !is_marker(p[1])) || len > end - at)
			return at;
		at += len;
		if (is_scan)
			skip_coded(pdf->view, &at, end);
	}
	/* The end's marker may be the last bytes. */
	return end - at < 4 ? end : at;
}

bool pdf_prove_stream(struct pdf *pdf, const struct pdf_value *value)
{
	uint64_t at = pdf->stream_at;
	enum inflated_state state = inflate_stream(pdf, &at);
	bool fits = !pdf->jpeg || jpeg_valid_end(pdf) == pdf->stream_end;

	cursor_forget(&pdf->cursor);
	if (!fits)
		return false;
	if (state == INFLATED_DONE) {
		if (pdf->flate)
			view_proved(pdf->view, pdf->stream_at, at, ADLER_BITS);
		pdf->proved |= !value->is_xref;
		return true;
	}
	/* An encrypted stream is not deflated from its first bytes on, and so is none of the others. */
	return (!pdf->flate && !pdf->ascii) ||
	       (!pdf->proved && at - pdf->stream_at < ENCRYPTED_MAX);
}

bool pdf_stream_decodes(struct pdf *pdf)
{
	struct inflated inflated = { 0 };
	uint64_t at = pdf->stream_at, end = pdf->cursor.at;
	bool done = !pdf->flate ||
		    inflated_walk(&inflated, pdf->view, INFLATED_ZLIB, &at, end) == INFLATED_DONE;

	cursor_forget(&pdf->cursor);
	return done;
}

uint64_t pdf_stream_valid_end(struct pdf *pdf)
{
	uint64_t at = pdf->stream_at, unread, after;

	if (pdf->jpeg && pdf->decodes)
		return jpeg_valid_end(pdf);
	inflate_stream(pdf, &at);
	at = walk_before_fill(pdf->view, pdf->stream_at, at);
	if (at == pdf->stream_at && view_met_unreadable(pdf->view) &&
		view_unreadable(pdf->view, at, VIEW_MAX_PEEK, &unread, &after))
		return unread;
	return at;
}
