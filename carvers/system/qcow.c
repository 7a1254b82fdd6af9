/*
 * QEMU's first disk images, QCOW version 1 (QEMU, docs/interop and block/qcow.c, which define it by
 * their behaviour).
 *
 *	header:   'QFI' FB, version 1, offset and length of the backing file's name, its date, the
 *		disk's size, bits of a cluster and of a table, method of encryption, offset of L1;
 *		all big-endian
 *	L1 table: from there on, the offsets of L2 tables, 0 for none; as many as the disk needs.
 *		qemu-img pads it to a multiple of 512 bytes
 *	L2 table: the offsets of clusters; for compressed ones bit 63 is set, with the length in
 *		bytes below it, in as many bits as a cluster has
 *
 * The last table or cluster ends the file. Offsets have to be after L1, and multiples of 8 except
 * for compressed clusters. The data cannot be verified: unverified. Files inside are found where they start at a
 * sector of the image, as one that overwrote a cluster does.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "foreign.h"
#include "walk.h"

#define HEAD_LEN 48
#define NAME_MAX_LEN 1023
#define COMPRESSED (UINT64_C(1) << 63)
/* Entries of L1: a disk of 2 PiB with the usual tables. */
#define L1_MAX (UINT64_C(1) << 30)

struct qcow {
	struct view *view;
	unsigned cluster_bits, l2_bits;
	uint64_t l1, l1_count;
	uint64_t end;   /* of tables and clusters so far */
	uint64_t where; /* the invalid entry */
};

static const char *read_header(struct qcow *qcow)
{
	const uint8_t *p = view_peek(qcow->view, 0, HEAD_LEN);
	uint64_t name, size, covered;

	if (!p || memcmp(p, "QFI\xfb\0\0\0\1", 8) != 0)
		return "no magic and version";
	name = be64(p + 8);
	size = be64(p + 24);
	qcow->cluster_bits = p[32];
	qcow->l2_bits = p[33];
	qcow->l1 = be64(p + 40);
	/* The limits of QEMU; 2 bytes of padding after the bits. */
	if (qcow->cluster_bits < 9 || qcow->cluster_bits > 16 || qcow->l2_bits < 6 ||
		qcow->l2_bits > 13 || be32(p + 36) > 1)
		return "impossible sizes";
	if (be32(p + 16) > NAME_MAX_LEN || (name && name < HEAD_LEN) || name > 4096)
		return "an impossible name of a backing file";
	covered = UINT64_C(1) << (qcow->cluster_bits + qcow->l2_bits);
	qcow->l1_count = size / covered + (size % covered != 0);
	if (!size || size > INT64_MAX || qcow->l1_count > L1_MAX || qcow->l1 < HEAD_LEN ||
		qcow->l1 % 8 || qcow->l1 > 65536)
		return "an impossible disk";
	return NULL;
}

static void extend_to(struct qcow *qcow, uint64_t end)
{
	if (end > qcow->end)
		qcow->end = end;
}

/* Whether a table or cluster of len bytes may be at `offset`; extends the file to its end. */
static bool add_part(struct qcow *qcow, uint64_t offset, uint64_t len)
{
	if (offset < qcow->l1 + 8 * qcow->l1_count || offset > INT64_MAX / 2)
		return false;
	extend_to(qcow, offset + len);
	return true;
}

static bool add_cluster(struct qcow *qcow, uint64_t entry)
{
	unsigned shift = 63 - qcow->cluster_bits;

	if (!entry)
		return true;
	if (entry & COMPRESSED)
		return add_part(
			qcow, entry & ((UINT64_C(1) << shift) - 1), (entry & ~COMPRESSED) >> shift);
	return entry % 8 == 0 && add_part(qcow, entry, UINT64_C(1) << qcow->cluster_bits);
}

/* These two check the entries of a table, read_l1 also the tables that they point to. False: the
 * entry at qcow->where is invalid, or not there. */
static bool read_l2(struct qcow *qcow, uint64_t at)
{
	uint64_t end = at + (UINT64_C(8) << qcow->l2_bits);

	for (; at < end; at += 8) {
		const uint8_t *p = view_peek(qcow->view, at, 8);

		qcow->where = at;
		if (!p || !add_cluster(qcow, be64(p)))
			return false;
	}
	return true;
}

static bool read_l1(struct qcow *qcow)
{
	uint64_t end = qcow->l1 + 8 * qcow->l1_count;
	uint64_t filled = qcow->l1 + (8 * qcow->l1_count + SECTOR - 1) / SECTOR * SECTOR;

	extend_to(qcow, walk_zeros(qcow->view, end, filled) ? filled : end);
	for (uint64_t at = qcow->l1; at < end; at += 8) {
		const uint8_t *p = view_peek(qcow->view, at, 8);
		uint64_t offset = p ? be64(p) : 0;

		qcow->where = at;
		if (!p || (offset && (offset % 8 || !add_part(qcow, offset,
							    UINT64_C(8) << qcow->l2_bits))))
			return false;
		if (offset && offset < view_size(qcow->view) && !read_l2(qcow, offset))
			return false;
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct qcow qcow = { .view = view };
	const char *problem = read_header(&qcow);

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	if (!read_l1(&qcow) && qcow.where + 8 <= view_size(view)) {
		if (qcow.where == qcow.l1)
			return verdict_because(CARVE_REJECT, finding,
				"an impossible offset of a table at %" PRIu64, qcow.where);
		return foreign_cut(view, finding, HEAD_LEN, qcow.where,
			"an impossible offset of a table or cluster", qcow.where);
	}
	if (qcow.end > view_size(view))
		return walk_cut(view, finding, qcow.end, view_size(view));
	view_holds(view, qcow.l1 + 8 * qcow.l1_count, qcow.end);
	finding->length = qcow.end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the tables agree, but the data up to %" PRIu64 " cannot be verified", qcow.end);
}

const struct carver qcow_carver = {
	.name = "qcow",
	.summary = "QEMU's QCOW disk images of version 1, by their tables of clusters",
	.check = check,
};
