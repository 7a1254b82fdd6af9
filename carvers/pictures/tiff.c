/*
 * TIFF 6.0 (Adobe, 1992), BigTIFF, and the raw photos that are made of it: DNG (Adobe), CR2
 * (Canon), NEF (Nikon), ARW (Sony), PEF (Pentax), SRW (Samsung), ORF (Olympus: another magic
 * number), RW2 (Panasonic: likewise), and others.
 *
 *	file:      'II' (little-endian) or 'MM' (big-endian), 42 (BigTIFF: 43), offset of a
 *	           directory
 *	directory: see tiff_ifd.c; entries hold the picture's fields, and the offsets of its
 *	           strips or tiles
 *
 * Parts may be anywhere and in any order; the file ends with the last of all that offsets lead to:
 * directories (tiff_walk.c), values, strips and tiles (tiff_data.c). Checked are all directories,
 * and the strips in a code that can be invalid (tiff_coded.c). The first directory must have a
 * picture, or point to one: EXIF data, which is a TIFF file without one, is part of another file,
 * and rejected.
 *
 * Damage. The first strip that does not decompress, or the first invalid directory, ends the valid
 * part. Uncompressed pixels cannot be invalid, but hardly ever turn into random bytes (noise.c).
 * Data in a camera's own code cannot be checked: a file with much of it is unverified. So is a file
 * if nothing confirms its last part. A directory and its tables do, and a strip that decompresses,
 * and pixels or long values that continue as they began (predictor.c).
 */
#include "tiff.h"

#include <inttypes.h>
#include <string.h>

#include "exif.h"
#include "walk.h"

/* Most of a file should belong to something in it. */
#define COVERED_PART 4
#define HEAD_LEN 8
/* A first directory that comes later than this follows pixels. */
#define PIXELS_MIN 512
/* A file with more unchecked bytes than this is unverified, and so hides nothing. */
#define UNCHECKED_MAX (64 << 10)
/* The most bytes at the end, as of a number or a date, that need no confirmation. */
#define ON_TRUST 32

/* The extension for a camera maker's raw photos, or NULL. */
static const char *raw_extension(const char *make)
{
	static const struct {
		const char *make, *extension;
	} kinds[] = {
		{ "NIKON", "nef" },
		{ "Nikon", "nef" },
		{ "SONY", "arw" },
		{ "PENTAX", "pef" },
		{ "RICOH", "pef" },
		{ "SAMSUNG", "srw" },
		{ "Samsung", "srw" },
		{ "Hasselb", "3fr" },
		{ "SEIKO", "erf" },
		{ "EPSON", "erf" },
		{ "Mamiya", "mef" },
		{ "Leaf", "mos" },
		{ "Phase", "iiq" },
		{ "Kodak", "dcr" },
		{ "KODAK", "dcr" },
		{ "EASTMAN", "kdc" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(make, kinds[i].make, strlen(kinds[i].make)) == 0)
			return kinds[i].extension;
	return "tif";
}

static const char *extension(struct tiff_walk *walk)
{
	const uint8_t *p = view_peek(walk->tiff.view, 0, 12);

	if (p && memcmp(p + 8, "CR\2\0", 4) == 0)
		return "cr2";
	switch (walk->tiff.magic) {
	case 0x4f52: /* 'IIRO', 'MMOR' */
	case 0x5352: /* 'IIRS' */
		return "orf";
	case 0x55:
		return "rw2";
	}
	if (walk->dng)
		return "dng";
	return walk->raw ? raw_extension(walk->make) : "tif";
}

static bool known_magic(uint16_t magic)
{
	return magic == TIFF_MAGIC || magic == TIFF_MAGIC_BIG || magic == 0x4f52 ||
	       magic == 0x5352 || magic == 0x55;
}

/* Two zeros fill the last word in some files. */
static uint64_t padding_len(struct view *view, uint64_t end)
{
	return end % 4 == 2 && walk_padding(view, end, 2) == 2 ? 2 : 0;
}

static enum verdict file_verdict(struct tiff_walk *walk, struct view *view, struct finding *finding)
{
	uint64_t valid_end = walk->end < walk->size ? walk->end : walk->size;

	if (walk->bad < valid_end)
		valid_end = walk->bad;
	else if (valid_end == walk->end)
		valid_end = walk->end += padding_len(view, walk->end);
	if (valid_end < HEAD_LEN)
		return verdict_because(CARVE_REJECT, finding,
			"picture data inside the head at %" PRIu64, valid_end);
	finding->length = valid_end;
	if (walk->bad < UINT64_MAX)
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s at %" PRIu64, walk->problem, walk->bad);
	if (walk->end > walk->size)
		return walk_cut(view, finding, walk->end, valid_end);
	/* So that it does not matter what follows the file, for which more of it would be checked. */
	if (walk->size - walk->to_check > walk->end)
		walk->odd = TIFF_OVERLAPS;
	if (walk->odd)
		return verdict_because(CARVE_UNVERIFIED, finding, "%s", walk->odd);
	if (walk->covered < walk->end / COVERED_PART) {
		finding->length = walk->covered * COVERED_PART;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"only %" PRIu64 " of its %" PRIu64 " bytes belong to a part", walk->covered,
			walk->end);
	}
	if (walk->end > walk->confirmed && walk->end - walk->confirmed > ON_TRUST)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last bytes, from %" PRIu64 " on, cannot be verified", walk->confirmed);
	if (walk->unchecked > UNCHECKED_MAX)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"%" PRIu64 " bytes of pixels cannot be checked", walk->unchecked);
	tiff_name_gaps(walk);
	return CARVE_COMPLETE;
}

/* The verdict on a file without a valid first directory. Writers that put it after the pixels are many: if it
 * can't be read, these are kept. */
static enum verdict judge_headless(struct tiff_walk *walk, struct finding *finding)
{
	uint64_t at = walk->tiff.first_ifd;

	if (!known_magic(walk->tiff.magic) || at <= PIXELS_MIN || !tiff_unread_ifd(walk, at))
		return verdict_because(
			CARVE_REJECT, finding, "no directory with a picture at %" PRIu64, at);
	finding->length = at;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the first directory, at %" PRIu64 ", can't be read", at);
}

static enum verdict check_walk(struct tiff_walk *walk, struct view *view, struct finding *finding)
{
	enum verdict verdict;

	if (!tiff_walk(walk, view) || !known_magic(walk->tiff.magic))
		return judge_headless(walk, finding);
	verdict = file_verdict(walk, view, finding);
	if (verdict != CARVE_REJECT) {
		exif_read_tiff(&walk->tiff, finding);
		finding->extension = extension(walk);
	}
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct tiff_walk walk = { 0 };
	enum verdict verdict = check_walk(&walk, view, finding);

	tiff_walk_free(&walk);
	return verdict;
}

const struct carver tiff_carver = {
	.name = "tiff",
	.summary = "TIFF pictures and raw photos, by their directories and by decompressing strips",
	.check = check,
	.map = &tiff_map,
	.stored = tiff_describe,
};
