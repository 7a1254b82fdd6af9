/*
 * JFFS2, file systems of flash memory (include/uapi/linux/jffs2.h).
 *
 *	node:  1985, kind (2 each, in either order), length, CRC-32 of these 8 bytes (4 each), content; padded to 4 bytes
 *	entry: at 28 the name's length, at 32 the CRC-32 of the 32 bytes before and at 36 that of the name, which follows
 *	inode: at 44 the place of its data in the file, at 48 their length here, at 56 how they are compressed (0: not at all), at 60
 *	       their CRC-32 and at 64 that of the 60 bytes before; data
 *
 * Nodes follow one another, in blocks of flash memory whose rest is FF. Their number is not stored: an image ends where no node
 * follows, and is unverified. These CRCs begin with 0 and are not inverted. An image begins with a block, mostly with a
 * node of 12 bytes that marks it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "walk.h"

#define MAGIC 0x1985
#define HEAD_LEN 12
#define ENTRY_LEN 40
#define INODE_LEN 68
#define ACCURATE 0x2000 /* obsolete nodes lack this bit, which their CRC counts */
#define NODE_MAX_LEN (1u << 20)
#define ERASED_MAX (64u << 20)
#define NODES_MIN 3

enum { ENTRY = 0xe001, INODE = 0xe002 };

struct jffs2 {
	struct view *view;
	bool big_endian;
	uint64_t broken_end; /* of the node that has a valid head, but other CRCs; 0: none */
};

static uint32_t field(const struct jffs2 *jffs2, const uint8_t *p)
{
	return ordered32(jffs2->big_endian, p);
}

/* Whether the CRC of [at, at + len) is `want`. */
static bool crc_matches(struct view *view, uint64_t at, uint64_t len, uint32_t want)
{
	uint32_t crc = UINT32_MAX;

	return walk_crc32(view, at, len, &crc) && ~crc == want;
}

/* Whether an entry or inode has its CRCs. */
static bool content_matches(struct jffs2 *jffs2, uint64_t at, uint32_t len, unsigned kind)
{
	const uint8_t *p = view_peek(jffs2->view, at, kind == ENTRY ? ENTRY_LEN : INODE_LEN);
	uint32_t crc, data_crc, data_len, place;
	bool stored;

	if (!p || len < (kind == ENTRY ? ENTRY_LEN : INODE_LEN))
		return false;
	if (kind == ENTRY) {
		crc = field(jffs2, p + 32);
		data_crc = field(jffs2, p + 36);
		data_len = p[28];
		return ENTRY_LEN + data_len <= len && crc_matches(jffs2->view, at, 32, crc) &&
		       crc_matches(jffs2->view, at + ENTRY_LEN, data_len, data_crc);
	}
	place = field(jffs2, p + 44);
	data_len = field(jffs2, p + 48);
	stored = !p[56];
	data_crc = field(jffs2, p + 60);
	crc = field(jffs2, p + 64);
	if (data_len > len - INODE_LEN || !crc_matches(jffs2->view, at, 60, crc) ||
		!crc_matches(jffs2->view, at + INODE_LEN, data_len, data_crc))
		return false;
	if (stored && data_len && !place)
		view_embedded(jffs2->view, at + INODE_LEN);
	return true;
}

/* Reads the node at `at`. Returns where the next one begins; 0: there is none. */
static uint64_t read_node(struct jffs2 *jffs2, uint64_t at)
{
	const uint8_t *p = view_peek(jffs2->view, at, HEAD_LEN);
	uint32_t len, crc = UINT32_MAX, want;
	unsigned kind;
	uint8_t head[8];

	if (!p || ordered16(jffs2->big_endian, p) != MAGIC)
		return 0;
	kind = ordered16(jffs2->big_endian, p + 2);
	len = field(jffs2, p + 4);
	want = field(jffs2, p + 8);
	memcpy(head, p, sizeof(head));
	head[jffs2->big_endian ? 2 : 3] |= ACCURATE >> 8;
	crc = (uint32_t)crc32(crc, head, sizeof(head));
	if (~crc != want || len < HEAD_LEN || len > NODE_MAX_LEN)
		return 0;
	if ((kind == ENTRY || kind == INODE) && !content_matches(jffs2, at, len, kind)) {
		jffs2->broken_end = at + len;
		return 0;
	}
	return at + ((uint64_t)len + 3) / 4 * 4;
}

/* Where the bytes FF end that begin at `at`; a multiple of 4. */
static uint64_t skip_erased(struct view *view, uint64_t at)
{
	uint64_t limit = view_size(view) - at < ERASED_MAX ? view_size(view) : at + ERASED_MAX;
	uint64_t from = at;
	const uint8_t *p;
	size_t len;

	while ((p = walk_stream(view, at, limit, at - from, &len)) && len >= 4) {
		size_t i = 0;

		while (i + 4 <= len && le32(p + i) == UINT32_MAX)
			i += 4;
		at += i;
		if (i + 4 <= len)
			break;
	}
	return at;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct jffs2 jffs2 = { .view = view, .big_endian = p && be16(p) == MAGIC };
	uint64_t at = 0, next, size = view_size(view), nodes = 0;

	for (;;) {
		next = at < size ? read_node(&jffs2, at) : 0;
		if (!next)
			next = at < size && at ? skip_erased(view, at) : at;
		else {
			if (at)
				view_part(view, at);
			nodes++;
		}
		if (next == at)
			break;
		if (next > size)
			return walk_cut(
				view, finding, next, view_ends_with_image(view) ? size : at);
		at = next;
	}
	if (nodes < NODES_MIN)
		return verdict_because(
			CARVE_REJECT, finding, "no node with its CRC at %" PRIu64, at);
	if (jffs2.broken_end > size)
		return walk_cut(view, finding, jffs2.broken_end, at);
	finding->length = at;
	if (jffs2.broken_end)
		return verdict_because(
			CARVE_TRUNCATED, finding, "a node with a wrong checksum at %" PRIu64, at);
	return walk_uncounted(view, finding, at, at, 0, "node");
}

const struct carver jffs2_carver = {
	.name = "jffs2",
	.summary = "JFFS2 images of flash memory, by their nodes",
	.check = check,
};
