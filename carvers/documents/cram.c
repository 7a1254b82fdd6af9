/*
 * CRAM, compressed alignments of sequences (SAMtools, CRAMv3.pdf).
 *
 *	file:      'CRAM', version (2 bytes: 2 or 3), name (20); containers
 *	container: length of its blocks (4, little-endian); numbers of variable length: reference, start, span, records,
 *	           counter, bases, blocks, a count of landmarks and these; version 3: CRC-32 of all that (4); blocks
 *	block:     method, kind (1 each), numbers: id, length, length when decompressed; data; version 3: CRC-32 of the block
 *
 * The first container has the header; one with the reference -1 and the start 454F46h ('EOF') ends the file. In version 3 all is
 * verified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 26
#define CONTAINER_HEAD_MAX 4096 /* of what is read before the landmarks */
#define END_START 0x454f46
#define KIND_MAX 5
#define BLOCKS_MAX 65536
#define LANDMARKS_MAX 65536

struct cram {
	struct view *view;
	unsigned version;
	uint64_t at;
	bool cut;
};

struct cram_container {
	uint64_t blocks_at, end;
	uint32_t block_count;
	bool last;
};

/* A number whose first byte's highest bits count the bytes after it: up to 4 of them (itf8), of which the last has four bits
 * then; or up to 8 (ltf8). */
static bool read_number(struct cram *cram, bool wide, uint64_t *value)
{
	const uint8_t *p = view_peek(cram->view, cram->at, 1);
	unsigned more = 0, first = p ? *p : 0;

	while (p && more < (wide ? 8 : 4) && first & 0x80u >> more)
		more++;
	p = p ? view_peek(cram->view, cram->at, 1 + more) : NULL;
	if (!p) {
		cram->cut = true;
		return false;
	}
	*value = more < 8 ? first & (0xffu >> (more + (more < 4 || wide))) : 0;
	for (unsigned i = 1; i <= more; i++)
		*value = !wide && more == 4 && i == 4 ? *value << 4 | (p[i] & 15)
						      : *value << 8 | p[i];
	cram->at += 1 + more;
	return true;
}

/* Whether the CRC-32 of [from, cram->at) follows, for version 3; moves after it. */
static bool read_crc(struct cram *cram, uint64_t from)
{
	uint32_t crc = 0;
	const uint8_t *p;

	if (cram->version < 3)
		return true;
	p = walk_crc32(cram->view, from, cram->at - from, &crc) ? view_peek(cram->view, cram->at, 4)
								: NULL;
	cram->cut = !p;
	cram->at += 4;
	return p && le32(p) == crc;
}

static bool read_container(struct cram *cram, struct cram_container *container)
{
	uint64_t from = cram->at, reference, start, value, count;
	const uint8_t *p = view_peek(cram->view, cram->at, 4);
	uint32_t len = p ? le32(p) : 0;

	if (!p) {
		cram->cut = true;
		return false;
	}
	cram->at += 4;
	if (len > INT32_MAX || !read_number(cram, false, &reference) ||
		!read_number(cram, false, &start) || !read_number(cram, false, &value) ||
		!read_number(cram, false, &value) ||
		!read_number(cram, cram->version > 2, &value) || !read_number(cram, true, &value) ||
		!read_number(cram, false, &count) || count > BLOCKS_MAX)
		return false;
	container->block_count = (uint32_t)count;
	container->last = reference == UINT32_MAX && start == END_START;
	if (!read_number(cram, false, &count) || count > LANDMARKS_MAX)
		return false;
	for (; count; count--)
		if (!read_number(cram, false, &value))
			return false;
	if (!read_crc(cram, from))
		return false;
	container->blocks_at = cram->at;
	container->end = cram->at + len;
	return true;
}

/* Whether blocks fill the container. */
static bool read_blocks(struct cram *cram, const struct cram_container *container)
{
	for (uint32_t i = 0; i < container->block_count; i++) {
		uint64_t from = cram->at, id, len, raw_len;
		const uint8_t *p = view_peek(cram->view, cram->at, 2);

		cram->cut = !p;
		if (!p || p[1] > KIND_MAX)
			return false;
		cram->at += 2;
		if (!read_number(cram, false, &id) || !read_number(cram, false, &len) ||
			!read_number(cram, false, &raw_len))
			return false;
		if (cram->at > container->end || len > container->end - cram->at)
			return false;
		view_embedded(cram->view, cram->at);
		if (cram->version < 3)
			view_unverified(cram->view, cram->at, cram->at + len);
		cram->at += len;
		if (cram->at > view_size(cram->view))
			cram->cut = true;
		if (cram->cut || !read_crc(cram, from))
			return false;
	}
	/* The header's container has room for more. */
	return cram->at <= container->end;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct cram cram = { .view = view, .at = HEAD_LEN };
	struct cram_container container;
	uint64_t start, size = view_size(view), count = 0;

	if (!p || memcmp(p, "CRAM", 4) != 0 || p[4] < 2 || p[4] > 3)
		return verdict_because(CARVE_REJECT, finding, "no header of version 2 or 3 at 0");
	cram.version = p[4];
	finding_set_title(finding, p + 6, strnlen((const char *)p + 6, HEAD_LEN - 6));
	for (;; count++) {
		start = cram.at;
		if (!read_container(&cram, &container) || !read_blocks(&cram, &container))
			break;
		if (container.end > size) {
			cram.cut = true;
			break;
		}
		cram.at = finding->length = container.end;
		if (container.last && count)
			return cram.version > 2 ? CARVE_COMPLETE
						: verdict_because(CARVE_UNVERIFIED, finding,
							  "version 2 has no checksums");
	}
	finding->length = 0;
	if (!count) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding, "no container at %d", HEAD_LEN);
	}
	if (cram.cut)
		return walk_cut(view, finding, size + 1, start);
	finding->length = start;
	return verdict_because(CARVE_TRUNCATED, finding, "no intact container at %" PRIu64, start);
}

const struct carver cram_carver = {
	.name = "cram",
	.summary = "compressed alignments of sequences (CRAM), by their containers and checksums",
	.check = check,
};
