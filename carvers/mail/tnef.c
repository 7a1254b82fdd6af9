/*
 * TNEF, what Outlook sends as winmail.dat ([MS-OXTNEF]).
 *
 *	file:      78 9F 3E 22, a key (2 bytes; 0 is not allowed, but written), attributes
 *	attribute: level (1: of the message, 2: of an attachment), id (4 bytes: number and type),
 *	           length (4 bytes), data, the sum of the data's bytes (2 bytes)
 *
 * All is little-endian. The attributes are walked and their sums checked. Their number is not
 * stored: the file ends where none follows, and is unverified. It is truncated at an attribute
 * whose sum is wrong and that none follows, or that is not all there. The subject is the title.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "embedded.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 6
#define ATTRIBUTE_HEAD_LEN 9
#define ATTRIBUTE_MAX (1u << 30)

enum { SUBJECT = 0x00018004, ATTACHMENT_DATA = 0x0006800f };

/* Whether an attribute begins at p: its level, an existing type, a MAPI number or one of the few below
 * ([MS-OXTNEF] 2.1.3.2: owner, sender, class of the original message). */
static bool is_attribute(const uint8_t *p)
{
	return (p[0] == 1 || p[0] == 2) && le16(p + 3) <= 9 && (p[2] & 0x80 || le16(p + 1) <= 9) &&
	       le32(p + 5) <= ATTRIBUTE_MAX;
}

static bool attribute_at(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, ATTRIBUTE_HEAD_LEN);

	return p && is_attribute(p);
}

/* Whether the bytes in [at, end) have the sum that follows them. */
static bool sum_matches(struct view *view, uint64_t at, uint64_t end)
{
	uint16_t sum = 0;
	const uint8_t *p;
	size_t len;

	for (; at < end; at += len) {
		p = walk_window(view, at, end, &len);
		if (!p)
			return false;
		for (size_t i = 0; i < len; i++)
			sum = (uint16_t)(sum + p[i]);
	}
	p = view_peek(view, end, 2);
	return p && le16(p) == sum;
}

static void read_subject(struct view *view, struct finding *finding, uint64_t at, uint32_t len)
{
	const uint8_t *p = len && len < 4096 ? view_peek(view, at, len) : NULL;

	if (p && !finding->title[0])
		finding_set_title(finding, p, strnlen((const char *)p, len));
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t at = HEAD_LEN, size = view_size(view);
	uint64_t wrong_at = 0;
	unsigned count = 0;

	if (!p || le32(p) != 0x223e9f78)
		return verdict_because(CARVE_REJECT, finding, "no signature at 0");
	for (;; count++) {
		uint64_t data = at + ATTRIBUTE_HEAD_LEN, end;
		uint32_t id, len;

		p = view_peek(view, at, ATTRIBUTE_HEAD_LEN);
		if (!p || !is_attribute(p))
			break;
		id = le32(p + 1);
		len = le32(p + 5);
		end = data + len;
		if (count && end + 2 > size)
			return walk_cut(
				view, finding, end + 2, view_ends_with_image(view) ? size : at);
		if (!sum_matches(view, data, end) && count && attribute_at(view, end + 2))
			wrong_at = wrong_at ? wrong_at : at; /* and the walk goes on */
		else if (!sum_matches(view, data, end)) {
			finding->length = count ? at : 0;
			return verdict_because(count ? CARVE_TRUNCATED : CARVE_REJECT, finding,
				"wrong checksum of the attribute at %" PRIu64, at);
		}
		if (id == SUBJECT)
			read_subject(view, finding, data, len);
		if (id == ATTACHMENT_DATA || len > EMBEDDED_SEARCH_LEN)
			embedded_find_all(view, data, end);
		at = end + 2;
	}
	if (!count)
		return verdict_because(CARVE_REJECT, finding, "no attribute at %d", HEAD_LEN);
	finding->length = at;
	if (wrong_at)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"wrong checksum of the attribute at %" PRIu64, wrong_at);
	return walk_uncounted(view, finding, at, at, 0, "attribute");
}

const struct carver tnef_carver = {
	.name = "tnef",
	.summary = "Outlook's winmail.dat (TNEF), by its attributes and their sums",
	.check = check,
};
