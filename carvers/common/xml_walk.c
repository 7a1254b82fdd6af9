/*
 * XML (W3C, Extensible Markup Language 1.0, fifth edition) by its markup alone.
 *
 * Checked are: declaration, document type, comments, instructions and CDATA sections are closed;
 * names are valid; attributes have quoted values without '<'; each end tag has the name of the
 * element that is open; only blanks, comments and instructions surround the root. Entities,
 * characters in names outside ASCII, and what a DTD demands are not checked: real files break those
 * rules, and they would not reveal damage.
 *
 * Characters reveal damage. XML has no control characters but three; one random byte in nine is
 * another. Random bytes are not UTF-8 either, but neither are real files that declare the wrong
 * encoding: such a byte is only noted, and if the walk fails soon after it, the document ended
 * there.
 *
 * The stack holds hashes of the open elements' names. A reader is one character ahead (c).
 */
#include "xml_walk.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "bytes.h"
#include "text_gap.h"
#include "title.h"
#include "walk.h"
#include "xml_reader.h"

#define DEPTH_MAX 1024
/* Text longer than this without any markup is not the document's, if the document then never
 * ends. */
#define TEXT_MAX 65536

struct document {
	struct xml_reader reader;
	struct xml *xml;
	uint64_t markup_end; /* end of the last valid markup */
	uint64_t markup_at;  /* start of the markup that is being read */
	unsigned depth;
	bool in_text;      /* not in markup */
	bool packet_ended; /* of XMP, by the instruction that was read last */
	unsigned title_in; /* depth of the element whose text is being collected, or 0 */
	uint64_t resumed;  /* up to there bytes can't be read, and were left out */
	uint64_t saved_at; /* where the state was saved last */
	uint32_t open[DEPTH_MAX];
};

/* A state between two pieces of markup: of the open elements only those that there are. */
struct saved {
	struct xml xml;
	struct document document;
};
_Static_assert(sizeof(struct saved) <= CARVE_STATE_MAX, "a state");

static bool fail(struct document *document, const char *problem)
{
	return xml_fail(&document->reader, problem);
}

static int current(const struct document *document)
{
	return document->reader.c;
}

static void advance(struct document *document)
{
	xml_reader_advance(&document->reader);
}

/* The declaration's encoding determines whether the text has to be UTF-8. */
static void read_declaration(struct document *document, const char *declaration)
{
	const char *value = strstr(declaration, "encoding");

	document->xml->declared = true;
	value = value ? strpbrk(value, "'\"") : NULL;
	if (value && strncasecmp(value + 1, "utf-8", 5) != 0 &&
		strncasecmp(value + 1, "us-ascii", 8) != 0)
		document->reader.utf8 = false;
}

static bool read_instruction(struct document *document)
{
	char target[8] = "", declaration[200] = "";
	struct xml_text name = { target, sizeof(target), 0 };
	struct xml_text rest = { declaration, sizeof(declaration), 0 };
	bool first = document->xml->tag_count == 0 && document->markup_end == 0, packet;

	advance(document);
	if (!xml_read_name(&document->reader, &name, NULL))
		return false;
	if (strcasecmp(target, "xml") == 0 && !first)
		return fail(document, "the declaration of another document");
	if (current(document) != '?' && !xml_is_space(current(document)))
		return fail(document, "an instruction without a blank after its name");
	packet = strcmp(target, "xpacket") == 0;
	if (!xml_skip_past(&document->reader, "?>", first || packet ? &rest : NULL))
		return false;
	document->packet_ended = packet && strstr(declaration, "end=");
	if (strcmp(target, "xml") == 0)
		read_declaration(document, declaration);
	return true;
}

/* The part of a document type in brackets: declarations, comments and instructions. */
static bool read_subset(struct document *document)
{
	advance(document);
	for (;;) {
		int c = current(document);

		if (c < 0)
			return false;
		if (c == '"' || c == '\'') {
			if (!xml_read_quoted(&document->reader, false, NULL))
				return false;
			continue;
		}
		advance(document);
		if (c == ']')
			return true;
		if (c != '<')
			continue;
		if (current(document) == '?' && !xml_skip_past(&document->reader, "?>", NULL))
			return false;
		if (current(document) != '!')
			continue;
		advance(document);
		if (current(document) != '-')
			continue;
		if (!xml_expect(&document->reader, "--", "an invalid comment") ||
			!xml_skip_past(&document->reader, "-->", NULL))
			return false;
	}
}

/* A document also looks like one from its document type, or its root, on: XHTML like a page of HTML. There its clusters do not begin
 * with sectors, so another text in it would not be found. */
static void name_document(struct document *document, uint64_t at)
{
	if (at)
		view_embedded(document->reader.view, at);
}

static bool read_doctype(struct document *document)
{
	struct xml *xml = document->xml;
	struct xml_text name = { xml->doctype, sizeof(xml->doctype), 0 };
	uint64_t at = document->markup_at;

	if (!xml_expect(&document->reader, "DOCTYPE", "an unknown kind of markup"))
		return false;
	if (xml->doctype[0] || document->depth || xml->root[0])
		return fail(document, "a document type inside the document");
	xml_skip_space(&document->reader);
	if (!xml_read_name(&document->reader, &name, NULL))
		return false;
	name_document(document, at);
	while (current(document) != '>') {
		int c = current(document);

		if (c == '[' ? !read_subset(document)
			     : (c == '"' || c == '\'') &&
					!xml_read_quoted(&document->reader, false, NULL))
			return false;
		if (c != '[' && c != '"' && c != '\'') {
			if (!xml_is_space(c) && !xml_in_name(c))
				return fail(document, "an invalid document type");
			advance(document);
		}
	}
	advance(document);
	return true;
}

/* After "<!". */
static bool read_exclamation(struct document *document)
{
	advance(document);
	if (current(document) == '-')
		return xml_expect(&document->reader, "--", "an invalid comment") &&
		       xml_skip_past(&document->reader, "-->", NULL);
	if (current(document) == '[')
		return document->depth ? xml_expect(&document->reader, "[CDATA[",
						 "an invalid CDATA section") &&
						 xml_skip_past(&document->reader, "]]>", NULL)
				       : fail(document, "a CDATA section outside the root");
	return read_doctype(document);
}

const char *xml_local_name(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon ? colon + 1 : name;
}

/* Reads an attribute of the root, of which only the namespace matters. */
static void read_root_attribute(struct xml *xml, const char *name, const char *value)
{
	size_t prefix_len = (size_t)(xml_local_name(xml->root) - xml->root);
	bool found = prefix_len ? strncmp(name, "xmlns:", 6) == 0 &&
					  strlen(name + 6) == prefix_len - 1 &&
					  strncmp(name + 6, xml->root, prefix_len - 1) == 0
				: strcmp(name, "xmlns") == 0;

	if (found)
		strcpy(xml->name_space, value);
}

static bool read_attribute(struct document *document, bool of_root)
{
	char name[80] = "", value[sizeof(document->xml->name_space)] = "";
	struct xml_text name_text = { name, sizeof(name), 0 },
			value_text = { value, sizeof(value), 0 };

	if (!xml_read_name(&document->reader, of_root ? &name_text : NULL, NULL))
		return false;
	xml_skip_space(&document->reader);
	if (!xml_expect(&document->reader, "=", "an attribute without a value"))
		return false;
	xml_skip_space(&document->reader);
	if (!xml_read_quoted(&document->reader, true, of_root ? &value_text : NULL))
		return false;
	if (of_root)
		read_root_attribute(document->xml, name, value);
	return true;
}

static bool open_element(struct document *document, uint32_t hash, const char *name)
{
	struct xml *xml = document->xml;

	if (document->depth == DEPTH_MAX)
		return fail(document, "elements nested too deep");
	document->open[document->depth++] = hash;
	if (xml->title_name && !xml->title[0] && !document->title_in &&
		document->depth <= xml->title_depth &&
		strcmp(xml_local_name(name), xml->title_name) == 0)
		document->title_in = document->depth;
	return true;
}

static void close_element(struct document *document)
{
	if (document->title_in == document->depth)
		document->title_in = 0;
	document->depth--;
}

static bool read_start_tag(struct document *document)
{
	struct xml *xml = document->xml;
	bool of_root = document->depth == 0;
	char name[sizeof(xml->root)] = "";
	struct xml_text text = { name, sizeof(name), 0 };
	uint32_t hash;

	if (!xml_read_name(&document->reader, &text, &hash))
		return false;
	if (of_root) {
		strcpy(xml->root, name);
		name_document(document, document->markup_at);
	}
	if (of_root && xml->want_root && strcmp(xml_local_name(name), xml->want_root) != 0)
		return fail(document, "another kind of document");
	for (;;) {
		xml_skip_space(&document->reader);
		if (current(document) == '/' || current(document) == '>')
			break;
		if (!read_attribute(document, of_root))
			return false;
	}
	if (!open_element(document, hash, name))
		return false;
	if (current(document) == '/') {
		close_element(document);
		advance(document);
	}
	if (!xml_expect(&document->reader, ">", "a tag that is not closed"))
		return false;
	xml->tag_count++;
	return true;
}

static bool is_open(const struct document *document, uint32_t hash)
{
	for (unsigned i = document->depth; i--;)
		if (document->open[i] == hash)
			return true;
	return false;
}

/* After bytes that can't be read, an element's start or end may be missing: an end closes what is open
 * inside its element, and one without a start is left out. */
static bool read_end_tag(struct document *document)
{
	uint32_t hash;
	bool unread;

	advance(document);
	if (!xml_read_name(&document->reader, NULL, &hash))
		return false;
	xml_skip_space(&document->reader);
	if (current(document) != '>')
		return fail(document, "a tag that is not closed");
	unread = view_met_unreadable(document->reader.view);
	while (unread && document->depth > 1 && is_open(document, hash) &&
		document->open[document->depth - 1] != hash)
		close_element(document);
	if (document->depth && document->open[document->depth - 1] == hash)
		close_element(document);
	else if (!unread)
		return fail(document, "the end of an element that is not open");
	advance(document);
	document->xml->tag_count++;
	return true;
}

/* Anything that starts with '<'. */
static bool read_markup(struct document *document)
{
	document->in_text = false;
	document->markup_at = document->reader.at;
	advance(document);
	switch (current(document)) {
	case '?':
		return read_instruction(document);
	case '!':
		return read_exclamation(document);
	case '/':
		return read_end_tag(document);
	}
	return read_start_tag(document);
}

static bool read_text(struct document *document)
{
	struct xml *xml = document->xml;
	struct xml_text title = { xml->title, sizeof(xml->title), strlen(xml->title) };

	document->in_text = true;
	while (current(document) != '<') {
		if (current(document) < 0)
			return false;
		if (!document->depth && !xml_is_space(current(document)))
			return fail(document, "text outside the root");
		if (xml->tag_count == 1 && !xml_is_space(current(document)))
			xml->leads_with_text = true;
		if (document->title_in && document->title_in == document->depth)
			xml_collect(&document->reader, &title, current(document));
		advance(document);
	}
	return true;
}

/* Line ends after the document belong to it, with the blanks before them. */
static void skip_line_ends(struct document *document)
{
	while (xml_is_space(current(document))) {
		bool line_end = current(document) == '\n' || current(document) == '\r';

		advance(document);
		if (line_end)
			document->xml->end = document->reader.at;
	}
}

/* Comments and instructions after the root belong to the document, unless another document follows:
 * then they may be its own. */
static void read_epilog(struct document *document)
{
	struct xml *xml = document->xml;
	uint64_t end;

	skip_line_ends(document);
	end = xml->end;
	while (current(document) == '<') {
		advance(document);
		if (current(document) != '?' && current(document) != '!')
			break;
		if (current(document) == '?' ? !read_instruction(document)
					     : !read_exclamation(document))
			break;
		xml->end = document->reader.at;
		skip_line_ends(document);
		if (current(document) != '<' || document->packet_ended)
			end = xml->end;
		if (document->packet_ended)
			break;
	}
	xml->end = end;
}

/* Where a document that breaks at problem_at was last valid. */
static uint64_t find_valid_end(struct document *document)
{
	uint64_t at = xml_reader_valid_end(&document->reader, document->xml->problem_at);

	if (!document->depth || at < document->markup_end ||
		(document->in_text && at - document->markup_end > TEXT_MAX))
		return document->markup_end;
	return walk_before_fill(document->reader.view, document->markup_end, at);
}

/* Whether what is wrong may come from bytes that can't be read, in the text or markup that was read last.
 * If so, the walk goes on with the next markup after them. */
static bool skip_unread(struct document *document)
{
	struct xml_reader *reader = &document->reader;
	uint64_t start =
		document->markup_end > document->resumed ? document->markup_end : document->resumed;
	uint64_t from, to;

	if (!view_met_unreadable(reader->view) || reader->at < start ||
		!view_unreadable(reader->view, start, reader->at + 1 - start, &from, &to))
		return false;
	/* Half a character may be left at the view's end. */
	if (to + to % reader->unit > view_size(reader->view))
		return false;
	document->resumed = to;
	xml_reader_seek(reader, to + to % reader->unit);
	while (current(document) >= 0 && current(document) != '<')
		advance(document);
	return current(document) == '<';
}

static void save_state(struct document *document)
{
	struct xml_reader *reader = &document->reader;
	struct saved saved;
	struct carve_state state = { .offset = reader->next, .data = &saved };

	if (!walk_saves(reader->view, reader->next, &document->saved_at))
		return;
	memset(&saved, 0, sizeof(saved));
	saved.xml = *document->xml;
	saved.document = *document;
	state.len = offsetof(struct saved, document.open) + document->depth * sizeof(uint32_t);
	view_save(reader->view, &state);
}

/* What was saved, but for what the caller set. */
static void load_state(struct document *document, struct view *view)
{
	struct saved saved = { 0 };
	struct xml *xml = document->xml, wanted = *xml;

	memcpy(&saved, xml->from->data, xml->from->len);
	*document = saved.document;
	document->xml = xml;
	document->reader.view = view;
	document->reader.window = NULL;
	document->reader.problem = NULL;
	*xml = saved.xml;
	xml->from = wanted.from;
	xml->want_root = wanted.want_root;
	xml->title_name = wanted.title_name;
	xml->title_depth = wanted.title_depth;
}

enum xml_end xml_walk(struct view *view, struct xml *xml)
{
	struct document document = { .xml = xml };
	struct xml_reader *reader = &document.reader;

	view_fill_unreadable(view, ' ');
	if (xml->from)
		load_state(&document, view);
	else
		xml_reader_open(reader, view);
	do {
		if ((!read_text(&document) || !read_markup(&document)) && !skip_unread(&document)) {
			xml->problem = reader->problem;
			xml->problem_at = reader->at;
			xml->valid_end = find_valid_end(&document);
			if (xml->root[0] && xml->want_root &&
				strcmp(xml_local_name(xml->root), xml->want_root) != 0)
				return XML_OTHER;
			return reader->c < 0 && reader->cut ? XML_CUT : XML_BROKEN;
		}
		document.markup_end = reader->at;
		/* From the root's end on nothing is left to walk. */
		if (document.depth)
			save_state(&document);
	} while (document.depth || !xml->root[0]);
	/* The reader is one character ahead, which is not part of the document any more. */
	xml->odd_at = reader->first_odd < reader->at ? reader->first_odd : 0;
	xml->bracket_at = reader->first_bracket;
	xml->root_end = xml->end = reader->at;
	read_epilog(&document);
	return XML_COMPLETE;
}

bool xml_is_mentioned(const struct xml *xml, enum xml_end end)
{
	return !xml->declared && !xml->doctype[0] && end == XML_BROKEN && xml->leads_with_text;
}

enum verdict xml_verdict(
	struct view *view, const struct xml *xml, enum xml_end end, struct finding *finding)
{
	enum verdict verdict;

	finding_set_title(finding, (const uint8_t *)xml->title, strlen(xml->title));
	if (end == XML_CUT)
		return walk_cut(view, finding, view_size(view) + 1, xml->valid_end);
	finding->length = end == XML_COMPLETE ? xml->end : xml->valid_end;
	if (end == XML_BROKEN)
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s at %" PRIu64, xml->problem, xml->problem_at);
	verdict = text_gap_verdict(view, true, finding);
	if (verdict != CARVE_COMPLETE)
		return verdict;
	if (xml->odd_at)
		return verdict_because(CARVE_COMPLETE, finding,
			"well-formed, but a character is not UTF-8 at %" PRIu64, xml->odd_at);
	if (xml->bracket_at)
		return verdict_because(CARVE_COMPLETE, finding,
			"well-formed, but a value contains '<' at %" PRIu64, xml->bracket_at);
	return CARVE_COMPLETE;
}
