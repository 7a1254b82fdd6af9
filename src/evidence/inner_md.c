/*
 * Arrays of Linux's md: linear, RAID 0, 1, 4 and 5. burin-evidence reads the members' superblocks; here are the bytes. The name in the path lists the other members, each as
 * the path of an image, "@", and the offset of the member in it; so an array can be opened again from its
 * path alone. One member of RAID 1 is enough, and all but one of RAID 4 and 5: what is missing, or can't be
 * read, is computed from the others.
 */
#include "evidence/inner_kind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "evidence/md_superblock.h"

#define MEMBERS_MAX 64
#define CHUNK_MAX ((uint64_t)1 << 30)
#define SECTOR_LEN 512
/* What is computed from the parity at a time. */
#define PARITY_LEN 65536
/* A member may lack the last changes of a crash. */
#define EVENTS_APART 1

struct member {
	struct image *image; /* NULL: missing */
	bool owned;
	uint64_t begin; /* where its data is in the image */
	struct md_superblock superblock;
};

struct md {
	struct image image; /* first */
	int32_t level;
	uint32_t layout, count;
	uint64_t chunk_len, length; /* length: of a member's data */
	struct member *members;     /* by role */
};

/* ---- reading ------------------------------------------------------------------------------- */

static int read_member(const struct md *md, uint32_t role, uint64_t at, void *buffer, size_t len)
{
	const struct member *member = &md->members[role];

	return member->image ? image_read_at(member->image, member->begin + at, buffer, len) : -EIO;
}

/* Each byte of a row is the sum, modulo 2, of those of all other members. */
static int compute(const struct md *md, uint32_t role, uint64_t at, uint8_t *to, size_t len)
{
	uint8_t other[PARITY_LEN];

	for (size_t part_len; len; at += part_len, to += part_len, len -= part_len) {
		part_len = len < sizeof(other) ? len : sizeof(other);
		memset(to, 0, part_len);
		for (uint32_t i = 0; i < md->count; i++) {
			if (i == role)
				continue;
			if (read_member(md, i, at, other, part_len))
				return -EIO;
			for (size_t k = 0; k < part_len; k++)
				to[k] ^= other[k];
		}
	}
	return 0;
}

/* Which member has a chunk of a row, in the array's order of chunks. */
static uint32_t striped_role(const struct md *md, uint64_t row, uint32_t column)
{
	uint32_t count = md->count, turn = (uint32_t)(row % count);
	uint32_t parity;

	if (md->level == 0 || md->level == 4)
		return column;
	switch (md->layout) {
	case 4: /* the parity first */
		return column + 1;
	case 5: /* last */
		return column;
	default:
		parity = md->layout & 1 ? turn : count - 1 - turn;
		if (md->layout & 2)
			return (parity + 1 + column) % count;
		return column >= parity ? column + 1 : column;
	}
}

/* The member and the offset in its data, and how many bytes follow there. */
static uint32_t place(const struct md *md, uint64_t offset, uint64_t *at, uint64_t *len)
{
	uint32_t columns = md->count - (md->level >= 4);
	uint64_t chunk;

	if (md->level == 1 || md->level == MD_LINEAR) {
		uint32_t role = 0;

		while (md->level == MD_LINEAR && offset >= md->members[role].superblock.data_len)
			offset -= md->members[role++].superblock.data_len;
		*at = offset;
		*len = (md->level == 1 ? md->length : md->members[role].superblock.data_len) -
		       offset;
		return role;
	}
	chunk = offset / md->chunk_len;
	*at = chunk / columns * md->chunk_len + offset % md->chunk_len;
	*len = md->chunk_len - offset % md->chunk_len;
	return striped_role(md, chunk / columns, (uint32_t)(chunk % columns));
}

static int read_place(const struct md *md, uint32_t role, uint64_t at, uint8_t *to, size_t len)
{
	if (md->level == 1) {
		for (uint32_t i = 0; i < md->count; i++)
			if (!read_member(md, i, at, to, len))
				return 0;
		return -EIO;
	}
	if (!read_member(md, role, at, to, len))
		return 0;
	return md->level >= 4 ? compute(md, role, at, to, len) : -EIO;
}

static int read_chunk(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	const struct md *md = state;
	uint64_t at, chunk_len;
	uint32_t role = place(md, offset, &at, &chunk_len);

	if (chunk_len < *len)
		*len = (size_t)chunk_len;
	return read_place(md, role, at, to, *len);
}

static int md_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	return image_read_parts(image, offset, buffer, len, read_chunk);
}

static char *md_why(struct image *image, uint64_t offset)
{
	const struct md *md = (const struct md *)image;
	uint64_t at, len;
	uint32_t role = place(md, offset, &at, &len);
	const struct member *member = &md->members[role];
	char *why = member->image ? image_why(member->image, member->begin + at, &len)
				  : xasprintf("member %u of the array is missing", (unsigned)role);

	return why ? why : xasprintf("member %u of the array can't be read there", (unsigned)role);
}

static void md_close(struct image *image)
{
	struct md *md = (struct md *)image;

	for (uint32_t i = 0; i < md->count; i++)
		if (md->members[i].owned)
			image_close(md->members[i].image);
	free(md->members);
	free(md);
}

static const struct image_backend md_backend = {
	.name = "md",
	.read_at = md_read_at,
	.why = md_why,
	.close = md_close,
};

/* ---- the members --------------------------------------------------------------------------- */

/* As burin-evidence reads it. False: it is no member that has data, and the reason. */
static bool read_superblock(struct image *image, const struct volume *volume,
	struct md_superblock *superblock, char *reason, size_t reason_len)
{
	const struct inner_place place = { .volume = *volume };
	size_t len = 0;
	void *bytes = inner_read_served(image, &inner_md, &place, &len, reason, reason_len);
	bool good = bytes && len == sizeof(*superblock);

	if (good)
		memcpy(superblock, bytes, len);
	free(bytes);
	if (!*reason)
		snprintf(reason, reason_len, "it is a spare, or its superblock is damaged");
	return good && superblock->disks && superblock->disks <= MEMBERS_MAX &&
	       superblock->role < superblock->disks && superblock->data_at <= volume->length;
}

/* Takes over the image if it is owned. */
static void add_member(struct md *md, struct image *image, bool owned, const struct volume *volume)
{
	struct md_superblock superblock;
	struct member *member;
	char reason[INNER_HOW_LEN];

	if (!read_superblock(image, volume, &superblock, reason, sizeof(reason)) ||
		memcmp(superblock.array, md->members[0].superblock.array, 16) ||
		superblock.role >= md->count || md->members[superblock.role].image) {
		if (owned)
			image_close(image);
		return;
	}
	member = &md->members[superblock.role];
	*member = (struct member){ image, owned, volume->offset + superblock.data_at, superblock };
}

/* "b.dd@0,c.dd@1048576"; false: one of them is not such a member. */
static bool add_others(struct md *md, const char *names, const char **why)
{
	char *copy = xstrdup(names), *rest, *name;
	bool good = true;

	for (name = strtok_r(copy, ",", &rest); name && good; name = strtok_r(NULL, ",", &rest)) {
		char *at = strrchr(name, '@');
		struct image *image;
		struct volume volume;

		*why = "one of the other members that are named can't be opened";
		good = at && at > name;
		if (!good)
			break;
		*at = 0;
		good = !image_open(&image, name, NULL);
		if (good &&
			!inner_find_volume(image, &inner_md, strtoull(at + 1, NULL, 10), &volume)) {
			image_close(image);
			good = false;
		}
		if (good)
			add_member(md, image, true, &volume);
	}
	free(copy);
	return good;
}

/* Members that were left out of the array before it changed have old data. */
static void drop_stale(struct md *md)
{
	uint64_t newest = 0;

	for (uint32_t i = 0; i < md->count; i++)
		if (md->members[i].image && md->members[i].superblock.events > newest)
			newest = md->members[i].superblock.events;
	for (uint32_t i = 0; i < md->count; i++) {
		struct member *member = &md->members[i];

		if (!member->image || newest - member->superblock.events <= EVENTS_APART)
			continue;
		if (member->owned)
			image_close(member->image);
		member->image = NULL;
	}
}

static uint32_t count_members(const struct md *md)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < md->count; i++)
		count += md->members[i].image != NULL;
	return count;
}

/* ---- the array ----------------------------------------------------------------------------- */

static uint64_t whole_chunks(const struct md *md, uint64_t len)
{
	return md->chunk_len ? len / md->chunk_len * md->chunk_len : len;
}

/* NULL: it can be read. */
static const char *check_array(const struct md *md, const struct md_superblock *superblock)
{
	uint32_t needed = md->level == 1 ? 1 : md->count - (md->level >= 4);
	bool striped = md->level == 0 || md->level >= 4;

	if (md->level != MD_LINEAR && md->level != 0 && md->level != 1 && md->level != 4 &&
		md->level != 5)
		return "it is an array of a level that burin does not read (it reads linear, 0, 1, "
		       "4 "
		       "and 5)";
	if (superblock->reshaping)
		return "the array was being changed to another layout, and is in two parts";
	if (striped && (!md->chunk_len || md->chunk_len % SECTOR_LEN || md->chunk_len > CHUNK_MAX))
		return "its chunks have an impossible size";
	if (md->level == 5 && md->layout > 5)
		return "its layout is not known";
	if (md->level >= 4 && md->count < 2)
		return "it has too few members";
	if (count_members(md) < needed)
		return "too many members of the array are missing, or out of date: give the images "
		       "of "
		       "the others, too";
	return NULL;
}

/* Sets the sizes. NULL: they fit. */
static const char *measure(struct md *md)
{
	uint64_t total = 0, length = 0;

	for (uint32_t i = 0; i < md->count; i++) {
		struct md_superblock *superblock = &md->members[i].superblock;

		if (!md->members[i].image)
			continue;
		superblock->data_len = whole_chunks(md, superblock->data_len);
		if (superblock->data_len > INT64_MAX / MEMBERS_MAX || !superblock->data_len)
			return "its members have an impossible size";
		if (md->level != MD_LINEAR && length && superblock->data_len != length)
			return "its members have different sizes";
		length = superblock->data_len;
		total += length;
	}
	md->length = length;
	if (md->level == 1)
		total = length;
	else if (md->level != MD_LINEAR)
		total = length * (md->count - (md->level >= 4));
	md->image.info.size = total;
	return NULL;
}

static struct image *md_open(struct image *outer, const struct inner_place *inner_place,
	const char **why, char how[INNER_HOW_LEN])
{
	struct md *md = xcalloc(1, sizeof(*md));
	struct md_superblock first;

	*why = how;
	md->image.backend = &md_backend;
	md->image.read_unit = md->image.info.sector_size = SECTOR_LEN;
	if (!read_superblock(outer, &inner_place->volume, &first, how, INNER_HOW_LEN)) {
		free(md);
		return NULL;
	}
	md->level = first.level;
	md->layout = first.layout;
	md->count = first.disks;
	md->chunk_len = first.chunk_len;
	md->members = xcalloc(md->count, sizeof(*md->members));
	md->members[0].superblock = first; /* for comparison, until there is one of its own */
	add_member(md, outer, false, &inner_place->volume);
	if (add_others(md, inner_place->name, why)) {
		drop_stale(md);
		*why = check_array(md, &first);
		if (!*why)
			*why = measure(md);
	}
	if (*why) {
		md_close(&md->image);
		return NULL;
	}
	for (uint32_t i = 0; i < md->count; i++)
		if (md->members[i].image && md->members[i].owned)
			image_add_paths(&md->image.info, &md->members[i].image->info);
	snprintf(how, INNER_HOW_LEN, "RAID %s%.0d, %u of %u members",
		md->level == MD_LINEAR ? "linear"
		: md->level            ? ""
				       : "0",
		md->level > 0 ? md->level : 0, (unsigned)count_members(md), (unsigned)md->count);
	return &md->image;
}

/* ---- finding ------------------------------------------------------------------------------- */

static void note_members(struct inner_beside *beside, size_t number, size_t *capacity)
{
	struct image *image;
	struct volumes *volumes;
	const struct volume *items;
	size_t count;

	if (strchr(beside->paths[number], ',') || image_open(&image, beside->paths[number], NULL))
		return;
	volumes = volumes_read(image, VOLUMES_LIST, NULL);
	items = volumes_list(volumes, &count);
	for (size_t i = 0; i < count; i++) {
		struct inner_member member = { .image = number, .offset = items[i].offset };
		struct md_superblock superblock;
		char reason[INNER_HOW_LEN];

		if (!inner_is_kind(&inner_md, &items[i]) ||
			!read_superblock(image, &items[i], &superblock, reason, sizeof(reason)))
			continue;
		memcpy(member.array, superblock.array, sizeof(member.array));
		beside->members =
			xgrow(beside->members, capacity, beside->member_count, sizeof(member));
		beside->members[beside->member_count++] = member;
	}
	volumes_free(volumes);
	image_close(image);
}

/* Each image is opened once, whatever the number of members. */
static void find_members(struct inner_beside *beside)
{
	size_t capacity = 0;

	for (size_t i = 0; i < beside->count && !beside->searched; i++)
		note_members(beside, i, &capacity);
	beside->searched = true;
}

/* The first of the images with a member names the others. */
static char *md_list(struct image *outer, const struct volume *volume, const char *path,
	struct inner_beside *beside)
{
	struct strbuf names = { 0 };
	struct md_superblock own;
	size_t number = 0; /* of this image */
	char reason[INNER_HOW_LEN];

	if (!read_superblock(outer, volume, &own, reason, sizeof(reason)))
		return NULL;
	while (number < beside->count && strcmp(beside->paths[number], path) != 0)
		number++;
	find_members(beside);
	for (size_t i = 0; i < beside->member_count; i++) {
		const struct inner_member *member = &beside->members[i];

		if (member->image == number || memcmp(member->array, own.array, 16) != 0)
			continue;
		if (member->image < number) {
			strbuf_free(&names);
			return NULL;
		}
		strbuf_print(&names, "%s%s@%" PRIu64, names.len ? "," : "",
			beside->paths[member->image], member->offset);
	}
	strbuf_text(&names, names.len ? "\n" : INNER_NO_NAME "\n");
	return names.bytes;
}

static const char *const file_systems[] = { "Linux RAID", NULL };

const struct inner_kind inner_md = {
	.name = "md",
	.file_systems = file_systems,
	.served = "md",
	.open = md_open,
	.list = md_list,
};
