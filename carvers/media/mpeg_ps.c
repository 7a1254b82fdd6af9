/*
 * MPEG program streams (ISO/IEC 13818-1, 2.5; ISO/IEC 11172-1), as in MPG and VOB files.
 *
 *	pack:   00 00 01 BA, a clock (with marker bits), MPEG-2: stuffing
 *	packet: 00 00 01, a stream's id from BB on, length (2 bytes, big-endian), data
 *	end:    00 00 01 B9; many files lack it
 *
 * Packs and packets follow each other; zeros may fill the space between them. With the end code the
 * file is complete. Without it the file ends where no packet follows the last one's length, or where zeros and a pack
 * with another clock do, which begins another file, and is
 * unverified, or truncated if a cluster ends there, too: the standards require the code. Each pack begins like the file, and is named as a part of it.
 *
 * Where a file in pieces is put together the packs' clock must go on, and sound and video in the packets
 * (mpeg_ps_streams.c).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "mpeg_ps.h"
#include "mpeg_ps_streams.h"
#include "turning.h"
#include "walk.h"

#define FILL_MAX 2352    /* of a disc, with what is stored around its data */
#define DISC_SECTOR 2048 /* of a disc */
#define PACK_MIN 12
#define SYSTEM_HEADER 0xbb
#define CLOCK_STEP 90000 /* a second; the standards allow 0.7 */

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

/* What was read before a unit; without pointers. */
struct mpeg_ps {
	uint64_t last, packets, packs, clock;
	bool out_of_sectors; /* a pack does not start at a multiple of DISC_SECTOR */
	struct mpeg_ps_streams streams;
};

/* Whether a pack's clock goes on. */
static bool goes_on(const struct mpeg_ps *ps, uint64_t clock)
{
	return !ps->packs || (clock >= ps->clock && clock - ps->clock <= CLOCK_STEP);
}

static void save(struct view *view, const struct mpeg_ps *ps, uint64_t at)
{
	const struct carve_state state = { .offset = at, .len = sizeof(*ps), .data = ps };

	view_save(view, &state);
}

/* Whether the unit, where a file is put together, follows those before. */
static bool follow(
	struct view *view, struct mpeg_ps *ps, enum mpeg_ps_unit unit, uint64_t at, uint64_t end)
{
	if (unit == UNIT_PACK)
		return goes_on(ps, pack_clock(view, at));
	return unit != UNIT_PACKET || mpeg_ps_follow(view, &ps->streams, at, end);
}

static enum verdict check_from(
	struct view *view, struct mpeg_ps *ps, uint64_t at, struct finding *finding)
{
	bool assembled = walk_assembles(view);
	enum mpeg_ps_unit unit;
	uint64_t end = 0;

	while ((unit = read_unit(view, at, &end)) != UNIT_END) {
		uint64_t next;

		if (view_wants_states(view) && unit == UNIT_PACK)
			save(view, ps, at);
		if (assembled && !follow(view, ps, unit, at, end)) {
			finding->length = at;
			return verdict_because(CARVE_TRUNCATED, finding,
				"a packet that does not go on at %" PRIu64, at);
		}
		if (unit == UNIT_PACK) {
			view_part(view, at);
			ps->packs++;
			ps->clock = pack_clock(view, at);
			ps->out_of_sectors |= at % DISC_SECTOR != 0;
		}
		ps->packets += unit == UNIT_PACKET;
		if (unit == UNIT_CUT || (!ps->packs && unit != UNIT_PACK))
			break;
		if (unit != UNIT_NONE) {
			ps->last = at;
			at = end;
			continue;
		}
		next = fill_end(view, at);
		if (next == at)
			break;
		unit = read_unit(view, next, &end);
		if (unit == UNIT_PACK && !goes_on(ps, pack_clock(view, next)))
			unit = UNIT_NONE;
		if (unit == UNIT_NONE)
			break;
		at = next;
	}
	if (!ps->packets || ps->packs + ps->packets < UNITS_MIN)
		return verdict_because(CARVE_REJECT, finding, "no pack or packet at %" PRIu64, at);
	finding->length = at;
	view_holds(view, PACK_MIN, ps->last);
	if (unit == UNIT_END) {
		finding->length = end;
		return CARVE_COMPLETE;
	}
	if (unit == UNIT_CUT)
		return walk_cut(
			view, finding, end, view_ends_with_image(view) ? view_size(view) : at);
	/* What packs leave of a disc's last sector. */
	end = (at + DISC_SECTOR - 1) / DISC_SECTOR * DISC_SECTOR;
	if (!ps->out_of_sectors && ps->packs > 1 && walk_zeros(view, at, end))
		at = end;
	finding->length = turning_in_unit(view, ps->last, at);
	if (finding->length < at)
		return verdict_because(CARVE_TRUNCATED, finding,
			"bytes unlike the packets before at %" PRIu64, finding->length);
	if (assembled && mpeg_ps_end_together(&ps->streams))
		view_agrees(view);
	/* Where packs fill a disc's sectors, whole files end at clusters as well. */
	return verdict_because(
		!ps->out_of_sectors || at % USUAL_CLUSTER ? CARVE_UNVERIFIED : CARVE_TRUNCATED,
		finding, "no end code: ends where no packet follows, at %" PRIu64, at);
}

/* The first pack has a system header (13818-1, 2.5.3.6); few later ones do. */
static bool is_rest(struct view *view)
{
	uint64_t end = pack_end(view, 0);
	const uint8_t *p = end ? view_peek(view, end, 4) : NULL;

	return p && p[3] != SYSTEM_HEADER;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mpeg_ps ps = { 0 };

	/* Its pieces are the other file's. */
	if (walk_assembles(view) && is_rest(view))
		return verdict_because(CARVE_REJECT, finding, "the rest of a stream");
	return check_from(view, &ps, 0, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct mpeg_ps ps;

	if (state->len != sizeof(ps))
		return check(view, finding);
	memcpy(&ps, state->data, sizeof(ps));
	return check_from(view, &ps, state->offset, finding);
}

const struct carver mpg_carver = {
	.name = "mpg",
	.summary = "MPEG program streams, by their packs and packets",
	.check = check,
	.resume = resume,
	.lasts = true,
	.restarts = true,
};
