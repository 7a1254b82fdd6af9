/*
 * Windows' custom jump lists (customDestinations-ms).
 *
 *	file:     2, number of categories, 0 (4 bytes each, little-endian); categories
 *	category: kind (4): 0: length of its name (2), name in UTF-16, number of entries (4), entries; 1: a known
 *	          list (4); 2: number of entries (4), entries; then the mark AB FB BF BA
 *	entry:    the class ID of links, a link
 *
 * Links do not give their length here, so that an entry ends where the next one, or the mark, begins. Entries and marks
 * are counted: with as many as are stated the file is complete.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "walk.h"

#define HEAD_LEN 12
#define CATEGORIES_MAX 64
#define ENTRIES_MAX 1024
#define LINK_MAX 65536 /* bytes of an entry */
#define CLASS_LEN 16
#define ENTRY_MIN (CLASS_LEN + 76)

static const uint8_t mark[4] = { 0xab, 0xfb, 0xbf, 0xba };
static const uint8_t class_id[CLASS_LEN] = { 1, 0x14, 2, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0,
	0x46 };

struct list {
	struct view *view;
	uint64_t at;
	bool cut; /* the view ends */
};

static bool is_link(const uint8_t *p)
{
	return memcmp(p, class_id, CLASS_LEN) == 0 && le32(p + CLASS_LEN) == 0x4c &&
	       memcmp(p + CLASS_LEN + 4, class_id, 4) == 0;
}

/* Where in the len bytes at p, an entry and what follows, the next entry begins, or the mark; 0 if neither does. */
static size_t entry_len(const uint8_t *p, size_t len, bool next)
{
	size_t last = next ? 2 * CLASS_LEN + 8 : sizeof(mark);

	for (size_t i = ENTRY_MIN; i + last <= len; i++)
		if (next ? is_link(p + i) : memcmp(p + i, mark, sizeof(mark)) == 0)
			return i;
	return 0;
}

/* Moves past the entry at list->at: to the next one if there is to be one, or to the mark. Most are short. */
static bool skip_entry(struct list *list, bool next)
{
	uint64_t rest = view_size(list->view) - list->at;
	size_t found = 0;

	list->cut = rest < LINK_MAX;
	for (size_t max = LINK_MAX / 16; !found && max <= LINK_MAX; max *= 16) {
		size_t len = rest < max ? (size_t)rest : max;
		const uint8_t *p = len >= ENTRY_MIN ? view_peek(list->view, list->at, len) : NULL;

		if (!p || !is_link(p))
			return false;
		found = entry_len(p, len, next);
	}
	if (!found)
		return false;
	view_embedded(list->view, list->at + CLASS_LEN);
	list->at += found;
	return true;
}

/* Moves past the category at list->at. */
static bool skip_category(struct list *list)
{
	const uint8_t *p = view_peek(list->view, list->at, 8);
	uint32_t kind = p ? le32(p) : 3, count = p ? le32(p + 4) : 0;

	list->cut = !p;
	if (kind > 2)
		return false;
	list->at += 8;
	if (kind == 0) {
		list->at += 2 * (uint64_t)le16(p + 4) - 2;
		p = view_peek(list->view, list->at, 4);
		list->cut = !p;
		count = p ? le32(p) : ENTRIES_MAX + 1;
		list->at += 4;
	}
	if (kind != 1 && count > ENTRIES_MAX)
		return false;
	for (uint32_t i = 0; kind != 1 && i < count; i++)
		if (!skip_entry(list, i + 1 < count))
			return false;
	p = view_peek(list->view, list->at, 4);
	list->cut = !p;
	if (!p || memcmp(p, mark, 4) != 0)
		return false;
	list->at += 4;
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct list list = { .view = view, .at = HEAD_LEN };
	const uint8_t *p = view_peek(view, 0, HEAD_LEN + 4);
	uint32_t count = p ? le32(p + 4) : 0;

	if (!p || le32(p) != 2 || !count || count > CATEGORIES_MAX || le32(p + 8))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	for (uint32_t i = 0; i < count; i++) {
		if (skip_category(&list))
			continue;
		if (list.at < HEAD_LEN + 2 * CLASS_LEN)
			return verdict_because(
				CARVE_REJECT, finding, "no category at %d", HEAD_LEN);
		finding->length = list.at;
		return list.cut ? walk_cut(view, finding, view_size(view) + 1, view_size(view))
				: verdict_because(CARVE_TRUNCATED, finding,
					  "no entry or end of category %" PRIu32 " at %" PRIu64,
					  i + 1, list.at);
	}
	view_unverified(view, HEAD_LEN, list.at - 4);
	finding->length = list.at;
	return CARVE_COMPLETE;
}

const struct carver jumplist_carver = {
	.name = "jumplist",
	.summary = "Windows' custom jump lists, by their categories and entries",
	.check = check,
};
