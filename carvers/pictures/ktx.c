/*
 * KTX 1 and 2 (Khronos, KTX File Format Specification).
 *
 * 1: identifier, a mark of the byte order, 12 numbers of 4 bytes, pairs of keys and values; then
 * for each mipmap its size (4 bytes) and its pixels, of a cube 6 times, padded to 4 bytes. 2:
 * identifier, 9 numbers of 4 bytes, offsets and lengths of a description, of keys and values, of
 * global data; then for each mipmap offset, length and uncompressed length (8 bytes each). The file
 * ends with the last of all these.
 *
 * Nothing confirms the pixels, so the file is unverified, though its length is certain.
 */
#include "carver.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define HEADER1_LEN 64
#define HEADER2_LEN 80
#define LEVELS_MAX 32

static enum verdict file_verdict(struct view *view, struct finding *finding, uint64_t end)
{
	if (end > view_size(view))
		return walk_cut(view, finding, end, view_size(view));
	finding->length = end;
	return verdict_because(
		CARVE_UNVERIFIED, finding, "the pixels before %" PRIu64 " cannot be verified", end);
}

static enum verdict check1(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEADER1_LEN);
	bool big = p && be32(p + 12) == 0x04030201;
	uint32_t field[13];
	uint64_t at = HEADER1_LEN;

	for (int i = 0; p && i < 13; i++)
		field[i] = big ? be32(p + 12 + 4 * i) : le32(p + 12 + 4 * i);
	/* fields: mark, type, its size, format, internal and base format, width, height, depth,
	 * array elements, faces, mipmaps, bytes of keys and values */
	if (!p || field[0] != 0x04030201 || field[6] - 1 >= 65536 || field[7] > 65536 ||
		field[8] > 65536 || field[9] > 65536 || (field[10] != 1 && field[10] != 6) ||
		field[11] > LEVELS_MAX || field[12] > INT32_MAX)
		return verdict_because(CARVE_REJECT, finding, "an impossible header at 12");
	at += field[12];
	for (uint32_t i = 0; i < (field[11] ? field[11] : 1); i++) {
		uint64_t size;

		p = view_peek(view, at, 4);
		if (!p)
			return walk_cut(view, finding, at + 4, view_size(view));
		size = big ? be32(p) : le32(p);
		if (size == 0 || size > INT32_MAX) {
			finding->length = at;
			return verdict_because(CARVE_TRUNCATED, finding,
				"a mipmap with an impossible size at %" PRIu64, at);
		}
		/* For a cube that is not an array, the size is that of one face. */
		at += 4 + (size + 3) / 4 * 4 * (field[10] == 6 && !field[9] ? 6 : 1);
	}
	return file_verdict(view, finding, at);
}

static enum verdict check2(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEADER2_LEN);
	uint64_t end = HEADER2_LEN, levels = p ? le32(p + 40) : 0;

	levels = levels ? levels : 1;
	if (!p || le32(p + 20) - 1 >= 65536 || le32(p + 24) > 65536 || le32(p + 28) > 65536 ||
		le32(p + 32) > 65536 || (le32(p + 36) != 1 && le32(p + 36) != 6) ||
		levels > LEVELS_MAX || le32(p + 44) > 3)
		return verdict_because(CARVE_REJECT, finding, "an impossible header at 12");
	for (int i = 0; i < 2; i++)
		if ((uint64_t)le32(p + 48 + 8 * i) + le32(p + 52 + 8 * i) > end)
			end = (uint64_t)le32(p + 48 + 8 * i) + le32(p + 52 + 8 * i);
	for (uint64_t i = 0; i <= levels; i++) {
		/* The global data, then the mipmaps: all have an offset and a length of 8 bytes. */
		uint64_t at = i ? HEADER2_LEN + 24 * (i - 1) : 64;
		uint64_t offset, len;

		p = view_peek(view, at, 16);
		if (!p)
			return walk_cut(view, finding, at + 16, view_size(view));
		offset = le64(p);
		len = le64(p + 8);
		if (offset > INT64_MAX / 2 || len > INT64_MAX / 2 ||
			(i && (!len || offset < HEADER2_LEN)))
			return verdict_because(CARVE_REJECT, finding,
				"an impossible offset of pixels at %" PRIu64, at);
		if (offset + len > end)
			end = offset + len;
	}
	return file_verdict(view, finding, end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 12);

	if (p && memcmp(p, "\xabKTX 11\xbb\r\n\x1a\n", 12) == 0) {
		finding->extension = "ktx";
		return check1(view, finding);
	}
	if (p && memcmp(p, "\xabKTX 20\xbb\r\n\x1a\n", 12) == 0) {
		finding->extension = "ktx2";
		return check2(view, finding);
	}
	return verdict_because(CARVE_REJECT, finding, "no KTX identifier at 0");
}

const struct carver ktx_carver = {
	.name = "ktx",
	.summary = "KTX textures, by the sizes in their headers",
	.check = check,
};
