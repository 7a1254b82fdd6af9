/*
 * Samples have no checksum and no code that could break. These signs distinguish them from the
 * bytes that overwrote a file's end:
 *
 *	random bytes are rough: samples of 16 bits are a third of the range apart from each other
 *	text is recognised as such
 *	samples can be predicted from those before (predictor.h)
 *	silence follows a sound that fades, inside a cluster: zeros right after a loud one, or from a sector
 *		or in a cluster of their own on, may be a wiped area
 *
 * If none of these applies to the last samples, they cannot be verified.
 */
#include "pcm.h"

#include "bytes.h"
#include "noise.h"
#include "plain_text.h"
#include "predictor.h"
#include "walk.h"

/* Bytes that are checked together, and the mean difference above which they are not samples. */
#define BLOCK_LEN 256
#define ROUGH 14000

#define FADE_LEN 64       /* bytes before silence */
#define LOUDEST_LEN 32768 /* and those that define what is loud */
#define FADE_PART 8
#define SECTOR_NEAR 4 /* samples */
#define WIPED_MIN 512
#define FOREIGN_NEAR 32 /* how exact predictor.h is */
#define TEXT_MIN 64
#define TEXT_MAX VIEW_MAX_PEEK
#define UNCLOSED_MAX (UINT64_C(256) << 20)
#define SPOTS 16

/* Identical bytes that are silence if random ones follow, or else a wiped area. */
#define SILENCE_MIN 64
#define SILENCE_MAX (1u << 20)

/* Identical bytes at a cluster's end, and the first ones of the next with a sample that is loud. */
#define SLACK_MIN 64
#define LOUD_LEN 16
#define LOUD_MIN 1024

bool pcm_is_plain(const struct pcm_format *samples)
{
	uint16_t tag = samples->tag;

	return tag == PCM_INTEGER || tag == PCM_FLOAT || tag == PCM_A_LAW || tag == PCM_MU_LAW ||
	       tag == PCM_EXTENSIBLE; /* nearly always integers */
}

void pcm_set_guid(struct pcm_format *samples, uint16_t tag)
{
	const struct pcm_format stated = { .tag = tag };

	if (!pcm_is_plain(&stated))
		samples->tag = tag;
}

bool pcm_describe(const struct pcm_format *samples, uint64_t from, uint64_t to, uint64_t length,
	struct carve_stored *stored)
{
	uint16_t len = samples->bits / 8;

	if ((samples->tag != PCM_INTEGER && samples->tag != PCM_EXTENSIBLE) || !len || len > 4 ||
		samples->bits % 8 || !samples->frame_len || samples->frame_len % len ||
		samples->frame_len / len > UINT8_MAX || from > to || to > length)
		return false;
	*stored = (struct carve_stored){ .from = from,
		.to = to - (to - from) % samples->frame_len,
		.length = length,
		.sample_len = (uint8_t)len,
		.channels = (uint8_t)(samples->frame_len / len),
		.big_endian = samples->big_endian,
		.is_unsigned = len == 1 && !samples->signed_8 };
	return true;
}

static bool plain_16(const struct pcm_format *samples)
{
	return samples->bits == 16 &&
	       (samples->tag == PCM_INTEGER || samples->tag == PCM_EXTENSIBLE);
}

static int16_t sample_16(const struct pcm_format *samples, const uint8_t *p)
{
	return (int16_t)ordered16(samples->big_endian, p);
}

/* Whether 16-bit samples differ too much from their predecessors. */
static bool is_rough(const struct pcm_format *samples, const uint8_t *p)
{
	uint64_t sum = 0;
	uint32_t count = 0;

	for (unsigned i = samples->frame_len; i + 2 <= BLOCK_LEN; i += 2, count++) {
		int16_t value = sample_16(samples, p + i);
		int16_t last = sample_16(samples, p + i - samples->frame_len);

		sum += (uint64_t)(value > last ? value - last : last - value);
	}
	return sum > (uint64_t)count * ROUGH;
}

/* Where the rough block at the samples' end begins, too short for noise.h; end if there is none, or
 * nothing else before it. */
static uint64_t rough_tail(
	struct view *view, const struct pcm_format *samples, uint64_t start, uint64_t end)
{
	uint64_t at = end;

	if (!plain_16(samples) || samples->frame_len > BLOCK_LEN / 4)
		return end;
	while (at - start >= BLOCK_LEN) {
		const uint8_t *p = view_peek(view, at - BLOCK_LEN, BLOCK_LEN);

		if (!p || !is_rough(samples, p))
			return at;
		at -= BLOCK_LEN;
	}
	return end;
}

/* How far the sample at p is from silence, about 0 to 32768. */
static uint32_t loudness(const struct pcm_format *samples, const uint8_t *p)
{
	size_t len = samples->bits / 8;
	uint8_t top = samples->big_endian ? p[0] : p[len ? len - 1 : 0];
	int16_t value;

	if (samples->tag == PCM_A_LAW) /* the sign, then loudness, every second bit inverted */
		return ((top ^ 0x55) & 0x7fu) * 256;
	if (samples->tag == PCM_MU_LAW)
		return (~top & 0x7fu) * 256;
	if (samples->tag == PCM_FLOAT) /* sign and exponent */
		return (top & 0x7f) > 0x37 ? ((top & 0x7f) - 0x37u) * 256 : 0;
	if (len < 2 && samples->signed_8)
		top ^= 0x80;
	if (len < 2)
		return (uint32_t)(top < 128 ? 128 - top : top - 128) * 256;
	value = (int16_t)(samples->big_endian ? be16(p) : le16(p + len - 2));
	return (uint32_t)(value < 0 ? -(int32_t)value : value);
}

/* The loudest of the samples [start, end). */
static uint32_t loudest(
	struct view *view, const struct pcm_format *samples, uint64_t start, uint64_t end)
{
	size_t step = samples->bits >= 16 ? samples->bits / 8 : 1, len = (size_t)(end - start);
	const uint8_t *p = len ? view_peek(view, start, len) : NULL;
	uint32_t max = 0;

	for (size_t back = step; p && back <= len; back += step) {
		uint32_t value = loudness(samples, p + len - back);

		max = value > max ? value : max;
	}
	return max;
}

/* Whether silence consists of this byte alone. */
static bool is_silent_byte(const struct pcm_format *samples, uint8_t byte)
{
	if (samples->tag == PCM_A_LAW)
		return byte == 0xd5 || byte == 0x55;
	if (samples->tag == PCM_MU_LAW)
		return byte == 0xff || byte == 0x7f;
	return byte == (samples->bits == 8 && !samples->signed_8 ? 0x80 : 0);
}

/* The next multiple of unit if the identical bytes from `at` on start with it, or a few samples before; else 0. */
static uint64_t boundary_near(const struct pcm_format *samples, uint64_t at, uint64_t unit)
{
	uint64_t next = (at + unit - 1) / unit * unit;

	return next - at <= SECTOR_NEAR * (uint64_t)samples->frame_len ? next : 0;
}

/* Whether the samples before `at` are much softer than those before them. */
static bool fades(struct view *view, const struct pcm_format *samples, uint64_t start, uint64_t at)
{
	uint64_t whole = at - (at - start) % samples->frame_len;
	uint64_t fade = whole - start > FADE_LEN ? whole - FADE_LEN : start;
	uint64_t before = fade - start > LOUDEST_LEN ? fade - LOUDEST_LEN : start;

	return loudest(view, samples, fade, whole) <=
	       loudest(view, samples, before, fade) / FADE_PART;
}

/* Whether the identical bytes from `at` to the end are silence after a sound that fades, or if all
 * is silence. */
static bool is_silence(
	struct view *view, const struct pcm_format *samples, uint64_t start, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 1);

	if (!p || !is_silent_byte(samples, *p))
		return false;
	return at == start ||
	       (!boundary_near(samples, at, SECTOR) && fades(view, samples, start, at));
}

/* The cluster with which the identical bytes from `at` to the end start, unless it is a sound that faded: a
 * recording falls silent at a cluster once in hundreds of times. 0: no cluster. */
static uint64_t wiped_from(struct view *view, const struct pcm_format *samples, uint64_t start,
	uint64_t at, uint64_t end)
{
	uint64_t cluster = at > start ? boundary_near(samples, at, USUAL_CLUSTER) : 0;
	const uint8_t *p = view_peek(view, at, 1);

	if (!cluster || end < cluster + WIPED_MIN || !p)
		return 0;
	return is_silent_byte(samples, *p) && fades(view, samples, start, at) ? 0 : cluster;
}

/* How many of the len bytes at p, from the last one backwards, are text: ASCII, or (wide) with a zero in each
 * second place, as in UTF-16. 0 when it has no blanks, which are loud as 8-bit samples. */
static size_t text_run(const uint8_t *p, size_t len, bool wide)
{
	size_t zeros = len && p[len - 1] ? 1 : 0, run = 0;
	bool blank = false;

	for (; run < len; run++) {
		uint8_t byte = p[len - run - 1];

		if (wide && run % 2 == zeros ? byte != 0 : !plain_text_byte(byte))
			break;
		blank |= byte == ' ';
	}
	return blank ? run : 0;
}

/* Where the text at the end begins, at least 64 bytes of it; end if there is none. */
static uint64_t text_start(struct view *view, uint64_t start, uint64_t end)
{
	size_t len = end - start < TEXT_MAX ? (size_t)(end - start) : TEXT_MAX, run = 0;
	const uint8_t *p = len ? view_peek(view, end - len, len) : NULL;

	for (int wide = 0; p && wide < 2 && run < TEXT_MIN; wide++)
		run = text_run(p, len, wide);
	return run >= TEXT_MIN ? end - run : end;
}

/* Whether random bytes are at the start, or at one of some places further on: other files may
 * follow a head that lost its samples, and the last of them may look like samples. */
static bool has_noise(struct view *view, uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < SPOTS; i++)
		if (noise_at(view, start + (end - start) / SPOTS * i, end))
			return true;
	return false;
}

/* Whether a sector starts about there: foreign bytes start with one, a louder passage anywhere. */
static bool near_sector(uint64_t at)
{
	return (at + FOREIGN_NEAR) % SECTOR <= 2 * FOREIGN_NEAR;
}

enum predictor_end pcm_check(struct view *view, const struct pcm_format *samples, uint64_t start,
	uint64_t end, uint64_t *at)
{
	uint64_t noise = rough_tail(view, samples, start, noise_start(view, start, end)), fill;
	size_t frame_len = samples->frame_len;
	enum predictor_end tail;

	*at = noise;
	if (noise < end)
		return PREDICTOR_FOREIGN;
	if (has_noise(view, start, end))
		return PREDICTOR_UNKNOWN;
	fill = walk_before_fill(view, start, end);
	if (fill < end) {
		*at = wiped_from(view, samples, start, fill, end);
		if (*at)
			return PREDICTOR_FOREIGN;
		if ((end - 1) / USUAL_CLUSTER * USUAL_CLUSTER >= fill ||
			!is_silence(view, samples, start, fill))
			return PREDICTOR_UNKNOWN;
		end = fill;
	}
	*at = end > start ? text_start(view, start, end) : end;
	if (*at < end)
		return PREDICTOR_FOREIGN;
	tail = predictor_check(view, start, end, 2 * frame_len, frame_len, at);
	return tail == PREDICTOR_FOREIGN && !near_sector(*at) ? PREDICTOR_UNKNOWN : tail;
}

/* The end of the bytes from start on that equal the first one, at most a little more than
 * SILENCE_MAX of them. */
static uint64_t fill_end(struct view *view, uint64_t start, uint64_t end)
{
	const uint8_t *p = view_peek(view, start, 1);
	uint8_t first = p ? *p : 0;
	uint64_t at = start;
	size_t len;

	if (end - start > SILENCE_MAX + 1)
		end = start + SILENCE_MAX + 1;
	for (; (p = walk_window(view, at, end, &len)); at += len)
		for (size_t i = 0; i < len; i++)
			if (p[i] != first)
				return at + i;
	return at;
}

/* Whether a file ended before `at`, where a cluster ends: the rest of that is filled with identical bytes, and the next
 * begins loud. Silence in a recording ends exactly there once in a thousand times, and mostly softly. */
static bool ends_cluster(struct view *view, const struct pcm_format *samples, uint64_t at)
{
	const uint8_t *p = view_peek(view, at - SLACK_MIN, SLACK_MIN + LOUD_LEN);

	for (size_t i = 1; p && i < SLACK_MIN; i++)
		if (p[i] != p[0])
			return false;
	return p && p[SLACK_MIN] != p[0] && loudest(view, samples, at, at + LOUD_LEN) >= LOUD_MIN;
}

/* Where the first such cluster ends, or `end`. */
static uint64_t cluster_end(
	struct view *view, const struct pcm_format *samples, uint64_t start, uint64_t end)
{
	uint64_t at = (start + SLACK_MIN + USUAL_CLUSTER - 1) / USUAL_CLUSTER * USUAL_CLUSTER;

	for (; at < end; at += USUAL_CLUSTER)
		if (ends_cluster(view, samples, at))
			return at;
	return end;
}

/* Zeros alone are taken for a recording if another file begins after them. */
uint64_t pcm_guess_end(struct view *view, const struct pcm_format *samples, uint64_t start)
{
	uint64_t end = view_size(view), silence;

	if (start >= end)
		return start;
	if (end - start > UNCLOSED_MAX)
		end = start + UNCLOSED_MAX;
	if (noise_at(view, start, end))
		return start;
	silence = fill_end(view, start, end);
	if (silence - start >= SILENCE_MIN)
		return silence - start <= SILENCE_MAX && noise_at(view, silence, end) ? silence
										      : start;
	end = noise_start(view, start, cluster_end(view, samples, start, end));
	return walk_before_fill(view, start, end);
}
