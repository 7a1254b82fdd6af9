/*
 * Raw images that were compressed as a whole, in frames that each can be decompressed alone: BGZF (bgzip;
 * many small members of gzip, whose heads say how long they are) and zstd's seekable format (a table
 * of frames at the end). Others would have to be unpacked from their start for every read, and are
 * refused (unsupported.c). A compressed file that is not called as images are is evidence like any
 * other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/endian.h"
#include "base/memory.h"
#include "evidence/block_file.h"
#include "evidence/deflated.h"
#include "evidence/unsupported.h"

/* 128 MiB of memory; 1 TiB of BGZF. */
#define FRAMES_MAX ((size_t)16 << 20)
/* Unpacked; some of them are in memory. */
#define FRAME_LEN_MAX ((uint32_t)16 << 20)
/* The offset of each frame whose number is a multiple of it is kept. */
#define MARK_FRAMES 64

/* BGZF: gzip's head with one extra field, which has the length of the member less 1. */
#define BGZF_HEAD_LEN 18
#define BGZF_EXTRA_AT 12
#define BGZF_LEN_AT 16
#define BGZF_TAIL_LEN 4 /* the member's length unpacked */
#define BGZF_UNPACKED_MAX 65536

#define SEEKABLE_MAGIC "\xb1\xea\x92\x8f"
#define SEEKABLE_TAIL_LEN 9
#define SEEKABLE_CHECKSUMS 0x80
#define SEEKABLE_RESERVED 0x7c
#define SKIPPABLE_HEAD_LEN 8
#define SKIPPABLE_MAGIC 0x184d2a5e

struct frame {
	uint32_t packed_len, unpacked_len;
};

struct mark {
	uint64_t at, offset; /* in the file, in the image */
};

struct packed_raw {
	struct block_file file; /* first */
	struct frame *frames;
	size_t count, capacity;
	struct mark *marks;
	size_t mark_count, mark_capacity;
	struct mark end;       /* after the last frame */
	uint32_t unpacked_max; /* of a frame */
};

/* ---- reading ------------------------------------------------------------------------------- */

static void packed_raw_find(struct block_file *file, uint64_t offset, struct block_place *place)
{
	struct packed_raw *raw = (struct packed_raw *)file;
	size_t low = 0, high = raw->mark_count, i;
	struct mark mark;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (raw->marks[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	mark = raw->marks[low];
	for (i = low * MARK_FRAMES; offset - mark.offset >= raw->frames[i].unpacked_len; i++) {
		mark.at += raw->frames[i].packed_len;
		mark.offset += raw->frames[i].unpacked_len;
	}
	place->kind = BLOCK_PACKED;
	place->at = mark.at;
	place->unit = i;
	place->packed_len = raw->frames[i].packed_len;
	place->unpacked_len = raw->frames[i].unpacked_len;
	place->inside = (size_t)(offset - mark.offset);
}

static bool packed_raw_unpack(
	struct block_file *file, const uint8_t *packed, size_t packed_len, uint8_t *to, size_t len)
{
	size_t unpacked_len;

	if (file->format == &zstd_format)
		return ZSTD_decompress(to, len, packed, packed_len) == len;
	return inflate_whole(INFLATE_GZIP, packed, packed_len, to, len, &unpacked_len) &&
	       unpacked_len == len;
}

static void packed_raw_free(struct block_file *file)
{
	struct packed_raw *raw = (struct packed_raw *)file;

	free(raw->frames);
	free(raw->marks);
}

/* ---- the list of frames -------------------------------------------------------------------- */

/* False when there are too many. */
static bool add_frame(struct packed_raw *raw, uint32_t packed_len, uint32_t unpacked_len)
{
	if (raw->count == FRAMES_MAX)
		return false;
	if (raw->count % MARK_FRAMES == 0) {
		raw->marks = xgrow(
			raw->marks, &raw->mark_capacity, raw->mark_count, sizeof(*raw->marks));
		raw->marks[raw->mark_count++] = raw->end;
	}
	raw->frames = xgrow(raw->frames, &raw->capacity, raw->count, sizeof(*raw->frames));
	raw->frames[raw->count++] = (struct frame){ packed_len, unpacked_len };
	raw->end.at += packed_len;
	raw->end.offset += unpacked_len;
	if (unpacked_len > raw->unpacked_max)
		raw->unpacked_max = unpacked_len;
	return true;
}

static bool refuse(struct packed_raw *raw, const char *why)
{
	return block_file_refuse(&raw->file, " is a compressed image, %s: unpack it with `%s FILE`",
		why, raw->file.format == &zstd_format ? "zstd -d" : "bgzip -dk");
}

static bool is_bgzf(const uint8_t *head)
{
	return !memcmp(head, "\x1f\x8b\x08\x04", 4) && !memcmp(head + BGZF_EXTRA_AT, "BC\2\0", 4);
}

/* The end of each member, and the head of the next, are read together. */
static bool list_members(struct packed_raw *raw)
{
	uint64_t file_len = raw->file.len;
	uint8_t bytes[BGZF_TAIL_LEN + BGZF_HEAD_LEN];
	const uint8_t *head = bytes + BGZF_TAIL_LEN;

	if (block_file_bytes(&raw->file, 0, bytes + BGZF_TAIL_LEN, BGZF_HEAD_LEN))
		return refuse(raw, "the head of which can't be read");
	for (uint64_t at = 0, next; at < file_len; at = next) {
		uint32_t len = (uint32_t)endian_get(head + BGZF_LEN_AT, 2) + 1, unpacked_len;
		size_t more;

		next = at + len;
		if (!is_bgzf(head) || len < BGZF_HEAD_LEN + BGZF_TAIL_LEN || next > file_len)
			break;
		more = file_len - next < BGZF_HEAD_LEN ? 0 : BGZF_HEAD_LEN;
		if (block_file_bytes(&raw->file, next - BGZF_TAIL_LEN, bytes, BGZF_TAIL_LEN + more))
			break;
		unpacked_len = endian_u32(bytes);
		if (unpacked_len > BGZF_UNPACKED_MAX)
			break;
		if (!add_frame(raw, len, unpacked_len))
			return refuse(raw, "in too many parts");
		if (!more)
			memset(bytes, 0, sizeof(bytes));
	}
	if (raw->end.at < file_len)
		snprintf(raw->file.about.damage, sizeof(raw->file.about.damage),
			" is damaged or cut off at byte %llu: what it holds after that is missing",
			(unsigned long long)raw->end.at);
	return true;
}

/* The table, with its head and tail, in `len` bytes. */
static bool list_frames(
	struct packed_raw *raw, const uint8_t *table, size_t len, uint32_t count, size_t entry_len)
{
	const uint8_t *entry = table + SKIPPABLE_HEAD_LEN;

	if (endian_u32(table) != SKIPPABLE_MAGIC ||
		endian_u32(table + 4) != len - SKIPPABLE_HEAD_LEN)
		return false;
	for (uint32_t i = 0; i < count; i++, entry += entry_len)
		if (endian_u32(entry + 4) > FRAME_LEN_MAX ||
			!add_frame(raw, endian_u32(entry), endian_u32(entry + 4)))
			return false;
	return raw->end.at <= raw->file.len - len;
}

static bool read_seek_table(struct packed_raw *raw, const uint8_t *tail)
{
	uint32_t count = endian_u32(tail);
	size_t entry_len = tail[4] & SEEKABLE_CHECKSUMS ? 12 : 8;
	uint64_t len = (uint64_t)count * entry_len + SKIPPABLE_HEAD_LEN + SEEKABLE_TAIL_LEN;
	uint8_t *table = NULL;
	bool good = false;

	if (count <= FRAMES_MAX && len <= raw->file.len && !(tail[4] & SEEKABLE_RESERVED)) {
		table = block_file_copy(&raw->file, raw->file.len - len, (size_t)len);
		good = table && list_frames(raw, table, (size_t)len, count, entry_len);
	}
	free(table);
	return good ||
	       refuse(raw, "the table of which is damaged or has frames that are too large");
}

/* ---- opening ------------------------------------------------------------------------------- */

static bool is_seekable_zstd(const struct image_ends *ends)
{
	return ends->tail_len == IMAGE_TAIL_LEN && !memcmp(ends->head, "\x28\xb5\x2f\xfd", 4) &&
	       !memcmp(ends->tail + IMAGE_TAIL_LEN - 4, SEEKABLE_MAGIC, 4);
}

static bool has_image_name(const struct image_ends *ends)
{
	const char *dot = strrchr(ends->path, '.');

	return ends->head_len >= BGZF_HEAD_LEN && dot &&
	       unsupported_is_image_name(ends->path, (size_t)(dot - ends->path));
}

static bool bgzf_probe(const struct image_ends *ends)
{
	return has_image_name(ends) && is_bgzf(ends->head);
}

static bool zstd_probe(const struct image_ends *ends)
{
	return has_image_name(ends) && is_seekable_zstd(ends);
}

static bool packed_raw_open(struct block_file *file, const struct image_ends *ends)
{
	struct packed_raw *raw = (struct packed_raw *)file;
	bool good = file->format == &zstd_format
			    ? read_seek_table(raw, ends->tail + IMAGE_TAIL_LEN - SEEKABLE_TAIL_LEN)
			    : list_members(raw);

	if (!good)
		return false;
	if (!raw->end.offset)
		return refuse(raw, "which holds nothing that can be decompressed");
	file->about.size = raw->end.offset;
	file->about.unit_len = raw->unpacked_max;
	return true;
}

const struct block_format bgzf_format = {
	.name = "raw, bgzf",
	.state_len = sizeof(struct packed_raw),
	.probe = bgzf_probe,
	.open = packed_raw_open,
	.find = packed_raw_find,
	.unpack = packed_raw_unpack,
	.free = packed_raw_free,
};

const struct block_format zstd_format = {
	.name = "raw, zstd",
	.state_len = sizeof(struct packed_raw),
	.probe = zstd_probe,
	.open = packed_raw_open,
	.find = packed_raw_find,
	.unpack = packed_raw_unpack,
	.free = packed_raw_free,
};
