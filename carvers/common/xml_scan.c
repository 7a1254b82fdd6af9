#include "xml_scan.h"

#include "xml_reader.h"

enum {
	XML_BEGIN,
	XML_ANYTHING, /* it is not known to be XML */
	XML_WRONG,
	XML_TEXT,
	XML_OPEN,        /* after '<' */
	XML_NAME,        /* of an element */
	XML_END_NAME,    /* in an end tag */
	XML_END,         /* after that name */
	XML_TAG,         /* between attributes */
	XML_ATTRIBUTE,   /* its name */
	XML_EQUALS,      /* before '=' */
	XML_VALUE,       /* after it */
	XML_QUOTED,      /* in a value */
	XML_AFTER,       /* after a value */
	XML_EMPTY,       /* after '/' in a start tag */
	XML_INSTRUCTION, /* to "?>" */
	XML_DECLARATION, /* after "<!" */
	XML_DOCTYPE,     /* to '>' */
	XML_SECTION,     /* where a comment or CDATA begins */
	XML_IN_SECTION,
};

static void add_to_name(struct xml_scan *scan, uint8_t c)
{
	scan->name = (scan->name ^ c) * 0x01000193;
}

static unsigned begin_declaration(struct xml_scan *scan, uint8_t c)
{
	static const char declaration[] = "<?xml";

	if (c != (uint8_t)declaration[scan->begun++])
		return XML_ANYTHING;
	return declaration[scan->begun] ? XML_BEGIN : XML_INSTRUCTION;
}

static unsigned in_text(const struct xml_scan *scan, uint8_t c)
{
	if (c == '<')
		return XML_OPEN;
	return scan->depth || xml_is_space(c) ? XML_TEXT : XML_WRONG;
}

static unsigned after_bracket(struct xml_scan *scan, uint8_t c)
{
	scan->name = 0;
	if (c == '/')
		return XML_END_NAME;
	if (c == '?')
		return XML_INSTRUCTION;
	if (c == '!')
		return XML_DECLARATION;
	add_to_name(scan, c);
	return xml_starts_name(c) ? XML_NAME : XML_WRONG;
}

/* Where a space or the start tag's end may be. */
static unsigned in_tag(uint8_t c)
{
	if (xml_is_space(c))
		return XML_TAG;
	if (c == '/')
		return XML_EMPTY;
	return c == '>' ? XML_TEXT : XML_WRONG;
}

static unsigned in_start_name(struct xml_scan *scan, uint8_t c)
{
	if (xml_in_name(c)) {
		add_to_name(scan, c);
		return XML_NAME;
	}
	if (scan->depth < XML_SCAN_DEPTH)
		scan->names[scan->depth] = scan->name;
	scan->depth++;
	return in_tag(c);
}

static unsigned in_end_tag(struct xml_scan *scan, uint8_t c)
{
	if (scan->state == XML_END_NAME && xml_in_name(c)) {
		add_to_name(scan, c);
		return XML_END_NAME;
	}
	if (xml_is_space(c))
		return XML_END;
	if (c != '>' || !scan->depth)
		return XML_WRONG;
	scan->depth--;
	return scan->depth >= XML_SCAN_DEPTH || scan->names[scan->depth] == scan->name ? XML_TEXT
										       : XML_WRONG;
}

static unsigned in_empty(struct xml_scan *scan, uint8_t c)
{
	scan->depth--;
	return c == '>' ? XML_TEXT : XML_WRONG;
}

static unsigned in_attribute(const struct xml_scan *scan, uint8_t c)
{
	if (c == '=')
		return XML_VALUE;
	if (xml_is_space(c))
		return XML_EQUALS;
	return scan->state == XML_ATTRIBUTE && xml_in_name(c) ? XML_ATTRIBUTE : XML_WRONG;
}

static unsigned before_value(struct xml_scan *scan, uint8_t c)
{
	scan->quote = c;
	if (xml_is_space(c))
		return XML_VALUE;
	return c == '"' || c == '\'' ? XML_QUOTED : XML_WRONG;
}

static unsigned in_value(const struct xml_scan *scan, uint8_t c)
{
	if (c == scan->quote)
		return XML_AFTER;
	return c == '<' ? XML_WRONG : XML_QUOTED;
}

static unsigned after_mark(struct xml_scan *scan, uint8_t c)
{
	scan->begun = 1;
	scan->quote = c == '[' ? ']' : '-';
	if (c == '-' || c == '[')
		return XML_SECTION;
	return c == 'D' ? XML_DOCTYPE : XML_ANYTHING;
}

static unsigned begin_section(struct xml_scan *scan, uint8_t c)
{
	const char *begin = scan->quote == '-' ? "--" : "[CDATA[";

	if (c != (uint8_t)begin[scan->begun++])
		return XML_WRONG;
	if (begin[scan->begun])
		return XML_SECTION;
	scan->begun = 0;
	return XML_IN_SECTION;
}

/* A section ends with two of the character that `quote` has, or more, and '>'. */
static unsigned in_section(struct xml_scan *scan, uint8_t c)
{
	if (c == '>' && scan->begun >= 2)
		return XML_TEXT;
	scan->begun = c == scan->quote ? scan->begun + 1 : 0;
	return XML_IN_SECTION;
}

static unsigned in_doctype(uint8_t c)
{
	if (c == '[')
		return XML_ANYTHING;
	return c == '>' ? XML_TEXT : XML_DOCTYPE;
}

static unsigned next_state(struct xml_scan *scan, uint8_t c)
{
	switch (scan->state) {
	case XML_BEGIN:
		return begin_declaration(scan, c);
	case XML_TEXT:
		return in_text(scan, c);
	case XML_OPEN:
		return after_bracket(scan, c);
	case XML_NAME:
		return in_start_name(scan, c);
	case XML_END_NAME:
	case XML_END:
		return in_end_tag(scan, c);
	case XML_TAG:
		return xml_starts_name(c) ? XML_ATTRIBUTE : in_tag(c);
	case XML_ATTRIBUTE:
	case XML_EQUALS:
		return in_attribute(scan, c);
	case XML_VALUE:
		return before_value(scan, c);
	case XML_QUOTED:
		return in_value(scan, c);
	case XML_AFTER:
		return in_tag(c);
	case XML_EMPTY:
		return in_empty(scan, c);
	case XML_DECLARATION:
		return after_mark(scan, c);
	case XML_DOCTYPE:
		return in_doctype(c);
	case XML_SECTION:
		return begin_section(scan, c);
	case XML_IN_SECTION:
		return in_section(scan, c);
	default: /* an instruction */
		return c == '>' && scan->last == '?' ? XML_TEXT : XML_INSTRUCTION;
	}
}

bool xml_scan_feed(struct xml_scan *scan, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len && scan->state != XML_ANYTHING && scan->state != XML_WRONG;
		i++) {
		uint8_t c = bytes[i];

		scan->state = scan->state != XML_BEGIN && c < ' ' && !xml_is_space(c)
				      ? XML_WRONG
				      : next_state(scan, c);
		scan->last = c;
	}
	return scan->state != XML_WRONG;
}

bool xml_scan_is_done(const struct xml_scan *scan)
{
	return scan->state == XML_TEXT && !scan->depth;
}
