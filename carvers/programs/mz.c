/*
 * Programs for DOS, and those for 16-bit Windows, OS/2 and DOS extenders whose headers stand behind
 * a DOS program (MS-DOS Programmer's Reference; Microsoft, Executable-file header format of NE
 * files; IBM, OS/2 32-bit LX format).
 *
 *	DOS:    header ('MZ'), relocations; image. At 60, if there is a new header, its place
 *	NE:     header, tables of segments, resources and names; segments with relocations,
 *	        resources
 *	LE, LX: header, objects, pages, fixups; pages
 *	DOS/4G: a DOS program, then 'BW' headers, each with the place of the next, and a linear
 *	        program
 *
 * PE is left to its own carver. The length of a DOS image is told in pages of 512 bytes; overlays
 * and tables of debuggers stand behind it. That of the others is the end of what reaches farthest.
 *
 * What vouches for the bytes: relocations (each place in the image holds a segment of it), a
 * checksum if there is one, names and relocations of segments, versions, fonts, and what debuggers
 * want. If such a structure is the last one the file is complete; if one is broken, truncated. Else
 * nothing tells the last bytes from others, and it is unverified. An archive behind a program
 * belongs to it (appended.c).
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

struct dos {
	uint64_t len; /* of header and image */
	uint64_t head_len;
	uint32_t memory; /* paragraphs from the image's start */
	uint16_t relocation_count, relocations_at, checksum, overlay;
	uint32_t place; /* of a new header, if there is one */
};

void mz_reach(struct mz_extent *extent, uint64_t end)
{
	if (end > extent->end)
		extent->end = end;
}

void mz_prove(struct mz_extent *extent, uint64_t end)
{
	mz_reach(extent, end);
	if (end > extent->proof)
		extent->proof = end;
}

void mz_break(struct mz_extent *extent, uint64_t at)
{
	if (extent->broken == 0 || at < extent->broken)
		extent->broken = at;
}

/* The DOS header at `at`: false when there is none. What stands behind 28 bytes may be missing in
 * programs of DOS. */
static bool read_dos(struct view *view, uint64_t at, struct dos *dos)
{
	const uint8_t *p = view_peek(view, at, 28), *place;
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
	place = view_peek(view, at + 60, 4);
	dos->place = place ? le32(place) : 0;
	return true;
}

/* Whether the fields that only a DOS program needs make sense. */
static bool sound_dos(struct view *view, uint64_t at, const struct dos *dos)
{
	const uint8_t *p = view_peek(view, at, 28);
	uint32_t entry;

	if (!p || dos->head_len < 32 || dos->head_len >= dos->len || le16(p + 10) > le16(p + 12))
		return false;
	if (dos->relocation_count &&
		(dos->relocations_at < 28 ||
			dos->relocations_at + 4 * (uint64_t)dos->relocation_count > dos->head_len))
		return false;
	/* Segments count from the image's start, in 20 bits: those in front of it are negative. */
	entry = ((uint32_t)le16(p + 22) * PARAGRAPH + le16(p + 20)) & 0xfffff;
	return entry < dos->len - dos->head_len &&
	       (le16(p + 14) <= dos->memory || le16(p + 14) >= 0xfff0);
}

/* Each relocation is of a word in the image that holds a segment of the program. */
static void walk_relocations(
	struct view *view, uint64_t base, const struct dos *dos, struct mz_extent *extent)
{
	uint64_t image = base + dos->head_len, end = base + dos->len, last = 0,
		 first_bad = UINT64_MAX;
	uint32_t bad = 0;

	for (uint32_t i = 0; i < dos->relocation_count; i++) {
		const uint8_t *p = view_peek(view, base + dos->relocations_at + 4 * (uint64_t)i, 4);
		uint64_t place = p ? image + le16(p + 2) * (uint64_t)PARAGRAPH + le16(p) : end;

		p = place + 2 <= end ? view_peek(view, place, 2) : NULL;
		if (p && (le16(p) <= dos->memory || le16(p) >= 0xfff0)) {
			last = place + 2 > last ? place + 2 : last;
			continue;
		}
		bad++;
		first_bad = place < first_bad ? place : first_bad;
	}
	if (bad > dos->relocation_count / 16)
		mz_break(extent, first_bad);
	else if (last)
		mz_prove(extent, last);
}

/* The words of the whole image make 0 or FFFF together with the checksum among them. */
static bool checksum_holds(struct view *view, uint64_t base, const struct dos *dos)
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
	struct view *view, uint64_t base, const struct dos *dos, struct mz_extent *extent)
{
	if (dos->relocations_at >= 64 && dos->place >= 64 && dos->place < 0x100000)
		return "no new header";
	if (!sound_dos(view, base, dos))
		return "impossible fields of a DOS header";
	if (extent->code == 0)
		extent->code = base + dos->head_len;
	mz_reach(extent, base + dos->len);
	walk_relocations(view, base, dos, extent);
	if (dos->checksum && base + dos->len <= view_size(view) && checksum_holds(view, base, dos))
		mz_prove(extent, base + dos->len);
	return NULL;
}

/* The program with a DOS header at `base`: what is wrong with its headers, or NULL. */
static const char *measure(
	struct view *view, struct finding *finding, uint64_t base, struct mz_extent *extent)
{
	struct dos dos;
	const uint8_t *p;

	if (!read_dos(view, base, &dos) || dos.overlay)
		return "no DOS header";
	p = dos.place ? view_peek(view, base + dos.place, 4) : NULL;
	if (p && p[0] == 'P' && p[1] == 'E')
		return "a PE header";
	if (p && p[0] == 'N' && p[1] == 'E')
		return mz_ne(view, finding, base, base + dos.place, extent);
	if (p && p[0] == 'L' && (p[1] == 'E' || p[1] == 'X'))
		return mz_le(view, finding, base, base + dos.place, extent);
	return measure_dos(view, base, &dos, extent);
}

/* DOS/4G binds its own programs in front of one: each 'BW' header has the place of the next. */
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
		mz_reach(extent, at);
		mz_break(extent, at);
	}
}

static bool foreign_end(struct view *view, const struct mz_extent *extent)
{
	uint64_t from =
		extent->end > extent->code + FOREIGN_LEN ? extent->end - FOREIGN_LEN : extent->code;

	return noise_at(view, from, extent->end) ||
	       foreign_tail(view, extent->code, extent->end) + FOREIGN_LEN <= extent->end;
}

static enum verdict judge(
	struct view *view, struct finding *finding, const struct mz_extent *extent)
{
	enum verdict verdict;

	if (extent->end > view_size(view))
		return walk_cut(
			view, finding, extent->end, foreign_start(view, extent->code, extent->end));
	if (extent->broken)
		return foreign_cut(view, finding, extent->code, extent->end,
			"relocations, names or resources broken", extent->broken);
	if (overlay_take(view, extent->end, finding, &verdict))
		return verdict;
	finding->length = extent->end;
	if (extent->proof && walk_zeros(view, extent->proof, extent->end))
		return CARVE_COMPLETE;
	if (foreign_end(view, extent))
		return foreign_cut(view, finding, extent->code, extent->end,
			"other bytes than a program's before", extent->end);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing vouches for the last bytes of the program, before %" PRIu64, extent->end);
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
	mz_behind(view, &extent);
	return judge(view, finding, &extent);
}

const struct carver mz_carver = {
	.name = "mz",
	.summary = "DOS, 16-bit Windows and OS/2 programs (MZ, NE, LE, LX), by headers and tables",
	.check = check,
};
