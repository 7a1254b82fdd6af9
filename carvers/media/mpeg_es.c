/*
 * MPEG video without a container (ISO/IEC 11172-2; ISO/IEC 13818-2, 6.2), as in M1V and M2V files.
 *
 *	sequence header (00 00 01 B3), of MPEG-2 an extension (B5); groups (B8), pictures (00),
 *	their slices (01 to AF), each led by its start code; end code (B7), which some writers
 *	leave out
 *
 * The walk goes from start code to start code: pictures have known types, their slices go from top
 * to bottom, none is longer than its macroblocks can be. With the end code the file is complete.
 * Without it the last slice's length is not stored, but its macroblocks lead to its end
 * (mpeg_es_slice.c), which is unverified. If they do not lead to their picture's end, the file is truncated before that slice;
 * or it ends before the zeros after it. Sequence headers precede many groups, and are named as parts.
 *
 * In program and transport streams the same video is in packets: where one of these begins, the
 * whole is rejected.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "mpeg_ps.h"
#include "mpeg_es_slice.h"
#include "walk.h"

#define SLICES_MIN 2       /* slices needed to accept video */
#define MACROBLOCK_MAX 768 /* bytes */
#define HEADER_MAX 65536
#define STRAY_MAX 6 /* units that may look valid after the end */

enum code {
	PICTURE = 0x00,
	SLICE_LAST = 0xaf,
	USER = 0xb2,
	SEQUENCE = 0xb3,
	EXTENSION = 0xb5,
	END = 0xb7,
	GROUP = 0xb8
};

struct mpeg_es {
	struct view *view;
	uint32_t width, height; /* macroblocks */
	uint32_t lines;
	bool is_mpeg2;
	bool progressive; /* MPEG-2: no picture is a field */
	unsigned chroma;
	bool in_picture;
	uint32_t row;                   /* of the previous slice */
	struct mpeg_es_picture picture; /* the last one */
	uint64_t slices, longest;       /* the longest unit */
	uint64_t doubted, doubted_unit; /* where the stream may have ended, or 0; the last unit
					   before */
	unsigned units_since;           /* units after that */
};

/* The next start code in [at, limit): its offset, or limit. */
static uint64_t next_code(struct view *view, uint64_t at, uint64_t limit)
{
	size_t look = 1024;

	while (at + 4 <= limit) {
		size_t len = limit - at < look ? (size_t)(limit - at) : look;
		const uint8_t *p = view_peek(view, at, len);

		if (!p)
			break;
		for (size_t i = 2; i + 1 < len; i++)
			if (p[i] == 1 && p[i - 1] == 0 && p[i - 2] == 0)
				return at + i - 2;
		at += len - 3;
		look = look < VIEW_MAX_PEEK ? look * 2 : look;
	}
	return limit;
}

/* Reads size, aspect, picture rate and a marker bit. Xing's encoder has a rate of its own, 9, and
 * libmpeg3 others up to 13. */
static bool read_sequence(struct mpeg_es *video, uint64_t at)
{
	const uint8_t *p = view_peek(video->view, at, 12);
	uint32_t width = p ? be16(p + 4) >> 4 : 0, height = p ? be16(p + 5) & 0xfff : 0;
	uint32_t lines;

	if (!p || width < 16 || height < 16 || p[7] >> 4 == 0 || p[7] >> 4 == 15 ||
		(p[7] & 15) == 0 || (p[7] & 15) > 13 || !(p[10] & 0x20))
		return false;
	lines = height;
	width = (width + 15) / 16;
	height = (height + 15) / 16;
	if (video->width && (video->width != width || video->height != height))
		return false;
	video->width = width;
	video->height = height;
	video->lines = lines;
	return true;
}

static bool accept_slice(struct mpeg_es *video, uint64_t at, uint8_t code)
{
	const uint8_t *p = view_peek(video->view, at, 6);

	/* Field pictures have half the rows; above 2,800 lines the row numbers start again. */
	if (!p || !video->in_picture || code > (video->height + 1) / 2 * 2 || p[4] >> 3 == 0)
		return false;
	if (code < video->row)
		return false;
	video->row = code;
	video->slices++;
	return true;
}

/* Reads what slices depend on from extensions of the sequence (1) and of a picture (8). */
static void read_extension(struct mpeg_es *video, uint64_t at, const uint8_t *p)
{
	if (p[4] >> 4 == 1) {
		video->is_mpeg2 = true;
		video->progressive = p[5] >> 3 & 1;
		video->chroma = p[5] >> 1 & 3;
	} else if (p[4] >> 4 == 8 && video->in_picture && video->row == 0) {
		video->picture.coding = at;
	}
}

/* In macroblocks; if fields are coded each has a whole number of them. */
static uint32_t frame_height(const struct mpeg_es *video)
{
	return video->is_mpeg2 && !video->progressive ? (video->lines + 31) / 32 * 2
						      : video->height;
}

/* Checks the unit whose start code is at `at`: false if it is not a unit of video, or not allowed
 * here. */
static bool accept_unit(struct mpeg_es *video, uint64_t at, uint8_t code)
{
	const uint8_t *p;

	if (code >= 1 && code <= SLICE_LAST)
		return accept_slice(video, at, code);
	if (video->in_picture && video->row == 0 && code != EXTENSION && code != USER)
		return false;
	p = view_peek(video->view, at, 8);
	if (code == PICTURE) {
		if (!p || (p[5] >> 3 & 7) - 1 >= 4)
			return false;
		video->in_picture = true;
		video->picture = (struct mpeg_es_picture){ .head = at,
			.width = video->width,
			.height = frame_height(video),
			.chroma = video->chroma };
		video->row = 0;
		return true;
	}
	if (code == EXTENSION && p)
		read_extension(video, at, p);
	if (code == GROUP) /* its marker bit; Xing's encoder writes zeros */
		return p && ((p[5] & 8) || !be32(p + 4));
	if (code == SEQUENCE) {
		if (!read_sequence(video, at))
			return false;
		video->in_picture = false;
		return true;
	}
	return code == USER || code == EXTENSION || code == END;
}

/* The maximum length of a unit: what its macroblocks can take, and not many times the longest so
 * far. */
static uint64_t unit_len_max(const struct mpeg_es *video, uint8_t code)
{
	uint64_t max = (uint64_t)video->width * video->height * MACROBLOCK_MAX + 4096;

	if (code == 0 || code > SLICE_LAST)
		return HEADER_MAX;
	if (video->slices > SLICES_MIN && video->longest * 4 + 2048 < max)
		return video->longest * 4 + 2048;
	return max;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Whether the sequence at `at` is another file's: it starts at a sector, after zeros, or after more
 * bytes since the unit at `last` than any unit had so far. */
static bool starts_another_file(const struct mpeg_es *video, uint64_t last, uint64_t at)
{
	static const uint8_t zeros[64];
	const uint8_t *p = at % 512 == 0 ? view_peek(video->view, at, 4) : NULL;

	if (!p || p[3] != SEQUENCE)
		return false;
	if (at - last > video->longest)
		return true;
	p = view_peek(video->view, at - sizeof(zeros), sizeof(zeros));
	return p && memcmp(p, zeros, sizeof(zeros)) == 0;
}

/* The end of the slice at `at`, or 0 if it is not known or there is no slice. */
static uint64_t slice_end(const struct mpeg_es *video, uint64_t at)
{
	if (!video->in_picture || !video->row || video->is_mpeg2 != !!video->picture.coding)
		return 0;
	return mpeg_es_slice_end(video->view, &video->picture, at);
}

/* Notes a doubt whether the start code at `at` belongs to this stream: bytes before it do not
 * belong to the slice at `last`. Or that slice is damaged, and much that is valid follows. */
static void note_doubt(struct mpeg_es *video, uint64_t last, uint64_t at)
{
	uint64_t end;

	if (video->doubted) {
		if (++video->units_since > STRAY_MAX)
			video->doubted = 0;
		return;
	}
	end = slice_end(video, last);
	if (end && end < at && !walk_zeros(video->view, end, at)) {
		video->doubted = end;
		video->doubted_unit = last;
		video->units_since = 0;
	}
}

/* Whether the file consists of transport stream packets: 47 every 188 bytes. */
static bool is_transport_stream(struct view *view)
{
	const uint8_t *p = view_peek(view, 0, 188 * 6);

	for (size_t first = 0; p && first < 188; first++) {
		size_t at = first;

		while (at < (size_t)188 * 6 && p[at] == 0x47)
			at += 188;
		if (at >= (size_t)188 * 6)
			return true;
	}
	return false;
}

/* Walks as far as all is valid. Returns the code that ended the walk, with *at on it, and *last on
 * the unit before it. */
static int walk_units(struct mpeg_es *video, uint64_t *at, uint64_t *last)
{
	uint64_t size = view_size(video->view), limit;

	for (;;) {
		const uint8_t *p = view_peek(video->view, *at, 4);
		uint8_t code = p ? p[3] : 0xff;

		if (!p)
			return -1;
		if (code > GROUP || !accept_unit(video, *at, code))
			return code;
		if (code == END)
			return END;
		if (code == SEQUENCE && *at)
			view_part(video->view, *at);
		*last = *at;
		limit = smaller(size, *at + unit_len_max(video, code));
		*at = next_code(video->view, *at + 4, limit);
		if (*at == limit || starts_another_file(video, *last, *at))
			return -1;
		note_doubt(video, *last, *at);
		if (*at - *last > video->longest)
			video->longest = *at - *last;
	}
}

/* Where a stream ends whose last unit starts at `last`: after its slice, or before many zeros;
 * `last` if neither is known. */
static uint64_t guess_end(const struct mpeg_es *video, uint64_t last, uint64_t limit)
{
	struct view *view = video->view;
	uint64_t zeros = 0, end = slice_end(video, last);
	const uint8_t *p;
	size_t len;

	if (end && end <= limit)
		return end;
	for (uint64_t at = last + 4; at < limit; at += len) {
		p = walk_window(view, at, limit, &len);
		for (size_t i = 0; p && i < len; i++) {
			zeros = p[i] ? 0 : zeros + 1;
			if (zeros == 64)
				return at + i + 1 - zeros;
		}
		if (!p)
			break;
	}
	return last;
}

static enum verdict judge_unterminated(struct finding *finding, uint64_t end, uint64_t last)
{
	finding->length = end;
	return verdict_because(
		CARVE_UNVERIFIED, finding, "no end code: the last start code is at %" PRIu64, last);
}

/* Whether the last unit is a slice that does not lead to its picture's end: the rest of the picture is lost. */
static bool breaks_off(const struct mpeg_es *video, uint64_t last)
{
	const uint8_t *p = view_peek(video->view, last, 4);

	return p && p[3] > PICTURE && p[3] <= SLICE_LAST && !slice_end(video, last);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mpeg_es video = { .view = view };
	const uint8_t *p = view_peek(view, 0, 4);
	uint64_t at = 0, last = 0, end;
	int code;

	if (!p || be32(p) != 0x1b3 || !read_sequence(&video, 0))
		return verdict_because(CARVE_REJECT, finding, "no sequence header at 0");
	if (is_transport_stream(view))
		return verdict_because(CARVE_REJECT, finding, "packets of a transport stream at 0");
	code = walk_units(&video, &at, &last);
	if (video.slices < SLICES_MIN || (code > GROUP && mpeg_ps_continues(view, at)))
		return verdict_because(CARVE_REJECT, finding, "no video at %" PRIu64, at);
	finding->extension = video.is_mpeg2 ? "m2v" : "m1v";
	if (code == END) {
		finding->length = at + 4;
		return CARVE_COMPLETE;
	}
	if (video.doubted)
		return judge_unterminated(finding, video.doubted, video.doubted_unit);
	end = guess_end(&video, last, at);
	if (end > last)
		return judge_unterminated(finding, end, last);
	if (code >= 0)
		return judge_unterminated(finding, at, at);
	if (at == view_size(view) && view_ends_with_image(view))
		return walk_cut(view, finding, at + 1, at);
	finding->length = last;
	if (breaks_off(&video, last))
		return verdict_because(CARVE_TRUNCATED, finding,
			"the picture breaks off in the slice at %" PRIu64, last);
	return judge_unterminated(finding, last, last);
}

const struct carver mpv_carver = {
	.name = "mpv",
	.summary = "MPEG-1 and MPEG-2 video without a container, by its pictures and slices",
	.check = check,
};
