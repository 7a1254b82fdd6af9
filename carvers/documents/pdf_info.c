/*
 * PDF's information dictionary (ISO 32000-2, 14.3.3): title and dates, if it is readable (neither
 * encrypted nor in an object stream).
 */
#include "pdf.h"

#include <string.h>

#include "dates.h"
#include "hex.h"
#include "title.h"

#define TEXT_LEN 512

/* The byte that an escape after a backslash means; -1: none. */
static int read_escape(struct cursor *cursor)
{
	static const char letters[] = "nrtbf", means[] = "\n\r\t\b\f";
	int byte = cursor_next(cursor), value = 0;
	const char *letter = byte > 0 ? strchr(letters, byte) : NULL;

	if (letter)
		return means[letter - letters];
	if (byte == '\r' && cursor_peek(cursor) == '\n')
		cursor->at++;
	if (byte == '\r' || byte == '\n')
		return -1;
	if (byte < '0' || byte > '7')
		return byte;
	value = byte - '0';
	for (int i = 0; i < 2; i++) {
		byte = cursor_peek(cursor);
		if (byte < '0' || byte > '7')
			break;
		value = value * 8 + byte - '0';
		cursor->at++;
	}
	return value & 0xff;
}

static size_t read_literal(struct cursor *cursor, uint8_t *text)
{
	size_t len = 0;
	int depth = 1;

	while (len < TEXT_LEN) {
		int byte = cursor_next(cursor);

		if (byte == '\\')
			byte = read_escape(cursor);
		else if (byte == ')' && --depth == 0)
			break;
		else if (byte == '(')
			depth++;
		else if (byte < 0)
			break;
		if (byte >= 0)
			text[len++] = (uint8_t)byte;
	}
	return len;
}

static size_t read_hex(struct cursor *cursor, uint8_t *text)
{
	size_t digits = 0;
	int byte;

	while (digits < TEXT_LEN * 2 && (byte = cursor_next(cursor)) >= 0 && byte != '>') {
		int digit = hex_digit(byte);

		if (digit < 0)
			continue;
		if (digits % 2 == 0)
			text[digits / 2] = (uint8_t)(digit << 4);
		else
			text[digits / 2] |= (uint8_t)digit;
		digits++;
	}
	return (digits + 1) / 2;
}

/* Reads the string at `at`, decoded, at most TEXT_LEN bytes. */
static size_t read_text(struct cursor *cursor, uint64_t at, uint8_t *text)
{
	int byte;

	cursor->at = at;
	byte = at ? cursor_next(cursor) : -1;
	if (byte == '(')
		return read_literal(cursor, text);
	return byte == '<' ? read_hex(cursor, text) : 0;
}

/* Reads two digits at *p, which moves past them; else returns `missing`. */
static int two_digits(const uint8_t **p, int missing)
{
	const uint8_t *digits = *p;

	if (digits[0] < '0' || digits[0] > '9' || digits[1] < '0' || digits[1] > '9')
		return missing;
	*p += 2;
	return (digits[0] - '0') * 10 + digits[1] - '0';
}

/* D:YYYYMMDDHHmmSSOHH'mm, any leading part of it (7.9.4). text ends with zeros. */
static int64_t read_date(const uint8_t *text)
{
	const uint8_t *p = text;
	int century, year, month, day, hour, minute, second;
	int64_t seconds, zone;

	if (memcmp(p, "D:", 2) == 0)
		p += 2;
	century = two_digits(&p, 0);
	year = two_digits(&p, 0);
	month = two_digits(&p, 1);
	day = two_digits(&p, 1);
	hour = two_digits(&p, 0);
	minute = two_digits(&p, 0);
	second = two_digits(&p, 0);
	seconds = century < 10
			  ? 0
			  : utc_seconds(century * 100 + year, month, day, hour, minute, second);
	if (!seconds || (*p != '+' && *p != '-'))
		return seconds;
	zone = *p++ == '-' ? -1 : 1;
	hour = two_digits(&p, 0);
	p += *p == '\'';
	return seconds - zone * (hour * 3600 + two_digits(&p, 0) * 60);
}

static int64_t read_date_at(struct cursor *cursor, uint64_t at)
{
	uint8_t text[TEXT_LEN + 32] = { 0 };

	read_text(cursor, at, text);
	return read_date(text);
}

static void read_title_at(struct pdf *pdf, uint64_t at)
{
	uint8_t text[TEXT_LEN];
	size_t len = read_text(&pdf->cursor, at, text);

	if (len >= 2 && text[0] == 0xfe && text[1] == 0xff)
		finding_set_title_utf16(pdf->finding, text + 2, len - 2, true);
	else if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		finding_set_title(pdf->finding, text + 3, len - 3);
	else
		finding_set_title_latin1(pdf->finding, text, len);
}

void pdf_read_info(struct pdf *pdf)
{
	const struct pdf_places *objects = &pdf->objects;
	struct pdf_value value;
	struct pdf_token token;
	size_t i = objects->count;

	if (!pdf->info || pdf->encrypted)
		return;
	while (i && objects->list[i - 1].number != pdf->info)
		i--;
	if (!i)
		return;
	pdf->cursor.at = objects->list[i - 1].at;
	for (int word = 0; word < 3; word++)
		pdf_next(&pdf->cursor, &token);
	pdf_read_value(&pdf->cursor, &value, &token);
	read_title_at(pdf, value.title_at);
	pdf->finding->time = read_date_at(&pdf->cursor, value.modified_at);
	if (!pdf->finding->time)
		pdf->finding->time = read_date_at(&pdf->cursor, value.created_at);
}
