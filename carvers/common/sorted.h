/* Lists in order of a key. */
#ifndef BURIN_CARVERS_COMMON_SORTED_H
#define BURIN_CARVERS_COMMON_SORTED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The index of the first of count items, of item_len bytes each, whose key, a uint64_t key_at bytes into it, is at least `least`;
 * count: there is none. */
static inline size_t sorted_first(
	const void *items, size_t count, size_t item_len, size_t key_at, uint64_t least)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t key;

		memcpy(&key, (const uint8_t *)items + middle * item_len + key_at, sizeof(key));
		if (key < least)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* For qsort and bsearch: items that are a uint32_t each, in rising order. */
static inline int sorted_compare_numbers(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

#endif
