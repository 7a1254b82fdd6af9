/*
 * Qt's compiled translations (QTranslator, lrelease).
 *
 *	file:    16 bytes of signature, sections
 *	section: kind (1: 2F contexts, 42 hashes, 69 messages, 88 rules of plurals, 96 other files, A7 language), length
 *	         (4, big-endian), data
 *	hashes:  for each message a hash and its place among the messages (4 each), sorted
 *
 * The number of sections is not stored, nor does anything verify texts: the file ends where no other section follows, and is
 * unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "embedded.h"
#include "walk.h"

#define SIGNATURE "\x3c\xb8\x64\x18\xca\xef\x9c\x95\xcd\x21\x1c\xbf\x60\xa1\xbd\xdd"
#define SIGNATURE_LEN 16
#define SECTION_HEAD_LEN 5
#define HASH_LEN 8

enum {
	CONTEXTS = 0x2f,
	HASHES = 0x42,
	MESSAGES = 0x69,
	RULES = 0x88,
	FILES = 0x96,
	LANGUAGE = 0xa7
};

static int section_index(uint8_t kind)
{
	static const uint8_t kinds[] = { CONTEXTS, HASHES, MESSAGES, RULES, FILES, LANGUAGE };
	const uint8_t *found = memchr(kinds, kind, sizeof(kinds));

	return found ? (int)(found - kinds) : -1;
}

/* Whether the hashes in [at, end) are sorted. */
static bool hashes_sorted(struct view *view, uint64_t at, uint64_t end)
{
	uint32_t before = 0;

	for (; end - at >= HASH_LEN; at += HASH_LEN) {
		const uint8_t *p = view_peek(view, at, HASH_LEN);

		if (!p || be32(p) < before)
			return false;
		before = be32(p);
	}
	return at == end;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, SIGNATURE_LEN);
	uint64_t at = SIGNATURE_LEN, end, size = view_size(view);
	unsigned seen = 0;
	uint8_t kind;
	int index;

	if (!p || memcmp(p, SIGNATURE, SIGNATURE_LEN) != 0)
		return verdict_because(CARVE_REJECT, finding, "no signature at 0");
	for (; (p = view_peek(view, at, SECTION_HEAD_LEN)); at = end) {
		kind = *p;
		index = section_index(kind);
		if (index < 0 || seen >> index & 1)
			break;
		end = at + SECTION_HEAD_LEN + be32(p + 1);
		if (kind == HASHES && end <= size &&
			!hashes_sorted(view, at + SECTION_HEAD_LEN, end)) {
			finding->length = at;
			return verdict_because(
				CARVE_TRUNCATED, finding, "hashes out of order at %" PRIu64, at);
		}
		if (kind == MESSAGES)
			embedded_find_all(view, at + SECTION_HEAD_LEN, end < size ? end : size);
		if (end > size && seen)
			return walk_cut(view, finding, end, view_ends_with_image(view) ? size : at);
		if (end > size)
			break;
		seen |= 1u << index;
	}
	if (!(seen & 1u << section_index(MESSAGES)) && !(seen & 1u << section_index(FILES)))
		return verdict_because(CARVE_REJECT, finding, "no messages up to %" PRIu64, at);
	return walk_uncounted(view, finding, 0, at, 0, "section");
}

const struct carver qm_carver = {
	.name = "qm",
	.summary = "Qt's compiled translations, by their sections",
	.check = check,
};
