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
 * The size at the start determines the length. The chunks have to end exactly there and contain as
 * many frames as anih counts; the last of them has to prove its end, as an icon does.
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
	uint32_t wanted, frames; /* as anih counts them; as found */
	bool icons, header;
	uint64_t valid_end, at;
	const char *problem, *odd; /* odd: a reason for doubt about the last frame, or NULL */
};

enum ani_step { ANI_ON, ANI_CUT, ANI_BROKEN };

static enum ani_step set_broken(struct ani *ani, uint64_t at, const char *problem)
{
	ani->at = at;
	ani->problem = problem;
	return ANI_BROKEN;
}

static enum ani_step read_header(struct ani *ani, const struct riff_chunk *chunk)
{
	const uint8_t *p = view_peek(ani->view, chunk->data, 36);

	if (chunk->len != 36)
		return set_broken(ani, chunk->at, "anih is not 36 bytes long");
	if (!p)
		return ANI_CUT;
	ani->wanted = le32(p + 4);
	ani->icons = le32(p + 32) & FLAG_ICONS;
	ani->header = true;
	if (!ani->wanted)
		return set_broken(ani, chunk->at, "no frames");
	return ANI_ON;
}

static enum ani_step read_frame(struct ani *ani, const struct riff_chunk *chunk)
{
	struct ico ico;
	enum ico_state state;

	if (ani->icons) {
		view_embedded(ani->view, chunk->data);
		state = ico_walk(ani->view, chunk->data, &ico);
		if (state == ICO_BROKEN || ico.end > chunk->end) {
			if (ico.images && ico.valid_end < chunk->end)
				ani->valid_end = ico.valid_end;
			return set_broken(ani, ico.at,
				ico.problem ? ico.problem : "a frame that is too long");
		}
	}
	if (chunk->end > view_size(ani->view))
		return ANI_CUT;
	ani->odd = ani->icons ? ico.odd : "nothing verifies its pixels";
	if (ani->icons)
		ani->valid_end = chunk->end;
	view_unverified(ani->view, ani->icons ? ico.end : chunk->data, chunk->end);
	ani->frames++;
	return ANI_ON;
}

static enum ani_step read_list(
	struct ani *ani, const struct riff *riff, const struct riff_chunk *list)
{
	struct riff inside;
	struct riff_chunk chunk;
	enum riff_step step;
	enum ani_step state = ANI_ON;

	if (list->data + 4 > view_size(ani->view))
		return ANI_CUT;
	if (!riff_enter(riff, list, 4, &inside))
		return set_broken(ani, list->at, "a list without a type");
	while (state == ANI_ON && (step = riff_next(&inside, &chunk)) != RIFF_END) {
		if (step == RIFF_CUT)
			return ANI_CUT;
		if (step == RIFF_BROKEN)
			return set_broken(ani, inside.at, "no chunk");
		ani->valid_end = chunk.data;
		riff_read_title(&inside, &chunk, ani->finding);
		if (riff_is(inside.form, "fram") && riff_is(chunk.id, "icon"))
			state = read_frame(ani, &chunk);
		else if (chunk.end > view_size(ani->view))
			state = ANI_CUT;
	}
	return state;
}

static enum ani_step read_chunk(
	struct ani *ani, const struct riff *riff, const struct riff_chunk *chunk)
{
	if (riff_is(chunk->id, "anih"))
		return read_header(ani, chunk);
	if (riff_is(chunk->id, "LIST"))
		return read_list(ani, riff, chunk);
	view_unverified(ani->view, chunk->data, chunk->end);
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
			ani->valid_end = riff->end;
			return ani->frames ? ANI_ON : set_broken(ani, at, "no frames");
		case RIFF_CUT:
			return ANI_CUT;
		case RIFF_BROKEN:
			return set_broken(ani, at, "no chunk");
		case RIFF_CHUNK:
			if (at <= view_size(ani->view))
				ani->valid_end = at;
			state = read_chunk(ani, riff, &chunk);
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
		return verdict_because(
			CARVE_REJECT, finding, "no header of an animated cursor at 0");
	state = walk(&ani, &riff);
	if (!ani.header) {
		*finding = (struct finding){ 0 };
		return verdict_because(CARVE_REJECT, finding, "no anih before %" PRIu64, riff.at);
	}
	finding->length = ani.valid_end;
	if (state == ANI_CUT)
		return walk_cut(view, finding, riff.end, view_size(view));
	if (state == ANI_BROKEN)
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s at %" PRIu64, ani.problem, ani.at);
	if (ani.frames != ani.wanted)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"anih counts %" PRIu32 " frames, found %" PRIu32, ani.wanted, ani.frames);
	if (ani.odd)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last frame, before %" PRIu64 ": %s", ani.valid_end, ani.odd);
	return CARVE_COMPLETE;
}

const struct carver ani_carver = {
	.name = "ani",
	.summary = "animated cursors, by their chunks and icons",
	.check = check,
};
