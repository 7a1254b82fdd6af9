/* Characters, escapes and classes. Each becomes a set of bytes, so that no two engines can
 * interpret it differently. */
#include "patterns/regex_set.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

int regex_fail(struct regex_parser *p, size_t at, const char *format, ...)
{
	char why[256];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return error_set(p->error, EXIT_USAGE, EINVAL, "at column %zu of the pattern: %s",
		p->column + at, why);
}

/* ---- sets of bytes ------------------------------------------------------------------------- */

static void print_byte(struct strbuf *out, unsigned value)
{
	if (ascii_is_alnum((uint8_t)value))
		strbuf_print(out, "%c", (char)value);
	else
		strbuf_print(out, "\\x%02x", value);
}

void regex_print_set(struct strbuf *out, const struct byteset *set)
{
	bool single = byteset_count(set) == 1;

	if (!single)
		strbuf_bytes(out, "[", 1);
	for (unsigned first = 0, last; first < 256; first = last + 1) {
		last = first;
		if (!byteset_has(set, (uint8_t)first))
			continue;
		while (last < 255 && byteset_has(set, (uint8_t)(last + 1)))
			last++;
		print_byte(out, first);
		if (last > first + 1)
			strbuf_bytes(out, "-", 1);
		if (last > first)
			print_byte(out, last);
	}
	if (!single)
		strbuf_bytes(out, "]", 1);
}

/* \d, \w and \s; capitals negate them. */
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
	{ "cntrl", "\001\037\177\177" }, /* and 0, which a string can't hold */
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
static int parse_named_class(struct regex_parser *p, struct byteset *set)
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
	return regex_fail(p, p->at,
		"unknown class after [: (known are alnum, alpha, blank, cntrl, digit, graph, "
		"lower, print, punct, space, upper, word, xdigit)");
}

/* ---- escapes ------------------------------------------------------------------------------- */

static int refuse_escape(struct regex_parser *p, char letter)
{
	if ((letter >= '1' && letter <= '9') || letter == 'g' || letter == 'k')
		return regex_fail(p, p->at, "\\%c: back-references are not supported", letter);
	if (letter && strchr("AZzbBGK<>", letter))
		return regex_fail(
			p, p->at, "\\%c matches a position, not a byte; leave it out", letter);
	if (ascii_is_print((uint8_t)letter))
		return regex_fail(
			p, p->at, "\\%c is not a known escape; write the byte as \\xHH", letter);
	return regex_fail(p, p->at, "a backslash at the end; write \\\\ for a backslash");
}

static int parse_hex_escape(struct regex_parser *p, uint8_t *byte)
{
	int high = hex_value(regex_peek(p, 2)), low = high < 0 ? -1 : hex_value(regex_peek(p, 3));

	if (low < 0)
		return regex_fail(p, p->at, "expected two hex digits after \\x");
	*byte = (uint8_t)(high << 4 | low);
	p->at += 4;
	return 0;
}

/* \0, \01, \012: at most three octal digits. */
static void parse_octal_escape(struct regex_parser *p, uint8_t *byte)
{
	unsigned value = 0, digits = 0;

	p->at++;
	while (digits < 3 && regex_peek(p, 0) >= '0' && regex_peek(p, 0) <= '7') {
		value = value * 8 + (unsigned)(regex_peek(p, 0) - '0');
		p->at++;
		digits++;
	}
	*byte = (uint8_t)value;
}

/* Reads an escape into set. single: its byte, or -1 if it is a class. */
static int parse_escape(struct regex_parser *p, bool in_class, struct byteset *set, int *single)
{
	static const char letters[] = "aefnrt", values[] = "\a\033\f\n\r\t";
	char letter = regex_peek(p, 1);
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

/* ---- classes ------------------------------------------------------------------------------- */

/* One element of a class: a byte, an escape or a named class. */
static int parse_class_element(struct regex_parser *p, struct byteset *set, int *single)
{
	char c = regex_peek(p, 0);

	if (c == '\\')
		return parse_escape(p, true, set, single);
	*single = -1;
	if (c == '[' && (regex_peek(p, 1) == '.' || regex_peek(p, 1) == '='))
		return regex_fail(p, p->at,
			"[%c in a class is not supported; write \\[ for a bracket",
			regex_peek(p, 1));
	if (c == '[' && regex_peek(p, 1) == ':')
		return parse_named_class(p, set);
	*single = (uint8_t)c;
	byteset_add(set, (uint8_t)c);
	p->at++;
	return 0;
}

/* Reads an element or, if a hyphen follows, the range that starts with it. */
static int parse_class_range(struct regex_parser *p, struct byteset *set)
{
	struct byteset ignored = { 0 };
	size_t start = p->at;
	int first, last;
	int status = parse_class_element(p, set, &first);

	if (status || regex_peek(p, 0) != '-' || regex_peek(p, 1) == ']' ||
		regex_peek(p, 1) == '\0')
		return status;
	p->at++;
	status = parse_class_element(p, &ignored, &last);
	if (status)
		return status;
	if (first < 0 || last < 0)
		return regex_fail(
			p, start, "a range goes from one byte to another; write \\- for a hyphen");
	if (first > last)
		return regex_fail(p, start, "the range's end comes before its start");
	byteset_add_range(set, (uint8_t)first, (uint8_t)last);
	return 0;
}

static int parse_class(struct regex_parser *p, struct byteset *set)
{
	size_t start = p->at++;
	bool negated = regex_peek(p, 0) == '^', first = true;

	p->at += negated;
	while (first || regex_peek(p, 0) != ']') {
		int status;

		if (p->at == p->len)
			return regex_fail(p, start, "the class that starts here has no closing ]");
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
	return byteset_count(set) ? 0 : regex_fail(p, start, "the class matches no byte");
}

int regex_parse_set(struct regex_parser *p, struct byteset *set)
{
	char c = regex_peek(p, 0);
	int single, status = 0;

	if (c == '[')
		return parse_class(p, set);
	if (c == '^' || c == '$')
		return regex_fail(p, p->at,
			"%c matches a position, not a byte; leave it out, or write \\%c", c, c);
	if (c == '?' || c == '*' || c == '+' || c == '{')
		return regex_fail(
			p, p->at, "%c has nothing to repeat; write \\%c for the character", c, c);
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
