/*
 * PuTTY's private keys (PuTTY manual, appendix C).
 *
 *	file: lines of text: 'PuTTY-User-Key-File-' 2 or 3 ': ' algorithm, 'Encryption: ', 'Comment: ', 'Public-Lines: ' N, N lines of
 *	      base64, with a passphrase in version 3 how the key is derived, 'Private-Lines: ' N, N lines of base64,
 *	      'Private-MAC: ' and 40 digits (version 3: 64)
 *
 * The last line proves the end. The MAC needs the passphrase, and is not computed.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base64.h"
#include "hex.h"
#include "lines.h"
#include "walk.h"

#define BASE64_LINE 64
#define LINES_MAX 10000
#define VERSION_AT 20 /* of the digit */
#define HEAD_LINES 8  /* between two lists at most */

struct ppk {
	struct view *view;
	struct line line; /* the last that was read */
	uint64_t at, valid_end;
};

/* Reads the next line; false: it is not whole. */
static bool next_line(struct ppk *ppk)
{
	if (!line_read(ppk->view, ppk->at, &ppk->line) || !ppk->line.ended || ppk->line.broken)
		return false;
	ppk->at = ppk->line.next;
	return true;
}

/* The number after `name` in the line; 0: there is none. */
static unsigned number_after(const struct line *line, const char *name)
{
	size_t at = strlen(name);
	unsigned number = 0;

	if (!line_starts(line, name))
		return 0;
	for (; at < line->len && number <= LINES_MAX; at++) {
		if (line->bytes[at] < '0' || line->bytes[at] > '9')
			return 0;
		number = number * 10 + (unsigned)(line->bytes[at] - '0');
	}
	return number <= LINES_MAX ? number : 0;
}

static bool is_base64(const struct line *line)
{
	return line->len <= BASE64_LINE && base64_text(line->bytes, line->len);
}

/* Reads lines up to that with `name`, and the list after it. */
static bool read_list(struct ppk *ppk, const char *name)
{
	unsigned count = 0;

	for (int i = 0; i < HEAD_LINES && !count; i++) {
		if (!next_line(ppk) || !memchr(ppk->line.bytes, ':', ppk->line.len))
			return false;
		count = number_after(&ppk->line, name);
		ppk->valid_end = ppk->at;
	}
	for (unsigned i = 0; i < count; i++) {
		if (!next_line(ppk) || !is_base64(&ppk->line) ||
			(i + 1 < count && ppk->line.len != BASE64_LINE))
			return false;
		ppk->valid_end = ppk->at;
	}
	return count;
}

/* Whether the line is the MAC. */
static bool is_mac(const struct line *line, unsigned digits)
{
	static const char name[] = "Private-MAC: ";

	if (!line_starts(line, name) || line->len < sizeof(name) - 1 + digits)
		return false;
	for (unsigned i = 0; i < digits; i++)
		if (hex_digit(line->bytes[sizeof(name) - 1 + i]) < 0)
			return false;
	return line->len == sizeof(name) - 1 + digits || !line->ended;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct ppk ppk = { .view = view };
	unsigned digits;

	if (!next_line(&ppk) || ppk.line.len <= VERSION_AT ||
		(!line_starts(&ppk.line, "PuTTY-User-Key-File-2: ") &&
			!line_starts(&ppk.line, "PuTTY-User-Key-File-3: ")))
		return verdict_because(CARVE_REJECT, finding, "no version at 0");
	digits = ppk.line.bytes[VERSION_AT] == '2' ? 40 : 64;
	if (!next_line(&ppk) || !line_starts(&ppk.line, "Encryption: "))
		return verdict_because(CARVE_REJECT, finding, "no encryption at %" PRIu64, ppk.at);
	ppk.valid_end = ppk.at;
	if (read_list(&ppk, "Public-Lines: ") && read_list(&ppk, "Private-Lines: ") &&
		line_read(view, ppk.at, &ppk.line) && is_mac(&ppk.line, digits)) {
		if (ppk.line.ended) {
			finding->length = ppk.line.next;
			return CARVE_COMPLETE;
		}
		finding->length = ppk.at + strlen("Private-MAC: ") + digits;
		return verdict_because(
			CARVE_UNVERIFIED, finding, "no line end at %" PRIu64, finding->length);
	}
	finding->length = ppk.valid_end;
	if (!line_read(view, ppk.at, &ppk.line) ||
		(!ppk.line.broken && !ppk.line.ended && ppk.line.text_end >= view_size(view)))
		return walk_cut(view, finding, view_size(view) + 1, ppk.valid_end);
	return verdict_because(
		CARVE_TRUNCATED, finding, "no line of a key at %" PRIu64, ppk.valid_end);
}

const struct carver ppk_carver = {
	.name = "ppk",
	.summary = "PuTTY's private keys, by their lines",
	.check = check,
};
