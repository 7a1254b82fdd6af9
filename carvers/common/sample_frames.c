/*
 *	FLAC (RFC 9639, 9): a frame's CRC-16 is over all of it
 *	AC-3, E-AC-3 (ac3_frame.c): so it is, but for the first two bytes
 *	PNG: chunks with CRC-32, up to IEND
 *	DV (dv_frame.c): each block of 80 bytes says where it is
 *	Opus (RFC 6716, 3 and appendix B): a packet's first byte says how long its frames are and how many; the frames' lengths fill
 *		it. Of several streams in a sample all packets but the last one say their own length. Most files have one or a few
 *		such first bytes: one that two samples in a row have is known from then on
 */
#include "sample_frames.h"

#include <string.h>

#include "ac3_frame.h"
#include "bytes.h"
#include "crc16.h"
#include "dv_frame.h"
#include "png_chunks.h"
#include "walk.h"

#define CRC16_BITS 16 /* see view_proved */
#define CRC32_BITS 32

#define OPUS_LEARNT 8    /* samples whose first bytes are known */
#define OPUS_FRAME 1275  /* bytes, at most */
#define OPUS_DURATION 48 /* of 2.5 ms, at most */

bool sample_frames_are_summed(const struct sample_frames *frames)
{
	return frames->kind == SAMPLE_FLAC || frames->kind == SAMPLE_AC3 ||
	       frames->kind == SAMPLE_PNG;
}

static bool check_flac(
	struct view *view, struct sample_frames *frames, uint64_t at, uint64_t len, uint64_t *valid)
{
	const uint8_t *p = len > 8 ? view_peek(view, at, 2) : NULL;

	*valid = at;
	if (!p || p[0] != 0xff || (p[1] & 0xfe) != 0xf8)
		return false;
	frames->begun = true;
	*valid = at + 2;
	if (!crc16_holds(view, at, at + len))
		return false;
	view_proved(view, at, at + len, CRC16_BITS);
	return true;
}

static bool check_ac3(
	struct view *view, struct sample_frames *frames, uint64_t at, uint64_t len, uint64_t *valid)
{
	for (uint64_t end = at + len; at < end;) {
		const uint8_t *p =
			end - at >= AC3_HEAD_LEN ? view_peek(view, at, AC3_HEAD_LEN) : NULL;
		struct ac3_frame frame;

		*valid = at;
		if (!p || !ac3_frame_read(p, &frame) || frame.len > end - at)
			return false;
		frames->begun = true;
		*valid = at + AC3_HEAD_LEN;
		if (!crc16_holds(view, at + 2, at + frame.len))
			return false;
		view_proved(view, at + 2, at + frame.len, CRC16_BITS);
		at += frame.len;
	}
	return true;
}

static bool check_png(
	struct view *view, struct sample_frames *frames, uint64_t at, uint64_t len, uint64_t *valid)
{
	const uint8_t *p = len >= PNG_SIGNATURE_LEN ? view_peek(view, at, PNG_SIGNATURE_LEN) : NULL;
	struct png_chunks chunks = png_chunks_begin(at + PNG_SIGNATURE_LEN, at + len);
	size_t some, used;

	*valid = at;
	if (!p || !png_is_signature(p))
		return false;
	frames->begun = true;
	while ((p = walk_window(view, chunks.at, chunks.end, &some))) {
		enum png_step step = png_chunks_feed(&chunks, p, some, &used);

		*valid = chunks.chunk_at;
		if (step == PNG_MORE)
			continue;
		if (step != PNG_CHUNK)
			return false;
		view_proved(view, chunks.chunk_at + 4, chunks.at, CRC32_BITS);
		if (chunks.is_last)
			return true;
	}
	return false;
}

static bool check_dv(
	struct view *view, struct sample_frames *frames, uint64_t at, uint64_t len, uint64_t *valid)
{
	const uint8_t *p = len >= DV_HEAD_LEN ? view_peek(view, at, DV_HEAD_LEN) : NULL;
	unsigned sequences = p ? dv_frame_sequences(p) : 0;
	uint64_t blocks = len / DV_BLOCK_LEN;

	*valid = at;
	if (!sequences)
		return false;
	for (uint64_t i = 0; i < blocks; i++) {
		uint64_t sequence = i / DV_SEQUENCE_BLOCKS % sequences;

		*valid = at + i * DV_BLOCK_LEN;
		frames->begun |= i == DV_SEQUENCE_BLOCKS;
		p = view_peek(view, *valid, 3);
		if (!p || !dv_is_block(p, (unsigned)(i % DV_SEQUENCE_BLOCKS), (unsigned)sequence))
			return false;
	}
	return true;
}

/* ---- Opus ---------------------------------------------------------------------------------- */

/* A packet that is being read. */
struct packet {
	const uint8_t *p;
	size_t len, at;
};

/* A frame's length (3.2.1). */
static bool read_len(struct packet *packet, size_t *len)
{
	if (packet->at >= packet->len)
		return false;
	*len = packet->p[packet->at++];
	if (*len < 252)
		return true;
	if (packet->at >= packet->len)
		return false;
	*len += 4 * (size_t)packet->p[packet->at++];
	return true;
}

/* Of a frame, in 2.5 ms (3.1). */
static unsigned frame_duration(uint8_t first)
{
	unsigned configuration = first >> 3;

	if (configuration < 12)
		return configuration % 4 ? configuration % 4 * 8 : 4;
	return configuration < 16 ? 4u << (configuration & 1) : 1u << (configuration & 3);
}

/* The number of frames, whether they have lengths of their own, and how many bytes fill up after them. */
static bool read_count(struct packet *packet, unsigned *count, bool *varies, size_t *filling)
{
	uint8_t code = packet->p[0] & 3, byte;

	*count = code ? 2 : 1;
	*varies = code == 2;
	*filling = 0;
	if (code != 3)
		return true;
	if (packet->at >= packet->len)
		return false;
	byte = packet->p[packet->at++];
	*count = byte & 63;
	*varies = byte & 0x80;
	if (!(byte & 0x40))
		return *count;
	do {
		if (packet->at >= packet->len)
			return false;
		byte = packet->p[packet->at++];
		*filling += byte == 255 ? 254 : byte;
	} while (byte == 255);
	return *count;
}

/* Whether a packet is valid. own: it says its length itself; else it has all bytes. *len: its bytes; *duration: of all
 * frames. */
static bool read_packet(const uint8_t *p, size_t all, bool own, size_t *len, unsigned *duration)
{
	struct packet packet = { .p = p, .len = all, .at = 1 };
	size_t filling, frames = 0, last, rest;
	unsigned count;
	bool varies;

	if (!all || !read_count(&packet, &count, &varies, &filling))
		return false;
	*duration = count * frame_duration(p[0]);
	if (*duration > OPUS_DURATION)
		return false;
	for (unsigned i = 1; varies && i < count; i++) {
		if (!read_len(&packet, &last) || last > OPUS_FRAME)
			return false;
		frames += last;
	}
	if (own) {
		if (!read_len(&packet, &last))
			return false;
	} else {
		rest = packet.len - packet.at;
		if (frames + filling > rest)
			return false;
		last = rest - frames - filling;
		if (!varies) {
			if (last % count)
				return false;
			last /= count;
		}
	}
	*len = packet.at + frames + (varies ? 1 : count) * last + filling;
	return last <= OPUS_FRAME && *len <= all;
}

static bool is_packets(const uint8_t *p, size_t len, unsigned streams)
{
	unsigned duration = 0, other;
	size_t used;

	for (unsigned i = 0; i < streams; i++, p += used, len -= used) {
		if (!read_packet(p, len, i + 1 < streams, &used, &other) ||
			(i && other != duration))
			return false;
		duration = other;
	}
	return true;
}

static bool is_known(const struct sample_frames *frames, uint8_t first)
{
	return memchr(frames->known, first, frames->known_count) != NULL;
}

static void learn(struct sample_frames *frames, uint8_t first)
{
	if (frames->known_count < OPUS_KNOWN)
		frames->known[frames->known_count++] = first;
}

/* Whether a sample that begins with this byte may follow those before. */
static bool goes_on(struct sample_frames *frames, uint8_t first, uint64_t at)
{
	bool known = is_known(frames, first);

	if (frames->learnt < OPUS_LEARNT) {
		frames->learnt++;
		if (!known)
			learn(frames, first);
		return true;
	}
	if (!known && frames->strange_at && first == frames->strange) {
		learn(frames, first);
		known = true;
	}
	if (known) {
		frames->strange_at = 0;
		return true;
	}
	if (frames->strange_at)
		return false;
	frames->strange = first;
	frames->strange_at = at;
	return true;
}

static bool check_opus(
	struct view *view, struct sample_frames *frames, uint64_t at, uint64_t len, uint64_t *valid)
{
	const uint8_t *p = len <= VIEW_MAX_PEEK ? view_peek(view, at, (size_t)len) : NULL;

	*valid = at;
	if (!p || !is_packets(p, (size_t)len, frames->streams))
		return false;
	if (goes_on(frames, p[0], at))
		return true;
	*valid = frames->strange_at;
	return false;
}

static bool check_one(
	struct view *view, struct sample_frames *frames, uint64_t at, uint64_t len, uint64_t *valid)
{
	switch (frames->kind) {
	case SAMPLE_FLAC:
		return check_flac(view, frames, at, len, valid);
	case SAMPLE_AC3:
		return check_ac3(view, frames, at, len, valid);
	case SAMPLE_PNG:
		return check_png(view, frames, at, len, valid);
	case SAMPLE_DV:
		return check_dv(view, frames, at, len, valid);
	case SAMPLE_OPUS:
		return check_opus(view, frames, at, len, valid);
	case SAMPLE_OTHER:
		break;
	}
	return true;
}

bool sample_frames_check(
	struct view *view, struct sample_frames *frames, uint64_t at, uint64_t len, uint64_t *valid)
{
	uint64_t step = frames->len ? frames->len : len;

	for (; len >= step && step; at += step, len -= step)
		if (!check_one(view, frames, at, step, valid))
			return false;
	return true;
}
