#include "jpeg_lookup.h"

#include <string.h>

static uint16_t *fill(uint16_t *to, uint16_t entry, size_t count)
{
	uint64_t four = entry * 0x0001000100010001u;

	for (; count >= 4; count -= 4, to += 4)
		memcpy(to, &four, sizeof(four));
	while (count--)
		*to++ = entry;
	return to;
}

/* Codes of one length count up; the next length appends a 0. */
void jpeg_one_build(struct jpeg_one *one, const struct jpeg_code *table)
{
	uint16_t *to = one->fast, *end = to + (1 << JPEG_ONE_BITS);
	uint32_t code = 0, index = 0;

	one->values = table->values;
	for (uint32_t bits = 1; bits <= 16; bits++, code <<= 1) {
		uint32_t count = table->counts[bits];

		one->first[bits] = (int32_t)index - (int32_t)code;
		code += count;
		one->limit[bits] = code << (16 - bits);
		for (; count; count--, index++) {
			uint16_t entry = (uint16_t)(bits << 8 | table->values[index]);

			if (bits <= JPEG_ONE_BITS)
				to = fill(to, entry, 1u << (JPEG_ONE_BITS - bits));
		}
	}
	memset(to, 0, (size_t)(end - to) * sizeof(*to));
}

void jpeg_dc_build(uint16_t *dc, const struct jpeg_one *one)
{
	for (int i = 0; i < 1 << JPEG_ONE_BITS; i++) {
		uint16_t size = one->fast[i] & 0xff;

		dc[i] = size <= 11 ? (uint16_t)(size << 8 | one->fast[i] >> 8) : 0;
	}
}

/*
 * A symbol whose code and value leave `rest` of a table's bits is followed by anything: its part of
 * the table is the table for `rest` bits, once for each of its values, with the symbol added to
 * each entry. So the tables for 0, 1, 2... bits are made one from the other.
 */
static void build_many(uint16_t *entries, const struct jpeg_code *table, unsigned bits)
{
	uint16_t *to = entries + (1u << bits), *start = to;
	const uint8_t *value = table->values;

	for (unsigned len = 1; len <= bits; len++) {
		for (int i = 0; i < table->counts[len]; i++, value++) {
			unsigned size = *value & 15, used = len + size;
			uint32_t symbol = used | ((*value >> 4) + 1u) << 6;
			uint16_t *part = to;

			to += 1u << (bits - len);
			if (*value == 0)
				symbol = len | JPEG_MANY_EOB << 6;
			else if (size == 0 && *value != 0xf0)
				symbol = 0;
			if (*value && symbol && used < bits) {
				const uint16_t *rest = entries + (1u << (bits - used));
				size_t rest_len = 1u << (bits - used);

				for (; part < to; part += rest_len)
					for (size_t j = 0; j < rest_len; j++)
						part[j] = (uint16_t)(rest[j] + symbol);
			}
			while (part < to)
				*part++ = (uint16_t)symbol;
		}
	}
	memset(to, 0, (size_t)(start + (1u << bits) - to) * sizeof(*to));
}

void jpeg_many_build(struct jpeg_many *many, const struct jpeg_code *code, unsigned bits)
{
	uint16_t *entries = many->entries + (1u << bits);

	many->entries[1] = 0;
	for (unsigned i = 1; i <= bits; i++)
		build_many(many->entries, code, i);
	for (uint32_t i = 0; i < 1u << bits; i++)
		entries[i] = entries[i] ? entries[i] : (uint16_t)(JPEG_MANY_NONE << 6);
}

/* The entry for a symbol and what `rest` has after it. */
static uint32_t add_band(uint32_t symbol, uint32_t rest)
{
	uint32_t covered = symbol >> 6 & 31;

	if (covered + (rest >> 6 & 31) > 16)
		return symbol;
	return symbol + (rest & 0xffff) + (rest >> 16 << 16 << covered);
}

static void build_bands(
	uint32_t *entries, const struct jpeg_code *table, unsigned bits, unsigned size_max)
{
	uint32_t *to = entries + (1u << bits), *start = to;
	const uint8_t *value = table->values;

	for (unsigned len = 1; len <= bits; len++) {
		for (int i = 0; i < table->counts[len]; i++, value++) {
			unsigned run = *value >> 4, size = *value & 15, used = len + size;
			uint32_t symbol = used | (run + 1) << 6;
			uint32_t *part = to;

			to += 1u << (bits - len);
			if (size > size_max)
				symbol = 0;
			else if (size)
				symbol |= 1u << 16 << run;
			else if (run < 15)
				symbol = len | run << 11 | JPEG_BANDS_EOB;
			if (symbol && (size || run == 15) && used < bits) {
				const uint32_t *rest = entries + (1u << (bits - used));
				size_t rest_len = 1u << (bits - used);

				for (; part < to; part += rest_len)
					for (size_t j = 0; j < rest_len; j++)
						part[j] = add_band(symbol, rest[j]);
			}
			while (part < to)
				*part++ = symbol;
		}
	}
	memset(to, 0, (size_t)(start + (1u << bits) - to) * sizeof(*to));
}

void jpeg_bands_build(
	struct jpeg_bands *bands, const struct jpeg_code *code, unsigned bits, unsigned size_max)
{
	uint32_t *entries = bands->entries + (1u << bits);

	bands->entries[1] = 0;
	for (unsigned i = 1; i <= bits; i++)
		build_bands(bands->entries, code, i, size_max);
	for (uint32_t i = 0; i < 1u << bits; i++)
		entries[i] = entries[i] ? entries[i] : JPEG_BANDS_NONE;
}

void jpeg_refined_build(struct jpeg_refined *refined, const struct jpeg_one *one)
{
	for (int i = 0; i < 1 << JPEG_REFINED_BITS; i++) {
		uint16_t entry = one->fast[i];

		refined->entries[i] =
			entry ? jpeg_refined_entry(entry >> 8, entry & 0xff) : JPEG_REFINED_NONE;
		refined->runs[i] = jpeg_refined_run(refined->entries[i]);
	}
}
