/*
 * Zoo (R. Dhesi's zoo 2.10, its header file).
 *
 *	file:   header, for each member a directory entry and its data, a last entry
 *	header: text (20 bytes), DC A7 C4 FD, place of the first entry (4 bytes, little-endian), the same negated (4), version (2),
 *		if the first entry is not right after that a type, place and length of a comment (4, 2), 1 byte
 *	entry:  DC A7 C4 FD, type, method, place of the next entry (4; 0: this is the last one, without data), place of the data (4),
 *		date, time (2 each), CRC-16 of the content (2), length, length of the data (4 each), version (2), deleted, 1 byte,
 *		place and length of a comment (4, 2), name (13); in type 2 also the length of what follows (2), zone, CRC-16 of
 *		the entry, its own place zero (2), longer names
 *
 * Each entry leads to the next one, and the last one ends the archive, which comments may follow. Entries of type 2 have a CRC,
 * and a stored member's data, too; packed data are what nothing verifies. Between entry and data are five bytes.
 *
 * Damage. Data is intact if its CRC says so, or another entry follows it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "crc16_arc.h"
#include "dates.h"
#include "walk.h"

#define HEAD_LEN 34
#define LONG_HEAD_LEN 42
#define ENTRY_LEN 51 /* of types 0 and 1 */
#define LONG_ENTRY_LEN 56
#define CRC_AT 54
#define CRC_BITS 16 /* see view_proved */
#define FIRST_MAX 65535
/* Bytes of an entry of type 2: two names of at most 255, and a few more. */
#define VARIABLE_MAX 1024
#define METHOD_MAX 2

static const uint8_t tag[4] = { 0xdc, 0xa7, 0xc4, 0xfd };

struct zoo_entry {
	uint64_t end; /* of the entry itself */
	uint64_t next, data, data_len;
	uint64_t comment_end; /* 0: no comment */
	uint32_t time;
	uint16_t crc;
	bool stored;
};

enum zoo_found { ZOO_FOUND, ZOO_CUT, ZOO_NONE };

/* Where the comment ends whose place and length are at p; 0: there is none. */
static uint64_t comment_end(const uint8_t *p)
{
	return le32(p) && le16(p + 4) ? (uint64_t)le32(p) + le16(p + 4) : 0;
}

/* Whether an entry of type 2 has its CRC. */
static bool valid_crc(const uint8_t *p, size_t len)
{
	static const uint8_t zeros[2];
	uint16_t crc = crc16_arc(crc16_arc(0, p, CRC_AT), zeros, sizeof(zeros));

	return crc16_arc(crc, p + CRC_AT + 2, len - CRC_AT - 2) == le16(p + CRC_AT);
}

/* Reads the entry at `at`. */
static enum zoo_found read_entry(struct view *view, uint64_t at, struct zoo_entry *entry)
{
	const uint8_t *p = view_peek(view, at, ENTRY_LEN);
	size_t len = ENTRY_LEN;

	if (!p)
		return ZOO_CUT;
	if (memcmp(p, tag, sizeof(tag)) != 0 || p[4] > 2 || p[5] > METHOD_MAX || p[30] > 1)
		return ZOO_NONE;
	if (p[4] == 2) {
		p = view_peek(view, at, LONG_ENTRY_LEN);
		if (!p)
			return ZOO_CUT;
		len = LONG_ENTRY_LEN + (size_t)le16(p + ENTRY_LEN);
		if (len > LONG_ENTRY_LEN + VARIABLE_MAX)
			return ZOO_NONE;
		p = view_peek(view, at, len);
		if (!p)
			return ZOO_CUT;
		if (!valid_crc(p, len))
			return ZOO_NONE;
		view_proved(view, at, at + len, CRC_BITS);
	}
	*entry = (struct zoo_entry){ .end = at + len,
		.next = le32(p + 6),
		.data = le32(p + 10),
		.data_len = le32(p + 24),
		.comment_end = comment_end(p + 32),
		.time = (uint32_t)le16(p + 14) << 16 | le16(p + 16),
		.crc = le16(p + 18),
		.stored = p[5] == 0 && le32(p + 20) == le32(p + 24) };
	/* All of the last one but its type is zero, and its CRC. */
	for (size_t i = 5; !entry->next && p[4] < 2 && i < ENTRY_LEN; i++)
		if (p[i])
			return ZOO_NONE;
	if (entry->next && (entry->data < entry->end || entry->next < entry->data ||
				   entry->data_len > entry->next - entry->data))
		return ZOO_NONE;
	return ZOO_FOUND;
}

/* Whether the data are stored ones with their CRC. */
static bool is_verified(struct view *view, const struct zoo_entry *entry)
{
	uint64_t at = entry->data, end = at + entry->data_len;
	uint16_t crc = 0;
	const uint8_t *p;
	size_t len;

	if (!entry->stored)
		return false;
	for (; at < end; at += len) {
		p = walk_window(view, at, end, &len);
		if (!p)
			return false;
		crc = crc16_arc(crc, p, len);
	}
	return crc == entry->crc;
}

/* The verdict on an archive whose last entry ends at `end`. */
static enum verdict judge_whole(struct view *view, struct finding *finding, uint64_t wrong_at,
	uint64_t end, uint64_t comments_end)
{
	finding->length = comments_end > end ? comments_end : end;
	if (finding->length > view_size(view))
		return walk_cut(view, finding, finding->length, end);
	if (wrong_at)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"data at %" PRIu64 " have another CRC", wrong_at);
	if (comments_end > end)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing verifies the comments at %" PRIu64, end);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t size = view_size(view), at = p ? le32(p + 24) : 0, comments_end = 0;
	uint64_t valid_end = 0, wrong_at = 0;
	struct zoo_entry entry;
	enum zoo_found found;

	if (!p || memcmp(p + 20, tag, sizeof(tag)) != 0 || at < HEAD_LEN || at > FIRST_MAX ||
		le32(p + 28) != (uint32_t)-at)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	if (at >= LONG_HEAD_LEN && (p = view_peek(view, 0, LONG_HEAD_LEN)))
		comments_end = comment_end(p + 35);
	view_unverified(view, HEAD_LEN, at);
	while ((found = read_entry(view, at, &entry)) == ZOO_FOUND && entry.next) {
		bool verified;
		int64_t time = dos_seconds(entry.time);

		if (time > finding->time)
			finding->time = time;
		if (entry.comment_end > comments_end)
			comments_end = entry.comment_end;
		valid_end = entry.end;
		if (entry.data + entry.data_len > size)
			return walk_cut_filled(view, finding, size + 1, valid_end);
		verified = is_verified(view, &entry);
		if (verified)
			valid_end = entry.data + entry.data_len;
		else if (entry.stored && !wrong_at)
			wrong_at = entry.data;
		if (entry.stored)
			view_embedded(view, entry.data);
		view_unverified(view, entry.end, verified ? entry.data : entry.next);
		view_unverified(view, entry.data + entry.data_len, entry.next);
		at = entry.next;
	}
	if (found == ZOO_FOUND && valid_end)
		return judge_whole(view, finding, wrong_at, entry.end, comments_end);
	if (!valid_end)
		return verdict_because(
			CARVE_REJECT, finding, "no entry of a member at %" PRIu64, at);
	if (found == ZOO_CUT)
		return walk_cut_filled(view, finding, size + 1, valid_end);
	finding->length = valid_end;
	return verdict_because(CARVE_TRUNCATED, finding, "no entry at %" PRIu64, at);
}

const struct carver zoo_carver = {
	.name = "zoo",
	.summary = "zoo archives, by the chain of their entries",
	.check = check,
};
