/* Hashes of parts of pages, of which equal ones have the same content but for chance: not for what an attacker must not match. */
#ifndef BURIN_CARVERS_COMMON_PAGE_HASH_H
#define BURIN_CARVERS_COMMON_PAGE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

static inline uint64_t page_hash_mix(uint64_t x)
{
	x = (x ^ x >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 32;
}

/* hash: what it begins with, or of the bytes before. */
static inline uint64_t page_hash(const uint8_t *bytes, size_t len, uint64_t hash)
{
	for (; len >= 8; len -= 8, bytes += 8)
		hash = page_hash_mix(hash ^ le64(bytes));
	for (; len; len--)
		hash = page_hash_mix(hash ^ *bytes++ ^ len << 8);
	return hash;
}

/* For qsort and bsearch. */
static inline int page_hash_compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

#endif
