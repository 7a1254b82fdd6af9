/*
 * QCOW2, versions 2 and 3, as QEMU's docs/interop/qcow2.txt describes it. The disk is in clusters; a
 * table of two levels says where each is in the file. Read here rather than by libqcow, which takes
 * the flag for a cluster of zeros, common in version 3, for a part of its offset.
 *
 * Snapshots inside the file are other tables of the same clusters. They are counted and not read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/endian.h"
#include "base/memory.h"
#include "evidence/block_file.h"
#include "evidence/deflated.h"

#define MAGIC "QFI\xfb"
#define HEAD_LEN 112
#define HEAD_V2_LEN 72
#define CLUSTER_BITS_MIN 9
#define CLUSTER_BITS_MAX 21
/* Entries of the first level: QEMU's own bound, 32 MiB. */
#define L1_MAX ((uint32_t)4 << 20)
#define SECTOR_LEN 512

#define INCOMPATIBLE_CORRUPT 2
#define INCOMPATIBLE_DATA_FILE 4
#define INCOMPATIBLE_COMPRESSION 8
#define INCOMPATIBLE_EXTENDED 16
#define INCOMPATIBLE_KNOWN 31

#define EXTENSION_END 0
#define EXTENSION_BACKING_FORMAT 0xe2792aca

#define OFFSET_MASK ((uint64_t)0x00fffffffffffe00)
#define ENTRY_COMPRESSED ((uint64_t)1 << 62)
#define ENTRY_ZEROS 1
/* An extended entry has two bits for each of its cluster's parts, of which there are this many. */
#define PARTS 32

struct qcow2 {
	struct block_file file; /* first */
	uint32_t version, l1_count;
	unsigned cluster_bits, table_bits; /* of a cluster's length; of a second-level table's */
	bool extended, zstd;
	uint8_t *l1;
	struct chunk_cache *tables; /* of the second level, by number */
};

/* ---- where a byte is ----------------------------------------------------------------------- */

static size_t cluster_len(const struct qcow2 *qcow2)
{
	return (size_t)1 << qcow2->cluster_bits;
}

/* Where the second level's table is in the file; 0: nowhere. */
static uint64_t table_at(const struct qcow2 *qcow2, uint64_t number)
{
	return endian_be64(qcow2->l1 + number * 8) & OFFSET_MASK;
}

static int load_table(void *arg, uint64_t number, uint8_t *to)
{
	struct qcow2 *qcow2 = arg;

	return block_file_bytes(&qcow2->file, table_at(qcow2, number), to, cluster_len(qcow2));
}

static void lose(struct block_place *place, enum block_fault fault)
{
	place->kind = BLOCK_LOST;
	place->fault = fault;
}

/* The offset's low bits, and in how many sectors the compressed cluster ends, are one number. */
static void find_packed(
	const struct qcow2 *qcow2, uint64_t offset, uint64_t entry, struct block_place *place)
{
	unsigned bits = 62 - (qcow2->cluster_bits - 8);
	uint64_t sectors = entry >> bits & (((uint64_t)1 << (qcow2->cluster_bits - 8)) - 1);

	place->kind = BLOCK_PACKED;
	place->at = entry & (((uint64_t)1 << bits) - 1);
	place->packed_len = (size_t)((sectors + 1) * SECTOR_LEN - place->at % SECTOR_LEN);
	place->unpacked_len = cluster_len(qcow2);
	place->unit = offset >> qcow2->cluster_bits;
	place->inside = (size_t)(offset & (cluster_len(qcow2) - 1));
}

/* Of a cluster whose parts are stored, zeros, or the parent's: as many of one kind as follow. */
static void find_parts(const struct qcow2 *qcow2, uint64_t offset, uint64_t host, uint64_t bits,
	struct block_place *place)
{
	size_t inside = (size_t)(offset & (cluster_len(qcow2) - 1));
	size_t part_len = cluster_len(qcow2) / PARTS, part = inside / part_len, end = part;
	uint64_t both = (uint64_t)1 << part | (uint64_t)1 << (part + PARTS);

	while (end < PARTS && (bits >> (end - part) & both) == (bits & both))
		end++;
	if (bits & (uint64_t)1 << (part + PARTS))
		place->kind = BLOCK_ZEROS;
	else
		place->kind = bits & (uint64_t)1 << part ? BLOCK_STORED : BLOCK_PARENT;
	place->at = host + inside;
	place->len = end * part_len - inside;
	if ((bits & both) == both || (place->kind == BLOCK_STORED && !host))
		lose(place, BLOCK_CONTRADICTS);
}

static void find_cluster(const struct qcow2 *qcow2, uint64_t offset, uint64_t entry, uint64_t parts,
	struct block_place *place)
{
	uint64_t host = entry & OFFSET_MASK, inside = offset & (cluster_len(qcow2) - 1);

	place->len = cluster_len(qcow2) - inside;
	if (entry & ENTRY_COMPRESSED) {
		find_packed(qcow2, offset, entry, place);
		return;
	}
	if (host & (cluster_len(qcow2) - 1)) {
		lose(place, BLOCK_ASTRAY);
		return;
	}
	if (qcow2->extended) {
		find_parts(qcow2, offset, host, parts, place);
		return;
	}
	place->at = host + inside;
	if (qcow2->version >= 3 && entry & ENTRY_ZEROS)
		place->kind = BLOCK_ZEROS;
	else
		place->kind = host ? BLOCK_STORED : BLOCK_PARENT;
}

static void qcow2_find(struct block_file *file, uint64_t offset, struct block_place *place)
{
	struct qcow2 *qcow2 = (struct qcow2 *)file;
	size_t entry_len = qcow2->extended ? 16 : 8;
	uint64_t table_len = (uint64_t)1 << (qcow2->cluster_bits + qcow2->table_bits);
	uint64_t number = offset / table_len, within = offset % table_len;
	uint8_t entry[16] = { 0 };

	place->len = table_len - within;
	if (!table_at(qcow2, number)) {
		place->kind = BLOCK_PARENT;
		return;
	}
	if (chunk_cache_read(qcow2->tables, number,
		    (size_t)(within >> qcow2->cluster_bits) * entry_len, entry, entry_len,
		    load_table, qcow2))
		lose(place, BLOCK_NO_TABLE);
	else
		find_cluster(qcow2, offset, endian_be64(entry), endian_be64(entry + 8), place);
}

static bool qcow2_unpack(
	struct block_file *file, const uint8_t *packed, size_t packed_len, uint8_t *to, size_t len)
{
	size_t unpacked_len;

	if (((struct qcow2 *)file)->zstd) {
		/* The length is rounded up to a sector's end, so something may follow the frame. */
		size_t frame_len = ZSTD_findFrameCompressedSize(packed, packed_len);

		return !ZSTD_isError(frame_len) &&
		       ZSTD_decompress(to, len, packed, frame_len) == len;
	}
	return inflate_whole(INFLATE_RAW, packed, packed_len, to, len, &unpacked_len) &&
	       unpacked_len == len;
}

static void qcow2_free(struct block_file *file)
{
	struct qcow2 *qcow2 = (struct qcow2 *)file;

	chunk_cache_free(qcow2->tables);
	free(qcow2->l1);
}

/* ---- opening ------------------------------------------------------------------------------- */

static bool qcow2_probe(const struct image_ends *ends)
{
	return ends->head_len >= 8 && !memcmp(ends->head, MAGIC, 4) &&
	       endian_be32(ends->head + 4) >= 2;
}

static bool refuse(struct qcow2 *qcow2, const char *what)
{
	return block_file_refuse(&qcow2->file,
		": %s: convert it with `qemu-img convert -O raw FILE image.raw`", what);
}

/* What version 3 says that a reader must know. */
static bool read_features(struct qcow2 *qcow2, const uint8_t *head)
{
	struct block_about *about = &qcow2->file.about;
	uint64_t features = endian_be64(head + 72);

	if (features & ~(uint64_t)INCOMPATIBLE_KNOWN)
		return refuse(qcow2, "a kind of qcow2 that burin does not know");
	if (features & INCOMPATIBLE_DATA_FILE)
		return refuse(qcow2,
			"a qcow2 image whose data is in another file, which burin does not read");
	qcow2->extended = features & INCOMPATIBLE_EXTENDED;
	if (features & INCOMPATIBLE_COMPRESSION && endian_be32(head + 100) > 104) {
		if (head[104] > 1)
			return refuse(qcow2, "compressed in a way that burin does not know");
		qcow2->zstd = head[104] == 1;
	}
	if (features & INCOMPATIBLE_CORRUPT)
		snprintf(about->damage, sizeof(about->damage),
			" is marked as corrupt by the program that wrote it");
	return true;
}

static bool read_head(struct qcow2 *qcow2, const uint8_t *head)
{
	struct block_about *about = &qcow2->file.about;
	uint32_t bits = endian_be32(head + 20);
	uint64_t needed;

	if (qcow2->file.len < HEAD_V2_LEN)
		return block_file_damaged(&qcow2->file, "the file ends within its head");
	qcow2->version = endian_be32(head + 4);
	about->size = endian_be64(head + 24);
	about->snapshots = endian_be32(head + 60);
	qcow2->l1_count = endian_be32(head + 36);
	if (qcow2->version > 3)
		return refuse(qcow2, "a newer version of qcow2 than burin knows");
	if (endian_be32(head + 32))
		return refuse(qcow2, "an encrypted qcow2 image, which burin does not read");
	if (bits < CLUSTER_BITS_MIN || bits > CLUSTER_BITS_MAX)
		return block_file_damaged(&qcow2->file, "its clusters have an impossible size");
	if (qcow2->version == 3 && !read_features(qcow2, head))
		return false;
	if (qcow2->extended && bits < 14)
		return block_file_damaged(&qcow2->file, "its clusters are too small for parts");
	qcow2->cluster_bits = bits;
	qcow2->table_bits = bits - (qcow2->extended ? 4 : 3);
	if (!about->size || about->size > INT64_MAX)
		return block_file_damaged(&qcow2->file, "its disk has an impossible size");
	needed = ((about->size - 1) >> (bits + qcow2->table_bits)) + 1;
	if (qcow2->l1_count > L1_MAX || needed > qcow2->l1_count)
		return block_file_damaged(&qcow2->file, "its table does not cover the disk");
	qcow2->l1_count = (uint32_t)needed;
	about->unit_len = cluster_len(qcow2);
	return true;
}

static bool read_l1(struct qcow2 *qcow2, uint64_t at)
{
	qcow2->l1 = block_file_copy(&qcow2->file, at, (size_t)qcow2->l1_count * 8);
	return qcow2->l1 || block_file_damaged(&qcow2->file, "the file ends before its table does");
}

/* Whether an extension of the head says that the parent is raw, whatever it looks like. */
static bool parent_is_raw(const struct qcow2 *qcow2, const uint8_t *head, size_t head_len)
{
	size_t at = qcow2->version == 3 ? endian_be32(head + 100) : HEAD_V2_LEN;

	while (at <= head_len - 8) {
		uint32_t kind = endian_be32(head + at), len = endian_be32(head + at + 4);

		if (kind == EXTENSION_END || len > head_len - 8 - at)
			return false;
		if (kind == EXTENSION_BACKING_FORMAT)
			return len == 3 && !memcmp(head + at + 8, "raw", 3);
		at += 8 + ((size_t)len + 7) / 8 * 8;
	}
	return false;
}

static bool read_parent(struct qcow2 *qcow2, const struct image_ends *ends)
{
	struct block_about *about = &qcow2->file.about;
	uint64_t at = endian_be64(ends->head + 8);
	uint32_t len = endian_be32(ends->head + 16);

	if (!at)
		return true;
	if (!len || len > BLOCK_NAME_MAX || block_file_bytes(&qcow2->file, at, about->name, len))
		return block_file_damaged(&qcow2->file,
			"the name of the image that it has the changes to can't be read");
	about->parent = parent_is_raw(qcow2, ends->head, ends->head_len) ? BLOCK_PARENT_RAW
									 : BLOCK_PARENT_NAME;
	return true;
}

static bool qcow2_open(struct block_file *file, const struct image_ends *ends)
{
	struct qcow2 *qcow2 = (struct qcow2 *)file;
	uint8_t head[HEAD_LEN] = { 0 };

	memcpy(head, ends->head, ends->head_len < HEAD_LEN ? ends->head_len : HEAD_LEN);
	if (!read_head(qcow2, head) || !read_l1(qcow2, endian_be64(head + 40)) ||
		!read_parent(qcow2, ends))
		return false;
	qcow2->tables = chunk_cache_new(cluster_len(qcow2), 8 * cluster_len(qcow2));
	return true;
}

const struct block_format qcow2_format = {
	.name = "qcow2",
	.state_len = sizeof(struct qcow2),
	.probe = qcow2_probe,
	.open = qcow2_open,
	.find = qcow2_find,
	.unpack = qcow2_unpack,
	.free = qcow2_free,
};
