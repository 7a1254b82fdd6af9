/*
 * FITS (FITS Standard 4.0).
 *
 * A file is a sequence of units. Each has a header, cards of 80 printable characters up to END, and
 * data, whose size follows from BITPIX, NAXIS, NAXIS1.., PCOUNT and GCOUNT. Both are padded to a
 * multiple of 2,880 bytes, headers with blanks. The first card is SIMPLE, in further units
 * XTENSION; the file ends where none follows.
 *
 * Nothing confirms the data but their padding, equal bytes: where it is something else, the file was cut
 * before. Nothing gives the number of units: a file is unverified, though the end of its last
 * unit is certain. The date is that of DATE-OBS or DATE, the title OBJECT.
 */
#include "carver.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dates.h"
#include "foreign.h"
#include "stored.h"
#include "title.h"
#include "walk.h"

#define BLOCK 2880
#define CARD 80
#define CARDS_MAX 100000
#define AXES_MAX 999

struct unit {
	int64_t bits, axes, parameters, groups;
	uint64_t elements; /* of all axes so far */
	int64_t axes_read;
	uint64_t row;             /* elements of the first axis */
	bool first_zero, grouped; /* NAXIS1 = 0 with GROUPS: the axes start with the second */
	bool table;               /* not a picture */
	uint64_t end;             /* of the header, in complete blocks */
};

struct fits {
	struct view *view;
	struct finding *finding;
	uint64_t at; /* where the next unit would start */
	unsigned units;
};

/* The card's value as text, without the quotes and blanks around it. */
static void card_text(const char *card, char text[72])
{
	const char *from = card + 10, *to = card + CARD;

	while (from < to && *from == ' ')
		from++;
	if (from < to && *from == '\'') {
		const char *quote = memchr(from + 1, '\'', (size_t)(to - from - 1));

		from++;
		to = quote ? quote : to;
	}
	snprintf(text, 72, "%.*s", (int)(to - from), from);
}

static void read_date(struct fits *fits, const char *text)
{
	int date[6] = { 0 };
	int count = sscanf(
		text, "%d-%d-%dT%d:%d:%d", date, date + 1, date + 2, date + 3, date + 4, date + 5);

	if (count >= 3)
		fits->finding->time =
			utc_seconds(date[0], date[1], date[2], date[3], date[4], date[5]);
}

static void read_axis(struct unit *unit, int64_t size)
{
	unit->axes_read++;
	if (unit->axes_read == 1 && size > 0)
		unit->row = (uint64_t)size;
	if (unit->axes_read == 1 && size == 0) {
		unit->first_zero = true;
		return;
	}
	if (size < 0 || (size && unit->elements > (uint64_t)INT64_MAX / 64 / (uint64_t)size))
		unit->axes = -1;
	else
		unit->elements *= (uint64_t)size;
}

static void read_card(struct fits *fits, struct unit *unit, const char *card)
{
	char text[72];
	int64_t number;

	card_text(card, text);
	number = strtoll(text, NULL, 10);
	if (memcmp(card, "BITPIX  ", 8) == 0)
		unit->bits = number;
	else if (memcmp(card, "NAXIS   ", 8) == 0)
		unit->axes = number;
	else if (memcmp(card, "NAXIS", 5) == 0 && isdigit((unsigned char)card[5]))
		read_axis(unit, number);
	else if (memcmp(card, "PCOUNT  ", 8) == 0)
		unit->parameters = number;
	else if (memcmp(card, "GCOUNT  ", 8) == 0)
		unit->groups = number;
	else if (memcmp(card, "XTENSION", 8) == 0)
		unit->table = strncmp(text, "IMAGE", 5) != 0;
	else if (memcmp(card, "GROUPS  ", 8) == 0)
		unit->grouped = text[0] == 'T';
	else if (memcmp(card, "DATE-OBS", 8) == 0 ||
		 (memcmp(card, "DATE    ", 8) == 0 && !fits->finding->time))
		read_date(fits, text);
	else if (memcmp(card, "OBJECT  ", 8) == 0)
		finding_set_title(fits->finding, (const uint8_t *)text, strlen(text));
}

/* Reads the cards at fits->at up to END. False: a card is invalid, or END is missing. */
static bool read_header(struct fits *fits, struct unit *unit)
{
	*unit = (struct unit){ .groups = 1, .elements = 1, .end = fits->at };
	for (unsigned count = 0; count < CARDS_MAX; count++, unit->end += CARD) {
		const uint8_t *p = view_peek(fits->view, unit->end, CARD);

		for (int i = 0; p && i < CARD; i++)
			if (p[i] < 0x20 || p[i] > 0x7e)
				return false;
		if (!p)
			return false;
		if (memcmp(p, "END     ", 8) == 0) {
			unit->end += BLOCK - (unit->end - fits->at) % BLOCK;
			return true;
		}
		read_card(fits, unit, (const char *)p);
	}
	return false;
}

/* Bytes of the data, or UINT64_MAX when the header is invalid. */
static uint64_t data_len(const struct unit *unit)
{
	int64_t bits = unit->bits;
	uint64_t elements = unit->elements;

	if ((bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != -32 && bits != -64) ||
		unit->axes < 0 || unit->axes > AXES_MAX || unit->axes != unit->axes_read ||
		unit->parameters < 0 || unit->groups < 0 || unit->parameters > INT64_MAX / 64 ||
		unit->groups > INT32_MAX)
		return UINT64_MAX;
	if (unit->axes == 0 || (unit->first_zero && !unit->grouped))
		return 0;
	elements += (uint64_t)unit->parameters;
	if (unit->groups && elements > (uint64_t)INT64_MAX / 16 / (uint64_t)unit->groups)
		return UINT64_MAX;
	return elements * (uint64_t)unit->groups * (uint64_t)llabs(bits) / 8;
}

/* Whether equal bytes pad the data, which end at `at`, up to `end`: zeros, in tables blanks; not all writers
 * take one of those. */
static bool is_padded(struct fits *fits, uint64_t at, uint64_t end)
{
	const uint8_t *p = at < end ? view_peek(fits->view, at, (size_t)(end - at)) : NULL;

	for (size_t i = 0; p && i < end - at; i++)
		if (p[i] != p[0])
			return false;
	return true;
}

static bool starts_unit(struct fits *fits)
{
	const uint8_t *p = view_peek(fits->view, fits->at, 9);

	return p && memcmp(p, fits->units ? "XTENSION=" : "SIMPLE  =", 9) == 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct fits fits = { .view = view, .finding = finding };
	struct unit unit = { 0 };
	uint64_t len = 0;

	for (; starts_unit(&fits); fits.units++) {
		bool header = read_header(&fits, &unit);

		len = header ? data_len(&unit) : 0;
		if (!header && unit.end + CARD > view_size(view) && fits.units)
			return walk_cut(view, finding, unit.end + CARD, view_size(view));
		if (!header || len == UINT64_MAX) {
			if (!fits.units)
				return verdict_because(CARVE_REJECT, finding,
					"an invalid header at %" PRIu64, unit.end);
			finding->length = fits.at;
			return verdict_because(CARVE_TRUNCATED, finding,
				"an invalid header at %" PRIu64, unit.end);
		}
		fits.at = unit.end + (len + BLOCK - 1) / BLOCK * BLOCK;
		if (fits.at > view_size(view))
			return walk_cut(view, finding, fits.at, view_size(view));
		if (!is_padded(&fits, unit.end + len, fits.at))
			return foreign_cut(view, finding, unit.end, fits.at,
				"no padding after the data", unit.end + len);
		view_holds(view, unit.end, fits.at);
	}
	if (!fits.units)
		return verdict_because(CARVE_REJECT, finding, "no SIMPLE at 0");
	if (len && !unit.table && unit.axes > 1) {
		uint64_t pixel_len = (uint64_t)llabs(unit.bits) / 8;

		if (stored_check_pixels(view, finding, unit.end, unit.end + len,
			    unit.row * pixel_len, pixel_len) == CARVE_TRUNCATED)
			return CARVE_TRUNCATED;
	}
	finding->length = fits.at;
	return verdict_because(
		CARVE_UNVERIFIED, finding, "more units may follow %" PRIu64 "", fits.at);
}

const struct carver fits_carver = {
	.name = "fits",
	.summary = "FITS files, by their headers and the sizes in them",
	.check = check,
};
