/*
 * Shared by the files of the PDF carver: pdf.c walks the file's objects and decides the verdict,
 * pdf_object.c reads tokens and values, pdf_stream.c finds where streams end, pdf_xref.c follows
 * the cross-references, pdf_info.c reads title and date, pdf_map.c finds the pieces of a file by its
 * cross-references.
 */
#ifndef BURIN_CARVERS_DOCUMENTS_PDF_H
#define BURIN_CARVERS_DOCUMENTS_PDF_H

#include <stdbool.h>

#include "carver.h"
#include "cursor.h"
#include "inflated.h"

enum pdf_kind {
	PDF_CUT, /* the view ended */
	PDF_BAD, /* not a PDF token */
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
	uint64_t at;    /* the cursor is after it */
	int64_t number; /* of PDF_NUMBER, without a fraction; huge ones are cut */
	char text[16];  /* of PDF_NAME and PDF_WORD, cut */
};

/* Reads the next token. */
enum pdf_kind pdf_next(struct cursor *cursor, struct pdf_token *token);

/* The relevant entries of a dictionary: 0 if absent. */
struct pdf_value {
	bool is_dict;
	bool has_length, indirect_length;
	uint64_t length; /* of the stream, if the dictionary has it */
	bool is_xref;    /* /Type /XRef */
	bool flate;      /* the first filter is FlateDecode, or the second, after ASCII85Decode, */
	bool ascii;      /* which is the first */
	bool jpeg;       /* the first filter is DCTDecode */
	bool encrypted;  /* /Encrypt */
	uint64_t prev;   /* /Prev */
	uint64_t xref_stream; /* /XRefStm */
	bool linearized;
	uint64_t linear_len;                        /* /L */
	uint32_t info;                              /* object number of /Info */
	uint64_t title_at, created_at, modified_at; /* the strings */
};

/* Reads tokens up to the word that ends an object (endobj, stream, ...), or that cannot be in one:
 * `last`, with the cursor after it. If another object follows without an endobj, `last` is a
 * PDF_WORD with empty text and the cursor is before that object. */
void pdf_read_value(struct cursor *cursor, struct pdf_value *value, struct pdf_token *last);

/* A table of cross-references, line by line. Zero-initialise. */
struct pdf_lines {
	uint64_t number, generation, at; /* of an object */
	struct pdf_token last;           /* that began what was read last */
	uint64_t next, left;             /* of the subsection: the next number, and how many */
};

/* Reads the next line of an object; the cursor is after `xref`, or the line before. False: there is none. */
bool pdf_next_object(struct cursor *cursor, struct pdf_lines *lines);

/* Offsets in the file, in rising order. */
struct pdf_places {
	struct pdf_place {
		uint64_t at;
		uint32_t number; /* of the object; sections have none */
		bool done;
	} * list;
	size_t count, room, max;
};

/* Adds an offset, unless there are `max` already. */
void pdf_places_add(struct view *view, struct pdf_places *places, uint64_t at, uint32_t number);

struct pdf {
	struct view *view;
	struct finding *finding;
	struct cursor cursor;
	struct pdf_places objects;
	struct pdf_places sections; /* xref tables, and objects that are xref streams */
	uint64_t valid_end;         /* validated up to here */
	uint64_t eof;               /* after the last %%EOF; 0: none */
	uint64_t startxref;         /* the number before it */
	uint64_t linear_len;
	uint64_t stream_at;  /* the data of the stream in which the walk broke off, or 0 */
	uint64_t stream_end; /* their end, at most */
	bool flate;          /* that stream is deflated, */
	bool ascii;          /* and is in ASCII85, as others may be, */
	bool jpeg;           /* or is a JPEG picture */
	bool continues;      /* an object begins after the last %%EOF */
	bool lost;           /* objects, in bytes that can't be read */
	uint64_t inexact;    /* a stream whose /Length is wrong, or 0 */
	uint64_t doubtful;   /* one that is wrong by much, or 0 */
	uint64_t
		undecoded; /* a deflated stream that is invalid, or 0; those of encrypted files are */
	uint64_t wrong_entries; /* of the cross-references: without their object */
	uint32_t info;          /* object number of the last trailer's /Info */
	bool encrypted;
	bool proved; /* the checksum of a stream that may be encrypted was right */
	/* A file in pieces: streams are decoded as they come. */
	bool decodes;
	bool resumed;   /* objects before the state that it went on from are not known */
	uint64_t saved; /* where a state was saved last, or 0 */
	struct pdf_inflated {
		uint64_t at,
			end; /* of the stream that was inflated last, and how far it is valid; 0: none was */
		enum inflated_state state;
	} inflated;
};

enum pdf_stream {
	PDF_STREAM_ENDS,    /* the cursor is after `endstream` */
	PDF_STREAM_NEARLY,  /* the same, but /Length is wrong by a few bytes */
	PDF_STREAM_DIFFERS, /* the same, but /Length is wrong by more */
	PDF_STREAM_LOST,    /* there is no end */
};

/* Skips the stream whose keyword the cursor is after. */
enum pdf_stream pdf_skip_stream(struct pdf *pdf, const struct pdf_value *value);

/* Whether a program converted the compressed data in [start, end) as if they were text: line ends
 * of one kind alone, or only UTF-8. */
bool pdf_converted(struct view *view, uint64_t start, uint64_t end);

/* Decodes data in ASCII85 from *at on, at most to `end`, which are deflated, or not; *at is then where they ended or became
 * invalid. MORE, too, if the budget or memory is spent. */
enum inflated_state pdf_ascii85_walk(struct view *view, bool flate, uint64_t *at, uint64_t end);

/* Declares a deflated stream as proved if it ends with its checksum. False: it is damaged, or a picture that is
 * none by its markers. */
bool pdf_prove_stream(struct pdf *pdf, const struct pdf_value *value);

/* Whether the stream, whose `endstream` the cursor is after, is not deflated, or inflates to its end. */
bool pdf_stream_decodes(struct pdf *pdf);

/* How far that stream's data are valid, if its end was not found; if it is not deflated, up to bytes that
 * can't be read. */
uint64_t pdf_stream_valid_end(struct pdf *pdf);

/* Follows the cross-references from the last startxref on: what is wrong with them, or NULL. If
 * something preceded the header, all offsets may be too large by the same number, *shift. */
const char *pdf_check_xref(struct pdf *pdf, uint64_t *shift, uint64_t *wrong_at);

/* Visits the objects that the section at `at` lists, with their offsets, in its order. False: it can't be read to its
 * end. */
bool pdf_visit_stream(struct view *view, uint64_t at,
	void (*visit)(void *context, uint64_t number, uint64_t at), void *context);

/* Where another file's objects begin, at the latest, if the last cross-references are that file's: it starts or started a number
 * of sectors from this one's start, as files in an image do, and its offsets lead to them. 0: it is not so. */
uint64_t pdf_foreign_start(struct pdf *pdf);

/* Reads title and date from the information dictionary. */
void pdf_read_info(struct pdf *pdf);

/* For documents in pieces. */
extern const struct carve_map pdf_map;

#endif
