/*
 * Canon's CR3: raw pictures in an ISO base media file (not published; described by Laurent Clévy's
 * canon_cr3 and read by LibRaw and Exiv2).
 *
 *	ftyp  the brand 'crx '
 *	moov  a uuid box with Canon's own boxes (CMT1: the main EXIF directory, ...), then a track
 *	      for each picture and for the notes about them
 *	uuid  XMP; uuid: a preview
 *	mdat  the tracks' samples, one a track: a JPEG, raw pictures, notes (CTMD)
 *
 * Boxes as in bmff.c. Each sample has to be in mdat and to start as its kind does: JPEG with SOI,
 * raw data with their head FF 01, notes as a chain of records that fills the sample. The notes come
 * last and so confirm the rest. The date is that of CMT1.
 */
#include "bmff_media.h"

#include <inttypes.h>

#include "bytes.h"
#include "exif.h"
#include "walk.h"

struct cr3 {
	struct bmff bmff;
	struct bmff_data data;
	struct finding *finding;
	uint32_t coding; /* of the track whose samples are read */
	unsigned sample_count;
};

static void note_broken(struct cr3 *cr3, uint64_t at)
{
	if (!cr3->data.broken || at < cr3->data.broken)
		cr3->data.broken = at;
}

static void note_confirmed(struct cr3 *cr3, uint64_t at)
{
	if (at > cr3->data.confirmed)
		cr3->data.confirmed = at;
}

/* Checks records of length (4 bytes, little-endian, itself included), type, and data. */
static void check_notes(struct cr3 *cr3, uint64_t at, uint64_t end)
{
	while (at < end) {
		const uint8_t *p = end - at >= 12 ? view_peek(cr3->bmff.view, at, 12) : NULL;
		uint64_t len = p ? le32(p) : 0;

		if (len < 12 || len > end - at || le16(p + 4) == 0 || le16(p + 4) > 255) {
			note_broken(cr3, at);
			return;
		}
		note_confirmed(cr3, at + 12);
		at += len;
	}
	note_confirmed(cr3, end);
}

static void visit_sample(void *context, uint64_t offset, uint64_t len)
{
	struct cr3 *cr3 = context;
	struct view *view = cr3->bmff.view;
	struct bmff_coding coding = { 0 };
	const uint8_t *p;

	cr3->sample_count++;
	p = len >= 4 ? view_peek(view, offset, 4) : NULL;
	if (p && p[0] == 0xff && p[1] == 0xd8)
		coding.type = BMFF('j', 'p', 'e', 'g');
	bmff_data_add(&cr3->data, &coding, offset, len);
	/* Pictures are not decoded. Their first bytes can be a JPEG's. */
	if (len > 4 && cr3->coding != BMFF('C', 'T', 'M', 'D') && offset < INT64_MAX)
		view_unverified(view, offset + 4, offset + len);
	if (!p || !bmff_in_mdat(&cr3->bmff, offset, len) || offset + len > view_size(view))
		return;
	if (cr3->coding == BMFF('C', 'T', 'M', 'D'))
		check_notes(cr3, offset, offset + len);
	else if (cr3->coding == BMFF('C', 'R', 'A', 'W') && !coding.type) {
		p = view_peek(view, offset, 4);
		/* FF 01: a tile's head; the next two bytes are its length, at least 8. */
		if (p && p[0] == 0xff && p[1] <= 0x13 && be16(p + 2) >= 8)
			note_confirmed(cr3, offset + 4);
		else
			note_broken(cr3, offset);
	}
}

/* False: its tables contradict themselves. */
static bool read_track(void *context, const struct bmff_box *trak)
{
	struct cr3 *cr3 = context;
	struct view *view = cr3->bmff.view;
	struct bmff_track track;

	if (!bmff_track_open(view, trak, &track))
		return false;
	cr3->coding = track.coding;
	return bmff_samples(view, &track, visit_sample, cr3);
}

static void read_date(struct cr3 *cr3)
{
	struct view *view = cr3->bmff.view;
	const struct bmff_box *moov = &cr3->bmff.moov;
	struct bmff_box uuid, notes;

	if (bmff_find(view, moov->data, moov->end, BMFF('u', 'u', 'i', 'd'), &uuid) &&
		bmff_find(view, uuid.data + 16, uuid.end, BMFF('C', 'M', 'T', '1'), &notes))
		exif_read(view, notes.data, notes.end - notes.data, cr3->finding);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct cr3 cr3 = { .finding = finding, .data.bmff = &cr3.bmff };
	struct bmff *bmff = &cr3.bmff;
	uint64_t broken;

	if (!bmff_open(bmff, view) || bmff->brand != BMFF('c', 'r', 'x', ' '))
		return verdict_because(CARVE_REJECT, finding, "no file type 'crx ' at 0");
	if (!bmff->moov.type)
		return verdict_because(
			CARVE_REJECT, finding, "no movie box before %" PRIu64, bmff->end);
	finding->extension = "cr3";
	if (bmff->moov.end > view_size(view))
		return walk_cut(view, finding, bmff->moov.end, view_size(view));
	read_date(&cr3);
	if (!bmff_nested(view, &bmff->moov, &broken) ||
		!bmff_tracks(view, &bmff->moov, read_track, &cr3, &broken)) {
		finding->length = broken;
		return verdict_because(
			CARVE_TRUNCATED, finding, "the movie box is broken at %" PRIu64, broken);
	}
	if (bmff->stopped == BMFF_CUT)
		return bmff_data_verdict(&cr3.data, finding);
	finding->length = bmff->end;
	if (!bmff->mdat_count)
		return verdict_because(
			CARVE_TRUNCATED, finding, "no media data at %" PRIu64, bmff->end);
	if (!cr3.sample_count)
		return verdict_because(CARVE_UNVERIFIED, finding, "no pictures in the tracks");
	return bmff_data_verdict(&cr3.data, finding);
}

const struct carver cr3_carver = {
	.name = "cr3",
	.summary = "Canon's CR3 raw pictures, by their boxes and samples",
	.check = check,
	.map = &bmff_map,
};
