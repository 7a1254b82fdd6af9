/*
 * Musepack audio (Musepack, SV7 and SV8 specifications).
 *
 *	version 8: 'MPCK', packets: key (2 letters), length with these bytes (7 bits a byte, the highest
 *	           first, all but the last with the highest bit set), data
 *	keys:      SH (stream: a CRC-32 of what follows it), RG, EI, SO, ST, CT, AP (audio), SE (the end)
 *	version 7: 'MP+', 7 in the lowest 4 bits, frames (4, little-endian); from 8 on units of 32 bits,
 *	           little-endian, of which the highest bit comes first: 2 bits, highest band (6), 88 bits,
 *	           1 bit, samples in the last frame (11), 1 bit, zeros (19); 8 bits, frames, 11 bits
 *	frame:     length in bits (20 bits), data
 *	tags:      APEv2 or ID3v1, as other formats have them
 *
 * Packets lead to SE; lengths of frames lead to the last one, but nothing says that it is one: such a file
 * is unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "audio_tags.h"
#include "bytes.h"
#include "carver.h"
#include "walk.h"

#define OLD_HEAD_LEN 24
#define OLD_FIRST_FRAME (8 * OLD_HEAD_LEN + 8) /* in bits */
#define OLD_LAST_LEN 11                        /* bits after the last frame */
#define OLD_COUNT_MAX (1 << 26)
#define BANDS 32
#define FRAME_SAMPLES 1152

struct packet {
	uint8_t key[2];
	uint64_t data, end;
};

static bool read_packet(struct view *view, uint64_t at, struct packet *packet)
{
	uint64_t len = 0;
	size_t got, i = 2;
	const uint8_t *p = walk_window(view, at, at + 12, &got);

	if (!p || got < 3)
		return false;
	do
		len = len << 7 | (p[i] & 0x7f);
	while (p[i++] & 0x80 && i < got && i < 10);
	if (p[i - 1] & 0x80 || len < i || len > (uint64_t)1 << 40)
		return false;
	memcpy(packet->key, p, 2);
	packet->data = at + i;
	packet->end = at + len;
	return true;
}

static bool is_key(const struct packet *packet, const char *keys)
{
	for (; *keys; keys += 2)
		if (memcmp(packet->key, keys, 2) == 0)
			return true;
	return false;
}

static enum verdict check_packets(struct view *view, struct finding *finding)
{
	uint64_t at = 4, size = view_size(view);
	bool audio = false;
	struct packet packet;

	for (;;) {
		if (!read_packet(view, at, &packet) || !is_key(&packet, "SHRGEISOSTCTAPSE"))
			break;
		if (packet.end > size)
			return walk_cut(view, finding, packet.end, audio ? size : at);
		audio |= is_key(&packet, "AP");
		if (at == 4 && !is_key(&packet, "SH"))
			break;
		if (!is_key(&packet, "SE"))
			view_unverified(view, packet.data, packet.end);
		at = packet.end;
		if (is_key(&packet, "SE")) {
			finding->length = audio_tags_end(view, at, finding);
			return CARVE_COMPLETE;
		}
	}
	finding->length = at > 4 ? at : 0;
	return verdict_because(
		at > 4 ? CARVE_TRUNCATED : CARVE_REJECT, finding, "no packet at %" PRIu64, at);
}

/* Reads 20 bits at an offset in bits, of units of 32 bits. */
static bool read_frame_len(struct view *view, uint64_t bit, uint32_t *len)
{
	const uint8_t *p = view_peek(view, bit / 32 * 4, 8);

	if (!p)
		return false;
	*len = (uint32_t)(((uint64_t)le32(p) << 32 | le32(p + 4)) >> (44 - bit % 32)) & 0xfffff;
	return true;
}

/* Whether the header at p is one of version 7. Nearly any bytes after it read as lengths of frames. */
static bool is_old_head(const uint8_t *p)
{
	uint32_t count = le32(p + 4), band = le32(p + 8) >> 24 & 63, last = le32(p + 20);

	return count && count <= OLD_COUNT_MAX && band && band < BANDS &&
	       (last >> 20 & 0x7ff) <= FRAME_SAMPLES && !(last & 0x7ffff);
}

/* Version 7. */
static enum verdict check_frames(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, OLD_HEAD_LEN);
	uint64_t bit = OLD_FIRST_FRAME, size = view_size(view), end;
	uint32_t count;

	if (!p || !is_old_head(p))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	count = le32(p + 4);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t len;

		if (!read_frame_len(view, bit, &len))
			return walk_cut(
				view, finding, bit / 8 + 8, bit / 8 < size ? bit / 8 : size);
		if (!len) {
			finding->length = i > 2 ? bit / 8 : 0;
			return verdict_because(i > 2 ? CARVE_TRUNCATED : CARVE_REJECT, finding,
				"no frame at %" PRIu64, bit / 8);
		}
		bit += 20 + len;
	}
	end = (bit + OLD_LAST_LEN + 31) / 32 * 4;
	if (end > size)
		return walk_cut(view, finding, end, size);
	view_unverified(view, OLD_HEAD_LEN, end);
	finding->length = audio_tags_end(view, end, finding);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing verifies the %" PRIu32 " frames before %" PRIu64, count, end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 6);

	if (p && memcmp(p, "MPCKSH", 6) == 0)
		return check_packets(view, finding);
	if (p && memcmp(p, "MP+", 3) == 0 && (p[3] & 15) == 7)
		return check_frames(view, finding);
	return verdict_because(CARVE_REJECT, finding, "no header at 0");
}

const struct carver mpc_carver = {
	.name = "mpc",
	.summary = "Musepack audio, by its packets or the lengths of its frames",
	.check = check,
};
