/*
 * QEMU's first disk images, QCOW version 1 (QEMU, docs/interop and block/qcow.c describe it by what
 * they do).
 *
 *	header:   'QFI' FB, version 1, place and length of the backing file's name, its date, the
 *	          disk's size, bits of a cluster and of a table, method of encryption, place of L1;
 *	          all big-endian
 *	L1 table: from there on, the places of L2 tables, 0 for none; as many as the disk needs.
 *	          qemu-img fills it up to a multiple of 512 bytes
 *	L2 table: the places of clusters; of compressed ones bit 63 is set, and the length in bytes
 *	          stands below it, in as many bits as a cluster has
 *
 * What reaches furthest ends the file. Places have to lie behind L1, and are multiples of 8 for
 * what is not packed. Nothing vouches for the data: unverified.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "foreign.h"
#include "walk.h"

#define HEAD_LEN 48
#define NAME_MOST 1023
#define SECTOR 512u
#define PACKED (UINT64_C(1) << 63)
/* Entries of L1: a disk of 2 PiB with the usual tables. */
#define L1_MOST (UINT64_C(1) << 30)

struct qcow {
	struct view *view;
	unsigned cluster_bits, l2_bits;
	uint64_t l1, l1_count;
	uint64_t end;   /* what was reached */
	uint64_t where; /* the entry that makes no sense */
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
	/* The limits of QEMU; 2 bytes of padding behind the bits. */
	if (qcow->cluster_bits < 9 || qcow->cluster_bits > 16 || qcow->l2_bits < 6 ||
		qcow->l2_bits > 13 || be32(p + 36) > 1)
		return "impossible sizes";
	if (be32(p + 16) > NAME_MOST || (name && name < HEAD_LEN) || name > 4096)
		return "an impossible name of a backing file";
	covered = UINT64_C(1) << (qcow->cluster_bits + qcow->l2_bits);
	qcow->l1_count = size / covered + (size % covered != 0);
	if (!size || size > INT64_MAX || qcow->l1_count > L1_MOST || qcow->l1 < HEAD_LEN ||
		qcow->l1 % 8 || qcow->l1 > 65536)
		return "an impossible disk";
	return NULL;
}

static void reach(struct qcow *qcow, uint64_t end)
{
	if (end > qcow->end)
		qcow->end = end;
}

/* Whether a place may be that of a table or a cluster of len bytes, which is then reached. */
static bool take(struct qcow *qcow, uint64_t place, uint64_t len)
{
	if (place < qcow->l1 + 8 * qcow->l1_count || place > INT64_MAX / 2)
		return false;
	reach(qcow, place + len);
	return true;
}

static bool take_cluster(struct qcow *qcow, uint64_t entry)
{
	unsigned shift = 63 - qcow->cluster_bits;

	if (!entry)
		return true;
	if (entry & PACKED)
		return take(qcow, entry & ((UINT64_C(1) << shift) - 1), (entry & ~PACKED) >> shift);
	return entry % 8 == 0 && take(qcow, entry, UINT64_C(1) << qcow->cluster_bits);
}

/* The entries of a table, and those of L1 with what they lead to. False: the one at qcow->where
 * makes no sense, or is not there. */
static bool read_l2(struct qcow *qcow, uint64_t at)
{
	uint64_t end = at + (UINT64_C(8) << qcow->l2_bits);

	for (; at < end; at += 8) {
		const uint8_t *p = view_peek(qcow->view, at, 8);

		qcow->where = at;
		if (!p || !take_cluster(qcow, be64(p)))
			return false;
	}
	return true;
}

static bool read_l1(struct qcow *qcow)
{
	uint64_t end = qcow->l1 + 8 * qcow->l1_count;
	uint64_t filled = qcow->l1 + (8 * qcow->l1_count + SECTOR - 1) / SECTOR * SECTOR;

	reach(qcow, walk_zeros(qcow->view, end, filled) ? filled : end);
	for (uint64_t at = qcow->l1; at < end; at += 8) {
		const uint8_t *p = view_peek(qcow->view, at, 8);
		uint64_t place = p ? be64(p) : 0;

		qcow->where = at;
		if (!p ||
			(place && (place % 8 || !take(qcow, place, UINT64_C(8) << qcow->l2_bits))))
			return false;
		if (place && place < view_size(qcow->view) && !read_l2(qcow, place))
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
				"a table at an impossible place at %" PRIu64, qcow.where);
		return foreign_cut(view, finding, HEAD_LEN, qcow.where,
			"a table or cluster at an impossible place", qcow.where);
	}
	if (qcow.end > view_size(view))
		return walk_cut(view, finding, qcow.end, view_size(view));
	finding->length = qcow.end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"tables agree; nothing vouches for the data up to %" PRIu64, qcow.end);
}

const struct carver qcow_carver = {
	.name = "qcow",
	.summary = "QEMU's QCOW disk images of version 1, by their tables of clusters",
	.check = check,
};
