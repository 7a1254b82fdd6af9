/*
 * XML (W3C, Extensible Markup Language 1.0, fifth edition), from its declaration to its root's end
 * tag and the line ends behind it. xml_walk.c checks that the document is well-formed; here the
 * root element tells which vocabulary it is written in.
 *
 * Damage. A document is sound up to where it stops to be well-formed. Programs hold beginnings of
 * documents as strings: where there are no two tags, there is no file.
 */
#include <inttypes.h>
#include <string.h>

#include "html.h"
#include "walk.h"
#include "xml_walk.h"

#define LEAST_TAGS 2
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

static const char *extension(const struct xml *xml)
{
	const char *root = xml_local_name(xml->root);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].root, root) == 0 &&
			(!kinds[i].name_space || strstr(xml->name_space, kinds[i].name_space)))
			return kinds[i].extension;
	return "xml";
}

/* Written as XHTML, but not well-formed: browsers take it for HTML. Not if that is something
 * shorter: it has other tags then. */
static enum verdict as_html(struct view *view, const struct xml *xml, struct finding *finding)
{
	struct finding html = { .extension = "html" };
	enum verdict verdict = html_check(view, &html);

	if (verdict == CARVE_REJECT || html.length <= xml->problem_at)
		return CARVE_REJECT;
	*finding = html;
	return verdict;
}

/* Whether a declaration ends soon: many false beginnings must not each be long walks. */
static bool declaration_ends(struct view *view)
{
	size_t len;
	const uint8_t *p = walk_window(view, 0, MAX_DECLARATION, &len);

	return p && (memmem(p, len, "?>", 2) || memmem(p, len, "?\0>", 3));
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct xml xml = { .title_name = "title", .title_depth = TITLE_DEPTH };
	enum xml_end end;

	if (!declaration_ends(view))
		return verdict_because(CARVE_REJECT, finding, "no XML declaration at 0");
	end = xml_walk(view, &xml);
	if (!xml.declared)
		return verdict_because(CARVE_REJECT, finding, "no XML declaration at 0");
	if (end != XML_WHOLE && xml.tag_count < LEAST_TAGS)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64,
			end == XML_BROKEN ? xml.problem : "cut off before its second tag",
			end == XML_BROKEN ? xml.problem_at : xml.valid_end);
	if (end == XML_BROKEN && strcmp(xml_local_name(xml.root), "html") == 0) {
		enum verdict verdict = as_html(view, &xml, finding);

		if (verdict != CARVE_REJECT)
			return verdict;
	}
	finding->extension = extension(&xml);
	return xml_verdict(view, &xml, end, finding);
}

const struct carver xml_carver = {
	.name = "xml",
	.summary = "XML documents of any vocabulary, by their tags",
	.check = check,
};
