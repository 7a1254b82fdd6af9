/*
 * Programs for DOS, and those for 16-bit Windows, OS/2 and DOS extenders, whose headers follow a
 * DOS program (MS-DOS Programmer's Reference; Microsoft, Executable-file header format of NE files;
 * IBM, OS/2 32-bit LX format).
 *
 *	DOS:    header ('MZ'), relocations; image. At 60, if there is a new header, its offset
 *	NE:     header, tables of segments, resources and names; segments with relocations,
 *	        resources
 *	LE, LX: header, objects, pages, fixups; pages
 *	DOS/4G: a DOS program, then 'BW' headers, each with the offset of the next, and a linear
 *		program
 *
 * PE has its own carver. A DOS header gives the image's length in pages of 512 bytes; overlays and
 * tables for debuggers follow it. The other formats end where their last part ends.
 *
 * The bytes are verified by relocations (each points to a word with one of the image's segments), a
 * checksum if there is one, names and relocations of segments, versions, fonts, and tables for
 * debuggers. If such a structure is the last one, the file is complete; if one is invalid,
 * truncated. Otherwise nothing distinguishes the last bytes from foreign ones, and the file is
 * unverified. An archive after a program belongs to it (overlay.c).
 */
#include "mz.h"

#include <inttypes.h>
#include <string.h>

#include "overlay.h"
#include "bytes.h"
#include "foreign.h"
#include "noise.h"
#include "walk.h"

#define PARAGRAPH 16
#define FOREIGN_LEN 4096
#define BOUND_MAX 16

struct dos_header {
	uint64_t len; /* of header and image */
	uint64_t head_len;
	uint32_t memory; /* paragraphs from the image's start */
	uint16_t relocation_count, relocations_at, checksum, overlay;
	uint32_t offset; /* of a new header, if there is one */
};

void mz_extend(struct mz_extent *extent, uint64_t end)
{
	if (end > extent->end)
		extent->end = end;
}

void mz_prove(struct mz_extent *extent, uint64_t end)
{
	mz_extend(extent, end);
	if (end > extent->proof)
		extent->proof = end;
}

void mz_mark_broken(struct mz_extent *extent, uint64_t at)
{
	if (extent->broken_at == 0 || at < extent->broken_at)
		extent->broken_at = at;
}

/* Reads the DOS header at `at`: false when there is none. In DOS programs, everything after 28
 * bytes may be missing. */
static bool read_dos(struct view *view, uint64_t at, struct dos_header *dos)
{
	const uint8_t *p = view_peek(view, at, 28), *offset;
	uint16_t last, pages;

	if (!p || p[0] != 'M' || p[1] != 'Z')
		return false;
	last = le16(p + 2);
	pages = le16(p + 4);
	if (last > 511 || pages == 0)
		return false;
	dos->len = (uint64_t)pages * 512 - (last ? 512 - last : 0);
	dos->relocation_count = le16(p + 6);
	dos->head_len = le16(p + 8) * (uint64_t)PARAGRAPH;
	dos->memory = (uint32_t)((dos->len + 15) / PARAGRAPH) + le16(p + 10);
	dos->checksum = le16(p + 18);
	dos->relocations_at = le16(p + 24);
	dos->overlay = le16(p + 26);
	offset = view_peek(view, at + 60, 4);
	dos->offset = offset ? le32(offset) : 0;
	return true;
}

/* Whether the fields that only a DOS program needs are valid. */
static bool valid_dos(struct view *view, uint64_t at, const struct dos_header *dos)
{
	const uint8_t *p = view_peek(view, at, 28);
	uint32_t entry;

	if (!p || dos->head_len < 32 || dos->head_len >= dos->len || le16(p + 10) > le16(p + 12))
		return false;
	if (dos->relocation_count &&
		(dos->relocations_at < 28 ||
			dos->relocations_at + 4 * (uint64_t)dos->relocation_count > dos->head_len))
		return false;
	/* Segments count from the image's start, in 20 bits: those before it are negative. */
	entry = ((uint32_t)le16(p + 22) * PARAGRAPH + le16(p + 20)) & 0xfffff;
	return entry < dos->len - dos->head_len &&
	       (le16(p + 14) <= dos->memory || le16(p + 14) >= 0xfff0);
}

/* Each relocation points to a word in the image that is a segment of the program. */
static void walk_relocations(
	struct view *view, uint64_t base, const struct dos_header *dos, struct mz_extent *extent)
{
	uint64_t image = base + dos->head_len, end = base + dos->len, last = 0,
		 first_bad = UINT64_MAX;
	uint32_t bad = 0;

	for (uint32_t i = 0; i < dos->relocation_count; i++) {
		const uint8_t *p = view_peek(view, base + dos->relocations_at + 4 * (uint64_t)i, 4);
		uint64_t offset = p ? image + le16(p + 2) * (uint64_t)PARAGRAPH + le16(p) : end;

		p = offset + 2 <= end ? view_peek(view, offset, 2) : NULL;
		if (p && (le16(p) <= dos->memory || le16(p) >= 0xfff0)) {
			/* A zero may be any file's, or a wiped area. */
			last = le16(p) && offset + 2 > last ? offset + 2 : last;
			continue;
		}
		bad++;
		first_bad = offset < first_bad ? offset : first_bad;
	}
	if (bad > dos->relocation_count / 16)
		mz_mark_broken(extent, first_bad);
	else if (last)
		mz_prove(extent, last);
}

/* The sum of all words in the image, including the checksum, is 0 or FFFF. */
static bool checksum_matches(struct view *view, uint64_t base, const struct dos_header *dos)
{
	uint16_t sum = 0;
	size_t len;

	for (uint64_t at = base, end = base + dos->len; at < end; at += len) {
		const uint8_t *p = walk_window(view, at, end, &len);

		if (!p)
			return false;
		if (at + len < end)
			len &= ~(size_t)1;
		for (size_t i = 0; i + 1 < len; i += 2)
			sum = (uint16_t)(sum + le16(p + i));
		sum = (uint16_t)(sum + (len & 1 ? p[len - 1] : 0));
	}
	return sum == 0 || sum == 0xffff;
}

static const char *measure_dos(
	struct view *view, uint64_t base, const struct dos_header *dos, struct mz_extent *extent)
{
	if (dos->relocations_at >= 64 && dos->offset >= 64 && dos->offset < 0x100000)
		return "no new header";
	if (!valid_dos(view, base, dos))
		return "impossible fields of a DOS header";
	if (extent->code == 0)
		extent->code = base + dos->head_len;
	mz_extend(extent, base + dos->len);
	walk_relocations(view, base, dos, extent);
	if (dos->checksum && base + dos->len <= view_size(view) &&
		checksum_matches(view, base, dos))
		mz_prove(extent, base + dos->len);
	return NULL;
}

/* Measures the program with a DOS header at `base`: what is wrong with its headers, or NULL. */
static const char *measure(
	struct view *view, struct finding *finding, uint64_t base, struct mz_extent *extent)
{
	struct dos_header dos;
	const uint8_t *p;

	if (!read_dos(view, base, &dos) || dos.overlay)
		return "no DOS header";
	p = dos.offset ? view_peek(view, base + dos.offset, 4) : NULL;
	if (p && p[0] == 'P' && p[1] == 'E')
		return "a PE header";
	if (p && p[0] == 'N' && p[1] == 'E')
		return mz_ne(view, finding, base, base + dos.offset, extent);
	if (p && p[0] == 'L' && (p[1] == 'E' || p[1] == 'X'))
		return mz_le(view, finding, base, base + dos.offset, extent);
	return measure_dos(view, base, &dos, extent);
}

/* DOS/4G binds its own programs before another one: each 'BW' header has the offset of the next. */
static void follow_bound(struct view *view, struct finding *finding, struct mz_extent *extent)
{
	uint64_t at = extent->end;

	for (int i = 0; i < BOUND_MAX; i++) {
		const uint8_t *p = view_peek(view, at, 32);

		if (!p || p[0] != 'B' || p[1] != 'W' || le32(p + 28) < at + 32)
			break;
		at = le32(p + 28);
	}
	if (at != extent->end && measure(view, finding, at, extent) != NULL) {
		mz_extend(extent, at);
		mz_mark_broken(extent, at);
	}
}

static bool foreign_end(struct view *view, const struct mz_extent *extent)
{
	uint64_t from =
		extent->end > extent->code + FOREIGN_LEN ? extent->end - FOREIGN_LEN : extent->code;

	return noise_at(view, from, extent->end) ||
	       foreign_tail(view, extent->code, extent->end) + FOREIGN_LEN <= extent->end;
}

static enum verdict judge_extent(
	struct view *view, struct finding *finding, const struct mz_extent *extent)
{
	enum verdict verdict;

	if (extent->end > view_size(view))
		return walk_cut(
			view, finding, extent->end, foreign_start(view, extent->code, extent->end));
	if (extent->broken_at)
		return foreign_cut(view, finding, extent->code, extent->end,
			"invalid relocations, names or resources", extent->broken_at);
	if (overlay_include(view, extent->end, finding, &verdict))
		return verdict;
	finding->length = extent->end;
	if (extent->proof && walk_zeros(view, extent->proof, extent->end))
		return CARVE_COMPLETE;
	if (foreign_end(view, extent))
		return foreign_cut(view, finding, extent->code, extent->end,
			"foreign bytes before the program's end", extent->end);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the last bytes of the program, before %" PRIu64 ", cannot be verified",
		extent->end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mz_extent extent = { 0 };
	const char *problem;

	finding->extension = "exe";
	problem = measure(view, finding, 0, &extent);
	if (problem) {
		finding->extension = NULL;
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	}
	follow_bound(view, finding, &extent);
	mz_skip_overlays(view, &extent);
	return judge_extent(view, finding, &extent);
}

const struct carver mz_carver = {
	.name = "mz",
	.summary = "DOS, 16-bit Windows and OS/2 programs (MZ, NE, LE, LX), by headers and tables",
	.check = check,
	.quick = true,
};
