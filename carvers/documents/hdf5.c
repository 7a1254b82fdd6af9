/*
 * HDF5 (The HDF Group, HDF5 File Format Specification 3.0, III.A): NetCDF 4 and MATLAB 7.3 are HDF5, too.
 *
 *	superblock: 89 'HDF' 0D 0A 1A 0A, version (0 to 3); lengths of places and of lengths at 13 and 14
 *	            (version 0, 1) or at 9 and 10; places: of the file's beginning, ..., of its end
 *	            from version 2 on a checksum (Jenkins' lookup3) ends it
 *	root group: version 0, 1: its header's place, and mostly those of 'TREE' and 'HEAP'; 2, 3: the place of 'OHDR',
 *	            whose first part has a checksum, too
 *	MATLAB 7.3: 'MATLAB 7.3 MAT-file' and more text, 512 bytes in all, before it; other programs' user blocks of that length
 *
 * The superblock's place of the end gives the length. The checksums, and the root group at its place, confirm the
 * superblock; nothing verifies the data. A root group that is not at its place shows that the file breaks off before it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "stored.h"

#define HEAD_LEN 96
#define USER_BLOCK_LEN 512
#define SUPERBLOCK_LEN 44 /* of versions 2 and 3, without the checksum */
#define GROUP_MAX 4096 /* the first part of a group's header, of which the checksum is compared */
#define NONE UINT64_MAX

static uint32_t turn(uint32_t x, unsigned bits)
{
	return x << bits | x >> (32 - bits);
}

/* Jenkins' lookup3 (hashlittle) of len bytes. */
static uint32_t lookup3(const uint8_t *p, size_t len)
{
	uint32_t a = 0xdeadbeef + (uint32_t)len, b = a, c = a;
	uint8_t last[12] = { 0 };

	for (; len > 12; p += 12, len -= 12) {
		a += le32(p);
		b += le32(p + 4);
		c += le32(p + 8);
		a = (a - c) ^ turn(c, 4);
		c += b;
		b = (b - a) ^ turn(a, 6);
		a += c;
		c = (c - b) ^ turn(b, 8);
		b += a;
		a = (a - c) ^ turn(c, 16);
		c += b;
		b = (b - a) ^ turn(a, 19);
		a += c;
		c = (c - b) ^ turn(b, 4);
		b += a;
	}
	if (!len)
		return c;
	memcpy(last, p, len);
	a += le32(last);
	b += le32(last + 4);
	c += le32(last + 8);
	c = (c ^ b) - turn(b, 14);
	a = (a ^ c) - turn(c, 11);
	b = (b ^ a) - turn(a, 25);
	c = (c ^ b) - turn(b, 16);
	a = (a ^ c) - turn(c, 4);
	b = (b ^ a) - turn(a, 14);
	return (c ^ b) - turn(b, 24);
}

struct hdf5 {
	struct view *view;
	uint64_t at;         /* of the superblock, from which places count */
	uint64_t end;        /* of the file */
	uint64_t header;     /* of the root group; NONE: there is none */
	uint64_t tree, heap; /* versions 0 and 1; NONE: not given */
	bool checked;        /* with checksums */
};

static const char *read_superblock(struct hdf5 *hdf5)
{
	/* By version: the length of a place, the beginning's place, the end's, the root group's. */
	static const struct {
		uint8_t place_len, base, end, root;
	} layouts[] = { { 13, 24, 40, 64 }, { 13, 28, 44, 68 }, { 9, 12, 28, 36 },
		{ 9, 12, 28, 36 } };
	const uint8_t *p = view_peek(hdf5->view, hdf5->at, HEAD_LEN + 4);
	const uint8_t *root;
	uint8_t version;

	if (!p || memcmp(p, "\x89HDF\r\n\x1a\n", 8) != 0 || p[8] > 3)
		return "no superblock";
	version = p[8];
	if (p[layouts[version].place_len] != 8 || le64(p + layouts[version].base) != hdf5->at)
		return "no superblock";
	hdf5->checked = version >= 2;
	if (hdf5->checked && lookup3(p, SUPERBLOCK_LEN) != le32(p + SUPERBLOCK_LEN))
		return "a wrong checksum in the superblock";
	hdf5->end = le64(p + layouts[version].end);
	if (hdf5->end < HEAD_LEN || hdf5->end > (uint64_t)1 << 48)
		return "an impossible end in the superblock";
	root = p + layouts[version].root;
	hdf5->header = le64(root);
	hdf5->tree = hdf5->heap = NONE;
	if (!hdf5->checked && le32(root + 8) == 1) {
		hdf5->tree = le64(root + 16);
		hdf5->heap = le64(root + 24);
	}
	if (hdf5->header != NONE && hdf5->header >= hdf5->end)
		return "an impossible place of the root group in the superblock";
	return NULL;
}

/* Whether the bytes at a place, counted from the superblock, are what the group has there; true where the view ends before. */
static bool has_mark(const struct hdf5 *hdf5, uint64_t place, const char *mark)
{
	const uint8_t *p = place < hdf5->end ? view_peek(hdf5->view, hdf5->at + place, 4) : NULL;

	return place == NONE || (place < hdf5->end && (!p || memcmp(p, mark, 4) == 0));
}

/* Whether the root group's header, of version 1 (1, 0, number of messages, references) or 2, is at its place. */
static bool has_header(const struct hdf5 *hdf5)
{
	const uint8_t *p =
		hdf5->header == NONE ? NULL : view_peek(hdf5->view, hdf5->at + hdf5->header, 16);
	uint64_t head = 6, len;

	if (!p)
		return true;
	if (memcmp(p, "OHDR", 4) != 0)
		return !hdf5->checked ? p[0] == 1 && !p[1] && le16(p + 2) && le32(p + 4)
				      : p[0] == 1 && !p[1];
	head += (p[5] & 0x20 ? 16 : 0) + (p[5] & 0x10 ? 4 : 0);
	p = view_peek(hdf5->view, hdf5->at + hdf5->header, (size_t)head + 8);
	if (!p)
		return true;
	len = p[head];
	for (unsigned i = 1; i < 1u << (p[5] & 3); i++)
		len |= (uint64_t)p[head + i] << 8 * i;
	head += UINT64_C(1) << (p[5] & 3);
	if (len > GROUP_MAX)
		return true;
	p = view_peek(hdf5->view, hdf5->at + hdf5->header, (size_t)(head + len) + 4);
	return !p || lookup3(p, (size_t)(head + len)) == le32(p + head + len);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct hdf5 hdf5 = { .view = view };
	const uint8_t *p = view_peek(view, 0, 10);
	const char *problem;
	enum verdict verdict;
	uint64_t broken = NONE;
	bool matlab;

	matlab = p && memcmp(p, "MATLAB 7.3", 10) == 0;
	hdf5.at = p && memcmp(p, "\x89HDF", 4) != 0 ? USER_BLOCK_LEN : 0;
	problem = read_superblock(&hdf5);
	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64, problem, hdf5.at);
	if (!has_header(&hdf5))
		broken = hdf5.header;
	else if (!has_mark(&hdf5, hdf5.tree, "TREE"))
		broken = hdf5.tree;
	else if (!has_mark(&hdf5, hdf5.heap, "HEAP"))
		broken = hdf5.heap;
	if (broken != NONE && broken <= HEAD_LEN + 4)
		return verdict_because(
			CARVE_REJECT, finding, "no root group at %" PRIu64, hdf5.at + broken);
	if (matlab)
		finding->extension = "mat";
	if (hdf5.at)
		view_part(view, hdf5.at);
	/* The superblock's end counts from the file's beginning. */
	verdict = stored_check_coded(view, finding, hdf5.at + HEAD_LEN, hdf5.end);
	if (verdict == CARVE_UNVERIFIED)
		view_holds(view, hdf5.at + HEAD_LEN, hdf5.end);
	if (broken == NONE || verdict == CARVE_TRUNCATED)
		return verdict;
	finding->length = hdf5.at + (broken < hdf5.end ? broken : HEAD_LEN);
	return verdict_because(
		CARVE_TRUNCATED, finding, "no root group at %" PRIu64, hdf5.at + broken);
}

const struct carver hdf5_carver = {
	.name = "hdf5",
	.summary = "HDF5, by the superblock's checksum and end, and the root group",
	.check = check,
};
