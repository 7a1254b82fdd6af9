/*
 * IFF forms (Electronic Arts, EA IFF 85): audio in Apple's AIFF 1.3 and AIFF-C, and Amiga's 8SVX;
 * Amiga's pictures (ILBM, PBM); LightWave's objects.
 *
 *	form:  'FORM', length of the rest, type, chunks
 *	chunk: id, data length (big-endian), data, a byte of padding after data of odd length
 *
 * The form's length gives the end, and the chunks have to fill it. The last chunk's padding is
 * often left out. Audio has a chunk COMM (channels, frames, bits, sample rate, and in AIFF-C the
 * compression) and its samples in SSND; 8SVX has VHDR and BODY, pictures BMHD and BODY.
 *
 * Samples and pictures have no checksum, so nothing verifies them (view_unverified): where
 * uncompressed samples turn into other bytes the valid part ends (pcm.c). No chunk follows the last one and confirms it: compressed samples and pictures at the
 * end of a file leave it unverified. The title comes from the chunk NAME or an ID3v2 tag.
 */
#include <inttypes.h>
#include <string.h>

#include "audio_tags.h"
#include "bytes.h"
#include "carver.h"
#include "noise.h"
#include "pcm.h"
#include "predictor.h"
#include "riff.h"
#include "title.h"
#include "walk.h"

struct aiff {
	struct view *view;
	struct finding *finding;
	struct riff form;
	uint64_t valid_end; /* after the last whole chunk */
	uint64_t samples, samples_end;
	struct pcm_format coding; /* frame_len is 0 if compressed or unknown */
	struct riff_chunk last;
	struct id3v2 tag; /* in the last chunk; end is 0 when there is none */
	uint64_t needed;  /* bytes of samples according to COMM; 0: not known */
	const char *head; /* the chunk that describes the data */
	const char *body;
	unsigned chunk_count;
	bool described, odd_end;
};

static bool read_form(struct aiff *aiff)
{
	static const struct {
		const char *type, *head, *body, *extension;
	} forms[] = {
		{ "AIFF", "COMM", "SSND", "aif" },
		{ "AIFC", "COMM", "SSND", "aif" },
		{ "8SVX", "VHDR", "BODY", "iff" },
		{ "ILBM", "BMHD", "BODY", "iff" },
		{ "PBM ", "BMHD", "BODY", "iff" },
		{ "LWO2", "TAGS", "POLS", "lwo" },
		{ "LWOB", "PNTS", "POLS", "lwo" },
	};
	const uint8_t *p = view_peek(aiff->view, 0, 12);

	if (!p || memcmp(p, "FORM", 4) != 0)
		return false;
	aiff->form = (struct riff){
		.view = aiff->view, .at = 12, .end = be32(p + 4) + UINT64_C(8), .big_endian = true
	};
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (memcmp(p + 8, forms[i].type, 4) == 0) {
			aiff->head = forms[i].head;
			aiff->body = forms[i].body;
			aiff->finding->extension = forms[i].extension;
			return true;
		}
	return false;
}

/* Reads how samples are stored from COMM, of which len bytes are at p. */
static struct pcm_format read_coding(const uint8_t *p, size_t len)
{
	static const struct {
		char type[5];
		uint16_t tag;
		bool little;
	} plain[] = {
		{ "NONE", PCM_INTEGER, false },
		{ "twos", PCM_INTEGER, false },
		{ "sowt", PCM_INTEGER, true },
		{ "raw ", PCM_INTEGER, false },
		{ "in24", PCM_INTEGER, false },
		{ "in32", PCM_INTEGER, false },
		{ "fl32", PCM_FLOAT, false },
		{ "FL32", PCM_FLOAT, false },
		{ "fl64", PCM_FLOAT, false },
		{ "FL64", PCM_FLOAT, false },
		{ "alaw", PCM_A_LAW, false },
		{ "ALAW", PCM_A_LAW, false },
		{ "ulaw", PCM_MU_LAW, false },
		{ "ULAW", PCM_MU_LAW, false },
	};
	const char *type = len >= 22 ? (const char *)p + 18 : "NONE";
	struct pcm_format coding = { .bits = (be16(p + 6) + 7u) / 8 * 8 };

	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (memcmp(type, plain[i].type, 4) == 0) {
			coding.tag = plain[i].tag;
			coding.big_endian = !plain[i].little;
			coding.signed_8 = coding.tag == PCM_INTEGER && type[0] != 'r';
			if (coding.tag == PCM_A_LAW || coding.tag == PCM_MU_LAW)
				coding.bits = 8;
			coding.frame_len = (uint16_t)(be16(p) * (coding.bits / 8));
		}
	return coding;
}

/* What is wrong with the chunk COMM, or NULL. */
static const char *read_comm(struct aiff *aiff, const struct riff_chunk *chunk)
{
	size_t len = chunk->len >= 22 ? 22 : 18;
	const uint8_t *p = chunk->len >= 18 ? view_peek(aiff->view, chunk->data, len) : NULL;

	if (!p)
		return "COMM is too short";
	if (!be16(p) || be16(p) > 256 || be16(p + 6) > 64)
		return "COMM has impossible fields";
	aiff->coding = read_coding(p, len);
	aiff->needed = (uint64_t)be32(p + 2) * aiff->coding.frame_len;
	return NULL;
}

/* Amiga's 8-bit audio is signed, unless it is compressed. */
static void read_vhdr(struct aiff *aiff, const struct riff_chunk *chunk)
{
	const uint8_t *p = chunk->len >= 20 ? view_peek(aiff->view, chunk->data, 20) : NULL;

	if (p && !p[15])
		aiff->coding = (struct pcm_format){
			.tag = PCM_INTEGER, .bits = 8, .frame_len = 1, .signed_8 = true
		};
}

static void read_title(struct aiff *aiff, const struct riff_chunk *chunk)
{
	size_t len = chunk->len < 128 ? chunk->len : 128;
	const uint8_t *p;

	aiff->tag.end = 0;
	if (riff_is(chunk->id, "ID3 ") || riff_is(chunk->id, "id3 ")) {
		view_embedded(aiff->view, chunk->data);
		id3v2_read(aiff->view, chunk->data, chunk->end, &aiff->tag, aiff->finding);
	}
	if (!riff_is(chunk->id, "NAME") || !len)
		return;
	p = view_peek(aiff->view, chunk->data, len);
	if (p)
		finding_set_title(aiff->finding, p, len);
}

/* Adds a chunk that starts where one has to. What is wrong with it, or NULL. */
static const char *add_chunk(struct aiff *aiff, const struct riff_chunk *chunk)
{
	const char *problem = NULL;
	uint64_t size = view_size(aiff->view);

	if (riff_is(chunk->id, aiff->head)) {
		aiff->described = true;
		if (riff_is(chunk->id, "COMM"))
			problem = read_comm(aiff, chunk);
		if (riff_is(chunk->id, "VHDR"))
			read_vhdr(aiff, chunk);
	}
	if (riff_is(chunk->id, aiff->body)) {
		aiff->samples = chunk->data + (riff_is(chunk->id, "SSND") ? 8 : 0);
		aiff->samples_end = chunk->end < size ? chunk->end : size;
		if (aiff->samples > aiff->samples_end)
			aiff->samples = aiff->samples_end;
	}
	if (chunk->end > size)
		return problem;
	read_title(aiff, chunk);
	aiff->last = *chunk;
	aiff->valid_end = chunk->end;
	aiff->odd_end = chunk->len & 1;
	aiff->chunk_count++;
	return problem;
}

static enum verdict truncated_at(struct aiff *aiff, uint64_t at, const char *problem)
{
	aiff->finding->length = at;
	return verdict_because(CARVE_TRUNCATED, aiff->finding, "%s at %" PRIu64, problem, at);
}

/* The verdict on the last chunk of a form that is all there: nothing after it confirms its data. */
static enum verdict judge_last_chunk(struct aiff *aiff)
{
	const struct riff_chunk *last = &aiff->last;
	uint64_t start = last->data, at;
	enum predictor_end tail = PREDICTOR_UNKNOWN;

	if (aiff->samples_end == last->end && last->end > aiff->samples) {
		start = aiff->samples;
		if (aiff->coding.frame_len)
			tail = pcm_check(aiff->view, &aiff->coding, start, aiff->samples_end, &at);
		if (tail == PREDICTOR_FOREIGN)
			return truncated_at(aiff, at, "foreign bytes instead of samples");
	} else if (aiff->tag.end && aiff->tag.valid_end < last->end) {
		/* Padding. */
		if (!walk_zeros(aiff->view, aiff->tag.valid_end, last->end))
			return truncated_at(aiff, aiff->tag.valid_end, "no tag frame");
		tail = PREDICTOR_CONTINUOUS;
	} else if (plain_at_end(aiff->view, start, last->end)) {
		tail = PREDICTOR_CONTINUOUS;
	}
	if (tail == PREDICTOR_CONTINUOUS)
		return CARVE_COMPLETE;
	return verdict_because(CARVE_UNVERIFIED, aiff->finding,
		"the last %" PRIu64 " bytes cannot be verified", last->end - start);
}

static enum verdict judge_form(struct aiff *aiff)
{
	enum verdict verdict;
	uint64_t noise = noise_start(aiff->view, aiff->samples, aiff->samples_end);
	uint64_t size = view_size(aiff->view), end = aiff->form.end;
	bool at_end = view_ends_with_image(aiff->view);
	const uint8_t *p;

	if (noise < aiff->samples_end)
		return truncated_at(aiff, noise, "random bytes instead of samples");
	/* Only the last chunk's padding is missing: at the image's end, or another byte is there. */
	if (aiff->odd_end && aiff->valid_end + 1 == end) {
		p = view_peek(aiff->view, aiff->valid_end, 1);
		if (p ? *p != 0 : aiff->valid_end == size && at_end)
			end = aiff->valid_end;
	}
	if (end > size)
		return walk_cut(aiff->view, aiff->finding, end, at_end ? size : aiff->valid_end);
	/* A form of odd length is padded too. */
	p = end & 1 ? view_peek(aiff->view, end, 1) : NULL;
	if (p && *p == 0)
		end++;
	aiff->finding->length = end;
	view_unverified(aiff->view, aiff->samples, aiff->samples_end);
	if (!aiff->samples)
		return verdict_because(CARVE_UNVERIFIED, aiff->finding,
			"no chunk %s before %" PRIu64, aiff->body, end);
	if (noise_at(aiff->view, aiff->samples, aiff->samples_end) && riff_is(aiff->head, "COMM"))
		return verdict_because(CARVE_UNVERIFIED, aiff->finding,
			"random bytes instead of samples from %" PRIu64 " on", aiff->samples);
	verdict = judge_last_chunk(aiff);
	if (verdict == CARVE_COMPLETE && aiff->samples_end - aiff->samples < aiff->needed)
		return verdict_because(CARVE_COMPLETE, aiff->finding,
			"fewer samples at %" PRIu64 " than COMM states", aiff->samples);
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct aiff aiff = { .view = view, .finding = finding };
	const char *problem = NULL;
	enum riff_step step = RIFF_BROKEN;
	struct riff_chunk chunk;

	if (!read_form(&aiff))
		return verdict_because(CARVE_REJECT, finding, "no known IFF form at 0");
	while (!problem && aiff.form.at <= view_size(view) &&
		(step = riff_next(&aiff.form, &chunk)) == RIFF_CHUNK)
		problem = add_chunk(&aiff, &chunk);
	if (!aiff.described)
		return verdict_because(CARVE_REJECT, finding, "no chunk %s before %" PRIu64,
			aiff.head, aiff.form.at);
	if (!aiff.chunk_count)
		return verdict_because(CARVE_REJECT, finding, "no whole chunk at 12");
	if (problem)
		return truncated_at(&aiff, aiff.valid_end, problem);
	if (step == RIFF_BROKEN && aiff.form.at < view_size(view))
		return truncated_at(&aiff, aiff.form.at, "no chunk");
	return judge_form(&aiff);
}

static bool describe(struct view *view, struct carve_stored *stored)
{
	struct finding ignored = { 0 };
	struct aiff aiff = { .view = view, .finding = &ignored };
	struct riff_chunk chunk;

	if (!read_form(&aiff))
		return false;
	while (aiff.form.at <= view_size(view) && riff_next(&aiff.form, &chunk) == RIFF_CHUNK &&
		!add_chunk(&aiff, &chunk)) {
		uint64_t from = chunk.data + (riff_is(chunk.id, "SSND") ? 8 : 0);

		if (riff_is(chunk.id, aiff.body))
			return aiff.coding.frame_len && from < chunk.end &&
			       pcm_describe(&aiff.coding, from, chunk.end, aiff.form.end, stored);
	}
	return false;
}

const struct carver aiff_carver = {
	.name = "aiff",
	.summary = "AIFF and other IFF audio and pictures, by their chunks",
	.check = check,
	.stored = describe,
};
