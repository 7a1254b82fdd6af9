/*
 * Shadow copies of NTFS volumes, through libvshadow: the volume as it was at some time. They are numbered
 * from 1, the oldest first, as Windows lists them.
 *
 * Windows copies a block away before it is overwritten for the first time since the last copy was made. So
 * a copy differs from the volume in the blocks that it or a later one holds, and nowhere else.
 */
#include "confined/served_work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/size.h"

#ifdef HAVE_LIBVSHADOW
#include <libvshadow.h>

#include "confined/yal_source.h"
#include "evidence/inner_place.h"

#define COPIES_MAX 512 /* Windows' own limit */
#define BLOCK_LEN 16384
/* That differ: 64 GiB of them. */
#define BLOCKS_MAX ((size_t)4 << 20)

static libvshadow_volume_t *open_volume(struct served *served, int *count, libbfio_error_t **error)
{
	libvshadow_error_t **yal_error = (libvshadow_error_t **)error;
	libvshadow_volume_t *volume = NULL;

	if (libvshadow_volume_initialize(&volume, yal_error) != 1 ||
		libvshadow_volume_open_file_io_handle(
			volume, yal_source_open(served), LIBVSHADOW_OPEN_READ, yal_error) != 1 ||
		libvshadow_volume_get_number_of_stores(volume, count, yal_error) != 1)
		return NULL;
	return volume;
}

static void shadow_list(struct served *served, void *arg)
{
	libbfio_error_t *error = NULL;
	int count = 0;

	(void)arg;
	if (!open_volume(served, &count, &error))
		return;
	for (int i = 1; i <= count && i <= COPIES_MAX; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		served_name(served, name);
	}
}

static int compare_offsets(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Appends where the blocks that the store holds were. */
static bool add_blocks(libvshadow_store_t *store, uint64_t **offsets, size_t *count)
{
	int block_count = 0;

	if (libvshadow_store_get_number_of_blocks(store, &block_count, NULL) != 1 ||
		block_count < 0 || (size_t)block_count > BLOCKS_MAX - *count)
		return false;
	*offsets = xreallocarray(*offsets, *count + (size_t)block_count + 1, sizeof(**offsets));
	for (int i = 0; i < block_count; i++) {
		libvshadow_block_t *block = NULL;
		off64_t offset = -1;

		if (libvshadow_store_get_block_by_index(store, i, &block, NULL) != 1)
			return false;
		if (libvshadow_block_get_original_offset(block, &offset, NULL) == 1 && offset >= 0)
			(*offsets)[(*count)++] = (uint64_t)offset;
		libvshadow_block_free(&block, NULL);
	}
	return true;
}

/* The copy that is meant. */
struct copy {
	libvshadow_volume_t *volume;
	libvshadow_store_t *store;
	int index, count; /* among all */
};

/* False after served_refuse. */
static bool open_copy(struct served *served, const struct inner_place *place, struct copy *copy)
{
	libbfio_error_t *error = NULL;

	*copy = (struct copy){ .index = atoi(place->name) - 1 };
	copy->volume = open_volume(served, &copy->count, &error);
	if (copy->volume && copy->index >= 0 && copy->index < copy->count &&
		libvshadow_volume_get_store(copy->volume, copy->index, &copy->store,
			(libvshadow_error_t **)&error) == 1)
		return true;
	served_refuse(
		served, "it has %d shadow %s", copy->count, copy->count == 1 ? "copy" : "copies");
	yal_source_refuse(served, &error);
	return false;
}

/* What differs between it and the volume. False: that is not known. */
static bool find_changed(const struct copy *copy, struct ranges *changed)
{
	uint64_t *offsets = NULL;
	size_t count = 0;
	bool known = true;

	for (int i = copy->index; i < copy->count && known; i++) {
		libvshadow_store_t *store = NULL;

		known = libvshadow_volume_get_store(copy->volume, i, &store, NULL) == 1 &&
			add_blocks(store, &offsets, &count);
	}
	if (count)
		qsort(offsets, count, sizeof(*offsets), compare_offsets);
	for (size_t i = 0; i < count && known; i++)
		ranges_add(changed, offsets[i], BLOCK_LEN);
	free(offsets);
	return known;
}

/* When it was made: seconds since 1970 of a FILETIME; and how much is searched. */
static void set_how(struct served *served, const struct copy *copy)
{
	struct ranges changed = { 0 };
	bool known = find_changed(copy, &changed);
	uint64_t filetime = 0;
	char how[128], text[32] = "an unknown time", size[16], what[64] = "all of it is searched";
	time_t seconds;
	struct tm tm;

	libvshadow_store_get_creation_time(copy->store, &filetime, NULL);
	seconds = (time_t)(filetime / 10000000) - (time_t)11644473600;
	if (filetime && gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (known)
		snprintf(what, sizeof(what), "%s in blocks that differ from the volume",
			size_print(ranges_bytes(&changed), size));
	snprintf(how, sizeof(how), "as it was at %s; %s", text, what);
	served_set_how(served, how);
	ranges_free(&changed);
}

static void *shadow_open(struct served *served, void *arg)
{
	struct copy copy;
	size64_t size = 0;

	if (!open_copy(served, arg, &copy) ||
		libvshadow_store_get_volume_size(copy.store, &size, NULL) != 1)
		return NULL;
	set_how(served, &copy);
	served_set_size(served, size, 512);
	return copy.store;
}

static int shadow_read_at(void *handle, uint64_t offset, void *buffer, size_t len)
{
	return libvshadow_store_read_buffer_at_offset(handle, buffer, len, (off64_t)offset, NULL) ==
			       (ssize_t)len
		       ? 0
		       : -EIO;
}

const struct served_kind served_shadow = {
	.name = "shadow",
	.memory = (uint64_t)1 << 30,
	.open = shadow_open,
	.list = shadow_list,
	.read_at = shadow_read_at,
};

/* The ranges that differ are served as bytes of an image, after one with their number as its offset. */
static void *changed_open(struct served *served, void *arg)
{
	struct ranges changed = { 0 };
	struct copy copy;
	struct range *list;

	if (!open_copy(served, arg, &copy) || !find_changed(&copy, &changed))
		return NULL;
	list = xcalloc(changed.count + 1, sizeof(*list));
	list[0].offset = changed.count;
	if (changed.count)
		memcpy(list + 1, changed.items, changed.count * sizeof(*list));
	served_set_size(served, (changed.count + 1) * sizeof(*list), 512);
	ranges_free(&changed);
	return list;
}

const struct served_kind served_changed = {
	.name = "shadow changes",
	.memory = (uint64_t)1 << 30,
	.open = changed_open,
	.read_at = served_read_memory,
};

#else
const struct served_kind served_shadow = { .name = "shadow" },
			 served_changed = { .name = "shadow changes" };
#endif
