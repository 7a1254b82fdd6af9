/*
 * Media data whose description is lost. Where each sample is a picture file of its own (PNG, JPEG 2000, and the
 * Motion JPEG of cameras), they can be found without it: each is named as embedded. The first one begins the media
 * data. The next one follows it, or comes after a piece of sound: then it begins as the first one does, has its
 * size, and does not begin at a sector, where it might be another file.
 */
#include "mp4.h"

#include <string.h>

#include "bytes.h"
#include "walk.h"

#define PADDING_MAX 16
#define SOUND_MAX (512 * 1024) /* bytes between two pictures */

enum { SOI = 0xd8, EOI = 0xd9, SOS = 0xda, RST0 = 0xd0, RST7 = 0xd7, FILL = 0xff };
enum { SOF0 = 0xc0, SOF2 = 0xc2 };

enum kind { NONE, JPEG, PNG, JP2 };

struct picture {
	enum kind kind;
	uint64_t end;
	uint8_t size[8]; /* as the file has it; 0 where that was not looked for */
};

/* How a picture begins: other pictures of the film begin with these bytes, too. */
struct beginning {
	enum kind kind;
	size_t len;
	uint8_t bytes[12];
};
static const struct beginning beginnings[] = {
	{ JPEG, 3, { 0xff, SOI, 0xff } },
	{ PNG, 8, { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' } },
	{ JP2, 12, { 0, 0, 0, 12, 'j', 'P', ' ', ' ', '\r', '\n', 0x87, '\n' } },
};

static const struct beginning *beginning_at(struct view *view, uint64_t at)
{
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		const uint8_t *p = view_peek(view, at, beginnings[i].len);

		if (p && memcmp(p, beginnings[i].bytes, beginnings[i].len) == 0)
			return &beginnings[i];
	}
	return NULL;
}

static bool read_png(struct view *view, uint64_t at, uint64_t end, struct picture *picture)
{
	const uint8_t *p = view_peek(view, at, 24);

	if (!p)
		return false;
	memcpy(picture->size, p + 16, 8);
	for (at += 8; (p = view_peek(view, at, 8)); at += 12 + (uint64_t)be32(p)) {
		if (be32(p) > INT32_MAX || 12 + (uint64_t)be32(p) > end - at)
			return false;
		if (memcmp(p + 4, "IEND", 4) == 0) {
			picture->end = at + 12;
			return true;
		}
	}
	return false;
}

/* Up to its codestream, which has a length. */
static bool read_jp2(struct view *view, uint64_t at, uint64_t end, struct picture *picture)
{
	const uint8_t *p;

	for (; (p = view_peek(view, at, 8)); at += be32(p)) {
		if (be32(p) < 8 || be32(p) > end - at)
			return false;
		if (memcmp(p + 4, "jp2c", 4) == 0) {
			picture->end = at + be32(p);
			return true;
		}
	}
	return false;
}

static void read_jpeg_size(struct view *view, uint64_t marker, struct picture *picture)
{
	const uint8_t *p = view_peek(view, marker + 5, 4);

	if (p)
		memcpy(picture->size, p, 4);
}

static bool read_jpeg(struct view *view, uint64_t at, uint64_t end, struct picture *picture)
{
	bool coded = false;
	const uint8_t *p;

	at += 2;
	while (walk_find(view, &at, end, 0xff) && (p = view_peek(view, at, 4))) {
		uint8_t marker = p[1];
		uint64_t len = be16(p + 2);

		if (marker == EOI) {
			picture->end = at + 2;
			return true;
		}
		if (marker == SOI)
			return false;
		if (marker >= SOF0 && marker <= SOF2)
			read_jpeg_size(view, at, picture);
		coded |= marker == SOS;
		at += marker == FILL                                  ? 1
		      : !marker || (marker >= RST0 && marker <= RST7) ? 2
								      : 2 + len;
		if (at >= end || (!coded && (p = view_peek(view, at, 1)) && *p != 0xff))
			return false;
	}
	return false;
}

/* The picture at `at`. False: none that ends before `end`. */
static bool read_picture(struct view *view, uint64_t at, uint64_t end, struct picture *picture)
{
	const struct beginning *beginning = beginning_at(view, at);

	*picture = (struct picture){ .kind = beginning ? beginning->kind : NONE };
	switch (picture->kind) {
	case JPEG:
		return read_jpeg(view, at, end, picture);
	case PNG:
		return read_png(view, at, end, picture);
	case JP2:
		return read_jp2(view, at, end, picture);
	case NONE:
		break;
	}
	return false;
}

/* Where the next picture like `first` begins, after some sound; 0: nowhere. */
static uint64_t find_next(struct view *view, uint64_t at, uint64_t end, const struct picture *first)
{
	const struct beginning *beginning = &beginnings[first->kind - JPEG];

	if (end - at > SOUND_MAX)
		end = at + SOUND_MAX;
	for (; walk_find(view, &at, end, beginning->bytes[0]); at++) {
		const uint8_t *p = view_peek(view, at, beginning->len);

		if (p && at % SECTOR && memcmp(p, beginning->bytes, beginning->len) == 0)
			return at;
	}
	return 0;
}

static uint64_t skip_padding(struct view *view, uint64_t at)
{
	const uint8_t *p;

	for (size_t i = 0; i < PADDING_MAX && (p = view_peek(view, at, 1)) && !*p; i++)
		at++;
	return at;
}

/* The next picture of the film from `at` on, where one has ended; its begin, or 0: none is found. */
static uint64_t read_next(struct view *view, uint64_t at, uint64_t end, const struct picture *first,
	struct picture *next)
{
	uint64_t begin = at;

	/* A JP2 begins with zeros. */
	if (!beginning_at(view, begin))
		begin = skip_padding(view, at);
	if (beginning_at(view, begin)) {
		read_picture(view, begin, end, next);
		return begin;
	}
	begin = find_next(view, at, end, first);
	if (begin && read_picture(view, begin, end, next) &&
		memcmp(next->size, first->size, sizeof(next->size)) == 0)
		return begin;
	return 0;
}

uint64_t mp4_name_frames(struct view *view, uint64_t at, uint64_t end)
{
	struct picture first, next;
	uint64_t begin = at, last = at;

	if (!beginning_at(view, at))
		return at;
	read_picture(view, at, end, &first);
	for (next = first; begin; begin = read_next(view, last, end, &first, &next)) {
		view_embedded(view, begin);
		if (!next.end)
			break;
		last = next.end;
	}
	return last;
}
