/*
 * EPS with a preview, for DOS (Adobe, Encapsulated PostScript File Format 3.0, 5.2).
 *
 *	header:   C5 D0 D3 C6, start and length of the PostScript, of a WMF, of a TIFF, a checksum
 *	sections: after it, in any order
 *
 * The file ends after its last section. The checks: sections follow the header and do not overlap.
 * The PostScript is text up to its %%EOF, or to a line end at the section's end soon after a comment:
 * a length in the header alone does not show that the section is still there. A WMF is a chain of records up
 * to its last one; a TIFF has a directory, and its strips are inside the section.
 *
 * The sections are files themselves, and the TIFF may hold a thumbnail: these are named as embedded,
 * even if this file is not complete. Nothing verifies the previews' pixels, and what follows %%EOF or is between sections.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "image_resources.h"
#include "overwrite.h"
#include "predictor.h"
#include "ps.h"
#include "text_joint.h"
#include "tiff_ifd.h"
#include "title.h"
#include "walk.h"

#define HEADER_LEN 30
#define SECTIONS 3
#define TAIL_MAX 1024 /* of the PostScript after its last comment, when it has no %%EOF */
#define WMF_PLACEABLE 0x9ac6cdd7
#define WMF_PLACEABLE_LEN 22
#define WMF_HEADER_LEN 18
#define WMF_RECORD_LEN 6
#define TIFF_HEADER_LEN 8
#define TIFF_WIDTH 256
#define TIFF_BITS 258
#define TIFF_SAMPLES 277
#define TIFF_STRIP_OFFSETS 273
#define TIFF_STRIP_LENGTHS 279
#define TIFF_RESOURCES 34377

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

/* Walks a WMF's records ([MS-WMF] 2.3) up to the one that ends it. *at is where one is invalid. */
static bool is_valid_wmf(struct view *view, const struct eps_section *section, uint64_t *at)
{
	const uint8_t *p = view_peek(view, section->at, WMF_HEADER_LEN);
	uint64_t len;

	*at = section->at;
	if (p && le32(p) == WMF_PLACEABLE) {
		*at += WMF_PLACEABLE_LEN;
		p = view_peek(view, *at, WMF_HEADER_LEN);
	}
	if (!p || le16(p) != 1 || le16(p + 2) != WMF_HEADER_LEN / 2)
		return false;
	*at += WMF_HEADER_LEN;
	view_unverified(view, *at, section->end);
	for (; *at < section->end; *at += len) {
		p = view_peek(view, *at, WMF_RECORD_LEN);
		len = p ? 2 * (uint64_t)le32(p) : 0;
		if (len < WMF_RECORD_LEN || len > section->end - *at)
			return false;
		if (!le16(p + 4))
			return len == WMF_RECORD_LEN;
	}
	return false;
}

/* Whether all strips are inside the TIFF. */
static bool are_strips_inside(const struct tiff *tiff)
{
	struct tiff_entry offsets, lengths;
	uint64_t offset, len;

	if (!tiff_find(tiff, tiff->first_ifd, TIFF_STRIP_OFFSETS, &offsets))
		return false;
	if (!tiff_find(tiff, tiff->first_ifd, TIFF_STRIP_LENGTHS, &lengths))
		return true;
	for (uint64_t i = 0; i < offsets.count; i++)
		if (!tiff_read_value(tiff, &offsets, i, &offset) ||
			!tiff_read_value(tiff, &lengths, i, &len) || offset > tiff->len ||
			len > tiff->len - offset)
			return false;
	return true;
}

static bool is_valid_tiff(struct view *view, const struct eps_section *section, uint64_t *at)
{
	struct tiff tiff;
	struct tiff_ifd ifd;
	const char *what;

	*at = section->at;
	if (!tiff_open(&tiff, view, section->at, section->end - section->at))
		return false;
	if (tiff.first_ifd < tiff.len)
		*at += tiff.first_ifd;
	if (!tiff_read_ifd(&tiff, tiff.first_ifd, &ifd) || !are_strips_inside(&tiff))
		return false;
	view_unverified(view, section->at + TIFF_HEADER_LEN, section->at + ifd.at);
	view_unverified(view, section->at + ifd.end, section->end);
	return overwrite_find(view, section->at + TIFF_HEADER_LEN, section->end, 1, at, &what) !=
	       OVERWRITE_CERTAIN;
}

/* Whether the previews are valid, those that exist. *at is where one is not. */
static bool are_previews_valid(struct view *view, const struct eps_section *sections, uint64_t *at)
{
	const struct eps_section *wmf = &sections[1], *tiff = &sections[2];

	return (wmf->end == wmf->at || is_valid_wmf(view, wmf, at)) &&
	       (tiff->end == tiff->at || is_valid_tiff(view, tiff, at));
}

/* An entry's first number; where it is missing, 1, which is the default of those that are read. */
static uint64_t tiff_value(const struct tiff *tiff, uint16_t tag)
{
	struct tiff_entry entry;
	uint64_t value;

	return tiff_find(tiff, tiff->first_ifd, tag, &entry) &&
			       tiff_read_value(tiff, &entry, 0, &value)
		       ? value
		       : 1;
}

/* Whether the TIFF's pixels continue to the section's end as they began. */
static bool is_tiff_end_plausible(struct view *view, const struct eps_section *section)
{
	uint64_t start = section->at + TIFF_HEADER_LEN, width, bits, row_len, at;
	struct tiff tiff;
	const char *what;

	if (!tiff_open(&tiff, view, section->at, section->end - section->at))
		return false;
	width = tiff_value(&tiff, TIFF_WIDTH);
	bits = tiff_value(&tiff, TIFF_BITS) * tiff_value(&tiff, TIFF_SAMPLES);
	if (width > UINT32_MAX || bits > 64 || !width || !bits)
		return false;
	row_len = (width * bits + 7) / 8;
	return overwrite_find(view, start, section->end, row_len, &at, &what) == OVERWRITE_NONE &&
	       predictor_check(view, start, section->end, row_len, (bits + 7) / 8, &at) ==
		       PREDICTOR_CONTINUOUS;
}

/* Names the bytes outside all sections, and those after the PostScript's end in its own. */
static void name_gaps(struct view *view, const struct eps_section *sections, uint64_t post_end)
{
	uint64_t from = HEADER_LEN;

	view_unverified(view, post_end, sections[0].end);
	for (int round = 0; round < SECTIONS; round++) {
		const struct eps_section *next = NULL;

		for (int i = 0; i < SECTIONS; i++)
			if (sections[i].end > sections[i].at && sections[i].at + 2 >= from &&
				(!next || sections[i].at < next->at))
				next = &sections[i];
		if (!next)
			return;
		view_unverified(view, from, next->at);
		from = next->end;
	}
}

/* Names the files that the header leads to. */
static void name_embedded(struct view *view, const struct eps_section *sections)
{
	const struct eps_section *preview = &sections[2];
	struct tiff_entry resources;
	struct tiff tiff;

	for (int i = 0; i < SECTIONS; i++)
		if (sections[i].end > sections[i].at)
			view_embedded(view, sections[i].at);
	if (preview->end > preview->at &&
		tiff_open(&tiff, view, preview->at, preview->end - preview->at) &&
		tiff_find(&tiff, tiff.first_ifd, TIFF_RESOURCES, &resources) && resources.apart &&
		resources.data <= tiff.len && resources.len <= tiff.len - resources.data)
		image_resources_name(view, preview->at + resources.data,
			preview->at + resources.data + resources.len);
}

/* The file should reach `end`, but a preview is invalid at `at`. */
static enum verdict judge_preview(
	struct finding *finding, uint64_t end, uint64_t valid_end, uint64_t at)
{
	finding->length = at >= valid_end ? at : end;
	return verdict_because(at >= valid_end ? CARVE_TRUNCATED : CARVE_UNVERIFIED, finding,
		"an invalid preview at %" PRIu64, at);
}

/* Whether the PostScript shows that it reaches `end`. Photoshop writes neither %%EOF nor a trailer:
 * there a structuring comment is near, and the last line ends with the section. */
static bool is_end_shown(enum ps_end ps_end, const struct ps *ps, uint64_t end)
{
	if (ps_end != PS_CUT)
		return ps_end == PS_WHOLE || ps_end == PS_BINARY;
	return ps->line_at == end && end - ps->comment_end <= TAIL_MAX;
}

/* state: from where the walk of the PostScript goes on, or NULL. */
static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct eps_section sections[SECTIONS];
	const char *problem = read_header(view, sections);
	uint64_t end = HEADER_LEN, at;
	struct ps ps = { 0 };
	enum ps_end ps_end;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	for (int i = 0; i < SECTIONS; i++)
		if (sections[i].end > end)
			end = sections[i].end;
	view_part(view, sections[0].at);
	ps_end = ps_walk(view, state, sections[0].at,
		sections[0].end < view_size(view) ? sections[0].end : view_size(view), &ps);
	if (ps_end == PS_NONE)
		return verdict_because(
			CARVE_REJECT, finding, "no PostScript at %" PRIu64, sections[0].at);
	finding_set_title(finding, (const uint8_t *)ps.title, strlen(ps.title));
	name_embedded(view, sections);
	if (end > view_size(view))
		return walk_cut(
			view, finding, end, view_ends_with_image(view) ? view_size(view) : ps.end);
	if (ps_end == PS_BROKEN) {
		finding->length = ps.end;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no PostScript at %" PRIu64, ps.broken_at);
	}
	finding->length = end;
	if (!are_previews_valid(view, sections, &at))
		return judge_preview(finding, end, ps.end, at);
	if (!is_end_shown(ps_end, &ps, sections[0].end))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no %%%%EOF in the PostScript, up to %" PRIu64, sections[0].end);
	if (sections[2].end == end && sections[2].end > sections[2].at &&
		!is_tiff_end_plausible(view, &sections[2]))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the preview's last pixels, up to %" PRIu64 ", cannot be verified", end);
	if (ps_end == PS_BINARY)
		view_unverified(view, ps.broken_at, ps.end);
	if (ps_end == PS_CUT)
		view_unverified(view, ps.comment_end, ps.end);
	name_gaps(view, sections, ps.end);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return resume(view, NULL, finding);
}

const struct carver eps_carver = {
	.name = "eps",
	.summary = "EPS with a preview, by its header and PostScript",
	.check = check,
	.resume = resume,
	.joint = text_joint,
	.lasts = true,
	.is_text = true,
};
