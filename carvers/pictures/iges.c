/*
 * IGES, drawings of CAD programs (US PRO, Initial Graphics Exchange Specification 5.3, 2.2).
 *
 *	lines of 80 characters: 72 of text, the section's letter, its line number (7)
 *	sections: S (remarks), G (the file), D (two lines an entity), P (parameters), T (one line: how many lines each has)
 *
 * Letters come in that order, and numbers count from 1. The line T, which has to state the numbers, ends the file.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "carver.h"

#define LINE_LEN 80
#define LETTER_AT 72
#define NUMBER_LEN 7
#define SECTIONS 5

static const char letters[SECTIONS + 1] = "SGDPT";

/* Reads a number of NUMBER_LEN characters, blanks or zeros first. 0: there is none. */
static uint32_t read_number(const uint8_t *p)
{
	uint32_t number = 0;

	for (int i = 0; i < NUMBER_LEN; i++) {
		if (p[i] == ' ' && !number)
			continue;
		if (p[i] < '0' || p[i] > '9')
			return 0;
		number = number * 10 + p[i] - '0';
	}
	return number;
}

/* The length of the line end at `at`. 0: there is none. */
static unsigned line_end(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 2);

	if (p && p[0] == '\r' && p[1] == '\n')
		return 2;
	p = view_peek(view, at, 1);
	return p && (*p == '\n' || *p == '\r');
}

/* Whether the line T states the numbers of the others. */
static bool states(const uint8_t *p, const uint32_t counts[SECTIONS])
{
	for (int i = 0; i < SECTIONS - 1; i++)
		if (p[8 * i] != letters[i] || read_number(p + 8 * i + 1) != counts[i])
			return false;
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint32_t counts[SECTIONS] = { 0 };
	unsigned section = 0, end = 1;
	uint64_t at = 0;

	for (; end; at += LINE_LEN + end) {
		const uint8_t *p = view_peek(view, at, LINE_LEN);
		const char *letter = p && p[LETTER_AT] ? strchr(letters, p[LETTER_AT]) : NULL;

		if (!letter || letter < letters + section ||
			letter > letters + section + 1 + (section == 1))
			break;
		section = (unsigned)(letter - letters);
		if (read_number(p + LETTER_AT + 1) != counts[section] + 1)
			break;
		if (section == SECTIONS - 1) {
			if (!states(p, counts))
				break;
			finding->length = at + LINE_LEN + line_end(view, at + LINE_LEN);
			return CARVE_COMPLETE;
		}
		counts[section]++;
		end = line_end(view, at + LINE_LEN);
		if (!end)
			break;
	}
	if (!counts[1] || !at)
		return verdict_because(CARVE_REJECT, finding, "no section G before %" PRIu64, at);
	finding->length = at;
	return verdict_because(
		CARVE_TRUNCATED, finding, "no line of the next section at %" PRIu64, at);
}

const struct carver iges_carver = {
	.name = "iges",
	.summary = "IGES drawings, by the numbers of their lines",
	.check = check,
};
