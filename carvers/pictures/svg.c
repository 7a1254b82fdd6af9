/*
 * SVG (W3C, Scalable Vector Graphics 1.1 and 2): XML whose root is svg.
 *
 * The walk is that of all XML (xml_walk.c); the file ends after the root's end tag and what may
 * follow it. The root has to declare its namespace, or a declaration or document type has to
 * precede it: web pages contain svg elements that are not files, and those have neither. The title
 * is that of the whole picture.
 */
#include "carver.h"

#include <inttypes.h>
#include <string.h>

#include "text_joint.h"
#include "xml_walk.h"

static bool is_file(const struct xml *xml)
{
	return strcmp(xml_local_name(xml->root), "svg") == 0 &&
	       (xml->name_space[0] || xml->doctype[0] || xml->declared);
}

/* state: from where the walk goes on, or NULL. */
static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct xml xml = {
		.from = state, .want_root = "svg", .title_name = "title", .title_depth = 2
	};
	enum xml_end end = xml_walk(view, &xml);

	if (end == XML_OTHER || !is_file(&xml))
		return verdict_because(CARVE_REJECT, finding,
			"no root svg with its namespace at %" PRIu64,
			end == XML_COMPLETE ? xml.root_end : xml.problem_at);
	if (end != XML_COMPLETE && !xml.tag_count)
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, xml.problem, xml.problem_at);
	if (xml_is_mentioned(&xml, end))
		return verdict_because(CARVE_REJECT, finding, XML_MENTIONED, xml.problem_at);
	finding->extension = "svg";
	return xml_verdict(view, &xml, end, finding);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return resume(view, NULL, finding);
}

const struct carver svg_carver = {
	.name = "svg",
	.summary = "SVG pictures, by the markup of XML",
	.check = check,
	.resume = resume,
	.joint = text_joint,
	.lasts = true,
	.is_text = true,
};
