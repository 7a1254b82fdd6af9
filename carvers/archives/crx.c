/*
 * Chrome's and Edge's extensions (developer.chrome.com, CRX package format; Chromium's components/crx_file/crx3.proto).
 *
 *	version 2: 'Cr24', 2, lengths of key and signature (4 each, little-endian), public key (DER), signature, ZIP archive
 *	version 3: 'Cr24', 3, length of the header (4), the header, ZIP archive
 *	header:    a protobuf's fields: 2, 3 (keys with their signatures), 4 (hashes of the contents), 10000 (what is signed)
 *
 * burin checks that the fields fill the header and are these, or that a key starts as DER, that the archive's first member
 * follows, and the archive, whose verdict is the file's. The signatures are not verified.
 */
#include "zip.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"

#define HEAD_LEN 12
#define HEAD2_LEN 16
#define KEY_MAX 65536 /* Chromium's limits, in bytes */
#define HEADER_MAX (1u << 18)

/* A field's number and its type, 2: a length and as many bytes. */
static bool known_tag(uint64_t tag)
{
	static const uint32_t fields[] = { 2, 3, 4, 10000 };

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (tag == (fields[i] << 3 | 2))
			return true;
	return false;
}

/* Whether fields fill the header of version 3 in [HEAD_LEN, end). */
static bool valid_fields(struct view *view, uint64_t end)
{
	struct cursor cursor = { .view = view, .at = HEAD_LEN };

	while (cursor.at < end) {
		uint64_t tag, len;

		if (!cursor_varint(&cursor, &tag) || !known_tag(tag) ||
			!cursor_varint(&cursor, &len) || !len || cursor.at > end ||
			len > end - cursor.at)
			return false;
		cursor.at += len;
	}
	return true;
}

/* Where the archive begins; 0: the header is invalid. */
static uint64_t archive_start(struct view *view)
{
	const uint8_t *p = view_peek(view, 0, HEAD2_LEN + 1);
	uint64_t end;

	if (!p || memcmp(p, "Cr24", 4) != 0)
		return 0;
	if (le32(p + 4) == 2) {
		if (!le32(p + 8) || !le32(p + 12) || le32(p + 8) > KEY_MAX ||
			le32(p + 12) > KEY_MAX || p[HEAD2_LEN] != 0x30)
			return 0;
		return HEAD2_LEN + (uint64_t)le32(p + 8) + le32(p + 12);
	}
	if (le32(p + 4) != 3 || !le32(p + 8) || le32(p + 8) > HEADER_MAX)
		return 0;
	end = HEAD_LEN + (uint64_t)le32(p + 8);
	return valid_fields(view, end) ? end : 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t start = archive_start(view);
	const uint8_t *p = start ? view_peek(view, start, 4) : NULL;
	enum verdict verdict;

	if (!start)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	if (!p || le32(p) != ZIP_LOCAL)
		return verdict_because(CARVE_REJECT, finding, "no archive at %" PRIu64, start);
	view_holds(view, HEAD_LEN, start);
	verdict = zip_check_from(view, start, finding);
	finding->extension = NULL;
	return verdict;
}

const struct carver crx_carver = {
	.name = "crx",
	.summary = "extensions of Chrome and Edge, by their header and ZIP archive",
	.check = check,
};
