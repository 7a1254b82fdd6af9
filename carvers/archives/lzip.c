/*
 * lzip (lzip manual, "File format").
 *
 *	file:   one member or more
 *	member: 'LZIP', version 1, dictionary size, LZMA stream with an end mark, CRC-32, length
 *		of the contents, length of the member
 *
 * liblzma decompresses it and checks the trailer. Another member directly after it belongs to the
 * same file.
 *
 * Damage. As in xz files.
 */
#include <string.h>

#include "stream_chain.h"

#define HEADER_LEN 6

/* The dictionary has 2^12 to 2^29 bytes, less some sixteenths. */
static size_t starts(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, HEADER_LEN + 1);
	unsigned bits = p ? p[5] & 31 : 0;

	return p && memcmp(p, "LZIP\1", 5) == 0 && bits >= 12 && bits <= 29 && !p[6] ? HEADER_LEN
										     : 0;
}

static const struct stream_chain chain = {
	.format = COMPRESSED_LZIP,
	.what = "lzip",
	.starts = starts,
	.sure_len = 64,
	.extensions = { "lz", "tar.lz", "cpio.lz", "svg.lz" },
};

static enum verdict check(struct view *view, struct finding *finding)
{
	return stream_chain_check(view, finding, &chain);
}

const struct carver lzip_carver = {
	.name = "lzip",
	.summary = "lzip files, by decompressing all members up to their CRCs",
	.check = check,
};
