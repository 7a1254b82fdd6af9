/*
 * What belongs together in a presentation's main stream ([MS-PPT]): `Current User` has the offset of the last edit (2.3.2), that of
 * the list of all objects (2.3.3), and the list those of slides, masters and notes (2.3.5), which are records that no other
 * one holds. In all presentations that were looked at, but encrypted ones, these are right.
 */
#include "ole_pages.h"

#include <stdlib.h>

#include "bytes.h"
#include "ole_places.h"
#include "walk.h"

#define HEAD_LEN 8
#define RECORD_BITS 4 /* of a record that begins where the one before ends, */
#define EDIT_BITS 10  /* of the last edit where another stream says, */
#define PLACE_BITS 6  /* of a record where an offset says, */
#define OUTER_BITS 5  /* of one where a slide ends */
#define FAR 600       /* bytes between such places */
#define POINTERS_MAX ((size_t)1 << 16)

enum {
	SLIDE = 1006,
	NOTES = 1008,
	EDIT = 4085,
	LIST = 6002,
};

struct show {
	const struct ole_flat *flat;
	uint8_t *starts, *outer; /* a bit for each record's offset; those that no other holds */
	uint32_t end;            /* of the records */
	struct ole_pointer *pointers;
	size_t count, room;
	bool has_wrong;
};

static bool is_outer(const struct show *show, uint32_t at)
{
	return at < show->end && show->outer[at / 8] >> at % 8 & 1;
}

static void add_pointer(struct show *show, uint32_t from, uint32_t to)
{
	struct ole_pointer *list;

	if (!to) /* each file's first record */
		return;
	if (!is_outer(show, to)) {
		show->has_wrong = true;
		return;
	}
	list = walk_list_grow(ole_flat_view(show->flat), show->pointers, show->count, &show->room,
		POINTERS_MAX, sizeof(*list));
	if (!list)
		return;
	show->pointers = list;
	list[show->count++] = (struct ole_pointer){ from, to };
}

/* Marks the records that are held by others, and those that are not. */
static void mark_records(struct show *show)
{
	const struct ole_flat *flat = show->flat;
	uint32_t at = 0;

	while (at + HEAD_LEN <= flat->len) {
		size_t len = ole_powerpoint_len(flat->bytes + at);

		if (!len || len > flat->len - at)
			break;
		show->starts[at / 8] |= (uint8_t)(1 << at % 8);
		at += (uint32_t)len;
	}
	show->end = at;
	for (at = 0; at + HEAD_LEN <= show->end;) {
		uint32_t len = le32(flat->bytes + at + 4);

		if (!(show->starts[at / 8] >> at % 8 & 1) || len > show->end - at - HEAD_LEN)
			break;
		show->outer[at / 8] |= (uint8_t)(1 << at % 8);
		at += HEAD_LEN + len;
	}
}

/* A list of objects: the number of the first one and, in the upper bits, how many follow, with the offset of each. */
static void read_list(struct show *show, uint32_t at, uint32_t len)
{
	const uint8_t *p = show->flat->bytes + at + HEAD_LEN;
	uint32_t i = 0;

	while (i + 4 <= len) {
		uint32_t count = le32(p + i) >> 20;

		for (i += 4; count && i + 4 <= len; count--, i += 4)
			add_pointer(show, at + HEAD_LEN + i, le32(p + i));
	}
}

static void look_at(struct show *show, uint32_t at)
{
	const uint8_t *p = show->flat->bytes + at;
	uint32_t len = le32(p + 4);

	if ((p[0] & 15) != 15)
		ole_note_own(show->flat, at + HEAD_LEN, at + HEAD_LEN + len);
	switch (le16(p + 2)) {
	case EDIT:
		if (!is_outer(show, at) || len < 20)
			break;
		add_pointer(show, at, le32(p + HEAD_LEN + 8));
		add_pointer(show, at, le32(p + HEAD_LEN + 12));
		break;
	case LIST:
		if (is_outer(show, at))
			read_list(show, at, len);
		break;
	case SLIDE:
	case NOTES:
		if (is_outer(show, at) && is_outer(show, at + HEAD_LEN + len))
			ole_link(show->flat, at + HEAD_LEN + len, at, OUTER_BITS);
		break;
	default:
		break;
	}
}

uint32_t ole_link_presentation(const struct ole_flat *flat, uint32_t edit, uint32_t edit_page)
{
	struct show show = { .flat = flat,
		.starts = calloc(flat->len / 8 + 1, 1),
		.outer = calloc(flat->len / 8 + 1, 1) };
	uint32_t end = 0;

	if (!show.starts || !show.outer) {
		view_no_memory(ole_flat_view(flat));
	} else {
		mark_records(&show);
		for (uint32_t at = 0; at + HEAD_LEN <= show.end;
			at += (uint32_t)ole_powerpoint_len(flat->bytes + at))
			look_at(&show, at);
		ole_link_records(
			flat, show.starts, show.end, HEAD_LEN, ole_powerpoint_len, RECORD_BITS);
		if (!show.has_wrong)
			ole_link_pointers(flat, show.pointers, show.count, PLACE_BITS, FAR);
		if (edit && is_outer(&show, edit) && le16(flat->bytes + edit + 2) == EDIT)
			ole_link_page(flat, edit, edit_page, EDIT_BITS);
		end = edit ? 0 : show.end; /* the edit is before the end */
	}
	free(show.starts);
	free(show.outer);
	free(show.pointers);
	return end;
}
