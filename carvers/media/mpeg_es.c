/*
 * MPEG video without a container (ISO/IEC 11172-2; ISO/IEC 13818-2, 6.2), as in M1V and M2V files.
 *
 *	sequence header (00 00 01 B3), of MPEG-2 an extension (B5); groups (B8), pictures (00),
 *	their slices (01 to AF), each led by its start code; end code (B7), which some writers
 *	leave out
 *
 * The walk goes from start code to start code: pictures have known types, their slices go from top
 * to bottom, none is longer than its macroblocks can be. Slices are read macroblock by macroblock (mpeg_es_slice.c), and
 * together they have all macroblocks of their picture, each once; where they do not, the file is truncated. With the end
 * code the file is complete; without it, it is unverified, and ends after the last picture. If not even the first slice can be
 * read, its kind may be one that is not supported, and all is unverified that start codes lead to. Sequence headers precede many
 * groups, and are named as parts.
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
#define WORD_MAX 4     /* bytes of a code word, or more */
#define LONG_MIN 1024  /* bytes of macroblocks that are as good */
#define UNREAD_MAX 256 /* valid bytes of the first slice, if its kind is not supported */
#define SLICE_BITS 6   /* a joint in a slice: tests/bench/RESULTS.md */

enum code {
	PICTURE = 0x00,
	SLICE_LAST = 0xaf,
	USER = 0xb2,
	SEQUENCE = 0xb3,
	EXTENSION = 0xb5,
	END = 0xb7,
	GROUP = 0xb8
};

/* What the video was before a unit; without pointers, but for the view. */
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
	uint64_t next;                  /* its first macroblock that no slice had yet... */
	bool is_over;                   /* ...or there is none */
	uint64_t slices, longest;       /* the longest unit */
	uint64_t read;                  /* slices, to their end */
	bool unread;                    /* slices can't be */
	uint64_t last;                  /* the last unit before */
};

/* How the walk ended. */
enum walk_end {
	ENDS_BY_CODE, /* the end code, at `at` */
	ENDS_BEFORE,  /* what is at `at` is no unit, or not allowed there */
	ENDS_AFTER,   /* the last picture ends at `at`, and something else follows */
	ENDS_OPEN,    /* no start code was found before `at` */
	ENDS_WRONG, /* the last slice is invalid from `at` on, or its picture lacks slices there */
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
		video->next = 0;
		video->is_over = false;
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

static bool is_slice(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 4);

	return p && p[3] > PICTURE && p[3] <= SLICE_LAST;
}

/* Reads the last unit, a slice, of which the next start code, if there is one, is at `next`: how the walk ends, with *at
 * there, or ENDS_BEFORE: it does not. */
static enum walk_end read_slice(struct mpeg_es *video, uint64_t next, bool found, uint64_t *at)
{
	struct view *view = video->view;
	struct mpeg_es_slice_result slice;
	bool valid = mpeg_es_read_slice(view, &video->picture, video->last, next, &slice);
	bool fits = !video->is_over && slice.first == video->next;

	if (video->is_mpeg2 != !!video->picture.coding ||
		(!video->read && !valid && slice.valid - video->last < UNREAD_MAX &&
			!view_is_trial(view))) {
		video->unread = true;
		return ENDS_BEFORE;
	}
	*at = fits ? slice.valid : video->last;
	if (!fits)
		return ENDS_WRONG;
	if (!valid) {
		bool is_cut = !found && next == view_size(view) && slice.end + WORD_MAX > next;

		*at = is_cut ? next : *at;
		return is_cut ? ENDS_OPEN : ENDS_WRONG;
	}
	video->read++;
	video->next = slice.last + 1;
	video->is_over = slice.is_last;
	*at = slice.end;
	if (!walk_zeros(view, slice.end, next) || (!found && slice.is_last))
		return slice.is_last ? ENDS_AFTER : ENDS_WRONG;
	view_proved(view, video->last, found ? next + 4 : slice.end, SLICE_BITS);
	return ENDS_BEFORE;
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

static void save(struct mpeg_es *video, uint64_t at)
{
	struct mpeg_es copy = *video;
	struct carve_state state = { .offset = at, .len = sizeof(copy), .data = &copy };

	copy.view = NULL;
	view_save(video->view, &state);
}

/* Whether a unit that begins another picture, or ends the stream, comes too early. */
static bool lacks_slices(const struct mpeg_es *video, uint8_t code)
{
	return video->in_picture && video->read && !video->is_over && code != EXTENSION &&
	       code != USER && (code == PICTURE || code > SLICE_LAST);
}

/* Walks as far as all is valid. */
static enum walk_end walk_units(struct mpeg_es *video, uint64_t *at)
{
	struct view *view = video->view;
	uint64_t size = view_size(view), limit, next;
	enum walk_end end;

	for (;;) {
		const uint8_t *p = view_peek(view, *at, 4);
		uint8_t code = p ? p[3] : 0xff;
		bool found;

		if (!p)
			return ENDS_OPEN;
		if (code > GROUP)
			return ENDS_BEFORE;
		if (!video->unread && lacks_slices(video, code))
			return ENDS_WRONG;
		if (view_wants_states(view))
			save(video, *at);
		if (!accept_unit(video, *at, code))
			return ENDS_BEFORE;
		if (code == END)
			return ENDS_BY_CODE;
		if (code == SEQUENCE && *at)
			view_part(view, *at);
		video->last = *at;
		limit = smaller(size, *at + unit_len_max(video, code));
		next = next_code(view, *at + 4, limit);
		found = next != limit && !starts_another_file(video, *at, next);
		if (is_slice(view, *at) && !video->unread &&
			!(found && mpeg_ps_continues(view, next))) {
			end = read_slice(video, next, found, at);
			if (end != ENDS_BEFORE)
				return end;
		}
		*at = next;
		if (!found)
			return ENDS_OPEN;
		if (*at - video->last > video->longest)
			video->longest = *at - video->last;
	}
}

/* Where a stream ends whose last unit starts at `last`, and is not read: before many zeros; `last` if there are none. */
static uint64_t guess_end(const struct mpeg_es *video, uint64_t last, uint64_t limit)
{
	struct view *view = video->view;
	uint64_t zeros = 0;
	const uint8_t *p;
	size_t len;

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

static enum verdict judge_broken(const struct mpeg_es *video, struct finding *finding, uint64_t at)
{
	finding->length = at;
	return verdict_because(CARVE_TRUNCATED, finding,
		"the picture breaks off in the slice at %" PRIu64, video->last);
}

/* No start code was found before `at`. */
static enum verdict judge_open(const struct mpeg_es *video, struct finding *finding, uint64_t at)
{
	struct view *view = video->view;
	uint64_t last = video->last, end;

	if (!video->unread && is_slice(view, last) && at < view_size(view))
		return judge_broken(video, finding, at);
	end = guess_end(video, last, at);
	if (video->unread && end > last)
		return judge_unterminated(finding, end, last);
	if (at == view_size(view) && view_ends_with_image(view))
		return walk_cut(view, finding, at + 1, at);
	return judge_unterminated(finding, last, last);
}

/* Whether the only slice is valid for so long that no chance makes it so. */
static bool is_long(const struct mpeg_es *video, enum walk_end end, uint64_t at)
{
	return !video->unread && end == ENDS_WRONG && at - video->last >= LONG_MIN;
}

static enum verdict check_from(struct mpeg_es *video, uint64_t at, struct finding *finding)
{
	struct view *view = video->view;
	enum walk_end end = walk_units(video, &at);

	if ((video->slices < SLICES_MIN && !is_long(video, end, at)) ||
		(end == ENDS_BEFORE && mpeg_ps_continues(view, at)))
		return verdict_because(CARVE_REJECT, finding, "no video at %" PRIu64, at);
	finding->extension = video->is_mpeg2 ? "m2v" : "m1v";
	if (end == ENDS_WRONG)
		return judge_broken(video, finding, at);
	if (end == ENDS_AFTER)
		return judge_unterminated(finding, at, video->last);
	if (end == ENDS_BEFORE)
		return judge_unterminated(finding, at, at);
	if (end == ENDS_OPEN)
		return judge_open(video, finding, at);
	finding->length = at + 4;
	return video->unread ? verdict_because(CARVE_UNVERIFIED, finding,
				       "its slices are of an unknown kind")
			     : CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mpeg_es video = { .view = view };
	const uint8_t *p = view_peek(view, 0, 4);

	if (!p || be32(p) != 0x1b3 || !read_sequence(&video, 0))
		return verdict_because(CARVE_REJECT, finding, "no sequence header at 0");
	if (is_transport_stream(view))
		return verdict_because(CARVE_REJECT, finding, "packets of a transport stream at 0");
	return check_from(&video, 0, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct mpeg_es video;

	if (state->len != sizeof(video))
		return check(view, finding);
	memcpy(&video, state->data, sizeof(video));
	video.view = view;
	return check_from(&video, state->offset, finding);
}

const struct carver mpv_carver = {
	.name = "mpv",
	.summary = "MPEG-1 and MPEG-2 video without a container, by its pictures and slices",
	.check = check,
	.resume = resume,
	.lasts = true,
};
