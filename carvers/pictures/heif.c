/*
 * HEIF (ISO/IEC 23008-12) with its kinds HEIC and AVIF: pictures in an ISO base media file.
 *
 *	ftyp: the brand: heic, avif, mif1, ...
 *	meta: a picture's parts: iinf lists the items, iloc where their bytes are, iprp how they
 *	      are coded; small ones are in idat
 *	moov: sequences of pictures have tracks as films do
 *	mdat: the bytes
 *
 * The boxes lead from the first to the last of a known type, which ends the file (bmff.c). Boxes in
 * meta and moov have to fill them. All extents of items and all samples have to be in media data
 * and to be valid there (bmff_coded.c); where that leaves the file's end in doubt, as it does for a
 * single large picture, the verdict is unverified (bmff_data.c), though the length is certain.
 *
 * A file that is cut is valid up to the first item, sample, or unit in one, that is invalid. The
 * date is that of the Exif item.
 */
#include "bmff_media.h"

#include <inttypes.h>

#include "bytes.h"
#include "exif.h"
#include "walk.h"

#define START_LEN 4

struct heif {
	struct bmff bmff;
	struct bmff_data data;
	struct bmff_coding coding;
	struct finding *finding;
	unsigned extent_count;
};

/* The extension. A general major brand means less than the compatible ones. */
static const char *extension(const struct bmff *bmff)
{
	static const uint32_t brands[] = { BMFF('h', 'e', 'i', 'c'), BMFF('h', 'e', 'i', 'x'),
		BMFF('a', 'v', 'i', 'f'), BMFF('a', 'v', 'i', 's') };
	const char *known = bmff_picture_extension(bmff->brand);

	if (!known || known[3] != 'f' || known[0] != 'h')
		return known;
	for (size_t i = 0; i < sizeof(brands) / sizeof(brands[0]); i++)
		if (bmff_has_brand(bmff, brands[i]))
			return bmff_picture_extension(brands[i]);
	return known;
}

/* Exif: 4 bytes that hold the distance from their end to the TIFF head. */
static void read_exif(struct heif *heif, const struct bmff_extent *extent)
{
	struct view *view = heif->bmff.view;
	const uint8_t *p = extent->len > 12 ? view_peek(view, extent->offset, 4) : NULL;
	uint64_t skip = p ? be32(p) + 4ull : 0;

	if (!skip || skip > extent->len)
		return;
	view_embedded(view, extent->offset + skip);
	if (exif_read(view, extent->offset + skip, extent->len - skip, heif->finding) &&
		extent->offset + skip + 8 > heif->data.confirmed)
		heif->data.confirmed = extent->offset + skip + 8;
}

/* Coded pictures are not decoded: all but the first bytes, which can be a JPEG's, are unverified. */
static void name_unverified(struct heif *heif, uint64_t offset, uint64_t len)
{
	if (bmff_in_mdat(&heif->bmff, offset, len) && len > START_LEN)
		view_unverified(heif->bmff.view, offset + START_LEN, offset + len);
}

static void visit_extent(void *context, const struct bmff_extent *extent)
{
	struct heif *heif = context;
	struct bmff_coding coding = heif->coding;

	if (extent->method != BMFF_IN_FILE)
		return;
	heif->extent_count++;
	/* Previews and descriptions, of which none has a header that would tell its length. */
	if (extent->type == BMFF('E', 'x', 'i', 'f') || extent->type == BMFF('m', 'i', 'm', 'e'))
		view_holds(heif->bmff.view, extent->offset, extent->offset + extent->len);
	coding.type = extent->only ? extent->type : 0;
	bmff_data_add(&heif->data, &coding, extent->offset, extent->len);
	if (extent->type != BMFF('E', 'x', 'i', 'f'))
		name_unverified(heif, extent->offset, extent->len);
	if (extent->type == BMFF('E', 'x', 'i', 'f') && !heif->data.outside)
		read_exif(heif, extent);
}

static void visit_sample(void *context, uint64_t offset, uint64_t len)
{
	struct heif *heif = context;

	heif->extent_count++;
	bmff_data_add(&heif->data, &heif->coding, offset, len);
	name_unverified(heif, offset, len);
}

/* Reads how items of H.265 or H.264 are framed, from the first configuration among the
 * properties. */
static void read_item_coding(struct heif *heif)
{
	static const uint32_t to_ipco[] = { BMFF('i', 'p', 'r', 'p'), BMFF('i', 'p', 'c', 'o'), 0 };
	struct view *view = heif->bmff.view;
	struct bmff_box ipco, box;

	heif->coding.nal_len = 4;
	if (bmff_find_path(view, &heif->bmff.meta, to_ipco, &ipco) &&
		(bmff_find(view, ipco.data, ipco.end, BMFF('h', 'v', 'c', 'C'), &box) ||
			bmff_find(view, ipco.data, ipco.end, BMFF('a', 'v', 'c', 'C'), &box)))
		heif->coding.nal_len = bmff_nal_len(view, &box);
}

/* A track of a sequence. False: its tables contradict themselves. */
static bool read_track(void *context, const struct bmff_box *trak)
{
	struct heif *heif = context;
	struct view *view = heif->bmff.view;
	struct bmff_track track;

	if (!bmff_track_open(view, trak, &track))
		return false;
	heif->coding = bmff_sample_coding(view, &track);
	return bmff_samples(view, &track, visit_sample, heif);
}

/* Reads meta and moov. False: they are invalid at *broken. */
static bool read_boxes(struct heif *heif, uint64_t *broken)
{
	struct bmff *bmff = &heif->bmff;
	uint64_t size = view_size(bmff->view);

	if (bmff->meta.type && bmff->meta.end <= size) {
		if (!bmff_nested(bmff->view, &bmff->meta, broken))
			return false;
		read_item_coding(heif);
		if (!bmff_items(bmff->view, &bmff->meta, visit_extent, heif, broken))
			return false;
	}
	if (bmff->moov.type && bmff->moov.end <= size)
		return bmff_nested(bmff->view, &bmff->moov, broken) &&
		       bmff_tracks(bmff->view, &bmff->moov, read_track, heif, broken);
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct heif heif = { .finding = finding, .data.bmff = &heif.bmff };
	struct bmff *bmff = &heif.bmff;
	enum verdict verdict;
	uint64_t broken;

	if (!bmff_open(bmff, view))
		return verdict_because(CARVE_REJECT, finding, "no file type box at 0");
	finding->extension = extension(bmff);
	if (!finding->extension)
		return verdict_because(CARVE_REJECT, finding, "no brand of HEIF at 8");
	if (bmff->box_count < 2)
		return verdict_because(
			CARVE_REJECT, finding, "no box of a known type at %" PRIu64, bmff->end);
	if (!read_boxes(&heif, &broken)) {
		bool goes_on = bmff->last.type == BMFF('m', 'd', 'a', 't');

		finding->length = goes_on && bmff->stopped != BMFF_CUT ? bmff->end : broken;
		if (finding->length == bmff->end)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"the description of the pictures is broken at %" PRIu64
				", but media data follows",
				broken);
		return verdict_because(CARVE_TRUNCATED, finding,
			"the description of the pictures is broken at %" PRIu64, broken);
	}
	if (bmff->stopped != BMFF_CUT && !heif.extent_count) {
		finding->length = bmff->end;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no pictures are described before %" PRIu64, bmff->end);
	}
	if (!bmff->mdat_count && bmff->stopped != BMFF_CUT) {
		finding->length = bmff->end;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no media data at %" PRIu64, bmff->end);
	}
	verdict = bmff_data_verdict(&heif.data, finding);
	return bmff->stopped == BMFF_CUT ? verdict
					 : walk_past_unread(view, finding, verdict, bmff->end);
}

const struct carver heif_carver = {
	.name = "heif",
	.summary = "HEIF, HEIC and AVIF pictures, by their boxes, items and coded units",
	.check = check,
	.map = &bmff_map,
};
