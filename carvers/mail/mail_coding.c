/*
 * Content-Transfer-Encoding (RFC 2045, 6): base64 has lines of its characters only (base64_lines.h); quoted-printable is ASCII in
 * which `=` precedes two hexadecimal digits or the line's end.
 */
#include "mail_coding.h"

#include <string.h>
#include <strings.h>

#include "base64.h"
#include "hex.h"

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

static void check_base64(struct mail_coding *coding, const struct line *line)
{
	size_t len = filled_len(line), valid = 0;
	uint64_t wrong_at, break_at;

	if (!len)
		return;
	while (valid < len && base64_digit(line->bytes[valid]) >= 0)
		valid++;
	if (!base64_text(line->bytes, len))
		note_wrong(coding, line->at + valid,
			base64_lines_break(&coding->lines, line->at + valid));
	else if (!base64_lines_add(&coding->lines, line->at, len, valid < len, line->next,
			 &wrong_at, &break_at))
		note_wrong(coding, wrong_at, break_at);
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
		base64_lines_begin(&coding->lines, line->next);
	} else if (coding->encoding == ENCODING_BASE64) {
		check_base64(coding, line);
	} else if (coding->encoding == ENCODING_QUOTED) {
		check_quoted(coding, line);
	}
}
