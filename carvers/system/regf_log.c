/*
 * What follows a transaction log's header: either, up to Windows 8, 'DIRT', a bit for each 512
 * bytes of the hive's bins, and the sectors whose bits are set; or entries: 'HvLE', length, flags,
 * sequence number, length of the bins, number of pages, and two hashes: Marvin32 of the bytes after
 * them, and of the 32 bytes before the second one.
 */
#include "regf.h"

#include <string.h>

#include "bytes.h"
#include "walk.h"

#define ENTRY_HEADER_LEN 40
#define ENTRY_HASHED_LEN 32
#define ENTRY_BITS 32 /* of a hash of 64 */

struct marvin {
	uint32_t low, high;
};

static uint32_t rotate(uint32_t value, int count)
{
	return value << count | value >> (32 - count);
}

static void mix(struct marvin *marvin, uint32_t word)
{
	marvin->low += word;
	marvin->high ^= marvin->low;
	marvin->low = rotate(marvin->low, 20) + marvin->high;
	marvin->high = rotate(marvin->high, 9) ^ marvin->low;
	marvin->low = rotate(marvin->low, 27) + marvin->high;
	marvin->high = rotate(marvin->high, 19);
}

/* The hash of len bytes (a multiple of 4) at `at`; 0 when they are not readable. */
static uint64_t marvin_hash(struct view *view, uint64_t at, uint64_t len)
{
	struct marvin marvin = { .low = 0x7a4e55c5, .high = 0x82ef4d88 };
	const uint8_t *p;
	size_t got;

	for (uint64_t end = at + len; at < end; at += got) {
		p = walk_window(view, at, end, &got);
		if (!p || got % 4)
			return 0;
		for (size_t i = 0; i < got; i += 4)
			mix(&marvin, le32(p + i));
	}
	mix(&marvin, 0x80);
	mix(&marvin, 0);
	return (uint64_t)marvin.high << 32 | marvin.low;
}

static uint64_t entries_end(struct view *view, bool *broken)
{
	uint64_t at = REGF_LOG_HEADER_LEN, of_data, of_header;
	uint32_t number = 0;

	for (;;) {
		const uint8_t *p = view_peek(view, at, ENTRY_HEADER_LEN);
		uint32_t len = p ? le32(p + 4) : 0;

		if (!p || memcmp(p, "HvLE", 4) != 0 || len < 512 || len % 512 ||
			(number && le32(p + 12) != number))
			return at;
		number = le32(p + 12) + 1;
		of_data = le64(p + 24);
		of_header = le64(p + 32);
		*broken =
			marvin_hash(view, at, ENTRY_HASHED_LEN) != of_header ||
			len > view_size(view) - at ||
			marvin_hash(view, at + ENTRY_HEADER_LEN, len - ENTRY_HEADER_LEN) != of_data;
		if (*broken)
			return at;
		view_proved(view, at, at + len, ENTRY_BITS);
		at += len;
	}
}

static uint64_t sectors_end(struct view *view, uint64_t bins_len)
{
	uint64_t map = REGF_LOG_HEADER_LEN + 4, end = map + bins_len / 512 / 8, at, sectors = 0;
	const uint8_t *p = view_peek(view, REGF_LOG_HEADER_LEN, 4);
	size_t len;

	if (!p || memcmp(p, "DIRT", 4) != 0)
		return REGF_LOG_HEADER_LEN;
	for (at = map; at < end; at += len) {
		p = walk_window(view, at, end, &len);
		if (!p)
			return REGF_LOG_HEADER_LEN;
		for (size_t i = 0; i < len; i++)
			sectors += (uint64_t)__builtin_popcount(p[i]);
	}
	at = (end + 511) / 512 * 512 + sectors * 512;
	return at <= view_size(view) ? at : REGF_LOG_HEADER_LEN;
}

uint64_t regf_log_end(struct view *view, uint64_t bins_len, bool *is_hashed, bool *broken)
{
	uint64_t end;

	*broken = false;
	end = entries_end(view, broken);
	*is_hashed = end > REGF_LOG_HEADER_LEN;
	if (end == REGF_LOG_HEADER_LEN && !*broken)
		end = sectors_end(view, bins_len);
	return end;
}
