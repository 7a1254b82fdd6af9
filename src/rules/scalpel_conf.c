/*
 * scalpel.conf (1.60 and 2.x) and foremost.conf. A line is a rule: extension, case, size, header [,
 * footer [, type]], split at blanks. The grammar allows less than it seems to: # begins a comment
 * only at the start of a line, FORWARD_NEXT is FORWARD because types are compared by their
 * beginning, an unknown escape stays as it is, and wildcards are looked for after escapes are
 * decoded, so that \x3f is one too. The last wildcard line in the file holds for all rules, because
 * Scalpel keeps the wildcard in one variable that it reads while matching.
 *
 * The resulting rules no longer show these traps, so each is noted while it is read (lint.h). Where
 * Scalpel silently accepts invalid input (a size without digits, an extension that is a path),
 * burin reports an error, or changes the value and says so.
 *
 * foremost.conf has the same lines with other types at the end. burin follows its manual, although
 * the program does not: REVERSE searches backwards, NEXT ends before the footer. ASCII (the
 * printable text around a keyword) has no bound and no equivalent rule.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"
#include "patterns/byteset.h"
#include "rules/load.h"

enum { EXTENSION, CASE, SIZE, HEADER, FOOTER, TYPE, COLUMNS, MAX_TOKENS };

struct reader {
	struct loader *loader;
	const char *file;
	bool foremost;
	uint8_t wildcard;
	unsigned rule_lines;    /* so far */
	unsigned wildcard_line; /* 0: none yet */
	unsigned forward_count; /* rules of foremost.conf that end at the first footer */

	unsigned line; /* of what follows */
	char *tokens[MAX_TOKENS];
	size_t token_count; /* MAX_TOKENS: there may be more */
	const char *name;   /* the rule's, for notes */
};

#define fail(r, ...) loader_fail((r)->loader, (r)->file, (r)->line, __VA_ARGS__)
#define note(r, level, ...) \
	lint_add((r)->loader->rules->notes, level, (r)->file, (r)->line, (r)->name, __VA_ARGS__)

static const char *program(const struct reader *r)
{
	return r->foremost ? "Foremost" : "Scalpel";
}

/* ---- lines and tokens ---------------------------------------------------------------------- */

/* Splits the line in place. */
static void split_line(struct reader *r, char *line)
{
	char *save = NULL;

	r->token_count = 0;
	for (char *token = strtok_r(line, " \t\r\n", &save); token && r->token_count < MAX_TOKENS;
		token = strtok_r(NULL, " \t\r\n", &save))
		r->tokens[r->token_count++] = token;
	if (r->token_count && r->tokens[0][0] == '#')
		r->token_count = 0;
}

/* Calls read for each line that is neither blank nor a comment. */
static int for_each_line(struct reader *r, const char *text, int (*read)(struct reader *r))
{
	int status = 0;

	r->line = 0;
	while (*text && !status) {
		size_t len = strcspn(text, "\n");
		char *line = xasprintf("%.*s", (int)len, text);

		r->line++;
		split_line(r, line);
		if (r->token_count)
			status = read(r);
		free(line);
		text += len + (text[len] == '\n');
	}
	return status;
}

/* ---- escapes ------------------------------------------------------------------------------- */

/* Decodes what follows a backslash. Returns the byte (0 .. 255) or -1; *used: the number of
 * characters read. */
static int decode_escape(const char *at, size_t *used)
{
	static const char letters[] = "\\asnrtv", values[] = "\\\a \n\r\t\v";
	const char *known = *at ? strchr(letters, *at) : NULL;

	*used = 1;
	if (known)
		return values[known - letters];
	*used = 3;
	if (*at == 'x' && hex_value(at[1]) >= 0 && hex_value(at[2]) >= 0)
		return hex_value(at[1]) << 4 | hex_value(at[2]);
	if (*at >= '0' && *at <= '3' && at[1] >= '0' && at[1] <= '7' && at[2] >= '0' &&
		at[2] <= '7')
		return (at[0] - '0') << 6 | (at[1] - '0') << 3 | (at[2] - '0');
	return -1;
}

static void note_bad_escape(const struct reader *r, const char *column, const char *at)
{
	if (*at == 'x' || (*at >= '0' && *at <= '3'))
		note(r, LINT_WARN,
			"%s: \\%c is not followed by enough digits, so the backslash is dropped "
			"and the rest is taken literally",
			column, *at);
	else if (!*at)
		note(r, LINT_WARN, "%s: a backslash at the end is taken literally, as %s does",
			column, program(r));
	else
		note(r, LINT_WARN, "%s: \\%c is not an escape, so both characters are searched for",
			column, *at);
}

/* Decodes a token into bytes. column: its name for notes, NULL for none. */
static void decode(const struct reader *r, const char *column, const char *at, struct strbuf *bytes)
{
	strbuf_bytes(bytes, "", 0);
	while (*at) {
		size_t used;
		int value = *at == '\\' ? decode_escape(at + 1, &used) : -2;
		char c = (char)(value >= 0 ? value : *at);
		bool dropped = value == -1 && (at[1] == 'x' || (at[1] >= '0' && at[1] <= '3'));

		if (value == -1 && column)
			note_bad_escape(r, column, at + 1);
		if (!dropped)
			strbuf_bytes(bytes, &c, 1);
		at += value >= 0 ? 1 + used : 1;
	}
}

/* ---- wildcard ------------------------------------------------------------------------------ */

static bool is_wildcard_line(const struct reader *r)
{
	return strcasecmp(r->tokens[0], "wildcard") == 0;
}

static int read_wildcard(struct reader *r)
{
	struct strbuf bytes = { 0 };

	r->name = NULL;
	if (!is_wildcard_line(r)) {
		r->rule_lines++;
		return 0;
	}
	if (r->token_count < 2) {
		note(r, LINT_WARN, "a wildcard line without a character has no effect");
		return 0;
	}
	decode(r, "wildcard", r->tokens[1], &bytes);
	if (bytes.len > 1)
		note(r, LINT_WARN, "only the first of the wildcard's %zu characters is used",
			bytes.len);
	if (r->wildcard_line)
		note(r, LINT_WARN,
			"a second wildcard: it holds for the whole file, and line %u has no effect",
			r->wildcard_line);
	else if (r->rule_lines)
		note(r, LINT_WARN,
			"a wildcard below the first rule: it also holds for the rules above, but "
			"Scalpel can miss their matches; put it at the top");
	r->wildcard = (uint8_t)bytes.bytes[0];
	r->wildcard_line = r->line;
	free(bytes.bytes);
	return 0;
}

/* ---- columns of a rule --------------------------------------------------------------------- */

/* Makes the extension a valid folder name: invalid characters, and a leading dot, become '_'. */
static int read_extension(struct reader *r, struct rule *rule)
{
	const char *token = r->tokens[EXTENSION];
	bool none = strncasecmp(token, "NONE", 4) == 0;

	if (strlen(token) > RULE_NAME_MAX)
		return fail(r, "the extension is longer than %d bytes", RULE_NAME_MAX);
	rule->name = xstrdup(none ? "none" : token);
	r->name = rule->name;
	if (none && token[4])
		note(r, LINT_WARN,
			"every extension that begins with NONE means no extension at all");
	for (char *c = rule->name; *c; c++)
		if (!ascii_is_alnum((uint8_t)*c) &&
			(!strchr("._-", *c) || (*c == '.' && c == rule->name)))
			*c = '_';
	if (!none && strcmp(rule->name, token) != 0)
		note(r, LINT_WARN,
			"the extension is not a valid folder name and was changed to '%s'",
			rule->name);
	rule->extension = xstrdup(none ? "" : rule->name);
	if (!none && strlen(token) > 7)
		note(r, LINT_WARN, "%s keeps only 7 bytes of an extension; burin keeps all of it",
			r->foremost ? "Foremost" : "Scalpel 1.60");
	return 0;
}

/* Reads leading digits and ignores the rest, as Scalpel does. -EINVAL without a digit. */
static int read_digits(const char *text, const char **end, uint64_t *value)
{
	size_t digits = strspn(text, "0123456789");

	*value = strtoull(text, NULL, 10); /* too large: the largest value */
	*end = text + digits;
	return digits ? 0 : -EINVAL;
}

static int read_size(struct reader *r, struct rule *rule)
{
	const char *token = r->tokens[SIZE], *end;

	if (read_digits(token, &end, &rule->max_size))
		goto malformed;
	if (*end == ':' && !r->foremost) {
		rule->min_size = rule->max_size;
		note(r, LINT_NOTE,
			"size %.40s is minimum:maximum as in Scalpel 2; Scalpel 1.60 takes the "
			"first number as the maximum",
			token);
		if (read_digits(end + 1, &end, &rule->max_size))
			goto malformed;
	}
	if (*end)
		note(r, LINT_WARN,
			"size %.40s: only the digits count, so the maximum is %llu bytes and not "
			"what '%.20s' suggests",
			token, (unsigned long long)rule->max_size, end);
	if (!rule->max_size)
		return fail(r, "size: 0 would leave nothing to carve");
	if (r->foremost && rule->max_size > INT32_MAX)
		note(r, LINT_WARN, "Foremost keeps sizes in 32 bits; this one is larger");
	return 0;
malformed:
	return fail(r,
		"size: expected digits, found '%.40s'; the columns are extension, case, size, "
		"header, footer, type",
		token);
}

/* Converts Scalpel 2's /regex/ to burin's syntax, in which a slash inside is escaped. */
static char *regex_text(const char *token, bool nocase)
{
	struct strbuf text = { 0 };
	const char *end = token + strlen(token) - 1;

	strbuf_bytes(&text, "/", 1);
	for (const char *at = token + 1; at < end; at++) {
		if (*at == '\\' && at + 1 < end)
			strbuf_bytes(&text, at++, 1);
		else if (*at == '/')
			strbuf_bytes(&text, "\\", 1);
		strbuf_bytes(&text, at, 1);
	}
	strbuf_print(&text, nocase ? "/i" : "/");
	return text.bytes;
}

static int make_fixed(const struct reader *r, const char *column, const char *token, bool nocase,
	struct pattern *pattern, struct error *why)
{
	struct strbuf bytes = { 0 };
	uint8_t *mask;
	int status;

	decode(r, column, token, &bytes);
	mask = xmalloc(bytes.len);
	for (size_t i = 0; i < bytes.len; i++) {
		uint8_t c = (uint8_t)bytes.bytes[i];

		mask[i] = c == r->wildcard ? 0 : nocase && ascii_is_letter(c) ? 0xdf : 0xff;
	}
	status = pattern_from_bytes(pattern, (uint8_t *)bytes.bytes, mask, bytes.len, why);
	free(mask);
	free(bytes.bytes);
	return status;
}

static int read_pattern(struct reader *r, unsigned column, struct pattern *pattern)
{
	static const char *const names[] = { [HEADER] = "header", [FOOTER] = "footer" };
	const char *token = r->tokens[column];
	size_t len = strlen(token);
	bool nocase = (r->tokens[CASE][0] | 0x20) != 'y';
	struct error why;
	int status;

	if (!r->foremost && len >= 2 && token[0] == '/' && token[len - 1] == '/') {
		char *text = regex_text(token, nocase);

		note(r, LINT_NOTE,
			"%s: a regex as in Scalpel 2; Scalpel 1.60 searches for these characters "
			"literally",
			names[column]);
		status = pattern_parse(pattern, text, &why);
		free(text);
	} else {
		status = make_fixed(r, names[column], token, nocase, pattern, &why);
	}
	return status ? fail(r, "%s: %s", names[column], why.text) : 0;
}

static bool begins(const char *token, const char *word)
{
	return strncasecmp(token, word, strlen(word)) == 0;
}

static void note_footer(struct reader *r)
{
	const char *footer = r->tokens[FOOTER];

	if (footer[0] == '#')
		note(r, LINT_WARN, "'%.40s' is read as the footer: a comment must start its line",
			footer);
	if (r->token_count == TYPE &&
		(begins(footer, "REVERSE") || begins(footer, "NEXT") || begins(footer, "FORWARD")))
		note(r, LINT_WARN,
			"'%.40s' is read as the footer: a rule without a footer can't have a type",
			footer);
	if (r->token_count > COLUMNS && r->tokens[COLUMNS][0] != '#' && footer[0] != '#')
		note(r, LINT_WARN, "'%.40s' and what follows are ignored: a rule has 6 columns",
			r->tokens[COLUMNS]);
}

/* Notes where Foremost does not do what its manual says. */
static void note_foremost(struct reader *r, const struct rule *rule)
{
	if (rule->pair == PAIR_REVERSE)
		note(r, LINT_WARN,
			"Foremost 1.5.7 finds nothing with REVERSE; burin carves up to the last "
			"footer within range");
	else if (rule->pair == PAIR_NEXT)
		note(r, LINT_WARN,
			"with NEXT, Foremost 1.5.7 looks for the header again; burin ends the file "
			"before the footer, as Foremost's manual says");
	else
		r->forward_count++;
}

static int read_type(struct reader *r, struct rule *rule)
{
	const char *type = r->token_count > TYPE ? r->tokens[TYPE] : "FORWARD";

	if (r->foremost && begins(type, "ASCII"))
		return fail(r, "type ASCII (the printable text around a keyword) is not supported; "
			       "comment the line out with #");
	if (begins(type, "REVERSE"))
		rule->pair = PAIR_REVERSE;
	else if (begins(type, "NEXT"))
		rule->pair = PAIR_NEXT;
	else if (begins(type, "FORWARD_NEXT"))
		note(r, LINT_WARN,
			"FORWARD_NEXT is FORWARD: up to the first footer, the footer included");
	else if (!begins(type, "FORWARD"))
		note(r, LINT_WARN,
			"'%.40s' is not a type (FORWARD, REVERSE, NEXT), so it counts as FORWARD",
			type);
	rule->include_footer = rule->pair != PAIR_NEXT;
	if (r->foremost)
		note_foremost(r, rule);
	return 0;
}

static int read_columns(struct reader *r, struct rule *rule)
{
	struct loader *loader = r->loader;
	struct pattern pattern;
	int status = read_extension(r, rule);

	if (!status)
		status = read_size(r, rule);
	if (!status)
		status = read_pattern(r, HEADER, &pattern);
	if (status)
		return status;
	loader_add_pattern(loader, &rule->headers, &rule->header_count, &pattern);
	rule->include_footer = true;
	if (r->token_count <= FOOTER)
		return 0;
	note_footer(r);
	status = read_pattern(r, FOOTER, &pattern);
	if (status)
		return status;
	loader_add_pattern(loader, &rule->footers, &rule->footer_count, &pattern);
	return read_type(r, rule);
}

static int read_rule(struct reader *r)
{
	struct rule rule = { .file = r->file, .line = r->line };
	int status;

	r->name = NULL;
	if (is_wildcard_line(r))
		return 0;
	if (r->token_count <= HEADER)
		return fail(r,
			"expected at least 4 columns (extension, case, size, header), found %zu",
			r->token_count);
	status = read_columns(r, &rule);
	if (!status)
		loader_add_rule(r->loader, &rule);
	rule_free(&rule);
	return status;
}

int scalpel_read(struct loader *loader, const char *file, const char *text, bool foremost)
{
	struct reader r = { .loader = loader, .file = file, .foremost = foremost, .wildcard = '?' };
	unsigned most = foremost ? 50 : 100;
	int status = for_each_line(&r, text, read_wildcard);

	if (!status)
		status = for_each_line(&r, text, read_rule);
	r.line = 0;
	r.name = NULL;
	if (r.forward_count)
		note(&r, LINT_NOTE,
			"rules that end at the first footer: %u; if there is none within range, "
			"Foremost carves their maximum size; burin does so with -b",
			r.forward_count);
	if (!status && r.rule_lines > most)
		note(&r, LINT_NOTE, "%u rules: %s itself takes at most %u", r.rule_lines,
			program(&r), most);
	return status;
}
