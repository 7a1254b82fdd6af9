/*
 * The verdict on a file of boxes whose data is noise. Its boxes show where it ends, but the last
 * box is usually media data: when the file's end was overwritten, the length at its start is
 * unchanged. So the data itself has to confirm that it is there (bmff_coded.c). If nothing confirms
 * too much of the file's end, the file is not complete; of fragments, whose number is not stored, nothing
 * may be unconfirmed. Data that is invalid from its first byte
 * on, in a sector that was not overwritten, was never valid: then only the boxes determine the
 * length, and the file is unverified.
 */
#include "bmff_media.h"

#include <inttypes.h>

#include "bytes.h"
#include "overwrite.h"
#include "walk.h"

/* How often each byte of the file is checked, on average. */
#define CHECKS_MAX 4
/* Units of work (view_work) for a sample, which half a byte can describe. */
#define SAMPLE_WORK 8

void bmff_data_add(
	struct bmff_data *data, const struct bmff_coding *coding, uint64_t offset, uint64_t len)
{
	struct view *view = data->bmff->view;
	uint64_t confirmed, broken;

	if (!view_work(view, SAMPLE_WORK) || !len)
		return;
	if (!bmff_in_mdat(data->bmff, offset, len)) {
		if (!data->outside)
			data->outside = offset ? offset : 1;
		return;
	}
	if (offset + len > data->end)
		data->end = offset + len;
	/* In a file that is cut, the last box's size covers data that is missing. */
	if (offset + len > view_size(view))
		return;
	/* Items may share bytes, but not all of them with all others. */
	data->checked_len += len;
	if (data->checked_len / CHECKS_MAX > view_size(view))
		return;
	if (!bmff_coded(view, coding, offset, len, &confirmed, &broken))
		bmff_data_break(data, broken);
	if (confirmed > offset)
		bmff_data_confirm(data, confirmed);
}

void bmff_data_confirm(struct bmff_data *data, uint64_t confirmed)
{
	if (confirmed > data->confirmed)
		data->confirmed = confirmed;
}

void bmff_data_break(struct bmff_data *data, uint64_t broken)
{
	if (!data->broken || broken < data->broken)
		data->broken = broken;
}

bool bmff_is_filler(struct view *view, const struct bmff_box *box)
{
	const uint8_t *window = view_peek(view, box->data, 1);
	uint8_t value = window ? *window : 0;
	size_t len;

	if (box->type != BMFF('f', 'r', 'e', 'e') && box->type != BMFF('s', 'k', 'i', 'p'))
		return false;
	for (uint64_t at = box->data; at < box->end; at += len) {
		window = walk_window(view, at, box->end, &len);
		for (size_t i = 0; window && i < len; i++)
			if (window[i] != value)
				return false;
		if (!window)
			return false;
	}
	return true;
}

/* The index of fragments (ISO/IEC 14496-12, 8.8.9) ends with a box that has its length. */
static bool is_index(struct view *view, const struct bmff_box *box)
{
	const uint8_t *p = box->type == BMFF('m', 'f', 'r', 'a') && box->end - box->data >= 16
				   ? view_peek(view, box->end - 16, 16)
				   : NULL;

	return p && be32(p + 4) == BMFF('m', 'f', 'r', 'o') && be32(p + 12) == box->end - box->at;
}

static uint64_t unconfirmed(const struct bmff_data *data)
{
	const struct bmff *bmff = data->bmff;

	/* A box after the data confirms the data. Boxes that describe it were checked already. */
	if (bmff->last.type == BMFF('m', 'e', 't', 'a') ||
		bmff->last.type == BMFF('m', 'o', 'o', 'v'))
		return 0;
	if (bmff->last.type == BMFF('m', 'd', 'a', 't') && data->confirmed > bmff->last.data)
		return bmff->end - data->confirmed;
	if (bmff_is_filler(bmff->view, &bmff->last) || is_index(bmff->view, &bmff->last))
		return 0;
	return bmff->end - bmff->last.data;
}

/* Whether the first data of a box is invalid, although the box starts in the same sector: then the
 * data was not overwritten, but written that way. */
static bool written_invalid(const struct bmff_data *data)
{
	const struct bmff *bmff = data->bmff;

	for (uint64_t i = 0; i < bmff->mdat_count && i < BMFF_MDATS; i++)
		if (bmff->mdat[i].data == data->broken)
			return !overwrite_boundary_between(data->broken, data->broken);
	return false;
}

enum verdict bmff_data_verdict(const struct bmff_data *data, struct finding *finding)
{
	const struct bmff *bmff = data->bmff;
	uint64_t size = view_size(bmff->view), tail = unconfirmed(data);

	if (bmff->stopped == BMFF_CUT)
		return walk_cut(
			bmff->view, finding, bmff->last.end, data->broken ? data->broken : size);
	finding->length = bmff->end;
	if (data->broken && !bmff->last.open && written_invalid(data))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"invalid media data at %" PRIu64 ", but no sector starts there",
			data->broken);
	if (data->broken) {
		finding->length = data->broken;
		return verdict_because(
			CARVE_TRUNCATED, finding, "invalid media data at %" PRIu64, data->broken);
	}
	if (data->outside)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"data at %" PRIu64 " would be outside the file's media data",
			data->outside);
	if (bmff->last.open) {
		finding->length = data->end > bmff->last.data ? data->end : bmff->last.data;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the box at %" PRIu64 " has no length: cut after the last data in use",
			bmff->last.at);
	}
	if (!data->endless)
		return walk_tail_verdict(finding, bmff->end - tail, bmff->end);
	if (tail)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last %" PRIu64 " bytes cannot be verified", tail);
	return CARVE_COMPLETE;
}
