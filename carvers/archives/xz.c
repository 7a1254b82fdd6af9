/*
 * xz (The .xz File Format 1.2.1).
 *
 *	file:   one stream or more, with zeros between them in multiples of four
 *	stream: header (magic, flags, CRC-32), blocks with checks, index, footer ('YZ')
 *
 * liblzma decompresses it and checks everything that can be checked. Another stream directly after
 * it belongs to the same file. Padding is accepted only if it is short and ends inside a sector,
 * since the zeros that a file system leaves after a file look the same.
 *
 * Damage. The decoder accepts foreign bytes until a distance points before the start of the output,
 * or a chunk's length does not match: the file is valid up to there.
 */
#include <string.h>

#include "bytes.h"
#include "stream_chain.h"
#include "walk.h"

#define HEADER_LEN 12

static size_t starts(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, HEADER_LEN);
	uint32_t want, crc = 0;

	if (!p || memcmp(p, "\xfd\x37zXZ\0", 6) != 0)
		return 0;
	want = le32(p + 8);
	return walk_crc32(view, at + 6, 2, &crc) && crc == want ? HEADER_LEN : 0;
}

static const struct stream_chain chain = {
	.format = COMPRESSED_XZ,
	.what = "xz",
	.starts = starts,
	.padding = 4,
	.sure_len = HEADER_LEN,
	.extensions = { "xz", "txz", "cpio.xz", "svg.xz" },
};

static enum verdict check(struct view *view, struct finding *finding)
{
	return stream_chain_check(view, finding, &chain);
}

const struct carver xz_carver = {
	.name = "xz",
	.summary = "xz files, by decompressing all streams up to their checks and indexes",
	.check = check,
};
