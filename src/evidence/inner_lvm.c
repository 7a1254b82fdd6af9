/*
 * Linux's LVM, version 2. At the start of a physical volume a label leads to an area with a text, which
 * describes the whole group: its physical volumes, and for each logical one the segments that it has of
 * them. Read here rather than by libvslvm, which opens no volume with two segments.
 *
 * Segments on physical volumes that are elsewhere can't be read. Mirrors, snapshots and thin volumes are
 * made of other logical volumes, and are refused by name; those can be opened.
 */
#include "evidence/inner_kind.h"

#include <errno.h>
#include <stdio.h>
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
#define META_SIZE_AT 32
#define META_TEXT_AT 40
/* The areas of LVM have 1 MiB. */
#define TEXT_MAX ((uint64_t)16 << 20)
#define CHECKSUM_START ((uint32_t)0xf597a6cf)
#define STRIPES_MAX 128
#define SEGMENTS_MAX 65536

struct segment {
	uint64_t offset, length; /* in the logical volume */
	uint64_t stripe_len;
	unsigned stripe_count;
	uint64_t *stripes; /* where each begins in the outer image; ELSEWHERE */
};

#define ELSEWHERE UINT64_MAX

struct lvm {
	struct image image; /* first */
	struct segment *segments;
	size_t count;
};

/* A group, as one of its physical volumes describes it. */
struct group {
	struct lvm_node *text;
	const struct lvm_node *section;     /* in text */
	char id[ID_LEN + 1];                /* of this physical volume */
	uint64_t extent_len, begin, length; /* the volume's place in the outer image */
};

/* ---- the group ----------------------------------------------------------------------------- */

/* The usual CRC-32, but for where it begins, and not inverted at the end. */
static uint32_t checksum(const char *text, size_t len)
{
	return ~libdeflate_crc32(~CHECKSUM_START, text, len);
}

static bool read_part(
	struct image *outer, const struct group *group, uint64_t at, void *buffer, size_t len)
{
	return at <= group->length && len <= group->length - at &&
	       !image_read_at(outer, group->begin + at, buffer, len);
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
static char *read_text(struct image *outer, const struct group *group, uint64_t area_at,
	uint64_t area_len, size_t *len)
{
	uint8_t head[SECTOR_LEN];
	uint64_t at, text_len, first_len;
	char *text;

	if (area_len < SECTOR_LEN || !read_part(outer, group, area_at, head, sizeof(head)) ||
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
	if (read_part(outer, group, area_at + at, text, (size_t)first_len) &&
		read_part(outer, group, area_at + SECTOR_LEN, text + first_len,
			(size_t)(text_len - first_len)) &&
		checksum(text, *len) == endian_u32(head + META_TEXT_AT + 16))
		return text;
	free(text);
	return NULL;
}

static bool read_group_text(struct image *outer, struct group *group)
{
	uint8_t label[SECTOR_LEN];
	const uint8_t *area = NULL;
	size_t len = 0;
	char *text = NULL;

	for (unsigned i = 0; i < LABEL_SECTORS && !area; i++)
		if (read_part(outer, group, (uint64_t)i * SECTOR_LEN, label, sizeof(label)) &&
			!memcmp(label, LABEL_MAGIC, 8))
			area = first_text_area(label);
	if (!area)
		return false;
	memcpy(group->id, label + endian_u32(label + LABEL_HEAD_AT), ID_LEN);
	/* The last ones may be copies. */
	for (; !text && area + AREA_LEN <= label + SECTOR_LEN && endian_u64(area); area += AREA_LEN)
		text = read_text(outer, group, endian_u64(area), endian_u64(area + 8), &len);
	group->text = text ? lvm_text_parse(text, len) : NULL;
	free(text);
	return group->text;
}

/* False: there is none, after *why is set. group->text is to be freed either way. */
static bool read_group(
	struct image *outer, const struct volume *volume, struct group *group, const char **why)
{
	uint64_t sectors;

	*group = (struct group){ .begin = volume->offset, .length = volume->length };
	*why = "the description of its group is damaged";
	if (!read_group_text(outer, group))
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

/* Where the extent of the physical volume of that name is in the outer image. False: nowhere. */
static bool place_extent(
	const struct group *group, const char *name, uint64_t extent, uint64_t *place)
{
	const struct lvm_node *physical =
		lvm_text_find(lvm_text_find(group->section, "physical_volumes"), name);
	uint64_t start;

	if (!physical)
		return false;
	*place = ELSEWHERE;
	if (!is_id(lvm_text_string(physical, "id"), group->id))
		return true;
	return lvm_text_number(physical, "pe_start", &start) &&
	       !__builtin_mul_overflow(start, (uint64_t)SECTOR_LEN, &start) &&
	       !__builtin_mul_overflow(extent, group->extent_len, place) &&
	       !__builtin_add_overflow(*place, start, place) &&
	       !__builtin_add_overflow(*place, group->begin, place) && *place <= INT64_MAX;
}

static bool read_stripes(
	const struct group *group, const struct lvm_node *section, struct segment *segment)
{
	const struct lvm_node *list = lvm_text_find(section, "stripes");
	const struct lvm_node *item = list ? list->first : NULL;

	segment->stripes = xcalloc(segment->stripe_count, sizeof(*segment->stripes));
	for (unsigned i = 0; i < segment->stripe_count; i++, item = item->next->next) {
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
	struct segment *segment, const char **why)
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
		       "open "
		       "these by their names, such as those that end with _rimage_0 or _tdata";
		return false;
	}
	lvm_text_number(section, "stripe_count", &stripes);
	if (!stripes || stripes > STRIPES_MAX ||
		(stripes > 1 && (!lvm_text_number(section, "stripe_size", &stripe_sectors) ||
					!stripe_sectors || stripe_sectors > UINT32_MAX)))
		return false;
	segment->stripe_count = (unsigned)stripes;
	segment->stripe_len = stripes > 1 ? stripe_sectors * SECTOR_LEN : segment->length;
	return read_stripes(group, section, segment);
}

static int by_offset(const void *a, const void *b)
{
	const struct segment *first = a, *second = b;

	return (first->offset > second->offset) - (first->offset < second->offset);
}

/* Segments must follow each other from the volume's start. */
static bool read_segments(struct lvm *lvm, const struct group *group,
	const struct lvm_node *section, const char **why)
{
	size_t capacity = 0;

	for (const struct lvm_node *node = section->first; node; node = node->next) {
		if (strncmp(node->name ? node->name : "", "segment", 7) || node->text)
			continue;
		if (lvm->count == SEGMENTS_MAX)
			return false;
		lvm->segments = xgrow(lvm->segments, &capacity, lvm->count, sizeof(*lvm->segments));
		lvm->segments[lvm->count] = (struct segment){ 0 };
		if (!read_segment(group, node, &lvm->segments[lvm->count++], why))
			return false;
	}
	*why = "the description of its segments is damaged";
	if (!lvm->count)
		return false;
	qsort(lvm->segments, lvm->count, sizeof(*lvm->segments), by_offset);
	for (size_t i = 0; i < lvm->count; i++) {
		if (lvm->segments[i].offset != lvm->image.info.size)
			return false;
		lvm->image.info.size += lvm->segments[i].length;
		if (lvm->image.info.size > INT64_MAX)
			return false;
	}
	return true;
}

/* ---- reading ------------------------------------------------------------------------------- */

static const struct segment *find_segment(const struct lvm *lvm, uint64_t offset)
{
	size_t low = 0, high = lvm->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (lvm->segments[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return &lvm->segments[low];
}

/* Where the byte is in the outer image, or ELSEWHERE, and how many follow it there. */
static uint64_t find_place(const struct lvm *lvm, uint64_t offset, uint64_t *len)
{
	const struct segment *segment = find_segment(lvm, offset);
	uint64_t inside = offset - segment->offset;
	uint64_t row = inside / segment->stripe_len, within = inside % segment->stripe_len;
	uint64_t begin = segment->stripes[row % segment->stripe_count];

	*len = segment->stripe_len - within;
	if (*len > segment->length - inside)
		*len = segment->length - inside;
	return begin == ELSEWHERE
		       ? begin
		       : begin + row / segment->stripe_count * segment->stripe_len + within;
}

static int read_extent(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	const struct lvm *lvm = state;
	uint64_t extent_len, place = find_place(lvm, offset, &extent_len);

	if (extent_len < *len)
		*len = (size_t)extent_len;
	return place == ELSEWHERE || image_read_at(lvm->image.outer, place, to, *len) ? -EIO : 0;
}

static int lvm_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	return image_read_parts(image, offset, buffer, len, read_extent);
}

static char *lvm_why(struct image *image, uint64_t offset)
{
	uint64_t len, place = find_place((struct lvm *)image, offset, &len);

	if (place == ELSEWHERE)
		return xstrdup("it is on another physical volume of the group");
	if (place >= image->outer->info.size)
		return xstrdup("the image ends before the physical volume does");
	return image_why(image->outer, place, &len);
}

static void lvm_close(struct image *image)
{
	struct lvm *lvm = (struct lvm *)image;

	for (size_t i = 0; i < lvm->count; i++)
		free(lvm->segments[i].stripes);
	free(lvm->segments);
	free(lvm);
}

static const struct image_backend lvm_backend = {
	.name = "lvm",
	.read_at = lvm_read_at,
	.why = lvm_why,
	.close = lvm_close,
};

/* ---- the kind ------------------------------------------------------------------------------ */

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

static char *lvm_list(struct image *outer, const struct volume *volume, const char *path,
	struct inner_beside *beside)
{
	struct strbuf names = { 0 };
	struct group group;
	const char *why;

	(void)path;
	(void)beside;
	if (read_group(outer, volume, &group, &why))
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

static struct image *lvm_open(struct image *outer, const struct inner_place *place,
	const char **why, char how[INNER_HOW_LEN])
{
	struct lvm *lvm = xcalloc(1, sizeof(*lvm));
	struct group group;
	bool good = read_group(outer, &place->volume, &group, why), found = false;

	(void)how;
	lvm->image.backend = &lvm_backend;
	lvm->image.read_unit = SECTOR_LEN;
	lvm->image.info.sector_size = SECTOR_LEN;
	for (const struct lvm_node *node = good ? first_volume(&group) : NULL; node && !found;
		node = node->next) {
		char *name = node->name ? full_name(&group, node) : NULL;

		found = name && !strcmp(name, place->name);
		free(name);
		if (found)
			good = read_segments(lvm, &group, node, why);
	}
	if (good && !found)
		*why = "its group has no logical volume of that name";
	lvm_text_free(group.text);
	if (good && found)
		return &lvm->image;
	lvm_close(&lvm->image);
	return NULL;
}

static const char *const file_systems[] = { "LVM2", NULL };

const struct inner_kind inner_lvm = {
	.name = "lvm",
	.file_systems = file_systems,
	.open = lvm_open,
	.list = lvm_list,
};
