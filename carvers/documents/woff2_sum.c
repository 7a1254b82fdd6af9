/*
 * A font's head table has a number with which the sum of all words of the font, with its directory,
 * is SUM_ALL (OpenType, "Calculating Checksums"). WOFF 2.0 stores no sums, but its encoders have to bring a font to
 * that form first to which a decoder restores it (WOFF 2.0, section 5: the outlines are stored
 * differently, the tables follow one another in the order of the WOFF's directory), and set that number for it. So
 * restoring a font shows whether all of it was decompressed well.
 *
 * Outlines (section 5.1; formats of flags and points: OpenType, glyf): seven streams, of the numbers of contours, of points in each, of flags,
 * of coordinates, of composite glyphs, of bounding boxes that differ from what the points have, and of instructions. A glyph is
 * padded to four bytes; equal flags that follow one another are written once, with a number. Encoders are
 * Google's, whose decoder does so, and fontTools', which writes two equal ones twice, so that either sum is right.
 */
#include "woff2_sum.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "sfnt.h"

#define SUM_ALL 0xb1b0afbau
#define TAG_GLYF 0x676c7966u
#define TAG_LOCA 0x6c6f6361u
#define TAG_HEAD 0x68656164u

enum {
	ADJUSTMENT_AT = 8,
	FONT_HEAD_LEN = 12,
	ENTRY_LEN = 16,
	STREAMS = 7,
	OUTLINES_HEAD_LEN = 8 + 4 * STREAMS,
	HAS_OVERLAPS = 1,
	COMPOSITE = 0xffff,
	POINT_ROOM = 6, /* bytes that a point may take: flag and number, two coordinates */
	PART = 4,       /* bytes of which restoring takes a unit of work */
};

enum stream { CONTOURS, POINTS, FLAGS, GLYPHS, COMPOSITES, BOXES, INSTRUCTIONS };

enum flag {
	ON_CURVE = 0x01,
	X_SHORT = 0x02,
	Y_SHORT = 0x04,
	REPEAT = 0x08,
	X_SAME = 0x10,
	Y_SAME = 0x20,
	OVERLAP = 0x40,
};

enum component {
	WORDS = 0x0001,
	SCALE = 0x0008,
	MORE = 0x0020,
	TWO_SCALES = 0x0040,
	FOUR_SCALES = 0x0080,
	HAS_INSTRUCTIONS = 0x0100,
};

struct reader {
	const uint8_t *p, *end;
};

struct outlines {
	struct reader streams[STREAMS];
	const uint8_t *has_box, *overlaps; /* bits; overlaps: or NULL */
	uint32_t count;
	bool long_places;
	struct sfnt_sum glyf, loca;
	uint32_t pairs; /* to add to glyf's sum if two equal flags are both written */
	uint8_t *room;  /* for a glyph's flags and coordinates */
};

/* NULL: there are not as many. */
static const uint8_t *take(struct reader *reader, size_t len)
{
	const uint8_t *p = reader->p;

	if ((size_t)(reader->end - p) < len)
		return NULL;
	reader->p += len;
	return p;
}

/* Reads a number of 1 to 3 bytes (255UInt16). */
static bool read_number(struct reader *reader, uint32_t *value)
{
	const uint8_t *p = take(reader, 1), *more;
	uint8_t code = p ? *p : 0;

	if (!p)
		return false;
	*value = code;
	if (code < 253)
		return true;
	more = take(reader, code == 253 ? 2 : 1);
	if (!more)
		return false;
	*value = code == 253 ? be16(more) : *more + 253u * (256u - code);
	return true;
}

static bool has_bit(const uint8_t *bits, uint32_t index)
{
	return bits[index / 8] >> (7 - index % 8) & 1;
}

static int with_sign(unsigned flag, int value)
{
	return flag & 1 ? value : -value;
}

/* The distance to a point (table of section 5.2). */
static bool read_step(struct outlines *outlines, unsigned code, int *dx, int *dy)
{
	size_t len = code < 84 ? 1 : code < 120 ? 2 : code < 124 ? 3 : 4;
	const uint8_t *p = take(&outlines->streams[GLYPHS], len);

	if (!p)
		return false;
	if (code < 10) {
		*dx = 0;
		*dy = with_sign(code, (int)((code & 14) << 7) + p[0]);
	} else if (code < 20) {
		*dx = with_sign(code, (int)(((code - 10) & 14) << 7) + p[0]);
		*dy = 0;
	} else if (code < 84) {
		unsigned of = code - 20;

		*dx = with_sign(code, 1 + (int)(of & 0x30) + (p[0] >> 4));
		*dy = with_sign(code >> 1, 1 + (int)((of & 0x0c) << 2) + (p[0] & 15));
	} else if (code < 120) {
		unsigned of = code - 84;

		*dx = with_sign(code, 1 + (int)(of / 12 << 8) + p[0]);
		*dy = with_sign(code >> 1, 1 + (int)((of % 12 >> 2) << 8) + p[1]);
	} else if (code < 124) {
		*dx = with_sign(code, (p[0] << 4) + (p[1] >> 4));
		*dy = with_sign(code >> 1, ((p[1] & 15) << 8) + p[2]);
	} else {
		*dx = with_sign(code, be16(p));
		*dy = with_sign(code >> 1, be16(p + 2));
	}
	return true;
}

/* Writes a coordinate; returns its flags, of which `same` is that of one that does not change. */
static unsigned put_coordinate(uint8_t **p, int step, unsigned is_short, unsigned same)
{
	if (!step)
		return same;
	if (step > -256 && step < 256) {
		*(*p)++ = (uint8_t)(step < 0 ? -step : step);
		return is_short | (step > 0 ? same : 0);
	}
	*(*p)++ = (uint8_t)((unsigned)step >> 8);
	*(*p)++ = (uint8_t)step;
	return 0;
}

struct box {
	int least[2], most[2];
};

static void add_to_box(struct box *box, const int at[2], bool is_first)
{
	for (int i = 0; i < 2; i++) {
		box->least[i] = is_first || at[i] < box->least[i] ? at[i] : box->least[i];
		box->most[i] = is_first || at[i] > box->most[i] ? at[i] : box->most[i];
	}
}

static void add_glyf(struct outlines *outlines, const uint8_t *bytes, size_t len)
{
	sfnt_sum_add(&outlines->glyf, bytes, len);
}

static void add_glyf_word(struct outlines *outlines, int value)
{
	const uint8_t bytes[] = { (uint8_t)((unsigned)value >> 8), (uint8_t)value };

	add_glyf(outlines, bytes, sizeof(bytes));
}

/* Restores `count` points: *flags_len bytes of flags at outlines->room, then there coordinates of each direction from xs and ys on. */
static bool read_points(
	struct outlines *outlines, uint32_t count, bool overlaps, struct box *box, uint8_t *ends[3])
{
	uint8_t *flags = outlines->room, *xs = flags + 2 * (size_t)count,
		*ys = xs + 2 * (size_t)count;
	const uint8_t *codes = take(&outlines->streams[FLAGS], count);
	unsigned last = UINT32_MAX, repeats = 0;
	int at[2] = { 0 };

	for (uint32_t i = 0; codes && i < count; i++) {
		unsigned flag = (codes[i] & 0x80 ? 0 : ON_CURVE) | (!i && overlaps ? OVERLAP : 0);
		int dx, dy;

		if (!read_step(outlines, codes[i] & 0x7f, &dx, &dy))
			return false;
		flag |= put_coordinate(&xs, dx, X_SHORT, X_SAME);
		flag |= put_coordinate(&ys, dy, Y_SHORT, Y_SAME);
		if (flag == last && repeats < 255) {
			if (repeats++)
				flags[-1]++;
			else {
				flags[-1] |= REPEAT;
				*flags++ = 1;
			}
		} else {
			*flags++ = (uint8_t)flag;
			repeats = 0;
		}
		last = flag;
		at[0] = (int16_t)(at[0] + dx);
		at[1] = (int16_t)(at[1] + dy);
		add_to_box(box, at, !i);
	}
	ends[0] = flags;
	ends[1] = xs;
	ends[2] = ys;
	return codes;
}

/* Adds the flags of a glyph. */
static void add_flags(struct outlines *outlines, size_t len)
{
	const uint8_t *flags = outlines->room;
	struct sfnt_sum once = { .len = outlines->glyf.len }, twice = once;

	for (size_t i = 0; i < len; i++) {
		if (!(flags[i] & REPEAT)) {
			once.len = ++twice.len;
			continue;
		}
		if (flags[i + 1] == 1) {
			const uint8_t flag = flags[i] & ~REPEAT, pair[] = { flag, flag };

			sfnt_sum_add(&once, flags + i, 2);
			sfnt_sum_add(&twice, pair, 2);
		} else {
			once.len = twice.len += 2;
		}
		i++;
	}
	outlines->pairs += twice.sum - once.sum;
	add_glyf(outlines, flags, len);
}

static bool add_instructions(struct outlines *outlines)
{
	uint32_t len;
	const uint8_t *p;

	if (!read_number(&outlines->streams[GLYPHS], &len))
		return false;
	p = take(&outlines->streams[INSTRUCTIONS], len);
	if (!p)
		return false;
	add_glyf_word(outlines, (int)len);
	add_glyf(outlines, p, len);
	return true;
}

static bool add_stated_box(struct outlines *outlines)
{
	const uint8_t *p = take(&outlines->streams[BOXES], 8);

	if (p)
		add_glyf(outlines, p, 8);
	return p;
}

static bool restore_simple(struct outlines *outlines, uint32_t index, uint32_t contours)
{
	struct reader numbers = outlines->streams[POINTS], *flags = &outlines->streams[FLAGS];
	bool overlaps = outlines->overlaps && has_bit(outlines->overlaps, index);
	uint64_t count = 0;
	uint32_t points;
	struct box box = { 0 };
	uint8_t *ends[3];

	for (uint32_t i = 0; i < contours; i++) {
		if (!read_number(&numbers, &points))
			return false;
		count += points;
	}
	if (!count || count > UINT16_MAX || count > (size_t)(flags->end - flags->p) ||
		!read_points(outlines, (uint32_t)count, overlaps, &box, ends))
		return false;
	add_glyf_word(outlines, (int)contours);
	if (has_bit(outlines->has_box, index)) {
		if (!add_stated_box(outlines))
			return false;
	} else {
		add_glyf_word(outlines, box.least[0]);
		add_glyf_word(outlines, box.least[1]);
		add_glyf_word(outlines, box.most[0]);
		add_glyf_word(outlines, box.most[1]);
	}
	for (uint32_t i = 0, last = 0; i < contours; i++) {
		read_number(&outlines->streams[POINTS], &points);
		last += points;
		add_glyf_word(outlines, (int)last - 1);
	}
	if (!add_instructions(outlines))
		return false;
	add_flags(outlines, (size_t)(ends[0] - outlines->room));
	add_glyf(outlines, outlines->room + 2 * count,
		(size_t)(ends[1] - outlines->room) - 2 * count);
	add_glyf(outlines, outlines->room + 4 * count,
		(size_t)(ends[2] - outlines->room) - 4 * count);
	return true;
}

static bool restore_composite(struct outlines *outlines, uint32_t index)
{
	struct reader *parts = &outlines->streams[COMPOSITES];
	const uint8_t *start = parts->p;
	unsigned flags = MORE, all = 0;

	while (flags & MORE) {
		const uint8_t *p = take(parts, 2);
		size_t len = 2;

		if (!p)
			return false;
		flags = be16(p);
		all |= flags;
		len += flags & WORDS ? 4 : 2;
		len += flags & SCALE ? 2 : flags & TWO_SCALES ? 4 : flags & FOUR_SCALES ? 8 : 0;
		if (!take(parts, len))
			return false;
	}
	add_glyf_word(outlines, COMPOSITE);
	if (!has_bit(outlines->has_box, index) || !add_stated_box(outlines))
		return false;
	add_glyf(outlines, start, (size_t)(parts->p - start));
	return !(all & HAS_INSTRUCTIONS) || add_instructions(outlines);
}

static void add_place(struct outlines *outlines)
{
	uint64_t place = outlines->long_places ? outlines->glyf.len : outlines->glyf.len / 2;
	const uint8_t bytes[] = { (uint8_t)(place >> 24), (uint8_t)(place >> 16),
		(uint8_t)(place >> 8), (uint8_t)place };
	size_t len = outlines->long_places ? 4 : 2;

	sfnt_sum_add(&outlines->loca, bytes + 4 - len, len);
}

static bool restore_glyphs(struct outlines *outlines)
{
	static const uint8_t zeros[4];

	for (uint32_t i = 0; i < outlines->count; i++) {
		const uint8_t *p = take(&outlines->streams[CONTOURS], 2);
		uint32_t contours = p ? be16(p) : 0;

		if (!p)
			return false;
		add_place(outlines);
		if (!contours                   ? has_bit(outlines->has_box, i)
			: contours == COMPOSITE ? !restore_composite(outlines, i)
						: !restore_simple(outlines, i, contours))
			return false;
		add_glyf(outlines, zeros, -outlines->glyf.len % 4);
	}
	add_place(outlines);
	for (int i = 0; i < STREAMS; i++)
		if (outlines->streams[i].p != outlines->streams[i].end)
			return false;
	return true;
}

/* Reads the heads of the streams, and what is not one after the other in them. */
static bool open_outlines(struct outlines *outlines, const uint8_t *p, size_t len)
{
	struct reader all = { p, p + len };
	unsigned options;
	size_t bits;

	if (!take(&all, OUTLINES_HEAD_LEN))
		return false;
	options = be16(p + 2);
	outlines->count = be16(p + 4);
	outlines->long_places = be16(p + 6);
	bits = (outlines->count + 31) / 32 * 4;
	for (int i = 0; i < STREAMS; i++) {
		uint32_t stream_len = be32(p + 8 + 4 * i);
		const uint8_t *stream = take(&all, stream_len);

		if (!stream)
			return false;
		outlines->streams[i] = (struct reader){ stream, stream + stream_len };
	}
	outlines->has_box = take(&outlines->streams[BOXES], bits);
	outlines->overlaps = options & HAS_OVERLAPS ? take(&all, (outlines->count + 7) / 8) : NULL;
	return outlines->has_box && (!(options & HAS_OVERLAPS) || outlines->overlaps) &&
	       all.p == all.end;
}

/* Restores the outlines to what their sums need. */
static bool restore_outlines(
	struct view *view, struct outlines *outlines, const uint8_t *p, size_t len)
{
	size_t points;
	bool is_valid;

	if (!open_outlines(outlines, p, len))
		return false;
	points = (size_t)(outlines->streams[FLAGS].end - outlines->streams[FLAGS].p);
	outlines->room = malloc(POINT_ROOM * points + 1);
	if (!outlines->room)
		view_no_memory(view);
	is_valid = outlines->room && restore_glyphs(outlines);
	free(outlines->room);
	return is_valid;
}

/* The sum of a table as it is in the font. */
static bool sum_table(const struct outlines *outlines, const struct woff2_table *table,
	const uint8_t *p, struct sfnt_sum *sum)
{
	if (!table->is_transformed)
		sfnt_sum_add(sum, p, table->len);
	else
		*sum = table->tag == TAG_GLYF ? outlines->glyf : outlines->loca;
	return sum->len == table->plain_len;
}

/* The sum of a font's first bytes, with the lengths by which a table's entry can be searched. */
static uint32_t head_sum(uint32_t flavor, uint32_t count)
{
	uint32_t power = 0, range;

	while (count >> (power + 1))
		power++;
	range = (uint32_t)ENTRY_LEN << power;
	return flavor + (count << 16 | range) + (power << 16 | (ENTRY_LEN * count - range));
}

/* Whether the font can be restored: only outlines are transformed, and it states its sum. */
static bool is_known(const struct woff2_tables *tables)
{
	bool has_head = false;

	for (uint32_t i = 0; i < tables->count; i++) {
		const struct woff2_table *table = &tables->items[i];

		if (table->is_transformed && table->tag != TAG_GLYF && table->tag != TAG_LOCA)
			return false;
		has_head |= table->tag == TAG_HEAD && table->len >= ADJUSTMENT_AT + 4;
	}
	return has_head;
}

static bool restore_all_outlines(struct view *view, struct outlines *outlines,
	const struct woff2_tables *tables, const uint8_t *p)
{
	for (uint32_t i = 0; i < tables->count; p += tables->items[i++].len) {
		const struct woff2_table *table = &tables->items[i];

		if (table->tag == TAG_GLYF && table->is_transformed &&
			!restore_outlines(view, outlines, p, table->len))
			return false;
	}
	return true;
}

enum woff2_sum woff2_sum_check(
	struct view *view, uint32_t flavor, const struct woff2_tables *tables, const uint8_t *plain)
{
	uint32_t sum = head_sum(flavor, tables->count);
	uint32_t at = FONT_HEAD_LEN + ENTRY_LEN * tables->count;
	struct outlines outlines = { 0 };

	if (!is_known(tables) || !view_work(view, tables->all_len / PART))
		return WOFF2_SUM_UNKNOWN;
	if (!restore_all_outlines(view, &outlines, tables, plain))
		return WOFF2_SUM_INVALID;
	for (uint32_t i = 0; i < tables->count; plain += tables->items[i++].len) {
		const struct woff2_table *table = &tables->items[i];
		struct sfnt_sum of_table = { 0 };

		if (!sum_table(&outlines, table, plain, &of_table))
			return WOFF2_SUM_UNKNOWN;
		/* The directory has it once more; what the head table states counts once. */
		sum += table->tag + 2 * of_table.sum + at + table->plain_len;
		if (table->tag == TAG_HEAD)
			sum -= be32(plain + ADJUSTMENT_AT);
		at += (table->plain_len + 3) & ~3u;
	}
	return sum == SUM_ALL || sum + 2 * outlines.pairs == SUM_ALL ? WOFF2_SUM_AGREES
								     : WOFF2_SUM_UNKNOWN;
}
