/*
 * Web archives (WARC 1.1, ISO 28500).
 *
 *	record: 'WARC/1.0' or 'WARC/1.1' CR LF, lines "Name: value", an empty line, content of Content-Length bytes, CR LF CR LF
 *
 * Each record leads to the next, and needs its type, its name and its length. Their number is not stored, nor is content
 * verified: an archive is unverified. What a response carries after its own header is named as embedded. The title is the first
 * record's file name or address.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "lines.h"
#include "title.h"
#include "walk.h"

#define LINES_MAX 256
#define MAGIC_LEN 8
#define HTTP_HEAD_MAX 8192

struct warc_record {
	uint64_t content, len;
	bool typed, named, sized;
};

/* The value after the name of a field, without blanks before it; NULL: another field. */
static const uint8_t *field_value(const struct line *line, const char *name, size_t *len)
{
	size_t at = strlen(name);

	if (!line_starts(line, name))
		return NULL;
	while (at < line->len && line->bytes[at] == ' ')
		at++;
	*len = line->len - at;
	return line->bytes + at;
}

static bool read_length(const uint8_t *text, size_t len, uint64_t *value)
{
	*value = 0;
	if (!len || len > 15)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*value = *value * 10 + (uint64_t)(text[i] - '0');
	}
	return true;
}

static bool record_starts(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, MAGIC_LEN);

	return p && memcmp(p, "WARC/1.", 7) == 0;
}

/* Reads the header of the record at `at`. */
static bool read_record(
	struct view *view, uint64_t at, struct warc_record *record, struct finding *finding)
{
	struct line line;
	const uint8_t *value;
	size_t len;

	*record = (struct warc_record){ 0 };
	if (!record_starts(view, at) || !line_read(view, at, &line) || line.len != MAGIC_LEN)
		return false;
	for (int i = 0; i < LINES_MAX && line.ended; i++) {
		at = line.next;
		if (!line_read(view, at, &line) || !line.ended)
			return false;
		if (!line.len)
			break;
		record->typed |= line_starts(&line, "WARC-Type:");
		record->named |= line_starts(&line, "WARC-Record-ID:");
		if ((value = field_value(&line, "Content-Length:", &len)))
			record->sized = read_length(value, len, &record->len);
		if (((value = field_value(&line, "WARC-Filename:", &len)) ||
			    (value = field_value(&line, "WARC-Target-URI:", &len))) &&
			!finding->title[0])
			finding_set_title(finding, value, len);
	}
	record->content = line.next;
	return !line.len && record->typed && record->named && record->sized;
}

/* Names what follows an HTTP header in [at, end). */
static void name_payload(struct view *view, uint64_t at, uint64_t end)
{
	size_t len = end - at < HTTP_HEAD_MAX ? (size_t)(end - at) : HTTP_HEAD_MAX;
	const uint8_t *p = len > 8 ? view_peek(view, at, len) : NULL;
	const uint8_t *found =
		p && memcmp(p, "HTTP/", 5) == 0 ? memmem(p, len, "\r\n\r\n", 4) : NULL;

	view_embedded(view, at);
	if (found && at + (uint64_t)(found - p) + 4 < end)
		view_embedded(view, at + (uint64_t)(found - p) + 4);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, end, size = view_size(view);
	struct warc_record record;
	const uint8_t *p;

	while (read_record(view, at, &record, finding)) {
		if (at)
			view_part(view, at);
		end = record.content + record.len;
		if (end + 4 > size)
			return walk_cut(view, finding, end + 4,
				view_ends_with_image(view) ? size : record.content);
		if (record.len)
			name_payload(view, record.content, end);
		p = view_peek(view, end, 4);
		if (!p || memcmp(p, "\r\n\r\n", 4) != 0) {
			finding->length = record.content;
			return verdict_because(CARVE_TRUNCATED, finding,
				"no end of a record's content at %" PRIu64, end);
		}
		view_unverified(view, record.content, end);
		at = end + 4;
	}
	if (!at) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding, "no record's header at 0");
	}
	finding->length = at;
	if (record_starts(view, at))
		return verdict_because(
			CARVE_TRUNCATED, finding, "a broken record's header at %" PRIu64, at);
	return walk_uncounted(view, finding, at, at, 0, "record");
}

const struct carver warc_carver = {
	.name = "warc",
	.summary = "web archives (WARC), by their records",
	.check = check,
};
