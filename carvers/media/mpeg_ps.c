/*
 * MPEG program streams (ISO/IEC 13818-1, 2.5; ISO/IEC 11172-1), as in MPG and VOB files.
 *
 *	pack:   00 00 01 BA, a clock (with marker bits), MPEG-2: stuffing
 *	packet: 00 00 01, a stream's id from BB on, length (2 bytes, big-endian), data
 *	end:    00 00 01 B9; many files lack it
 *
 * Packs and packets follow each other; zeros may fill the space between them. With the end code the
 * file is complete. Without it the file ends where no packet follows the last one's length, or where zeros and a pack
 * with an earlier clock do, which begins another file, and is
 * unverified, or truncated if a cluster ends there, too: the standards require the code. Each pack begins like the file, and is named as a part of it.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "mpeg_ps.h"
#include "turning.h"
#include "walk.h"

#define FILL_MAX 4096
#define DISC_SECTOR 2048 /* of a disc */
#define PACK_MIN 12

/* Packs and packets in a row needed to accept a stream. */
#define UNITS_MIN 3

enum mpeg_ps_unit { UNIT_NONE, UNIT_PACK, UNIT_PACKET, UNIT_END, UNIT_CUT };

/* The end of a pack's head, or 0. */
static uint64_t pack_end(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 12);

	if (!p)
		return 0;
	if ((p[4] & 0xf1) == 0x21)
		return p[6] & 1 && p[8] & 1 && p[9] & 0x80 && p[11] & 1 ? at + 12 : 0;
	if ((p[4] & 0xc4) != 0x44 || !(p[6] & 4) || !(p[8] & 4) || !(p[9] & 1))
		return 0;
	p = view_peek(view, at, 14);
	return p && (p[12] & 3) == 3 && (p[13] & 0xf8) == 0xf8 ? at + 14 + (p[13] & 7) : 0;
}

/* The clock of the pack at `at`, in 90,000ths of a second. */
static uint64_t pack_clock(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 9);

	if (!p)
		return 0;
	if ((p[4] & 0xf0) == 0x20)
		return (uint64_t)(p[4] >> 1 & 7) << 30 | (uint32_t)p[5] << 22 |
		       (uint32_t)(p[6] >> 1) << 15 | (uint32_t)p[7] << 7 | p[8] >> 1;
	return (uint64_t)(p[4] >> 3 & 7) << 30 | (uint32_t)(p[4] & 3) << 28 | (uint32_t)p[5] << 20 |
	       (uint32_t)(p[6] >> 3) << 15 | (uint32_t)(p[6] & 3) << 13 | (uint32_t)p[7] << 5 |
	       p[8] >> 3;
}

static enum mpeg_ps_unit read_unit(struct view *view, uint64_t at, uint64_t *end)
{
	const uint8_t *p = view_peek(view, at, 4);

	if (!p)
		return UNIT_NONE;
	if (p[0] || p[1] || p[2] != 1 || p[3] < 0xb9)
		return UNIT_NONE;
	*end = at + 4;
	if (p[3] == 0xb9)
		return UNIT_END;
	if (p[3] == 0xba) {
		*end = pack_end(view, at);
		if (*end > view_size(view))
			return UNIT_CUT;
		return *end ? UNIT_PACK : UNIT_NONE;
	}
	p = view_peek(view, at, 6);
	if (!p || !be16(p + 4))
		return UNIT_NONE;
	*end = at + 6 + be16(p + 4);
	return *end <= view_size(view) ? UNIT_PACKET : UNIT_CUT;
}

bool mpeg_ps_continues(struct view *view, uint64_t at)
{
	uint64_t end, next;
	enum mpeg_ps_unit unit = read_unit(view, at, &end);

	if (unit != UNIT_PACKET)
		return unit == UNIT_PACK;
	unit = read_unit(view, end, &next);
	return unit == UNIT_PACK || unit == UNIT_PACKET || unit == UNIT_END;
}

/* The end of zeros that fill the space before the next start code. */
static uint64_t fill_end(struct view *view, uint64_t at)
{
	uint64_t left = view_size(view) - at;
	size_t len = left < FILL_MAX ? (size_t)left : FILL_MAX, zeros = 0;
	const uint8_t *p = len ? view_peek(view, at, len) : NULL;

	while (p && zeros < len && !p[zeros])
		zeros++;
	return p && zeros > 2 && zeros < len && p[zeros] == 1 ? at + zeros - 2 : at;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, end = 0, last = 0, packets = 0, packs = 0, clock = 0;
	bool sectors = true; /* each pack starts at a multiple of DISC_SECTOR */
	enum mpeg_ps_unit unit;

	while ((unit = read_unit(view, at, &end)) != UNIT_END) {
		uint64_t next;

		if (unit == UNIT_PACK) {
			view_part(view, at);
			packs++;
			clock = pack_clock(view, at);
			sectors &= at % DISC_SECTOR == 0;
		}
		packets += unit == UNIT_PACKET;
		if (unit == UNIT_CUT || (!packs && unit != UNIT_PACK))
			break;
		if (unit != UNIT_NONE) {
			last = at;
			at = end;
			continue;
		}
		next = fill_end(view, at);
		if (next == at)
			break;
		unit = read_unit(view, next, &end);
		if (unit == UNIT_PACK && pack_clock(view, next) < clock)
			unit = UNIT_NONE;
		if (unit == UNIT_NONE)
			break;
		at = next;
	}
	if (!packets || packs + packets < UNITS_MIN)
		return verdict_because(CARVE_REJECT, finding, "no pack or packet at %" PRIu64, at);
	finding->length = at;
	view_holds(view, PACK_MIN, last);
	if (unit == UNIT_END) {
		finding->length = end;
		return CARVE_COMPLETE;
	}
	if (unit == UNIT_CUT)
		return walk_cut(
			view, finding, end, view_ends_with_image(view) ? view_size(view) : at);
	/* What packs leave of a disc's last sector. */
	end = (at + DISC_SECTOR - 1) / DISC_SECTOR * DISC_SECTOR;
	if (sectors && packs > 1 && walk_zeros(view, at, end))
		at = end;
	finding->length = turning_in_unit(view, last, at);
	if (finding->length < at)
		return verdict_because(CARVE_TRUNCATED, finding,
			"bytes unlike the packets before at %" PRIu64, finding->length);
	/* Where packs fill a disc's sectors, whole files end at clusters as well. */
	return verdict_because(sectors || at % USUAL_CLUSTER ? CARVE_UNVERIFIED : CARVE_TRUNCATED,
		finding, "no end code: ends where no packet follows, at %" PRIu64, at);
}

const struct carver mpg_carver = {
	.name = "mpg",
	.summary = "MPEG program streams, by their packs and packets",
	.check = check,
};
