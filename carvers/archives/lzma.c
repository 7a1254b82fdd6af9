/*
 * LZMA files from before xz (LZMA SDK, lzma.txt).
 *
 *	file: properties, dictionary size, decompressed size or -1, LZMA stream
 *
 * There is neither magic nor checksum: the stream ends with a mark, or where the size is reached
 * and the range coder is at its end, which does not happen with random bytes. liblzma decompresses
 * it.
 *
 * Damage. As in xz files; a stream that becomes invalid early is rejected.
 */
#include "bytes.h"
#include "stream_chain.h"

#define HEADER_LEN 13
#define USUAL 0x5d     /* properties lc 3, lp 0, pb 2 */
#define OTHERS_MIN 256 /* bytes with others, coded and decompressed */

/* Whether a header with other properties is followed by zeros, or announces few bytes: numbers in tables look like that,
 * and decompress to something. */
static bool is_scant(const uint8_t *p, uint64_t size)
{
	return size < OTHERS_MIN || !be32(p + HEADER_LEN + 1);
}

/* What encoders write: a dictionary of 2^n or 2^n + 2^(n-1), a size below 256 GiB, and a first byte
 * of the range coder that is 0. */
static size_t starts(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, HEADER_LEN + 5);
	uint32_t dictionary;
	uint64_t size;

	if (at || !p || p[0] >= 225 || p[HEADER_LEN])
		return 0;
	dictionary = le32(p + 1);
	size = le64(p + 5);
	if (dictionary < 4096 || (size != UINT64_MAX && (size == 0 || size >> 38)))
		return 0;
	if (p[0] != USUAL && is_scant(p, size))
		return 0;
	dictionary >>= __builtin_ctz(dictionary);
	return dictionary == 1 || dictionary == 3 ? HEADER_LEN : 0;
}

static const struct stream_chain chain = {
	.format = COMPRESSED_LZMA,
	.what = "lzma",
	.starts = starts,
	.sure_len = 256,
	.extensions = { "lzma", "tlz", "cpio.lzma", "svg.lzma" },
};

static enum verdict check(struct view *view, struct finding *finding)
{
	enum verdict verdict = stream_chain_check(view, finding, &chain);
	const uint8_t *p = view_peek(view, 0, 1);

	if (p && *p != USUAL && verdict != CARVE_REJECT && finding->length < OTHERS_MIN) {
		finding->length = 0;
		return verdict_because(CARVE_REJECT, finding, "no lzma stream at 0");
	}
	return verdict;
}

const struct carver lzma_carver = {
	.name = "lzma",
	.summary = "LZMA files from before xz, by decompressing them",
	.check = check,
};
