/*
 * XML (W3C, Extensible Markup Language 1.0, fifth edition), from its declaration to its root's end
 * tag and the line ends after it. xml_walk.c checks that the document is well-formed; here the root
 * element determines the vocabulary. Without a declaration it has to be a known one, or the one that a document type
 * announces, or, after a comment, any with a namespace.
 *
 * Damage. A document is valid up to where it is no longer well-formed. Programs contain beginnings
 * of documents as strings: with fewer than two tags it is not a file.
 */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "html.h"
#include "text_joint.h"
#include "walk.h"
#include "xml_walk.h"

#define PACKET "<?xpacket begin="
#define PACKET_END_LEN 32 /* in which its last instruction begins */
#define MIN_TAGS 2
#define MAX_DECLARATION 2048
#define TITLE_DEPTH 3 /* rss/channel/title, html/head/title */

/* By the root's name; name_space, unless NULL, is a part of its namespace. */
static const struct {
	const char *root, *name_space, *extension;
} kinds[] = {
	{ "COLLADA", NULL, "dae" },
	{ "Envelope", "ovf", "ovf" },
	{ "FictionBook", NULL, "fb2" },
	{ "MPD", NULL, "mpd" },
	{ "OpenSearchDescription", NULL, "osdx" },
	{ "RDF", NULL, "rdf" },
	{ "TrainingCenterDatabase", NULL, "tcx" },
	{ "VirtualBox", NULL, "vbox" },
	{ "VisioDocument", NULL, "vdx" },
	{ "Workbook", "gnumeric", "gnumeric" },
	{ "X3D", NULL, "x3d" },
	{ "abiword", NULL, "abw" },
	{ "assembly", "asm.v1", "manifest" },
	{ "configuration", NULL, "config" },
	{ "definitions", "wsdl", "wsdl" },
	{ "feed", NULL, "atom" },
	{ "gpx", NULL, "gpx" },
	{ "html", NULL, "xhtml" },
	{ "jnlp", NULL, "jnlp" },
	{ "kml", NULL, "kml" },
	{ "metalink", NULL, "metalink" },
	{ "mxfile", NULL, "drawio" },
	{ "ncx", NULL, "ncx" },
	{ "opml", NULL, "opml" },
	{ "osm", NULL, "osm" },
	{ "package", "opf", "opf" },
	{ "playlist", "xspf", "xspf" },
	{ "plist", NULL, "plist" },
	{ "rss", NULL, "rss" },
	{ "schema", "XMLSchema", "xsd" },
	{ "score-partwise", NULL, "musicxml" },
	{ "score-timewise", NULL, "musicxml" },
	{ "smil", NULL, "smil" },
	{ "stylesheet", NULL, "xsl" },
	{ "svg", NULL, "svg" },
	{ "transform", "XSL", "xsl" },
	{ "tt", "ttml", "ttml" },
	{ "xliff", NULL, "xlf" },
	{ "xmpmeta", NULL, "xmp" },
};

/* Roots that are found without a declaration, though their documents have no extension of their own. A program may have the
 * beginning of one as a string. */
static const char *const bare_roots[] = { "domain", "Event", "Objs", "Project", "Task",
	"WLANProfile", "manifest", "project", "schemalist" };

#define BARE_TAGS 8 /* in what is not complete */
#define COMMENTS_MAX_LEN 16384
#define FIRST_TAG_MAX_LEN 1024

static bool is_bare_root(const char *root)
{
	for (size_t i = 0; i < sizeof(bare_roots) / sizeof(*bare_roots); i++)
		if (strcmp(bare_roots[i], root) == 0)
			return true;
	return false;
}

static bool is_kind(const char *root)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].root, root) == 0)
			return true;
	return false;
}

static const char *extension(const struct xml *xml)
{
	const char *root = xml_local_name(xml->root);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].root, root) == 0 &&
			(!kinds[i].name_space || strstr(xml->name_space, kinds[i].name_space)))
			return kinds[i].extension;
	return "xml";
}

static bool is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/* The first bytes of the document after comments at its start, at *at; *len of them. */
static const uint8_t *skip_comments(struct view *view, size_t *at, size_t *len)
{
	const uint8_t *p = walk_window(view, 0, COMMENTS_MAX_LEN, len), *end;

	*at = 0;
	while (p && *len - *at > 4 && memcmp(p + *at, "<!--", 4) == 0) {
		end = memmem(p + *at + 4, *len - *at - 4, "-->", 3);
		*at = end ? (size_t)(end - p) + 3 : *len;
		while (*at < *len && is_blank(p[*at]))
			++*at;
	}
	return p;
}

/* Whether the head of a packet of XMP comes first, perhaps after comments. */
static bool starts_packet(struct view *view)
{
	size_t at, len;
	const uint8_t *p = skip_comments(view, &at, &len);

	return p && len - at > sizeof(PACKET) && memcmp(p + at, PACKET, sizeof(PACKET) - 1) == 0;
}

/* Whether a comment comes first. */
static bool starts_comment(struct view *view)
{
	const uint8_t *p = view_peek(view, 0, 4);

	return p && memcmp(p, "<!--", 4) == 0;
}

/* Whether what follows the comments at the start is a known root or a tag with a namespace, an instruction, or a document type:
 * pages have comments all over, which should not each cost a walk. */
static bool comments_lead_to_root(struct view *view)
{
	size_t len, at;
	const uint8_t *p = skip_comments(view, &at, &len), *end;
	char name[64] = "";

	if (!p || len - at < 16 || p[at] != '<')
		return false;
	if (p[at + 1] == '?')
		return true;
	if (p[at + 1] == '!')
		return memcmp(p + at, "<!DOCTYPE ", 10) == 0 &&
		       strncasecmp((const char *)p + at + 10, "html", 4) != 0;
	end = memchr(p + at, '>', len - at < FIRST_TAG_MAX_LEN ? len - at : FIRST_TAG_MAX_LEN);
	if (!end)
		return false;
	for (size_t i = 0; i < sizeof(name) - 1 && p[at + 1 + i] != '>' && !is_blank(p[at + 1 + i]);
		i++)
		name[i] = (char)p[at + 1 + i];
	return is_kind(xml_local_name(name)) || is_bare_root(xml_local_name(name)) ||
	       memmem(p + at, (size_t)(end - p) - at, " xmlns", 6);
}

/* Whether a root comes first instead of a declaration, or a comment, or the head of a packet of XMP. */
static bool starts_bare(struct view *view)
{
	const uint8_t *p = view_peek(view, 0, 2);

	return p && p[0] == '<' && (p[1] != '?' || starts_packet(view));
}

/* Whether a document without a declaration is XML all the same. bare: it begins with markup; led: comments lead to its root. HTML with a document type is
 * left to its own carver. */
static bool is_known(const struct xml *xml, bool bare, bool led, bool complete)
{
	if (*xml->doctype)
		return strcmp(xml->doctype, xml->root) == 0 && strcasecmp(xml->root, "html") != 0;
	return bare && (strcmp(extension(xml), "xml") != 0 ||
			       ((led || is_bare_root(xml_local_name(xml->root))) &&
				       (complete || xml->tag_count >= BARE_TAGS)));
}

/* Checks XHTML that is not well-formed as HTML, as browsers do. Rejected if that ends earlier: then
 * it has other tags. */
static enum verdict check_as_html(struct view *view, const struct xml *xml, struct finding *finding)
{
	struct finding html = { .extension = "html" };
	enum verdict verdict = html_check(view, &html);

	if (verdict == CARVE_REJECT || html.length <= xml->problem_at)
		return CARVE_REJECT;
	*finding = html;
	return verdict;
}

/* Whether a declaration ends soon, so that many false beginnings do not each cost a long walk. */
static bool declaration_ends(struct view *view)
{
	size_t len;
	const uint8_t *p = walk_window(view, 0, MAX_DECLARATION, &len);

	return p && (memmem(p, len, "?>", 2) || memmem(p, len, "?\0>", 3));
}

/* Whether a packet of XMP ends as it has to. A document in it may be whole, and the rest of the packet lost. */
static bool packet_is_open(struct view *view, uint64_t end)
{
	const uint8_t *p;

	if (!starts_packet(view))
		return false;
	p = end > PACKET_END_LEN ? view_peek(view, end - PACKET_END_LEN, PACKET_END_LEN) : NULL;
	return !p || !memmem(p, PACKET_END_LEN, "<?xpacket end=", 14);
}

/* state: from where the walk goes on, or NULL. */
static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct xml xml = { .from = state, .title_name = "title", .title_depth = TITLE_DEPTH };
	bool bare = starts_bare(view), led = starts_comment(view);
	enum xml_end end;

	if (led ? !comments_lead_to_root(view) : !bare && !declaration_ends(view))
		return verdict_because(CARVE_REJECT, finding, "no XML declaration at 0");
	end = xml_walk(view, &xml);
	if (!xml.declared && !is_known(&xml, bare, led, end == XML_COMPLETE))
		return verdict_because(CARVE_REJECT, finding, "no XML declaration at 0");
	if (end != XML_COMPLETE && xml.tag_count < MIN_TAGS)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64,
			end == XML_BROKEN ? xml.problem : "truncated before its second tag",
			end == XML_BROKEN ? xml.problem_at : xml.valid_end);
	if (strcmp(xml_local_name(xml.root), "html") != 0 && xml_is_mentioned(&xml, end))
		return verdict_because(CARVE_REJECT, finding, XML_MENTIONED, xml.problem_at);
	if (end == XML_BROKEN && strcmp(xml_local_name(xml.root), "html") == 0) {
		enum verdict verdict = check_as_html(view, &xml, finding);

		if (verdict != CARVE_REJECT)
			return verdict;
	}
	finding->extension = extension(&xml);
	if (end == XML_COMPLETE && packet_is_open(view, xml.end)) {
		xml_verdict(view, &xml, end, finding);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the packet does not end after the document, at %" PRIu64, xml.end);
	}
	return xml_verdict(view, &xml, end, finding);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return resume(view, NULL, finding);
}

const struct carver xml_carver = {
	.name = "xml",
	.summary = "XML documents of any vocabulary, by their tags",
	.check = check,
	.resume = resume,
	.joint = text_joint,
	.lasts = true,
	.is_text = true,
};
