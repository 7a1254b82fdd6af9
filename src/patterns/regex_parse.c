/*
 * A recursive descent parser that builds no tree: it writes each part in canonical form as soon as
 * it has read it, and returns only facts (widths, first bytes, probability). Canonical means that
 * every atom is a set of bytes, written as one alphanumeric character, as \xHH or as a class of
 * these; so nothing remains that PCRE2 and Vectorscan could interpret differently: no \s, no dot,
 * no case flag, no captures.
 *
 * Widths fit in 32 bits: a part wider than REGEX_MAX_WIDTH is refused at once, and so is a repeat
 * of 0 times, so no wide part can disappear again.
 */
#include "patterns/regex_parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/regex.h"
#include "patterns/regex_set.h"

#define MAX_DEPTH 100 /* depth of nested groups */
#define MAX_REPEAT 65535u

static int parse_alternation(struct regex_parser *p, struct regex_facts *facts, bool *bars);

static bool at_end(const struct regex_parser *p)
{
	return p->at == p->len;
}

/* ---- atoms, repeats, sequences ------------------------------------------------------------- */

static int refuse_group(struct regex_parser *p)
{
	char c = regex_peek(p, 2);

	if (c == '=' || c == '!' ||
		(c == '<' && (regex_peek(p, 3) == '=' || regex_peek(p, 3) == '!')))
		return regex_fail(p, p->at, "lookaround is not supported: it has no width");
	if (c == '>')
		return regex_fail(p, p->at, "atomic groups are not supported; write (?:...)");
	if (c == 'P' || c == '<' || c == '\'')
		return regex_fail(p, p->at, "named groups are not supported; write (?:...)");
	return regex_fail(p, p->at,
		"flags and comments inside a regex are not supported; for case write /.../i");
}

static int parse_group(struct regex_parser *p, struct regex_facts *facts)
{
	size_t start = p->at;
	bool bars;
	int status;

	if (regex_peek(p, 1) == '?' && regex_peek(p, 2) != ':')
		return refuse_group(p);
	if (++p->depth > MAX_DEPTH)
		return regex_fail(p, start, "more than %d nested groups", MAX_DEPTH);
	p->at += regex_peek(p, 1) == '?' ? 3 : 1;
	strbuf_bytes(&p->out, "(?:", 3);
	status = parse_alternation(p, facts, &bars);
	if (status)
		return status;
	if (regex_peek(p, 0) != ')')
		return regex_fail(p, start, "the group that starts here has no closing )");
	p->at++;
	p->depth--;
	strbuf_bytes(&p->out, ")", 1);
	return 0;
}

static int parse_atom(struct regex_parser *p, struct regex_facts *facts)
{
	struct byteset set = { 0 };
	int status;

	if (regex_peek(p, 0) == '(')
		return parse_group(p, facts);
	status = regex_parse_set(p, &set);
	if (status)
		return status;
	regex_print_set(&p->out, &set);
	*facts = (struct regex_facts){ 1, 1, byteset_count(&set) / 256.0, set };
	return 0;
}

/* Reads a decimal number; false when there is none or it exceeds MAX_REPEAT. */
static bool parse_number(struct regex_parser *p, uint32_t *number)
{
	size_t start = p->at;

	*number = 0;
	while (ascii_is_digit((uint8_t)regex_peek(p, 0)) && *number <= MAX_REPEAT)
		*number = *number * 10 + (uint32_t)(p->text[p->at++] - '0');
	return p->at > start && *number <= MAX_REPEAT;
}

/* Reads {m} or {m,n}. */
static int parse_braces(struct regex_parser *p, uint32_t *least, uint32_t *most)
{
	size_t start = p->at++;

	if (!parse_number(p, least))
		goto malformed;
	*most = *least;
	if (regex_peek(p, 0) == ',') {
		p->at++;
		if (regex_peek(p, 0) == '}')
			return regex_fail(p, start,
				"{%u,} repeats without bound; give a maximum, so that a match is "
				"at most %u bytes",
				*least, REGEX_MAX_WIDTH);
		if (!parse_number(p, most))
			goto malformed;
	}
	if (regex_peek(p, 0) != '}')
		goto malformed;
	p->at++;
	if (*most < *least || !*most)
		return regex_fail(p, start,
			*most ? "{%u,%u}: the maximum is less than the minimum"
			      : "{%u,%u} repeats 0 times; leave it out",
			*least, *most);
	return 0;
malformed:
	return regex_fail(
		p, start, "expected {m} or {m,n}, at most %u; write \\{ for a brace", MAX_REPEAT);
}

static int parse_repeat(struct regex_parser *p, struct regex_facts *facts)
{
	size_t start = p->at;
	uint32_t least = 0, most = 1;
	char c = regex_peek(p, 0);
	int status;

	if (c == '*' || c == '+')
		return regex_fail(p, start,
			"%c repeats without bound; write {%d,N}, so that a match is at most %u "
			"bytes",
			c, c == '+', REGEX_MAX_WIDTH);
	if (c != '?' && c != '{')
		return 0;
	if (c == '?') {
		p->at++;
		strbuf_bytes(&p->out, "?", 1);
	} else {
		status = parse_braces(p, &least, &most);
		if (status)
			return status;
		strbuf_print(&p->out, least == most ? "{%u}" : "{%u,%u}", least, most);
	}
	if (regex_peek(p, 0) == '?') {
		p->at++;
		if (least != most)
			strbuf_bytes(&p->out, "?", 1);
	}
	c = regex_peek(p, 0);
	if (c == '+')
		return regex_fail(p, p->at, "possessive repeats are not supported");
	if (c == '*' || c == '?' || c == '{')
		return regex_fail(p, p->at, "a repeat of a repeat; put the inner one into (?:...)");
	facts->min *= least; /* both stay below 2^28 */
	facts->max *= most;
	facts->chance = pow(facts->chance, least);
	return 0;
}

static int check_width(struct regex_parser *p, size_t start, const struct regex_facts *facts)
{
	if (facts->max <= REGEX_MAX_WIDTH)
		return 0;
	return regex_fail(p, start,
		"the part that starts here can match %u bytes; at most %u are allowed", facts->max,
		REGEX_MAX_WIDTH);
}

static int parse_sequence(struct regex_parser *p, struct regex_facts *facts)
{
	size_t start = p->at;

	*facts = (struct regex_facts){ .chance = 1 };
	while (!at_end(p) && regex_peek(p, 0) != '|' && regex_peek(p, 0) != ')') {
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
	return p->at > start
		       ? 0
		       : regex_fail(p, start,
				 "expected something to match; write (...)? for an optional part");
}

static int parse_alternation(struct regex_parser *p, struct regex_facts *facts, bool *bars)
{
	int status = parse_sequence(p, facts);

	*bars = false;
	while (!status && regex_peek(p, 0) == '|') {
		struct regex_facts other;

		*bars = true;
		p->at++;
		strbuf_bytes(&p->out, "|", 1);
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

/* ---- the whole ----------------------------------------------------------------------------- */

int regex_parse(char **source, struct regex_facts *facts, const char *text, size_t len, bool nocase,
	size_t column, struct error *error)
{
	struct regex_parser p = {
		.text = text, .len = len, .column = column, .nocase = nocase, .error = error
	};
	struct strbuf whole = { 0 };
	bool bars;
	int status;

	if (memchr(text, '\0', len))
		return regex_fail(&p, 0, "a zero byte in the regex; write \\x00");
	status = parse_alternation(&p, facts, &bars);
	if (!status && !at_end(&p))
		status = regex_fail(&p, p.at, "unmatched ); write \\) for the character");
	if (!status && !facts->min)
		status = regex_fail(&p, 0,
			"the regex can match the empty string, so it would match everywhere");
	if (!status)
		strbuf_print(&whole, bars ? "(?:%s)" : "%s", p.out.bytes);
	free(p.out.bytes);
	*source = whole.bytes;
	return status;
}
