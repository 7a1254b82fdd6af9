/*
 * KeePass databases, versions 1 to 4 (keepass.info, KDBX File Format Specification).
 *
 *	head:    03 D9 A2 9A 67 FB 4B B5, version (minor, major), fields
 *	field: type (1 byte), length (version 4: 4 bytes, 2 and 3: 2), data; type 0 is the last one
 *	version 4: SHA-256 and HMAC of the head (32 bytes each), blocks
 *	block:   HMAC (32 bytes), length (4 bytes), data; one without data is the last one
 *	versions 2 and 3: encrypted bytes
 *	version 1: 65 instead of 67 in the magic, a head of 124 bytes, encrypted bytes
 *
 * Everything is little-endian. The fields that decryption needs have to be there with the right
 * lengths. The blocks of version 4 lead to the end, unless other bytes replaced them: HMACs and encrypted bytes look
 * random. The other versions do not store it: the file ends where random bytes do, and is unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "noise.h"
#include "walk.h"

#define HEAD_LEN 12
#define FIELD_MAX_LEN 65536
#define FIELDS_MAX 64
#define BLOCK_MAX_LEN (1u << 28)
#define HASHES_LEN 64
#define HMAC_LEN 32
#define HMAC_ZEROS_MAX 7 /* by chance one of 10^12 has more */
#define OLD_HEAD_LEN 124

enum kdbx_field {
	FIELD_END = 0,
	FIELD_CIPHER = 2,
	FIELD_COMPRESSION = 3,
	FIELD_SEED = 4,
	FIELD_IV = 7
};

/* Whether the field has a length that its type allows. */
static bool valid_field(unsigned kind, uint32_t len)
{
	switch (kind) {
	case FIELD_END:
		return len <= 4;
	case FIELD_CIPHER:
		return len == 16;
	case FIELD_COMPRESSION:
		return len == 4;
	case FIELD_SEED:
		return len == 32;
	case FIELD_IV:
		return len == 16 || len == 12 || len == 8;
	default:
		return kind <= 12 && len <= FIELD_MAX_LEN;
	}
}

/* The end of the head's fields; 0 when they are invalid, with *at where. */
static uint64_t walk_fields(struct view *view, unsigned version, uint64_t *at)
{
	const unsigned needed =
		1u << FIELD_CIPHER | 1u << FIELD_COMPRESSION | 1u << FIELD_SEED | 1u << FIELD_IV;
	unsigned head = version == 4 ? 5 : 3, seen = 0;

	*at = HEAD_LEN;
	for (int i = 0; i < FIELDS_MAX; i++) {
		const uint8_t *p = view_peek(view, *at, head);
		uint32_t len = !p ? 0 : version == 4 ? le32(p + 1) : le16(p + 1);

		if (!p || !valid_field(p[0], len))
			return 0;
		seen |= 1u << p[0];
		*at += head + len;
		if (p[0] == FIELD_END)
			return (seen & needed) == needed ? *at : 0;
	}
	return 0;
}

static bool like_hmac(const uint8_t *p)
{
	int zeros = 0;

	for (int i = 0; i < HMAC_LEN; i++)
		zeros += !p[i];
	return zeros <= HMAC_ZEROS_MAX;
}

/* Sets the length, and the verdict, where blocks [start, end) are not all encrypted; else false. */
static bool is_replaced(struct view *view, struct finding *finding, uint64_t start, uint64_t end,
	enum verdict *verdict)
{
	finding->length = plain_start(view, start, end);
	if (finding->length == end)
		return false;
	*verdict = verdict_because(CARVE_TRUNCATED, finding,
		"bytes at %" PRIu64 " are not encrypted", finding->length);
	return true;
}

/* The verdict on a block at `at`, of `len` bytes, that is not one. */
static enum verdict judge_wrong(
	struct view *view, struct finding *finding, uint64_t start, uint64_t at, uint32_t len)
{
	enum verdict verdict;

	if (is_replaced(view, finding, start, at, &verdict))
		return verdict;
	if (len > BLOCK_MAX_LEN)
		return verdict_because(CARVE_TRUNCATED, finding,
			"a block of %" PRIu32 " bytes at %" PRIu64, len, at);
	return verdict_because(CARVE_TRUNCATED, finding, "no HMAC of a block at %" PRIu64, at);
}

static enum verdict walk_blocks(struct view *view, struct finding *finding, uint64_t at)
{
	uint64_t size = view_size(view), start = at;
	enum verdict verdict;

	for (;;) {
		const uint8_t *p = view_peek(view, at, HMAC_LEN + 4);
		uint32_t len = p ? le32(p + HMAC_LEN) : 0;
		uint64_t end = at + HMAC_LEN + 4 + len;

		if (p && (len > BLOCK_MAX_LEN || !like_hmac(p)))
			return judge_wrong(view, finding, start, at, len);
		if (!p || end > size)
			return walk_cut(view, finding, end,
				view_ends_with_image(view) || at > size ? size : at);
		at = end;
		if (len == 0)
			return is_replaced(view, finding, start, at, &verdict) ? verdict
									       : CARVE_COMPLETE;
	}
}

/* The file continues up to bytes that do not look encrypted. */
static enum verdict walk_encrypted(struct view *view, struct finding *finding, uint64_t at)
{
	uint64_t size = view_size(view);

	if (at >= size)
		return walk_cut(view, finding, at + 1, size);
	finding->length = plain_start(view, at, size);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the end of the encrypted bytes from %" PRIu64 " on is not stored", at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 16);
	unsigned version = p ? le16(p + 10) : 0;
	uint64_t at, end;

	if (p && le32(p) == 0x9aa2d903 && le32(p + 4) == 0xb54bfb65 && le32(p + 12) >> 8 == 0x300)
		return walk_encrypted(view, finding, OLD_HEAD_LEN);
	if (!p || le32(p) != 0x9aa2d903 || le32(p + 4) != 0xb54bfb67 || version < 2 || version > 4)
		return verdict_because(CARVE_REJECT, finding, "no signature and version at 0");
	end = walk_fields(view, version, &at);
	if (!end)
		return verdict_because(
			CARVE_REJECT, finding, "an impossible field of the head at %" PRIu64, at);
	if (version < 4)
		return walk_encrypted(view, finding, end);
	return walk_blocks(view, finding, end + HASHES_LEN);
}

const struct carver kdbx_carver = {
	.name = "kdbx",
	.summary = "KeePass databases, by the fields of their head and the blocks of version 4",
	.check = check,
};
