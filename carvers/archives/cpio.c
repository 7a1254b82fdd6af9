/*
 * cpio (cpio(5) of BSD, "The Portable ASCII Format", "New ASCII Format", "New CRC Format", "Old
 * Binary Format").
 *
 *	file:   members, a member named TRAILER!!!, zeros up to a multiple of 512 bytes, or of 5,120
 *	member: header, name with its NUL, data; in the new formats each padded to four bytes, in
 *		the binary one to two
 *	header: 070701 or 070702 (with a sum over the data), 13 numbers of 8 hexadecimal digits;
 *		070707, 10 numbers of 6 or 11 octal digits; or 71C7 in either byte order, numbers of
 *		2 or 4 bytes
 *
 * The lengths lead from member to member to the trailer. Each member looks like the start of a
 * file, so it is reported as a part. The time is the newest member's.
 *
 * Damage. Data is intact if another header follows it and its sum matches.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "hex.h"
#include "walk.h"

enum {
	NEW_LEN = 110,
	BINARY_LEN = 26,
	NAME_MAX_LEN = 65535,
	BLOCK_LEN = 512,
	LARGE_BLOCK_LEN = 5120,
	MODE_KIND = 0170000,
	MODE_FILE = 0100000,
};

struct cpio_member {
	uint64_t data, end, next; /* end of the data, and offset of the next header */
	uint64_t name_at, name_len, data_len, time;
	uint32_t sum;
	unsigned unit; /* parts are padded to a multiple of it */
	bool summed;
};

/* A number of len digits in base 8 or 16; false when there are other bytes. */
static bool read_digits(const uint8_t *p, int len, int base, uint64_t *value)
{
	for (*value = 0; len; p++, len--) {
		int digit = hex_digit(*p);

		if (digit < 0 || digit >= base)
			return false;
		*value = *value * (unsigned)base + (unsigned)digit;
	}
	return true;
}

static bool read_new(struct view *view, uint64_t at, struct cpio_member *member)
{
	const uint8_t *p = view_peek(view, at, NEW_LEN);
	uint64_t fields[13];

	if (!p)
		return false;
	for (int i = 0; i < 13; i++)
		if (!read_digits(p + 6 + 8 * i, 8, 16, &fields[i]))
			return false;
	*member = (struct cpio_member){ .unit = 4,
		.time = fields[5],
		.data_len = fields[6],
		.name_at = at + NEW_LEN,
		.name_len = fields[11],
		/* Only files have a sum: GNU's cpio writes 0 for links. */
		.summed = p[5] == '2' && (fields[1] & MODE_KIND) == MODE_FILE,
		.sum = (uint32_t)fields[12] };
	return true;
}

static bool read_octal(struct view *view, uint64_t at, struct cpio_member *member)
{
	const uint8_t *p = view_peek(view, at, 76);
	uint64_t ignored;

	*member = (struct cpio_member){ .unit = 1, .name_at = at + 76 };
	for (int i = 1; p && i < 8; i++)
		if (!read_digits(p + 6 * i, 6, 8, &ignored))
			return false;
	return p && read_digits(p + 48, 11, 8, &member->time) &&
	       read_digits(p + 59, 6, 8, &member->name_len) &&
	       read_digits(p + 65, 11, 8, &member->data_len);
}

static bool read_binary(struct view *view, uint64_t at, struct cpio_member *member)
{
	const uint8_t *p = view_peek(view, at, BINARY_LEN);
	bool big = p && p[0] == 0x71;

	if (!p)
		return false;
	*member = (struct cpio_member){ .unit = 2, .name_at = at + BINARY_LEN };
	member->name_len = big ? be16(p + 20) : le16(p + 20);
	/* The high half of the long numbers comes first in either order. */
	member->time = big ? be32(p + 16) : (uint32_t)le16(p + 16) << 16 | le16(p + 18);
	member->data_len = big ? be32(p + 22) : (uint32_t)le16(p + 22) << 16 | le16(p + 24);
	return true;
}

static uint64_t pad(const struct cpio_member *member, uint64_t start, uint64_t at)
{
	return at + (member->unit - (at - start) % member->unit) % member->unit;
}

/* Whether the name ends with its only NUL. */
static bool possible_name(struct view *view, const struct cpio_member *member)
{
	const uint8_t *p = member->name_len && member->name_len <= NAME_MAX_LEN
				   ? view_peek(view, member->name_at, member->name_len)
				   : NULL;

	return p && memchr(p, 0, member->name_len) == p + member->name_len - 1 &&
	       member->name_len > 1;
}

/* Reads the header at `at`; false when there is none, or it is not readable. */
static bool read_header(struct view *view, uint64_t at, struct cpio_member *member)
{
	const uint8_t *p = view_peek(view, at, 6);
	bool found;

	if (!p)
		return false;
	if (memcmp(p, "07070", 5) == 0 && (p[5] == '1' || p[5] == '2'))
		found = read_new(view, at, member);
	else if (memcmp(p, "070707", 6) == 0)
		found = read_octal(view, at, member);
	else if ((p[0] == 0xc7 && p[1] == 0x71) || (p[0] == 0x71 && p[1] == 0xc7))
		found = read_binary(view, at, member);
	else
		return false;
	if (!found || !possible_name(view, member))
		return false;
	/* In the binary format the name's padding counts from its own start; all other formats have
	 * even headers. */
	member->data = pad(member, at, member->name_at + member->name_len);
	member->end = member->data + member->data_len;
	member->next = pad(member, at, member->end);
	return true;
}

static bool sum_agrees(struct view *view, const struct cpio_member *member)
{
	const uint8_t *window;
	uint32_t sum = 0;
	size_t len;

	for (uint64_t at = member->data; at < member->end; at += len) {
		window = walk_window(view, at, member->end, &len);
		if (!window)
			return false;
		for (size_t i = 0; i < len; i++)
			sum += window[i];
	}
	return sum == member->sum;
}

static bool is_trailer(struct view *view, const struct cpio_member *member)
{
	const uint8_t *p = member->name_len == 11 ? view_peek(view, member->name_at, 11) : NULL;

	return p && memcmp(p, "TRAILER!!!", 11) == 0 && !member->data_len;
}

/* The end of the zeros that fill a block from `at` on, or `at`. */
static uint64_t end_of_block(struct view *view, uint64_t at, uint64_t block_len)
{
	uint64_t end = (at + block_len - 1) / block_len * block_len;
	size_t len = (size_t)(end - at);
	const uint8_t *p = view_peek(view, at, len);

	return p && len && !p[0] && memcmp(p, p + 1, len - 1) == 0 ? end : at;
}

/* The end of the file whose trailer ends at `at`. Zeros that continue after a large block are not
 * padding. */
static uint64_t file_end(struct view *view, uint64_t at)
{
	uint64_t end = end_of_block(view, at, LARGE_BLOCK_LEN);
	const uint8_t *p = end > at ? view_peek(view, end, 1) : NULL;

	return end > at && (!p || *p) ? end : end_of_block(view, at, BLOCK_LEN);
}

/* The verdict when no member can be read at `at`. */
static enum verdict judge_damage(
	struct view *view, struct finding *finding, const struct cpio_member *last, uint64_t at)
{
	uint64_t size = view_size(view), valid_end = last->data < size ? last->data : size;

	if (last->end > size || size - at < NEW_LEN)
		return walk_cut_filled(view, finding, size + 1, valid_end);
	finding->length = valid_end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "no header at %" PRIu64 ", or a wrong sum before it", at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, size = view_size(view);
	struct cpio_member member, last = { 0 };

	for (; read_header(view, at, &member); at = last.next) {
		if (at)
			view_part(view, at);
		if (at && is_trailer(view, &member)) {
			at = member.next < size ? member.next : size;
			finding->length = file_end(view, at);
			if (finding->length > at &&
				walk_zeros(view, finding->length, finding->length + 1))
				return verdict_because(CARVE_COMPLETE, finding,
					"which of the zeros from %" PRIu64
					" on belong to it is a guess",
					at);
			return CARVE_COMPLETE;
		}
		last = member;
		if (last.end > last.data) {
			view_embedded(view, last.data);
			if (!last.summed)
				view_unverified(view, last.data, last.end);
		}
		if (last.end > size || (last.summed && !sum_agrees(view, &last))) {
			at = last.next;
			break;
		}
		if ((int64_t)last.time > finding->time)
			finding->time = (int64_t)last.time;
	}
	/* One binary header is too weak. */
	if (!last.data || (last.unit == 2 && at == last.next && last.name_at == BINARY_LEN))
		return verdict_because(
			CARVE_REJECT, finding, "no header, or no member after it, at 0");
	return judge_damage(view, finding, &last, at < size ? at : size);
}

const struct carver cpio_carver = {
	.name = "cpio",
	.summary = "cpio archives of all variants, by walking their members",
	.check = check,
};
