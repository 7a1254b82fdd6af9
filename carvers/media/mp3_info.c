/*
 * The first frame of many MP3 files holds no audio, but information for players:
 *
 *	'Xing' or 'Info' after the frame's header and side information: flags, then by them the
 *	number of frames, of bytes, a table for seeking (100 bytes), quality. LAME and libavformat
 *	write 36 bytes more: encoder, settings, length, a CRC-16 of all that follows this frame, and
 *	one of this frame up to there (gabriel.mp3-tech.org, Mp3 Info Tag revision 1). libavformat's
 *	is always of 190 bytes, its own two being zeros, which differs but for MPEG-1 with two channels.
 *
 *	'VBRI' at 36: version, delay, quality, bytes, frames (Fraunhofer's encoder).
 */
#include <string.h>

#include "bytes.h"
#include "crc16_arc.h"
#include "mp3.h"

#define LAME_LEN 36
#define INFO_MAX (4 + 32 + 4 + 4 + 4 + 4 + 100 + 4 + LAME_LEN)
#define LIBAVFORMAT_LEN ((size_t)190)

/* Whether the CRC at `at` in the frame is of what is before it, or as libavformat has it. */
static bool is_info_valid(const uint8_t *p, size_t at, size_t len)
{
	static const uint8_t itself[2];
	size_t after = at + sizeof(itself);
	uint16_t crc = crc16_arc(0, p, at), stored = be16(p + at);

	if (crc == stored || len < LIBAVFORMAT_LEN || after > LIBAVFORMAT_LEN)
		return crc == stored;
	crc = crc16_arc(crc, itself, sizeof(itself));
	return crc16_arc(crc, p + after, LIBAVFORMAT_LEN - after) == stored;
}

static bool read_xing(const uint8_t *p, size_t at, size_t len, struct mp3_info *info)
{
	uint32_t flags = be32(p + at + 4);
	size_t start = at;

	if ((memcmp(p + at, "Xing", 4) != 0 && memcmp(p + at, "Info", 4) != 0) || flags > 15)
		return false;
	at += 8;
	if (flags & 1 && at + 4 <= len)
		info->frame_count = be32(p + at);
	at += flags & 1 ? 4 : 0;
	if (flags & 2 && at + 4 <= len)
		info->byte_count = be32(p + at);
	at += flags & 2 ? 4 : 0;
	if (flags == 15 && start + 120 + LAME_LEN <= len && is_info_valid(p, start + 154, len)) {
		info->crc = be16(p + start + 152);
		info->has_crc = true;
	}
	return true;
}

bool mp3_read_info(
	struct view *view, uint64_t at, const struct mp3_frame *frame, struct mp3_info *info)
{
	size_t len = frame->len < INFO_MAX ? frame->len : INFO_MAX;
	const uint8_t *p = frame->layer == 3 ? view_peek(view, at, len) : NULL;
	size_t side = frame->version == 1 ? (frame->mono ? 17 : 32) : (frame->mono ? 9 : 17);

	*info = (struct mp3_info){ 0 };
	if (!p)
		return false;
	if (len >= 36 + 18 && memcmp(p + 36, "VBRI", 4) == 0) {
		info->byte_count = be32(p + 36 + 10);
		info->frame_count = be32(p + 36 + 14);
		return true;
	}
	/* Some encoders forget the CRC after the header, which moves it. */
	if (len >= side + 12 && read_xing(p, side + 4, len, info))
		return true;
	return !(p[1] & 1) && len >= side + 14 && read_xing(p, side + 6, len, info);
}
