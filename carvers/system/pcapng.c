/*
 * Captured packets, the newer format (draft-ietf-opsawg-pcapng).
 *
 *	file:    sections
 *	section: a header block (0A 0D 0D 0A, with the byte order and the section's length, or -1),
 *		blocks
 *	block:   type, length, content, length once more
 *
 * A second section at a sector may as well be the next file, and is carved as one: each has everything it
 * needs. Both lengths of a block have to agree, and packets' lengths and interfaces have to be
 * possible. If the section has its length, the file is complete when its blocks fill it; mostly it
 * has not, and the end is unverified. A block of a known type without its second length was cut.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "packet_sum.h"
#include "walk.h"

#define BLOCK_MIN 12
#define BLOCK_MAX (64u << 20)
#define CONTENT_LEN 32 /* bytes of a block whose content is checked, its head included */
#define SMALL_BLOCK 64 /* one that is looked at as a whole */
#define TYPE_SECTION 0x0a0d0d0a
#define INTERFACES 64    /* whose link types are kept */
#define STATE_EVERY 1024 /* bytes after which the state is saved */
/* Of 650,492 blocks (tests/bench/RESULTS.md) that went on in a wrong cluster 927 had their length at their end. */
#define LENGTH_BITS 8

/* Without the pointers it is the state with which a check goes on. */
struct pcapng {
	struct view *view;
	struct finding *finding;
	int64_t time;
	uint64_t at;          /* the next block */
	uint64_t section_end; /* UINT64_MAX: not stored */
	uint64_t blocks;
	uint32_t interfaces;
	uint16_t links[INTERFACES];
	uint64_t ticks; /* a second of the first interface's clock, 0: unknown */
	uint64_t saved; /* where the state was saved last */
	struct packet_sums sums;
	bool big_endian;
	bool has_length; /* all sections have theirs */
	bool assembles;  /* a file in pieces is put together */
};

static uint32_t read32(const struct pcapng *file, const uint8_t *p)
{
	return file->big_endian ? be32(p) : le32(p);
}

static bool known_type(uint32_t type)
{
	return (type >= 1 && type <= 10) || type == TYPE_SECTION || type == 0xbad ||
	       type == 0x40000bad;
}

/* Reads a section's header, and sets the byte order. */
static bool start_section(struct pcapng *file)
{
	const uint8_t *p = view_peek(file->view, file->at, 28);
	uint64_t len;
	uint32_t major;

	if (!p || be32(p) != TYPE_SECTION)
		return false;
	if (be32(p + 8) != 0x1a2b3c4d && le32(p + 8) != 0x1a2b3c4d)
		return false;
	file->big_endian = be32(p + 8) == 0x1a2b3c4d;
	major = file->big_endian ? be16(p + 12) : le16(p + 12);
	len = file->big_endian ? be64(p + 16) : le64(p + 16);
	if (major != 1 || read32(file, p + 4) < 28)
		return false;
	file->section_end = len > INT64_MAX ? UINT64_MAX : file->at + read32(file, p + 4) + len;
	file->interfaces = 0;
	return true;
}

/* The resolution of an interface's clock, from its options in [at, end). */
static uint64_t read_ticks(const struct pcapng *file, uint64_t at, uint64_t end)
{
	while (end - at >= 5) {
		const uint8_t *p = view_peek(file->view, at, 5);
		uint32_t code = !p ? 0 : file->big_endian ? be16(p) : le16(p);
		uint32_t len = !p ? 0 : file->big_endian ? be16(p + 2) : le16(p + 2);

		if (code == 0)
			break;
		if (code == 9)
			return p[4] == 6 ? 1000000 : p[4] == 9 ? 1000000000 : p[4] == 3 ? 1000 : 0;
		if (((len + 3) & ~3u) > end - at - 4)
			break;
		at += 4 + ((len + 3) & ~3u);
	}
	return 1000000;
}

/* Checks the content of a block of len bytes; p: its first ones, CONTENT_LEN of them if there are so many. */
static bool check_content(struct pcapng *file, const uint8_t *p, uint32_t type, uint32_t len)
{
	uint64_t time;

	if (type == 1) {
		if (len < 20)
			return false;
		if (file->interfaces < INTERFACES)
			file->links[file->interfaces] =
				file->big_endian ? be16(p + 8) : le16(p + 8);
		if (!file->interfaces++)
			file->ticks = read_ticks(file, file->at + 16, file->at + len - 4);
	} else if (type == 6) {
		if (len < 32 || read32(file, p + 8) >= file->interfaces ||
			read32(file, p + 20) > len - 32)
			return false;
		time = (uint64_t)read32(file, p + 12) << 32 | read32(file, p + 16);
		if (!file->time && file->ticks)
			file->time = (int64_t)(time / file->ticks);
	} else if (type == 3) {
		return len >= 16 && file->interfaces > 0;
	}
	return true;
}

/* Whether the records of a block of names are valid, up to the one that ends them. */
static bool check_names(const struct pcapng *file, uint32_t len)
{
	uint64_t at = file->at + 8, end = file->at + len - 4;

	while (end - at >= 4) {
		const uint8_t *p = view_peek(file->view, at, 4);
		uint32_t type = !p ? 0 : file->big_endian ? be16(p) : le16(p);
		uint32_t taken = !p ? 0 : file->big_endian ? be16(p + 2) : le16(p + 2);

		if (type == 0)
			return p && taken == 0;
		taken = 4 + ((taken + 3) & ~3u);
		if (type > 4 || taken > end - at)
			return false;
		at += taken;
	}
	return at == end;
}

/* Where files are put together: what a block's second length proves, and whether the sum of its packet, if it has one, is not
 * wrong. p: its first bytes. */
static bool check_packet(struct pcapng *file, const uint8_t *p, uint32_t type, uint32_t len)
{
	uint32_t interface = type == 6 ? read32(file, p + 8) : 0, head = type == 6 ? 28 : 12;
	uint32_t packet_len = type == 6   ? read32(file, p + 20)
			      : type == 3 ? read32(file, p + 8)
					  : 0;

	view_linked(file->view, file->at + 8, file->at + len - 4, LENGTH_BITS);
	if (!packet_len || packet_len > len - head - 4 || interface >= INTERFACES)
		return true;
	return packet_sums_add(&file->sums, file->view, file->links[interface], file->at,
		file->at + head, packet_len);
}

enum pcapng_block { BLOCK_VALID, BLOCK_NONE, BLOCK_BAD, BLOCK_CUT };

static enum pcapng_block read_block(struct pcapng *file)
{
	uint64_t left = view_size(file->view) - file->at;
	size_t some = left < SMALL_BLOCK ? (size_t)left : SMALL_BLOCK;
	const uint8_t *p = some < 8 ? NULL : view_peek(file->view, file->at, some);
	uint32_t type, len;
	bool known;

	if (!p)
		return BLOCK_NONE;
	if (file->blocks && be32(p) == TYPE_SECTION) {
		if (file->at % SECTOR == 0 || file->at == file->section_end || !start_section(file))
			return BLOCK_NONE;
		p = view_peek(file->view, file->at, some);
		if (!p)
			return BLOCK_NONE;
	}
	type = read32(file, p);
	len = read32(file, p + 4);
	known = known_type(type);
	if (len < BLOCK_MIN || len % 4 || len > BLOCK_MAX)
		return BLOCK_NONE;
	if (len > left)
		return known ? BLOCK_CUT : BLOCK_NONE;
	if (len > some) {
		p = view_peek(file->view, file->at + len - 4, 4);
		if (!p || read32(file, p) != len)
			return known ? BLOCK_BAD : BLOCK_NONE;
		p = view_peek(file->view, file->at, CONTENT_LEN);
	} else if (read32(file, p + len - 4) != len) {
		return known ? BLOCK_BAD : BLOCK_NONE;
	}
	if (!p || !check_content(file, p, type, len))
		return known ? BLOCK_BAD : BLOCK_NONE;
	if (file->assembles &&
		(!check_packet(file, p, type, len) || (type == 4 && !check_names(file, len))))
		return BLOCK_BAD;
	file->at += len;
	file->blocks++;
	return BLOCK_VALID;
}

static void save_state(struct pcapng *file)
{
	struct pcapng kept = *file;

	if (!view_wants_states(file->view) || file->at < file->saved + STATE_EVERY)
		return;
	kept.view = NULL;
	kept.finding = NULL;
	kept.saved = file->saved = file->at;
	view_save(file->view,
		&(struct carve_state){ .offset = file->at, .len = sizeof(kept), .data = &kept });
}

/* Walks the blocks from where the last one that was walked ends. */
static enum verdict walk(struct pcapng *file)
{
	struct view *view = file->view;
	struct finding *finding = file->finding;
	enum pcapng_block block;

	while ((block = read_block(file)) == BLOCK_VALID) {
		file->has_length &= file->section_end != UINT64_MAX;
		save_state(file);
	}
	if (file->blocks < 2)
		return verdict_because(CARVE_REJECT, finding, "no block after the header");
	finding->length = file->at;
	finding->time = file->time;
	view_holds(view, BLOCK_MIN, file->at);
	if (file->has_length && file->at == file->section_end)
		return CARVE_COMPLETE;
	if (block == BLOCK_CUT)
		return walk_cut(view, finding, view_size(view) + 1,
			view_ends_with_image(view) || file->assembles ? view_size(view) : file->at);
	if (block == BLOCK_BAD || (file->has_length && file->at < file->section_end))
		return verdict_because(
			CARVE_TRUNCATED, finding, "no whole block at %" PRIu64, file->at);
	view_agrees(view);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the section's length is not stored; %" PRIu64 " blocks are valid", file->blocks);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct pcapng file = { .view = view,
		.finding = finding,
		.has_length = true,
		.assembles = walk_assembles(view) };

	if (!start_section(&file))
		return verdict_because(CARVE_REJECT, finding, "no section header");
	return walk(&file);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct pcapng file;

	memcpy(&file, state->data, sizeof(file));
	file.view = view;
	file.finding = finding;
	file.assembles = true;
	return walk(&file);
}

const struct carver pcapng_carver = {
	.name = "pcapng",
	.summary = "Captured packets (pcapng), by their blocks",
	.check = check,
	.resume = resume,
};
