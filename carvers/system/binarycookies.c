/*
 * Cookies of Safari and other programs on Apple's systems, Cookies.binarycookies (as reverse
 * engineered; Apple has published nothing).
 *
 *	file:   'cook', number of pages, a length for each (big-endian), pages, a checksum, 07 17 20
 *	        05, length of a property list, the list
 *	page:   00 00 01 00, number of cookies, an offset for each (little-endian), 0, cookies
 *	cookie: its length, ...
 *
 * burin checks all lengths and offsets and the mark after the pages. The list, of 75 bytes in all
 * files seen, may be missing, and its length with it, as on iOS.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define PAGES_MAX 65536
#define COOKIES_MAX 65536
#define TRAILER_LEN 12
#define MARK_END 8
#define LIST_MIN 42

/* Checks the page at `at`, of len bytes: its cookies lie inside it. */
static bool check_page(struct view *view, uint64_t at, uint32_t len)
{
	const uint8_t *p = len >= 16 ? view_peek(view, at, 8) : NULL;
	uint32_t count;

	if (!p || be32(p) != 0x100)
		return false;
	count = le32(p + 4);
	if (count > COOKIES_MAX || 12 + 4 * count > len)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t offset, cookie_len;

		p = view_peek(view, at + 8 + 4 * i, 4);
		offset = p ? le32(p) : 0;
		if (offset < 12 + 4 * count || offset > len - 4)
			return false;
		p = view_peek(view, at + offset, 4);
		cookie_len = p ? le32(p) : 0;
		if (cookie_len < 48 || cookie_len > len - offset)
			return false;
	}
	return true;
}

/* The end of the property list whose length the trailer at `at` has; the end of the mark if there is no list. */
static uint64_t list_end(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, TRAILER_LEN + 6);

	if (!p || memcmp(p + TRAILER_LEN, "bplist", 6) != 0 || be32(p + 8) < LIST_MIN)
		return at + MARK_END;
	return at + TRAILER_LEN + be32(p + 8);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 8);
	uint32_t count = p ? be32(p + 4) : 0;
	uint64_t at = 8 + 4 * (uint64_t)count, end;

	if (!p || memcmp(p, "cook", 4) != 0 || count == 0 || count > PAGES_MAX)
		return verdict_because(CARVE_REJECT, finding, "no header");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t len;

		p = view_peek(view, 8 + 4 * (uint64_t)i, 4);
		len = p ? be32(p) : 0;
		if (p && check_page(view, at, len) && len <= view_size(view) - at) {
			at += len;
			continue;
		}
		if (i == 0)
			return verdict_because(CARVE_REJECT, finding, "no page after the header");
		if (len > view_size(view) - at)
			return walk_cut(view, finding, at + len,
				view_ends_with_image(view) ? view_size(view) : at);
		finding->length = at;
		return verdict_because(CARVE_TRUNCATED, finding, "no page at %" PRIu64, at);
	}
	p = view_peek(view, at, MARK_END);
	finding->length = at;
	if (!p)
		return walk_cut(view, finding, at + MARK_END, at);
	if (be32(p + 4) != 0x07172005)
		return verdict_because(
			CARVE_TRUNCATED, finding, "no mark after the pages, at %" PRIu64, at);
	end = list_end(view, at);
	if (end > view_size(view))
		return walk_cut(view, finding, end, at + MARK_END);
	finding->length = end;
	return CARVE_COMPLETE;
}

const struct carver binarycookies_carver = {
	.name = "binarycookies",
	.summary = "Cookies of Safari, by their pages",
	.check = check,
};
