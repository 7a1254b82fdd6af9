/*
 * Sun and NeXT audio (Oracle's Sound.h; the au(5) manual page).
 *
 *	header: '.snd', where the samples start, their length, encoding, sample rate, channels (4
 *	        bytes each, big-endian), a note ended by zeros
 *
 * The length FFFFFFFF means unknown: then the end is a guess. Samples have no checksum, so nothing
 * verifies them (view_unverified): where uncompressed ones turn into other bytes the valid part
 * ends (pcm.c); compressed ones leave the file unverified. The note is the title.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "noise.h"
#include "pcm.h"
#include "predictor.h"
#include "title.h"
#include "walk.h"

#define HEADER_MAX 65536
/* Carved if the length is not known. */
#define UNKNOWN_MAX (UINT64_C(16) << 20)

/* From mu-law, 1, to A-law, 27. */
#define ENCODINGS 27

/* How samples of this encoding are stored; frame_len is 0 if they are compressed. */
static struct pcm_format read_coding(uint32_t encoding, uint32_t channels)
{
	static const struct {
		uint16_t tag, bits;
	} plain[] = {
		[1] = { PCM_MU_LAW, 8 },
		[2] = { PCM_INTEGER, 8 },
		[3] = { PCM_INTEGER, 16 },
		[4] = { PCM_INTEGER, 24 },
		[5] = { PCM_INTEGER, 32 },
		[6] = { PCM_FLOAT, 32 },
		[7] = { PCM_FLOAT, 64 },
		[27] = { PCM_A_LAW, 8 },
	};

	return (struct pcm_format){
		.tag = plain[encoding].tag,
		.bits = plain[encoding].bits,
		.frame_len = (uint16_t)(channels * plain[encoding].bits / 8),
		.big_endian = true,
		.signed_8 = encoding == 2,
	};
}

/* The verdict on samples [start, end) that are all there. */
static enum verdict judge_samples(struct view *view, struct finding *finding,
	const struct pcm_format *coding, uint64_t start, uint64_t end)
{
	uint64_t at;
	enum predictor_end tail =
		coding->frame_len ? pcm_check(view, coding, start, end, &at) : PREDICTOR_UNKNOWN;

	view_unverified(view, start, end);
	if (tail == PREDICTOR_CONTINUOUS)
		return CARVE_COMPLETE;
	if (tail == PREDICTOR_UNKNOWN)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last samples before %" PRIu64 " cannot be verified", end);
	finding->length = at;
	return verdict_because(
		CARVE_TRUNCATED, finding, "foreign bytes instead of samples at %" PRIu64, at);
}

static enum verdict judge_data(struct view *view, struct finding *finding,
	const struct pcm_format *coding, uint64_t start, uint64_t end, bool known)
{
	uint64_t size = view_size(view), stop = end < size ? end : size;
	uint64_t noise = noise_start(view, start, stop);

	finding->length = noise < stop ? noise : stop;
	if (!known)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the header at 0 does not state the number of samples");
	if (noise < stop)
		return verdict_because(CARVE_TRUNCATED, finding,
			"random bytes instead of samples at %" PRIu64, noise);
	if (end > size)
		return walk_cut(view, finding, end, size);
	if (noise_at(view, start, stop))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"random bytes instead of samples from %" PRIu64 " on", start);
	return judge_samples(view, finding, coding, start, end);
}

struct au {
	uint32_t start, len; /* of the samples; UINT32_MAX: their length is not known */
	struct pcm_format coding;
};

/* What is wrong with the header, or NULL. */
static const char *read_header(struct view *view, struct au *au)
{
	const uint8_t *p = view_peek(view, 0, 24);
	uint32_t encoding, rate, channels;

	if (!p || memcmp(p, ".snd", 4) != 0)
		return "no signature at 0";
	au->start = be32(p + 4);
	au->len = be32(p + 8);
	encoding = be32(p + 12);
	rate = be32(p + 16);
	channels = be32(p + 20);
	if (au->start < 24 || au->start > HEADER_MAX || !encoding || encoding > ENCODINGS ||
		rate < 1000 || rate > 1000000 || !channels || channels > 64 || !au->len)
		return "impossible fields at 4";
	au->coding = read_coding(encoding, channels);
	return NULL;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct au au;
	const char *problem = read_header(view, &au);
	const uint8_t *p;
	uint32_t start;
	bool known;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	start = au.start;
	known = au.len != UINT32_MAX;
	if (view_size(view) <= start)
		return verdict_because(CARVE_REJECT, finding, "no samples before %" PRIu32, start);
	if (start > 24) {
		size_t note = start - 24 < 128 ? start - 24 : 128;

		p = view_peek(view, 24, note);
		for (size_t i = 0; p && i < note && p[i]; i++)
			if (p[i] < 0x20 && p[i] != '\n' && p[i] != '\r' && p[i] != '\t')
				return verdict_because(
					CARVE_REJECT, finding, "the note at 24 is not text");
		if (p)
			finding_set_title(finding, p, strnlen((const char *)p, note));
	}
	return judge_data(view, finding, &au.coding, start,
		start + (known ? (uint64_t)au.len : UNKNOWN_MAX), known);
}

static bool describe(struct view *view, struct carve_stored *stored)
{
	struct au au;
	uint64_t end;

	if (read_header(view, &au) || au.len == UINT32_MAX)
		return false;
	end = (uint64_t)au.start + au.len;
	return pcm_describe(&au.coding, au.start, end, end, stored);
}

const struct carver au_carver = {
	.name = "au",
	.summary = "Sun audio, by its header",
	.check = check,
	.stored = describe,
};
