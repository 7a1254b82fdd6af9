/*
 * AMR and AMR-WB in a file (RFC 4867, 5).
 *
 *	file:  '#!AMR\n' or '#!AMR-WB\n'; for several channels '#!AMR_MC1.0\n' or
 *	       '#!AMR-WB_MC1.0\n' and 4 bytes whose lowest 4 bits are the number of channels; frames
 *	frame: a byte: 0, type (4 bits), quality, two zeros; data, whose length depends on the type
 *
 * The number of frames is not stored: the file ends where no frame follows. Many bytes can start a
 * frame, zeros above all, which would be frames of bad quality. So after the first frames only
 * types are accepted that occurred before or mean silence, and no long run of bad frames. The end
 * remains a guess.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "carver.h"
#include "walk.h"

/* Frames after which no new types are accepted. */
#define NEW_TYPES_MAX 50
#define BAD_MAX 8
#define FRAMES_MIN 3

/* A frame's bytes after its head, by type; -1: no such type. */
static const int8_t narrow[16] = { 12, 13, 15, 17, 19, 20, 26, 31, 5, -1, -1, -1, -1, -1, -1, 0 };
static const int8_t wide[16] = { 17, 23, 32, 36, 40, 46, 50, 58, 60, 5, -1, -1, -1, -1, 0, 0 };

struct amr {
	const int8_t *lens;
	unsigned channels;
	uint64_t at;   /* after the last frame */
	uint64_t good; /* at, before the bad frames that precede it */
	uint32_t count, bad_count;
	uint16_t seen; /* a bit a type */
	bool cut;
};

static bool read_magic(struct view *view, struct amr *amr)
{
	static const struct {
		const char *text;
		const int8_t *lens;
		bool multi;
	} magics[] = { { "#!AMR\n", narrow, false }, { "#!AMR-WB\n", wide, false },
		{ "#!AMR_MC1.0\n", narrow, true }, { "#!AMR-WB_MC1.0\n", wide, true } };

	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		size_t len = strlen(magics[i].text);
		const uint8_t *p = view_peek(view, 0, len);

		if (!p || memcmp(p, magics[i].text, len) != 0)
			continue;
		amr->lens = magics[i].lens;
		amr->channels = 1;
		amr->at = amr->good = len;
		if (!magics[i].multi)
			return true;
		p = view_peek(view, len, 4);
		amr->at = amr->good = len + 4;
		amr->channels = p ? p[3] & 15 : 0;
		return amr->channels >= 1 && amr->channels <= 6;
	}
	return false;
}

/* Moves past one frame of one channel at amr->at. */
static bool skip_frame(struct view *view, struct amr *amr)
{
	const uint8_t *p = view_peek(view, amr->at, 1);
	unsigned type;
	bool silent;

	if (!p || *p & 0x83)
		return false;
	type = *p >> 3 & 15;
	silent = amr->lens[type] == 5 || amr->lens[type] == 0;
	if (amr->lens[type] < 0 ||
		(amr->count > NEW_TYPES_MAX && !silent && !(amr->seen & 1u << type)))
		return false;
	amr->bad_count = *p & 4 ? 0 : amr->bad_count + 1;
	if (amr->bad_count > BAD_MAX)
		return false;
	if ((uint64_t)amr->lens[type] >= view_size(view) - amr->at) {
		amr->cut = true;
		return false;
	}
	amr->seen |= (uint16_t)(1u << type);
	amr->at += 1 + (uint64_t)amr->lens[type];
	amr->count++;
	if (!amr->bad_count)
		amr->good = amr->at;
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct amr amr = { 0 };

	if (!read_magic(view, &amr))
		return verdict_because(CARVE_REJECT, finding, "no signature at 0");
	while (skip_frame(view, &amr))
		continue;
	/* The file may end with bad frames, but zeros after it are more likely. */
	if (amr.bad_count > BAD_MAX)
		amr.at = amr.good;
	if (amr.count < FRAMES_MIN)
		return verdict_because(CARVE_REJECT, finding, "no frame at %" PRIu64, amr.at);
	finding->extension = amr.lens == wide ? "awb" : "amr";
	finding->length = amr.at;
	if (amr.cut && view_ends_with_image(view)) {
		finding->length = view_size(view);
		return verdict_because(CARVE_TRUNCATED, finding,
			"the image ends at %" PRIu64 ", within a frame", finding->length);
	}
	return walk_uncounted(view, finding, 0, amr.at, 0, "frame");
}

const struct carver amr_carver = {
	.name = "amr",
	.summary = "AMR and AMR-WB speech, by its frames",
	.check = check,
};
