/*
 * Public keys of OpenSSH, as in id_rsa.pub and authorized_keys (RFC 4253, 6.6; sshd(8)).
 *
 *	line: kind, blank, base64, perhaps a blank and a comment, LF
 *	data: texts of a length (4, big-endian) and bytes: the kind again, then numbers or points
 *
 * The texts have to fill the data, and the first has to be the kind: that proves a key up to its last character. Keys follow one
 * another line by line. The title is the first comment.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base64.h"
#include "bytes.h"
#include "lines.h"
#include "plain_text.h"
#include "title.h"
#include "walk.h"

#define KIND_MAX_LEN 64
#define DATA_MAX 4096
#define PARTS_MIN 2

/* Decodes base64 up to its end, at most `room` bytes. Returns how many characters it had, with padding; *len: bytes. */
static size_t decode(const uint8_t *text, size_t text_len, uint8_t *data, size_t room, size_t *len)
{
	struct base64_bits bits = { 0 };
	size_t at = 0;
	uint8_t byte;

	*len = 0;
	for (; at < text_len && base64_digit(text[at]) >= 0; at++) {
		if (!base64_add(&bits, base64_digit(text[at]), &byte))
			continue;
		if (*len == room)
			return 0;
		data[(*len)++] = byte;
	}
	while (at % 4 && at < text_len && text[at] == '=')
		at++;
	return at % 4 ? 0 : at;
}

/* Whether texts fill the data, of which the first is the kind. */
static bool is_key(const uint8_t *data, size_t len, const uint8_t *kind, size_t kind_len)
{
	size_t at = 0, parts = 0;

	for (; len - at >= 4 && be32(data + at) <= len - at - 4; parts++) {
		if (!parts && (be32(data) != kind_len || memcmp(data + 4, kind, kind_len) != 0))
			return false;
		at += 4 + be32(data + at);
	}
	return at == len && parts >= PARTS_MIN;
}

/* Whether the line is a key. *end: of its base64. */
static bool read_key(const struct line *line, size_t *end)
{
	uint8_t data[DATA_MAX];
	const uint8_t *blank = memchr(line->bytes, ' ', line->len);
	size_t kind_len = blank ? (size_t)(blank - line->bytes) : 0, chars, len;

	if (!kind_len || kind_len > KIND_MAX_LEN)
		return false;
	chars = decode(blank + 1, line->len - kind_len - 1, data, sizeof(data), &len);
	*end = kind_len + 1 + chars;
	return chars && is_key(data, len, line->bytes, kind_len) &&
	       (*end == line->len || line->bytes[*end] == ' ' || !line->ended);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct line line;
	uint64_t at = 0;
	size_t end = 0;

	for (; line_read(view, at, &line) && read_key(&line, &end); at = line.next) {
		if (!finding->title[0] && end < line.len &&
			utf8_valid(line.bytes + end, line.len - end))
			finding_set_title(finding, line.bytes + end, line.len - end);
		if (line.ended)
			continue;
		finding->length = line.at + end;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no end of the line at %" PRIu64 " after its key", line.at);
	}
	if (!at)
		return verdict_because(CARVE_REJECT, finding, "no key at 0");
	finding->length = at;
	return CARVE_COMPLETE;
}

const struct carver sshkey_carver = {
	.name = "sshkey",
	.summary = "OpenSSH's public keys, by their texts",
	.check = check,
};
