/*
 * A JPEG XL codestream is an image header (jxl_header.c) and frames, each of which has a header, a
 * table of its sections' lengths (jxl_frame.c) and the sections; the last frame is marked.
 *
 * Two bytes of signature and headers in which most bits may have any value occur everywhere. So the
 * start of each frame's first section is decoded too, and the last section if it is in modular mode
 * (jxl_section.c): distributions that add up, coders that end in the required state, zeros up to
 * the next byte.
 */
#include "jxl_walk.h"

#include <string.h>

#include "jxl_section.h"

/* The most work (in units of view_work) on samples in total: less than a check may do, so that a
 * file that takes more has its right length. */
#define WORK_MAX (UINT64_C(400) << 20)

/* Reads the frame at walk->valid_end. Returns what is wrong with it, or NULL. */
static const char *read_frame(
	struct jxl_walk *walk, struct jxl_bits *bits, bool preview, struct jxl_frame *frame)
{
	struct view *view = bits->view;
	uint64_t limit = bits->limit;
	struct jxl_checked checked;
	const char *problem;

	walk->broken_at = walk->valid_end;
	bits->proof = 0;
	problem = jxl_frame_read(bits, &walk->image, preview, frame);
	if (problem) {
		walk->cut = bits->cut && !bits->wrong;
		return problem;
	}
	walk->proof += bits->proof;
	jxl_sections_check(view, &walk->image, frame, limit, &walk->work, &checked);
	walk->proof += checked.proof;
	walk->confirmed_to_end = checked.confirmed_to_end;
	walk->begun = walk->begun || checked.begun;
	if (checked.broken) {
		walk->broken_at = checked.broken_at;
		if (checked.begun)
			walk->valid_end = checked.valid_end;
		return "a section is broken";
	}
	walk->end = frame->end;
	walk->last_at = frame->last_at;
	if (frame->end > limit) {
		walk->cut = true;
		walk->valid_end = limit;
		return "a frame is cut off";
	}
	walk->valid_end = frame->end;
	/* Of several sections, at most the first and the last were decoded. */
	if (!checked.confirmed_to_end)
		view_unverified(view, frame->at, frame->end);
	else if (frame->section_count > 1)
		view_unverified(view, frame->first_at + frame->first_len, frame->last_at);
	walk->frame_count++;
	jxl_bits_begin(bits, view, frame->end, limit);
	return NULL;
}

bool jxl_walk(struct jxl_walk *walk, struct view *view, uint64_t at, uint64_t limit)
{
	struct jxl_frame frame = { 0 };
	struct jxl_bits bits;
	bool preview;

	memset(walk, 0, sizeof(*walk));
	walk->valid_end = walk->broken_at = walk->end = at;
	walk->work = WORK_MAX;
	jxl_bits_begin(&bits, view, at, limit);
	walk->problem = jxl_header_read(&bits, &walk->image);
	if (walk->problem) {
		walk->cut = bits.cut && !bits.wrong;
		walk->proof = bits.proof;
		return false;
	}
	walk->proof = bits.proof;
	walk->valid_end = jxl_bits_at(&bits);
	preview = walk->image.preview_width > 0;
	do {
		walk->problem = read_frame(walk, &bits, preview, &frame);
		if (walk->problem)
			return false;
		frame.last = frame.last && !preview;
		preview = false;
	} while (!frame.last);
	return true;
}
