/*
 * Outlines follow each other in a font: those of 'glyf' without a gap but for zeros up to a multiple of four (OpenType 1.9, "glyf",
 * whose lengths follow from what they hold), those of 'CFF ' as a list of places says, which comes before them, and each
 * ends with one of three operators (Adobe, Technical Note 5176, The Compact Font Format; 5177, Type 2 charstrings). So
 * bytes that are another file's are noticed within an outline or two.
 *
 * Where checksums agree, the outlines after a joint speak for what was put there among many trials: a checksum is a sum, and
 * the same in whatever order a table's clusters are.
 */
#include "sfnt_outlines.h"

#include <stdbool.h>
#include <string.h>

#include "bytes.h"

#define OUTLINES_SURE 8 /* that must be as expected before one that is not says anything */
#define OUTLINE_WORK 16 /* units (view_work) */
#define WINDOW_LEN 1024 /* bytes that are looked at together, */
#define ROWS_LEN 512    /* and of a table of places or metrics */
#define GLYPH_HEAD 10
#define GLYPH_MAX 8192 /* bytes of one; longer ones are taken for other data */
#define GLYPH_CUT 2048 /* the same where the view ends in it */
#define CONTOURS_MAX 1000
#define ALIGNED 4
#define OUTLINES_WRONG 2 /* that some fonts have */
#define GLYPHS_ASKED 3   /* after one that is not as it must be */
/* What outlines after a joint prove (view_proved; tests/bench/RESULTS.md, "Outlines after a joint"): the first glyph that ends where it must and
 * whose left side is where 'hmtx' has it, each of the next two, and the last byte of each of six charstrings. */
#define GLYPH_BITS 12
#define MORE_BITS 2
#define GLYPHS_COUNTED 3
#define CHARSTRING_BITS 2
#define CHARSTRINGS_COUNTED 6

/* ---- glyf ---------------------------------------------------------------------------------- */

enum { REPEATED = 8, X_SHORT = 2, Y_SHORT = 4, X_SAME = 16, Y_SAME = 32 };
enum {
	ARGS_ARE_WORDS = 1,
	HAS_SCALE = 8,
	GOES_ON = 32,
	HAS_TWO = 64,
	HAS_FOUR = 128,
	HAS_CODE = 256
};

/* A table, and how far its bytes are in the view. */
struct outlines {
	struct view *view;
	uint64_t end;
	bool is_cut;          /* something is after the view's end */
	const uint8_t *bytes; /* that were looked at last: */
	uint64_t at;
	size_t len;
};

/* Bytes at `at`, valid until the next look. NULL: they are not all in the table, or in the view. */
static const uint8_t *look(struct outlines *outlines, uint64_t at, size_t len)
{
	uint64_t size = view_size(outlines->view),
		 end = outlines->end < size ? outlines->end : size;

	if (at > outlines->end || len > outlines->end - at)
		return NULL;
	if (at >= outlines->at && at - outlines->at <= outlines->len &&
		len <= outlines->len - (size_t)(at - outlines->at))
		return outlines->bytes + (at - outlines->at);
	outlines->at = at;
	outlines->len = at < end && end - at < WINDOW_LEN ? (size_t)(end - at) : WINDOW_LEN;
	if (outlines->len < len)
		outlines->len = len;
	outlines->bytes = view_peek(outlines->view, at, outlines->len);
	if (!outlines->bytes)
		outlines->len = 0;
	outlines->is_cut = outlines->is_cut || !outlines->bytes;
	return outlines->bytes;
}

/* The bytes of a coordinate of a point with this flag. */
static uint64_t coordinate_len(uint8_t flag, uint8_t is_short, uint8_t is_same)
{
	return flag & is_short ? 1 : flag & is_same ? 0 : 2;
}

/* Skips the flags of that many points, and their coordinates. */
static bool skip_points(struct outlines *outlines, uint64_t *at, uint32_t count)
{
	uint64_t coordinates = 0;

	while (count) {
		const uint8_t *p = look(outlines, (*at)++, 1);
		uint8_t flag = p ? *p : 0;
		uint32_t times = 1;

		if (!p)
			return false;
		if (flag & REPEATED) {
			p = look(outlines, (*at)++, 1);
			if (!p)
				return false;
			times += *p;
		}
		if (times > count)
			return false;
		coordinates += times * (coordinate_len(flag, X_SHORT, X_SAME) +
					       coordinate_len(flag, Y_SHORT, Y_SAME));
		count -= times;
	}
	*at += coordinates;
	return *at <= outlines->end;
}

/* Skips a length of two bytes, and as many bytes. */
static bool skip_code(struct outlines *outlines, uint64_t *at)
{
	const uint8_t *p = look(outlines, *at, 2);

	if (p)
		*at += 2 + be16(p);
	return p && *at <= outlines->end;
}

/* Skips contours and points. */
static bool skip_contours(struct outlines *outlines, uint64_t *at, uint32_t contours)
{
	int32_t last = -1;

	for (uint32_t i = 0; i < contours; i++, *at += 2) {
		const uint8_t *p = look(outlines, *at, 2);

		if (!p || (int32_t)be16(p) <= last)
			return false;
		last = be16(p);
	}
	return skip_code(outlines, at) && skip_points(outlines, at, (uint32_t)(last + 1));
}

/* Skips the parts of a glyph that is made of others. */
static bool skip_parts(struct outlines *outlines, uint64_t *at)
{
	uint16_t flags = GOES_ON;
	bool has_code = false;

	while (flags & GOES_ON) {
		const uint8_t *p = look(outlines, *at, 4);

		if (!p)
			return false;
		flags = be16(p);
		has_code |= flags & HAS_CODE;
		*at += 4 + (flags & ARGS_ARE_WORDS ? 4 : 2) +
		       (flags & HAS_SCALE         ? 2
			       : flags & HAS_TWO  ? 4
			       : flags & HAS_FOUR ? 8
						  : 0);
	}
	return has_code ? skip_code(outlines, at) : *at <= outlines->end;
}

/* Whether a glyph's header is possible: its contours, and its bounds. */
static bool is_glyph(const uint8_t *p)
{
	int16_t contours = (int16_t)be16(p);

	return contours >= -1 && contours <= CONTOURS_MAX &&
	       (int16_t)be16(p + 2) <= (int16_t)be16(p + 6) &&
	       (int16_t)be16(p + 4) <= (int16_t)be16(p + 8);
}

/* The end of the glyph at `at`; 0: it is none. */
static uint64_t glyph_end(struct outlines *outlines, uint64_t at)
{
	const uint8_t *p = look(outlines, at, GLYPH_HEAD);
	int16_t contours;

	if (!p || !view_work(outlines->view, OUTLINE_WORK))
		return 0;
	if (!is_glyph(p))
		return 0;
	contours = (int16_t)be16(p);
	at += GLYPH_HEAD;
	if (!contours)
		return at;
	return (contours < 0 ? skip_parts(outlines, &at)
			     : skip_contours(outlines, &at, (uint32_t)contours))
		       ? at
		       : 0;
}

static bool are_zeros(struct outlines *outlines, uint64_t from, uint64_t to)
{
	const uint8_t *p = look(outlines, from, (size_t)(to - from));

	for (uint64_t i = 0; p && i < to - from; i++)
		if (p[i])
			return false;
	return p;
}

/* The end of the glyph after the one that ends at `at`; 0: there is none. */
static uint64_t next_glyph(struct outlines *outlines, uint64_t table, uint64_t at)
{
	for (uint64_t unit = ALIGNED; unit; unit /= 2) {
		uint64_t from = at + (unit - (at - table) % unit) % unit, end;

		if (from > at && !are_zeros(outlines, at, from))
			continue;
		end = glyph_end(outlines, from);
		if (end || outlines->is_cut)
			return end;
	}
	return 0;
}

/* Notes that all before `at`, where outline `number` begins, is as it must be. */
static void note_followed(
	struct outlines *outlines, struct sfnt_followed *followed, uint64_t at, uint32_t number)
{
	followed->at = at;
	followed->number = number;
	followed->count++;
	/* Others may look at bytes there. */
	if (followed->note && followed->note(followed))
		outlines->len = 0;
}

/* Follows glyphs of which no table says where they are. */
static uint64_t follow_glyphs(
	struct view *view, const struct sfnt_glyphs *glyphs, struct sfnt_followed *followed)
{
	struct outlines outlines = { .view = view, .end = glyphs->end };
	uint64_t size = view_size(view) < glyphs->end ? view_size(view) : glyphs->end, next;

	while (followed->at + ALIGNED <= glyphs->end &&
		(next = next_glyph(&outlines, glyphs->at, followed->at)) &&
		next - followed->at <= GLYPH_MAX)
		note_followed(&outlines, followed, next, 0);
	/* Other bytes may seem to be a long glyph. */
	if (outlines.is_cut)
		return followed->at < size && size - followed->at > GLYPH_CUT ? followed->at : size;
	if (followed->at + ALIGNED > glyphs->end)
		return glyphs->end;
	return followed->count < OUTLINES_SURE ? glyphs->at : followed->at;
}

/* What a table's checksum proves of each joint beside outlines after it: of the only one it does so alone. */
static unsigned more_sum_bits(struct view *view, uint64_t at, uint64_t end)
{
	return view_linked(view, at, end, 0) ? 0 : SFNT_SUM_BITS;
}

/* ---- glyphs in their places ---------------------------------------------------------------- */

/* A table that is read from its beginning to its end, some of it at once. */
struct rows {
	struct view *view;
	uint64_t at, end; /* from there on; bytes before were read */
	size_t len;       /* that are known from there on */
	uint8_t bytes[ROWS_LEN];
};

/* Bytes at `at`, not before those of the last call. NULL: they are not all in the table, or in the view. *fetched: others may be fetched
 * over. */
static const uint8_t *read_row(struct rows *rows, uint64_t at, size_t len, bool *fetched)
{
	const uint8_t *p;

	if (at > rows->end || len > rows->end - at)
		return NULL;
	if (at - rows->at > rows->len || len > rows->len - (size_t)(at - rows->at)) {
		rows->at = at;
		rows->len = rows->end - at < sizeof(rows->bytes) ? (size_t)(rows->end - at)
								 : sizeof(rows->bytes);
		p = view_peek(rows->view, at, rows->len);
		*fetched = true;
		if (!p) {
			rows->len = 0;
			return NULL;
		}
		memcpy(rows->bytes, p, rows->len);
	}
	return rows->bytes + (at - rows->at);
}

/* Glyphs with the tables that describe them, in order. */
struct placed {
	const struct sfnt_glyphs *glyphs;
	struct outlines outlines;
	struct rows places, metrics;
	/* What the checksum proves where glyphs show that clusters are in order. */
	unsigned sum_bits;
	/* Where the last glyphs begin that are as they must be; a ring. */
	uint64_t from[GLYPHS_COUNTED];
	unsigned count;
};

static bool place_of(struct placed *placed, uint64_t number, uint64_t *place)
{
	unsigned width = placed->glyphs->width;
	bool fetched = false;
	const uint8_t *p =
		read_row(&placed->places, placed->glyphs->places + number * width, width, &fetched);

	if (fetched)
		placed->outlines.len = 0;
	if (p)
		*place = width == 4 ? be32(p) : 2u * be16(p);
	return p;
}

/* Whether 'hmtx' has the left side of a glyph where its header has it. */
static bool has_left_side(struct placed *placed, uint64_t number, int16_t left)
{
	uint64_t full = placed->glyphs->full_metric_count;
	uint64_t at = number < full ? 4 * number + 2 : 4 * full + 2 * (number - full);
	bool fetched = false;
	const uint8_t *p = read_row(&placed->metrics, placed->glyphs->metrics + at, 2, &fetched);

	if (fetched)
		placed->outlines.len = 0;
	return p && (int16_t)be16(p) == left;
}

/* A glyph is as it must be: it belongs to the only joint before it, up to where the glyphs begin that count with it. */
static void prove_glyph(struct placed *placed, uint64_t from, uint64_t to)
{
	struct view *view = placed->outlines.view;
	unsigned last = (placed->count + GLYPHS_COUNTED - 1) % GLYPHS_COUNTED;
	uint64_t first = placed->glyphs->at, next = first;

	if (placed->count >= GLYPHS_COUNTED)
		first = placed->from[placed->count % GLYPHS_COUNTED];
	if (placed->count)
		next = placed->from[last];
	/* A joint inside the glyph is not before it. */
	if (view_linked(view, first, to, 0))
		view_proved(view, first, from + 1, MORE_BITS);
	if (view_linked(view, next, to, 0))
		view_proved(view, next, from + 1, placed->sum_bits + GLYPH_BITS - MORE_BITS);
	placed->from[placed->count++ % GLYPHS_COUNTED] = from;
}

/* Whether the glyph at `from` ends at `to`, but for zeros up to a multiple of four. */
static bool ends_there(struct outlines *outlines, uint64_t from, uint64_t to)
{
	uint64_t table_end = outlines->end, end;
	bool fits;

	/* Whatever it has to be is not looked for after it. */
	outlines->end = to;
	end = glyph_end(outlines, from);
	fits = end && to - end < ALIGNED && (end == to || are_zeros(outlines, end, to));
	outlines->end = table_end;
	return fits;
}

/* Looks at a glyph in its place. False: it can't be one. */
static bool add_glyph(struct placed *placed, uint64_t number, uint64_t from, uint64_t to)
{
	const uint8_t *p = look(&placed->outlines, from, GLYPH_HEAD);
	int16_t left = p ? (int16_t)be16(p + 2) : 0;

	if (!p)
		return true;
	if (!is_glyph(p))
		return false;
	if (ends_there(&placed->outlines, from, to) && has_left_side(placed, number, left))
		prove_glyph(placed, from, to);
	return true;
}

static struct placed placed_of(struct view *view, const struct sfnt_glyphs *glyphs)
{
	return (struct placed){ .glyphs = glyphs,
		.outlines = { .view = view, .end = glyphs->end },
		.places = { .view = view,
			.at = glyphs->places,
			.end = glyphs->places + glyphs->place_count * glyphs->width },
		.metrics = { .view = view, .at = glyphs->metrics, .end = glyphs->metrics_end } };
}

/* Finds the next glyph from this number on that has an outline. False: there is none. */
static bool next_placed(struct placed *placed, uint64_t *number, uint64_t *from, uint64_t *to)
{
	const struct sfnt_glyphs *glyphs = placed->glyphs;
	uint64_t table_len = glyphs->end - glyphs->at, place;

	if (*number >= glyphs->place_count || !place_of(placed, *number, &place))
		return false;
	for (; *number + 1 < glyphs->place_count; (*number)++, place = *to) {
		if (!place_of(placed, *number + 1, to) || !view_work(placed->outlines.view, 1))
			return false;
		if (*to <= table_len && place + GLYPH_HEAD <= *to) {
			*from = glyphs->at + place;
			*to += glyphs->at;
			return true;
		}
	}
	return false;
}

/* Whether the glyphs from this number on are another file's, as one before is not as it must be: a few fonts have a glyph
 * like that. */
static bool are_foreign(struct placed *placed, uint64_t number)
{
	unsigned good = 0, bad = 0;
	uint64_t from, to;

	for (; good + bad < GLYPHS_ASKED && next_placed(placed, &number, &from, &to); number++) {
		bool fits = ends_there(&placed->outlines, from, to);

		if (placed->outlines.is_cut)
			break;
		good += fits;
		bad += !fits;
	}
	return bad >= good;
}

/* Follows glyphs whose places are known. */
static uint64_t follow_places(
	struct view *view, const struct sfnt_glyphs *glyphs, struct sfnt_followed *followed)
{
	struct placed placed = placed_of(view, glyphs);
	uint64_t number = followed->number, size = view_size(view), from, to;

	for (; next_placed(&placed, &number, &from, &to); number++) {
		bool fits = from < size && ends_there(&placed.outlines, from, to);

		if (placed.outlines.is_cut || from >= size)
			return size < glyphs->end ? size : glyphs->end;
		if (fits)
			note_followed(&placed.outlines, followed, to, (uint32_t)number + 1);
		else if (are_foreign(&placed, number + 1))
			return followed->count < OUTLINES_SURE ? glyphs->at : from;
		placed.outlines.is_cut = false;
	}
	return glyphs->end;
}

uint64_t sfnt_follow_glyphs(
	struct view *view, const struct sfnt_glyphs *glyphs, struct sfnt_followed *followed)
{
	if (!followed->at)
		followed->at = glyphs->at;
	return glyphs->place_count ? follow_places(view, glyphs, followed)
				   : follow_glyphs(view, glyphs, followed);
}

bool sfnt_prove_glyphs(struct view *view, const struct sfnt_glyphs *glyphs)
{
	struct placed placed = placed_of(view, glyphs);
	uint64_t from = 0, to;
	unsigned wrong = 0;

	placed.sum_bits = more_sum_bits(view, glyphs->at, glyphs->end);
	for (uint64_t i = 0; i < glyphs->place_count && wrong <= OUTLINES_WRONG; i++, from = to) {
		if (!place_of(&placed, i, &to) || !view_work(view, OUTLINE_WORK))
			return true;
		if (!i)
			continue;
		if (to < from || to > glyphs->end - glyphs->at)
			wrong++;
		else if (to - from >= GLYPH_HEAD)
			wrong += !add_glyph(&placed, i - 1, glyphs->at + from, glyphs->at + to);
	}
	return wrong <= OUTLINES_WRONG;
}

/* ---- CFF ----------------------------------------------------------------------------------- */

enum { CALL_SUBR = 10, END_CHAR = 14, CALL_GSUBR = 29 };
enum { OPERATOR_CHARSTRINGS = 17, OPERATOR_LAST = 21, NUMBER_16 = 28, NUMBER_32 = 29, REAL = 30 };

#define DICT_MAX 4096
#define PLACES 64 /* that are read together */

/* A list of objects (Technical Note 5176, 5): their places, counted from the byte before the first. */
struct list {
	uint64_t places, data;
	uint32_t count;
	uint8_t width;
	uint32_t first, known; /* places that were read */
	uint8_t bytes[PLACES * 4];
};

static bool read_places(struct outlines *outlines, struct list *list, uint32_t first)
{
	uint32_t left = list->count + 1 - first;
	size_t len = (size_t)(left < PLACES ? left : PLACES) * list->width;
	const uint8_t *p = look(outlines, list->places + (uint64_t)first * list->width, len);

	list->first = first;
	list->known = p ? (uint32_t)len / list->width : 0;
	if (p)
		memcpy(list->bytes, p, len);
	return p;
}

static bool read_place(
	struct outlines *outlines, struct list *list, uint32_t index, uint64_t *place)
{
	const uint8_t *p;

	*place = 0;
	if (index - list->first >= list->known && !read_places(outlines, list, index))
		return false;
	p = list->bytes + (size_t)(index - list->first) * list->width;
	for (uint8_t i = 0; i < list->width; i++)
		*place = *place << 8 | p[i];
	return *place;
}

/* Reads the list at *at, which then is after it. */
static bool read_list(struct outlines *outlines, uint64_t *at, struct list *list)
{
	const uint8_t *p = look(outlines, *at, 2);
	uint64_t end;

	*list = (struct list){ .count = p ? be16(p) : 0 };
	if (!list->count) {
		*at += 2;
		return p;
	}
	p = look(outlines, *at, 3);
	if (!p || p[2] < 1 || p[2] > 4)
		return false;
	list->width = p[2];
	list->places = *at + 3;
	list->data = list->places + ((uint64_t)list->count + 1) * list->width - 1;
	if (!read_place(outlines, list, list->count, &end))
		return false;
	*at = list->data + end;
	return true;
}

/* Reads a whole number of a dictionary at p, of which len bytes are left; returns its length, 0: it is none. */
static size_t read_number(const uint8_t *p, size_t len, uint64_t *value)
{
	if (*p >= 32 && *p <= 246) {
		*value = *p - 139u;
		return 1;
	}
	if (*p >= 247 && *p <= 250 && len >= 2) {
		*value = (*p - 247u) * 256 + p[1] + 108u;
		return 2;
	}
	if (*p == NUMBER_16 && len >= 3) {
		*value = be16(p + 1);
		return 3;
	}
	if (*p == NUMBER_32 && len >= 5) {
		*value = be32(p + 1);
		return 5;
	}
	*value = 0;
	return *p >= 251 && *p <= 254 && len >= 2 ? 2 : 0;
}

/* Finds where the dictionary says that the outlines are, from the table's start. 0: it does not. */
static uint64_t find_charstrings(const uint8_t *p, size_t len)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len;) {
		size_t number;

		if (p[i] == OPERATOR_CHARSTRINGS)
			return value;
		if (p[i] <= OPERATOR_LAST) {
			i += p[i] == 12 ? 2 : 1;
			continue;
		}
		if (p[i] == REAL) {
			for (i++; i < len && (p[i] & 15) != 15 && p[i] >> 4 != 15; i++)
				;
			i++;
			continue;
		}
		number = read_number(p + i, len - i, &value);
		if (!number)
			return 0;
		i += number;
	}
	return 0;
}

/* Reads the list of outlines of the table at `at`. *said: after what says where the list is. */
static bool read_charstrings(
	struct outlines *outlines, uint64_t at, struct list *list, uint64_t *said)
{
	const uint8_t *p = look(outlines, at, 4);
	uint64_t next = p ? at + p[2] : 0, from, to, place;
	struct list names, dicts;

	if (!p || p[0] != 1 || !read_list(outlines, &next, &names) ||
		!read_list(outlines, &next, &dicts) || !dicts.count ||
		!read_place(outlines, &dicts, 0, &from) || !read_place(outlines, &dicts, 1, &to) ||
		to <= from || to - from > DICT_MAX)
		return false;
	p = look(outlines, dicts.data + from, (size_t)(to - from));
	place = p ? find_charstrings(p, (size_t)(to - from)) : 0;
	*said = next;
	next = at + place;
	return place && read_list(outlines, &next, list) && list->count;
}

/* Whether an outline may end with this byte. */
static bool is_end(uint8_t byte)
{
	return byte == END_CHAR || byte == CALL_SUBR || byte == CALL_GSUBR;
}

/* Whether all places of the list are possible. False: *wrong is where the first that is not is stored, or 0: the view ends before. */
static bool are_places_valid(struct outlines *outlines, struct list *list, uint64_t *wrong)
{
	uint64_t from, to, rest = outlines->end - list->data;
	bool valid = read_place(outlines, list, 0, &from);

	*wrong = list->places;
	for (uint32_t i = 1; valid && i <= list->count; i++, from = to) {
		valid = read_place(outlines, list, i, &to) && to >= from && to <= rest;
		*wrong = list->places + (uint64_t)i * list->width;
	}
	if (!valid && outlines->is_cut)
		*wrong = 0;
	return valid;
}

/* Whether most of the outlines from number `first` on do not end as they must, as one before does not. */
static bool end_wrong(struct outlines *outlines, struct list *list, uint32_t first)
{
	unsigned good = 0, bad = 0;
	uint64_t from, to;

	if (!read_place(outlines, list, first, &from))
		return true;
	for (uint32_t i = first + 1; i <= list->count && good + bad < GLYPHS_ASKED;
		i++, from = to) {
		const uint8_t *p;

		if (!read_place(outlines, list, i, &to))
			break;
		if (to <= from)
			continue;
		p = look(outlines, list->data + to - 1, 1);
		if (!p)
			break;
		good += is_end(*p);
		bad += !is_end(*p);
	}
	return bad >= good;
}

/* Follows outlines in their places: where the first begins that does not end as it must; 0: none does. */
static uint64_t find_wrong(
	struct outlines *outlines, struct list *list, struct sfnt_followed *followed)
{
	uint64_t from, to;

	if (!read_place(outlines, list, followed->number, &from))
		return 0;
	for (uint32_t i = followed->number + 1; i <= list->count; i++, from = to) {
		const uint8_t *p;

		if (!read_place(outlines, list, i, &to) || !view_work(outlines->view, OUTLINE_WORK))
			return 0;
		p = to > from ? look(outlines, list->data + to - 1, 1) : NULL;
		if (outlines->is_cut)
			return 0;
		if (p && is_end(*p))
			note_followed(outlines, followed, list->data + to, i);
		else if (p && end_wrong(outlines, list, i))
			return list->data + from;
		outlines->is_cut = false;
	}
	return 0;
}

uint64_t sfnt_follow_charstrings(
	struct view *view, uint64_t at, uint64_t end, struct sfnt_followed *followed)
{
	struct outlines outlines = { .view = view, .end = end };
	uint64_t size = view_size(view) < end ? view_size(view) : end, wrong, said;
	struct list list;

	if (!read_charstrings(&outlines, at, &list, &said))
		return outlines.is_cut ? size : at;
	if (!followed->number && !are_places_valid(&outlines, &list, &wrong))
		return wrong ? wrong : size;
	if (followed->number > list.count)
		return at;
	wrong = find_wrong(&outlines, &list, followed);
	return wrong ? wrong : outlines.is_cut ? size : end;
}

/* Charstrings that end as they must, in order. */
struct ended {
	struct view *view;
	unsigned sum_bits;
	uint64_t ends[CHARSTRINGS_COUNTED]; /* last bytes; a ring */
	unsigned count;
};

/* Another one has its last byte at `last`. */
static void prove_charstring(struct ended *ended, uint64_t first, uint64_t last)
{
	uint64_t *oldest = &ended->ends[ended->count % CHARSTRINGS_COUNTED];
	uint64_t next = ended->ends[(ended->count + 1) % CHARSTRINGS_COUNTED];
	bool are_all = ended->count + 1 >= CHARSTRINGS_COUNTED;

	if (ended->count >= CHARSTRINGS_COUNTED)
		first = *oldest;
	if (view_linked(ended->view, first, last + 1, CHARSTRING_BITS) && are_all)
		view_proved(ended->view, first, next + 1, ended->sum_bits);
	*oldest = last;
	ended->count++;
}

bool sfnt_prove_charstrings(struct view *view, uint64_t at, uint64_t end)
{
	struct outlines outlines = { .view = view, .end = end };
	struct ended ended = { .view = view, .sum_bits = more_sum_bits(view, at, end) };
	uint64_t from, to, said;
	unsigned wrong = 0;
	struct list list;

	/* Clusters in another order may have made this wrong. */
	if (!read_charstrings(&outlines, at, &list, &said) ||
		!read_place(&outlines, &list, 0, &from))
		return false;
	/* A joint before the list is before all of them, too. */
	if (said > list.places)
		said = list.places;
	if (!view_work(view, (uint64_t)list.count * OUTLINE_WORK))
		return true;
	for (uint32_t i = 1; i <= list.count && wrong <= OUTLINES_WRONG; i++, from = to) {
		const uint8_t *p;

		if (!read_place(&outlines, &list, i, &to))
			return true;
		if (to < from || to > end - list.data) {
			wrong++;
			continue;
		}
		p = to > from ? look(&outlines, list.data + to - 1, 1) : NULL;
		if (p && is_end(*p))
			prove_charstring(&ended, said, list.data + to - 1);
		wrong += p && !is_end(*p);
	}
	return wrong <= OUTLINES_WRONG;
}
