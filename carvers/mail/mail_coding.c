/*
 * Content-Transfer-Encoding (RFC 2045, 6): base64 has lines of one width, the last one aside, of its characters only;
 * quoted-printable is ASCII in which `=` precedes two hexadecimal digits or the line's end.
 *
 * Where clusters of another file lie in a part its lines are not in the encoding, or, if the other one is base64, too, their width
 * differs around the place: with lines of 76 characters it fits by chance once in 77 or 78 times. A line of another width is a
 * mailer's own unless a sector begins there.
 */
#include "mail_coding.h"

#include <string.h>
#include <strings.h>

#include "base64.h"
#include "hex.h"
#include "walk.h"

#define COUNT_LEAST 4 /* lines that show the width */

bool mail_coding_read(struct mail_coding *coding, const char *field)
{
	static const char name[] = "Content-Transfer-Encoding:";
	static const char *const names[] = { "base64", "quoted-printable" };

	if (strncasecmp(field, name, sizeof(name) - 1) != 0)
		return false;
	field += sizeof(name) - 1;
	field += strspn(field, " \t");
	if (coding->encoding != ENCODING_OTHER) {
		coding->encoding = ENCODING_OTHER; /* it declares two */
		return true;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncasecmp(field, names[i], strlen(names[i])) == 0)
			coding->encoding = ENCODING_BASE64 + (enum mail_encoding)i;
	return true;
}

/* Where a sector begins in [from, to]; 0: nowhere. */
static uint64_t sector_in(uint64_t from, uint64_t to)
{
	uint64_t sector = (from + SECTOR - 1) / SECTOR * SECTOR;

	return sector <= to ? sector : 0;
}

static void note_wrong(struct mail_coding *coding, uint64_t at, uint64_t break_at)
{
	if (coding->is_wrong)
		return;
	coding->is_wrong = true;
	coding->wrong_at = at;
	coding->break_at = break_at;
}

/* The line's bytes without blanks at its end, and CR, of which some programs write two. */
static size_t filled_len(const struct line *line)
{
	size_t len = line->len;

	while (len && (line->bytes[len - 1] == ' ' || line->bytes[len - 1] == '\t' ||
			      line->bytes[len - 1] == '\r'))
		len--;
	return len;
}

/* Checks a line's width, whose characters are valid. */
static void check_width(struct mail_coding *coding, const struct line *line, size_t len)
{
	uint64_t wrong_at = coding->was_last ? line->at : line->at + coding->width;
	uint64_t break_at =
		coding->count < COUNT_LEAST ? 0 : sector_in(coding->valid_end, wrong_at);

	if (!coding->width)
		coding->width = len;
	if (!coding->is_irregular && (coding->was_last || len > coding->width)) {
		if (break_at)
			note_wrong(coding, wrong_at, break_at);
		coding->is_irregular = true;
	}
	coding->was_last = len < coding->width || line->bytes[len - 1] == '=';
	if (coding->was_last)
		return;
	coding->count++;
	coding->valid_end = line->next;
}

static void check_base64(struct mail_coding *coding, const struct line *line)
{
	size_t len = filled_len(line), valid = 0;

	if (!len)
		return;
	if (base64_text(line->bytes, len)) {
		check_width(coding, line, len);
		return;
	}
	while (valid < len && base64_digit(line->bytes[valid]) >= 0)
		valid++;
	note_wrong(coding, line->at + valid,
		coding->count ? sector_in(coding->valid_end, line->at + valid) : 0);
}

static void check_quoted(struct mail_coding *coding, const struct line *line)
{
	size_t len = filled_len(line);

	for (size_t i = 0; i < len; i++) {
		bool is_code = i + 2 < len && hex_digit(line->bytes[i + 1]) >= 0 &&
			       hex_digit(line->bytes[i + 2]) >= 0;

		if (line->bytes[i] >= 0x80 ||
			(line->bytes[i] == '=' && i + 1 < len && !is_code && line->ended)) {
			note_wrong(coding, line->at + i, 0);
			return;
		}
	}
}

void mail_coding_add(struct mail_coding *coding, const struct line *line)
{
	char field[64];
	size_t len = line->len < sizeof(field) - 1 ? line->len : sizeof(field) - 1;

	if (line->len > 2 && memcmp(line->bytes, "--", 2) == 0 && line->bytes[2] != ' ') {
		coding->in_header = true;
		coding->encoding = ENCODING_OTHER;
	} else if (coding->in_header && line->len) {
		memcpy(field, line->bytes, len);
		field[len] = 0;
		mail_coding_read(coding, field);
	} else if (coding->in_header) {
		coding->in_header = false;
		coding->width = 0;
		coding->count = 0;
		coding->is_irregular = coding->was_last = false;
		coding->valid_end = line->next;
	} else if (coding->encoding == ENCODING_BASE64) {
		check_base64(coding, line);
	} else if (coding->encoding == ENCODING_QUOTED) {
		check_quoted(coding, line);
	}
}
