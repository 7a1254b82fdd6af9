/* The directory of a compound file ([MS-CFB] 2.6). */
#include "ole.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"

#define MIN_TAIL 8
#define MIN_FILL 16  /* identical bytes after a stream's end that show that it ends there */
#define NEAR_FILL 16 /* bytes before them, of which one differs: data often end with a few zeros */

static uint32_t per_sector(const struct ole *ole)
{
	return (1u << ole->shift) / OLE_ENTRY_LEN;
}

static bool is_possible_link(uint32_t link)
{
	return link <= OLE_LAST_SECTOR || link == OLE_FREE;
}

bool ole_parse_entry(unsigned shift, const uint8_t *p, struct ole_entry *entry)
{
	unsigned name_len = le16(p + 64);

	memset(entry, 0, sizeof(*entry));
	entry->type = p[66];
	if (entry->type == 0)
		return true;
	if (entry->type > OLE_ROOT || entry->type == 3 || entry->type == 4 || name_len > 64 ||
		name_len % 2)
		return false;
	for (unsigned i = 0; i + 2 < name_len; i += 2)
		entry->name[i / 2] = le16(p + i);
	entry->left = le32(p + 68);
	entry->right = le32(p + 72);
	entry->child = le32(p + 76);
	if (!is_possible_link(entry->left) || !is_possible_link(entry->right) ||
		!is_possible_link(entry->child))
		return false;
	memcpy(entry->class_id, p + 80, 16);
	entry->modified = filetime_seconds(le64(p + 108));
	entry->start = le32(p + 116);
	/* In version 3 the upper half may be anything. */
	entry->len = shift == 9 ? le32(p + 120) : le64(p + 120);
	return true;
}

/* Whether the entry at p is 0xFF throughout, but the first of its sector is not: some writers fill up the directory's last
 * sector with that. A whole sector of it is no writer's. */
static bool is_filler(struct ole *ole, uint64_t sector_at, const uint8_t *p)
{
	if (p[0] != 0xff || memcmp(p, p + 1, OLE_ENTRY_LEN - 1) != 0)
		return false;
	p = view_peek(ole->view, sector_at, OLE_ENTRY_LEN);
	return p && p[66] != 0xff;
}

bool ole_read_entry(struct ole *ole, uint32_t i, struct ole_entry *entry)
{
	uint32_t sector = ole->directory_start;
	uint64_t sector_at;
	const uint8_t *p;

	if (i / per_sector(ole)) {
		if (i / per_sector(ole) >= ole->directory_count)
			return false;
		sector = ole->directory[i / per_sector(ole)];
	}
	sector_at = ole_sector_at(ole, sector);
	p = view_peek(ole->view, sector_at + i % per_sector(ole) * OLE_ENTRY_LEN, OLE_ENTRY_LEN);
	if (!p)
		return false;
	if (ole_parse_entry(ole->shift, p, entry))
		return true;
	memset(entry, 0, sizeof(*entry));
	return is_filler(ole, sector_at, p);
}

bool ole_read_root(struct ole *ole, struct ole_entry *root)
{
	uint64_t at = ole_sector_at(ole, ole->directory_start);

	if (!ole_chain(
		    ole, &ole->fat, ole->directory_start, &ole->directory, &ole->directory_count) ||
		!ole->directory_count)
		return ole_wrong(ole, "the chain of the directory breaks", 48);
	if (at >= view_size(ole->view))
		return ole_wrong(ole, "the directory", at);
	if (!ole_read_entry(ole, 0, root) || root->type != OLE_ROOT)
		return ole_wrong(ole, "no root entry", at);
	ole_confirm(ole, ole_sector_at(ole, ole->directory_start + 1));
	return true;
}

/* Whether identical bytes fill the sector from `used` on, but not from a little before. Another file's sector seldom does
 * that at the same place. */
static bool is_filled_from(const uint8_t *p, size_t used, size_t len)
{
	if (len - used < MIN_FILL || memcmp(p + used, p + used + 1, len - used - 1) != 0)
		return false;
	for (size_t i = used > NEAR_FILL ? used - NEAR_FILL : 0; i < used; i++)
		if (p[i] != p[used])
			return true;
	return false;
}

/* Writers fill up a stream's last sector with identical bytes. If the file's last sector ends in
 * many different ones, or is empty, its stream may have been overwritten. */
static void check_tail(struct ole *ole, const struct ole_entry *entry)
{
	uint64_t at = ole_sector_at(ole, ole->fat.last), len = 1u << ole->shift;
	uint64_t used = entry->len & (len - 1);
	const uint8_t *p = at + len == ole->end ? view_peek(ole->view, at, len) : NULL;
	size_t filled = 0, empty = 0;

	if (p && used && is_filled_from(p, used, len))
		ole->end_filled = true;
	if (!p || entry->name[0] == 5)
		return;
	for (uint64_t i = 0; used && i < len; i++) {
		filled += i >= used && p[i] != 0 && p[i] != 0xff;
		empty += i < used && p[i] == p[0];
	}
	if (used && (empty == used || (len - used >= MIN_TAIL && filled > (len - used) / 4 * 3))) {
		ole->foreign = at + used;
		ole->short_end = empty < used && entry->type == OLE_STREAM;
	}
}

/* The root entry's stream holds the small ones. */
static bool check_mini_stream(struct ole *ole, const struct ole_entry *root)
{
	if (root->len == 0)
		return true;
	if (!ole_chain(ole, &ole->fat, root->start, &ole->mini_stream, &ole->mini_stream_count) ||
		root->len > (uint64_t)ole->mini_stream_count << ole->shift)
		return false;
	check_tail(ole, root);
	return true;
}

static void note_small_end(struct ole *ole, const struct ole_entry *entry)
{
	size_t len = (size_t)1 << OLE_MINI_SHIFT, used = entry->len & (len - 1);
	uint64_t end = ((uint64_t)ole->mini.last << OLE_MINI_SHIFT) + (used ? used : len);

	if (end > ole->small_end)
		ole->small_end = end;
}

/* The small stream that ends last, if that is in the file's last sector. */
static void check_small_end(struct ole *ole)
{
	size_t len = (size_t)1 << ole->shift, used = ole->small_end & (len - 1);
	uint64_t index = ole->small_end >> ole->shift;
	uint64_t at =
		index < ole->mini_stream_count ? ole_sector_at(ole, ole->mini_stream[index]) : 0;
	const uint8_t *p = used && at + len == ole->end ? view_peek(ole->view, at, len) : NULL;

	if (p && is_filled_from(p, used, len))
		ole->end_filled = true;
}

static bool check_stream(struct ole *ole, const struct ole_entry *entry)
{
	bool small = entry->len < ole->cutoff;
	unsigned shift = small ? OLE_MINI_SHIFT : ole->shift;
	struct ole_table *table = small ? &ole->mini : &ole->fat;
	uint64_t want = (entry->len >> shift) + (entry->len & ((1u << shift) - 1) ? 1 : 0);
	uint32_t count;

	if (entry->len == 0)
		return true;
	/* Some writers allocate more than needed. */
	if (want > table->count || !ole_chain(ole, table, entry->start, NULL, &count) ||
		count < want)
		return false;
	if (!small && count == want)
		check_tail(ole, entry);
	if (small)
		note_small_end(ole, entry);
	return true;
}

/* Whether the entries that this one links to are in use: not if a part of the directory was
 * overwritten. */
static bool are_links_used(struct ole *ole, const struct ole_entry *entry)
{
	uint32_t links[] = { entry->left, entry->right, entry->child };
	struct ole_entry other;

	for (int i = 0; i < 3 && entry->type; i++)
		if (links[i] != OLE_FREE && (!ole_read_entry(ole, links[i], &other) || !other.type))
			return false;
	return true;
}

uint32_t ole_entry_count(const struct ole *ole)
{
	return ole->directory_count * per_sector(ole);
}

bool ole_check_directory(struct ole *ole)
{
	struct ole_entry entry;

	for (uint32_t i = 0; i < ole_entry_count(ole); i++) {
		uint64_t sector_at = ole_sector_at(ole, ole->directory[i / per_sector(ole)]);
		uint64_t at = sector_at + i % per_sector(ole) * OLE_ENTRY_LEN;

		if (sector_at >= view_size(ole->view))
			return ole_wrong(ole, "a part of the directory", sector_at);
		if (!ole_read_entry(ole, i, &entry))
			return ole_wrong(ole, "no directory entry", at);
		if (!are_links_used(ole, &entry))
			ole_contradicts(ole, "a link to an unused entry in the entry", at);
		if (i % per_sector(ole) == per_sector(ole) - 1)
			ole_confirm_sector(ole, ole->directory[i / per_sector(ole)]);
		if (entry.type == OLE_ROOT && i == 0 && !check_mini_stream(ole, &entry))
			return ole_contradicts(
				ole, "the chain of the mini stream breaks: entry", at);
		if (entry.type == OLE_STREAM && !check_stream(ole, &entry))
			return ole_contradicts(ole, "a stream's chain breaks: entry", at);
	}
	check_small_end(ole);
	return true;
}

void ole_each_in_root(struct ole *ole, const struct ole_entry *root,
	bool (*visit)(void *context, const struct ole_entry *entry), void *context)
{
	uint32_t count = ole_entry_count(ole), queued = 0;
	uint32_t *queue = malloc(count * sizeof(*queue) + 1);
	uint8_t *seen = calloc(count / 8 + 1, 1);
	struct ole_entry entry = { .left = root->child, .right = OLE_FREE };

	if (!queue || !seen)
		view_no_memory(ole->view);
	/* A tree of siblings; each entry is queued once, so damage cannot make this endless. */
	for (uint32_t done = 0; queue && seen; done++) {
		uint32_t links[] = { entry.left, entry.right };

		for (int i = 0; i < 2; i++) {
			uint32_t link = links[i];

			if (link >= count || seen[link / 8] >> link % 8 & 1)
				continue;
			seen[link / 8] |= (uint8_t)(1 << link % 8);
			queue[queued++] = link;
		}
		if (done == queued)
			break;
		if (!ole_read_entry(ole, queue[done], &entry))
			entry = (struct ole_entry){ .left = OLE_FREE, .right = OLE_FREE };
		else if (!visit(context, &entry))
			break;
	}
	free(queue);
	free(seen);
}

void ole_children_begin(struct ole_children *children, const struct ole_entry *entries,
	uint32_t count, uint32_t first)
{
	*children = (struct ole_children){
		.entries = entries, .count = count, .waiting = { first }, .waiting_count = 1
	};
}

uint32_t ole_children_next(struct ole_children *children)
{
	while (children->waiting_count && children->seen <= children->count) {
		uint32_t i = children->waiting[--children->waiting_count];
		const struct ole_entry *entry;

		if (i >= children->count)
			continue;
		entry = &children->entries[i];
		if (!entry->type)
			continue;
		children->seen++;
		if (children->waiting_count + 2 <= OLE_WAITING_MAX) {
			children->waiting[children->waiting_count++] = entry->left;
			children->waiting[children->waiting_count++] = entry->right;
		}
		return i;
	}
	return OLE_FREE;
}

uint32_t ole_find_child(
	const struct ole_entry *entries, uint32_t count, uint32_t first, const char *name)
{
	struct ole_children children;
	uint32_t i;

	ole_children_begin(&children, entries, count, first);
	while ((i = ole_children_next(&children)) != OLE_FREE)
		if (entries[i].type == OLE_STREAM && ole_named(&entries[i], name))
			break;
	return i;
}
