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

/* What differs between the volume and the copy with this index. */
static bool find_changed(
	libvshadow_volume_t *volume, int index, int store_count, struct ranges *changed)
{
	uint64_t *offsets = NULL;
	size_t count = 0;
	bool good = true;

	for (int i = index; i < store_count && good; i++) {
		libvshadow_store_t *store = NULL;

		good = libvshadow_volume_get_store(volume, i, &store, NULL) == 1 &&
		       add_blocks(store, &offsets, &count);
	}
	if (count)
		qsort(offsets, count, sizeof(*offsets), compare_offsets);
	for (size_t i = 0; i < count && good; i++)
		ranges_add(changed, offsets[i], BLOCK_LEN);
	free(offsets);
	return good;
}

/* The copy that is meant; NULL after served_refuse. */
static libvshadow_store_t *open_store(
	struct served *served, const struct inner_place *place, struct ranges *changed)
{
	libbfio_error_t *error = NULL;
	libvshadow_store_t *store = NULL;
	int count = 0, number = atoi(place->name);
	libvshadow_volume_t *volume = open_volume(served, &count, &error);

	if (volume && number >= 1 && number <= count &&
		libvshadow_volume_get_store(
			volume, number - 1, &store, (libvshadow_error_t **)&error) == 1 &&
		find_changed(volume, number - 1, count, changed))
		return store;
	served_refuse(served, "it has %d shadow %s", count, count == 1 ? "copy" : "copies");
	yal_source_refuse(served, &error);
	return NULL;
}

/* When it was made: seconds since 1970 of a FILETIME; and how much is searched. */
static void set_how(struct served *served, libvshadow_store_t *store, const struct ranges *changed)
{
	uint64_t filetime = 0;
	char how[128], text[32] = "an unknown time", size[16];
	time_t seconds;
	struct tm tm;

	libvshadow_store_get_creation_time(store, &filetime, NULL);
	seconds = (time_t)(filetime / 10000000) - (time_t)11644473600;
	if (filetime && gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	snprintf(how, sizeof(how), "as it was at %s; %s in blocks that differ from the volume",
		text, size_print(ranges_bytes(changed), size));
	served_set_how(served, how);
}

static void *shadow_open(struct served *served, void *arg)
{
	struct ranges changed = { 0 };
	libvshadow_store_t *store = open_store(served, arg, &changed);
	size64_t size = 0;

	if (!store || libvshadow_store_get_volume_size(store, &size, NULL) != 1)
		return NULL;
	set_how(served, store, &changed);
	ranges_free(&changed);
	served_set_size(served, size, 512);
	return store;
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
	struct range *list;

	if (!open_store(served, arg, &changed))
		return NULL;
	list = xcalloc(changed.count + 1, sizeof(*list));
	list[0].offset = changed.count;
	if (changed.count)
		memcpy(list + 1, changed.items, changed.count * sizeof(*list));
	served_set_size(served, (changed.count + 1) * sizeof(*list), 512);
	ranges_free(&changed);
	return list;
}

static int changed_read_at(void *handle, uint64_t offset, void *buffer, size_t len)
{
	memcpy(buffer, (const uint8_t *)handle + offset, len);
	return 0;
}

const struct served_kind served_changed = {
	.name = "shadow changes",
	.memory = (uint64_t)1 << 30,
	.open = changed_open,
	.read_at = changed_read_at,
};

#else
const struct served_kind served_shadow = { .name = "shadow" },
			 served_changed = { .name = "shadow changes" };
#endif
