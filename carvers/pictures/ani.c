/*
 * Animated cursors (Microsoft, RIFF form ACON).
 *
 *	file: 'RIFF', size, 'ACON', chunks (riff.c)
 *	anih: 36 bytes: number of frames, of steps, size, flags (1: frames are icons, else bare
 *	      pixels)
 *	LIST: 'fram': a chunk 'icon' for each frame, an icon or cursor of its own (ico.c)
 *	LIST: 'INFO': title (INAM) and artist
 *	'rate' and 'seq ': how long and in which order steps are shown
 *
 * The size in front tells the length, and the chunks have to lead to just there, with as many
 * frames as anih says.
 */
#include <inttypes.h>

#include "bytes.h"
#include "carver.h"
#include "ico.h"
#include "riff.h"
#include "walk.h"

#define FLAG_ICONS 1

struct ani {
	struct view *view;
	struct finding *finding;
	uint32_t wanted, frames; /* by anih; seen */
	bool icons, header;
	uint64_t sound, at;
	const char *problem;
};

enum ani_step { ANI_ON, ANI_CUT, ANI_BROKEN };

static enum ani_step broken(struct ani *ani, uint64_t at, const char *problem)
{
	ani->at = at;
	ani->problem = problem;
	return ANI_BROKEN;
}

static enum ani_step read_header(struct ani *ani, const struct riff_chunk *chunk)
{
	const uint8_t *p = view_peek(ani->view, chunk->data, 36);

	if (chunk->len != 36)
		return broken(ani, chunk->at, "anih has not 36 bytes");
	if (!p)
		return ANI_CUT;
	ani->wanted = le32(p + 4);
	ani->icons = le32(p + 32) & FLAG_ICONS;
	ani->header = true;
	if (!ani->wanted)
		return broken(ani, chunk->at, "no frames");
	return ANI_ON;
}

static enum ani_step pass_frame(struct ani *ani, const struct riff_chunk *chunk)
{
	struct ico ico;
	enum ico_state state;

	if (ani->icons) {
		state = ico_walk(ani->view, chunk->data, &ico);
		if (state == ICO_BROKEN || ico.end > chunk->end) {
			if (ico.images && ico.sound < chunk->end)
				ani->sound = ico.sound;
			return broken(ani, ico.at,
				ico.problem ? ico.problem : "a frame that is too long");
		}
	}
	if (chunk->end > view_size(ani->view))
		return ANI_CUT;
	if (ani->icons)
		ani->sound = chunk->end;
	ani->frames++;
	return ANI_ON;
}

static enum ani_step pass_list(
	struct ani *ani, const struct riff *riff, const struct riff_chunk *list)
{
	struct riff inside;
	struct riff_chunk chunk;
	enum riff_step step;
	enum ani_step state = ANI_ON;

	if (list->data + 4 > view_size(ani->view))
		return ANI_CUT;
	if (!riff_enter(riff, list, 4, &inside))
		return broken(ani, list->at, "a list without type");
	while (state == ANI_ON && (step = riff_next(&inside, &chunk)) != RIFF_END) {
		if (step == RIFF_CUT)
			return ANI_CUT;
		if (step == RIFF_BROKEN)
			return broken(ani, inside.at, "no chunk starts");
		ani->sound = chunk.data;
		riff_read_title(&inside, &chunk, ani->finding);
		if (riff_is(inside.form, "fram") && riff_is(chunk.id, "icon"))
			state = pass_frame(ani, &chunk);
		else if (chunk.end > view_size(ani->view))
			state = ANI_CUT;
	}
	return state;
}

static enum ani_step pass_chunk(
	struct ani *ani, const struct riff *riff, const struct riff_chunk *chunk)
{
	if (riff_is(chunk->id, "anih"))
		return read_header(ani, chunk);
	if (riff_is(chunk->id, "LIST"))
		return pass_list(ani, riff, chunk);
	return chunk->end > view_size(ani->view) ? ANI_CUT : ANI_ON;
}

static enum ani_step walk(struct ani *ani, struct riff *riff)
{
	enum ani_step state = ANI_ON;
	struct riff_chunk chunk;

	while (state == ANI_ON) {
		uint64_t at = riff->at;

		switch (riff_next(riff, &chunk)) {
		case RIFF_END:
			if (riff->end > view_size(ani->view))
				return ANI_CUT;
			ani->sound = riff->end;
			return ani->frames ? ANI_ON : broken(ani, at, "no frames");
		case RIFF_CUT:
			return ANI_CUT;
		case RIFF_BROKEN:
			return broken(ani, at, "no chunk starts");
		case RIFF_CHUNK:
			if (at <= view_size(ani->view))
				ani->sound = at;
			state = pass_chunk(ani, riff, &chunk);
		}
	}
	return state;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct ani ani = { .view = view, .finding = finding };
	struct riff riff;
	enum ani_step state;

	if (!riff_open(&riff, view, 0) || !riff_is(riff.form, "ACON"))
		return verdict_because(CARVE_REJECT, finding, "no head of an animated cursor at 0");
	state = walk(&ani, &riff);
	if (!ani.header) {
		*finding = (struct finding){ 0 };
		return verdict_because(CARVE_REJECT, finding, "no anih before %" PRIu64, riff.at);
	}
	finding->length = ani.sound;
	if (state == ANI_CUT)
		return walk_cut(view, finding, riff.end, view_size(view));
	if (state == ANI_BROKEN)
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s at %" PRIu64, ani.problem, ani.at);
	if (ani.frames != ani.wanted)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"anih counts %" PRIu32 " frames, but there are %" PRIu32, ani.wanted,
			ani.frames);
	return CARVE_COMPLETE;
}

const struct carver ani_carver = {
	.name = "ani",
	.summary = "animated cursors, by their chunks and icons",
	.check = check,
};
