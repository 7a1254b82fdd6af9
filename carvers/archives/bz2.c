/*
 * bzip2 (Julian Seward's program; the format is described in J. Tsai's "BZIP2: format
 * specification").
 *
 *	file:   one stream or more
 *	stream: 'BZh', block size ('1' to '9'), blocks, end magic, CRC-32 of all blocks' CRCs
 *	block:  magic (pi), CRC-32, Huffman-coded data of up to 900,000 bytes
 *
 * Blocks start at any bit. Both kinds of magic can follow the header directly: the first in a file
 * with contents, the second in an empty one. The library decompresses the stream and checks every
 * CRC. Another stream directly after it belongs to the same file: programs that compress in
 * parallel write such files.
 *
 * Damage. Foreign bits decode like others, up to the block's end, where its CRC is wrong: only what
 * lies before the block is valid. Where a file in pieces is put together the codes are walked first (bz2_codes.h), which
 * show sooner that they are foreign. The tables at a block's start soon fail on random bytes. If bytes of a
 * block can't be read, the other blocks and the end are found by their magics, at any bit.
 */
#include <string.h>

#include "bz2_codes.h"
#include "stream_chain.h"
#include "walk.h"

static size_t starts(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 10);

	if (!p || memcmp(p, "BZh", 3) != 0 || p[3] < '1' || p[3] > '9')
		return 0;
	return memcmp(p + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
			       memcmp(p + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0
		       ? 10
		       : 0;
}

#define HEADER_LEN 4
#define JOINT_LEN 4096 /* bytes after a joint that are looked at */
#define MAGIC_BITS 48
#define CRC_LEN 4
#define BLOCK_MAGIC 0x314159265359
#define END_MAGIC 0x177245385090
/* 900,000 bytes that can't be compressed, and their tables. */
#define BLOCK_MAX ((uint64_t)1 << 20)
#define SEARCH_WORK 2 /* units (view_work) to look for a magic at each bit of a byte */

/* Finds the next magic, which ends in the byte before *at then. False: none. */
static bool find_magic(struct view *view, uint64_t *at, uint64_t end, uint64_t *magic)
{
	const uint64_t mask = ((uint64_t)1 << MAGIC_BITS) - 1;
	uint64_t seen = 0;
	const uint8_t *p;
	size_t len;

	for (; (p = walk_window(view, *at, end, &len)) && view_work(view, len * SEARCH_WORK);
		*at += len)
		for (size_t i = 0; i < len; i++) {
			seen = seen << 8 | p[i];
			for (unsigned bits = 0; bits < 8; bits++) {
				*magic = seen >> bits & mask;
				if (*magic != BLOCK_MAGIC && *magic != END_MAGIC)
					continue;
				*at += i + 1;
				return true;
			}
		}
	return false;
}

/* The CRC of all blocks follows the end's magic, and then bits up to the next byte. */
static uint64_t find_end(struct view *view, uint64_t at, uint64_t from)
{
	uint64_t magic;

	(void)at;
	while (find_magic(view, &from, from + BLOCK_MAX, &magic))
		if (magic == END_MAGIC)
			return from + CRC_LEN <= view_size(view) ? from + CRC_LEN : 0;
	return 0;
}

static enum compressed_state walk_codes(
	struct view *view, uint64_t at, const void *state, uint64_t *end)
{
	struct bz2_codes codes = { .stream = at, .bit = (at + HEADER_LEN) * 8 };
	enum codes_state ended;

	if (state)
		codes = *(const struct bz2_codes *)state;
	ended = bz2_codes_walk(view, &codes);
	*end = bz2_codes_valid(&codes);
	/* Some files change so much; and what is looked at now shows where else they may break off. */
	if (ended == CODES_FOREIGN && !view_is_trial(view)) {
		bz2_codes_forgive(&codes);
		if (bz2_codes_walk(view, &codes) == CODES_END) {
			*end = (codes.bit + 7) / 8;
			ended = CODES_END;
		}
	}
	return ended == CODES_END   ? COMPRESSED_DONE
	       : ended == CODES_CUT ? COMPRESSED_CUT
				    : COMPRESSED_BAD;
}

static const struct stream_chain chain = {
	.format = COMPRESSED_BZIP2,
	.what = "bzip2",
	.starts = starts,
	.sure_len = 80,
	.by_blocks = true,
	.find_end = find_end,
	.walk_codes = walk_codes,
	.extensions = { "bz2", "tbz2", "cpio.bz2", "svg.bz2" },
};

static enum verdict check(struct view *view, struct finding *finding)
{
	return stream_chain_check(view, finding, &chain);
}

/* Whether the codes after a joint in the first stream follow the habits of those before it. */
static unsigned look_at_joint(struct view *view, uint64_t at, uint64_t end)
{
	struct bz2_codes codes = { .bit = (uint64_t)HEADER_LEN * 8, .stop = at * 8 };
	int64_t gain;

	if (bz2_codes_walk(view, &codes) != CODES_CUT || codes.bit < codes.stop)
		return 0;
	gain = codes.habits.gain;
	codes.stop = (end - at < JOINT_LEN ? end : at + JOINT_LEN) * 8;
	bz2_codes_walk(view, &codes);
	return habits_gain(&codes.habits, gain);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct bz2_codes codes;

	return bz2_codes_load(&codes, state) && starts(view, 0) && starts(view, codes.stream)
		       ? stream_chain_resume(view, finding, &chain, codes.stream, &codes)
		       : check(view, finding);
}

static void *begin_break(struct view *view, const struct carve_state *state)
{
	struct bz2_codes codes = { .bit = (uint64_t)HEADER_LEN * 8 };

	if (state && !bz2_codes_load(&codes, state))
		return NULL;
	return state || starts(view, 0) ? bz2_break_new(view, &codes) : NULL;
}

static const struct carve_codes break_codes = {
	.begin = begin_break, .ask = bz2_break_ask, .end = bz2_break_free, .goes_on = true
};

const struct carver bz2_carver = {
	.name = "bz2",
	.summary = "bzip2 files, by decompressing all streams up to their CRCs",
	.check = check,
	.resume = resume,
	.joint = look_at_joint,
	.codes = &break_codes,
};
