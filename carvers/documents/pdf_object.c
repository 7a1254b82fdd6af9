/*
 * PDF's tokens and values (ISO 32000-2, 7.2 and 7.3). Values nest, but only the kind of each
 * bracket has to be remembered: a bit for each.
 */
#include "pdf.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SPACE 65536      /* white space and comments between two tokens */
#define MAX_STRING (1 << 24) /* signatures are the longest */
#define MAX_NAME 512
#define MAX_DEPTH 256

static bool is_space(int byte)
{
	return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t' || byte == '\f' ||
	       byte == 0;
}

static bool is_delimiter(int byte)
{
	return byte == '(' || byte == ')' || byte == '<' || byte == '>' || byte == '[' ||
	       byte == ']' || byte == '{' || byte == '}' || byte == '/' || byte == '%';
}

static bool is_regular(int byte)
{
	return byte > ' ' && !is_delimiter(byte);
}

/* Skips white space and comments. PDF_NAME if a token follows. */
static enum pdf_kind skip_space(struct cursor *cursor)
{
	uint64_t end = cursor->at + MAX_SPACE;
	bool comment = false;

	while (cursor->at < end) {
		int byte = cursor_peek(cursor);

		if (byte < 0)
			return PDF_CUT;
		if (comment) {
			comment = byte != '\n' && byte != '\r';
		} else if (byte == '%') {
			if (cursor_at_text(cursor, "%%EOF"))
				return PDF_EOF;
			if (cursor_at_text(cursor, "%PDF-"))
				return PDF_HEADER;
			comment = true;
		} else if (!is_space(byte)) {
			return PDF_NAME;
		}
		cursor->at++;
	}
	return PDF_BAD;
}

static enum pdf_kind read_string(struct cursor *cursor)
{
	uint64_t end = cursor->at + MAX_STRING;
	unsigned depth = 0;

	while (cursor->at < end) {
		int byte = cursor_next(cursor);

		if (byte < 0)
			return PDF_CUT;
		if (byte == '\\')
			cursor_next(cursor);
		else if (byte == '%' && cursor_at_text(cursor, "PDF-"))
			view_part(cursor->view, cursor->at - 1);
		else if (byte == '(')
			depth++;
		else if (byte == ')' && --depth == 0)
			return PDF_STRING;
	}
	return PDF_BAD;
}

static enum pdf_kind read_hex(struct cursor *cursor)
{
	uint64_t end = cursor->at + MAX_STRING;

	while (cursor->at < end) {
		int byte = cursor_next(cursor);

		if (byte < 0)
			return PDF_CUT;
		if (byte == '>')
			return PDF_STRING;
		if (!is_space(byte) && !strchr("0123456789abcdefABCDEF", byte))
			return PDF_BAD;
	}
	return PDF_BAD;
}

static enum pdf_kind read_regular(struct cursor *cursor, char *text, size_t size)
{
	uint64_t start = cursor->at;
	size_t len = 0;
	int byte;

	while (is_regular(byte = cursor_peek(cursor))) {
		if (len < size - 1)
			text[len++] = (char)byte;
		cursor->at++;
		if (cursor->at - start > MAX_NAME)
			return PDF_BAD;
	}
	text[len] = 0;
	return byte < 0 ? PDF_CUT : PDF_NAME;
}

static enum pdf_kind read_word(struct cursor *cursor, struct pdf_token *token)
{
	enum pdf_kind kind = read_regular(cursor, token->text, sizeof(token->text));
	uint64_t len = cursor->at - token->at;

	/* The last word may end with the file. */
	if (kind == PDF_BAD || !token->text[0])
		return kind == PDF_CUT ? PDF_CUT : PDF_BAD;
	/* Some programs write the next object's number without a blank. */
	if (strncmp(token->text, "endobj", 6) == 0 && token->text[6] >= '0' &&
		token->text[6] <= '9') {
		token->text[6] = 0;
		cursor->at = token->at + 6;
	}
	if (strspn(token->text, "+-.0123456789") != strlen(token->text))
		return PDF_WORD;
	token->number = strtoll(token->text, NULL, 10);
	return len < sizeof(token->text) + 16 ? PDF_NUMBER : PDF_BAD;
}

/* << and >> too. */
static enum pdf_kind read_bracket(struct cursor *cursor, int byte)
{
	if (byte == '(')
		return read_string(cursor);
	cursor->at++;
	if (byte == '[' || byte == ']')
		return byte == '[' ? PDF_ARRAY : PDF_ARRAY_END;
	if (byte != '<' && byte != '>')
		return PDF_BAD;
	if (cursor_peek(cursor) == byte) {
		cursor->at++;
		return byte == '<' ? PDF_DICT : PDF_DICT_END;
	}
	return byte == '<' ? read_hex(cursor) : PDF_BAD;
}

enum pdf_kind pdf_next(struct cursor *cursor, struct pdf_token *token)
{
	enum pdf_kind kind = skip_space(cursor);
	int byte;

	token->at = cursor->at;
	token->text[0] = 0;
	if (kind == PDF_EOF || kind == PDF_HEADER)
		cursor->at += 5;
	if (kind != PDF_NAME)
		return token->kind = kind;
	byte = cursor_peek(cursor);
	if (byte == '/') {
		cursor->at++;
		kind = read_regular(cursor, token->text, sizeof(token->text));
	} else if (is_delimiter(byte)) {
		kind = read_bracket(cursor, byte);
	} else {
		kind = read_word(cursor, token);
	}
	return token->kind = kind;
}

/* The state of reading a value: the enclosing brackets, and the current entry of the outermost
 * dictionary. */
struct pdf_nest {
	unsigned depth;
	uint8_t dicts[MAX_DEPTH / 8]; /* a bit each: dictionary, else array */
	char key[16];
	bool has_value;
	int64_t numbers[2]; /* the value's, or of an array in it */
	unsigned number_count;
	uint64_t value_at;
	char name[16], second[16]; /* the value, or the first names in it */
};

static bool in_dict(const struct pdf_nest *nest)
{
	unsigned top = nest->depth - 1;

	return nest->dicts[top / 8] >> top % 8 & 1;
}

static bool push(struct pdf_nest *nest, bool dict)
{
	uint8_t bit = (uint8_t)(1 << nest->depth % 8);

	if (nest->depth == MAX_DEPTH)
		return false;
	nest->dicts[nest->depth / 8] &= (uint8_t)~bit;
	if (dict)
		nest->dicts[nest->depth / 8] |= bit;
	nest->depth++;
	return true;
}

static void store_entry(struct pdf_value *value, const struct pdf_nest *nest)
{
	const char *key = nest->key;
	bool indirect = nest->number_count == 2;
	uint64_t number =
		nest->number_count && nest->numbers[0] > 0 ? (uint64_t)nest->numbers[0] : 0;

	if (strcmp(key, "Length") == 0 && nest->number_count) {
		value->has_length = true;
		value->indirect_length = indirect;
		value->length = number;
	} else if (strcmp(key, "Type") == 0) {
		value->is_xref = strcmp(nest->name, "XRef") == 0;
	} else if (strcmp(key, "Filter") == 0) {
		value->ascii = strcmp(nest->name, "ASCII85Decode") == 0;
		value->flate = strcmp(value->ascii ? nest->second : nest->name, "FlateDecode") == 0;
		value->jpeg = strcmp(nest->name, "DCTDecode") == 0;
	} else if (strcmp(key, "Prev") == 0) {
		value->prev = number;
	} else if (strcmp(key, "XRefStm") == 0) {
		value->xref_stream = number;
	} else if (strcmp(key, "Encrypt") == 0) {
		value->encrypted = true;
	} else if (strcmp(key, "Linearized") == 0) {
		value->linearized = true;
	} else if (strcmp(key, "L") == 0) {
		value->linear_len = number;
	} else if (strcmp(key, "Info") == 0 && indirect) {
		value->info = number <= UINT32_MAX ? (uint32_t)number : 0;
	} else if (strcmp(key, "Title") == 0) {
		value->title_at = nest->value_at;
	} else if (strcmp(key, "CreationDate") == 0) {
		value->created_at = nest->value_at;
	} else if (strcmp(key, "ModDate") == 0) {
		value->modified_at = nest->value_at;
	}
}

static void end_entry(struct pdf_value *value, struct pdf_nest *nest)
{
	if (nest->key[0] && nest->has_value)
		store_entry(value, nest);
	nest->key[0] = nest->name[0] = nest->second[0] = 0;
	nest->has_value = false;
	nest->number_count = 0;
}

/* Adds a token to the current entry of the outermost dictionary. */
static void add_to_entry(
	struct pdf_value *value, struct pdf_nest *nest, const struct pdf_token *token)
{
	bool name = token->kind == PDF_NAME;

	if (name && nest->depth == 1 && (nest->has_value || !nest->key[0])) {
		end_entry(value, nest);
		memcpy(nest->key, token->text, sizeof(nest->key));
		return;
	}
	if (!nest->has_value)
		nest->value_at = token->at;
	nest->has_value = true;
	if (name && !nest->name[0])
		memcpy(nest->name, token->text, sizeof(nest->name));
	else if (name && !nest->second[0])
		memcpy(nest->second, token->text, sizeof(nest->second));
	if (token->kind == PDF_NUMBER && nest->depth == 1 && nest->number_count < 2)
		nest->numbers[nest->number_count++] = token->number;
}

/* Handles an opening or closing bracket; false if it does not match. */
static bool read_nesting(
	struct pdf_value *value, struct pdf_nest *nest, const struct pdf_token *token)
{
	enum pdf_kind kind = token->kind;

	if (kind == PDF_DICT || kind == PDF_ARRAY) {
		if (nest->depth == 0)
			value->is_dict = kind == PDF_DICT;
		else if (value->is_dict)
			add_to_entry(value, nest, token);
		return push(nest, kind == PDF_DICT);
	}
	if (nest->depth == 0 || in_dict(nest) != (kind == PDF_DICT_END))
		return false;
	if (nest->depth == 1 && value->is_dict)
		end_entry(value, nest);
	nest->depth--;
	return true;
}

static bool is_plain_word(const char *text)
{
	return strcmp(text, "R") == 0 || strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ||
	       strcmp(text, "null") == 0;
}

/* What bad writers use as a number: nan, inf, 1e-05. */
static bool is_odd_number(const char *text)
{
	static const char *const words[] = { "nan", "-nan", "NaN", "inf", "-inf", "Infinity" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	return strchr("+-.0123456789", text[0]) &&
	       strspn(text, "+-.,0123456789eE#") == strlen(text);
}

void pdf_read_value(struct cursor *cursor, struct pdf_value *value, struct pdf_token *last)
{
	struct pdf_nest nest = { 0 };
	uint64_t before[2] = { 0 }; /* offsets of the last two tokens, if they were numbers */

	memset(value, 0, sizeof(*value));
	for (;;) {
		enum pdf_kind kind = pdf_next(cursor, last);

		if (kind == PDF_WORD && !is_plain_word(last->text) && !is_odd_number(last->text)) {
			/* What GraphicsMagick writes for the palette of a picture that has none. */
			if (nest.depth == 1 && value->is_dict && !nest.key[0] &&
				strcmp(last->text, "endstream") == 0) {
				nest.depth = 0;
				continue;
			}
			if (nest.depth)
				last->kind = PDF_BAD;
			/* The next object, without an endobj before it. */
			if (nest.depth == 0 && strcmp(last->text, "obj") == 0 && before[0]) {
				cursor->at = before[0];
				last->text[0] = 0;
			}
			return;
		}
		if (kind <= PDF_BAD || kind >= PDF_EOF)
			return;
		before[0] = before[1];
		before[1] = kind == PDF_NUMBER ? last->at : 0;
		if (kind >= PDF_DICT && kind <= PDF_ARRAY_END) {
			if (!read_nesting(value, &nest, last)) {
				last->kind = PDF_BAD;
				return;
			}
		} else if (nest.depth && value->is_dict) {
			add_to_entry(value, &nest, last);
		}
	}
}
