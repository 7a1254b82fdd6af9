/*
 * A picture in a tag starts where a kind, a name and a description end, and each tag format has its
 * own layout for those. So this searches for the ways in which pictures start. A false match does
 * no harm: a place matters only if a file is found exactly there.
 */
#include "embedded.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"

#define BEGINNING_MAX 8
#define FIRST_ZEROS_MAX 3 /* bytes that a beginning starts with */
#define SIEVED 4          /* bytes of a beginning that are looked up */

struct beginning {
	char bytes[BEGINNING_MAX];
	uint8_t len;
};

/* The first bytes of formats that are embedded in others. */
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
	{ "<?xpa", 5 },
	{ "<x:xm", 5 },
	{ "<!", 2 },
	{ "<ht", 3 },
	{ "<HT", 3 },
	{ "wOFF", 4 },
	{ "\xd7\xcd\xc6\x9a", 4 },
	{ "\1\0\x09\0", 4 },
	{ "\xd0\xcf\x11\xe0", 4 },
	{ "\x30\x81", 2 },
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

/* For each of the first bytes and each value of it, which beginnings it may be in: a bit for each, and AUDIO. It is the same for
 * all, and takes longer to fill than most packets to search. */
static uint64_t sieve[SIEVED][256];
static pthread_once_t sieve_once = PTHREAD_ONCE_INIT;

/* Frames of MPEG audio and ADTS. */
#define AUDIO_LEN 2
#define AUDIO ((uint64_t)1 << BEGINNING_COUNT)

static void fill_sieve(void)
{
	for (unsigned at = 0; at < SIEVED; at++) {
		uint64_t *may_have = sieve[at], ended = at < AUDIO_LEN ? 0 : AUDIO;

		for (size_t i = 0; i < BEGINNING_COUNT; i++) {
			if (at < beginnings[i].len)
				may_have[(uint8_t)beginnings[i].bytes[at]] |= (uint64_t)1 << i;
			else
				ended |= (uint64_t)1 << i;
		}
		for (unsigned byte = 0; byte < 256; byte++)
			may_have[byte] |= ended;
	}
	sieve[0][0xff] |= AUDIO;
	for (unsigned byte = 0xf0; byte < 0xff; byte++)
		sieve[1][byte] |= AUDIO;
}

/* Which beginnings there may be; `left` bytes are there. */
static inline uint64_t sift(const uint8_t *p, size_t left)
{
	uint64_t found = sieve[0][p[0]];

	if (left >= SIEVED)
		return found & sieve[1][p[1]] & sieve[2][p[2]] & sieve[3][p[3]];
	for (size_t i = 1; i < left; i++)
		found &= sieve[i][p[i]];
	return found;
}

/* Whether the bytes, of which `left` are there, start as one of these beginnings does. */
static bool matches(uint64_t found, uint64_t bytes, size_t left)
{
	if (found & AUDIO && left >= AUDIO_LEN)
		return true;
	for (found &= ~AUDIO; found; found &= found - 1) {
		const struct beginning *beginning = &beginnings[__builtin_ctzll(found)];
		uint64_t wanted = le64((const uint8_t *)beginning->bytes);

		if (left >= beginning->len &&
			!((bytes ^ wanted) << 8 * (BEGINNING_MAX - beginning->len)))
			return true;
	}
	return false;
}

void embedded_find(struct view *view, uint64_t at, uint64_t end, size_t search_len)
{
	uint64_t size = view_size(view);
	const uint8_t *p;
	size_t len;

	if (end > size)
		end = size;
	if (at >= end)
		return;
	pthread_once(&sieve_once, fill_sieve);
	len = search_len < VIEW_MAX_PEEK ? search_len : VIEW_MAX_PEEK;
	len = end - at < len ? (size_t)(end - at) : len;
	p = view_peek(view, at, len);
	for (size_t i = 0; p && i < len; i++) {
		uint64_t found = sift(p + i, len - i);

		if (found && matches(found, number_of(p + i, len - i), len - i))
			view_embedded(view, at + i);
		/* Some files are full of zeros. */
		else if (!p[i] && len - i > BEGINNING_MAX && !le64(p + i))
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
