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
 * lies before the block is valid. The tables at a block's start soon fail on random bytes.
 */
#include <string.h>

#include "stream_chain.h"

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

static const struct stream_chain chain = {
	.format = COMPRESSED_BZIP2,
	.what = "bzip2",
	.starts = starts,
	.sure_len = 80,
	.by_blocks = true,
	.extensions = { "bz2", "tbz2", "cpio.bz2", "svg.bz2" },
};

static enum verdict check(struct view *view, struct finding *finding)
{
	return stream_chain_check(view, finding, &chain);
}

const struct carver bz2_carver = {
	.name = "bz2",
	.summary = "bzip2 files, by decompressing all streams up to their CRCs",
	.check = check,
};
