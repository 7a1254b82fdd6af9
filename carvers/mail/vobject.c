/*
 * vCards (RFC 6350, 2426, vCard 2.1) and calendars (RFC 5545, vCalendar 1.0).
 *
 *	object: BEGIN:name, properties and objects, END:name
 *
 * A property is a name, parameters, a colon and a value, on a line that may continue after a line
 * end and a blank. Version 2.1 folds differently, so only names at the start of lines are examined.
 * Objects have to close as they opened. A file of cards may have many in a row: it ends where none
 * follows, or one with other line ends, which is another program's. At a sector boundary a damaged card
 * is taken for another file.
 *
 * The title is a card's FN, or a calendar's name or first summary.
 */
#include <inttypes.h>
#include <string.h>

#include "lines.h"
#include "title.h"
#include "walk.h"

#define DEPTH_MAX 16
#define NAME_MAX 32
/* Some programs write line ends into values. */
#define STRANGE_MAX 8
#define EMPTY_LINES_MAX 8 /* between two cards */
#define EMPTY_MAX 16      /* bytes of empty lines after the last object */

struct vobject {
	struct view *view;
	struct finding *finding;
	uint64_t at; /* after the last valid line */
	unsigned depth, lines;
	unsigned strange; /* lines in a row, up to `at`, that are not properties */
	uint64_t strange_at;
	bool soft;      /* the last line continues, in quoted-printable */
	bool open_line; /* the last line has no end */
	bool with_cr;   /* lines end in CR LF */
	char names[DEPTH_MAX][NAME_MAX + 1];
	uint32_t seen
		[DEPTH_MAX]; /* which of the properties were read that an object has once, a bit each */
	uint64_t repeated; /* where one comes again, or 0 */
};

/* Reads the name after BEGIN: or END:, in capitals: false if it is invalid. */
static bool read_name(const struct line *line, size_t head, char *name)
{
	size_t len = line->len - head;

	while (len && line->bytes[head + len - 1] == ' ')
		len--;
	if (!len || len > NAME_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		uint8_t byte = line->bytes[head + i];

		if (byte >= 'a' && byte <= 'z')
			byte -= 'a' - 'A';
		if (!(byte >= 'A' && byte <= 'Z') && !(byte >= '0' && byte <= '9') && byte != '-')
			return false;
		name[i] = (char)byte;
	}
	name[len] = 0;
	return true;
}

static void read_title(struct vobject *object, const struct line *line)
{
	static const char *const names[] = { "FN:", "FN;",
		"X-WR-CALNAME:", "SUMMARY:", "SUMMARY;" };
	const uint8_t *colon = memchr(line->bytes, ':', line->len);

	for (size_t i = 0; colon && i < sizeof(names) / sizeof(*names); i++)
		if (line_starts(line, names[i]) && !object->finding->title[0])
			finding_set_title(object->finding, colon + 1,
				line->len - (size_t)(colon + 1 - line->bytes));
}

/* Notes a property that each object has once: where another object's end took the place of its own, some come again. */
static void note_property(struct vobject *object, const struct line *line)
{
	static const char *const names[] = { "VERSION", "PRODID", "CALSCALE", "METHOD", "UID",
		"DTSTART", "DTEND", "DTSTAMP", "RRULE", "N", "BDAY", "REV", "SUMMARY" };
	const char *bytes = (const char *)line->bytes;
	uint32_t *seen = &object->seen[object->depth - 1];
	size_t len = 0;

	while (len < line->len && bytes[len] != ':' && bytes[len] != ';')
		len++;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (len != strlen(names[i]) || memcmp(bytes, names[i], len) != 0)
			continue;
		if (*seen >> i & 1 && !object->repeated)
			object->repeated = line->at;
		*seen |= 1u << i;
	}
}

/* Reads a line within an object. False: it breaks the nesting. */
static bool read_line(struct vobject *object, const struct line *line)
{
	char name[NAME_MAX + 1];

	if (line_starts(line, "BEGIN:")) {
		if (object->depth == DEPTH_MAX || !read_name(line, 6, object->names[object->depth]))
			return false;
		object->seen[object->depth++] = 0;
	} else if (line_starts(line, "END:")) {
		if (!read_name(line, 4, name) ||
			strcmp(name, object->names[object->depth - 1]) != 0)
			return false;
		object->depth--;
	} else {
		note_property(object, line);
		read_title(object, line);
	}
	return true;
}

/* Whether the line begins as the one that closes the outermost object does, and other bytes follow at once: those of another
 * file, if the last line has no end. Sets where the object ends. */
static bool closes_at_once(struct vobject *object, const struct line *line)
{
	const char *name = object->names[0];
	size_t len = strlen("END:") + strlen(name);

	if (object->depth != 1 || !line_starts(line, "END:") || line->len <= len)
		return false;
	for (size_t i = 0; name[i]; i++)
		if ((line->bytes[strlen("END:") + i] & ~0x20) != (name[i] & ~0x20))
			return false;
	object->at = line->at + len;
	object->depth = 0;
	object->open_line = true;
	return true;
}

/* The length of a property's name at the line's start, or of base64. */
static size_t name_length(const struct line *line)
{
	size_t len = 0;

	while (len < line->len && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789-._/+=",
					  line->bytes[len]))
		len++;
	return len;
}

static bool is_property(const struct line *line)
{
	size_t len = name_length(line);

	return len && len < line->len && (line->bytes[len] == ':' || line->bytes[len] == ';');
}

/* Whether the line is a property, or continues one. */
static bool is_plausible(const struct vobject *object, const struct line *line)
{
	if (object->soft || !line->len || line->bytes[0] == ' ' || line->bytes[0] == '\t')
		return true;
	/* A line without a colon or semicolon: base64, folded as in 2.1. */
	return name_length(line) == line->len || is_property(line);
}

/* Whether the line opens an object of an outermost kind. */
static bool opens_object(const struct line *line)
{
	return line_is(line, "BEGIN:VCARD") || line_is(line, "BEGIN:VCALENDAR");
}

/* Reads the object that opens at object->at. NULL: it closed; else what is wrong. */
static const char *read_object(struct vobject *object)
{
	struct line line;

	do {
		if (!line_read(object->view, object->at, &line))
			return "not text";
		if (object->depth && opens_object(&line) && !strcmp(object->names[0], "VCARD") &&
			object->depth == 1)
			return "an unclosed object before another";
		if (line.broken && !(line_starts(&line, "END:") && object->depth == 1)) {
			object->at = line.text_end;
			return "not text";
		}
		if (is_plausible(object, &line)) {
			object->strange = 0;
		} else if (!object->strange++) {
			object->strange_at = object->at;
		} else if (object->strange > STRANGE_MAX) {
			object->at = object->strange_at;
			return "lines that are not properties";
		}
		if (!read_line(object, &line))
			return closes_at_once(object, &line) ? NULL : "an END that does not match";
		object->soft = line.len && line.bytes[line.len - 1] == '=';
		object->open_line = !line.ended;
		object->at = line.text_end;
		object->lines++;
	} while (object->depth && line.ended);
	return object->depth ? "not text" : NULL;
}

/* Whether the line, which has an end, ends in CR LF. */
static bool ends_with_cr(const struct line *line)
{
	return line->next - line->at > line->len + 1;
}

/* The end of the empty lines at `at`, which end as the others do. */
static uint64_t skip_empty_lines(const struct vobject *object, uint64_t at)
{
	struct line line;

	while (at - object->at < EMPTY_MAX && line_read(object->view, at, &line) && line.ended &&
		!line.len && ends_with_cr(&line) == object->with_cr)
		at = line.next;
	return at;
}

/* The end of empty lines, if another object of the same kind opens there; else object->at. */
static uint64_t next_object(struct vobject *object)
{
	uint64_t at = object->at;
	struct line line;

	for (int i = 0; i < EMPTY_LINES_MAX && line_read(object->view, at, &line); i++) {
		if (line.len)
			return opens_object(&line) && line.ended &&
					       line_starts(&line, "BEGIN:VCARD") &&
					       ends_with_cr(&line) == object->with_cr
				       ? at
				       : object->at;
		at = line.next;
	}
	return object->at;
}

/* Whether the line after the first one is a property. */
static bool starts_with_property(struct view *view)
{
	struct line line;

	return line_read(view, 0, &line) && line_read(view, line.next, &line) && is_property(&line);
}

static enum verdict open_verdict(struct finding *finding, uint64_t end)
{
	return verdict_because(
		CARVE_UNVERIFIED, finding, "the last line has no end at %" PRIu64, end);
}

static enum verdict repeated_verdict(struct finding *finding, uint64_t at)
{
	return verdict_because(
		CARVE_UNVERIFIED, finding, "an object has a property again at %" PRIu64, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct vobject object = { .view = view, .finding = finding };
	const char *problem;
	struct line line;
	uint64_t whole = 0, start = 0; /* after the last card that closed; where the next opens */
	bool card, open = false;       /* the last line of that card */

	view_fill_unreadable(view, ' ');
	if (!line_read(view, 0, &line) || !opens_object(&line) || !line.ended)
		return verdict_because(CARVE_REJECT, finding, "neither a card nor a calendar at 0");
	card = line_starts(&line, "BEGIN:VCARD");
	object.with_cr = ends_with_cr(&line);
	finding->extension = card ? "vcf" : "ics";
	while (!(problem = read_object(&object))) {
		uint64_t next = card ? next_object(&object) : object.at;

		whole = object.at;
		open = object.open_line;
		if (next == object.at &&
			!(line_read(view, next, &line) && opens_object(&line) &&
				line_starts(&line, card ? "BEGIN:VCARD" : "BEGIN:VCALENDAR") &&
				(card || next % SECTOR) && ends_with_cr(&line) == object.with_cr))
			break;
		view_part(view, next);
		object.at = start = next;
	}
	if (!problem) {
		finding->length = open ? whole : skip_empty_lines(&object, whole);
		if (!open && object.repeated)
			return repeated_verdict(finding, object.repeated);
		return open ? open_verdict(finding, whole) : CARVE_COMPLETE;
	}
	if (whole && whole % SECTOR == 0 && start == whole) {
		finding->length = whole;
		if (open)
			return open_verdict(finding, whole);
		if (object.repeated && object.repeated < whole)
			return repeated_verdict(finding, object.repeated);
		return verdict_because(CARVE_COMPLETE, finding,
			"the damaged card at the sector boundary at %" PRIu64
			" is taken for another file",
			whole);
	}
	/* Prose has the first line alone. */
	if (object.lines < 3 || (!whole && !starts_with_property(view)))
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64, problem, object.at);
	finding->length = object.at;
	return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, object.at);
}

const struct carver vobject_carver = {
	.name = "vobject",
	.summary = "vCards and iCalendar files, by their objects",
	.check = check,
	.is_text = true,
};
