/* The headers of OpenEXR files: attributes, and the number of chunks that follows from them. */
#include "exr.h"

#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "walk.h"

#define NAME_LEN 256
#define ATTRIBUTES_MAX 4096

/* Reads a text that ends with a zero and moves *at past it. False: there is none. */
static bool read_name(struct view *view, uint64_t *at, char name[NAME_LEN])
{
	size_t len;
	const uint8_t *p = walk_ended_text(view, *at, NAME_LEN, &len);

	if (!p)
		return false;
	for (size_t i = 0; i < len; i++)
		if (p[i] < 0x20 || p[i] == 0x7f)
			return false;
	memcpy(name, p, len + 1);
	*at += len + 1;
	return true;
}

static void read_date(struct exr *exr, const uint8_t *value, uint32_t len)
{
	char text[32] = "";
	int date[6];

	memcpy(text, value, len < sizeof(text) ? len : sizeof(text) - 1);
	if (sscanf(text, "%d:%d:%d %d:%d:%d", date, date + 1, date + 2, date + 3, date + 4,
		    date + 5) == 6)
		exr->finding->time =
			utc_seconds(date[0], date[1], date[2], date[3], date[4], date[5]);
}

static void read_value(struct exr *exr, struct exr_part *part, const char *name,
	const uint8_t *value, uint32_t len)
{
	if (strcmp(name, "channels") == 0) {
		part->channels = len > 16;
	} else if (strcmp(name, "compression") == 0 && len == 1) {
		part->compression = value[0];
		part->compressed = true;
	} else if (strcmp(name, "dataWindow") == 0 && len == 16) {
		part->left = (int32_t)le32(value);
		part->top = (int32_t)le32(value + 4);
		part->right = (int32_t)le32(value + 8);
		part->bottom = (int32_t)le32(value + 12);
		part->window = true;
	} else if (strcmp(name, "tiles") == 0 && len == 9) {
		part->tile_width = le32(value);
		part->tile_height = le32(value + 4);
		part->levels = value[8];
	} else if (strcmp(name, "chunkCount") == 0 && len == 4) {
		part->chunks = le32(value);
	} else if (strcmp(name, "type") == 0) {
		part->deep = len >= 4 && memcmp(value, "deep", 4) == 0;
		part->tiled = (len == 10 && memcmp(value, "tiledimage", 10) == 0) ||
			      (len == 8 && memcmp(value, "deeptile", 8) == 0);
	} else if (strcmp(name, "capDate") == 0) {
		read_date(exr, value, len);
	}
}

static uint64_t divided(uint64_t value, uint64_t by)
{
	return (value + by - 1) / by;
}

/* The size of a level of mipmaps: halved, rounded down or up. */
static uint64_t level_size(uint64_t size, unsigned level, bool up)
{
	uint64_t small = up ? divided(size, 1ull << level) : size >> level;

	return small ? small : 1;
}

static unsigned level_count(uint64_t size, bool up)
{
	unsigned count = 1;

	while (up ? size > 1ull << (count - 1) : size >> count)
		count++;
	return count;
}

static uint64_t tile_count(const struct exr_part *part, uint64_t width, uint64_t height)
{
	bool up = part->levels >> 4;
	unsigned mode = part->levels & 15;
	unsigned across = level_count(width, up), down = level_count(height, up);
	uint64_t count = 0;

	if (mode == 1)
		across = down = level_count(width > height ? width : height, up);
	for (unsigned x = 0; x < (mode ? across : 1); x++) {
		for (unsigned y = 0; y < (mode == 2 ? down : 1); y++) {
			unsigned level_y = mode == 2 ? y : x;

			count += divided(level_size(width, x, up), part->tile_width) *
				 divided(level_size(height, level_y, up), part->tile_height);
		}
	}
	return count;
}

/* Checks a part's attributes together. Returns what is wrong, or NULL. */
static const char *finish_part(struct exr_part *part)
{
	static const uint16_t lines[] = { 1, 1, 1, 16, 32, 16, 32, 32, 32, 256, 256, 32 };
	uint64_t width = (uint64_t)((int64_t)part->right - part->left + 1);
	uint64_t height = (uint64_t)((int64_t)part->bottom - part->top + 1);

	if (!part->channels || !part->compressed || !part->window)
		return "a header without channels, compression or window";
	if (part->compression >= sizeof(lines) / sizeof(lines[0]))
		return "a header with an unknown compression";
	if (part->right < part->left || part->bottom < part->top || width > INT32_MAX ||
		height > INT32_MAX)
		return "a header with an impossible window";
	part->lines = lines[part->compression];
	if (part->tiled &&
		(part->tile_width - 1 >= INT32_MAX || part->tile_height - 1 >= INT32_MAX ||
			(part->levels & 15) > 2 || part->levels >> 4 > 1))
		return "a header with impossible tiles";
	if (part->chunks > INT32_MAX)
		return "a header with an impossible number of chunks";
	if (!part->chunks)
		part->chunks = part->tiled ? tile_count(part, width, height)
					   : divided(height, part->lines);
	return NULL;
}

/* Reads the attributes of a part, up to the zero that ends them. Returns what is wrong, or NULL. */
static const char *read_part(struct exr *exr, struct exr_part *part)
{
	struct view *view = exr->view;
	char name[NAME_LEN], type[NAME_LEN];

	part->tiled = !exr->several && exr->flags & EXR_TILED;
	for (unsigned count = 0; count < ATTRIBUTES_MAX; count++) {
		uint64_t at = exr->end;
		const uint8_t *p;
		uint32_t len;

		if (!read_name(view, &at, name))
			return "no attribute";
		if (!name[0]) {
			exr->end = at;
			return finish_part(part);
		}
		p = read_name(view, &at, type) ? view_peek(view, at, 4) : NULL;
		if (!p || !type[0])
			return "no attribute";
		len = le32(p);
		if (len > INT32_MAX || at + 4 + len > view_size(view))
			return "an attribute is longer than the header can be";
		p = view_peek(view, at + 4, len < 64 ? len : 64);
		if (p)
			read_value(exr, part, name, p, len < 64 ? len : 64);
		exr->end = at + 4 + len;
	}
	return "too many attributes";
}

const char *exr_read_headers(struct exr *exr)
{
	const uint8_t *p = view_peek(exr->view, 0, 8);

	if (!p || le32(p) != 20000630 || p[4] != 2)
		return "no OpenEXR file of version 2";
	exr->flags = le32(p + 4);
	if (exr->flags & ~0x1effu)
		return "unknown flags";
	exr->several = exr->flags & EXR_PARTED;
	exr->end = 8;
	for (;;) {
		const char *problem;

		if (exr->several && exr->part_count) {
			p = view_peek(exr->view, exr->end, 1);
			if (p && p[0] == 0) {
				exr->end++;
				return NULL;
			}
		}
		if (exr->part_count == EXR_PARTS)
			return "too many parts";
		problem = read_part(exr, &exr->parts[exr->part_count]);
		if (problem)
			return problem;
		if (exr->flags & EXR_DEEP && !exr->several)
			exr->parts[0].deep = true;
		exr->part_count++;
		if (!exr->several)
			return NULL;
	}
}
