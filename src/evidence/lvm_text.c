#include "evidence/lvm_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* LVM's own has four levels. */
#define DEPTH_MAX 8

struct parser {
	const char *at, *end;
};

static void skip_blanks(struct parser *parser)
{
	while (parser->at < parser->end) {
		if (*parser->at == '#')
			while (parser->at < parser->end && *parser->at != '\n')
				parser->at++;
		else if (isspace((unsigned char)*parser->at) || *parser->at == ',')
			parser->at++;
		else
			return;
	}
}

static bool take(struct parser *parser, char c)
{
	skip_blanks(parser);
	if (parser->at == parser->end || *parser->at != c)
		return false;
	parser->at++;
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || strchr("_-+.", c);
}

static char *copy(const char *begin, const char *end)
{
	size_t len = (size_t)(end - begin);
	char *text = xmalloc(len + 1);

	memcpy(text, begin, len);
	text[len] = 0;
	return text;
}

/* A name or a number; NULL: neither. */
static char *take_word(struct parser *parser)
{
	const char *begin;

	skip_blanks(parser);
	begin = parser->at;
	while (parser->at < parser->end && *parser->at && is_word(*parser->at))
		parser->at++;
	return parser->at > begin ? copy(begin, parser->at) : NULL;
}

/* Without the quotes; a backslash protects what follows it. */
static char *take_string(struct parser *parser)
{
	const char *begin;
	char *text, *to;

	if (!take(parser, '"'))
		return NULL;
	begin = parser->at;
	while (parser->at < parser->end && *parser->at != '"')
		parser->at += *parser->at == '\\' && parser->at + 1 < parser->end ? 2 : 1;
	if (parser->at >= parser->end)
		return NULL;
	text = to = copy(begin, parser->at++);
	for (const char *from = text; *from; from++) {
		if (*from == '\\')
			from++;
		*to++ = *from;
	}
	*to = 0;
	return text;
}

static char *take_value(struct parser *parser)
{
	skip_blanks(parser);
	return parser->at < parser->end && *parser->at == '"' ? take_string(parser)
							      : take_word(parser);
}

static struct lvm_node *add(struct lvm_node ***last, char *name)
{
	struct lvm_node *node = xcalloc(1, sizeof(*node));

	node->name = name;
	**last = node;
	*last = &node->next;
	return node;
}

static bool parse_list(struct parser *parser, struct lvm_node *list)
{
	struct lvm_node **last = &list->first;
	char *text;

	while (!take(parser, ']')) {
		text = take_value(parser);
		if (!text)
			return false;
		add(&last, NULL)->text = text;
	}
	return true;
}

/* Up to the brace that ends it, or at the top the end of the text. */
static bool parse_section(struct parser *parser, struct lvm_node *section, unsigned depth)
{
	struct lvm_node **last = &section->first, *node;

	for (;;) {
		char *name;

		skip_blanks(parser);
		if (depth && take(parser, '}'))
			return true;
		if (!depth && (parser->at == parser->end || !*parser->at))
			return true;
		name = take_word(parser);
		if (!name)
			return false;
		node = add(&last, name);
		if (take(parser, '{')) {
			if (depth == DEPTH_MAX || !parse_section(parser, node, depth + 1))
				return false;
		} else if (!take(parser, '=')) {
			return false;
		} else if (take(parser, '[')) {
			if (!parse_list(parser, node))
				return false;
		} else if (!(node->text = take_value(parser))) {
			return false;
		}
	}
}

struct lvm_node *lvm_text_parse(const char *text, size_t len)
{
	struct parser parser = { text, text + len };
	struct lvm_node *top = xcalloc(1, sizeof(*top));

	if (parse_section(&parser, top, 0))
		return top;
	lvm_text_free(top);
	return NULL;
}

const struct lvm_node *lvm_text_find(const struct lvm_node *section, const char *name)
{
	const struct lvm_node *node = section ? section->first : NULL;

	while (node && (!node->name || strcmp(node->name, name)))
		node = node->next;
	return node;
}

bool lvm_text_number(const struct lvm_node *section, const char *name, uint64_t *number)
{
	const struct lvm_node *node = lvm_text_find(section, name);
	char *end;

	if (!node || !node->text || !isdigit((unsigned char)*node->text))
		return false;
	errno = 0;
	*number = strtoull(node->text, &end, 10);
	return !errno && !*end;
}

const char *lvm_text_string(const struct lvm_node *section, const char *name)
{
	const struct lvm_node *node = lvm_text_find(section, name);

	return node && node->text ? node->text : "";
}

void lvm_text_free(struct lvm_node *node)
{
	while (node) {
		struct lvm_node *next = node->next;

		lvm_text_free(node->first);
		free(node->name);
		free(node->text);
		free(node);
		node = next;
	}
}
