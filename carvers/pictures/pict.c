/*
 * QuickDraw's pictures, PICT of version 2 (Apple, Inside Macintosh: Imaging With QuickDraw, appendix A).
 *
 *	512 bytes for the program that wrote it; the lowest 16 bits of the length; frame: top, left, bottom, right
 *	operations: a number of 2 bytes, and data, padded to an even length; big-endian
 *	the first are 0011 02FF (the version) and 0C00 (24 bytes); 00FF is the end
 *
 * The number of an operation gives the length of its data, or where that is stored. Rows of bitmaps are PackBits, each
 * after its length: a byte n below 128 and n + 1 bytes, or 257 - n times a byte; they are decoded. The operation that ends
 * the picture, and the length at 512, prove the end; without that length it is unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "walk.h"

#define START 512
#define FIRST_OP (START + 10)
#define HEAD_LEN 30 /* of the two operations that come first */
#define END_OP 0xff
#define NOPS_MAX 8
#define ROW_SHORT 8  /* rows of fewer bytes are not coded */
#define ROW_LONG 250 /* and the lengths of those of more have two bytes */
#define SIDE_MAX 32767

struct pict {
	struct view *view;
	uint64_t at;        /* what is read next */
	uint64_t valid_end; /* after the last operation or row */
	bool cut;           /* the view ended */
	uint16_t stored;    /* the length at 512 */
};

static const uint8_t *peek(struct pict *pict, uint64_t at, size_t len)
{
	const uint8_t *p = view_peek(pict->view, at, len);

	pict->cut |= !p;
	return p;
}

static bool skip(struct pict *pict, uint64_t len)
{
	pict->at += len;
	pict->cut |= pict->at > view_size(pict->view);
	return !pict->cut;
}

static bool read_16(struct pict *pict, uint32_t *value)
{
	const uint8_t *p = peek(pict, pict->at, 2);

	if (!p)
		return false;
	*value = be16(p);
	pict->at += 2;
	return true;
}

static bool read_32(struct pict *pict, uint32_t *value)
{
	const uint8_t *p = peek(pict, pict->at, 4);

	if (!p)
		return false;
	*value = be32(p);
	pict->at += 4;
	return true;
}

/* Data after their length of two bytes, which counts itself if `own`. */
static bool skip_counted(struct pict *pict, bool own)
{
	uint32_t len;

	return read_16(pict, &len) && (!own || len >= 2) && skip(pict, own ? len - 2 : len);
}

/* Text after `head` bytes, and its length of one byte. */
static bool skip_text(struct pict *pict, uint32_t head)
{
	const uint8_t *p = peek(pict, pict->at + head, 1);

	return p && skip(pict, head + 1u + *p);
}

/* A row of PackBits, whose length has two bytes if `wide`: whether it gives row_len bytes, or all_len, in values of `unit`
 * bytes. */
static bool read_row(
	struct pict *pict, uint32_t row_len, uint32_t all_len, bool wide, uint32_t unit)
{
	uint32_t len, i = 0, made = 0;
	const uint8_t *p;

	if (wide) {
		if (!read_16(pict, &len))
			return false;
	} else {
		p = peek(pict, pict->at, 1);
		if (!p)
			return false;
		len = *p;
		pict->at++;
	}
	p = len && len <= 2 * all_len + 2 ? peek(pict, pict->at, len) : NULL;
	if (!p)
		return false;
	while (i < len) {
		uint8_t code = p[i++];

		if (code == 128)
			continue;
		made += (code < 128 ? code + 1u : 257u - code) * unit;
		i += code < 128 ? (code + 1u) * unit : unit;
	}
	/* Some encoders code one byte more. */
	if (i != len || (made != row_len && made != row_len + 1 && made != all_len))
		return false;
	pict->at += len;
	pict->valid_end = pict->at;
	return true;
}

/* A bitmap or a map of pixels, with or without a region. */
static bool read_bits(struct pict *pict, uint32_t op)
{
	bool direct = op == 0x9a || op == 0x9b, region = op & 1, coded = op >= 0x98;
	const uint8_t *p;
	uint32_t row, height, kind = 0, components = 0, colours, unit = 1, len;
	bool pixels;

	if (direct && !skip(pict, 4))
		return false;
	p = peek(pict, pict->at, 10);
	if (!p)
		return false;
	row = be16(p);
	pixels = row & 0x8000;
	height = (uint32_t)(be16(p + 6) - be16(p + 2)) & 0xffff;
	row &= 0x3fff;
	if (!row || !height || height > SIDE_MAX || (direct && !pixels))
		return false;
	pict->at += 10;
	if (pixels) {
		p = peek(pict, pict->at, 36);
		if (!p || be16(p + 18) > 32 || be16(p + 20) > 4)
			return false;
		kind = be16(p + 2);
		components = be16(p + 20);
		pict->at += 36;
	}
	if (pixels && !direct) { /* colours of 8 bytes */
		p = peek(pict, pict->at, 8);
		colours = p ? be16(p + 6) + 1u : 0;
		if (!p || colours > 256 || !skip(pict, 8 + 8 * (uint64_t)colours))
			return false;
	}
	if (!skip(pict, 18) || (region && !skip_counted(pict, true)))
		return false;
	len = row;
	if (direct && kind == 4 && components == 3)
		len = row / 4 * 3;
	if (direct && kind == 2)
		return skip(pict, (uint64_t)row / 4 * 3 * height);
	if (direct && kind == 3)
		unit = 2;
	if (row < ROW_SHORT || !coded || (direct && kind == 1))
		return skip(pict, (uint64_t)row * height);
	for (uint32_t i = 0; i < height; i++)
		/* ImageMagick codes a fourth component that it does not state. */
		if (!read_row(pict, len, row, row > ROW_LONG, unit))
			return false;
	return true;
}

/* A pattern of pixels. */
static bool read_pattern(struct pict *pict)
{
	uint32_t kind, row, height, colours;
	const uint8_t *p;

	if (!read_16(pict, &kind) || !skip(pict, 8))
		return false;
	if (kind == 2) /* a colour */
		return skip(pict, 6);
	p = peek(pict, pict->at, 54);
	if (kind != 1 || !p)
		return false;
	row = be16(p) & 0x3fff;
	height = (uint32_t)(be16(p + 6) - be16(p + 2)) & 0xffff;
	colours = be16(p + 52) + 1u;
	if (!row || !height || height > 1024 || colours > 256 ||
		!skip(pict, 54 + 8 * (uint64_t)colours))
		return false;
	if (row < ROW_SHORT)
		return skip(pict, (uint64_t)row * height);
	for (uint32_t i = 0; i < height; i++)
		if (!read_row(pict, row, row, row > ROW_LONG, 1))
			return false;
	return true;
}

/* Lengths of the data of 00 to 23, of which 255 is one of the others. */
static const uint8_t lengths[] = { 0, 255, 8, 2, 1, 2, 4, 4, 2, 8, 8, 4, 4, 2, 4, 4, 8, 2, 255, 255,
	255, 2, 2, 255, 255, 255, 6, 6, 0, 6, 0, 6, 8, 4, 6, 2 };

/* Advances over the operation's data. False: programs do not write it, or its data are invalid. */
static bool read_operation(struct pict *pict, uint32_t op)
{
	uint32_t len, group = op >> 4 & 15;

	if (op == 1)
		return skip_counted(pict, true);
	if (op >= 0x12 && op <= 0x14)
		return read_pattern(pict);
	if (op < sizeof(lengths))
		return lengths[op] != 255 && skip(pict, lengths[op]);
	if (op >= 0x24 && op <= 0x2f && op != 0x28 && op != 0x29 && op != 0x2a && op != 0x2b)
		return op >= 0x2c && skip_counted(pict, false);
	if (op < 0x2c)
		return skip_text(pict, op == 0x28 ? 4 : op == 0x2b ? 2 : 1);
	if (op < 0x70) { /* rectangles, round ones, ovals, arcs; again the last one */
		if ((op & 7) > 4)
			return false;
		return skip(pict, (op & 8) ? (group == 6 ? 4 : 0) : (group == 6 ? 12 : 8));
	}
	if (op < 0x90) /* polygons, regions */
		return (op & 7) <= 4 && ((op & 8) || skip_counted(pict, true));
	if (op == 0x90 || op == 0x91 || (op >= 0x98 && op <= 0x9b))
		return read_bits(pict, op);
	if (op == 0xa0)
		return skip(pict, 2);
	if (op == 0xa1)
		return skip(pict, 2) && skip_counted(pict, false);
	if (op == 0xc00)
		return skip(pict, 24);
	if (op == 0x8200 || op == 0x8201)
		return read_32(pict, &len) && skip(pict, len);
	return false;
}

static bool read_start(struct pict *pict)
{
	const uint8_t *p = peek(pict, START, 16);

	pict->at = FIRST_OP;
	pict->stored = p ? be16(p) : 0;
	return p && memcmp(p + 10, "\0\x11\2\xff\x0c\0", 6) == 0 &&
	       (int16_t)be16(p + 6) > (int16_t)be16(p + 2) &&
	       (int16_t)be16(p + 8) > (int16_t)be16(p + 4);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct pict pict = { .view = view };
	unsigned nops = 0, drawn = 0;
	uint32_t op = 0;

	if (!read_start(&pict))
		return verdict_because(CARVE_REJECT, finding, "no picture at %d", START);
	while (read_16(&pict, &op) && op != END_OP) {
		nops = op ? 0 : nops + 1;
		if (nops > NOPS_MAX || !read_operation(&pict, op))
			break;
		pict.at += pict.at & 1;
		if (op)
			pict.valid_end = pict.at;
		drawn += op > 0x11 && op != 0xc00;
	}
	if (!drawn && pict.valid_end <= FIRST_OP + HEAD_LEN)
		return verdict_because(CARVE_REJECT, finding, "no operation at %" PRIu64, pict.at);
	view_unverified(view, 0, START);
	if (pict.cut)
		return walk_cut(view, finding, view_size(view) + 1, view_size(view));
	if (op != END_OP) {
		uint64_t end = pict.valid_end < view_size(view) ? pict.valid_end : view_size(view);

		finding->length = walk_before_fill(view, START, end);
		return verdict_because(CARVE_TRUNCATED, finding, "no operation at %" PRIu64, end);
	}
	finding->length = pict.at;
	/* Some writers count the first 512 bytes, too. */
	if (pict.stored != ((pict.at - START) & 0xffff) && pict.stored != (pict.at & 0xffff))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the length at 512 is not the one of the operations, %" PRIu64,
			pict.at - START);
	return CARVE_COMPLETE;
}

const struct carver pict_carver = {
	.name = "pict",
	.summary = "QuickDraw's pictures of version 2, by their operations",
	.check = check,
};
