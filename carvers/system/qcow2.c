/*
 * QEMU's disk images, versions 2 and 3 (QEMU, docs/interop/qcow2.txt).
 *
 * Everything is in clusters: a table of blocks of reference counts, one for each cluster of the
 * file, and a table (L1) of tables (L2) that give each guest cluster's offset. The last cluster
 * that is referenced ends the file; when it contains compressed data, the file ends with the last
 * sector of that data. burin checks that offsets are multiples of a cluster and lie inside the
 * file, and that their reserved bits are 0.
 *
 * The data cannot be verified: so an image whose tables agree is unverified. Files inside are found where they
 * start at a sector of the image, as one that overwrote a cluster does.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "foreign.h"
#include "walk.h"

#define OFFSET_MASK 0x00fffffffffffe00u
#define SNAPSHOT_LEN 40 /* without more fields, its number and its name */
#define SNAPSHOTS_MAX 65536
#define EXTENDED_L2 0x10 /* of the features: each entry of L2 has a bit map after it */

struct qcow2 {
	struct view *view;
	uint32_t version, bits, l1_len, blocks_clusters, snapshots, order;
	uint64_t l1, blocks, cluster;
	uint32_t entry_len; /* of L2 */
	uint64_t end;       /* by reference counts */
	uint64_t reached;   /* by the tables */
	uint64_t where;
};

static bool valid_offset(const struct qcow2 *qcow2, uint64_t offset)
{
	return offset % qcow2->cluster == 0 && offset < 1ull << 56;
}

static const char *read_header(struct qcow2 *qcow2)
{
	const uint8_t *p = view_peek(qcow2->view, 0, 104);

	if (!p || memcmp(p, "QFI\xfb", 4) != 0 || be32(p + 4) - 2 > 1)
		return "no magic and version";
	qcow2->version = be32(p + 4);
	qcow2->bits = be32(p + 20);
	qcow2->l1_len = be32(p + 36);
	qcow2->l1 = be64(p + 40);
	qcow2->blocks = be64(p + 48);
	qcow2->blocks_clusters = be32(p + 56);
	qcow2->snapshots = be32(p + 60);
	qcow2->order = qcow2->version == 3 ? be32(p + 96) : 4;
	qcow2->entry_len = qcow2->version == 3 && be64(p + 72) & EXTENDED_L2 ? 16 : 8;
	if (qcow2->bits < 9 || qcow2->bits > 22 || be32(p + 32) > 2 || qcow2->order > 6)
		return "impossible sizes";
	qcow2->cluster = 1ull << qcow2->bits;
	if (!valid_offset(qcow2, qcow2->l1) || !valid_offset(qcow2, qcow2->blocks) ||
		!qcow2->blocks || !qcow2->l1 || !qcow2->blocks_clusters ||
		qcow2->blocks_clusters > 4096 || qcow2->l1_len > 1u << 26)
		return "impossible offsets of tables";
	return NULL;
}

/* The last cluster in use according to a block of reference counts, or -1. */
static int64_t last_used(struct qcow2 *qcow2, uint64_t block)
{
	uint64_t at = qcow2->cluster;
	size_t len;

	while (at > 0) {
		const uint8_t *p;

		len = at < 4096 ? (size_t)at : 4096;
		p = view_peek(qcow2->view, block + at - len, len);
		if (!p)
			return -1;
		while (len && p[len - 1] == 0) {
			len--;
			at--;
		}
		if (len)
			return (int64_t)((at - 1) * 8 >> qcow2->order);
	}
	return -1;
}

static const char *read_counts(struct qcow2 *qcow2)
{
	uint64_t entries = qcow2->blocks_clusters * qcow2->cluster / 8;
	uint64_t per_block = qcow2->cluster * 8 >> qcow2->order;

	for (uint64_t i = 0; i < entries; i++) {
		const uint8_t *p = view_peek(qcow2->view, qcow2->blocks + 8 * i, 8);
		int64_t last;

		qcow2->where = qcow2->blocks + 8 * i;
		if (!p)
			return "a table of reference counts that is cut";
		if (be64(p) == 0)
			continue;
		if (!valid_offset(qcow2, be64(p)))
			return "an impossible offset of reference counts";
		last = last_used(qcow2, be64(p));
		if (last >= 0)
			qcow2->end = (i * per_block + (uint64_t)last + 1) * qcow2->cluster;
	}
	return qcow2->end ? NULL : "no cluster in use";
}

static void extend_to(struct qcow2 *qcow2, uint64_t end)
{
	if (end > qcow2->reached)
		qcow2->reached = end;
}

/* Adds an entry of L2: a compressed cluster has its offset and its number of sectors in one
 * number. Of another `allocated` parts of 32 are in use at most. */
static bool add_entry(struct qcow2 *qcow2, uint64_t entry, unsigned allocated)
{
	uint32_t shift = 62 - (qcow2->bits - 8);
	uint64_t offset = entry & OFFSET_MASK;

	if (entry >> 62 & 1) {
		offset = entry & ((1ull << shift) - 1);
		extend_to(
			qcow2, (offset & ~511ull) + 512 * ((entry & ~(3ull << 62)) >> shift) + 512);
		return offset < qcow2->end;
	}
	if (!valid_offset(qcow2, offset) || offset >= qcow2->end || (entry >> 56 & 0x3f) ||
		(entry & 0x1fe))
		return false;
	if (offset)
		extend_to(qcow2, offset + qcow2->cluster / 32 * allocated);
	return true;
}

/* How many of a cluster's 32 parts its bit map says are in the file, up to the last one. */
static unsigned allocated_parts(uint32_t map)
{
	return map ? 32 - (unsigned)__builtin_clz(map) : 0;
}

static const char *read_l2(struct qcow2 *qcow2, uint64_t at)
{
	for (uint64_t i = 0; i < qcow2->cluster; i += qcow2->entry_len) {
		const uint8_t *p = view_peek(qcow2->view, at + i, qcow2->entry_len);

		qcow2->where = at + i;
		if (!p || !add_entry(qcow2, be64(p),
				  qcow2->entry_len == 16 ? allocated_parts(be32(p + 12)) : 32))
			return "an impossible offset of a cluster";
	}
	return NULL;
}

static const char *read_l1(struct qcow2 *qcow2)
{
	const char *problem = NULL;

	extend_to(qcow2, qcow2->l1 + 8 * (uint64_t)qcow2->l1_len);
	for (uint32_t i = 0; i < qcow2->l1_len && !problem; i++) {
		const uint8_t *p = view_peek(qcow2->view, qcow2->l1 + 8 * (uint64_t)i, 8);
		uint64_t offset = p ? be64(p) & OFFSET_MASK : 0;

		qcow2->where = qcow2->l1 + 8 * (uint64_t)i;
		if (!p || (be64(p) & 0x1ff) || !valid_offset(qcow2, offset) || offset >= qcow2->end)
			return "an impossible offset of a table of clusters";
		if (offset) {
			extend_to(qcow2, offset + qcow2->cluster);
			problem = read_l2(qcow2, offset);
		}
	}
	return problem;
}

/* Where the table of snapshots ends, which is not padded; 0: it is cut, or not at a cluster. */
static uint64_t snapshots_end(const struct qcow2 *qcow2)
{
	const uint8_t *p = view_peek(qcow2->view, 64, 8);
	uint64_t at = p ? be64(p) : 0, end = 0;

	if (!at || !valid_offset(qcow2, at))
		return 0;
	for (uint32_t i = 0; i < qcow2->snapshots && i < SNAPSHOTS_MAX && at < qcow2->end; i++) {
		p = view_peek(qcow2->view, at, SNAPSHOT_LEN);
		if (!p)
			return 0;
		end = at + SNAPSHOT_LEN + be32(p + 36) + be16(p + 12) + be16(p + 14);
		at = (end + 7) / 8 * 8;
	}
	return end;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct qcow2 qcow2 = { .view = view };
	const char *problem = read_header(&qcow2);
	uint64_t end;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	problem = read_counts(&qcow2);
	if (problem && qcow2.where < view_size(view) && !view_ends_with_image(view))
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, problem, qcow2.where);
	if (!problem)
		problem = read_l1(&qcow2);
	end = qcow2.end;
	/* Compressed data need not fill the last cluster, and neither does the table of snapshots. */
	if (!problem && qcow2.snapshots)
		qcow2.reached = snapshots_end(&qcow2);
	if (!problem && qcow2.reached <= end && qcow2.reached + qcow2.cluster > end)
		end = qcow2.reached;
	if (end > view_size(view))
		return walk_cut(view, finding, end, view_size(view));
	if (problem)
		return foreign_cut(view, finding, 104, qcow2.where, problem, qcow2.where);
	view_holds(view, qcow2.cluster, end);
	finding->length = end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the tables agree, but the data up to %" PRIu64 " cannot be verified", end);
}

const struct carver qcow2_carver = {
	.name = "qcow2",
	.summary = "QEMU's QCOW2 disk images, by reference counts and tables of clusters",
	.check = check,
};
