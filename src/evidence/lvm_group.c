/*
 * Linux's LVM, version 2. At the start of a physical volume a label leads to an area with a text, which
 * describes the whole group: its physical volumes, and for each logical one the segments that it has of
 * them. Parsed here, in burin-evidence, rather than by libvslvm, which opens no volume with two segments.
 *
 * Segments on physical volumes that are elsewhere can't be read. Mirrors, snapshots and thin volumes are
 * made of other logical volumes, and are refused by name; those can be opened.
 */
#include "evidence/lvm_group.h"

#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

#include "base/endian.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "evidence/lvm_text.h"

#define SECTOR_LEN 512
#define LABEL_SECTORS 4
#define LABEL_MAGIC "LABELONE"
#define LABEL_HEAD_AT 20 /* where the physical volume's head is in the label's sector */
#define ID_LEN 32
#define AREAS_AT 40 /* in that head */
#define AREA_LEN 16
#define META_MAGIC_AT 4
#define META_MAGIC " LVM2 x[5A%r0N*>"
#define META_TEXT_AT 40
/* The areas of LVM have 1 MiB. */
#define TEXT_MAX ((uint64_t)16 << 20)
#define CHECKSUM_START ((uint32_t)0xf597a6cf)

/* A group, as one of its physical volumes describes it. */
struct group {
	const struct lvm_source *source;
	struct lvm_node *text;
	const struct lvm_node *section; /* in text */
	char id[ID_LEN + 1];            /* of this physical volume */
	uint64_t extent_len;
};

/* ---- the group ----------------------------------------------------------------------------- */

/* The usual CRC-32, but for where it begins, and not inverted at the end. */
static uint32_t checksum(const char *text, size_t len)
{
	return ~libdeflate_crc32(~CHECKSUM_START, text, len);
}

static bool read_part(const struct group *group, uint64_t at, void *buffer, size_t len)
{
	const struct lvm_source *source = group->source;

	return at <= source->length && len <= source->length - at &&
	       !source->read(source->context, at, buffer, len);
}

/* Skips the list of data areas; then comes that of the areas with the text. */
static const uint8_t *first_text_area(const uint8_t *label)
{
	const uint8_t *area = label + LABEL_HEAD_AT, *end = label + SECTOR_LEN;
	uint32_t head_at = endian_u32(area);

	if (head_at > SECTOR_LEN - AREAS_AT)
		return NULL;
	for (area = label + head_at + AREAS_AT; area + AREA_LEN <= end && endian_u64(area);)
		area += AREA_LEN;
	return area + 2 * AREA_LEN <= end ? area + AREA_LEN : NULL;
}

/* The text may continue at its area's start, after the head. NULL: it can't be read. */
static char *read_text(const struct group *group, uint64_t area_at, uint64_t area_len, size_t *len)
{
	uint8_t head[SECTOR_LEN];
	uint64_t at, text_len, first_len;
	char *text;

	if (area_len < SECTOR_LEN || !read_part(group, area_at, head, sizeof(head)) ||
		memcmp(head + META_MAGIC_AT, META_MAGIC, sizeof(META_MAGIC) - 1))
		return NULL;
	at = endian_u64(head + META_TEXT_AT);
	text_len = endian_u64(head + META_TEXT_AT + 8);
	if (at < SECTOR_LEN || at >= area_len || text_len > area_len - SECTOR_LEN ||
		text_len > TEXT_MAX || !text_len)
		return NULL;
	first_len = area_len - at < text_len ? area_len - at : text_len;
	text = xmalloc((size_t)text_len);
	*len = (size_t)text_len;
	if (read_part(group, area_at + at, text, (size_t)first_len) &&
		read_part(group, area_at + SECTOR_LEN, text + first_len,
			(size_t)(text_len - first_len)) &&
		checksum(text, *len) == endian_u32(head + META_TEXT_AT + 16))
		return text;
	free(text);
	return NULL;
}

static bool read_group_text(struct group *group)
{
	uint8_t label[SECTOR_LEN];
	const uint8_t *area = NULL;
	size_t len = 0;
	char *text = NULL;

	for (unsigned i = 0; i < LABEL_SECTORS && !area; i++)
		if (read_part(group, (uint64_t)i * SECTOR_LEN, label, sizeof(label)) &&
			!memcmp(label, LABEL_MAGIC, 8))
			area = first_text_area(label);
	if (!area)
		return false;
	memcpy(group->id, label + endian_u32(label + LABEL_HEAD_AT), ID_LEN);
	/* The last ones may be copies. */
	for (; !text && area + AREA_LEN <= label + SECTOR_LEN && endian_u64(area); area += AREA_LEN)
		text = read_text(group, endian_u64(area), endian_u64(area + 8), &len);
	group->text = text ? lvm_text_parse(text, len) : NULL;
	free(text);
	return group->text;
}

/* False: there is none, after *why is set. group->text is to be freed either way. */
static bool read_group(const struct lvm_source *source, struct group *group, const char **why)
{
	uint64_t sectors;

	*group = (struct group){ .source = source };
	*why = "the description of its group is damaged";
	if (!read_group_text(group))
		return false;
	for (group->section = group->text->first;
		group->section && !lvm_text_find(group->section, "physical_volumes");)
		group->section = group->section->next;
	if (!lvm_text_number(group->section, "extent_size", &sectors) || !sectors ||
		sectors > UINT32_MAX)
		return false;
	group->extent_len = sectors * SECTOR_LEN;
	return true;
}

/* ---- a volume of it ------------------------------------------------------------------------ */

/* Identifiers have dashes in the text, and none in the label. */
static bool is_id(const char *text, const char id[ID_LEN])
{
	size_t len = 0;

	for (; *text; text++)
		if (*text != '-' && (len == ID_LEN || *text != id[len++]))
			return false;
	return len == ID_LEN;
}

/* Where the extent of the physical volume of that name is in this one. False: nowhere. */
static bool place_extent(
	const struct group *group, const char *name, uint64_t extent, uint64_t *place)
{
	const struct lvm_node *physical =
		lvm_text_find(lvm_text_find(group->section, "physical_volumes"), name);
	uint64_t start;

	if (!physical)
		return false;
	*place = LVM_ELSEWHERE;
	if (!is_id(lvm_text_string(physical, "id"), group->id))
		return true;
	return lvm_text_number(physical, "pe_start", &start) &&
	       !__builtin_mul_overflow(start, (uint64_t)SECTOR_LEN, &start) &&
	       !__builtin_mul_overflow(extent, group->extent_len, place) &&
	       !__builtin_add_overflow(*place, start, place) && *place <= INT64_MAX;
}

static bool read_stripes(
	const struct group *group, const struct lvm_node *section, struct lvm_segment *segment)
{
	const struct lvm_node *list = lvm_text_find(section, "stripes");
	const struct lvm_node *item = list ? list->first : NULL;

	for (uint64_t i = 0; i < segment->stripe_count; i++, item = item->next->next) {
		uint64_t extent;
		char *end;

		if (!item || !item->text || !item->next || !item->next->text)
			return false;
		extent = strtoull(item->next->text, &end, 10);
		if (*end || !place_extent(group, item->text, extent, &segment->stripes[i]))
			return false;
	}
	return true;
}

/* False: after *why is set. */
static bool read_segment(const struct group *group, const struct lvm_node *section,
	struct lvm_segment *segment, const char **why)
{
	const char *type = lvm_text_string(section, "type");
	uint64_t start, count, stripes = 1, stripe_sectors = 1;

	*why = "the description of its segments is damaged";
	if (!lvm_text_number(section, "start_extent", &start) ||
		!lvm_text_number(section, "extent_count", &count) || !count ||
		__builtin_mul_overflow(start, group->extent_len, &segment->offset) ||
		__builtin_mul_overflow(count, group->extent_len, &segment->length) ||
		segment->offset > INT64_MAX || segment->length > INT64_MAX)
		return false;
	if (strcmp(type, "striped") && strcmp(type, "linear")) {
		*why = "it is a mirror, a snapshot, or thin, and made of other logical volumes: "
		       "open these by their names, such as those that end with _rimage_0 or _tdata";
		return false;
	}
	lvm_text_number(section, "stripe_count", &stripes);
	if (!stripes || stripes > LVM_STRIPES_MAX ||
		(stripes > 1 && (!lvm_text_number(section, "stripe_size", &stripe_sectors) ||
					!stripe_sectors || stripe_sectors > UINT32_MAX)))
		return false;
	segment->stripe_count = stripes;
	segment->stripe_len = stripes > 1 ? stripe_sectors * SECTOR_LEN : segment->length;
	return read_stripes(group, section, segment);
}

static int by_offset(const void *a, const void *b)
{
	const struct lvm_segment *first = a, *second = b;

	return (first->offset > second->offset) - (first->offset < second->offset);
}

/* *count of them, which the caller frees. NULL: after *why is set. */
static struct lvm_segment *read_segments(
	const struct group *group, const struct lvm_node *section, size_t *count, const char **why)
{
	struct lvm_segment *segments = NULL;
	size_t capacity = 0;

	*why = "the description of its segments is damaged";
	for (const struct lvm_node *node = section->first; node; node = node->next) {
		if (strncmp(node->name ? node->name : "", "segment", 7) || node->text)
			continue;
		segments = xgrow(segments, &capacity, *count, sizeof(*segments));
		segments[*count] = (struct lvm_segment){ 0 };
		if (*count == LVM_SEGMENTS_MAX ||
			!read_segment(group, node, &segments[*count], why)) {
			free(segments);
			return NULL;
		}
		++*count;
	}
	if (*count)
		qsort(segments, *count, sizeof(*segments), by_offset);
	return segments;
}

/* ---- for the caller ------------------------------------------------------------------------ */

/* As device nodes are called: "vg0-root". */
static char *full_name(const struct group *group, const struct lvm_node *volume)
{
	return xasprintf("%s-%s", group->section->name, volume->name);
}

static bool is_visible(const struct lvm_node *volume)
{
	const struct lvm_node *status = lvm_text_find(volume, "status");

	for (const struct lvm_node *item = status ? status->first : NULL; item; item = item->next)
		if (item->text && !strcmp(item->text, "VISIBLE"))
			return true;
	return false;
}

static const struct lvm_node *first_volume(const struct group *group)
{
	const struct lvm_node *list = lvm_text_find(group->section, "logical_volumes");

	return list ? list->first : NULL;
}

char *lvm_group_names(const struct lvm_source *source)
{
	struct strbuf names = { 0 };
	struct group group;
	const char *why;

	if (read_group(source, &group, &why))
		for (const struct lvm_node *node = first_volume(&group); node; node = node->next)
			if (node->name && is_visible(node)) {
				char *name = full_name(&group, node);

				strbuf_text(&names, name);
				strbuf_text(&names, "\n");
				free(name);
			}
	lvm_text_free(group.text);
	return names.bytes;
}

struct lvm_segment *lvm_group_segments(
	const struct lvm_source *source, const char *wanted, size_t *count, const char **why)
{
	struct lvm_segment *segments = NULL;
	struct group group;
	bool good = read_group(source, &group, why), found = false;

	*count = 0;
	for (const struct lvm_node *node = good ? first_volume(&group) : NULL; node && !found;
		node = node->next) {
		char *name = node->name ? full_name(&group, node) : NULL;

		found = name && !strcmp(name, wanted);
		free(name);
		if (found)
			segments = read_segments(&group, node, count, why);
	}
	if (good && !found)
		*why = "its group has no logical volume of that name";
	lvm_text_free(group.text);
	return segments;
}
