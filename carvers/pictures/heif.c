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
 * Where a file is put together of pieces, pictures of H.265 are decoded (bmff_hevc.c): that confirms them to their last byte.
 *
 * A file that is cut is valid up to the first item, sample, or unit in one, that is invalid. The
 * date is that of the Exif item.
 */
#include "bmff_media.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "exif.h"
#include "metadata.h"
#include "walk.h"

#define START_LEN 4

struct heif {
	struct bmff bmff;
	struct bmff_data data;
	struct bmff_coding coding;
	struct finding *finding;
	unsigned extent_count;
	/* Pictures of H.265 */
	bool decodes;
	uint64_t passed;              /* pictures that end up to there are valid */
	struct hevc_decoder *decoder; /* NULL: not needed yet */
	struct hevc_params params;
	uint64_t sets; /* where those parameter sets are; 0: nowhere */
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

/* Whether a description in the file's last bytes is what it says. */
static void confirm_description(struct heif *heif, const struct bmff_extent *extent)
{
	struct view *view = heif->bmff.view;
	uint64_t end = extent->offset + extent->len;
	struct metadata_exif exif;
	const uint8_t *p;
	bool is_valid = false;

	if (!heif->decodes || !extent->only || heif->data.outside || end > view_size(view))
		return;
	if (extent->type == BMFF('m', 'i', 'm', 'e')) {
		is_valid = metadata_is_xmp(view, extent->offset, end, NULL);
	} else if (extent->type == BMFF('E', 'x', 'i', 'f') && extent->len > 4) {
		p = view_peek(view, extent->offset, 4);
		is_valid = p && be32(p) < extent->len - 4 &&
			   metadata_is_exif(view, extent->offset + 4 + be32(p), end, &exif) &&
			   !exif.has_unknown && !exif.len;
	}
	if (is_valid)
		bmff_data_confirm(&heif->data, end);
}

/* Coded pictures are not decoded: all but the first bytes, which can be a JPEG's, are unverified. */
static void name_unverified(struct heif *heif, uint64_t offset, uint64_t len)
{
	if (bmff_in_mdat(&heif->bmff, offset, len) && len > START_LEN)
		view_unverified(heif->bmff.view, offset + START_LEN, offset + len);
}

/* Whether the picture has parameter sets that are understood. */
static bool open_picture(struct heif *heif, const struct bmff_extent *extent)
{
	struct view *view = heif->bmff.view;
	struct bmff_box box;

	if (!bmff_item_property(
		    view, &heif->bmff.meta, extent->item, BMFF('h', 'v', 'c', 'C'), &box))
		return false;
	heif->coding.nal_len = bmff_nal_len(view, &box);
	if (heif->sets != box.at && !bmff_hevc_open(view, &box, &heif->params))
		return false;
	heif->sets = box.at;
	if (!heif->decoder)
		heif->decoder = hevc_decoder_new();
	if (!heif->decoder)
		view_no_memory(view);
	return heif->decoder;
}

/* A check that goes on from there does not decode the pictures before. */
static void save_state(struct heif *heif, uint64_t offset)
{
	const struct carve_state state = { .offset = offset, .data = "" };

	if (!view_wants_states(heif->bmff.view) || offset <= heif->passed)
		return;
	heif->passed = offset;
	view_save(heif->bmff.view, &state);
}

/* Decodes a picture. False: it is to be checked as others are. */
static bool decode_picture(struct heif *heif, const struct bmff_extent *extent)
{
	struct view *view = heif->bmff.view;
	uint64_t end = extent->offset + extent->len, valid;

	if (!heif->decodes || !extent->only || extent->type != BMFF('h', 'v', 'c', '1') ||
		!bmff_in_mdat(&heif->bmff, extent->offset, extent->len))
		return false;
	/* What is wrong is before it. */
	if (heif->data.broken && heif->data.broken < end)
		return true;
	if (end > heif->passed) {
		if (!open_picture(heif, extent))
			return false;
		switch (bmff_hevc(view, heif->decoder, &heif->params, heif->coding.nal_len,
			extent->offset, extent->len, &valid)) {
		case HEVC_INVALID:
			bmff_data_break(&heif->data, valid);
			return true;
		case HEVC_NOT_FOLLOWED:
			return false;
		case HEVC_VALID:
			save_state(heif, end);
		}
	}
	bmff_data_confirm(&heif->data, end);
	heif->data.end = end > heif->data.end ? end : heif->data.end;
	return true;
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
	if (!decode_picture(heif, extent))
		bmff_data_add(&heif->data, &coding, extent->offset, extent->len);
	if (extent->type != BMFF('E', 'x', 'i', 'f'))
		name_unverified(heif, extent->offset, extent->len);
	if (extent->type == BMFF('E', 'x', 'i', 'f') && !heif->data.outside)
		read_exif(heif, extent);
	confirm_description(heif, extent);
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

static enum verdict check_pictures(struct heif *heif)
{
	struct finding *finding = heif->finding;
	struct bmff *bmff = &heif->bmff;
	struct view *view = bmff->view;
	enum verdict verdict;
	uint64_t broken;

	finding->extension = extension(bmff);
	if (!finding->extension)
		return verdict_because(CARVE_REJECT, finding, "no brand of HEIF at 8");
	if (bmff->box_count < 2)
		return verdict_because(
			CARVE_REJECT, finding, "no box of a known type at %" PRIu64, bmff->end);
	if (!read_boxes(heif, &broken)) {
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
	if (bmff->stopped != BMFF_CUT && !heif->extent_count) {
		finding->length = bmff->end;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no pictures are described before %" PRIu64, bmff->end);
	}
	if (!bmff->mdat_count && bmff->stopped != BMFF_CUT) {
		finding->length = bmff->end;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no media data at %" PRIu64, bmff->end);
	}
	verdict = bmff_data_verdict(&heif->data, finding);
	return bmff->stopped == BMFF_CUT ? verdict
					 : walk_past_unread(view, finding, verdict, bmff->end);
}

/* passed: pictures that end up to there are valid; 0: all are checked. */
static enum verdict check_after(struct view *view, uint64_t passed, struct finding *finding)
{
	struct heif heif = { .finding = finding, .data.bmff = &heif.bmff, .passed = passed };
	enum verdict verdict;

	heif.decodes = passed || view_thorough(view) || view_wants_states(view);
	if (!bmff_open(&heif.bmff, view))
		return verdict_because(CARVE_REJECT, finding, "no file type box at 0");
	verdict = check_pictures(&heif);
	free(heif.decoder);
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return check_after(view, 0, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	return check_after(view, state->offset, finding);
}

/* ---- the places of pictures -------------------------------------------------------------------- */

#define PICTURE_HEAD 7 /* of one: its length, and what its slice begins with */

/* How the usual slices begin: a picture alone, of which this is the first slice, by the parameter sets 0; with or without the
 * filters of samples. */
static const char *const slice_heads[] = { "\x26\x01\xaf", "\x28\x01\xaf", "\x26\x01\xac",
	"\x28\x01\xac" };

#define SLICE_HEADS (sizeof(slice_heads) / sizeof(*slice_heads))

struct places {
	struct view *view;
	struct carve_table *table;
	unsigned heads; /* bit n: those of some picture that is there */
	bool is_full;
};

/* Which of the words the picture begins with, a bit; 0: with none, or it is not there. */
static unsigned head_of(struct view *view, const struct bmff_extent *extent)
{
	const uint8_t *p = view_peek(view, extent->offset, PICTURE_HEAD);

	if (!p || be32(p) != extent->len - 4)
		return 0;
	for (unsigned i = 0; i < SLICE_HEADS; i++)
		if (memcmp(p + 4, slice_heads[i], PICTURE_HEAD - 4) == 0)
			return 1u << i;
	return 0;
}

/* Whether it is a picture that one slice may be all of. */
static bool is_picture(const struct bmff_extent *extent)
{
	return extent->method == BMFF_IN_FILE && extent->only && extent->len > PICTURE_HEAD &&
	       extent->len <= UINT32_MAX && extent->type == BMFF('h', 'v', 'c', '1');
}

static void add_head(void *context, const struct bmff_extent *extent)
{
	struct places *places = context;

	if (is_picture(extent))
		places->heads |= head_of(places->view, extent);
}

static void add_place(void *context, const struct bmff_extent *extent)
{
	struct places *places = context;
	uint32_t len = (uint32_t)extent->len - 4;

	for (uint8_t i = 0; i < SLICE_HEADS && is_picture(extent) && !places->is_full; i++) {
		struct carve_anchor anchor = {
			.offset = extent->offset, .len = PICTURE_HEAD, .word = i, .word_at = 4
		};

		if (places->heads && !(places->heads >> i & 1))
			continue;
		for (unsigned k = 0; k < 4; k++)
			anchor.bytes[k] = (uint8_t)(len >> (24 - 8 * k));
		memcpy(anchor.bytes + 4, slice_heads[i], PICTURE_HEAD - 4);
		places->is_full = !places->table->add(places->table, &anchor);
	}
}

/* The description of pictures says where each begins, and how long it is. */
static bool read_places(struct view *view, struct carve_table *table)
{
	struct places places = { .view = view, .table = table };
	struct bmff bmff;
	uint64_t broken;

	if (!bmff_open(&bmff, view) || !bmff.meta.type || bmff.meta.end > view_size(view) ||
		!bmff_nested(view, &bmff.meta, &broken))
		return false;
	return bmff_items(view, &bmff.meta, add_head, &places, &broken) &&
	       bmff_items(view, &bmff.meta, add_place, &places, &broken);
}

static const struct carve_map map = {
	.words = { { 3, false, "\x26\x01\xaf" }, { 3, false, "\x28\x01\xaf" },
		{ 3, false, "\x26\x01\xac" }, { 3, false, "\x28\x01\xac" } },
	.head = read_places,
};

const struct carver heif_carver = {
	.name = "heif",
	.summary = "HEIF, HEIC and AVIF pictures, by their boxes, items and coded units",
	.check = check,
	.resume = resume,
	.map = &map,
};
