/*
 * The pictures of a workbook ([MS-XLS] 2.4.171) where proof is asked for: they are in one drawing ([MS-ODRAW] 2.2.12) that is cut into records,
 * wherever each is full. So its bytes are put together first, with where they are in the stream. What verifies a picture: see
 * ole_pictures.c.
 */
#include "ole.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "bytes.h"
#include "inflated.h"
#include "md5.h"
#include "png_chunks.h"
#include "walk.h"

#define RECORD_HEAD 4
#define RECORD_MAX 8224
#define DRAWING_MAX ((size_t)16 << 20)
#define PARTS_MAX ((size_t)1 << 12)
#define HEAD_LEN 8
#define ENTRY_LEN 36 /* of a picture, before its name */
#define ENTRY_NAME 33
#define UNPACKED_MAX ((uint64_t)64 << 20)

enum {
	PASSWORD = 0x002f,
	CONTINUED = 0x003c,
	DRAWING = 0x00eb,
	PICTURES = 0xf001,
	PICTURES_OF = 0xf000, /* what holds them */
	PICTURE_ENTRY = 0xf007,
};

/* Bytes of the drawing that are one after another in the stream. */
struct part {
	size_t from; /* in the drawing */
	uint64_t at; /* in the stream */
};

struct drawing {
	struct ole *ole;
	const struct ole_entry *entry;
	uint8_t *bytes;
	size_t len, room;
	struct part *parts;
	size_t part_count, part_room;
};

/* Where a byte of the drawing is in the stream. */
static uint64_t place_of(const struct drawing *drawing, size_t at)
{
	size_t low = 0, high = drawing->part_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (drawing->parts[middle].from <= at)
			low = middle;
		else
			high = middle;
	}
	return drawing->parts[low].at + (at - drawing->parts[low].from);
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool add_part(
	struct drawing *drawing, struct ole_position *position, uint64_t at, size_t len)
{
	struct part *parts;
	uint8_t *bytes;

	if (len > DRAWING_MAX - drawing->len || !view_work(drawing->ole->view, len))
		return false;
	parts = walk_list_grow(drawing->ole->view, drawing->parts, drawing->part_count,
		&drawing->part_room, PARTS_MAX, sizeof(*parts));
	if (!parts)
		return false;
	drawing->parts = parts;
	if (len + OLE_BLIP_MAX > drawing->room - drawing->len) {
		size_t room = 2 * (drawing->len + len + OLE_BLIP_MAX);

		bytes = realloc(drawing->bytes, room);
		if (!bytes) {
			view_no_memory(drawing->ole->view);
			return false;
		}
		drawing->bytes = bytes;
		drawing->room = room;
	}
	if (!ole_read(drawing->ole, position, at, drawing->bytes + drawing->len, len))
		return false;
	parts[drawing->part_count++] = (struct part){ drawing->len, at };
	drawing->len += len;
	return true;
}

/* Reads the drawing as far as its records are there: it is before the sheets. */
static void read_drawing(struct drawing *drawing)
{
	struct ole_position position = { .entry = drawing->entry };
	uint8_t head[RECORD_HEAD];
	uint64_t at = 0, len;

	for (; ole_read(drawing->ole, &position, at, head, sizeof(head));
		at += sizeof(head) + len) {
		uint16_t type = le16(head);

		len = le16(head + 2);
		if (!type || type == PASSWORD || len > RECORD_MAX ||
			!view_work(drawing->ole->view, 4))
			return;
		if (type == DRAWING || (type == CONTINUED && drawing->len)) {
			if (len && !add_part(drawing, &position, at + sizeof(head), (size_t)len))
				return;
		} else if (drawing->len) {
			return;
		}
	}
}

/* ---- checking ------------------------------------------------------------------------------- */

static void prove(const struct drawing *drawing, size_t from, size_t to, unsigned bits)
{
	struct ole_position position = { .entry = drawing->entry };

	ole_prove(drawing->ole, position, place_of(drawing, from), place_of(drawing, to - 1) + 1,
		bits);
}

static void fail(const struct drawing *drawing, const char *problem, size_t at)
{
	struct ole_position position = { .entry = drawing->entry };
	uint64_t place = ole_file_offset(drawing->ole, &position, place_of(drawing, at));

	ole_contradicts(drawing->ole, problem, place >> drawing->ole->shift << drawing->ole->shift);
}

static bool has_digest(const struct drawing *drawing, size_t from, size_t to, const uint8_t *id)
{
	uint8_t digest[MD5_LEN];
	struct md5 md4;

	md4_start(&md4);
	md5_add(&md4, drawing->bytes + from, to - from);
	md5_end(&md4, digest);
	return memcmp(digest, id, sizeof(digest)) == 0;
}

static void check_png(const struct drawing *drawing, size_t from, size_t to)
{
	struct png_chunks chunks = png_chunks_begin(from + PNG_SIGNATURE_LEN, to);
	size_t used;

	while (chunks.at < to) {
		enum png_step step = png_chunks_feed(
			&chunks, drawing->bytes + chunks.at, to - (size_t)chunks.at, &used);

		if (step == PNG_CHUNK)
			prove(drawing, (size_t)chunks.chunk_at, (size_t)chunks.at, OLE_CHECK_BITS);
		else if (step != PNG_MORE) {
			fail(drawing,
				step == PNG_BAD_CRC ? "wrong CRC of a picture's chunk"
						    : "no chunk of a picture",
				(size_t)chunks.chunk_at);
			return;
		}
	}
}

static void check_metafile(const struct drawing *drawing, size_t from, size_t to)
{
	struct inflated inflated = { 0 };
	enum inflated_state state = INFLATED_MORE;
	size_t at = from, used;

	if (!inflated_open(&inflated, drawing->ole->view, INFLATED_ZLIB))
		return;
	while (state == INFLATED_MORE && at < to && inflated.output_len <= UNPACKED_MAX) {
		state = inflated_feed(
			&inflated, drawing->bytes + at, to - at < 512 ? to - at : 512, &used);
		at += used;
	}
	inflated_close(&inflated);
	if (state == INFLATED_DONE)
		prove(drawing, from, at, OLE_CHECK_BITS);
	else if (state == INFLATED_BAD)
		fail(drawing, "invalid data of a picture", at < to ? at : to - 1);
}

static void check_picture(
	const struct drawing *drawing, size_t from, size_t to, const uint8_t *id, bool is_packed)
{
	if (!view_work(drawing->ole->view, to - from))
		return;
	if (is_packed)
		check_metafile(drawing, from, to);
	else if (has_digest(drawing, from, to, id))
		prove(drawing, from, to, OLE_DIGEST_BITS);
	else if (to - from > 8 && memcmp(drawing->bytes + from, "\x89PNG", 4) == 0)
		check_png(drawing, from, to);
}

/* Follows the drawing's records to its pictures. */
static void check_records(const struct drawing *drawing)
{
	size_t at = 0;

	while (drawing->len - at >= HEAD_LEN) {
		const uint8_t *p = drawing->bytes + at;
		size_t left = drawing->len - at, len = le32(p + 4), data;
		uint16_t type = le16(p + 2);
		bool is_packed;

		if (type == PICTURES_OF || type == PICTURES) {
			at += HEAD_LEN;
			continue;
		}
		if (len > left - HEAD_LEN)
			return;
		if (type == PICTURE_ENTRY && len > ENTRY_LEN) {
			at += HEAD_LEN + ENTRY_LEN;
			at += p[HEAD_LEN + ENTRY_NAME] <= len - ENTRY_LEN ? p[HEAD_LEN + ENTRY_NAME]
									  : len - ENTRY_LEN;
			continue;
		}
		data = ole_picture_data_at(p, left, &is_packed);
		if (data && data < HEAD_LEN + len)
			check_picture(
				drawing, at + data, at + HEAD_LEN + len, p + HEAD_LEN, is_packed);
		at += HEAD_LEN + len;
	}
}

void ole_check_book_pictures(struct ole *ole, const struct ole_entry *entry)
{
	struct drawing drawing = { .ole = ole, .entry = entry };

	if (entry->len >= ole->cutoff)
		read_drawing(&drawing);
	if (drawing.len) {
		memset(drawing.bytes + drawing.len, 0, OLE_BLIP_MAX);
		check_records(&drawing);
	}
	free(drawing.bytes);
	free(drawing.parts);
}
