/*
 * MP4, QuickTime, 3GPP and their kin (ISO/IEC 14496-12; Apple, QuickTime File Format).
 *
 *	ftyp: the brand. QuickTime before version 6 has none and begins with one of the next
 *	moov: what the tracks are and where their samples are
 *	mdat: the samples; before or after moov, or several
 *	moof: with fragments, the description of the samples in the mdat after it
 *
 * The outermost boxes lead to the file's end (bmff.c), where no known one follows. The boxes in
 * moov and moof have to fill them, their tables must agree, and all samples have to be in media
 * data and match their coding (bmff_coded.c, bmff_sample.c); so a file whose data turn into foreign
 * bytes ends there. A file with moov after its data needs less: if bytes between were missing, moov
 * would not be where the data's length leads. A file whose moov is lost is truncated.
 *
 * If samples are described beyond the file's boxes, data are missing. If a file begins with moov
 * but has samples before the end of it, it is the rest of a file whose head is lost.
 */
#include "mp4.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "mp4_film.h"
#include "mp4_tables.h"
#include "noise.h"
#include "walk.h"

/* How far to search for the end of media data without description and length. */
#define LOST_MAX (UINT64_C(256) << 20)

static bool read_moov(struct mp4 *mp4, uint64_t *broken)
{
	struct view *view = mp4->bmff.view;
	const struct bmff_box *moov = &mp4->bmff.moov;
	struct bmff_box mvex;

	if (mp4_is_assembled(mp4) ? !mp4_is_known(mp4) && !mp4_tables_check(view, moov, broken)
				  : !bmff_nested(view, moov, broken))
		return false;
	view_holds(view, moov->data, moov->end);
	if (!view_is_trial(view))
		mp4_read_details(view, moov, mp4->finding);
	if (!bmff_tracks(view, moov, mp4_read_track, mp4, broken))
		return false;
	mp4->fragments = bmff_find(view, moov->data, moov->end, BMFF('m', 'v', 'e', 'x'), &mvex);
	return true;
}

/* Reads the boxes 'moof'. False: they are corrupt at *broken. */
static bool read_fragments(struct mp4 *mp4, uint64_t *broken)
{
	const struct bmff *bmff = &mp4->bmff;
	struct bmff_box box;

	for (uint64_t at = 0; bmff_read(bmff->view, at, bmff->end, &box) == BMFF_BOX;
		at = box.end) {
		if (box.type != BMFF('m', 'o', 'o', 'f'))
			continue;
		if (box.end > view_size(bmff->view))
			return true;
		*broken = box.at;
		mp4->fragments = true;
		if (!bmff_nested(bmff->view, &box, broken) ||
			!bmff_fragment(bmff->view, &box, &bmff->moov, mp4_visit_fragment, mp4))
			return false;
	}
	return true;
}

/* Reads moov and moof. False: they are corrupt at *broken. */
static bool read_boxes(struct mp4 *mp4, uint64_t *broken)
{
	const struct bmff_box *moov = &mp4->bmff.moov;
	bool is_valid;

	if (moov->type && moov->end <= view_size(mp4->bmff.view) && !read_moov(mp4, broken))
		return false;
	is_valid = read_fragments(mp4, broken);
	if (mp4->samples)
		mp4_check_in_order(mp4);
	if (!is_valid && mp4->data.broken && mp4->data.broken < *broken)
		*broken = mp4->data.broken;
	return is_valid;
}

/* Where the coded data end in [start, end): before the plain bytes that continue to its end.
 * Silence and still pictures are plain, too, but something follows them. */
static uint64_t coded_end(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t plain = start, coded = start;

	while (coded < end) {
		plain = plain_start(view, coded, end);
		coded = noise_start(view, plain, end);
		if (coded <= plain)
			return end;
	}
	return plain > start ? walk_before_fill(view, start, plain) : end;
}

/* Where in [start, end) another file begins, or end: the media data's length may cover data which
 * are no longer there. */
static uint64_t next_file_start(struct view *view, uint64_t start, uint64_t end)
{
	const uint8_t *window, *found;
	size_t len;

	for (uint64_t at = start; (window = walk_window(view, at, end, &len)) && len > 8;
		at += len - 7) {
		for (size_t from = 0; from + 8 <= len; from = (size_t)(found - window) + 4) {
			found = memmem(window + from, len - from, "ftyp", 4);
			if (!found)
				break;
			if (found - window >= 4 && be32(found - 4) >= 16 && be32(found - 4) < 256)
				return at + (uint64_t)(found - window) - 4;
		}
	}
	return end;
}

/* The verdict on a file without description: as far as its data can be media data. */
static enum verdict judge_lost(struct mp4 *mp4)
{
	struct bmff *bmff = &mp4->bmff;
	uint64_t size = view_size(bmff->view), start = bmff->last.data;
	uint64_t end = bmff->end < size ? bmff->end : size, frames_end;

	if (!bmff->ftyp.type || !bmff->mdat_count || bmff->meta.type)
		return verdict_because(CARVE_REJECT, mp4->finding,
			"neither media data nor their description before %" PRIu64, bmff->end);
	if (view_is_trial(bmff->view)) {
		mp4->finding->length = bmff->mdat[0].data;
		return verdict_because(CARVE_TRUNCATED, mp4->finding,
			"no movie box before %" PRIu64 ": the media data's description is lost",
			bmff->end);
	}
	if (bmff->last.open && end - start > LOST_MAX)
		end = start + LOST_MAX;
	frames_end = mp4_name_frames(bmff->view, bmff->mdat[0].data, end);
	if (bmff->last.type == BMFF('m', 'd', 'a', 't')) {
		if (frames_end > start)
			start = frames_end;
		end = next_file_start(bmff->view, start, end);
		end = coded_end(bmff->view, start, end);
	}
	if (bmff->stopped == BMFF_CUT)
		return walk_cut(bmff->view, mp4->finding, bmff->end, end);
	mp4->finding->length = end;
	return verdict_because(CARVE_TRUNCATED, mp4->finding,
		"no movie box before %" PRIu64 ": the media data's description is lost", bmff->end);
}

static enum verdict judge_broken(struct mp4 *mp4, uint64_t broken)
{
	const struct bmff *bmff = &mp4->bmff;
	const struct bmff_box *last = &bmff->last;
	bool continues = bmff->stopped != BMFF_CUT && last->at > broken && !mp4_is_assembled(mp4);

	if (!bmff->ftyp.type)
		return verdict_because(CARVE_REJECT, mp4->finding,
			"no file type, and a corrupt description at %" PRIu64, broken);
	mp4->finding->length = continues ? bmff->end : broken;
	return verdict_because(continues ? CARVE_UNVERIFIED : CARVE_TRUNCATED, mp4->finding,
		"the media data's description is corrupt at %" PRIu64, broken);
}

/* The verdict on a file without samples of its own. */
static enum verdict judge_empty(struct mp4 *mp4)
{
	if (mp4->bmff.stopped == BMFF_CUT)
		return walk_cut(
			mp4->bmff.view, mp4->finding, mp4->bmff.end, view_size(mp4->bmff.view));
	mp4->finding->length = mp4->bmff.end;
	if (mp4->fragments)
		return verdict_because(CARVE_UNVERIFIED, mp4->finding,
			"a fragmented file's head, but no fragment at %" PRIu64, mp4->bmff.end);
	return verdict_because(CARVE_UNVERIFIED, mp4->finding,
		"no samples described before %" PRIu64, mp4->bmff.end);
}

/* Bytes at the end of moov that nothing confirms: of the last box in 'udta' or 'meta', which are
 * not walked, since programs put anything into them. */
static uint64_t unverified_tail_len(struct mp4 *mp4)
{
	struct view *view = mp4->bmff.view;
	struct bmff_box holder = mp4->bmff.moov, last, child;
	uint64_t start = holder.data;
	bool loose = false, cover = false;

	/* Below 'ilst' each box holds one named 'data'. */
	for (int depth = 0; depth < 8 && !(loose && holder.type == BMFF('d', 'a', 't', 'a'));
		depth++) {
		last.type = 0;
		for (uint64_t at = bmff_first_child(view, &holder);
			bmff_read(view, at, holder.end, &child) == BMFF_BOX; at = child.end)
			last = child;
		start = last.type ? last.end : holder.data;
		if (!last.type || last.end + 8 <= holder.end)
			break;
		loose |= last.type == BMFF('u', 'd', 't', 'a') ||
			 last.type == BMFF('m', 'e', 't', 'a');
		cover |= last.type == BMFF('c', 'o', 'v', 'r') ||
			 last.type == BMFF('f', 'r', 'e', 'e');
		holder = last;
		start = holder.data;
	}
	/* Text does not belong into a cover's picture, nor into free space. */
	return loose && !bmff_is_filler(view, &holder) &&
			       (cover || !plain_at_end(view, start, holder.end))
		       ? holder.end - start
		       : 0;
}

static enum verdict judge_samples(struct mp4 *mp4)
{
	const struct bmff *bmff = &mp4->bmff;
	const struct bmff_box *last_mdat =
		bmff->mdat_count ? &bmff->mdat[bmff->mdat_count < BMFF_MDATS ? bmff->mdat_count - 1
									     : BMFF_MDATS - 1]
				 : NULL;

	mp4->data.endless = mp4->fragments;
	mp4->finding->length = bmff->end;
	if (mp4->beyond && bmff->stopped != BMFF_CUT)
		return verdict_because(CARVE_TRUNCATED, mp4->finding,
			"media data at %" PRIu64 " are missing: the boxes end at %" PRIu64,
			mp4->beyond, bmff->end);
	if (last_mdat && bmff->moov.at >= last_mdat->end && bmff->stopped != BMFF_CUT) {
		if (mp4->data.broken && mp4_is_assembled(mp4)) {
			mp4->finding->length = mp4->data.broken;
			return verdict_because(CARVE_TRUNCATED, mp4->finding,
				"invalid media data at %" PRIu64, mp4->data.broken);
		}
		if (mp4->data.broken)
			return verdict_because(CARVE_UNVERIFIED, mp4->finding,
				"invalid media data at %" PRIu64 ", but their description follows",
				mp4->data.broken);
	} else if (mp4->doubtful && !mp4->data.broken && bmff->stopped != BMFF_CUT) {
		return verdict_because(CARVE_UNVERIFIED, mp4->finding,
			"the sample at %" PRIu64 " differs from those before it", mp4->doubtful);
	}
	for (size_t i = 0; i < mp4->track_count && mp4_is_assembled(mp4) && !mp4->data.broken; i++)
		if (mp4_is_in_doubt(&mp4->tracks[i]) && bmff->stopped != BMFF_CUT)
			return verdict_because(CARVE_UNVERIFIED, mp4->finding,
				"samples of track %zu are not as it describes them", i + 1);
	if (bmff->last.type == BMFF('m', 'o', 'o', 'v') && bmff->stopped != BMFF_CUT) {
		uint64_t tail = unverified_tail_len(mp4);

		if (tail)
			return verdict_because(CARVE_UNVERIFIED, mp4->finding,
				"the last %" PRIu64 " bytes cannot be verified", tail);
	}
	return bmff_data_verdict(&mp4->data, mp4->finding);
}

/* Picture brands have carvers of their own. */
static bool is_picture_brand(uint32_t brand)
{
	return bmff_picture_extension(brand) || brand == BMFF('c', 'r', 'x', ' ') ||
	       brand == BMFF('j', 'x', 'l', ' ') ||
	       (brand >> 16 == BMFF(0, 0, 'j', 'p') && (brand & 0xff) == ' ');
}

/* Whether this is a later part of a file, judging by the samples' offsets. */
static bool is_headless(const struct mp4 *mp4)
{
	const struct bmff *bmff = &mp4->bmff;

	if (bmff->ftyp.type || !mp4->sample_count)
		return false;
	if (bmff->mdat_count && bmff->mdat[0].at < bmff->moov.at)
		return mp4->data.outside != 0;
	if (bmff->mdat_count && mp4->beyond)
		return true;
	return mp4->first < (bmff->moov.type ? bmff->moov.end : 8);
}

/* The verdict on a file of which moov is cut off. */
static enum verdict judge_cut(struct mp4 *mp4)
{
	const struct bmff_box *moov = &mp4->bmff.moov;
	struct view *view = mp4->bmff.view;
	uint64_t broken;

	if (mp4_is_assembled(mp4) && !mp4_tables_check(view, moov, &broken)) {
		mp4->finding->length = broken;
		return verdict_because(CARVE_TRUNCATED, mp4->finding,
			"the media data's description is corrupt at %" PRIu64, broken);
	}
	return walk_cut(view, mp4->finding, moov->end, view_size(view));
}

static enum verdict check_boxes(struct mp4 *mp4)
{
	struct finding *finding = mp4->finding;
	struct bmff *bmff = &mp4->bmff;
	struct view *view = bmff->view;
	enum verdict verdict;
	uint64_t broken;

	if (bmff->moov.type && bmff->moov.end > view_size(view))
		verdict = judge_cut(mp4);
	else if (!read_boxes(mp4, &broken))
		verdict = judge_broken(mp4, broken);
	else if (!bmff->moov.type && !mp4->fragments)
		verdict = judge_lost(mp4);
	else if (is_headless(mp4))
		verdict = verdict_because(CARVE_REJECT, finding,
			"samples at %" PRIu64 ": the file begins earlier", mp4->first);
	else if (!mp4->sample_count)
		verdict = judge_empty(mp4);
	else
		verdict = judge_samples(mp4);
	if (bmff->stopped != BMFF_CUT)
		verdict = walk_past_unread(view, finding, verdict, bmff->end);
	if (verdict != CARVE_REJECT)
		finding->extension =
			bmff->segment ? "m4s"
				      : mp4_extension(bmff->brand, mp4->pictures, mp4->audio);
	return verdict;
}

static enum verdict check_from(
	struct view *view, const struct carve_state *from, struct finding *finding)
{
	struct mp4 mp4 = {
		.finding = finding, .data.bmff = &mp4.bmff, .first = UINT64_MAX, .resume = from
	};
	enum verdict verdict;

	if (!bmff_open(&mp4.bmff, view) && !bmff_open_bare(&mp4.bmff, view))
		return verdict_because(CARVE_REJECT, finding, "no file type or movie box at 0");
	if (is_picture_brand(mp4.bmff.brand))
		return verdict_because(CARVE_REJECT, finding, "a picture format's brand at 8");
	if (mp4_is_assembled(&mp4)) {
		mp4.samples = malloc(MP4_SAMPLES_MAX * sizeof(*mp4.samples));
		if (!mp4.samples)
			view_no_memory(view);
	}
	verdict = check_boxes(&mp4);
	free(mp4.decoder);
	free(mp4.likeness);
	free(mp4.samples);
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return check_from(view, NULL, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	return check_from(view, state, finding);
}

const struct carver mp4_carver = {
	.name = "mp4",
	.summary = "MP4, QuickTime, 3GPP and M4A, by their boxes, tables of samples and coded data",
	.check = check,
	.resume = resume,
	.map = &bmff_map,
};
