/*
 * A picture in a tag starts where a kind, a name and a description end, and each tag format has its
 * own layout for those. So this searches for the ways in which pictures start. A false match does
 * no harm: a place matters only if a file is found exactly there.
 */
#include "embedded.h"

#include <stdbool.h>
#include <string.h>

#include "bytes.h"

#define BEGINNING_MAX 8
#define FIRST_ZEROS_MAX 3 /* bytes that a beginning starts with */

struct beginning {
	char bytes[BEGINNING_MAX];
	uint8_t len;
};

/* The first bytes of formats that are embedded in others, those with the same first one side by side. */
static const struct beginning beginnings[] = {
	{ "\xff\xd8\xff", 3 },
	{ "\xff\x4f\xff\x51", 4 },
	{ "\x89PNG\r\n", 6 },
	{ "GIF8", 4 },
	{ "RIFF", 4 },
	{ "II*\0", 4 },
	{ "ID3", 3 },
	{ "MM\0*", 4 },
	{ "BM", 2 },
	{ "fLaC", 4 },
	{ "OggS", 4 },
	{ "OTTO", 4 },
	{ "%PDF", 4 },
	{ "PK\3\4", 4 },
	{ "<?xml", 5 },
	{ "<!", 2 },
	{ "<ht", 3 },
	{ "<HT", 3 },
	{ "wOFF", 4 },
	{ "\xd7\xcd\xc6\x9a", 4 },
	{ "\1\0\x09\0", 4 },
	{ "\xd0\xcf\x11\xe0", 4 },
	{ "\x30\x82", 2 },
	{ "bplist", 6 },
	{ "\x1f\x8b\x08", 3 },
	{ "\x28\xb5\x2f\xfd", 4 },
	{ "\x04\x22\x4d\x18", 4 },
	{ "\0\0\0\14jP  ", 8 },
	{ "\0\0\0\1", 4 },
	{ "\0\0\1\xb3", 4 },
	{ "\0\0\1\xba", 4 },
	{ "\0\1\0\0", 4 },
};

#define BEGINNING_COUNT (sizeof(beginnings) / sizeof(*beginnings))

/* The bytes as a number, the first one lowest; those after the end are 0. */
static uint64_t number_of(const uint8_t *p, size_t left)
{
	uint8_t bytes[BEGINNING_MAX] = { 0 };

	if (left >= BEGINNING_MAX)
		return le64(p);
	memcpy(bytes, p, left);
	return le64(bytes);
}

/* Whether the bytes, of which `left` are there, start as a beginning does; number `first` is the first with the same first byte. */
static bool matches(size_t first, uint64_t bytes, size_t left)
{
	uint8_t start = (uint8_t)bytes, next = (uint8_t)(bytes >> 8);

	/* Frames of MPEG audio and ADTS. */
	if (left >= 2 && start == 0xff && next >= 0xf0 && next != 0xff)
		return true;
	for (size_t i = first; i < BEGINNING_COUNT && (uint8_t)beginnings[i].bytes[0] == start;
		i++) {
		const struct beginning *beginning = &beginnings[i];
		uint64_t wanted = le64((const uint8_t *)beginning->bytes);

		if (left >= beginning->len &&
			!((bytes ^ wanted) << 8 * (BEGINNING_MAX - beginning->len)))
			return true;
	}
	return false;
}

void embedded_find(struct view *view, uint64_t at, uint64_t end, size_t search_len)
{
	/* By a byte, one more than the first beginning that has it; 0: most bytes begin none. */
	uint8_t first[256] = { 0 };
	uint64_t size = view_size(view);
	const uint8_t *p;
	size_t len;

	if (end > size)
		end = size;
	if (at >= end)
		return;
	for (uint8_t i = BEGINNING_COUNT; i > 0; i--)
		first[(uint8_t)beginnings[i - 1].bytes[0]] = i;
	len = search_len < VIEW_MAX_PEEK ? search_len : VIEW_MAX_PEEK;
	len = end - at < len ? (size_t)(end - at) : len;
	p = view_peek(view, at, len);
	for (size_t i = 0; p && i < len; i++) {
		uint64_t bytes;

		if (!first[p[i]])
			continue;
		bytes = number_of(p + i, len - i);
		if (matches(first[p[i]] - 1u, bytes, len - i))
			view_embedded(view, at + i);
		/* Some files are full of zeros. */
		if (!bytes && len - i > BEGINNING_MAX)
			i += BEGINNING_MAX - FIRST_ZEROS_MAX - 1;
	}
}

void embedded_find_all(struct view *view, uint64_t at, uint64_t end)
{
	/* A beginning may be in two windows. */
	while (at < end && at < view_size(view)) {
		embedded_find(view, at, end, VIEW_MAX_PEEK);
		at += VIEW_MAX_PEEK - BEGINNING_MAX;
	}
}
