/*
 * What the parts of the PDF carver share: pdf.c walks the file's objects and judges, pdf_object.c
 * reads tokens and values, pdf_stream.c finds where streams end, pdf_xref.c follows the
 * cross-references, pdf_info.c reads title and date.
 */
#ifndef BURIN_CARVERS_DOCUMENTS_PDF_H
#define BURIN_CARVERS_DOCUMENTS_PDF_H

#include <stdbool.h>

#include "carver.h"
#include "cursor.h"

enum pdf_kind {
	PDF_CUT, /* the view ended */
	PDF_BAD, /* no token of PDF */
	PDF_NUMBER,
	PDF_NAME,
	PDF_STRING,
	PDF_DICT,
	PDF_DICT_END,
	PDF_ARRAY,
	PDF_ARRAY_END,
	PDF_WORD,
	PDF_EOF,    /* the comment %%EOF */
	PDF_HEADER, /* the comment %PDF-: another file starts */
};

struct pdf_token {
	enum pdf_kind kind;
	uint64_t at;    /* the cursor is behind it */
	int64_t number; /* of PDF_NUMBER, without a fraction; huge ones are cut */
	char text[16];  /* of PDF_NAME and PDF_WORD, cut */
};

/* Reads the next token. */
enum pdf_kind pdf_next(struct cursor *cursor, struct pdf_token *token);

/* What matters here in a dictionary: 0 where it is absent. */
struct pdf_value {
	bool is_dict;
	bool has_length, indirect_length;
	uint64_t length;      /* of the stream, where it stands in the dictionary */
	bool is_xref;         /* /Type /XRef */
	bool flate;           /* the first filter is FlateDecode */
	bool encrypted;       /* /Encrypt */
	uint64_t prev;        /* /Prev */
	uint64_t xref_stream; /* /XRefStm */
	bool linearized;
	uint64_t linear_len;                        /* /L */
	uint32_t info;                              /* object number of /Info */
	uint64_t title_at, created_at, modified_at; /* the strings */
};

/* Reads tokens up to the word that ends an object (endobj, stream, ...), or to what can't stand in
 * one: `last`, with the cursor behind it. Where an object without endobj is followed by
 * another, `last` is a PDF_WORD with empty text and the cursor is in front of that. */
void pdf_read_value(struct cursor *cursor, struct pdf_value *value, struct pdf_token *last);

/* Places in the file, found in rising order. */
struct pdf_places {
	struct pdf_place {
		uint64_t at;
		uint32_t number; /* of the object; sections have none */
		bool done;
	} * list;
	size_t count, room, max;
};

/* Adds a place; beyond `max`, nothing. */
void pdf_places_add(struct pdf_places *places, uint64_t at, uint32_t number);

struct pdf {
	struct view *view;
	struct finding *finding;
	struct cursor cursor;
	struct pdf_places objects;
	struct pdf_places sections; /* xref tables, and objects that are xref streams */
	uint64_t sound;             /* behind the last sound thing */
	uint64_t eof;               /* behind the last %%EOF; 0: none */
	uint64_t startxref;         /* the number before it */
	uint64_t linear_len;
	uint64_t stream_at;  /* where the data of the stream begin that the walk broke in, or 0 */
	uint64_t stream_end; /* they end here at the latest */
	bool flate;          /* that stream is deflated */
	bool goes_on;        /* an object begins behind the last %%EOF */
	uint64_t inexact;    /* a stream whose /Length is wrong, or 0 */
	uint64_t doubtful;   /* one where it is wrong by much, or 0 */
	uint32_t info;       /* object number of the last trailer's /Info */
	bool encrypted;
};

enum pdf_stream {
	PDF_STREAM_ENDS,    /* the cursor is behind `endstream` */
	PDF_STREAM_NEARLY,  /* the same, but /Length is wrong by a few bytes */
	PDF_STREAM_DIFFERS, /* the same, but /Length is wrong by more */
	PDF_STREAM_LOST,    /* there is no end */
};

/* Passes over the stream whose keyword the cursor is behind. */
enum pdf_stream pdf_skip_stream(struct pdf *pdf, const struct pdf_value *value);

/* Whether the packed data in [start, end) went through a program that took them for text: line ends
 * of one kind alone, or nothing but UTF-8. */
bool pdf_converted(struct view *view, uint64_t start, uint64_t end);

/* How far that stream's data are sound, if its end was not found. */
uint64_t pdf_stream_sound(struct pdf *pdf);

/* Follows the cross-references from the last startxref on: what is wrong with them, or NULL. A walk
 * that started `*shift` bytes late (something stood before the header) is forgiven. */
const char *pdf_check_xref(struct pdf *pdf, uint64_t *shift, uint64_t *wrong_at);

/* Reads title and date from the information dictionary. */
void pdf_read_info(struct pdf *pdf);

#endif
