/* Sets of byte values, and ASCII's classes without a locale. */
#ifndef BURIN_PATTERNS_BYTESET_H
#define BURIN_PATTERNS_BYTESET_H

#include <stdbool.h>
#include <stdint.h>

struct byteset {
	uint64_t words[4];
};

static inline bool ascii_is_letter(uint8_t c)
{
	return (uint8_t)((c | 0x20) - 'a') < 26;
}

static inline bool ascii_is_digit(uint8_t c)
{
	return (uint8_t)(c - '0') < 10;
}

static inline bool ascii_is_alnum(uint8_t c)
{
	return ascii_is_letter(c) || ascii_is_digit(c);
}

static inline bool ascii_is_print(uint8_t c)
{
	return c >= 0x20 && c < 0x7f;
}

static inline bool byteset_has(const struct byteset *set, uint8_t value)
{
	return set->words[value >> 6] >> (value & 63) & 1;
}

static inline void byteset_add(struct byteset *set, uint8_t value)
{
	set->words[value >> 6] |= UINT64_C(1) << (value & 63);
}

static inline void byteset_add_range(struct byteset *set, uint8_t first, uint8_t last)
{
	for (unsigned value = first; value <= last; value++)
		byteset_add(set, (uint8_t)value);
}

static inline void byteset_add_all(struct byteset *set, const struct byteset *other)
{
	for (int i = 0; i < 4; i++)
		set->words[i] |= other->words[i];
}

static inline void byteset_invert(struct byteset *set)
{
	for (int i = 0; i < 4; i++)
		set->words[i] = ~set->words[i];
}

static inline unsigned byteset_count(const struct byteset *set)
{
	unsigned count = 0;

	for (int i = 0; i < 4; i++)
		count += (unsigned)__builtin_popcountll(set->words[i]);
	return count;
}

/* Adds the other case of every ASCII letter in the set. */
static inline void byteset_fold_case(struct byteset *set)
{
	for (unsigned value = 'A'; value <= 'Z'; value++) {
		if (byteset_has(set, (uint8_t)value))
			byteset_add(set, (uint8_t)(value | 0x20));
		else if (byteset_has(set, (uint8_t)(value | 0x20)))
			byteset_add(set, (uint8_t)value);
	}
}

#endif
