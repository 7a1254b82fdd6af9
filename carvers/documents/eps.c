/*
 * EPS with a preview, for DOS (Adobe, Encapsulated PostScript File Format 3.0, 5.2).
 *
 *	header:   C5 D0 D3 C6, start and length of the PostScript, of a WMF, of a TIFF, a checksum
 *	sections: after it, in any order
 *
 * The file ends after its last section. The checks: sections follow the header and do not overlap,
 * each begins with its format's signature, and the PostScript ends where it should. Nothing
 * verifies the preview's pixels.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "ps.h"
#include "title.h"
#include "walk.h"

#define HEADER_LEN 30
#define SECTIONS 3

struct eps_section {
	uint64_t at, end; /* empty: missing */
};

/* What is wrong with the header, or NULL. */
static const char *read_header(struct view *view, struct eps_section *sections)
{
	const uint8_t *p = view_peek(view, 0, HEADER_LEN);

	if (!p || memcmp(p, "\xc5\xd0\xd3\xc6", 4) != 0)
		return "no header";
	for (int i = 0; i < SECTIONS; i++) {
		sections[i].at = le32(p + 4 + 8 * i);
		sections[i].end = sections[i].at + le32(p + 8 + 8 * i);
		if (sections[i].end > sections[i].at && sections[i].at < HEADER_LEN - 2)
			return "a section inside the header";
	}
	if (sections[0].end == sections[0].at)
		return "no PostScript";
	for (int i = 0; i < SECTIONS; i++)
		for (int j = 0; j < i; j++)
			if (sections[i].at < sections[j].end && sections[j].at < sections[i].end &&
				sections[i].end > sections[i].at)
				return "overlapping sections";
	return NULL;
}

/* Whether the section begins like a TIFF or a WMF, if it is not empty. */
static bool is_valid_preview(struct view *view, const struct eps_section *section, bool tiff)
{
	const uint8_t *p;

	if (section->end == section->at)
		return true;
	p = view_peek(view, section->at, 4);
	if (!p)
		return false;
	if (!tiff)
		return le32(p) == 0x9ac6cdd7 || le32(p) == 0x00090001;
	return memcmp(p, "II*", 4) == 0 || memcmp(p, "MM\0*", 4) == 0;
}

static enum verdict judge_missing(
	struct view *view, struct finding *finding, uint64_t end, uint64_t valid_end)
{
	uint64_t size = view_size(view);

	if (end > size)
		return walk_cut(view, finding, end, view_ends_with_image(view) ? size : valid_end);
	finding->length = valid_end;
	return verdict_because(CARVE_TRUNCATED, finding, "no preview at the header's offset");
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct eps_section sections[SECTIONS];
	const char *problem = read_header(view, sections);
	uint64_t end = HEADER_LEN;
	struct ps ps = { 0 };
	enum ps_end ps_end;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	for (int i = 0; i < SECTIONS; i++)
		if (sections[i].end > end)
			end = sections[i].end;
	view_part(view, sections[0].at);
	ps_end = ps_walk(view, sections[0].at,
		sections[0].end < view_size(view) ? sections[0].end : view_size(view), &ps);
	if (ps_end == PS_NONE)
		return verdict_because(
			CARVE_REJECT, finding, "no PostScript at %" PRIu64, sections[0].at);
	finding_set_title(finding, (const uint8_t *)ps.title, strlen(ps.title));
	if (end > view_size(view))
		return judge_missing(view, finding, end, ps.end);
	if (ps_end == PS_BROKEN) {
		finding->length = ps.end;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no PostScript at %" PRIu64, ps.broken_at);
	}
	if (!is_valid_preview(view, &sections[1], false) ||
		!is_valid_preview(view, &sections[2], true))
		return judge_missing(view, finding, end, ps.end);
	finding->length = end;
	return CARVE_COMPLETE;
}

const struct carver eps_carver = {
	.name = "eps",
	.summary = "EPS with a preview, by its header and PostScript",
	.check = check,
};
