/*
 * Android's backups (AOSP, BackupManagerService and adb's `backup`).
 *
 *	header: 'ANDROID BACKUP', version, whether it is compressed (0 or 1), encryption ('none' or 'AES-256'), each a line
 *	        that LF ends; encrypted ones have five lines more (salts, rounds, vector and key in hexadecimal)
 *	data:   a tar archive; compressed: one stream of zlib, whose checksum ends the file
 *
 * A compressed backup is decompressed to its end. A stored one leads from member to member up to blocks of zeros, and is
 * unverified, as is an encrypted one, whose end is not stored: it continues up to bytes that do not look encrypted.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "inflated.h"
#include "noise.h"
#include "tar_header.h"
#include "walk.h"

#define MAGIC "ANDROID BACKUP\n"
#define LINE_MAX_LEN 512
#define ENCRYPTED_LINES 5
#define ENCRYPTED_UNIT 16

/* Reads the line at *at, which is printable, and moves *at after its end. Returns its length; 0: none. The line is in
 * `line`, ended by a zero. */
static size_t read_line(struct view *view, uint64_t *at, char line[LINE_MAX_LEN])
{
	uint64_t room = *at < view_size(view) ? view_size(view) - *at : 0;
	size_t len = room < LINE_MAX_LEN ? (size_t)room : LINE_MAX_LEN;
	const uint8_t *p = len ? view_peek(view, *at, len) : NULL;
	const uint8_t *end = p ? memchr(p, '\n', len) : NULL;

	if (!end || end == p)
		return 0;
	len = (size_t)(end - p);
	for (size_t i = 0; i < len; i++)
		if (p[i] < ' ' || p[i] > '~')
			return 0;
	memcpy(line, p, len);
	line[len] = 0;
	*at += len + 1;
	return len;
}

static enum verdict check_compressed(struct view *view, struct finding *finding, uint64_t at)
{
	struct inflated inflated = { 0 };
	uint64_t size = view_size(view), start = at;

	switch (inflated_walk(&inflated, view, INFLATED_ZLIB, &at, size)) {
	case INFLATED_DONE:
		finding->length = at;
		return CARVE_COMPLETE;
	case INFLATED_MORE:
		return walk_cut(view, finding, size + 1, walk_before_fill(view, start, size));
	default:
		if (inflated.output_len < TAR_BLOCK)
			return verdict_because(
				CARVE_REJECT, finding, "no stream of zlib at %" PRIu64, start);
		finding->length = walk_before_fill(view, start, at);
		return verdict_because(
			CARVE_TRUNCATED, finding, "the stream is invalid before %" PRIu64, at);
	}
}

static enum verdict check_stored(struct view *view, struct finding *finding, uint64_t at)
{
	uint64_t size = view_size(view), start = at, len;

	while (tar_member(view, at, &len)) {
		len = tar_whole_blocks(len);
		if (len)
			view_embedded(view, at + TAR_BLOCK);
		if (len > size - at - TAR_BLOCK)
			return walk_cut(view, finding, at + TAR_BLOCK + len,
				view_ends_with_image(view) ? size : at + TAR_BLOCK);
		at += TAR_BLOCK + len;
	}
	if (at == start)
		return verdict_because(CARVE_REJECT, finding, "no member at %" PRIu64, start);
	if (at + 2 * TAR_BLOCK > size)
		return walk_cut(view, finding, at + 2 * TAR_BLOCK, at);
	if (!walk_zeros(view, at, at + 2 * TAR_BLOCK)) {
		finding->length = at;
		return verdict_because(
			CARVE_TRUNCATED, finding, "neither a member nor the end at %" PRIu64, at);
	}
	view_unverified(view, start, at);
	finding->length = at + 2 * TAR_BLOCK;
	return verdict_because(
		CARVE_UNVERIFIED, finding, "nothing verifies the members from %" PRIu64, start);
}

static enum verdict check_encrypted(struct view *view, struct finding *finding, uint64_t at)
{
	uint64_t size = view_size(view), end;
	char line[LINE_MAX_LEN];

	for (int i = 0; i < ENCRYPTED_LINES; i++)
		if (!read_line(view, &at, line))
			return verdict_because(CARVE_REJECT, finding,
				"a line of an encrypted backup is missing at %" PRIu64, at);
	if (at >= size)
		return walk_cut(view, finding, size + 1, size);
	end = plain_start(view, at, size);
	finding->length = at + (end - at) / ENCRYPTED_UNIT * ENCRYPTED_UNIT;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the end of the encrypted bytes from %" PRIu64 " on is not stored", at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, strlen(MAGIC));
	uint64_t at = strlen(MAGIC);
	char version[LINE_MAX_LEN], compressed[LINE_MAX_LEN], encryption[LINE_MAX_LEN];

	if (!p || memcmp(p, MAGIC, strlen(MAGIC)) != 0 || read_line(view, &at, version) != 1 ||
		version[0] < '1' || version[0] > '9' || read_line(view, &at, compressed) != 1 ||
		(compressed[0] != '0' && compressed[0] != '1') || !read_line(view, &at, encryption))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	if (strcmp(encryption, "AES-256") == 0)
		return check_encrypted(view, finding, at);
	if (strcmp(encryption, "none") != 0)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	return compressed[0] == '1' ? check_compressed(view, finding, at)
				    : check_stored(view, finding, at);
}

const struct carver ab_carver = {
	.name = "ab",
	.summary = "Android's backups, by their stream or members",
	.check = check,
};
