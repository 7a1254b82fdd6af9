/*
 * RPM packages (RPM package file format, rpm.org, versions 3, 4 and 6).
 *
 *	file:   lead (96 bytes), signature, padded to 8 bytes, header, payload
 *	header: 8E AD E8 01, reserved (4), number of entries, length of the store, then entries
 *		of 16 bytes (tag, type, offset, count), then the store; the signature is built the
 *		same. All big-endian
 *
 * The signature may give the length of header and payload; the payload, a compressed cpio archive,
 * shows its own end. Both must agree, and the MD5 of both, which most signatures have. Name, version and
 * release make the title; the build time is the time.
 *
 * Damage. The header is valid, and the payload as far as it decompresses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "compressed.h"
#include "md5.h"
#include "walk.h"

enum {
	LEAD_LEN = 96,
	INTRO_LEN = 16,
	ENTRY_LEN = 16,
	ENTRIES_MAX = 65535,
	STORE_MAX_LEN = 256 << 20,
	TYPE_INT32 = 4,
	TYPE_INT64 = 5,
	TYPE_STRING = 6,
	TYPE_BYTES = 7,
	TYPE_MAX = 9,
	TAG_LONG_SIZE = 270, /* in the signature */
	TAG_SIZE = 1000,
	TAG_MD5 = 1004,
	TAG_NAME = 1000, /* in the header */
	TAG_VERSION = 1001,
	TAG_RELEASE = 1002,
	TAG_BUILD_TIME = 1006,
};

struct rpm_section {
	uint64_t at, store, end;
	uint32_t count;
};

/* Reads the intro of the section at `at`: false when there is none. */
static bool read_section(struct view *view, uint64_t at, struct rpm_section *section)
{
	const uint8_t *p = view_peek(view, at, INTRO_LEN);
	uint32_t store_len;

	if (!p || be32(p) != 0x8eade801 || be32(p + 4) != 0)
		return false;
	section->at = at;
	section->count = be32(p + 8);
	store_len = be32(p + 12);
	if (!section->count || section->count > ENTRIES_MAX || store_len > STORE_MAX_LEN)
		return false;
	section->store = at + INTRO_LEN + (uint64_t)section->count * ENTRY_LEN;
	section->end = section->store + store_len;
	return true;
}

/* Whether all entries have possible types, and offsets inside the store. */
static bool entries_fit(struct view *view, const struct rpm_section *section)
{
	for (uint64_t at = section->at + INTRO_LEN; at < section->store; at += ENTRY_LEN) {
		const uint8_t *p = view_peek(view, at, ENTRY_LEN);

		if (!p || be32(p + 4) > TYPE_MAX || be32(p + 8) > section->end - section->store)
			return false;
	}
	return true;
}

/* The offset of the value of this tag and type in the store; 0: not there. */
static uint64_t find_value(
	struct view *view, const struct rpm_section *section, uint32_t tag, uint32_t type)
{
	for (uint64_t at = section->at + INTRO_LEN; at < section->store; at += ENTRY_LEN) {
		const uint8_t *p = view_peek(view, at, ENTRY_LEN);

		if (p && be32(p) == tag && be32(p + 4) == type)
			return section->store + be32(p + 8);
	}
	return 0;
}

/* The length of header and payload, or 0. */
static uint64_t read_size(struct view *view, const struct rpm_section *signature)
{
	uint64_t at = find_value(view, signature, TAG_LONG_SIZE, TYPE_INT64);
	const uint8_t *p = at ? view_peek(view, at, 8) : NULL;

	if (p)
		return be64(p);
	at = find_value(view, signature, TAG_SIZE, TYPE_INT32);
	p = at ? view_peek(view, at, 4) : NULL;
	return p ? be32(p) : 0;
}

/* Whether the MD5 in the signature, if it has one, is that of header and payload, [start, end). */
static bool sum_matches(
	struct view *view, const struct rpm_section *signature, uint64_t start, uint64_t end)
{
	uint64_t at = find_value(view, signature, TAG_MD5, TYPE_BYTES);
	const uint8_t *p = at ? view_peek(view, at, MD5_LEN) : NULL;
	uint8_t want[MD5_LEN], digest[MD5_LEN];
	struct md5 md5;

	if (!p)
		return true;
	memcpy(want, p, MD5_LEN);
	md5_start(&md5);
	if (!md5_add_view(&md5, view, start, end))
		return false;
	md5_end(&md5, digest);
	return memcmp(digest, want, MD5_LEN) == 0;
}

static void add_text(struct view *view, const struct rpm_section *header, uint32_t tag,
	const char *before, char *title, size_t size)
{
	uint64_t at = find_value(view, header, tag, TYPE_STRING);
	size_t used = strlen(title), room = size - used;
	uint64_t left = at && at < header->end ? header->end - at : 0;
	const char *p = (const char *)view_peek(view, at, left < room ? (size_t)left : room);

	if (p && left)
		snprintf(title + used, room, "%s%.*s", before, (int)(left < room ? left : room), p);
}

static void describe(struct view *view, const struct rpm_section *header, struct finding *finding)
{
	uint64_t at = find_value(view, header, TAG_BUILD_TIME, TYPE_INT32);
	const uint8_t *p = at ? view_peek(view, at, 4) : NULL;

	finding->time = p ? be32(p) : 0;
	add_text(view, header, TAG_NAME, "", finding->title, sizeof(finding->title));
	add_text(view, header, TAG_VERSION, "-", finding->title, sizeof(finding->title));
	add_text(view, header, TAG_RELEASE, "-", finding->title, sizeof(finding->title));
}

static bool payload_format(struct view *view, uint64_t at, enum compressed_format *format)
{
	const uint8_t *p = view_peek(view, at, 6);

	if (p && p[0] == 0x1f && p[1] == 0x8b)
		*format = COMPRESSED_GZIP;
	else if (p && memcmp(p, "BZh", 3) == 0)
		*format = COMPRESSED_BZIP2;
	else if (p && memcmp(p, "\xfd\x37zXZ", 6) == 0)
		*format = COMPRESSED_XZ;
	else if (p && be32(p) == 0x28b52ffd)
		*format = COMPRESSED_ZSTD;
	else if (p && memcmp(p, "\x5d\0\0", 3) == 0)
		*format = COMPRESSED_LZMA;
	else
		return false;
	return true;
}

/* A payload that is not compressed: a cpio archive. */
static bool is_bare(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 5);

	return p && memcmp(p, "07070", 5) == 0;
}

/* The verdict on a payload at header->end; according to the signature the file ends at `end` (0:
 * not known). */
static enum verdict judge_payload(struct view *view, struct finding *finding,
	const struct rpm_section *signature, const struct rpm_section *header, uint64_t end)
{
	uint64_t size = view_size(view), at = header->end;
	enum compressed_format format;
	enum compressed_state state;
	struct compressed stream;

	if (size - at < 6)
		return walk_cut(view, finding, at + 6, view_ends_with_image(view) ? size : at);
	if (!payload_format(view, at, &format)) {
		bool bare = is_bare(view, at) && end > at && end <= size;

		if (bare) {
			describe(view, header, finding);
			view_holds(view, at, end);
		}
		finding->length = bare ? end : header->store;
		return verdict_because(bare ? CARVE_UNVERIFIED : CARVE_TRUNCATED, finding,
			"%s at %" PRIu64, bare ? "the payload is not compressed" : "no payload",
			at);
	}
	describe(view, header, finding);
	view_embedded(view, at);
	state = compressed_walk(view, format, at, end && end < size ? end : size, &stream);
	if (state == COMPRESSED_DONE && (!end || end == stream.end)) {
		finding->length = stream.end;
		if (!sum_matches(view, signature, header->at, stream.end))
			return verdict_because(CARVE_UNVERIFIED, finding,
				"another MD5 of the header and the payload, up to %" PRIu64
				", than the signature has",
				stream.end);
		return CARVE_COMPLETE;
	}
	if (state == COMPRESSED_DONE && end > size)
		state = COMPRESSED_CUT;
	finding->length = stream.end;
	if (state == COMPRESSED_DONE || state == COMPRESSED_REFUSED)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the payload ends at %" PRIu64 ", but at %" PRIu64
			" according to the signature",
			stream.end, end);
	finding->length = walk_before_fill(view, at, stream.end);
	if (state == COMPRESSED_CUT && (!end || end > size))
		return walk_cut(view, finding, size + 1, finding->length);
	return verdict_because(
		CARVE_TRUNCATED, finding, "the payload is invalid at %" PRIu64, stream.end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, LEAD_LEN);
	struct rpm_section signature, header;
	uint64_t len, size = view_size(view);
	bool found;

	if (!p || be32(p) != 0xedabeedb || p[4] < 3 || p[4] > 4 || be16(p + 6) > 1)
		return verdict_because(CARVE_REJECT, finding, "no lead at 0");
	if (!read_section(view, LEAD_LEN, &signature) || !entries_fit(view, &signature))
		return verdict_because(CARVE_REJECT, finding, "no signature at %d", LEAD_LEN);
	signature.end = (signature.end + 7) & ~(uint64_t)7;
	found = read_section(view, signature.end, &header);
	if (!found && size < signature.end + INTRO_LEN)
		return walk_cut(view, finding, signature.end + INTRO_LEN, size);
	if (!found || (header.store <= size && !entries_fit(view, &header))) {
		finding->length = signature.end;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no header at %" PRIu64, signature.end);
	}
	if (header.end > size)
		return walk_cut(view, finding, header.end,
			view_ends_with_image(view) ? size : signature.end);
	len = read_size(view, &signature);
	if (len && len < header.end - header.at) {
		finding->length = header.end;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the length in the signature is less than the header, which ends at "
			"%" PRIu64,
			header.end);
	}
	return judge_payload(view, finding, &signature, &header, len ? signature.end + len : 0);
}

const struct carver rpm_carver = {
	.name = "rpm",
	.summary = "RPM packages, by their headers and by decompressing the payload",
	.check = check,
};
