/*
 * Linux's romfs, file systems of firmware (Documentation/filesystems/romfs.rst).
 *
 *	image: '-rom1fs-', length, checksum (4 each, big-endian), name; files; zeros up to a multiple of 1,024
 *	file:  place of the next one with its kind in the lowest 4 bits, a place for some kinds, length, checksum (4
 *	       each), name; data
 *
 * Names end with a zero, and names and data are padded to 16 bytes. A checksum makes the sum of the words of a header and its
 * name 0; that of the image is over its first 512 bytes. Headers follow one another, each after the data of the one before.
 * Nothing verifies data.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 16
#define NAME_MAX_LEN 256
#define SUMMED_LEN 512
#define UNIT 16
#define BLOCK 1024

enum { KIND_MASK = 7, REGULAR = 2, SYMLINK = 3 };

/* Whether the words [at, at + len) have the sum 0. */
static bool sum_is_zero(struct view *view, uint64_t at, size_t len)
{
	const uint8_t *p = view_peek(view, at, len);
	uint32_t sum = 0;

	for (size_t i = 0; p && i + 4 <= len; i += 4)
		sum += be32(p + i);
	return p && !sum;
}

/* Where the name at `at` ends with its padding; 0: it has no end. */
static uint64_t name_end(struct view *view, uint64_t at)
{
	size_t len;

	return walk_ended_text(view, at, NAME_MAX_LEN, &len) && len ? at + (len / UNIT + 1) * UNIT
								    : 0;
}

/* Where the zeros end that pad the image to whole blocks. */
static uint64_t padded_end(struct view *view, uint64_t at)
{
	uint64_t end = (at + BLOCK - 1) / BLOCK * BLOCK;

	return end <= view_size(view) && walk_zeros(view, at, end) ? end : at;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t len = p ? be32(p + 8) : 0, size = view_size(view), at, end;

	if (!p || memcmp(p, "-rom1fs-", 8) != 0 || len < 2 * HEAD_LEN ||
		!(at = name_end(view, HEAD_LEN)) ||
		!sum_is_zero(view, 0, len < SUMMED_LEN ? (size_t)len : SUMMED_LEN))
		return verdict_because(CARVE_REJECT, finding, "no header with its checksum at 0");
	p = view_peek(view, HEAD_LEN, (size_t)(at - HEAD_LEN));
	if (p)
		finding_set_title(finding, p, strnlen((const char *)p, (size_t)(at - HEAD_LEN)));
	while (at < len) {
		uint64_t data = name_end(view, at + HEAD_LEN), data_len;
		unsigned kind;

		p = view_peek(view, at, HEAD_LEN);
		if (!p || data > size)
			return walk_cut(view, finding, at + HEAD_LEN, at < size ? at : size);
		kind = be32(p) & KIND_MASK;
		data_len = be32(p + 8);
		if (!data || !sum_is_zero(view, at, (size_t)(data - at))) {
			finding->length = at;
			return verdict_because(
				CARVE_TRUNCATED, finding, "no file's header at %" PRIu64, at);
		}
		end = data;
		if (kind == REGULAR || kind == SYMLINK)
			end += (data_len + UNIT - 1) / UNIT * UNIT;
		if (end > size)
			return walk_cut(
				view, finding, end, view_ends_with_image(view) ? size : data);
		if (end > data) {
			view_embedded(view, data);
			view_unverified(view, data, end);
		}
		at = end;
	}
	finding->length = padded_end(view, at);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing verifies the files' contents up to %" PRIu64, at);
}

const struct carver romfs_carver = {
	.name = "romfs",
	.summary = "Linux's romfs images, by their files' headers",
	.check = check,
};
