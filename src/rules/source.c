/*
 * Prepares a rule file for libconfig, which could do some of this itself, but not well enough in
 * the versions that distributions ship:
 *
 * - @include "file" is relative to the including file, loops are found, and every file is recorded
 *   and digested as it is read, once;
 * - integers are 64 bits wide: libconfig 1.5 silently cuts those without an L to 32 bits, so each
 *   gets its L here;
 * - a comma is allowed before a closing bracket;
 * - nesting is bounded, because libconfig frees by recursion.
 *
 * An automaton that knows strings and comments walks the text once. Everything else passes through
 * unchanged; the origin of each line is recorded, so that messages can name the original file and
 * line.
 */
#include "rules/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "patterns/byteset.h"

#define MAX_INCLUDES 16 /* depth of nested includes */
#define MAX_NESTING 32  /* depth of nested brackets */

#define WORD_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-*"

enum state { CODE, STRING, LINE_COMMENT, BLOCK_COMMENT };

/* One file that is being walked. */
struct walk {
	struct source *source;
	struct loader *loader;
	const struct walk *parent; /* the file that includes this one */
	unsigned depth;
	const char *file, *text;
	size_t len, at;
	unsigned line;
	enum state state;
	unsigned opened; /* line where the current string or comment began */
	unsigned nesting;
	size_t comma; /* position of the last comma in the output, if only blanks and comments
		       * followed it; else SIZE_MAX */
	bool line_is_blank;
};

static int walk_file(struct walk *w);

static void start_line(struct walk *w)
{
	struct source *source = w->source;

	source->lines = xgrow(
		source->lines, &source->line_capacity, source->line_count, sizeof(*source->lines));
	source->lines[source->line_count++] = (struct source_line){ w->file, w->line };
}

static void copy(struct walk *w, size_t len)
{
	strbuf_bytes(&w->source->text, w->text + w->at, len);
	w->at += len;
}

static char peek(const struct walk *w, size_t ahead)
{
	return w->len - w->at > ahead ? w->text[w->at + ahead] : '\0';
}

/* ---- @include ------------------------------------------------------------------------------ */

/* The path of an included file: as given when absolute, otherwise beside the including file. */
static char *included_path(const struct walk *w, const char *name, size_t len)
{
	const char *slash = strrchr(w->file, '/');

	if (*name == '/' || !slash)
		return xasprintf("%.*s", (int)len, name);
	return xasprintf("%.*s/%.*s", (int)(slash - w->file), w->file, (int)len, name);
}

static int check_include(const struct walk *w, const char *path)
{
	if (!w->loader->may_include)
		return loader_fail(
			w->loader, w->file, w->line, "@include: only a file can include others");
	if (w->depth == MAX_INCLUDES)
		return loader_fail(w->loader, w->file, w->line,
			"@include: more than %d nested files", MAX_INCLUDES);
	for (const struct walk *up = w; up; up = up->parent)
		if (strcmp(up->file, path) == 0)
			return loader_fail(
				w->loader, w->file, w->line, "@include: %s includes itself", path);
	return 0;
}

static int include_file(const struct walk *w, const char *path)
{
	struct strbuf text = { 0 };
	const char *why;
	int status = check_include(w, path);

	if (status)
		return status;
	if (loader_read_file(path, &text, &why)) {
		status = loader_fail(
			w->loader, w->file, w->line, "@include: can't read %s: %s", path, why);
	} else {
		struct walk inner = { .source = w->source,
			.loader = w->loader,
			.parent = w,
			.depth = w->depth + 1,
			.text = text.bytes,
			.len = text.len };

		inner.file = loader_add_file(w->loader, path, text.bytes, text.len);
		status = inner.file ? walk_file(&inner) : -EINVAL;
	}
	free(text.bytes);
	return status;
}

/* The cursor is on the @ of a line that was blank so far. */
static int read_include(struct walk *w)
{
	static const char word[] = "@include";
	const char *name, *end;
	char *path;
	int status;

	if (w->len - w->at < sizeof(word) - 1 ||
		memcmp(w->text + w->at, word, sizeof(word) - 1) != 0)
		return loader_fail(w->loader, w->file, w->line, "expected @include after @");
	w->at += sizeof(word) - 1;
	w->at += strspn(w->text + w->at, " \t");
	name = w->text + w->at + 1;
	end = peek(w, 0) == '"' ? name + strcspn(name, "\"\n") : name;
	if (peek(w, 0) != '"' || *end != '"' || end == name || end - name > 4096)
		return loader_fail(w->loader, w->file, w->line,
			"expected a file name in double quotes after @include");
	path = included_path(w, name, (size_t)(end - name));
	status = include_file(w, path);
	free(path);
	if (status)
		return status;
	w->at = (size_t)(end + 1 - w->text);
	w->comma = SIZE_MAX;
	strbuf_bytes(&w->source->text, "\n", 1); /* the text after it starts a line of this file
						  * again */
	start_line(w);
	return 0;
}

/* ---- numbers and brackets ------------------------------------------------------------------ */

/* The cursor is on the first digit of a number. */
static int read_number(struct walk *w)
{
	const char *start = w->text + w->at;
	bool hex = start[0] == '0' && (start[1] | 0x20) == 'x';
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(start, &end, hex ? 16 : 10);
	if (*end == '.' || (*end | 0x20) == 'e') { /* a fraction: its setting refuses it later */
		copy(w, strspn(start, "0123456789.eE+-"));
		return 0;
	}
	if (errno || value > INT64_MAX)
		return loader_fail(w->loader, w->file, w->line,
			"the number %.*s is too large: numbers go up to 2^63 - 1; write larger "
			"ones in quotes",
			(int)(end - start < 40 ? end - start : 40), start);
	copy(w, (size_t)(end - start));
	while (peek(w, 0) == 'L')
		w->at++;
	strbuf_bytes(&w->source->text, "L", 1);
	return 0;
}

static int read_bracket(struct walk *w, char c)
{
	if (strchr("([{", c)) {
		if (++w->nesting > MAX_NESTING)
			return loader_fail(w->loader, w->file, w->line,
				"more than %d nested brackets", MAX_NESTING);
	} else {
		w->nesting -= w->nesting > 0;
		if (w->comma != SIZE_MAX && c != '}')
			w->source->text.bytes[w->comma] = ' ';
	}
	copy(w, 1);
	return 0;
}

/* ---- the walk ------------------------------------------------------------------------------ */

static int walk_code(struct walk *w)
{
	char c = peek(w, 0);

	if (c == '@' && w->line_is_blank)
		return read_include(w);
	if (c == '#' || (c == '/' && (peek(w, 1) == '/' || peek(w, 1) == '*'))) {
		w->state = c == '/' && peek(w, 1) == '*' ? BLOCK_COMMENT : LINE_COMMENT;
		w->opened = w->line;
		w->line_is_blank = false;
		copy(w, c == '#' ? 1 : 2);
		return 0;
	}
	if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
		copy(w, 1);
		return 0;
	}
	w->line_is_blank = false;
	if (c && strchr("([{}])", c)) {
		int status = read_bracket(w, c);

		w->comma = SIZE_MAX;
		return status;
	}
	w->comma = c == ',' ? w->source->text.len : SIZE_MAX;
	if (ascii_is_digit((uint8_t)c))
		return read_number(w);
	if (ascii_is_letter((uint8_t)c) || c == '*') {
		copy(w, strspn(w->text + w->at, WORD_CHARACTERS));
		return 0;
	}
	if (c == '"') {
		w->state = STRING;
		w->opened = w->line;
	}
	copy(w, 1);
	return 0;
}

static void walk_string(struct walk *w)
{
	char c = peek(w, 0);

	if (c == '"')
		w->state = CODE;
	copy(w, c == '\\' && peek(w, 1) && peek(w, 1) != '\n' ? 2 : 1);
}

static void walk_block_comment(struct walk *w)
{
	bool ends = peek(w, 0) == '*' && peek(w, 1) == '/';

	copy(w, ends ? 2 : 1);
	if (ends)
		w->state = CODE;
}

static void walk_newline(struct walk *w)
{
	copy(w, 1);
	w->line++;
	start_line(w);
	if (w->state == LINE_COMMENT)
		w->state = CODE;
	w->line_is_blank = w->state == CODE;
}

static int walk_file(struct walk *w)
{
	int status = 0;

	w->line = 1;
	w->comma = SIZE_MAX;
	w->line_is_blank = true;
	start_line(w);
	if (w->parent)
		strbuf_bytes(&w->source->text, "\n", 1);
	while (w->at < w->len && !status) {
		if (w->text[w->at] == '\n')
			walk_newline(w);
		else if (w->state == CODE)
			status = walk_code(w);
		else if (w->state == STRING)
			walk_string(w);
		else if (w->state == BLOCK_COMMENT)
			walk_block_comment(w);
		else
			copy(w, strcspn(w->text + w->at, "\n"));
		if (w->source->text.len > RULES_MAX_TEXT && !status)
			status = loader_fail(w->loader, w->file, w->line,
				"the rules, with everything included, are longer than 64 MiB");
	}
	if (!status && (w->state == STRING || w->state == BLOCK_COMMENT))
		status = loader_fail(w->loader, w->file, w->opened,
			"the %s that starts here is never closed",
			w->state == STRING ? "string" : "comment");
	return status;
}

int source_expand(struct source *source, struct loader *loader, const char *file, const char *text,
	size_t len)
{
	struct walk walk = {
		.source = source, .loader = loader, .file = file, .text = text, .len = len
	};

	strbuf_bytes(&source->text, "", 0);
	return walk_file(&walk);
}

struct source_line source_origin(const struct source *source, unsigned line)
{
	if (!line)
		line = 1;
	if (line > source->line_count)
		line = (unsigned)source->line_count;
	return source->lines[line - 1];
}

void source_free(struct source *source)
{
	free(source->text.bytes);
	free(source->lines);
	*source = (struct source){ 0 };
}
