/*
 * AV1 video without a container (AV1 bitstream specification, 5: the low-overhead format), as FFmpeg and aomenc write it.
 *
 *	file: temporal units
 *	unit: a delimiter (12 00), then OBUs: before a key frame the sequence's header; frames, or headers of frames and tiles
 *	OBU:  type and flags (1 byte), layers (1) if a flag says so, length (7 bits a byte, the lowest first), payload
 *
 * Every OBU has its length here, and leads to the next one. A unit shows one frame, or one a layer, and ends with it. How many
 * units there are is not stored, and nothing verifies the payloads: a file is unverified at best. Units with a sequence's
 * header are named as parts.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "obu.h"
#include "turning.h"
#include "walk.h"

#define HEAD_MAX 10 /* an OBU's head */
#define FRAME_MAX (UINT64_C(64) << 20)
#define UNITS_MIN 3
#define SEQUENCE_MIN 5 /* bytes of a sequence's header */
#define SEQUENCE_MAX 1024
#define PROFILE_MAX 2

enum obu_type {
	SEQUENCE = 1,
	DELIMITER,
	FRAME_HEADER,
	TILES,
	METADATA,
	FRAME,
	FRAME_HEADER_AGAIN,
	TILE_LIST,
	PADDING = 15
};

struct av1 {
	struct view *view;
	uint64_t at;    /* the next OBU */
	uint64_t begun; /* the last one */
	uint32_t units; /* begun */
	bool first;     /* no frame yet */
	bool frames;    /* in this unit */
	bool shown;     /* the frame that this unit shows */
	bool tiles;     /* of which its tiles may follow */
	bool layered;   /* it is one of several layers */
	bool cut;       /* the view ends in the OBU */
};

/* Whether the payload's first byte can be one of that type. */
static bool valid_payload(struct av1 *av1, enum obu_type type, uint8_t byte, uint64_t len)
{
	switch (type) {
	case SEQUENCE:
		return len >= SEQUENCE_MIN && len <= SEQUENCE_MAX && byte >> 5 <= PROFILE_MAX;
	case FRAME:
	case FRAME_HEADER:
		/* The first one is a key frame; one that shows an older frame is only a header. */
		return av1->first ? !(byte & 0xe0) : type == FRAME_HEADER || !(byte & 0x80);
	default:
		return true;
	}
}

/* Whether an OBU of that type, in a layer or not, can be the next one of this unit. */
static bool may_follow(const struct av1 *av1, enum obu_type type, bool layer)
{
	if (!av1->units)
		return false;
	if (!av1->shown || type == PADDING)
		return true;
	if (type == TILES || type == FRAME_HEADER_AGAIN)
		return av1->tiles;
	return av1->layered && layer && (type == FRAME || type == FRAME_HEADER);
}

/* Notes a frame, whose payload begins with that byte. */
static void note_frame(struct av1 *av1, enum obu_type type, bool layer, uint8_t byte)
{
	bool again = byte & 0x80; /* an older frame */

	av1->first = false;
	av1->frames = true;
	av1->shown = again || byte & 0x10;
	av1->tiles = type == FRAME_HEADER && !again;
	av1->layered = layer;
}

/* Moves past the OBU at av1->at. False: there is none that can follow. */
static bool read_obu(struct av1 *av1)
{
	uint64_t size = view_size(av1->view), left = size - av1->at, len = 0;
	size_t most = left < HEAD_MAX ? (size_t)left : HEAD_MAX, head;
	const uint8_t *p = most ? view_peek(av1->view, av1->at, most) : NULL;
	enum obu_type type = p ? (enum obu_type)(p[0] >> 3 & 15) : PADDING;

	if (!p || !(p[0] & 2))
		return false;
	head = obu_head(p, most, &len);
	if (!head || type == TILE_LIST || len > FRAME_MAX || (type == PADDING && len > left - head))
		return false;
	if (type == DELIMITER) {
		if (len || head != 2 || (av1->units && !av1->frames))
			return false;
		av1->units++;
		av1->frames = av1->shown = false;
	} else if (!may_follow(av1, type, p[0] & 4) || (!len && type != PADDING)) {
		return false;
	}
	if (len && head < most && !valid_payload(av1, type, p[head], len))
		return false;
	if ((type == FRAME || type == FRAME_HEADER) && head < most)
		note_frame(av1, type, p[0] & 4, p[head]);
	av1->begun = av1->at;
	av1->cut = len > left - head;
	av1->at += head + (av1->cut ? left - head : len);
	return !av1->cut;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct av1 av1 = { .view = view, .first = true };
	const uint8_t *p = view_peek(view, 0, 3);
	uint64_t size = view_size(view), delimiter = 0;

	if (!p || p[0] != 0x12 || p[1] || p[2] >> 3 != SEQUENCE)
		return verdict_because(
			CARVE_REJECT, finding, "no unit with a sequence's header at 0");
	while (read_obu(&av1)) {
		p = view_peek(view, av1.begun, 1);
		if (p && p[0] >> 3 == DELIMITER)
			delimiter = av1.begun;
		else if (p && p[0] >> 3 == SEQUENCE && delimiter)
			view_part(view, delimiter);
	}
	if (av1.units < UNITS_MIN)
		return verdict_because(CARVE_REJECT, finding, "fewer than %d units before %" PRIu64,
			UNITS_MIN, av1.at);
	if (av1.cut)
		return walk_cut(view, finding, size + 1, size);
	if (!av1.frames) {
		finding->length = delimiter;
		return verdict_because(
			CARVE_TRUNCATED, finding, "a unit without frames at %" PRIu64, delimiter);
	}
	view_unverified(view, 0, av1.at);
	return turning_uncounted(view, finding, av1.begun, av1.at, "unit");
}

const struct carver av1_carver = {
	.name = "av1",
	.summary = "AV1 video without a container, by its units",
	.check = check,
};
