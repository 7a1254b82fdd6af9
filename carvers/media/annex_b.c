/*
 * H.264 and H.265 video without a container (ITU-T H.264 and H.265, Annex B), as encoders and recorders of surveillance
 * cameras write it.
 *
 *	unit: start code (00 00 01, before the first of a picture and before parameter sets 00 00 00 01), a header of one
 *	      byte (H.264) or two, payload, zeros
 *
 * A payload holds no start code, and no 00 00 00 or 00 00 02: 00 00 03 precedes what would be one. The walk goes from start
 * code to start code: types of units are known, slices refer to picture parameter sets that came before, none is longer
 * than its macroblocks can be. A unit that ends the stream ends a complete file. Otherwise the last unit's
 * length is not stored: it ends before zeros, or with the image, and the file is unverified. Parameter sets and delimiters
 * precede many pictures, and are named as parts.
 *
 * In program and transport streams the same units are in packets: where one of these begins, the whole is rejected, unless
 * several pictures came before it: packets are shorter. A parameter set with the number of the first one and another content
 * begins a stream of its own.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "h264.h"
#include "turning.h"
#include "walk.h"

#define SLICES_MIN 2        /* needed to accept video that does not end */
#define SET_LEN 64          /* bytes of a parameter set that are compared */
#define FRAMES_MAX 8        /* in a packet */
#define HEAD_LEN 256        /* bytes of a unit that are parsed */
#define OTHER_MAX 65536     /* bytes of a unit that is no slice */
#define MACROBLOCK_MAX 1024 /* bytes; the samples of one of 16 by 16 with 10 bits a sample, 4:4:4 */
#define MACROBLOCKS_MAX 139264 /* level 6.2 */
#define PADDING_MAX 65536      /* zeros between two units */
#define PACKET_MIN 0xb9 /* start codes of program streams, and of what is in transport streams */

enum role {
	NO_UNIT,
	SLICE,
	FIRST_SET,
	SEQUENCE_SET,
	PICTURE_SET,
	DELIMITER,
	SEQUENCE_END,
	END,
	OTHER
};

struct video {
	struct view *view;
	bool hevc;
	uint32_t
		macroblocks; /* of the largest picture that a parameter set describes; 0: none came yet */
	uint8_t pictures[256 / 8]; /* a bit for each picture parameter set that came */
	uint64_t slices, frames;   /* frames: slices that begin one */
	uint8_t set[SET_LEN];      /* the first sequence parameter set (H.265: of the video), */
	size_t set_len;            /* as many of its bytes as there is room for; 0: none came yet */
};

/* ---- bits ---------------------------------------------------------------------------------- */

/* The beginning of a unit's payload, without the bytes that prevent start codes. */
struct payload {
	uint8_t bytes[HEAD_LEN];
	size_t bits, at; /* how many there are; the next one */
	bool over;       /* more were asked for */
};

static void open_payload(struct view *view, uint64_t at, uint64_t end, struct payload *payload)
{
	size_t len = end - at < HEAD_LEN ? (size_t)(end - at) : HEAD_LEN, zeros = 0, kept = 0;
	const uint8_t *p = view_peek(view, at, len);

	*payload = (struct payload){ 0 };
	for (size_t i = 0; p && i < len; i++) {
		if (zeros < 2 || p[i] != 3)
			payload->bytes[kept++] = p[i];
		zeros = p[i] ? 0 : zeros + 1;
	}
	payload->bits = kept * 8;
}

static uint32_t take(struct payload *payload, unsigned count)
{
	uint32_t value = 0;

	for (; count; count--, payload->at++) {
		if (payload->at == payload->bits) {
			payload->over = true;
			return 0;
		}
		value = value << 1 | (payload->bytes[payload->at / 8] >> (7 - payload->at % 8) & 1);
	}
	return value;
}

static void skip(struct payload *payload, unsigned count)
{
	for (; count > 32; count -= 32)
		take(payload, 32);
	take(payload, count);
}

/* H.264, 9.1. */
static uint32_t take_golomb(struct payload *payload)
{
	unsigned zeros = 0;

	while (!take(payload, 1) && !payload->over && zeros < 32)
		zeros++;
	if (zeros >= 32)
		payload->over = true;
	return payload->over ? UINT32_MAX : (1u << zeros) - 1 + take(payload, zeros);
}

/* ---- parameter sets ------------------------------------------------------------------------ */

static void note_size(struct video *video, uint64_t macroblocks)
{
	if (macroblocks > video->macroblocks)
		video->macroblocks = (uint32_t)macroblocks;
}

/* The set in the unit in [at, end). */
static bool read_h264_sequence(struct video *video, uint64_t at, uint64_t end)
{
	struct h264_sps sps;

	if (!h264_sps_read(video->view, at, end - at < HEAD_LEN ? end : at + HEAD_LEN, &sps))
		return false;
	note_size(video, (uint64_t)sps.width * sps.height);
	return true;
}

/* H.265, 7.3.3. */
static void skip_profile(struct payload *payload, unsigned layers)
{
	uint32_t present[8];

	skip(payload, 88 + 8);
	for (unsigned i = 0; i < layers; i++)
		present[i] = take(payload, 2);
	for (unsigned i = layers; layers && i < 8; i++)
		skip(payload, 2);
	for (unsigned i = 0; i < layers; i++)
		skip(payload, (present[i] & 2 ? 88 : 0) + (present[i] & 1 ? 8 : 0));
}

/* H.265, 7.3.2.2.1. */
static bool read_h265_sequence(struct video *video, struct payload *payload)
{
	uint32_t layers, chroma;
	uint64_t width, height;

	skip(payload, 4);
	layers = take(payload, 3);
	skip(payload, 1);
	if (layers > 6)
		return false;
	skip_profile(payload, layers);
	if (take_golomb(payload) > 15)
		return false;
	chroma = take_golomb(payload);
	skip(payload, chroma == 3);
	width = take_golomb(payload);
	height = take_golomb(payload);
	if (payload->over || chroma > 3 || !width || !height || width > 65535 || height > 65535 ||
		(width + 15) / 16 * ((height + 15) / 16) > MACROBLOCKS_MAX)
		return false;
	note_size(video, (width + 15) / 16 * ((height + 15) / 16));
	return true;
}

static bool read_picture_set(struct video *video, struct payload *payload)
{
	uint32_t number = take_golomb(payload), sequence = take_golomb(payload);

	if (payload->over || number > (video->hevc ? 63 : 255) ||
		sequence > (video->hevc ? 15 : 31) || !video->macroblocks)
		return false;
	video->pictures[number / 8] |= (uint8_t)(1 << number % 8);
	return true;
}

/* ---- units --------------------------------------------------------------------------------- */

static bool refers(const struct video *video, uint32_t picture_set)
{
	return picture_set < 256 && video->pictures[picture_set / 8] >> picture_set % 8 & 1;
}

/* H.264, 7.3.3. */
static bool read_h264_slice(struct video *video, struct payload *payload, bool intra)
{
	uint32_t first = take_golomb(payload), type = take_golomb(payload),
		 picture_set = take_golomb(payload);

	video->frames += !first;
	return !payload->over && first < video->macroblocks && type <= 9 &&
	       (!intra || type % 5 == 2 || type % 5 == 4) && refers(video, picture_set);
}

/* H.265, 7.3.6.1. */
static bool read_h265_slice(struct video *video, struct payload *payload, bool intra)
{
	uint32_t picture_set;

	video->frames += take(payload, 1);
	skip(payload, intra);
	picture_set = take_golomb(payload);
	return !payload->over && refers(video, picture_set);
}

/* By the type of a unit; those that are not here are of no video. */
static const uint8_t h264_roles[32] = { [1] = SLICE,
	[2] = SLICE,
	[3] = OTHER,
	[4] = OTHER,
	[5] = SLICE,
	[6] = OTHER,
	[7] = SEQUENCE_SET,
	[8] = PICTURE_SET,
	[9] = DELIMITER,
	[10] = SEQUENCE_END,
	[11] = END,
	[12] = OTHER,
	[13] = OTHER,
	[14] = OTHER,
	[15] = OTHER,
	[19] = OTHER,
	[20] = OTHER };
/* Types, a bit each, that other units always refer to, and never. */
#define H264_REFERRED (1u << 5 | 1u << 7 | 1u << 8)
#define H264_NOT_REFERRED (1u << 6 | 1u << 9 | 1u << 10 | 1u << 11 | 1u << 12)

static enum role h264_role(uint8_t header, bool *intra)
{
	unsigned type = header & 31;

	*intra = type == 5;
	if ((header & 0x60 ? H264_NOT_REFERRED : H264_REFERRED) >> type & 1)
		return NO_UNIT;
	return (enum role)h264_roles[type];
}

static const uint8_t h265_roles[64] = { [0] = SLICE,
	[1] = SLICE,
	[2] = SLICE,
	[3] = SLICE,
	[4] = SLICE,
	[5] = SLICE,
	[6] = SLICE,
	[7] = SLICE,
	[8] = SLICE,
	[9] = SLICE,
	[16] = SLICE,
	[17] = SLICE,
	[18] = SLICE,
	[19] = SLICE,
	[20] = SLICE,
	[21] = SLICE,
	[32] = FIRST_SET,
	[33] = SEQUENCE_SET,
	[34] = PICTURE_SET,
	[35] = DELIMITER,
	[36] = SEQUENCE_END,
	[37] = END,
	[38] = OTHER,
	[39] = OTHER,
	[40] = OTHER };
/* Types of the lowest temporal layer alone. */
#define H265_LOWEST ((uint64_t)0x3f << 16 | (uint64_t)3 << 32 | (uint64_t)3 << 36)

static enum role h265_role(const uint8_t *header, bool *intra)
{
	unsigned type = header[0] >> 1, layer = (header[0] & 1u) << 5 | header[1] >> 3,
		 time = header[1] & 7;

	*intra = type >= 16 && type <= 23;
	if (!time)
		return NO_UNIT;
	if (layer)
		return type <= 40 ? OTHER : NO_UNIT;
	if (time > 1 && H265_LOWEST >> type & 1)
		return NO_UNIT;
	return (enum role)h265_roles[type];
}

static enum role role_at(const struct video *video, uint64_t at, bool *intra)
{
	const uint8_t *p = view_peek(video->view, at, video->hevc ? 2 : 1);

	if (!p || p[0] & 0x80)
		return NO_UNIT;
	return video->hevc ? h265_role(p, intra) : h264_role(p[0], intra);
}

/* Whether the unit's content is what its role says. */
static bool accept(struct video *video, enum role role, uint64_t at, uint64_t end, bool intra)
{
	struct payload payload;
	unsigned header = video->hevc ? 2 : 1;

	if (end - at < header)
		return false;
	open_payload(video->view, at + header, end, &payload);
	switch (role) {
	case SLICE:
		return video->hevc ? read_h265_slice(video, &payload, intra)
				   : read_h264_slice(video, &payload, intra);
	case SEQUENCE_SET:
		return video->hevc ? read_h265_sequence(video, &payload)
				   : read_h264_sequence(video, at, end);
	case PICTURE_SET:
		return read_picture_set(video, &payload);
	default:
		return true;
	}
}

/* ---- where units end ----------------------------------------------------------------------- */

enum after { UNIT, NOTHING, DAMAGE, VIEW_END };

struct end {
	enum after after;
	uint64_t at;   /* of the unit; where there is damage, its place */
	uint64_t code; /* of the next start code, 00 00 01 */
};

/* What two zeros at `at` begin, inside a unit. False: they are a part of it. */
static bool judge_zeros(struct view *view, uint64_t at, struct end *end)
{
	uint64_t size = view_size(view), next = at + 2;
	const uint8_t *p;

	*end = (struct end){ .after = VIEW_END, .at = at };
	while (next - at < PADDING_MAX && (p = view_peek(view, next, 1)) && !*p)
		next++;
	if (next == size)
		return true;
	p = view_peek(view, next, 1);
	if (!p || next - at >= PADDING_MAX) {
		end->after = NOTHING;
		return true;
	}
	end->code = next - 2;
	end->after = *p == 1 ? UNIT : next - at > 2 ? NOTHING : DAMAGE;
	if (end->after != DAMAGE || *p == 2)
		return true;
	p = *p == 3 ? view_peek(view, next + 1, 1) : NULL;
	return p && *p > 3;
}

/* The end of the unit at `at`, which is at most `limit`. */
static struct end find_end(struct view *view, uint64_t at, uint64_t limit)
{
	struct end end = { .after = DAMAGE, .at = limit };
	uint64_t size = view_size(view), from = at;
	const uint8_t *p;
	size_t len;

	while (at < limit && (p = walk_stream(view, at, limit, at - from, &len))) {
		const uint8_t *found = memmem(p, len, "\0\0", 2);

		if (!found) {
			/* One of the two may be the last byte. */
			at += len > 1 ? len - 1 : 1;
			continue;
		}
		at += (uint64_t)(found - p);
		if (judge_zeros(view, at, &end))
			return end;
		at += 2;
		end = (struct end){ .after = DAMAGE, .at = limit };
	}
	if (at >= size || limit > size)
		end = (struct end){ .after = VIEW_END, .at = size };
	return end;
}

/* The end of a unit that is only a header of len bytes. */
static struct end find_end_of_header(struct view *view, uint64_t at, size_t len)
{
	struct end end = { .after = NOTHING, .at = at + len, .code = at + len };
	const uint8_t *p = view_peek(view, end.at, 4);

	if (p && !p[0] && !p[1] && !p[2])
		end.code++;
	p = view_peek(view, end.code, 3);
	if (p && memcmp(p, "\0\0\1", 3) == 0)
		end.after = UNIT;
	return end;
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Whether another file may begin at the start code of a unit with that role. */
static bool may_be_another(enum role role, const struct end *end)
{
	bool begins = role == NO_UNIT ||
		      ((role == FIRST_SET || role == SEQUENCE_SET || role == DELIMITER) &&
			      end->code - end->at > 1);

	return begins &&
	       ((end->code - 1) % SECTOR == 0 || (end->code % SECTOR == 0 && role == NO_UNIT));
}

/* begun: where the last unit's start code is. */
static enum verdict judge(struct video *video, struct finding *finding, enum role last,
	const struct end *end, uint64_t begun)
{
	if (video->slices < SLICES_MIN && last != END)
		return verdict_because(CARVE_REJECT, finding,
			"fewer than %d slices before %" PRIu64, SLICES_MIN, end->at);
	finding->length = end->at;
	if (last == END)
		return CARVE_COMPLETE;
	if (end->after == DAMAGE) {
		finding->length = begun;
		return verdict_because(
			CARVE_TRUNCATED, finding, "an invalid unit at %" PRIu64, begun);
	}
	if (end->after == VIEW_END && !view_ends_with_image(video->view))
		return walk_cut(video->view, finding, end->at + 1, end->at);
	return turning_uncounted(video->view, finding, begun, end->at, "unit");
}

/* The number of the parameter set at p. */
static uint32_t set_number(const struct video *video, const uint8_t *p, size_t len)
{
	struct payload payload = { .bits = len * 8 };

	memcpy(payload.bytes, p, len);
	if (video->hevc)
		return take(&payload, 4);
	skip(&payload, 24);
	return take_golomb(&payload);
}

/* Whether the unit [at, end) is a parameter set with the number of the first one, and another content: a stream of its own. */
static bool is_other_stream(struct video *video, enum role role, uint64_t at, uint64_t end)
{
	uint64_t data = at + (video->hevc ? 2 : 1);
	size_t len = end <= data ? 0 : end - data < SET_LEN ? (size_t)(end - data) : SET_LEN;
	const uint8_t *p = role == (video->hevc ? FIRST_SET : SEQUENCE_SET) && len
				   ? view_peek(video->view, data, len)
				   : NULL;

	if (!p)
		return false;
	if (!video->set_len) {
		memcpy(video->set, p, len);
		video->set_len = len;
	}
	return set_number(video, p, len) == set_number(video, video->set, video->set_len) &&
	       (len != video->set_len || memcmp(p, video->set, len) != 0);
}

/* The longest that a unit can be. */
static uint64_t longest(const struct video *video, enum role role)
{
	return OTHER_MAX + (role == SLICE ? (uint64_t)video->macroblocks * MACROBLOCK_MAX : 0);
}

/* The walk, from the first unit on, whose header is at 4. */
static enum verdict walk(struct video *video, struct finding *finding)
{
	struct view *view = video->view;
	struct end end = { .after = UNIT, .code = 1 }, next;
	enum role last = NO_UNIT;

	for (;;) {
		uint64_t at = end.code + 3, begun = end.at;
		bool intra = false;
		enum role role = role_at(video, at, &intra);
		const uint8_t *p = view_peek(view, at, 1);

		if (last != NO_UNIT && may_be_another(role, &end)) {
			end.after = NOTHING;
			return judge(video, finding, last, &end, begun);
		}
		if (p && *p >= PACKET_MIN && video->frames <= FRAMES_MAX)
			return verdict_because(
				CARVE_REJECT, finding, "a packet at %" PRIu64, end.code);
		if (p && *p >= PACKET_MIN) {
			end.after = NOTHING;
			return judge(video, finding, last, &end, begun);
		}
		next = role == END || role == SEQUENCE_END
			       ? find_end_of_header(view, at, video->hevc ? 2 : 1)
			       : find_end(view, at, at + longest(video, role));
		if (is_other_stream(video, role, at, next.at)) {
			end.after = NOTHING;
			return judge(video, finding, last, &end, begun);
		}
		if (last != NO_UNIT &&
			(role == FIRST_SET || role == SEQUENCE_SET || role == DELIMITER))
			view_part(view, end.code - 1);
		end = next;
		if (role == NO_UNIT || (role == SLICE && !video->macroblocks) ||
			!accept(video, role, at, end.at, intra)) {
			end = (struct end){ .after = DAMAGE, .at = begun };
			return judge(video, finding, last, &end, begun);
		}
		video->slices += role == SLICE;
		if (end.after != UNIT || role == END)
			return judge(video, finding, role, &end, begun);
		last = role;
	}
}

static enum verdict check(struct view *view, bool hevc, struct finding *finding)
{
	struct video video = { .view = view, .hevc = hevc };
	const uint8_t *p = view_peek(view, 0, 6);
	bool intra;
	enum role role = p && memcmp(p, "\0\0\0\1", 4) == 0 ? role_at(&video, 4, &intra) : NO_UNIT;

	if (role != DELIMITER && role != (hevc ? FIRST_SET : SEQUENCE_SET))
		return verdict_because(CARVE_REJECT, finding, "no parameter set at 0");
	return walk(&video, finding);
}

static enum verdict check_h264(struct view *view, struct finding *finding)
{
	return check(view, false, finding);
}

static enum verdict check_h265(struct view *view, struct finding *finding)
{
	return check(view, true, finding);
}

const struct carver h264_carver = {
	.name = "h264",
	.summary = "H.264 video without a container, by its units",
	.check = check_h264,
};

const struct carver h265_carver = {
	.name = "h265",
	.summary = "H.265 video without a container, by its units",
	.check = check_h265,
};
