/*
 * Archives whose members do not follow each other. Build tools, and programs that change an archive in
 * place, leave gaps: padding, members that were replaced or deleted, blocks of their own. Then the
 * directory decides, as it does for every program that unpacks: an archive is complete if each of
 * its entries names a local header with the same name, sizes and CRC, whose data is intact, and none
 * overlaps another. What belongs to no entry is named as unverified.
 *
 * The directory is searched from where the walk over the members had to stop, jumping over data that
 * a local header describes. The bytes between such data that are looked at are never more than those
 * that were passed before, in all: the work stays linear in the length of what is there, and an
 * archive that was cut does not walk over all the others after it. The end record has to give the
 * directory's place exactly.
 */
#include "zip.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "embedded.h"
#include "walk.h"

#define SEARCH_MIN 65536
#define JUMPS_MAX 65536 /* headers of members that are passed */
#define ENTRIES_MAX ((uint64_t)1 << 20)
#define ENTRY_WORK 64 /* units (view_work) to sort one */

/* Whether directory->at has a directory whose end record gives just that place. */
static bool is_directory(struct view *view, struct zip_directory *directory)
{
	return zip_read_directory(view, directory) == ZIP_FOUND && !directory->problem &&
	       directory->shift == 0 && directory->sum.count;
}

/* The end of the data that a local header at `at` describes; 0: it is not a header, or does not say. */
static uint64_t described_end(struct view *view, uint64_t at)
{
	struct zip_member member = { .at = at };
	const char *problem;

	if (zip_read_header(view, &member, &problem) != ZIP_FOUND ||
		member.data_len > view_size(view) - member.data)
		return 0;
	return member.data + member.data_len;
}

bool zip_find_directory(struct view *view, uint64_t from, struct zip_directory *directory)
{
	uint64_t at = from, start = from, budget = from + SEARCH_MIN, end;

	for (unsigned i = 0;
		i < JUMPS_MAX && walk_find_word(view, &at, at + budget, "PK\1\2PK\3\4"); i++) {
		const uint8_t *p = view_peek(view, at, 4);
		uint32_t signature = p ? le32(p) : 0;

		if (!p)
			return false;
		end = 0;
		if (signature == ZIP_CENTRAL && at) {
			*directory = (struct zip_directory){ .at = at };
			if (is_directory(view, directory))
				return true;
			end = directory->end;
		} else if (signature == ZIP_LOCAL) {
			end = described_end(view, at);
		}
		budget -= at - start;
		start = at = end > at ? end : at + 1;
	}
	return false;
}

static int by_place(const void *a, const void *b)
{
	const struct zip_member *first = a, *second = b;

	return first->at < second->at ? -1 : first->at > second->at;
}

/* Reads all entries, in order of their members. NULL: there are too many, or one is invalid. */
static struct zip_member *read_entries(struct view *view, const struct zip_directory *directory)
{
	uint64_t count = directory->sum.count, at = directory->at;
	struct zip_member *entries;
	bool valid = true;

	if (count > ENTRIES_MAX || !view_work(view, ENTRY_WORK * count))
		return NULL;
	entries = malloc(count * sizeof(*entries));
	if (!entries) {
		view_no_memory(view);
		return NULL;
	}
	for (uint64_t i = 0; valid && i < count; i++)
		valid = zip_read_entry(view, at, &entries[i], &at);
	if (!valid) {
		free(entries);
		return NULL;
	}
	qsort(entries, count, sizeof(*entries), by_place);
	return entries;
}

/* Whether the entry's local header, before `limit`, agrees with it, and its data is intact. Sets
 * entry->end. */
static bool is_member_intact(struct view *view, struct zip_member *entry, uint64_t limit,
	struct zip_kind *kind, uint64_t *output_left)
{
	struct zip_member member = { .at = entry->at };
	bool streamed, same;
	const char *problem;

	if (entry->at >= limit || zip_read_header(view, &member, &problem) != ZIP_FOUND)
		return false;
	streamed = member.flags & ZIP_STREAMED;
	same = member.crc == entry->crc && member.data_len == entry->data_len &&
	       member.content_len == entry->content_len;
	if (member.name_len != entry->name_len || member.name_crc != entry->name_crc ||
		member.method != entry->method || (!same && !streamed) ||
		entry->data_len > limit - (member.data < limit ? member.data : limit))
		return false;
	member.crc = entry->crc;
	member.data_len = entry->data_len;
	member.content_len = entry->content_len;
	if (!member.data_len) /* nothing to search the end of */
		member.flags &= (uint16_t)~ZIP_STREAMED;
	if (zip_find_end(view, &member, output_left) != ZIP_FOUND || member.wrong_crc ||
		member.end > limit)
		return false;
	zip_add_kind(view, kind, &member);
	view_proved(view, member.at, member.at + ZIP_LOCAL_LEN + member.name_len, ZIP_CRC_BITS);
	entry->end = member.end;
	entry->date = member.date;
	return true;
}

bool zip_check_entries(struct view *view, const struct zip_directory *directory,
	struct zip_kind *kind, uint32_t *newest, uint64_t *outside)
{
	struct zip_member *entries = read_entries(view, directory);
	uint64_t count = directory->sum.count, output_left = ZIP_OUTPUT_MAX, end = 0;
	bool intact = entries != NULL;

	*outside = 0;
	for (uint64_t i = 0; intact && i < count; i++) {
		uint64_t limit = i + 1 < count ? entries[i + 1].at : directory->at;

		intact = is_member_intact(view, &entries[i], limit, kind, &output_left);
		if (intact && entries[i].date > *newest)
			*newest = entries[i].date;
	}
	for (uint64_t i = 0; intact && i < count; i++) {
		*outside += entries[i].at - end;
		view_unverified(view, end, entries[i].at);
		embedded_find_all(view, end, entries[i].at);
		end = entries[i].end;
	}
	if (intact) {
		*outside += directory->at - end;
		view_unverified(view, end, directory->at);
		embedded_find_all(view, end, directory->at);
		view_proved(view, directory->at, directory->comment, ZIP_CRC_BITS);
	}
	free(entries);
	return intact;
}
