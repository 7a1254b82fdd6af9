/*
 * What belongs together in a message ([MS-OXMSG]). Each storage has a list of its properties (2.4): for those that are streams of
 * their own, whose names have the properties' numbers and types, it has their lengths, strings' with the zero that a stream does
 * not have. Small streams' last bytes are followed by zeros up to the end of their sector.
 */
#include "ole_pages.h"

#include <string.h>

#include "bytes.h"
#include "walk.h"

#define PROPERTY_LEN 16
#define SHORT 16       /* bytes of a stream: many are as long */
#define LENGTHS_MAX 64 /* different ones of a storage that count */
#define UNLIKE_MAX 8   /* one of so many lengths may not agree, as some programs write them */
#define FILLED_MIN 12  /* zeros after the end of a small stream */
#define CONTENT_MAX ((uint64_t)1 << 20)

enum {
	TYPE_STRING = 0x1e,
	TYPE_WIDE = 0x1f,
	TYPE_TIME = 0x40,
	TYPE_BINARY = 0x102,
	LENGTH_BITS = 4, /* of a stream that is as long as the list says, */
	END_BITS = 3,    /* and of one that ends where the directory says */
};

struct message {
	struct ole_pages *pages;
	const struct ole_entry *entries;
	uint32_t count;
	struct view *view;
};

static int digit(uint16_t letter)
{
	return letter >= '0' && letter <= '9'   ? letter - '0'
	       : letter >= 'A' && letter <= 'F' ? letter - 'A' + 10
						: -1;
}

/* The property whose stream this is: its number and type; 0: it is none. */
static uint32_t property_of(const struct ole_entry *entry)
{
	static const char start[] = "__substg1.0_";
	uint32_t tag = 0;

	if (entry->type != OLE_STREAM || !ole_starts_with(entry, start) ||
		entry->name[sizeof(start) - 1 + 8])
		return 0;
	for (int i = 0; i < 8; i++) {
		int value = digit(entry->name[sizeof(start) - 1 + i]);

		if (value < 0)
			return 0;
		tag = tag << 4 | (uint32_t)value;
	}
	return tag;
}

static bool is_text(uint32_t tag)
{
	return (tag & 0xffff) == TYPE_STRING || (tag & 0xffff) == TYPE_WIDE;
}

/* The storage's stream of a property; OLE_FREE: it has none. */
static uint32_t find_property(const struct message *message, uint32_t first, uint32_t tag)
{
	struct ole_children children;
	uint32_t i;

	ole_children_begin(&children, message->entries, message->count, first);
	while ((i = ole_children_next(&children)) != OLE_FREE && view_work(message->view, 4))
		if (property_of(&message->entries[i]) == tag)
			return i;
	return OLE_FREE;
}

static bool agrees(const struct ole_entry *entry, uint32_t tag, uint32_t len)
{
	return len == entry->len + ((tag & 0xffff) == TYPE_STRING        ? 1
					   : (tag & 0xffff) == TYPE_WIDE ? 2
									 : 0);
}

/* Looks at the lengths that a list has of streams: how many, and how many of these do not agree. `links`: links those that do,
 * each length once. */
static unsigned compare_lengths(struct message *message, uint32_t first,
	const struct ole_flat *list, bool links, unsigned *all)
{
	uint64_t known[LENGTHS_MAX];
	unsigned known_count = 0, unlike = 0;

	*all = 0;
	for (uint32_t at = list->len % PROPERTY_LEN; at + PROPERTY_LEN <= list->len;
		at += PROPERTY_LEN) {
		uint32_t tag = le32(list->bytes + at), i;
		const struct ole_entry *entry;
		bool is_known = false;

		if (!is_text(tag) && (tag & 0xffff) != TYPE_BINARY)
			continue;
		i = find_property(message, first, tag);
		if (i == OLE_FREE)
			continue;
		++*all;
		entry = &message->entries[i];
		for (unsigned k = 0; k < known_count; k++)
			is_known |= known[k] == entry->len;
		if (!agrees(entry, tag, le32(list->bytes + at + 8))) {
			unlike++;
		} else if (links && entry->len > SHORT && !is_known && known_count < LENGTHS_MAX) {
			known[known_count++] = entry->len;
			ole_link_page(list, at, ole_page_of_entry(message->pages, i), LENGTH_BITS);
		}
	}
	return unlike;
}

/* When the message was written, sent and received. */
static void note_times(struct message *message, const struct ole_flat *list)
{
	for (uint32_t at = list->len % PROPERTY_LEN; at + PROPERTY_LEN <= list->len;
		at += PROPERTY_LEN)
		if (le16(list->bytes + at) == TYPE_TIME)
			ole_note_time(message->pages, le64(list->bytes + at + 8));
}

static void link_storage(struct message *message, uint32_t first)
{
	uint32_t i =
		ole_find_child(message->entries, message->count, first, "__properties_version1.0");
	struct ole_flat list;
	unsigned all;

	if (i == OLE_FREE || !ole_flatten(message->pages, i, &list))
		return;
	note_times(message, &list);
	if (compare_lengths(message, first, &list, false, &all) <= all / UNLIKE_MAX)
		compare_lengths(message, first, &list, true, &all);
	ole_drop_flat(&list);
}

/* A stream of text ends where the directory says: after its last character are zeros, and nothing else. */
static void link_end(struct message *message, uint32_t i, const struct ole_flat *flat)
{
	uint32_t part = 1u << flat->shift, end = (flat->len + part - 1) / part * part;

	if (end - flat->len < FILLED_MIN ||
		(!flat->bytes[flat->len - 1] && (flat->len < 2 || !flat->bytes[flat->len - 2])))
		return;
	for (uint32_t at = flat->len; at < end; at++)
		if (flat->bytes[at])
			return;
	ole_link_page(flat, flat->len - 1, ole_page_of_entry(message->pages, i), END_BITS);
}

static void look_at_property(struct message *message, uint32_t i)
{
	struct ole_flat flat;

	if (!is_text(property_of(&message->entries[i])) || message->entries[i].len > CONTENT_MAX ||
		!ole_flatten(message->pages, i, &flat))
		return;
	if (flat.len > SHORT)
		link_end(message, i, &flat);
	ole_note_text(&flat, 0, flat.len);
	ole_drop_flat(&flat);
}

void ole_link_message(struct ole_pages *pages)
{
	struct message message = { .pages = pages, .view = ole_pages_view(pages) };

	message.entries = ole_pages_entries(pages, &message.count);
	for (uint32_t i = 0; i < message.count && view_work(message.view, 1); i++) {
		const struct ole_entry *entry = &message.entries[i];

		if (entry->type == OLE_STORAGE || entry->type == OLE_ROOT)
			link_storage(&message, entry->child);
		if (property_of(entry))
			look_at_property(&message, i);
	}
}
