/*
 * AAC in ADTS (ISO/IEC 13818-7, 6.2; ISO/IEC 14496-3, 1.A).
 *
 *	frame:  header, perhaps a CRC, one to four raw data blocks
 *	header: 12 bits of ones, MPEG version, layer 0, no CRC, profile, sample rate, private bit,
 *	        channels, four bits more; length of the frame (13 bits), fullness of a buffer,
 *	        number of blocks less one
 *
 * Most of the first 28 bits stay the same throughout a file. A block begins with an element that
 * agrees with the number of channels: one channel, a pair, a description, data or fill. The number
 * of frames is not stored: the file ends where no frame follows, which is a guess unless a tag
 * starts there (audio_tags.h).
 *
 * If a tag precedes the first frame, mp3.c finds the frames.
 */
#include "adts.h"

#include <inttypes.h>

#include "audio_tags.h"
#include "turning.h"
#include "walk.h"

#define HEADER_LEN 7
#define BARE_FRAMES 5

bool adts_is_header(const uint8_t *p)
{
	return p[0] == 0xff && (p[1] & 0xf6) == 0xf0 && (p[2] >> 2 & 15) < 13;
}

/* The length of the frame at `at` that continues what `first` began, or 0. */
static uint32_t read_frame(struct view *view, uint64_t at, const uint8_t *first)
{
	const uint8_t *p = view_peek(view, at, HEADER_LEN);
	uint32_t len, head;
	unsigned channels, element;

	/* All but the bits for the CRC, private use and copyright. */
	if (!p || !adts_is_header(p) || (p[1] & 0xfe) != (first[1] & 0xfe) ||
		(p[2] & 0xfd) != (first[2] & 0xfd) || (p[3] & 0xc0) != (first[3] & 0xc0))
		return 0;
	len = (uint32_t)(p[3] & 3) << 11 | (uint32_t)p[4] << 3 | p[5] >> 5;
	/* If there are several blocks and a CRC, the blocks' positions come in between. */
	head = HEADER_LEN + (p[1] & 1 ? 0 : 2 + (p[6] & 3) * 2u);
	if (len <= head)
		return 0;
	channels = (p[2] & 1) << 2 | p[3] >> 6;
	p = view_peek(view, at + head, 1);
	if (!p)
		return len;
	/* SCE 0, CPE 1, CCE 2, LFE 3, DSE 4, PCE 5, FIL 6, END 7. */
	element = *p >> 5;
	if (element == 7 || (channels == 1 && (element == 1 || element == 3)) ||
		(channels == 2 && (element == 0 || element == 3)))
		return 0;
	return len;
}

enum verdict adts_check(struct view *view, uint64_t at, bool tagged, struct finding *finding)
{
	uint64_t size = view_size(view);
	uint8_t first[4] = { 0 };
	uint32_t len, last = 0, count = 0;
	bool cut = false;

	for (size_t i = 0; i < sizeof(first); i++) {
		const uint8_t *p = view_peek(view, at + i, 1);

		if (p)
			first[i] = *p;
	}
	while ((len = read_frame(view, at, first))) {
		cut = len > size - at;
		if (cut)
			break;
		if (at)
			view_part(view, at);
		at += len;
		last = len;
		count++;
	}
	if (count < (tagged ? 1 : BARE_FRAMES))
		return verdict_because(CARVE_REJECT, finding,
			"no frame at %" PRIu64 " after %" PRIu32 " others", at, count);
	finding->extension = "aac";
	if (cut && view_ends_with_image(view))
		return walk_cut(view, finding, size + 1, size);
	finding->length = audio_tags_end(view, at, finding);
	if (finding->length > at)
		return CARVE_COMPLETE;
	return turning_uncounted(view, finding, at - last, at, "frame");
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return adts_check(view, 0, false, finding);
}

const struct carver adts_carver = {
	.name = "adts",
	.summary = "AAC audio in ADTS frames",
	.check = check,
	.quick = true,
};
