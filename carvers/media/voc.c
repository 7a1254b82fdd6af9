/*
 * Creative Voice (Creative Labs, Sound Blaster Developer Kit, VOC file format).
 *
 *	header: 'Creative Voice File' 1A, where the blocks start, version, ~version + 1234h (2 bytes
 *	        each, little-endian)
 *	block:  kind (0: the end, alone), length (3 bytes), data
 *
 * The blocks lead to the end block, which every file has: without it the file is cut. Samples in blocks have no checksum, so nothing verifies them
 * (view_unverified): where uncompressed ones turn into other bytes the valid part ends (pcm.c). 8-bit ones that end
 * with equal bytes, other than silence, were wiped.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "noise.h"
#include "pcm.h"
#include "walk.h"

/* Equal bytes that are not silence: this many are wiped samples. */
#define WIPED_MIN 64
#define SOX_MISSING 8
#define ZEROS 64 /* after the end block */

enum {
	END = 0,
	AUDIO = 1,
	MORE_AUDIO = 2,
	SILENCE = 3,
	MARK = 4,
	TEXT = 5,
	REPEAT = 6,
	REPEAT_END = 7,
	EXTENDED = 8,
	NEW_AUDIO = 9
};

/* Whether a block of this kind can have this length. */
static bool is_valid_len(unsigned kind, uint32_t len)
{
	switch (kind) {
	case AUDIO:
		return len > 2;
	case MORE_AUDIO:
	case TEXT:
		return len > 0;
	case SILENCE:
		return len == 3;
	case MARK:
	case REPEAT:
		return len == 2;
	case REPEAT_END:
		return len == 0;
	case EXTENDED:
		return len == 4;
	case NEW_AUDIO:
		return len > 12;
	}
	return false;
}

/* Whether the block's data, [at, end), are all there: else *verdict is set. */
static bool is_block_whole(struct view *view, struct finding *finding, uint64_t at, uint64_t end,
	enum verdict *verdict)
{
	uint64_t size = view_size(view), stop = end < size ? end : size;
	uint64_t noise = noise_start(view, at, stop);

	finding->length = noise;
	if (noise < stop)
		*verdict = verdict_because(CARVE_TRUNCATED, finding,
			"random bytes instead of samples at %" PRIu64, noise);
	else if (end > size)
		*verdict = walk_cut(view, finding, end, size);
	return noise == stop && end <= size;
}

struct voc_samples {
	uint64_t start, end;
	struct pcm_format coding; /* frame_len 0: compressed, or not known */
	bool plain;               /* 8 bits, uncompressed */
};

/* How samples are stored by a block AUDIO. */
static struct pcm_format read_old_coding(uint8_t codec)
{
	return codec ? (struct pcm_format){ 0 }
		     : (struct pcm_format){ .tag = PCM_INTEGER, .bits = 8, .frame_len = 1 };
}

/* The same by a block NEW_AUDIO. */
static struct pcm_format read_coding(const uint8_t *p)
{
	static const struct pcm_format codings[] = {
		[0] = { .tag = PCM_INTEGER, .bits = 8 },
		[4] = { .tag = PCM_INTEGER, .bits = 16 },
		[6] = { .tag = PCM_A_LAW, .bits = 8 },
		[7] = { .tag = PCM_MU_LAW, .bits = 8 },
	};
	uint16_t codec = le16(p + 6);
	struct pcm_format coding = { 0 };

	if (codec < sizeof(codings) / sizeof(*codings) && codings[codec].bits == p[4]) {
		coding = codings[codec];
		coding.frame_len = (uint16_t)(p[5] * p[4] / 8);
	}
	return coding;
}

/* SoX does not count 8 of the 12 bytes before the samples of NEW_AUDIO: how many bytes more such a block has, if no
 * block starts at its stated end, and the end block does after those; or if silence ends it: nine zeros, and no more. */
static uint32_t sox_missing_len(struct view *view, uint64_t end)
{
	const uint8_t *p;

	if (walk_padding(view, end, SOX_MISSING + 1) == SOX_MISSING + 1)
		return SOX_MISSING;
	p = view_peek(view, end, SOX_MISSING + 1);
	return p && p[0] != END && p[SOX_MISSING] == END && !is_valid_len(p[0], le32(p) >> 8)
		       ? SOX_MISSING
		       : 0;
}

/* Sets *samples if the block with the data [at, end) has any. */
static void read_samples(
	struct view *view, unsigned kind, uint64_t at, uint64_t end, struct voc_samples *samples)
{
	const uint8_t *p;

	if (kind != AUDIO && kind != MORE_AUDIO && kind != NEW_AUDIO)
		return;
	samples->start = at + (kind == AUDIO ? 2 : kind == NEW_AUDIO ? 12 : 0);
	samples->end = end;
	p = kind == MORE_AUDIO ? NULL : view_peek(view, at, samples->start - at);
	if (p) {
		samples->coding = kind == AUDIO ? read_old_coding(p[1]) : read_coding(p);
		samples->plain = samples->coding.tag == PCM_INTEGER && samples->coding.bits == 8;
	}
	view_unverified(view, samples->start, end);
}

/* Whether the samples end with equal bytes that are not silence. */
static bool is_wiped(struct view *view, const struct voc_samples *samples)
{
	const uint8_t *p = samples->end ? view_peek(view, samples->end - 1, 1) : NULL;

	return p && samples->plain && *p != 0x80 &&
	       samples->end - walk_before_fill(view, samples->start, samples->end) >= WIPED_MIN;
}

/* Whether the samples of the last block continue to its end, or turn into other bytes, and where. */
static enum predictor_end check_samples(
	struct view *view, const struct voc_samples *samples, uint64_t *at)
{
	if (!samples->end)
		return PREDICTOR_CONTINUOUS;
	if (!samples->coding.frame_len)
		return PREDICTOR_UNKNOWN;
	return pcm_check(view, &samples->coding, samples->start, samples->end, at);
}

/* Whether the samples end with a zero, and zeros follow the end block, which is one, too: all may be a wiped
 * disk's. */
static bool ends_in_zeros(struct view *view, const struct voc_samples *samples, uint64_t at)
{
	return samples->end == at && walk_zeros(view, at - 1, at + ZEROS);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 26);
	struct voc_samples samples = { 0 };
	uint64_t at, blocks = 0;
	enum predictor_end tail;

	if (!p || memcmp(p, "Creative Voice File\x1a", 20) != 0 || le16(p + 20) < 26 ||
		(uint16_t)(~le16(p + 22) + 0x1234) != le16(p + 24))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	for (at = le16(p + 20);; blocks++) {
		enum verdict verdict = CARVE_REJECT;
		uint32_t len;
		unsigned kind;

		p = view_peek(view, at, 1);
		if (!p || *p == END)
			break;
		p = view_peek(view, at, 4);
		len = p ? le32(p) >> 8 : 0;
		kind = p ? *p : END;
		if (!p || !is_valid_len(kind, len))
			break;
		if (kind == NEW_AUDIO)
			len += sox_missing_len(view, at + 4 + len);
		if (!is_block_whole(view, finding, at + 4, at + 4 + len, &verdict))
			return verdict;
		read_samples(view, kind, at + 4, at + 4 + len, &samples);
		at += 4 + len;
	}
	if (!blocks) {
		finding->length = 0;
		return verdict_because(CARVE_REJECT, finding, "no block at %" PRIu64, at);
	}
	tail = check_samples(view, &samples, &finding->length);
	if (tail == PREDICTOR_FOREIGN)
		return verdict_because(CARVE_TRUNCATED, finding,
			"foreign bytes instead of samples at %" PRIu64, finding->length);
	finding->length = at + 1;
	p = view_peek(view, at, 1);
	if (p && *p == END && is_wiped(view, &samples))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last samples before %" PRIu64 " are all equal", samples.end);
	if (ends_in_zeros(view, &samples, at))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last samples before %" PRIu64 " are zeros, as what follows", at);
	p = view_peek(view, at, 1);
	if (p && *p == END && tail == PREDICTOR_UNKNOWN)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing verifies the last samples before %" PRIu64, samples.end);
	if (p && *p == END)
		return CARVE_COMPLETE;
	finding->length = at;
	return verdict_because(CARVE_TRUNCATED, finding,
		"no block at %" PRIu64 ", and the end block is missing", at);
}

const struct carver voc_carver = {
	.name = "voc",
	.summary = "Creative Voice audio, by its blocks",
	.check = check,
};
