/*
 * OpenPGP (RFC 9580): keys, messages and signatures, in armour or binary.
 *
 *	armour: a block (armour.h) whose data has a CRC-24, which newer programs leave out; a signed
 *		message is text, then the signature's block
 *	packet: a byte: highest bit, then the old form (bit 6 clear: type, number of bytes of the
 *		length) or the new one (type; length of 1, 2 or 5 bytes, or a part's); data
 *
 * A key ring, binary or in armour, starts with a key: version 3 to 6, a time of creation, an
 * algorithm; user names, signatures and subkeys follow. A binary ring ends where no packet of these
 * types starts, which is a guess.
 *
 * An encrypted message has packets with keys for it, then a packet of encrypted data, whose length is stated, mostly part by
 * part: 224 and more for 2 to the power of the lower five bits, and parts follow up to one of another length. Nothing
 * but the key verifies it.
 *
 * A signed message is compressed (deflate, zlib or bzip2, to the end of its stream, as a length of its own is not known), or as it is:
 * heads of signatures, a packet of literal data, as many signatures. Compressed ones have to be packets again, the last of
 * which ends with the stream. A signature alone has fields and numbers that fill it; one of a message names the key that the
 * head names, which shows that it was reached.
 *
 * The title is the first user's name, the time that of the key's creation.
 */
#include <inttypes.h>
#include <string.h>

#include "armour.h"
#include "bytes.h"
#include "compressed.h"
#include "inflated.h"
#include "noise.h"
#include "title.h"
#include "walk.h"

enum {
	ENCRYPTED_KEY = 1,
	SIGNATURE = 2,
	SYMMETRIC_KEY = 3,
	ONE_PASS = 4,
	SECRET_KEY = 5,
	PUBLIC_KEY = 6,
	SECRET_SUBKEY = 7,
	COMPRESSED = 8,
	MARKER = 10,
	LITERAL = 11,
	TRUST = 12,
	USER_ID = 13,
	PUBLIC_SUBKEY = 14,
	ATTRIBUTE = 17,
	PROTECTED_DATA = 18,
	AEAD_DATA = 20,
	PADDING = 21
};

#define PACKET_MAX_LEN (1u << 22)
#define KEY_MAX_LEN 4096
#define KEYS_MAX 1024
#define FIRST_PART_MIN 512

struct pgp_packet {
	unsigned kind;
	uint64_t data, len; /* data counts from the packet's start */
};

/* How many bytes a new packet's length has, by its first byte. */
static size_t length_width(uint8_t byte)
{
	return byte < 192 || (byte >= 224 && byte < 255) ? 1 : byte < 224 ? 2 : 5;
}

static uint64_t length_value(const uint8_t *p, bool *more)
{
	*more = *p >= 224 && *p < 255;
	if (*more)
		return UINT64_C(1) << (*p & 31);
	return *p < 192 ? *p : *p < 224 ? (uint64_t)((p[0] - 192) << 8) + p[1] + 192 : be32(p + 1);
}

/* By the first byte of a packet. */
static unsigned packet_kind(uint8_t byte)
{
	return byte & 0x40 ? byte & 0x3f : byte >> 2 & 15;
}

/* Reads a packet's head; false when there is none of a known length. */
static bool read_head(const uint8_t *p, size_t len, struct pgp_packet *packet)
{
	bool more;

	if (len < 2 || !(p[0] & 0x80))
		return false;
	packet->kind = packet_kind(p[0]);
	if (p[0] & 0x40) {
		packet->data = 1 + length_width(p[1]);
		if (len < packet->data)
			return false;
		packet->len = length_value(p + 1, &more);
		return !more;
	}
	packet->data = (p[0] & 3) == 0 ? 2 : (p[0] & 3) == 1 ? 3 : 5;
	if ((p[0] & 3) == 3 || len < packet->data)
		return false;
	packet->len = packet->data == 2 ? p[1] : packet->data == 3 ? be16(p + 1) : be32(p + 1);
	return true;
}

/* Whether the first bytes of a packet's data are possible for its type. */
static bool possible_data(const struct pgp_packet *packet, const uint8_t *p, size_t len)
{
	switch (packet->kind) {
	case SECRET_KEY:
	case PUBLIC_KEY:
	case SECRET_SUBKEY:
	case PUBLIC_SUBKEY:
		return len >= 8 && p[0] >= 2 && p[0] <= 6 && p[p[0] < 4 ? 7 : 5] <= 28;
	case SIGNATURE:
		return len >= 8 && p[0] >= 2 && p[0] <= 6;
	case USER_ID:
		for (size_t i = 0; i < len; i++)
			if (p[i] < 0x20)
				return false;
		return len > 0;
	case ATTRIBUTE:
	case TRUST:
	case MARKER:
	case PADDING:
		return len > 0;
	}
	return false;
}

static void read_details(
	const struct pgp_packet *packet, const uint8_t *p, size_t len, struct finding *finding)
{
	if (packet->kind == USER_ID && !finding->title[0])
		finding_set_title(finding, p, len);
	if ((packet->kind == PUBLIC_KEY || packet->kind == SECRET_KEY) && !finding->time)
		finding->time = be32(p + 1);
}

static bool is_key(unsigned kind)
{
	return kind == PUBLIC_KEY || kind == SECRET_KEY;
}

/* Reads title and time from a ring's packets in memory, as far as they are there. */
static void read_ring(const uint8_t *p, size_t len, struct finding *finding)
{
	struct pgp_packet packet;

	while (read_head(p, len, &packet) && packet.len <= len - packet.data) {
		if (!possible_data(&packet, p + packet.data, (size_t)packet.len))
			break;
		read_details(&packet, p + packet.data, (size_t)packet.len, finding);
		p += packet.data + packet.len;
		len -= (size_t)(packet.data + packet.len);
	}
}

static enum verdict check_ring(struct view *view, struct finding *finding)
{
	uint64_t at = 0, size = view_size(view), count = 0;
	bool cut = false;

	while (at < size) {
		size_t look = size - at < 256 ? (size_t)(size - at) : 256, len;
		const uint8_t *p = view_peek(view, at, look);
		struct pgp_packet packet;

		if (!p || !read_head(p, look, &packet) || packet.len > PACKET_MAX_LEN ||
			(!count && !is_key(packet.kind)))
			break;
		len = look - (size_t)packet.data;
		if (len > packet.len)
			len = (size_t)packet.len;
		if (!possible_data(&packet, p + packet.data, len))
			break;
		cut = packet.len > size - at - packet.data;
		if (cut)
			break;
		if (is_key(packet.kind) && at)
			view_part(view, at);
		read_details(&packet, p + packet.data, len, finding);
		at += packet.data + packet.len;
		count++;
	}
	if (count < 2) {
		finding->title[0] = 0;
		finding->time = 0;
		return verdict_because(
			CARVE_REJECT, finding, "no key ring: no packet at %" PRIu64, at);
	}
	finding->extension = "gpg";
	if (cut && view_ends_with_image(view))
		return walk_cut(view, finding, size + 1, size);
	finding->length = at;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"no packet starts at %" PRIu64 ", and the number of packets is not stored", at);
}

/* The length of the part of a packet in the new form whose length is at *at, which moves after it; *more: another part
 * follows. False: the view ends. */
static bool read_part(struct view *view, uint64_t *at, uint64_t *len, bool *more)
{
	const uint8_t *p = view_peek(view, *at, 1);
	size_t width = p ? length_width(*p) : 1;

	p = view_peek(view, *at, width);
	if (!p)
		return false;
	*len = length_value(p, more);
	*at += width;
	return true;
}

/* Where the packets with a message's keys end; 0: there are none, or none of a known version. */
static uint64_t skip_keys(struct view *view)
{
	uint64_t at = 0;

	for (int i = 0; i < KEYS_MAX; i++) {
		const uint8_t *p = view_peek(view, at, 8);
		struct pgp_packet packet;

		if (p && packet_kind(*p) > SYMMETRIC_KEY)
			return at;
		if (!p || !read_head(p, 8, &packet) ||
			(packet.kind != ENCRYPTED_KEY && packet.kind != SYMMETRIC_KEY))
			return 0;
		p += packet.data;
		if (packet.len < 4 || packet.len > KEY_MAX_LEN ||
			(packet.kind == ENCRYPTED_KEY ? *p != 3 && *p != 6 : *p < 4 || *p > 6))
			return 0;
		at += packet.data + packet.len;
	}
	return 0;
}

static enum verdict check_message(struct view *view, struct finding *finding)
{
	uint64_t keys_end = skip_keys(view), at = keys_end + 1, len, start, plain;
	const uint8_t *p = keys_end ? view_peek(view, keys_end, 1) : NULL;
	unsigned kind = p && *p >> 6 == 3 ? *p & 0x3f : 0;
	bool more;

	if ((kind != PROTECTED_DATA && kind != AEAD_DATA) || !read_part(view, &at, &len, &more) ||
		(more && len < FIRST_PART_MIN) || !(p = view_peek(view, at, 1)) || *p < 1 || *p > 2)
		return verdict_because(CARVE_REJECT, finding, "no keys and encrypted data at 0");
	finding->extension = "gpg";
	for (start = at;;) {
		if (len > view_size(view) - at)
			return walk_cut(
				view, finding, at + len, plain_start(view, start, view_size(view)));
		at += len;
		if (!more)
			break;
		if (!read_part(view, &at, &len, &more))
			return walk_cut(view, finding, at + 1, at);
	}
	finding->length = plain = plain_start(view, start, at);
	if (plain < at)
		return verdict_because(
			CARVE_TRUNCATED, finding, "bytes at %" PRIu64 " are not encrypted", plain);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"only the key verifies the encrypted bytes up to %" PRIu64, at);
}

/* Packets one after another, as they come out of a compressed one. */
struct pgp_stream {
	uint64_t left;  /* bytes of the packet, or the part, that are still to come */
	bool more;      /* parts follow */
	bool head_open; /* the head, or a part's length, is in `head` as far as it came */
	bool bad, literal;
	unsigned count;
	uint8_t head[6];
	size_t head_len;
};

static bool message_packet(unsigned kind)
{
	return kind == SIGNATURE || kind == ONE_PASS || kind == LITERAL || kind == MARKER ||
	       kind == ENCRYPTED_KEY || kind == SYMMETRIC_KEY || kind == PROTECTED_DATA;
}

/* Takes a byte of a head or of a part's length; false: they are not valid. */
static bool stream_head(struct pgp_stream *stream, uint8_t byte)
{
	const uint8_t *head = stream->head;
	struct pgp_packet packet;
	unsigned kind;

	if (stream->head_len == sizeof(stream->head))
		return false;
	stream->head[stream->head_len++] = byte;
	if (stream->more) {
		if (stream->head_len < length_width(head[0]))
			return true;
		stream->left = length_value(head, &stream->more);
		stream->head_len = 0;
		return true;
	}
	kind = packet_kind(head[0]);
	if (!(head[0] & 0x80) || !message_packet(kind))
		return false;
	if (head[0] & 0x40) {
		if (stream->head_len < 2 || stream->head_len < 1 + length_width(head[1]))
			return true;
		stream->left = length_value(head + 1, &stream->more);
	} else {
		if ((head[0] & 3) == 3)
			return false;
		if (!read_head(head, stream->head_len, &packet))
			return true;
		stream->left = packet.len;
	}
	stream->literal |= kind == LITERAL || kind == PROTECTED_DATA;
	stream->count++;
	stream->head_len = 0;
	return true;
}

static bool stream_add(void *context, const uint8_t *bytes, size_t len)
{
	struct pgp_stream *stream = context;

	while (len && !stream->bad) {
		if (stream->left) {
			size_t take = stream->left < len ? (size_t)stream->left : len;

			stream->left -= take;
			bytes += take;
			len -= take;
		} else {
			stream->bad = !stream_head(stream, *bytes++);
			len--;
		}
	}
	return !stream->bad;
}

/* A compressed packet in the old form, whose length is that of its stream. */
static enum verdict check_compressed(struct view *view, struct finding *finding)
{
	struct pgp_stream packets = { 0 };
	struct inflated inflated = { .inspect = stream_add, .context = &packets };
	const uint8_t *p = view_peek(view, 0, 2);
	uint8_t method = p ? p[1] : 0;
	uint64_t at = 2;
	bool done;

	if (method == 3) {
		struct compressed stream;
		enum compressed_state state =
			compressed_walk(view, COMPRESSED_BZIP2, at, view_size(view), &stream);

		/* Its first packets; the checksums are of all of it. */
		if (state == COMPRESSED_REFUSED || !stream.head_len ||
			!stream_add(&packets, stream.head, stream.head_len) || !packets.count)
			return verdict_because(CARVE_REJECT, finding, "no compressed packets at 2");
		packets = (struct pgp_stream){ .literal = true };
		done = state == COMPRESSED_DONE;
		at = stream.end;
	} else if (method == 1 || method == 2) {
		done = inflated_walk(&inflated, view, method == 1 ? INFLATED_RAW : INFLATED_ZLIB,
			       &at, view_size(view)) == INFLATED_DONE;
	} else {
		return verdict_because(CARVE_REJECT, finding, "no kind of compression at 1");
	}
	if ((!done && packets.count < 2 && method != 3) || !packets.literal)
		return verdict_because(CARVE_REJECT, finding, "no compressed packets at 2");
	finding->extension = "gpg";
	if (done && (packets.left || packets.head_len || packets.more))
		return verdict_because(
			CARVE_REJECT, finding, "compressed packets end with none at %" PRIu64, at);
	finding->length = at;
	if (done)
		return CARVE_COMPLETE;
	if (at >= view_size(view))
		return walk_cut(view, finding, at + 1, at);
	return verdict_because(
		CARVE_TRUNCATED, finding, "compressed data is invalid at %" PRIu64, at);
}

/* Whether a signature of version 4 has fields and numbers that fill it. */
static bool valid_signature(const uint8_t *p, size_t len)
{
	size_t at = 6, hashed;

	if (len < 14 || p[0] != 4 ||
		!((p[2] >= 1 && p[2] <= 3) || p[2] == 17 || p[2] == 19 || p[2] == 22))
		return false;
	hashed = be16(p + 4);
	if (hashed > len - 10)
		return false;
	at += hashed;
	at += 2 + (size_t)be16(p + at) + 2;
	if (at >= len)
		return false;
	while (at + 2 <= len)
		at += 2 + ((size_t)be16(p + at) + 7) / 8;
	return at == len;
}

/* Signatures one after another from `at` on: where they end, and how many they are. key: eight bytes that each has to have, or NULL. */
static uint64_t skip_signatures(struct view *view, uint64_t at, const uint8_t *key, unsigned *count)
{
	for (*count = 0;; ++*count) {
		uint64_t size = view_size(view);
		size_t look = at < size && size - at < 6 ? (size_t)(size - at) : 6;
		const uint8_t *p = view_peek(view, at, look);
		struct pgp_packet packet;

		if (!p || !read_head(p, look, &packet) || packet.kind != SIGNATURE ||
			packet.len > KEY_MAX_LEN)
			return at;
		p = view_peek(view, at + packet.data, (size_t)packet.len);
		if (!p || !valid_signature(p, (size_t)packet.len) ||
			(key && !memmem(p, (size_t)packet.len, key, 8)))
			return at;
		if (*count)
			view_part(view, at);
		at += packet.data + packet.len;
	}
}

/* A signature alone, or several. */
static enum verdict check_signatures(struct view *view, struct finding *finding)
{
	unsigned count;
	uint64_t end = skip_signatures(view, 0, NULL, &count);

	if (!count)
		return verdict_because(CARVE_REJECT, finding, "no signature at 0");
	finding->extension = "sig";
	finding->length = end;
	return CARVE_COMPLETE;
}

/* A signed message as it is: heads of signatures, literal data, the signatures. */
static enum verdict check_signed(struct view *view, struct finding *finding)
{
	uint64_t at = 0, len, data;
	unsigned heads = 0, count;
	const uint8_t *p;
	uint8_t key[8];
	bool more;

	while ((p = view_peek(view, at, 15)) && (*p == 0x90 || *p == 0xc4) && p[1] == 13 &&
		p[2] == 3 && heads < 64) {
		memcpy(key, p + 6, sizeof(key));
		heads++;
		at += 15;
		if (p[14] == 1)
			break;
	}
	p = heads ? view_peek(view, at, 6) : NULL;
	if (!p || packet_kind(*p) != LITERAL || !(*p & 0x80) || (!(*p & 0x40) && (*p & 3) == 3))
		return verdict_because(CARVE_REJECT, finding, "no signed data at 0");
	if (*p & 0x40) {
		at++;
		if (!read_part(view, &at, &len, &more))
			return verdict_because(CARVE_REJECT, finding, "no signed data at 0");
	} else {
		struct pgp_packet packet;

		read_head(p, 6, &packet);
		at += packet.data;
		len = packet.len;
		more = false;
	}
	p = view_peek(view, at, 1);
	if (!p || !strchr("btulm1", *p) || !*p)
		return verdict_because(
			CARVE_REJECT, finding, "no kind of literal data at %" PRIu64, at);
	finding->extension = "gpg";
	for (data = at;;) {
		if (len > view_size(view) - at)
			return walk_cut(view, finding, at + len, data);
		at += len;
		if (!more)
			break;
		if (!read_part(view, &at, &len, &more))
			return walk_cut(view, finding, at + 1, data);
	}
	finding->length = skip_signatures(view, at, heads == 1 ? key : NULL, &count);
	if (count >= heads)
		return CARVE_COMPLETE;
	finding->length = data;
	return verdict_because(
		CARVE_TRUNCATED, finding, "no signature of the data at %" PRIu64, at);
}

/* The end of a signed message's text: where its signature's block opens, or where text ends. */
static uint64_t skip_text(struct view *view, uint64_t at, bool *found)
{
	struct line line;
	char label[64];

	*found = false;
	while (line_read(view, at, &line)) {
		if (armour_opens(&line, label) && strcmp(label, "PGP SIGNATURE") == 0) {
			*found = true;
			break;
		}
		at = line.text_end;
		if (!line.ended)
			break;
	}
	return at;
}

/* The end of more blocks of the kind that follow the one that ends at `at`. At a sector another file begins. */
static uint64_t more_blocks(struct view *view, const char *label, uint64_t at)
{
	struct armour next;

	while (at % SECTOR && armour_read(view, at, &next) && next.closed && !next.crc_wrong &&
		next.data_len && strcmp(next.label, label) == 0) {
		view_part(view, at);
		at = next.valid_end;
	}
	return at;
}

static enum verdict check_armour(struct view *view, struct finding *finding)
{
	struct armour armour;
	uint64_t at = 0;
	struct line line;
	bool found = true;
	char label[64];

	if (!line_read(view, 0, &line) || !armour_opens(&line, label))
		return verdict_because(CARVE_REJECT, finding, "no block at 0");
	if (strcmp(label, "PGP SIGNED MESSAGE") == 0)
		at = skip_text(view, line.next, &found);
	if (at)
		view_part(view, at);
	if (found)
		armour_read(view, at, &armour);
	finding->length = found ? armour.valid_end : at;
	finding->extension = "asc";
	if (!found || (!armour.closed && !armour.open_line) || !armour.data_len) {
		if (found && !armour.data_lines && !at) {
			finding->length = 0;
			return verdict_because(
				CARVE_REJECT, finding, "no base64 after the line at 0");
		}
		return verdict_because(CARVE_TRUNCATED, finding,
			"neither base64 nor the last line at %" PRIu64, finding->length);
	}
	if (strstr(label, "KEY BLOCK"))
		read_ring(armour.head,
			armour.data_len < ARMOUR_HEAD ? (size_t)armour.data_len : ARMOUR_HEAD,
			finding);
	if (armour.crc_wrong)
		return verdict_because(CARVE_TRUNCATED, finding,
			"the CRC before %" PRIu64 " is wrong", finding->length);
	if (armour.open_line)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last line has no end at %" PRIu64, finding->length);
	if (!at)
		finding->length = more_blocks(view, label, finding->length);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 8);
	struct pgp_packet packet;

	if (!p || !(*p & 0x80))
		return check_armour(view, finding);
	if (*p == (0x80 | COMPRESSED << 2 | 3))
		return check_compressed(view, finding);
	if (!read_head(p, 8, &packet))
		return verdict_because(CARVE_REJECT, finding, "no packet at 0");
	switch (packet.kind) {
	case ENCRYPTED_KEY:
	case SYMMETRIC_KEY:
		return check_message(view, finding);
	case SIGNATURE:
		return check_signatures(view, finding);
	case ONE_PASS:
		return check_signed(view, finding);
	}
	return check_ring(view, finding);
}

const struct carver pgp_carver = {
	.name = "pgp",
	.summary = "OpenPGP keys and messages in armour, key rings, signatures, encrypted and "
		   "signed messages",
	.check = check,
};
