/*
 * DSDIFF, direct stream digital sound (Philips, Direct Stream Digital Interchange File Format 1.5).
 *
 *	form:  'FRM8', length of the rest (8 bytes, big-endian), 'DSD ', chunks
 *	chunk: kind, length (8 bytes), data, a byte of padding behind data of odd length
 *
 * The first chunk is the version; PROP describes the sound, which is in 'DSD ', or packed in 'DST '
 * as frames, each a chunk of its own. Chunks of known kinds have to fill the form. Those behind the
 * sound vouch for it (an index of frames, titles, remarks, a tag), or its frames; of plain bits
 * nothing tells, and the file is unverified.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "dsd.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 12

struct dff {
	struct view *view;
	struct finding *finding;
	uint64_t end;   /* of the form */
	uint64_t sound; /* behind the last sound chunk */
	uint64_t data, data_end;
	bool described, vouched;
};

struct chunk {
	char kind[5];
	uint64_t data, end; /* without the padding */
};

static bool read_chunk(const struct dff *dff, uint64_t at, uint64_t limit, struct chunk *chunk)
{
	const uint8_t *p = view_peek(dff->view, at, HEAD_LEN);

	if (!p || limit - at < HEAD_LEN || be64(p + 4) > limit - at - HEAD_LEN)
		return false;
	*chunk = (struct chunk){ .data = at + HEAD_LEN, .end = at + HEAD_LEN + be64(p + 4) };
	memcpy(chunk->kind, p, 4);
	return true;
}

static bool is(const struct chunk *chunk, const char *kinds)
{
	for (; *kinds; kinds += 4)
		if (memcmp(chunk->kind, kinds, 4) == 0)
			return true;
	return false;
}

/* Chunks of these kinds fill `outer` from `at` on. The farthest one that is sound ends at
 * *sound. */
static bool walk_inner(
	struct dff *dff, uint64_t at, const struct chunk *outer, const char *kinds, uint64_t *sound)
{
	struct chunk chunk;

	while (at < outer->end) {
		if (!read_chunk(dff, at, outer->end, &chunk) || !is(&chunk, kinds))
			return false;
		if (is(&chunk, "DITI") && chunk.end - chunk.data > 4 &&
			chunk.end - chunk.data < 4096) {
			size_t len = (size_t)(chunk.end - chunk.data) - 4;
			const uint8_t *p = view_peek(dff->view, chunk.data + 4, len);

			if (p)
				finding_set_title(dff->finding, p, len);
		}
		*sound = chunk.end;
		at = chunk.end + (chunk.end & 1);
	}
	return true;
}

/* What stands in the chunk: false when it is not what its kind says. */
static bool take(struct dff *dff, const struct chunk *chunk)
{
	dff->vouched = true;
	if (is(chunk, "PROP")) {
		const uint8_t *p = view_peek(dff->view, chunk->data, 4);

		dff->described = p && memcmp(p, "SND ", 4) == 0;
		return dff->described && walk_inner(dff, chunk->data + 4, chunk,
						 "FS  CHNLCMPRABSSLSCOID3 ", &dff->sound);
	}
	if (is(chunk, "DSD ")) {
		dff->data = chunk->data;
		dff->data_end = chunk->end;
		dff->vouched = false;
	}
	if (is(chunk, "DST ")) {
		dff->data = chunk->data;
		return walk_inner(dff, chunk->data, chunk, "FRTEDSTFDSTC", &dff->sound);
	}
	if (is(chunk, "DIIN"))
		return walk_inner(dff, chunk->data, chunk, "EMIDMARKDIARDITI", &dff->sound);
	if (is(chunk, "ID3 "))
		return dsd_tag_is_valid(dff->view, dff->finding, chunk->data, chunk->end);
	return is(chunk, "FVERDSD DSTICOMTMANF");
}

static enum verdict judge(struct dff *dff, const char *problem)
{
	struct finding *finding = dff->finding;
	uint64_t sound;

	finding->length = dff->sound;
	if (problem)
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, dff->sound);
	finding->length = dff->end;
	if (dff->data && dff->vouched)
		return CARVE_COMPLETE;
	sound = dff->data ? dsd_valid_end(dff->view, dff->data, dff->data_end) : dff->end;
	if (sound + 4096 < dff->data_end) {
		finding->length = sound;
		return verdict_because(CARVE_TRUNCATED, finding,
			"equal bytes instead of samples at %" PRIu64, sound);
	}
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing vouches for the samples before %" PRIu64, dff->end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 16);
	struct dff dff = { .view = view, .finding = finding, .sound = 16 };
	const char *problem = NULL;
	struct chunk chunk;

	if (!p || memcmp(p, "FRM8", 4) != 0 || be64(p + 4) > (uint64_t)1 << 50 ||
		memcmp(p + 12, "DSD ", 4) != 0)
		return verdict_because(CARVE_REJECT, finding, "no form at 0");
	dff.end = HEAD_LEN + be64(p + 4);
	while (!problem && dff.sound + (dff.sound & 1) < dff.end) {
		uint64_t at = dff.sound + (dff.sound & 1);

		if (!read_chunk(&dff, at, dff.end, &chunk)) {
			problem = "no chunk";
		} else if (chunk.end > view_size(view)) {
			dff.described |= is(&chunk, "DSD DST ");
			break;
		} else if (!take(&dff, &chunk)) {
			problem = "a chunk is broken";
		} else {
			dff.sound = chunk.end;
		}
	}
	if (!dff.described)
		return verdict_because(
			CARVE_REJECT, finding, "no chunk PROP before %" PRIu64, dff.sound);
	if (dff.end > view_size(view) && (!problem || dff.sound + HEAD_LEN > view_size(view)))
		return walk_cut(view, finding, dff.end,
			view_ends_with_image(view) ? view_size(view) : dff.sound);
	return judge(&dff, problem);
}

const struct carver dff_carver = {
	.name = "dff",
	.summary = "DSDIFF sound, by its chunks",
	.check = check,
};
