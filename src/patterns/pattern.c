/*
 * Patterns and their text. A fixed pattern consists of bytes and a mask; case-insensitive letters
 * are upper case with the bit 0x20 wild. Text made from bytes is meant to be read: runs of
 * printable characters with at least two letters or digits become '...' or i'...', the rest hex.
 * Masks that are neither whole nibbles nor letters have no syntax, so rule files can't contain
 * them; they are written HH&MM (byte and mask), which pattern_parse does not read.
 */
#include "patterns/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "patterns/byteset.h"
#include "patterns/regex.h"

#define CASE_BIT 0x20u
#define CASE_MASK ((uint8_t)~CASE_BIT)

/* ---- text to pattern ----------------------------------------------------------------------- */

struct parser {
	const char *text;
	size_t at;
	struct strbuf bytes, mask;
	struct error *error;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void add_byte(struct parser *p, uint8_t byte, uint8_t mask)
{
	byte &= mask;
	strbuf_bytes(&p->bytes, &byte, 1);
	strbuf_bytes(&p->mask, &mask, 1);
}

/* Sets the error: what was expected, and what was found up to the next blank. */
static int fail_expected(struct parser *p, const char *what)
{
	char found[24];
	size_t len = 0;

	for (const char *c = p->text + p->at; *c && !is_blank(*c) && len < 12; c++)
		found[len++] = ascii_is_print((uint8_t)*c) ? *c : '.';
	found[len] = '\0';
	if (!len)
		return error_set(p->error, EXIT_USAGE, EINVAL,
			"expected %s at column %zu of the pattern, found %s", what, p->at + 1,
			p->text[p->at] ? "a blank" : "its end");
	return error_set(p->error, EXIT_USAGE, EINVAL,
		"expected %s at column %zu of the pattern, found '%s'", what, p->at + 1, found);
}

/* 0 .. 15, 16 for a wild nibble, -1 for anything else. */
static int nibble(char c)
{
	return c == '?' ? 16 : hex_value(c);
}

/* For Scalpel's "PK\x03\x04", of which the rule file's own escapes leave these bytes: 'PK' 03 04. Returns false
 * where the next word is no such mixture. */
static bool advise_bytes(const struct parser *p, struct strbuf *advice)
{
	const char *text = p->text + p->at;
	size_t len = 0, rest;

	while (text[len] != '\'' && !is_blank(text[len]) && ascii_is_print((uint8_t)text[len]))
		len++;
	rest = len;
	while (text[rest] && !ascii_is_print((uint8_t)text[rest]))
		rest++;
	if (!len || rest == len || is_blank(text[len]) || rest > 32)
		return false;
	strbuf_print(advice, "'%.*s'", (int)len, text);
	for (size_t i = len; i < rest; i++)
		strbuf_print(advice, " %02X", (uint8_t)text[i]);
	return true;
}

/* Neither hex digits nor anything else that begins a byte. */
static int fail_byte(struct parser *p)
{
	struct strbuf advice = { 0 };
	int status;

	if (!advise_bytes(p, &advice))
		return fail_expected(p, "two hex digits, 'text', i'text' or /regex/");
	status = error_set(p->error, EXIT_USAGE, EINVAL,
		"at column %zu of the pattern: a backslash's escapes are libconfig's; write %s",
		p->at + 1, advice.bytes);
	strbuf_free(&advice);
	return status;
}

static int parse_pair(struct parser *p)
{
	int high = nibble(p->text[p->at]), low = high < 0 ? -1 : nibble(p->text[p->at + 1]);

	if (high < 0)
		return fail_byte(p);
	if (low < 0)
		return fail_expected(p, "two hex digits (or ? for a nibble)");
	add_byte(p, (uint8_t)((high & 15) << 4 | (low & 15)),
		(uint8_t)((high < 16 ? 0xf0 : 0) | (low < 16 ? 0x0f : 0)));
	p->at += 2;
	return 0;
}

/* Reads '...', starting at its opening quote. */
static int parse_quoted(struct parser *p, bool nocase)
{
	size_t start = p->at++;

	while (p->text[p->at]) {
		uint8_t c = (uint8_t)p->text[p->at++];

		if (c == '\'' && p->text[p->at] != '\'')
			return p->at - start > 2
				       ? 0
				       : (p->at = start,
						 fail_expected(
							 p, "at least one character in quotes"));
		if (c == '\'')
			p->at++;
		add_byte(p, c, nocase && ascii_is_letter(c) ? CASE_MASK : 0xff);
	}
	return error_set(p->error, EXIT_USAGE, EINVAL,
		"the text that starts at column %zu of the pattern has no closing quote (a quote "
		"in a text is written '')",
		start + 1);
}

static bool all_wild(const uint8_t *mask, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (mask[i])
			return false;
	return true;
}

static int refuse_all_wild(struct error *error)
{
	return error_set(error, EXIT_USAGE, EINVAL,
		"all bits of the pattern are wild, so it would match everywhere");
}

/* Parses a pattern that is /regex/ or /regex/i; start: of the slash. */
static int parse_regex(struct pattern *pattern, const char *text, size_t start, struct error *error)
{
	struct pattern made = { 0 };
	size_t end = start + 1, rest;
	bool nocase;
	int status;

	while (text[end] && text[end] != '/')
		end += text[end] == '\\' && text[end + 1] ? 2 : 1;
	if (!text[end])
		return error_set(error, EXIT_USAGE, EINVAL,
			"the regex that starts at column %zu of the pattern has no closing slash",
			start + 1);
	nocase = text[end + 1] == 'i';
	rest = end + 1 + nocase;
	while (is_blank(text[rest]))
		rest++;
	if (text[rest])
		return error_set(error, EXIT_USAGE, EINVAL,
			"expected the end of the pattern after the regex, at column %zu (a regex "
			"must be the whole pattern)",
			rest + 1);
	status =
		regex_new(&made.regex, text + start + 1, end - start - 1, nocase, start + 2, error);
	if (status)
		return status;
	made.len = regex_max_len(made.regex);
	made.min_len = regex_min_len(made.regex);
	made.text = xstrdup(text);
	*pattern = made;
	return 0;
}

static int parse_fixed(struct parser *p)
{
	while (p->text[p->at]) {
		bool nocase = p->text[p->at] == 'i' && p->text[p->at + 1] == '\'';
		int status = 0;

		p->at += nocase;
		if (p->text[p->at] == '\'')
			status = parse_quoted(p, nocase);
		else if (is_blank(p->text[p->at]))
			p->at++;
		else if (p->text[p->at] == '/' && p->bytes.len)
			status = error_set(p->error, EXIT_USAGE, EINVAL,
				"a regex at column %zu of the pattern: it must be the whole "
				"pattern",
				p->at + 1);
		else
			status = parse_pair(p);
		if (status)
			return status;
	}
	if (p->bytes.len > UINT32_MAX)
		return error_set(p->error, EXIT_USAGE, EINVAL, "the pattern is longer than 4 GiB");
	if (!p->bytes.len)
		return error_set(p->error, EXIT_USAGE, EINVAL, "the pattern is empty");
	return all_wild((uint8_t *)p->mask.bytes, p->mask.len) ? refuse_all_wild(p->error) : 0;
}

int pattern_parse(struct pattern *pattern, const char *text, struct error *error)
{
	struct parser p = { .text = text, .error = error };
	int status;

	while (is_blank(text[p.at]))
		p.at++;
	if (text[p.at] == '/')
		return parse_regex(pattern, text, p.at, error);
	status = parse_fixed(&p);
	if (status) {
		free(p.bytes.bytes);
		free(p.mask.bytes);
		return status;
	}
	*pattern = (struct pattern){
		.bytes = (uint8_t *)p.bytes.bytes,
		.mask = (uint8_t *)p.mask.bytes,
		.len = (uint32_t)p.bytes.len,
		.min_len = (uint32_t)p.bytes.len,
		.text = xstrdup(text),
	};
	return 0;
}

/* ---- bytes to text ------------------------------------------------------------------------- */

static bool is_plain(uint8_t byte, uint8_t mask)
{
	return mask == 0xff && ascii_is_print(byte);
}

static bool is_caseless(uint8_t byte, uint8_t mask)
{
	return mask == CASE_MASK && ascii_is_letter(byte);
}

/* How many bytes from here can be written as one '...' (or i'...': letters of either case, and
 * characters without case); 0 when they are better shown in hex. */
static size_t text_run(const uint8_t *bytes, const uint8_t *mask, size_t len, bool nocase)
{
	size_t run = 0;
	unsigned readable = 0, caseless = 0;

	for (; run < len; run++) {
		bool folded = nocase && is_caseless(bytes[run], mask[run]);

		if (!folded && (!is_plain(bytes[run], mask[run]) ||
				       (nocase && ascii_is_letter(bytes[run]))))
			break;
		readable += ascii_is_alnum(bytes[run]);
		caseless += folded;
	}
	if (nocase)
		return caseless ? run : 0;
	return run >= 4 || readable >= 2 ? run : 0;
}

static void print_run(struct strbuf *out, const uint8_t *bytes, size_t len, bool nocase)
{
	strbuf_print(out, nocase ? "i'" : "'");
	for (size_t i = 0; i < len; i++) {
		uint8_t c = bytes[i];

		if (nocase && ascii_is_letter(c))
			c |= CASE_BIT;
		strbuf_bytes(out, &c, 1);
		if (c == '\'')
			strbuf_bytes(out, &c, 1);
	}
	strbuf_bytes(out, "'", 1);
}

static void print_hex(struct strbuf *out, uint8_t byte, uint8_t mask)
{
	static const char digits[] = "0123456789ABCDEF";
	char pair[2] = { digits[byte >> 4], digits[byte & 15] };

	if (!(mask & 0xf0))
		pair[0] = '?';
	if (!(mask & 0x0f))
		pair[1] = '?';
	strbuf_bytes(out, pair, 2);
	if ((mask >> 4) % 15 || (mask & 15) % 15)
		strbuf_print(out, "&%02X", mask);
}

static char *make_text(const uint8_t *bytes, const uint8_t *mask, size_t len)
{
	struct strbuf out = { 0 };

	for (size_t at = 0; at < len;) {
		bool nocase = is_caseless(bytes[at], mask[at]);
		size_t run = text_run(bytes + at, mask + at, len - at, nocase);

		if (!nocase && text_run(bytes + at, mask + at, len - at, true) > run) {
			nocase = true;
			run = text_run(bytes + at, mask + at, len - at, true);
		}
		if (at && (run || !(mask[at] == 0 && mask[at - 1] == 0)))
			strbuf_bytes(&out, " ", 1);
		if (run)
			print_run(&out, bytes + at, run, nocase);
		else
			print_hex(&out, bytes[at], mask[at]);
		at += run ? run : 1;
	}
	return out.bytes;
}

int pattern_from_bytes(struct pattern *pattern, const uint8_t *bytes, const uint8_t *mask,
	size_t len, struct error *error)
{
	struct pattern made = { .len = (uint32_t)len, .min_len = (uint32_t)len };

	if (!len || len > UINT32_MAX)
		return error_set(error, EXIT_USAGE, EINVAL,
			len ? "the pattern is longer than 4 GiB" : "the pattern is empty");
	if (all_wild(mask, len))
		return refuse_all_wild(error);
	made.bytes = xmalloc(len);
	made.mask = xmalloc(len);
	memcpy(made.mask, mask, len);
	for (size_t i = 0; i < len; i++)
		made.bytes[i] = bytes[i] & mask[i];
	made.text = make_text(made.bytes, made.mask, len);
	*pattern = made;
	return 0;
}

void pattern_free(struct pattern *pattern)
{
	free(pattern->bytes);
	free(pattern->mask);
	free(pattern->text);
	regex_free(pattern->regex);
	*pattern = (struct pattern){ 0 };
}

size_t pattern_match_len(const struct pattern *pattern, const uint8_t *text, size_t len)
{
	if (pattern->regex)
		return regex_match_len(pattern->regex, text, len);
	return pattern_matches(pattern, text, len) ? pattern->len : 0;
}
