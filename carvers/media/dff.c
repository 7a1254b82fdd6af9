/*
 * DSDIFF, direct stream digital audio (Philips, Direct Stream Digital Interchange File Format 1.5).
 *
 *	form:  'FRM8', length of the rest (8 bytes, big-endian), 'DSD ', chunks
 *	chunk: kind, length (8 bytes), data, a byte of padding after data of odd length
 *
 * The first chunk is the version; PROP describes the audio, which is in 'DSD ', or compressed in
 * 'DST ' as frames, each a chunk of its own. Chunks of known kinds have to fill the form. The end
 * is confirmed by chunks after the audio (an index of frames, titles, remarks, a tag) or by its
 * frames; a file that ends with uncompressed bits is unverified.
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
	uint64_t end;       /* of the form */
	uint64_t valid_end; /* after the last intact chunk */
	uint64_t data, data_end;
	bool described, end_confirmed;
};

struct dff_chunk {
	char kind[5];
	uint64_t data, end; /* without the padding */
};

static bool read_chunk(const struct dff *dff, uint64_t at, uint64_t limit, struct dff_chunk *chunk)
{
	const uint8_t *p = view_peek(dff->view, at, HEAD_LEN);

	if (!p || limit - at < HEAD_LEN || be64(p + 4) > limit - at - HEAD_LEN)
		return false;
	*chunk = (struct dff_chunk){ .data = at + HEAD_LEN, .end = at + HEAD_LEN + be64(p + 4) };
	memcpy(chunk->kind, p, 4);
	return true;
}

static bool is_kind(const struct dff_chunk *chunk, const char *kinds)
{
	for (; *kinds; kinds += 4)
		if (memcmp(chunk->kind, kinds, 4) == 0)
			return true;
	return false;
}

/* Whether chunks of these kinds fill `outer` from `at` on. The last intact one ends at
 * *valid_end. */
static bool walk_inner(struct dff *dff, uint64_t at, const struct dff_chunk *outer,
	const char *kinds, uint64_t *valid_end)
{
	struct dff_chunk chunk;

	while (at < outer->end) {
		if (!read_chunk(dff, at, outer->end, &chunk) || !is_kind(&chunk, kinds))
			return false;
		if (is_kind(&chunk, "DITI") && chunk.end - chunk.data > 4 &&
			chunk.end - chunk.data < 4096) {
			size_t len = (size_t)(chunk.end - chunk.data) - 4;
			const uint8_t *p = view_peek(dff->view, chunk.data + 4, len);

			if (p)
				finding_set_title(dff->finding, p, len);
		}
		*valid_end = chunk.end;
		at = chunk.end + (chunk.end & 1);
	}
	return true;
}

/* Adds a chunk: false if its content is not what its kind says. */
static bool add_chunk(struct dff *dff, const struct dff_chunk *chunk)
{
	dff->end_confirmed = true;
	if (is_kind(chunk, "PROP")) {
		const uint8_t *p = view_peek(dff->view, chunk->data, 4);

		dff->described = p && memcmp(p, "SND ", 4) == 0;
		return dff->described && walk_inner(dff, chunk->data + 4, chunk,
						 "FS  CHNLCMPRABSSLSCOID3 ", &dff->valid_end);
	}
	if (is_kind(chunk, "DSD ")) {
		dff->data = chunk->data;
		dff->data_end = chunk->end;
		dff->end_confirmed = false;
	}
	if (is_kind(chunk, "DST ")) {
		dff->data = chunk->data;
		return walk_inner(dff, chunk->data, chunk, "FRTEDSTFDSTC", &dff->valid_end);
	}
	if (is_kind(chunk, "DIIN"))
		return walk_inner(dff, chunk->data, chunk, "EMIDMARKDIARDITI", &dff->valid_end);
	if (is_kind(chunk, "ID3 "))
		return dsd_tag_is_valid(dff->view, dff->finding, chunk->data, chunk->end);
	return is_kind(chunk, "FVERDSD DSTICOMTMANF");
}

static enum verdict judge_end(struct dff *dff, const char *problem)
{
	struct finding *finding = dff->finding;
	uint64_t valid_end;

	finding->length = dff->valid_end;
	if (problem)
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, dff->valid_end);
	finding->length = dff->end;
	if (dff->data && dff->end_confirmed)
		return CARVE_COMPLETE;
	valid_end = dff->data ? dsd_valid_end(dff->view, dff->data, dff->data_end) : dff->end;
	if (valid_end + 4096 < dff->data_end) {
		finding->length = valid_end;
		return verdict_because(CARVE_TRUNCATED, finding,
			"identical bytes instead of samples at %" PRIu64, valid_end);
	}
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the samples before %" PRIu64 " cannot be verified", dff->end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 16);
	struct dff dff = { .view = view, .finding = finding, .valid_end = 16 };
	const char *problem = NULL;
	struct dff_chunk chunk;

	if (!p || memcmp(p, "FRM8", 4) != 0 || be64(p + 4) > (uint64_t)1 << 50 ||
		memcmp(p + 12, "DSD ", 4) != 0)
		return verdict_because(CARVE_REJECT, finding, "no form at 0");
	dff.end = HEAD_LEN + be64(p + 4);
	while (!problem && dff.valid_end + (dff.valid_end & 1) < dff.end) {
		uint64_t at = dff.valid_end + (dff.valid_end & 1);

		if (!read_chunk(&dff, at, dff.end, &chunk)) {
			problem = "no chunk";
		} else if (chunk.end > view_size(view)) {
			dff.described |= is_kind(&chunk, "DSD DST ");
			break;
		} else if (!add_chunk(&dff, &chunk)) {
			problem = "corrupt chunk";
		} else {
			dff.valid_end = chunk.end;
		}
	}
	if (!dff.described)
		return verdict_because(
			CARVE_REJECT, finding, "no chunk PROP before %" PRIu64, dff.valid_end);
	if (dff.end > view_size(view) && (!problem || dff.valid_end + HEAD_LEN > view_size(view)))
		return walk_cut(view, finding, dff.end,
			view_ends_with_image(view) ? view_size(view) : dff.valid_end);
	return judge_end(&dff, problem);
}

const struct carver dff_carver = {
	.name = "dff",
	.summary = "DSDIFF audio, by its chunks",
	.check = check,
};
