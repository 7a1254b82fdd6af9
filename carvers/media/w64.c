/*
 * Sony's Wave64 (Sonic Foundry's description of the format, 2001).
 *
 *	file:  'riff' with the rest of its GUID, length of the file (8), the GUID 'wave', chunks
 *	chunk: a GUID that begins with its name, length (8) with these 24 bytes, data, zeros up to a multiple of 8
 *
 * Integers are little-endian. The chunk fmt is RIFF's. The chunks have to fill the file. Samples have no checksum, so
 * nothing verifies them (view_unverified): where uncompressed ones turn into other bytes the valid part ends (pcm.c).
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "noise.h"
#include "pcm.h"
#include "walk.h"

#define HEAD_LEN 40
#define CHUNK_HEAD_LEN 24
#define UNIT 8
#define LENGTH_MAX (UINT64_C(1) << 48)

static const uint8_t riff_guid[] = { 'r', 'i', 'f', 'f', 0x2e, 0x91, 0xcf, 0x11, 0xa5, 0xd6, 0x28,
	0xdb, 0x04, 0xc1, 0, 0 };
/* What all other GUIDs end with. */
static const uint8_t guid_end[] = { 0xf3, 0xac, 0xd3, 0x11, 0x8c, 0xd1, 0, 0xc0, 0x4f, 0x8e, 0xdb,
	0x8a };

struct w64 {
	struct view *view;
	struct finding *finding;
	uint64_t end;
	struct pcm_format coding;
	uint64_t samples, samples_end; /* 0: no chunk data so far */
	uint64_t last;                 /* where the last chunk's data begin */
};

static bool is_chunk(const uint8_t *p, const char *name)
{
	return memcmp(p, name, 4) == 0 && memcmp(p + 4, guid_end, sizeof(guid_end)) == 0;
}

static void read_format(struct w64 *w64, uint64_t at, uint64_t len)
{
	const uint8_t *p = len >= 16 ? view_peek(w64->view, at, 16) : NULL;

	if (!p)
		return;
	w64->coding = (struct pcm_format){
		.tag = le16(p), .bits = le16(p + 14), .frame_len = le16(p + 12)
	};
	p = w64->coding.tag == PCM_EXTENSIBLE && len >= PCM_GUID_END
		    ? view_peek(w64->view, at + PCM_GUID_AT, 2)
		    : NULL;
	if (p)
		pcm_set_guid(&w64->coding, le16(p));
}

static enum verdict cut_at(struct w64 *w64, uint64_t at, const char *problem)
{
	w64->finding->length = at;
	return verdict_because(CARVE_TRUNCATED, w64->finding, "%s at %" PRIu64, problem, at);
}

static enum verdict judge(struct w64 *w64)
{
	uint64_t at, start = w64->samples, end = w64->samples_end;
	enum predictor_end tail = PREDICTOR_UNKNOWN;

	w64->finding->length = w64->end;
	/* Compressed sound in frames would be a file of its own. */
	if (end && !pcm_is_plain(&w64->coding))
		view_embedded(w64->view, start);
	if (!end)
		return verdict_because(
			CARVE_UNVERIFIED, w64->finding, "no samples before %" PRIu64, w64->end);
	view_unverified(w64->view, start, end);
	at = noise_start(w64->view, start, end);
	if (at < end)
		return cut_at(w64, at, "random bytes instead of samples");
	if (w64->coding.frame_len && pcm_is_plain(&w64->coding))
		tail = pcm_check(w64->view, &w64->coding, start, end, &at);
	if (tail == PREDICTOR_FOREIGN)
		return cut_at(w64, at, "foreign bytes instead of samples");
	if (tail == PREDICTOR_CONTINUOUS ||
		(w64->last > end && plain_at_end(w64->view, w64->last, w64->end)))
		return CARVE_COMPLETE;
	return verdict_because(CARVE_UNVERIFIED, w64->finding,
		"the last samples before %" PRIu64 " cannot be verified", end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct w64 w64 = { .view = view, .finding = finding };
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t at = HEAD_LEN, size = view_size(view);

	if (!p || memcmp(p, riff_guid, sizeof(riff_guid)) != 0 || !is_chunk(p + 24, "wave"))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	w64.end = le64(p + 16);
	if (w64.end < HEAD_LEN + CHUNK_HEAD_LEN || w64.end > LENGTH_MAX)
		return verdict_because(CARVE_REJECT, finding, "an impossible length at 16");
	while (at + CHUNK_HEAD_LEN <= w64.end) {
		uint64_t len, data = at + CHUNK_HEAD_LEN;

		p = view_peek(view, at, CHUNK_HEAD_LEN);
		len = p ? le64(p + 16) : 0;
		if (!p && data > size)
			return walk_cut(view, finding, w64.end, at < size ? at : size);
		if (!p || memcmp(p + 4, guid_end, sizeof(guid_end)) != 0 || len < CHUNK_HEAD_LEN ||
			len > w64.end - at)
			break;
		w64.last = data;
		if (is_chunk(p, "data")) {
			w64.samples = data;
			w64.samples_end = at + len < size ? at + len : size;
		} else if (is_chunk(p, "fmt ")) {
			read_format(&w64, data, len - CHUNK_HEAD_LEN);
		}
		at += (len + UNIT - 1) / UNIT * UNIT;
	}
	if (!w64.last)
		return verdict_because(CARVE_REJECT, finding, "no chunk at %d", HEAD_LEN);
	if (w64.end > size) {
		uint64_t noise =
			w64.samples_end ? noise_start(view, w64.samples, w64.samples_end) : size;

		return walk_cut(view, finding, w64.end, noise);
	}
	if (at < w64.end)
		return cut_at(&w64, at, "no chunk");
	return judge(&w64);
}

const struct carver w64_carver = {
	.name = "w64",
	.summary = "Sony's Wave64, by its chunks",
	.check = check,
};
