/*
 * JPEG (ISO/IEC 10918-1 = ITU-T T.81; JFIF: ISO/IEC 10918-5; EXIF: CIPA DC-008; MPF: CIPA DC-007).
 *
 *	file:    SOI, segments, one or more scans with segments between them, EOI
 *	marker:  FF and its code; FF may be repeated before it
 *	segment: marker, length (2 bytes, big-endian, itself included), content
 *	scan:    the segment SOS, then coded data up to the next marker, in which FF is
 *	         written FF 00
 *
 * The length is not stored; the file ends with the EOI that the walk reaches, or after what cameras
 * and phones append to it: further pictures (jpeg_mpf.c), a video, their own data (trailer.c). The
 * thumbnail in an EXIF segment has an EOI of its own, which the walk skips with the segment.
 * Checked are: each segment's marker and length, the frame's fields, quantization and Huffman
 * tables, scans against frame and tables, the order of restart markers, and the coded data itself,
 * by decoding it where it is Huffman-coded (jpeg_huffman.c), otherwise by its markers
 * (jpeg_scan.c).
 *
 * A file that is broken in its picture data is truncated there. One that is broken before it is
 * carved only when it certainly is a JPEG: when two segments were recognised by more than their
 * marker. JPEG-LS (FF F7) is another format, and is rejected.
 */
#include "jpeg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "coded.h"
#include "exif.h"
#include "image_resources.h"
#include "jpeg_seam.h"
#include "metadata.h"
#include "trailer.h"
#include "walk.h"

/* The most fill bytes FF before a marker. Programs that align with them use a few; erased flash
 * memory is full of them. */
#define FILL_LEN 256
#define DOUBT_HEAD 32      /* bytes by which the content of a segment is known */
#define XMP_KNOWN 20       /* bytes that identify XMP */
#define STATE_APART 1024   /* bytes from a state in the segments to the next one */
#define THUMBNAIL_SLACK 16 /* bytes after a thumbnail, or of one that is damaged at its end */

/* Reads the marker at jpeg->at: returns its code, with jpeg->at after it; 0 at the view's end; -1
 * when it is not a marker. */
static int read_marker(struct jpeg *jpeg)
{
	uint64_t at = jpeg->at;
	const uint8_t *p;

	for (int fill = 0; fill < FILL_LEN; fill++, at++) {
		p = view_peek(jpeg->view, at, 2);
		if (!p) {
			p = view_peek(jpeg->view, at, 1);
			return !p || p[0] == 0xff ? 0 : -1;
		}
		if (p[0] != 0xff || p[1] == 0)
			return -1;
		if (p[1] != 0xff) {
			jpeg->at = at + 2;
			return p[1];
		}
	}
	return -1;
}

/* How many bytes identify a segment of type APPn; 0 when none do. */
static size_t recognise(uint8_t marker, const uint8_t *p, size_t len)
{
	static const struct {
		uint8_t marker;
		uint8_t len;
		const char *text;
	} known[] = {
		{ 0xe0, 5, "JFIF" },
		{ 0xe0, 5, "JFXX" },
		{ 0xe0, 4, "AVI1" },
		{ 0xe1, 6, "Exif\0" },
		{ 0xe1, XMP_KNOWN, "http://ns.adobe.com/" },
		{ 0xe2, 12, "ICC_PROFILE" },
		{ 0xe2, 4, "MPF" },
		{ 0xe2, 5, "FPXR" },
		{ 0xed, 14, "Photoshop 3.0" },
		{ 0xee, 5, "Adobe" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (marker == known[i].marker && len >= known[i].len &&
			memcmp(p, known[i].text, known[i].len) == 0)
			return known[i].len;
	return 0;
}

/* Phones declare in XMP that they append a video to the picture, in two ways of Google's, which
 * others adopted. */
static void read_xmp(struct jpeg *jpeg, uint64_t at, size_t len)
{
	const uint8_t *p = view_peek(jpeg->view, at, len);

	if (p && (memmem(p, len, "MotionPhoto", 11) || memmem(p, len, "MicroVideo", 10)))
		jpeg->video = true;
}

bool jpeg_is_thumbnail(struct view *view, uint64_t at, uint64_t len, uint64_t *valid)
{
	struct finding ignored = { 0 };
	struct jpeg thumbnail = { .view = view, .finding = &ignored, .is_inner = true };
	const char *problem;
	uint64_t end;

	jpeg_walk(&thumbnail, at, &problem);
	free(thumbnail.history);
	end = *valid = thumbnail.valid_end;
	return end <= at + len && end + THUMBNAIL_SLACK >= at + len;
}

/* EXIF data, and the thumbnail in it. */
static bool is_exif(struct jpeg *jpeg, uint64_t at, uint64_t end, uint64_t *valid)
{
	struct metadata_exif exif;

	return metadata_is_exif(jpeg->view, at, end, &exif) &&
	       (!exif.len || jpeg_is_thumbnail(jpeg->view, exif.thumbnail, exif.len, valid));
}

static bool is_xml(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 5);

	return p && memcmp(p, "<?xml", 5) == 0;
}

/* Photoshop's resources, up to the segment's end. */
static bool is_photoshop(const struct jpeg *jpeg, uint64_t at, uint64_t end, uint64_t *valid)
{
	struct image_resource resource;
	uint64_t thumbnail, len;

	while (at < end) {
		if (!image_resources_next(jpeg->view, &at, end, &resource))
			return false;
		if (image_resources_thumbnail(&resource, &thumbnail, &len) &&
			!jpeg_is_thumbnail(jpeg->view, thumbnail, len, valid))
			return false;
		if (resource.len >= SECTOR && is_xml(jpeg->view, resource.data) &&
			!metadata_is_xmp(
				jpeg->view, resource.data, resource.data + resource.len, valid))
			return false;
		*valid = resource.data;
	}
	return true;
}

/* XMP in UTF-16, which only this place may have. */
static bool is_wide_xmp(struct jpeg *jpeg, uint64_t at, uint64_t end)
{
	const uint8_t *p = end - at > 4 ? view_peek(jpeg->view, at, 4) : NULL;

	return p && (memcmp(p, "<\0?", 4) == 0 || memcmp(p, "\0<\0?", 4) == 0 ||
			    memcmp(p, "\xff\xfe<", 4) == 0 || memcmp(p, "\xfe\xff\0<", 4) == 0);
}

static const char *problem_in_xmp(struct jpeg *jpeg, uint64_t at, uint64_t end, uint64_t *valid)
{
	if (is_wide_xmp(jpeg, at, end)) {
		view_unverified(jpeg->view, at, end);
		return NULL;
	}
	return metadata_is_xmp(jpeg->view, at, end, valid) ? NULL : "XMP that is not XML";
}

/* What is wrong in an application's segment, or NULL: in a file of pieces another file's cluster may be in it. *valid: up to where
 * it is right, if more than its start is known to be. An ICC profile in several segments is a table of colours, which nothing
 * verifies. */
static const char *problem_in(
	struct jpeg *jpeg, uint8_t marker, uint64_t at, uint64_t end, uint64_t *valid)
{
	static const char xmp[] = "http://ns.adobe.com/xap/1.0/", photoshop[] = "Photoshop 3.0";
	const uint8_t *p = end - at >= SECTOR ? view_peek(jpeg->view, at, sizeof(xmp)) : NULL;

	if (!p)
		return NULL;
	if (marker == JPEG_APP0 + 1 && memcmp(p, xmp, sizeof(xmp)) == 0)
		return problem_in_xmp(jpeg, at + sizeof(xmp), end, valid);
	if (marker == JPEG_APP0 + 1 && memcmp(p, "Exif", 5) == 0)
		return is_exif(jpeg, at + 6, end, valid) ? NULL : "invalid EXIF data";
	if (marker == JPEG_APP0 + 2 && memcmp(p, "ICC_PROFILE", 12) == 0) {
		if (p[13] > 1)
			view_unverified(jpeg->view, at + 14, end);
		else if (!metadata_is_icc(jpeg->view, at + 14, end))
			return "an invalid ICC profile";
		return NULL;
	}
	if (marker == JPEG_APP0 + 13 && memcmp(p, photoshop, sizeof(photoshop)) == 0)
		return is_photoshop(jpeg, at + sizeof(photoshop), end, valid)
			       ? NULL
			       : "invalid image resources";
	return NULL;
}

/* Reads an APPn or COM segment whose content is [at, at + len). Returns how much of it was
 * recognised. */
static size_t read_application(struct jpeg *jpeg, uint8_t marker, uint64_t at, size_t len)
{
	size_t head_len = len < 20 ? len : 20, known;
	const uint8_t *p = view_peek(jpeg->view, at, head_len);

	known = p ? recognise(marker, p, head_len) : 0;
	if (!known)
		return 0;
	jpeg->evidence++;
	view_holds(jpeg->view, at, at + len);
	if (marker == JPEG_APP0 + 1 && known == 6 &&
		exif_read(jpeg->view, at + 6, len - 6, jpeg->finding)) {
		jpeg->evidence++;
		known += 8;
	}
	if (marker == JPEG_APP0 + 2 && known == 4) {
		jpeg->mpf = at + 4;
		jpeg->mpf_len = len - 4;
	}
	return known;
}

/* Whether the content of a segment that ends there is checked. What goes on from a state among the segments looks for where
 * they break off, as trials do that go on from any. */
static bool is_doubted(const struct jpeg *jpeg, uint64_t end)
{
	if (jpeg->is_inner || end <= jpeg->passed)
		return false;
	return view_thorough(jpeg->view) ||
	       (jpeg->passed && (!jpeg->resume || view_is_trial(jpeg->view)));
}

static bool has_table_or_frame(uint8_t marker)
{
	return marker >= JPEG_SOF0 && marker <= JPEG_EXP &&
	       (marker < JPEG_RST0 || marker > JPEG_EOI) && marker != JPEG_JPG;
}

static bool is_table(uint8_t marker)
{
	return marker == JPEG_DHT || marker == JPEG_DQT;
}

static bool is_application(uint8_t marker)
{
	return (marker >= JPEG_APP0 && marker < JPEG_APP0 + 16) || marker == JPEG_COM;
}

/* Reads the segment whose marker was read, up to its end. */
static enum jpeg_walk read_segment(struct jpeg *jpeg, uint8_t marker, const char **problem)
{
	const uint8_t *p = view_peek(jpeg->view, jpeg->at, 2);
	uint64_t at = jpeg->at + 2, valid = 0, from, to;
	size_t len = p ? be16(p) : 2;

	*problem = "a marker that does not occur in JPEG";
	if (!has_table_or_frame(marker) && !is_application(marker))
		return JPEG_WALK_BROKEN;
	if (!p)
		return JPEG_WALK_CUT;
	*problem = "an impossible segment length";
	if (len < 2)
		return JPEG_WALK_BROKEN;
	len -= 2;
	if (has_table_or_frame(marker)) {
		p = view_peek(jpeg->view, at, len);
		if (!p)
			return JPEG_WALK_CUT;
		*problem = jpeg_read_segment(jpeg, marker, p, len);
		if (is_table(marker) && view_met_unreadable(jpeg->view) &&
			view_unreadable(jpeg->view, at, len, &from, &to)) {
			jpeg->unread = true;
			*problem = NULL;
		}
		if (*problem)
			return JPEG_WALK_BROKEN;
		jpeg->evidence++;
		jpeg->valid_end = at + len;
	} else {
		size_t known = read_application(jpeg, marker, at, len);

		if (known)
			jpeg->valid_end = at + known;
		*problem = is_doubted(jpeg, at + len)
				   ? problem_in(jpeg, marker, at, at + len, &valid)
				   : NULL;
		if (*problem && valid > jpeg->valid_end)
			jpeg->valid_end = valid;
		if (*problem)
			return JPEG_WALK_BROKEN;
		if (marker == JPEG_APP0 + 1 && known == XMP_KNOWN)
			read_xmp(jpeg, at, len);
	}
	jpeg->at = at + len;
	return jpeg->at <= view_size(jpeg->view) ? JPEG_WALK_DONE : JPEG_WALK_CUT;
}

/* After SOS: skips the coded data. */
static enum jpeg_walk skip_scan(struct jpeg *jpeg, const char **problem)
{
	uint64_t start = jpeg->at;
	enum jpeg_scan state;

	jpeg->scan_count++;
	state = jpeg_skip_scan(jpeg, problem);
	jpeg->valid_end = jpeg->at;
	switch (state) {
	case JPEG_SCAN_CUT:
		return JPEG_WALK_CUT;
	case JPEG_SCAN_BROKEN:
		jpeg->valid_end = walk_before_fill(jpeg->view, start, jpeg->at);
		return JPEG_WALK_BROKEN;
	case JPEG_SCAN_SHORT:
		jpeg->at += 2;
		jpeg->valid_end = jpeg->at;
		return JPEG_WALK_SHORT;
	case JPEG_SCAN_DONE:
		break;
	}
	for (int i = 0; i < jpeg->in_scan; i++)
		jpeg->scan[i]->scanned = true;
	if (jpeg->scan_count <= JPEG_SCAN_ENDS)
		jpeg->scan_ends[jpeg->scan_count - 1] = jpeg->at;
	return JPEG_WALK_DONE;
}

/* At EOI: returns what is missing, or NULL. */
static const char *find_missing(const struct jpeg *jpeg)
{
	if (!jpeg->scan_count)
		return "EOI";
	for (int i = 0; i < jpeg->component_count; i++)
		if (!jpeg->components[i].scanned)
			return "EOI before all components";
	return NULL;
}

/* After EOI: whether the picture is whole. */
static enum jpeg_walk finish_picture(struct jpeg *jpeg, const char **problem)
{
	*problem = find_missing(jpeg);
	jpeg->valid_end = jpeg->at;
	if (!*problem)
		return JPEG_WALK_DONE;
	if (jpeg->scan_count)
		return JPEG_WALK_SHORT;
	/* Tables alone, which TIFF has for its strips, are not a picture, even if valid. */
	jpeg->evidence = 0;
	return JPEG_WALK_BROKEN;
}

/* Before a marker among the segments, also the first: a check that goes on from there does not look into those before. */
static void save_segments(struct jpeg *jpeg, uint64_t at)
{
	const struct carve_state state = { .offset = at, .data = "" };

	if (!jpeg->saves || jpeg->scan_count ||
		(jpeg->saved_at && at < jpeg->saved_at + STATE_APART))
		return;
	jpeg->saved_at = at;
	view_save(jpeg->view, &state);
}

enum jpeg_walk jpeg_walk(struct jpeg *jpeg, uint64_t start, const char **problem)
{
	const uint8_t *p = view_peek(jpeg->view, start, 2);
	enum jpeg_walk state = JPEG_WALK_DONE;

	jpeg->start = jpeg->at = jpeg->valid_end = start;
	*problem = "no SOI";
	if (!p || be16(p) != 0xff00 + JPEG_SOI)
		return JPEG_WALK_BROKEN;
	jpeg->at += 2;
	while (state == JPEG_WALK_DONE) {
		uint64_t at = jpeg->at;
		int marker = read_marker(jpeg);

		*problem = "no marker";
		if (marker <= 0)
			return marker ? JPEG_WALK_BROKEN : JPEG_WALK_CUT;
		/* Only the marker after a segment or scan confirms its end. */
		jpeg->valid_end = at;
		save_segments(jpeg, at);
		if (marker == JPEG_EOI)
			return finish_picture(jpeg, problem);
		state = read_segment(jpeg, (uint8_t)marker, problem);
		if (state == JPEG_WALK_DONE && marker == JPEG_SOS)
			state = skip_scan(jpeg, problem);
	}
	return state;
}

static enum verdict file_verdict(struct jpeg *jpeg, enum jpeg_walk state, const char *problem)
{
	struct finding *finding = jpeg->finding;
	uint64_t size = view_size(jpeg->view);
	const char *before = jpeg->scan_count ? "" : ", before any picture data";

	finding->length = jpeg->valid_end;
	if (state == JPEG_WALK_DONE && jpeg->extra_at)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"other data after the last block, at %" PRIu64, jpeg->extra_at);
	if (state == JPEG_WALK_DONE)
		return CARVE_COMPLETE;
	if (!jpeg->scan_count && jpeg->evidence < 2) {
		*finding = (struct finding){ 0 };
		if (state == JPEG_WALK_CUT)
			problem = "the image ends";
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64 "%s", problem, jpeg->at, before);
	}
	if (state == JPEG_WALK_CUT)
		return walk_cut(
			jpeg->view, finding, size + 1, jpeg->scan_count ? size : jpeg->valid_end);
	return verdict_because(
		CARVE_TRUNCATED, finding, "%s at %" PRIu64 "%s", problem, jpeg->at, before);
}

static enum verdict stream_verdict(const struct jpeg_stream *stream, struct finding *finding)
{
	finding->extension = "mjpg";
	finding->length = stream->end;
	if (stream->cut)
		return verdict_because(CARVE_TRUNCATED, finding,
			"frame %" PRIu64 " breaks off at %" PRIu64, stream->frames, stream->end);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"no frame at %" PRIu64 ", and the number of frames is not stored", stream->end);
}

/* from: NULL, or a state, which has data if it is in a scan. */
static void go_on_from(struct jpeg *jpeg, const struct carve_state *from)
{
	jpeg->passed = from ? from->offset : 0;
	jpeg->resume = from && from->len ? from : NULL;
}

/* from: a state from which it goes on, or NULL. */
static enum verdict check_from(
	struct view *view, const struct carve_state *from, struct finding *finding)
{
	struct jpeg jpeg = { .view = view, .finding = finding, .saves = view_wants_states(view) };
	struct jpeg_stream stream;
	const char *problem = NULL;
	enum jpeg_walk state;

	go_on_from(&jpeg, from);
	state = jpeg_walk(&jpeg, 0, &problem);
	if (state == JPEG_WALK_DONE)
		state = jpeg_walk_others(&jpeg, &problem);
	if (state == JPEG_WALK_DONE && jpeg.video)
		jpeg.valid_end = trailer_video_end(view, jpeg.valid_end);
	if (state == JPEG_WALK_DONE)
		jpeg.valid_end = trailer_end(view, jpeg.valid_end);
	free(jpeg.history);
	if (state == JPEG_WALK_DONE && jpeg_walk_stream(&jpeg, &stream))
		return stream_verdict(&stream, finding);
	return file_verdict(&jpeg, state, problem);
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

static unsigned look_at_joint(struct view *view, uint64_t at, uint64_t end)
{
	struct finding ignored = { 0 };
	struct jpeg_seam seam = { .at = at, .end = end };
	struct jpeg jpeg = { .view = view, .finding = &ignored, .seam = &seam };
	const char *problem;

	jpeg_walk(&jpeg, 0, &problem);
	free(jpeg.history);
	return jpeg_seam_finish(&seam);
}

static bool describe(struct view *view, const struct carve_state *state, struct carve_coded *coded)
{
	struct finding ignored = { 0 };
	struct jpeg jpeg = { .view = view, .finding = &ignored, .coded = coded };
	const char *problem;

	go_on_from(&jpeg, state);
	coded->block_count = 0;
	jpeg_walk(&jpeg, 0, &problem);
	free(jpeg.history);
	return coded->block_count != 0;
}

const struct carver jpeg_carver = {
	.name = "jpeg",
	.summary = "JPEG pictures, by their segments and by decoding their coded data",
	.check = check,
	.resume = resume,
	.coded = describe,
	.joint = look_at_joint,
};
