/*
 * TIFF 6.0 (Adobe, 1992), BigTIFF, and the raw photos that are made of it: DNG (Adobe), CR2
 * (Canon), NEF (Nikon), ARW (Sony), PEF (Pentax), SRW (Samsung), ORF (Olympus: another magic
 * number), RW2 (Panasonic: likewise), and others.
 *
 *	file:      'II' (little-endian) or 'MM' (big-endian), 42 (BigTIFF: 43), offset of a
 *	           directory
 *	directory: see tiff_ifd.c; entries name the picture's fields, and where its strips or
 *	           tiles are
 *
 * Parts stand anywhere and in any order; the file ends where the last of all that is named ends:
 * directories (tiff_walk.c), values, strips and tiles (tiff_data.c). Checked are all directories,
 * and the strips where their code can break (tiff_coded.c). The first directory must have a
 * picture, or point to one: EXIF data, which is a TIFF file without one, is part of another file,
 * and rejected.
 *
 * Damage. The first strip that does not unpack ends the sound part, or the first directory that is
 * none. Pixels that are stored as they are can't break, but hardly ever turn into random bytes
 * (noise.c). What a camera's own code holds can't be checked here: much of it, and the file is not
 * verified. Nor is it when nothing vouches for what stands last: a directory and its tables do, a
 * strip that unpacks, pixels or long values that go on as they began (predictor.c).
 */
#include "tiff.h"

#include <inttypes.h>
#include <string.h>

#include "exif.h"
#include "walk.h"

/* Most of a file should belong to something in it. */
#define COVERED_PART 4
#define HEAD_LEN 8
/* A file of which more is taken on trust hides nothing. */
#define UNCHECKED_MOST (64 << 10)
/* Bytes at the end, as a number or a date, that need nobody to vouch for them. */
#define ON_TRUST 32

/* A camera's own name for its raw photos. */
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

static enum verdict judge(struct tiff_walk *walk, struct view *view, struct finding *finding)
{
	uint64_t sound = walk->end < walk->size ? walk->end : walk->size;

	if (walk->bad < sound)
		sound = walk->bad;
	if (sound < HEAD_LEN)
		return verdict_because(
			CARVE_REJECT, finding, "picture data in the head at %" PRIu64, sound);
	finding->length = sound;
	if (walk->bad < UINT64_MAX)
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s at %" PRIu64, walk->problem, walk->bad);
	if (walk->end > walk->size)
		return walk_cut(view, finding, walk->end, sound);
	if (walk->odd)
		return verdict_because(CARVE_UNVERIFIED, finding, "%s", walk->odd);
	if (walk->covered < walk->end / COVERED_PART) {
		finding->length = walk->covered * COVERED_PART;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"only %" PRIu64 " of its %" PRIu64 " bytes belong to anything",
			walk->covered, walk->end);
	}
	if (walk->end > walk->vouched && walk->end - walk->vouched > ON_TRUST)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing vouches for the last bytes, from %" PRIu64 " on", walk->vouched);
	if (walk->unchecked > UNCHECKED_MOST)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"%" PRIu64 " bytes of pixels can't be checked", walk->unchecked);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct tiff_walk walk = { 0 };
	enum verdict verdict;

	if (!tiff_walk(&walk, view) || !known_magic(walk.tiff.magic))
		return verdict_because(CARVE_REJECT, finding,
			"no directory with a picture at %" PRIu64, walk.tiff.first_ifd);
	verdict = judge(&walk, view, finding);
	if (verdict != CARVE_REJECT) {
		exif_read_tiff(&walk.tiff, finding);
		finding->extension = extension(&walk);
	}
	return verdict;
}

const struct carver tiff_carver = {
	.name = "tiff",
	.summary = "TIFF pictures and raw photos, by their directories and by unpacking strips",
	.check = check,
};
