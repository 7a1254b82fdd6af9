#include "evidence/aff4_turtle.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PREFIXES_MAX 32
#define DEPTH_MAX 64

enum kind { END, TERM, NAMELESS, POINT, SEMICOLON, COMMA, DIRECTIVE, WRONG };

struct prefix {
	char name[64], full[256];
};

struct turtle {
	const char *at;
	struct prefix prefixes[PREFIXES_MAX];
	size_t prefix_count;
	bool as_written; /* names with prefixes are not made full */
	char term[AFF4_TERM_MAX];
};

static void skip_blanks(struct turtle *turtle)
{
	for (;;) {
		turtle->at += strspn(turtle->at, " \t\r\n");
		if (*turtle->at != '#')
			return;
		turtle->at += strcspn(turtle->at, "\n");
	}
}

/* Takes len bytes as the term. */
static enum kind take(struct turtle *turtle, const char *from, size_t len)
{
	if (len >= sizeof(turtle->term))
		return WRONG;
	memcpy(turtle->term, from, len);
	turtle->term[len] = 0;
	return TERM;
}

static enum kind read_full_name(struct turtle *turtle)
{
	const char *from = turtle->at + 1;
	size_t len = strcspn(from, ">\n");

	if (from[len] != '>')
		return WRONG;
	turtle->at = from + len + 1;
	return take(turtle, from, len);
}

static size_t word_len(const char *text)
{
	size_t len = strcspn(text, " \t\r\n;,<>\"'[]()#");

	return len && text[len - 1] == '.' ? len - 1 : len;
}

/* A text, in whichever quotes, and its type or language. */
static enum kind read_literal(struct turtle *turtle)
{
	char quote[4] = { *turtle->at };
	const char *from, *at;
	enum kind kind;

	if (turtle->at[1] == *quote && turtle->at[2] == *quote)
		quote[1] = quote[2] = *quote;
	from = at = turtle->at + strlen(quote);
	while (*at && strncmp(at, quote, strlen(quote)) != 0)
		at += *at == '\\' && at[1] ? 2 : 1;
	if (!*at)
		return WRONG;
	kind = take(turtle, from, (size_t)(at - from) < AFF4_TERM_MAX ? (size_t)(at - from) : 0);
	turtle->at = at + strlen(quote);
	if (*turtle->at == '@')
		turtle->at += word_len(turtle->at);
	if (strncmp(turtle->at, "^^", 2) != 0)
		return kind;
	turtle->at += 2;
	from = *turtle->at == '<' ? strchr(turtle->at, '>') : NULL;
	turtle->at = from ? from + 1 : turtle->at + word_len(turtle->at);
	return kind;
}

static enum kind read_word(struct turtle *turtle)
{
	size_t len = word_len(turtle->at);
	const char *word = turtle->at, *colon = memchr(word, ':', len);

	if (!len)
		return WRONG;
	turtle->at += len;
	if (*word == '@')
		return take(turtle, word, len) == TERM ? DIRECTIVE : WRONG;
	if (*word == '_')
		return NAMELESS;
	if (!colon && (!strncasecmp(word, "prefix", len) || !strncasecmp(word, "base", len)))
		return take(turtle, word, len) == TERM ? DIRECTIVE : WRONG;
	for (size_t i = 0; colon && !turtle->as_written && i < turtle->prefix_count; i++) {
		const struct prefix *prefix = &turtle->prefixes[i];
		size_t name_len = (size_t)(colon - word);

		if (strlen(prefix->name) != name_len || memcmp(prefix->name, word, name_len) != 0)
			continue;
		len = (size_t)snprintf(turtle->term, sizeof(turtle->term), "%s%.*s", prefix->full,
			(int)(word + len - colon - 1), colon + 1);
		return len < sizeof(turtle->term) ? TERM : WRONG;
	}
	return take(turtle, word, len);
}

/* What is in brackets, with all in it. */
static enum kind skip_brackets(struct turtle *turtle)
{
	unsigned depth = 0;
	const char *end;

	do {
		skip_blanks(turtle);
		switch (*turtle->at) {
		case '[':
		case '(':
			depth++;
			turtle->at++;
			break;
		case ']':
		case ')':
			depth--;
			turtle->at++;
			break;
		case '"':
		case '\'':
			if (read_literal(turtle) == WRONG)
				return WRONG;
			break;
		case '<':
			end = strpbrk(turtle->at, ">\n");
			if (!end || *end != '>')
				return WRONG;
			turtle->at = end + 1;
			break;
		case 0:
			return WRONG;
		default:
			turtle->at++;
		}
	} while (depth && depth < DEPTH_MAX);
	return depth ? WRONG : NAMELESS;
}

static enum kind next(struct turtle *turtle)
{
	skip_blanks(turtle);
	switch (*turtle->at) {
	case 0:
		return END;
	case '<':
		return read_full_name(turtle);
	case '"':
	case '\'':
		return read_literal(turtle);
	case '[':
	case '(':
		return skip_brackets(turtle);
	case '.':
		turtle->at++;
		return POINT;
	case ';':
		turtle->at++;
		return SEMICOLON;
	case ',':
		turtle->at++;
		return COMMA;
	default:
		return read_word(turtle);
	}
}

/* @prefix name: <...> . */
static bool read_directive(struct turtle *turtle)
{
	bool is_prefix = !strcasecmp(turtle->term + (*turtle->term == '@'), "prefix");
	bool has_point = *turtle->term == '@';
	struct prefix *prefix = &turtle->prefixes[turtle->prefix_count];
	size_t len;

	if (is_prefix) {
		turtle->as_written = true;
		if (turtle->prefix_count == PREFIXES_MAX || next(turtle) != TERM)
			return false;
		turtle->as_written = false;
		len = strlen(turtle->term);
		if (!len || len > sizeof(prefix->name) || turtle->term[len - 1] != ':')
			return false;
		memcpy(prefix->name, turtle->term, len - 1);
		prefix->name[len - 1] = 0;
	}
	if (next(turtle) != TERM || strlen(turtle->term) >= sizeof(prefix->full))
		return false;
	if (is_prefix) {
		memcpy(prefix->full, turtle->term, strlen(turtle->term) + 1);
		turtle->prefix_count++;
	}
	return !has_point || next(turtle) == POINT;
}

/* The objects of one subject and predicate; returns what ends them. */
static enum kind read_objects(struct turtle *turtle, const char *subject, const char *predicate,
	void (*take_one)(void *, const char *, const char *, const char *), void *context)
{
	enum kind kind;

	do {
		kind = next(turtle);
		if (kind != TERM && kind != NAMELESS)
			return WRONG;
		if (kind == TERM && *subject)
			take_one(context, subject, predicate, turtle->term);
		kind = next(turtle);
	} while (kind == COMMA);
	return kind;
}

static bool read_subject(struct turtle *turtle, enum kind kind,
	void (*take_one)(void *, const char *, const char *, const char *), void *context)
{
	char subject[AFF4_TERM_MAX] = "", predicate[AFF4_TERM_MAX];

	if (kind == TERM)
		memcpy(subject, turtle->term, sizeof(subject));
	kind = SEMICOLON;
	while (kind == SEMICOLON) {
		kind = next(turtle);
		if (kind != TERM)
			continue;
		memcpy(predicate, turtle->term, sizeof(predicate));
		kind = read_objects(turtle, subject, predicate, take_one, context);
	}
	return kind == POINT;
}

bool aff4_turtle_read(const char *text,
	void (*take_one)(
		void *context, const char *subject, const char *predicate, const char *object),
	void *context)
{
	struct turtle turtle = { .at = text };
	enum kind kind;
	bool good = true;

	while (good && (kind = next(&turtle)) != END) {
		if (kind == DIRECTIVE)
			good = read_directive(&turtle);
		else
			good = (kind == TERM || kind == NAMELESS) &&
			       read_subject(&turtle, kind, take_one, context);
	}
	return good;
}
