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
 * Damage. As in xz files. The trailer's length of the member shows where the member ends if bytes in it
 * can't be read.
 */
#include <string.h>

#include "bytes.h"
#include "stream_chain.h"
#include "walk.h"

#define HEADER_LEN 6

/* The dictionary has 2^12 to 2^29 bytes, less some sixteenths. */
static size_t starts(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, HEADER_LEN + 1);
	unsigned bits = p ? p[5] & 31 : 0;

	return p && memcmp(p, "LZIP\1", 5) == 0 && bits >= 12 && bits <= 29 && !p[6] ? HEADER_LEN
										     : 0;
}

#define LENGTH_LEN 8

static uint64_t find_end(struct view *view, uint64_t at, uint64_t from)
{
	uint64_t size = view_size(view);
	const uint8_t *p;
	size_t len;

	for (; (p = walk_window(view, from, size, &len)) && len >= LENGTH_LEN &&
		view_work(view, len);
		from += len - LENGTH_LEN + 1)
		for (size_t i = 0; i + LENGTH_LEN <= len; i++)
			if (le64(p + i) == from + i + LENGTH_LEN - at)
				return from + i + LENGTH_LEN;
	return 0;
}

static const struct stream_chain chain = {
	.format = COMPRESSED_LZIP,
	.what = "lzip",
	.starts = starts,
	.sure_len = 64,
	.find_end = find_end,
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
