/*
 * RAR 5's packing (as described by RARLAB's UnRAR and by libarchive): blocks of whole bytes, each with a checksum of its length. A block may begin with
 * four codes, whose lengths are packed with a fifth one, or keeps those before: of bytes, repetitions and filters; of
 * distances; of the lowest four bits of long distances; of the lengths of repetitions at one of the last four distances.
 * Filters change parts of what was unpacked: programs' addresses are made relative again, or differences summed.
 */
#include "rar5_unpack.h"

#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "cursor_bits.h"
#include "symbol_code.h"

enum {
	LENS = 20,
	MAIN = 306,
	DISTANCES = 64,
	LOW_DISTANCES = 16,
	REPEATS = 44,
	ALL = MAIN + DISTANCES + LOW_DISTANCES + REPEATS,
	FILTER = 256,
	AGAIN,     /* the last length and distance */
	OLD_FIRST, /* of four distances */
	NEW_FIRST = 262,
	BLOCK_SUM = 0x5a,
	LAST_BLOCK = 0x40,
	HAS_CODES = 0x80,
	FILTERS_MAX = 8192,
	WORK_EVERY = 1024,
	WORK = 2,         /* units that a symbol takes... */
	OUTPUT_UNIT = 16, /* ...and as many bytes that come take one */
	FILTER_PART = 4   /* bytes that a filter changes for a unit */
};

enum filter_kind { DELTA, CALLS, CALLS_JUMPS, ARM };

#define ADDRESSES UINT32_C(0x1000000) /* that calls are converted for */

struct filter {
	uint64_t from, len;
	uint8_t kind, channels;
};

struct unpacker {
	struct view *view;
	struct cursor_bits bits;
	uint64_t block_end; /* in bits */
	bool is_last, has_codes;
	struct symbol_code main, distances, low_distances, repeats;
	uint32_t old[4], last_len; /* distances */
	uint8_t *plain;
	uint64_t done, len;
	struct filter *filters;
	size_t filter_count, filter_room;
};

static bool build_code(struct symbol_code *code, const uint8_t *lens, unsigned count)
{
	return symbol_code_build(code, lens, count) <= SYMBOL_CODE_FULL;
}

static uint32_t take(struct unpacker *unpacker, int count)
{
	return cursor_bits_take(&unpacker->bits, count);
}

static bool read_lens_code(struct unpacker *unpacker, struct symbol_code *code)
{
	uint8_t lens[LENS] = { 0 };

	for (unsigned i = 0; i < LENS; i++) {
		unsigned len = take(unpacker, 4), zeros = len == 15 ? take(unpacker, 4) : 0;

		if (zeros)
			i += zeros + 1;
		else
			lens[i] = (uint8_t)len;
	}
	return build_code(code, lens, LENS);
}

static bool read_codes(struct unpacker *unpacker)
{
	uint8_t lens[ALL + 1] = { 0 };
	struct symbol_code code;

	if (!read_lens_code(unpacker, &code))
		return false;
	for (unsigned i = 0; i < ALL;) {
		int symbol = symbol_code_read(&code, &unpacker->bits);
		unsigned count;

		if (symbol < 0 || (!i && symbol > 15 && symbol < 18))
			return false;
		if (symbol < 16) {
			lens[i++] = (uint8_t)symbol;
			continue;
		}
		count = symbol % 2 ? take(unpacker, 7) + 11 : take(unpacker, 3) + 3;
		for (; count && i < ALL; count--, i++)
			lens[i] = symbol < 18 ? lens[i - 1] : 0;
	}
	return build_code(&unpacker->main, lens, MAIN) &&
	       build_code(&unpacker->distances, lens + MAIN, DISTANCES) &&
	       build_code(&unpacker->low_distances, lens + MAIN + DISTANCES, LOW_DISTANCES) &&
	       build_code(&unpacker->repeats, lens + MAIN + DISTANCES + LOW_DISTANCES, REPEATS);
}

static bool begin_block(struct unpacker *unpacker)
{
	unsigned flags, count, sum;
	uint32_t len = 0;

	take(unpacker, (int)(-cursor_bits_at(&unpacker->bits) % 8));
	flags = take(unpacker, 8);
	count = (flags >> 3 & 3) + 1;
	sum = take(unpacker, 8);
	for (unsigned i = 0; i < count; i++)
		len |= take(unpacker, 8) << 8 * i;
	if (count > 3 || !len || (BLOCK_SUM ^ flags ^ len ^ len >> 8 ^ len >> 16 ^ sum) & 0xff)
		return false;
	unpacker->block_end =
		cursor_bits_at(&unpacker->bits) + 8 * (uint64_t)(len - 1) + (flags & 7) + 1;
	unpacker->is_last = flags & LAST_BLOCK;
	if (flags & HAS_CODES)
		unpacker->has_codes = read_codes(unpacker);
	return unpacker->has_codes;
}

static uint32_t read_number(struct unpacker *unpacker)
{
	unsigned count = take(unpacker, 2) + 1;
	uint32_t number = 0;

	for (unsigned i = 0; i < count; i++)
		number |= take(unpacker, 8) << 8 * i;
	return number;
}

static bool read_filter(struct unpacker *unpacker)
{
	struct filter *filter;

	if (unpacker->filter_count == unpacker->filter_room) {
		size_t room = unpacker->filter_room ? 2 * unpacker->filter_room : 16;

		if (room > FILTERS_MAX)
			return false;
		filter = realloc(unpacker->filters, room * sizeof(*filter));
		if (!filter) {
			view_no_memory(unpacker->view);
			return false;
		}
		unpacker->filters = filter;
		unpacker->filter_room = room;
	}
	filter = &unpacker->filters[unpacker->filter_count++];
	filter->from = unpacker->done + read_number(unpacker);
	filter->len = read_number(unpacker);
	filter->kind = (uint8_t)take(unpacker, 3);
	filter->channels = filter->kind == DELTA ? (uint8_t)(take(unpacker, 5) + 1) : 0;
	return filter->kind <= ARM && filter->from <= unpacker->len &&
	       filter->len <= unpacker->len - filter->from;
}

static bool repeat(struct unpacker *unpacker, uint32_t len, uint32_t distance)
{
	if (distance > unpacker->done || len > unpacker->len - unpacker->done)
		return false;
	unpacker->last_len = len;
	for (; len--; unpacker->done++)
		unpacker->plain[unpacker->done] = unpacker->plain[unpacker->done - distance];
	return true;
}

static uint32_t read_len(struct unpacker *unpacker, unsigned slot)
{
	int bits = slot < 8 ? 0 : (int)slot / 4 - 1;

	return 2 + (slot < 8 ? slot : (4 | (slot & 3)) << bits) + take(unpacker, bits);
}

/* Of a distance that is not one of the last; 0: the code is invalid. */
static uint32_t read_distance(struct unpacker *unpacker)
{
	int slot = symbol_code_read(&unpacker->distances, &unpacker->bits), low;
	int bits = slot < 4 ? 0 : slot / 2 - 1;
	uint32_t distance;

	if (slot < 4)
		return (uint32_t)(slot + 1);
	distance = 1 + ((uint32_t)(2 | (slot & 1)) << bits);
	if (bits < 4)
		return distance + take(unpacker, bits);
	distance += take(unpacker, bits - 4) << 4;
	low = symbol_code_read(&unpacker->low_distances, &unpacker->bits);
	return low < 0 ? 0 : distance + (uint32_t)low;
}

static bool repeat_new(struct unpacker *unpacker, unsigned slot)
{
	uint32_t len = read_len(unpacker, slot), distance = read_distance(unpacker);

	len += (distance > 0x100) + (distance > 0x2000) + (distance > 0x40000);
	memmove(unpacker->old + 1, unpacker->old, 3 * sizeof(*unpacker->old));
	unpacker->old[0] = distance;
	return distance && repeat(unpacker, len, distance);
}

static bool repeat_old(struct unpacker *unpacker, unsigned index)
{
	uint32_t distance = unpacker->old[index];
	int slot = symbol_code_read(&unpacker->repeats, &unpacker->bits);

	memmove(unpacker->old + 1, unpacker->old, index * sizeof(*unpacker->old));
	unpacker->old[0] = distance;
	return slot >= 0 && distance &&
	       repeat(unpacker, read_len(unpacker, (unsigned)slot), distance);
}

/* The next symbol of the block, and what it yields. */
static bool take_symbol(struct unpacker *unpacker)
{
	int symbol = symbol_code_read(&unpacker->main, &unpacker->bits);

	if (symbol < 0)
		return false;
	if (symbol < FILTER) {
		if (unpacker->done == unpacker->len)
			return false;
		unpacker->plain[unpacker->done++] = (uint8_t)symbol;
		return true;
	}
	if (symbol == FILTER)
		return read_filter(unpacker);
	if (symbol == AGAIN)
		return !unpacker->last_len ||
		       repeat(unpacker, unpacker->last_len, unpacker->old[0]);
	return symbol < NEW_FIRST ? repeat_old(unpacker, (unsigned)symbol - OLD_FIRST)
				  : repeat_new(unpacker, (unsigned)symbol - NEW_FIRST);
}

static bool is_past_end(const struct unpacker *unpacker)
{
	return cursor_bits_ran_out(&unpacker->bits);
}

/* All blocks. *is_spent: the work is. */
static bool unpack_blocks(struct unpacker *unpacker, bool *is_spent)
{
	unsigned symbols = 0;
	uint64_t counted = 0;

	do {
		if (!begin_block(unpacker) || is_past_end(unpacker))
			return false;
		while (cursor_bits_at(&unpacker->bits) < unpacker->block_end) {
			if (!take_symbol(unpacker) || is_past_end(unpacker))
				return false;
			if (++symbols % WORK_EVERY)
				continue;
			*is_spent = !view_work(unpacker->view,
				WORK * WORK_EVERY + (unpacker->done - counted) / OUTPUT_UNIT);
			counted = unpacker->done;
			if (*is_spent)
				return false;
		}
		if (cursor_bits_at(&unpacker->bits) != unpacker->block_end)
			return false;
	} while (!unpacker->is_last);
	return unpacker->done == unpacker->len;
}

static void undo_calls(uint8_t *p, uint64_t len, uint64_t offset, bool jumps)
{
	for (uint64_t at = 0; at + 4 < len;) {
		uint8_t byte = p[at++];
		uint32_t here = (uint32_t)((at + offset) % ADDRESSES), address;

		if (byte != 0xe8 && !(jumps && byte == 0xe9))
			continue;
		address = le32(p + at);
		if (address >> 31) {
			if (!((address + here) >> 31))
				put_le(p + at, address + ADDRESSES, 4);
		} else if ((address - ADDRESSES) >> 31) {
			put_le(p + at, address - here, 4);
		}
		at += 4;
	}
}

static void undo_arm(uint8_t *p, uint64_t len, uint64_t offset)
{
	for (uint64_t at = 0; at + 3 < len; at += 4)
		if (p[at + 3] == 0xeb) {
			uint32_t address = le32(p + at) & 0xffffff;

			put_le(p + at, address - (uint32_t)((offset + at) / 4), 3);
		}
}

static void undo_delta(uint8_t *p, const uint8_t *differences, uint64_t len, unsigned channels)
{
	for (unsigned channel = 0; channel < channels; channel++) {
		uint8_t before = 0;

		for (uint64_t at = channel; at < len; at += channels)
			p[at] = before -= *differences++;
	}
}

/* False: there is no memory, or the work is spent. */
static bool undo_filters(struct unpacker *unpacker)
{
	for (size_t i = 0; i < unpacker->filter_count; i++) {
		const struct filter *filter = &unpacker->filters[i];
		uint8_t *p = unpacker->plain + filter->from, *copy;

		if (!view_work(unpacker->view, filter->len / FILTER_PART + 1))
			return false;
		if (filter->kind == ARM) {
			undo_arm(p, filter->len, filter->from);
		} else if (filter->kind != DELTA) {
			undo_calls(p, filter->len, filter->from, filter->kind == CALLS_JUMPS);
		} else {
			copy = malloc((size_t)filter->len + 1);
			if (!copy) {
				view_no_memory(unpacker->view);
				return false;
			}
			memcpy(copy, p, (size_t)filter->len);
			undo_delta(p, copy, filter->len, filter->channels);
			free(copy);
		}
	}
	return true;
}

static enum rar5_state unpack(
	struct unpacker *unpacker, uint64_t at, uint64_t end, uint32_t crc, uint64_t *noticed)
{
	bool is_spent = false, is_done = unpack_blocks(unpacker, &is_spent);

	*noticed = (cursor_bits_at(&unpacker->bits) + 7) / 8;
	if (*noticed > unpacker->bits.end)
		*noticed = unpacker->bits.end;
	if (is_spent)
		return RAR5_REFUSED;
	if (is_past_end(unpacker) && unpacker->bits.end < end)
		return RAR5_CUT;
	if (!is_done || is_past_end(unpacker) || *noticed != end)
		return RAR5_BROKEN;
	if (!undo_filters(unpacker))
		return RAR5_REFUSED;
	if (crc32_gzip_refl(0, unpacker->plain, unpacker->len) == crc)
		return RAR5_DONE;
	*noticed = at;
	return unpacker->filter_count ? RAR5_REFUSED : RAR5_BROKEN;
}

enum rar5_state rar5_unpack(struct view *view, uint64_t at, uint64_t end, uint64_t plain_len,
	uint32_t crc, uint64_t *noticed)
{
	struct unpacker unpacker = { .view = view,
		.len = plain_len,
		.bits = { .cursor = { .view = view, .at = at },
			.end = end < view_size(view) ? end : view_size(view) } };
	enum rar5_state state = RAR5_REFUSED;

	*noticed = at;
	if (plain_len > RAR5_PLAIN_MAX)
		return RAR5_REFUSED;
	unpacker.plain = malloc((size_t)plain_len + 1);
	if (unpacker.plain)
		state = unpack(&unpacker, at, end, crc, noticed);
	else
		view_no_memory(view);
	free(unpacker.plain);
	free(unpacker.filters);
	return state;
}
