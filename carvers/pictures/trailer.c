/*
 * Trailers that contain their own length; each counts only if it is consistent.
 *
 * Canon's, from its raw converter (ExifTool, CanonVRD): 'CANON OPTIONAL DATA' and a zero, 4 bytes,
 * length (4 bytes at 24, big-endian), that many bytes, and a foot of 64 bytes that starts like the
 * head, with the length at 20.
 *
 * Samsung's (ExifTool, Samsung): blocks of two zeros, a type (2 bytes, little-endian), the length
 * of a name (4), the name, data; among them whole videos. Then a directory 'SEFH': version (4),
 * number of blocks (4), for each 2 zeros, its type (2), its distance before the directory (4), its
 * length (4). Then the directory's length (4) and 'SEFT'. The directory has to be searched for from
 * the first block on.
 */
#include "trailer.h"

#include <string.h>

#include "bmff.h"
#include "bytes.h"
#include "walk.h"

#define CANON_MARK "CANON OPTIONAL DATA"
#define CANON_HEAD_LEN 28
#define CANON_FOOT_LEN 64
#define SAMSUNG_BLOCKS 64
#define SAMSUNG_MAX (64u << 20)

bool trailer_begins(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, sizeof(CANON_MARK));

	return p && memcmp(p, CANON_MARK, sizeof(CANON_MARK)) == 0;
}

static uint64_t canon_end(struct view *view, uint64_t at)
{
	const uint8_t *p;
	uint32_t len;

	if (!trailer_begins(view, at))
		return at;
	p = view_peek(view, at, CANON_HEAD_LEN);
	if (!p)
		return at;
	len = be32(p + 24);
	p = view_peek(view, at + CANON_HEAD_LEN + len, CANON_FOOT_LEN);
	if (!p || memcmp(p, CANON_MARK, sizeof(CANON_MARK)) != 0 || be32(p + 20) != len)
		return at;
	return at + CANON_HEAD_LEN + len + CANON_FOOT_LEN;
}

/* Whether one of Samsung's blocks starts at `at`. */
static bool samsung_block(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 12);

	if (!p || le16(p) != 0 || le16(p + 2) == 0 || le32(p + 4) == 0 || le32(p + 4) > 64)
		return false;
	for (size_t i = 8; i < 12; i++)
		if (p[i] < 0x20 || p[i] > 0x7e)
			return false;
	return true;
}

/* The end of the directory at `at`, if its farthest block starts at `first`; else 0. */
static uint64_t samsung_directory(struct view *view, uint64_t at, uint64_t first)
{
	const uint8_t *p = view_peek(view, at, 12);
	uint32_t count = p ? le32(p + 8) : 0, len = 12 + 12 * count, farthest = 0;

	if (!p || memcmp(p, "SEFH", 4) != 0 || !count || count > SAMSUNG_BLOCKS)
		return 0;
	p = view_peek(view, at, len + 8);
	if (!p || le32(p + len) != len || memcmp(p + len + 4, "SEFT", 4) != 0)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (le32(p + 12 + 12 * i + 4) > farthest)
			farthest = le32(p + 12 + 12 * i + 4);
	return at - first == farthest ? at + len + 8 : 0;
}

static uint64_t samsung_end(struct view *view, uint64_t at)
{
	uint64_t end, place = at, limit = at + SAMSUNG_MAX;

	if (!samsung_block(view, at))
		return at;
	while (walk_find(view, &place, limit, 'S')) {
		end = samsung_directory(view, place, at);
		if (end)
			return end;
		place++;
	}
	return at;
}

uint64_t trailer_end(struct view *view, uint64_t at)
{
	uint64_t end = canon_end(view, at);

	return end > at ? end : samsung_end(view, at);
}

static bool video_box(uint32_t type)
{
	static const uint32_t types[] = { BMFF('f', 't', 'y', 'p'), BMFF('m', 'o', 'o', 'v'),
		BMFF('m', 'd', 'a', 't'), BMFF('f', 'r', 'e', 'e'), BMFF('s', 'k', 'i', 'p'),
		BMFF('w', 'i', 'd', 'e'), BMFF('u', 'u', 'i', 'd'), BMFF('m', 'e', 't', 'a') };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i] == type)
			return true;
	return false;
}

uint64_t trailer_video_end(struct view *view, uint64_t at)
{
	uint64_t end = at, size = view_size(view);
	bool movie = false, media = false;
	struct bmff_box box;

	while (bmff_read(view, end, size, &box) == BMFF_BOX && video_box(box.type) && !box.open) {
		if ((end == at) != (box.type == BMFF('f', 't', 'y', 'p')))
			break;
		movie = movie || box.type == BMFF('m', 'o', 'o', 'v');
		media = media || box.type == BMFF('m', 'd', 'a', 't');
		end = box.end;
	}
	return movie && media ? end : at;
}
