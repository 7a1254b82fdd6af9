/*
 * Visio's main stream, `VisioDocument`, from version 6 on: a signature, the version, and a pointer to a
 * trailer, which programs write at the stream's end. The trailer is a list of pointers to the stream's
 * parts, mostly compressed. Nothing else verifies the parts, but bytes that are missing before the trailer
 * move it away from its place.
 *
 *	pointer: type, address, offset in the stream, length (4 bytes each), format (2 bytes)
 *	trailer: 4 bytes if it is compressed; where the list is, from here; and there the number of
 *	         pointers, 4 bytes, and the pointers
 *	compressed: a byte of flags for 8 items, the lowest bit first: a byte, or 2 bytes for a copy
 *	         of 3 to 18 bytes from one of the last 4096
 */
#include "ole.h"

#include <string.h>

#include "bytes.h"

#define SIGNATURE "Visio (TM) Drawing\r\n"
#define SIGNATURE_LEN 20
#define VERSION_AT 26
#define VERSION 6
#define TRAILER_AT 36
#define HEAD_LEN 54
#define POINTER_LEN 18
#define COMPRESSED 2
#define COMPRESSED_HEAD 4
#define PACKED_MAX ((size_t)4096) /* bytes of a trailer; larger ones are not looked at */
#define TRAILER_MAX ((size_t)16384)
#define WINDOW 4096
#define WINDOW_START 18 /* where the copies' places are counted from */

struct visio {
	uint32_t offset, length, format; /* of the trailer */
	size_t len;
	uint8_t packed[PACKED_MAX], bytes[TRAILER_MAX];
};

static void put(struct visio *visio, uint8_t byte)
{
	if (visio->len < TRAILER_MAX)
		visio->bytes[visio->len++] = byte;
}

/* The byte at a place of the window, into which all bytes were written from its beginning on. */
static uint8_t byte_at(const struct visio *visio, size_t place)
{
	size_t end = visio->len, at = end - end % WINDOW + place;

	if (at < end)
		return visio->bytes[at];
	return at < WINDOW ? 0 : visio->bytes[at - WINDOW]; /* zeros are before the first byte */
}

/* Copies bytes from the window, as two bytes say: a place, and how many. */
static void copy(struct visio *visio, unsigned low, unsigned high)
{
	size_t place = ((high & 0xf0) << 4 | low) + WINDOW_START, count = (high & 15) + 3;

	for (size_t n = 0; n < count; n++)
		put(visio, byte_at(visio, (place + n) % WINDOW));
}

static void unpack(struct visio *visio)
{
	const uint8_t *p = visio->packed;
	size_t at = 0, len = visio->length;

	while (at < len) {
		unsigned flags = p[at++];

		for (unsigned bit = 0; bit < 8 && at < len; bit++) {
			if (flags >> bit & 1) {
				put(visio, p[at++]);
				continue;
			}
			if (len - at < 2)
				return;
			copy(visio, p[at], p[at + 1]);
			at += 2;
		}
	}
}

/* Whether the trailer is a list of pointers into a stream of that length. */
static bool is_list(const struct visio *visio, uint64_t stream_len)
{
	size_t base = visio->format & COMPRESSED ? COMPRESSED_HEAD : 0, list;
	uint32_t count;

	if (visio->len < base + 4 || le32(visio->bytes + base) > visio->len)
		return false;
	list = base + le32(visio->bytes + base);
	if (list + 8 > visio->len)
		return false;
	count = le32(visio->bytes + list);
	if (!count || count > (visio->len - list - 8) / POINTER_LEN)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *p = visio->bytes + list + 8 + (size_t)i * POINTER_LEN;

		if ((uint64_t)le32(p + 8) + le32(p + 12) > stream_len)
			return false;
	}
	return true;
}

void ole_check_visio(struct ole *ole, const struct ole_entry *entry)
{
	struct ole_position position = { .entry = entry };
	struct visio visio = { 0 };
	uint8_t head[HEAD_LEN], *to;

	if (!ole_read(ole, &position, 0, head, HEAD_LEN) ||
		memcmp(head, SIGNATURE, SIGNATURE_LEN) != 0 || head[VERSION_AT] < VERSION)
		return;
	visio.offset = le32(head + TRAILER_AT + 8);
	visio.length = le32(head + TRAILER_AT + 12);
	visio.format = le16(head + TRAILER_AT + 16);
	if (visio.length > PACKED_MAX || visio.offset < HEAD_LEN)
		return;
	to = visio.format & COMPRESSED ? visio.packed : visio.bytes;
	if (ole_read(ole, &position, visio.offset, to, visio.length)) {
		if (visio.format & COMPRESSED)
			unpack(&visio);
		else
			visio.len = visio.length;
		if (is_list(&visio, entry->len)) {
			ole_note_checked(ole, position.sector);
			return;
		}
	}
	ole_contradicts(ole, "no list of the drawing's parts in the sector",
		ole_file_offset(ole, &position, visio.offset));
}
