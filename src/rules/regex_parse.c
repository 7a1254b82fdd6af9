/*
 * A recursive descent parser that keeps no tree: each part is written out in canonical form as soon
 * as it is read, and only its facts (widths, first bytes, chance) go up. Canonical means that every
 * atom is a set of bytes, written as one alphanumeric character, as \xHH or as a class of such; so
 * nothing is left that PCRE2 and Hyperscan could read in two ways: no \s, no dot, no case flag, no
 * captures.
 *
 * Widths stay small enough for 32 bits: a part wider than REGEX_MAX_WIDTH is refused at once, and a
 * repeat of 0 times as well, so no wide part can vanish again.
 */
#include "rules/regex_parse.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "rules/buffer.h"
#include "rules/regex.h"

#define MAX_DEPTH 100 /* groups in groups */
#define MAX_REPEAT 65535u

struct parser {
	const char *text;
	size_t len, at;
	size_t column; /* of text[0] */
	bool nocase;
	unsigned depth;
	struct buffer out;
	struct error *error;
};

static int parse_alternation(struct parser *p, struct regex_facts *facts, bool *bars);

static int fail(struct parser *p, size_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct parser *p, size_t at, const char *format, ...)
{
	char why[256];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return error_set(p->error, EXIT_USAGE, EINVAL, "at column %zu of the pattern: %s",
		p->column + at, why);
}

static bool at_end(const struct parser *p)
{
	return p->at == p->len;
}

/* The byte at `ahead` from here, 0 behind the end (a regex holds no zero: it comes from a C
 * string). */
static char peek(const struct parser *p, size_t ahead)
{
	return p->len - p->at > ahead ? p->text[p->at + ahead] : '\0';
}

/* ---- sets of bytes --------------------------------------------------------------------------- */

static void print_byte(struct buffer *out, unsigned value)
{
	if (ascii_is_alnum((uint8_t)value))
		buffer_print(out, "%c", (char)value);
	else
		buffer_print(out, "\\x%02x", value);
}

static void print_set(struct buffer *out, const struct byteset *set)
{
	bool single = byteset_count(set) == 1;

	if (!single)
		buffer_add(out, "[", 1);
	for (unsigned first = 0, last; first < 256; first = last + 1) {
		last = first;
		if (!byteset_has(set, (uint8_t)first))
			continue;
		while (last < 255 && byteset_has(set, (uint8_t)(last + 1)))
			last++;
		print_byte(out, first);
		if (last > first + 1)
			buffer_add(out, "-", 1);
		if (last > first)
			print_byte(out, last);
	}
	if (!single)
		buffer_add(out, "]", 1);
}

/* \d, \w, \s, and in capitals all but these. */
static bool add_shorthand(struct byteset *set, char letter)
{
	struct byteset added = { 0 };

	switch (letter | 0x20) {
	case 'd':
		byteset_add_range(&added, '0', '9');
		break;
	case 's':
		byteset_add_range(&added, '\t', '\r');
		byteset_add(&added, ' ');
		break;
	case 'w':
		byteset_add_range(&added, '0', '9');
		byteset_add_range(&added, 'A', 'Z');
		byteset_add_range(&added, 'a', 'z');
		byteset_add(&added, '_');
		break;
	default:
		return false;
	}
	if (!(letter & 0x20))
		byteset_invert(&added);
	byteset_add_all(set, &added);
	return true;
}

static const struct {
	const char *name;
	const char *ranges; /* pairs of first and last */
} named_classes[] = {
	{ "alnum", "09AZaz" },
	{ "alpha", "AZaz" },
	{ "blank", "\t\t  " },
	{ "cntrl", "\001\037\177\177" }, /* and 0, which no string can hold */
	{ "digit", "09" },
	{ "graph", "!~" },
	{ "lower", "az" },
	{ "print", " ~" },
	{ "punct", "!/:@[`{~" },
	{ "space", "\t\r  " },
	{ "upper", "AZ" },
	{ "word", "09AZaz__" },
	{ "xdigit", "09AFaf" },
};

/* Reads "[:name:]" inside a class. */
static int parse_named_class(struct parser *p, struct byteset *set)
{
	for (size_t i = 0; i < sizeof(named_classes) / sizeof(*named_classes); i++) {
		size_t len = strlen(named_classes[i].name);

		if (p->len - p->at < len + 4 ||
			memcmp(p->text + p->at + 2, named_classes[i].name, len) != 0 ||
			memcmp(p->text + p->at + 2 + len, ":]", 2) != 0)
			continue;
		for (const char *range = named_classes[i].ranges; *range; range += 2)
			byteset_add_range(set, (uint8_t)range[0], (uint8_t)range[1]);
		if (i == 3)
			byteset_add(set, 0);
		p->at += len + 4;
		return 0;
	}
	return fail(p, p->at,
		"[: starts no class that is known (alnum, alpha, blank, cntrl, digit, graph, "
		"lower, print, punct, space, upper, word, xdigit)");
}

/* ---- escapes --------------------------------------------------------------------------------- */

static int refuse_escape(struct parser *p, char letter)
{
	if ((letter >= '1' && letter <= '9') || letter == 'g' || letter == 'k')
		return fail(p, p->at, "\\%c is a back-reference, which no engine can search for",
			letter);
	if (letter && strchr("AZzbBGK<>", letter))
		return fail(
			p, p->at, "\\%c stands for a place without width; leave it out", letter);
	if (ascii_is_print((uint8_t)letter))
		return fail(p, p->at, "\\%c is no escape that is known; write the byte as \\xHH",
			letter);
	return fail(p, p->at, "a backslash at the end; write \\\\ for a backslash");
}

static int parse_hex_escape(struct parser *p, uint8_t *byte)
{
	int high = hex_value(peek(p, 2)), low = high < 0 ? -1 : hex_value(peek(p, 3));

	if (low < 0)
		return fail(p, p->at, "expected two hex digits after \\x");
	*byte = (uint8_t)(high << 4 | low);
	p->at += 4;
	return 0;
}

/* \0, \01, \012: as many octal digits as there are, three at most. */
static void parse_octal_escape(struct parser *p, uint8_t *byte)
{
	unsigned value = 0, digits = 0;

	p->at++;
	while (digits < 3 && peek(p, 0) >= '0' && peek(p, 0) <= '7') {
		value = value * 8 + (unsigned)(peek(p, 0) - '0');
		p->at++;
		digits++;
	}
	*byte = (uint8_t)value;
}

/* Reads what starts with a backslash into set. single: the byte, or -1 when it was a whole class.
 */
static int parse_escape(struct parser *p, bool in_class, struct byteset *set, int *single)
{
	static const char letters[] = "aefnrt", values[] = "\a\033\f\n\r\t";
	char letter = peek(p, 1);
	const char *known = letter ? strchr(letters, letter) : NULL;
	uint8_t byte = 0;
	int status = 0;

	*single = -1;
	if (add_shorthand(set, letter)) {
		p->at += 2;
		return 0;
	}
	if (letter == 'x') {
		status = parse_hex_escape(p, &byte);
		if (status)
			return status;
	} else if (letter == '0') {
		parse_octal_escape(p, &byte);
	} else if (known || (letter == 'b' && in_class)) {
		byte = known ? (uint8_t)values[known - letters] : '\b';
		p->at += 2;
	} else if (!letter || ascii_is_alnum((uint8_t)letter) || letter == '<' || letter == '>') {
		return refuse_escape(p, letter);
	} else {
		byte = (uint8_t)letter;
		p->at += 2;
	}
	byteset_add(set, byte);
	*single = byte;
	return 0;
}

/* ---- classes --------------------------------------------------------------------------------- */

/* One element of a class: a byte, an escape or a named class. */
static int parse_class_element(struct parser *p, struct byteset *set, int *single)
{
	char c = peek(p, 0);

	if (c == '\\')
		return parse_escape(p, true, set, single);
	*single = -1;
	if (c == '[' && (peek(p, 1) == '.' || peek(p, 1) == '='))
		return fail(p, p->at, "[%c in a class is not supported; write \\[ for a bracket",
			peek(p, 1));
	if (c == '[' && peek(p, 1) == ':')
		return parse_named_class(p, set);
	*single = (uint8_t)c;
	byteset_add(set, (uint8_t)c);
	p->at++;
	return 0;
}

/* The element and, where a hyphen follows, the range that starts with it. */
static int parse_class_range(struct parser *p, struct byteset *set)
{
	struct byteset ignored = { 0 };
	size_t start = p->at;
	int first, last;
	int status = parse_class_element(p, set, &first);

	if (status || peek(p, 0) != '-' || peek(p, 1) == ']' || peek(p, 1) == '\0')
		return status;
	p->at++;
	status = parse_class_element(p, &ignored, &last);
	if (status)
		return status;
	if (first < 0 || last < 0)
		return fail(
			p, start, "a range goes from one byte to another; write \\- for a hyphen");
	if (first > last)
		return fail(p, start, "the range's end comes before its start");
	byteset_add_range(set, (uint8_t)first, (uint8_t)last);
	return 0;
}

static int parse_class(struct parser *p, struct byteset *set)
{
	size_t start = p->at++;
	bool negated = peek(p, 0) == '^', first = true;

	p->at += negated;
	while (first || peek(p, 0) != ']') {
		int status;

		if (at_end(p))
			return fail(p, start, "the class that starts here is not closed with ]");
		status = parse_class_range(p, set);
		if (status)
			return status;
		first = false;
	}
	p->at++;
	if (p->nocase)
		byteset_fold_case(set);
	if (negated)
		byteset_invert(set);
	return byteset_count(set) ? 0 : fail(p, start, "the class matches no byte");
}

/* ---- atoms, repeats, sequences --------------------------------------------------------------- */

static int refuse_group(struct parser *p)
{
	char c = peek(p, 2);

	if (c == '=' || c == '!' || (c == '<' && (peek(p, 3) == '=' || peek(p, 3) == '!')))
		return fail(p, p->at, "lookaround has no width, which no engine can search for");
	if (c == '>')
		return fail(p, p->at, "atomic groups are not supported; write (?:...)");
	if (c == 'P' || c == '<' || c == '\'')
		return fail(p, p->at, "named groups are not supported; write (?:...)");
	return fail(p, p->at,
		"flags and comments inside a regex are not supported; for case write /.../i");
}

static int parse_group(struct parser *p, struct regex_facts *facts)
{
	size_t start = p->at;
	bool bars;
	int status;

	if (peek(p, 1) == '?' && peek(p, 2) != ':')
		return refuse_group(p);
	if (++p->depth > MAX_DEPTH)
		return fail(p, start, "more than %d groups in each other", MAX_DEPTH);
	p->at += peek(p, 1) == '?' ? 3 : 1;
	buffer_add(&p->out, "(?:", 3);
	status = parse_alternation(p, facts, &bars);
	if (status)
		return status;
	if (peek(p, 0) != ')')
		return fail(p, start, "the group that starts here is not closed with )");
	p->at++;
	p->depth--;
	buffer_add(&p->out, ")", 1);
	return 0;
}

static int parse_set(struct parser *p, struct byteset *set)
{
	char c = peek(p, 0);
	int single, status = 0;

	if (c == '[')
		return parse_class(p, set);
	if (c == '^' || c == '$')
		return fail(p, p->at,
			"%c stands for a place without width; leave it out, or write \\%c", c, c);
	if (c == '?' || c == '*' || c == '+' || c == '{')
		return fail(p, p->at, "%c has nothing to repeat; write \\%c for the byte", c, c);
	if (c == '\\') {
		status = parse_escape(p, false, set, &single);
	} else {
		if (c == '.')
			byteset_invert(set);
		else
			byteset_add(set, (uint8_t)c);
		p->at++;
	}
	if (p->nocase)
		byteset_fold_case(set);
	return status;
}

static int parse_atom(struct parser *p, struct regex_facts *facts)
{
	struct byteset set = { 0 };
	int status;

	if (peek(p, 0) == '(')
		return parse_group(p, facts);
	status = parse_set(p, &set);
	if (status)
		return status;
	print_set(&p->out, &set);
	*facts = (struct regex_facts){ 1, 1, byteset_count(&set) / 256.0, set };
	return 0;
}

/* A decimal number; false when there is none or it is beyond MAX_REPEAT. */
static bool parse_number(struct parser *p, uint32_t *number)
{
	size_t start = p->at;

	*number = 0;
	while (ascii_is_digit((uint8_t)peek(p, 0)) && *number <= MAX_REPEAT)
		*number = *number * 10 + (uint32_t)(p->text[p->at++] - '0');
	return p->at > start && *number <= MAX_REPEAT;
}

/* Reads {m} or {m,n}. */
static int parse_braces(struct parser *p, uint32_t *least, uint32_t *most)
{
	size_t start = p->at++;

	if (!parse_number(p, least))
		goto malformed;
	*most = *least;
	if (peek(p, 0) == ',') {
		p->at++;
		if (peek(p, 0) == '}')
			return fail(p, start,
				"{%u,} repeats without bound; give the most as well, so that a "
				"match is "
				"at most %u bytes",
				*least, REGEX_MAX_WIDTH);
		if (!parse_number(p, most))
			goto malformed;
	}
	if (peek(p, 0) != '}')
		goto malformed;
	p->at++;
	if (*most < *least || !*most)
		return fail(p, start,
			*most ? "{%u,%u}: the most is less than the least"
			      : "{%u,%u} repeats 0 times; leave it out",
			*least, *most);
	return 0;
malformed:
	return fail(
		p, start, "expected {m} or {m,n}, at most %u; write \\{ for a brace", MAX_REPEAT);
}

static int parse_repeat(struct parser *p, struct regex_facts *facts)
{
	size_t start = p->at;
	uint32_t least = 0, most = 1;
	char c = peek(p, 0);
	int status;

	if (c == '*' || c == '+')
		return fail(p, start,
			"%c repeats without bound; write {%d,N}, so that a match is at most %u "
			"bytes",
			c, c == '+', REGEX_MAX_WIDTH);
	if (c != '?' && c != '{')
		return 0;
	if (c == '?') {
		p->at++;
		buffer_add(&p->out, "?", 1);
	} else {
		status = parse_braces(p, &least, &most);
		if (status)
			return status;
		buffer_print(&p->out, least == most ? "{%u}" : "{%u,%u}", least, most);
	}
	if (peek(p, 0) == '?') {
		p->at++;
		if (least != most)
			buffer_add(&p->out, "?", 1);
	}
	c = peek(p, 0);
	if (c == '+')
		return fail(p, p->at, "possessive repeats are not supported");
	if (c == '*' || c == '?' || c == '{')
		return fail(p, p->at, "a repeat of a repeat; put the first into (?:...)");
	facts->min *= least; /* both stay below 2^28 */
	facts->max *= most;
	facts->chance = pow(facts->chance, least);
	return 0;
}

static int check_width(struct parser *p, size_t start, const struct regex_facts *facts)
{
	if (facts->max <= REGEX_MAX_WIDTH)
		return 0;
	return fail(p, start, "what starts here can match %u bytes; at most %u are allowed",
		facts->max, REGEX_MAX_WIDTH);
}

static int parse_sequence(struct parser *p, struct regex_facts *facts)
{
	size_t start = p->at;

	*facts = (struct regex_facts){ .chance = 1 };
	while (!at_end(p) && peek(p, 0) != '|' && peek(p, 0) != ')') {
		struct regex_facts part;
		size_t here = p->at;
		int status = parse_atom(p, &part);

		status = status ? status : parse_repeat(p, &part);
		status = status ? status : check_width(p, here, &part);
		if (status)
			return status;
		if (!facts->min)
			byteset_add_all(&facts->first, &part.first);
		facts->min += part.min;
		facts->max += part.max;
		facts->chance *= part.chance;
		status = check_width(p, start, facts);
		if (status)
			return status;
	}
	return p->at > start ? 0
			     : fail(p, start,
				       "expected something to match; for a part that may be "
				       "missing write (...)?");
}

static int parse_alternation(struct parser *p, struct regex_facts *facts, bool *bars)
{
	int status = parse_sequence(p, facts);

	*bars = false;
	while (!status && peek(p, 0) == '|') {
		struct regex_facts other;

		*bars = true;
		p->at++;
		buffer_add(&p->out, "|", 1);
		status = parse_sequence(p, &other);
		if (status)
			break;
		facts->min = facts->min < other.min ? facts->min : other.min;
		facts->max = facts->max > other.max ? facts->max : other.max;
		facts->chance = fmin(1, facts->chance + other.chance);
		byteset_add_all(&facts->first, &other.first);
	}
	return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

int regex_parse(char **source, struct regex_facts *facts, const char *text, size_t len, bool nocase,
	size_t column, struct error *error)
{
	struct parser p = {
		.text = text, .len = len, .column = column, .nocase = nocase, .error = error
	};
	struct buffer whole = { 0 };
	bool bars;
	int status;

	if (memchr(text, '\0', len))
		return fail(&p, 0, "a zero byte in the regex; write \\x00");
	status = parse_alternation(&p, facts, &bars);
	if (!status && !at_end(&p))
		status = fail(&p, p.at, "a ) that closes nothing; write \\) for the byte");
	if (!status && !facts->min)
		status = fail(
			&p, 0, "the regex can match nothing at all, so it would match everywhere");
	if (!status)
		buffer_print(&whole, bars ? "(?:%s)" : "%s", p.out.text);
	free(p.out.text);
	*source = whole.text;
	return status;
}
