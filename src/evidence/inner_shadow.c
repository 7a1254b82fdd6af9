/* Shadow copies of NTFS volumes, through libvshadow: the volume as it was at some time. They are numbered
 * from 1, the oldest first, as Windows lists them. */
#include "evidence/inner_kind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef HAVE_LIBVSHADOW
#include <libvshadow.h>

#include "evidence/yal_source.h"

#define COPIES_MAX 512 /* Windows' own limit */

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

/* Seconds since 1970 of a FILETIME. */
static void set_how(struct served *served, libvshadow_store_t *store)
{
	uint64_t filetime = 0;
	char how[64], text[32] = "";
	time_t seconds;
	struct tm tm;

	if (libvshadow_store_get_creation_time(store, &filetime, NULL) != 1 || !filetime)
		return;
	seconds = (time_t)(filetime / 10000000) - (time_t)11644473600;
	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	snprintf(how, sizeof(how), "as it was at %s", text);
	served_set_how(served, how);
}

static void *shadow_open(struct served *served, void *arg)
{
	const struct inner_place *place = arg;
	libbfio_error_t *error = NULL;
	libvshadow_store_t *store = NULL;
	int count = 0, number = atoi(place->name);
	libvshadow_volume_t *volume = open_volume(served, &count, &error);
	size64_t size = 0;

	if (volume && number >= 1 && number <= count &&
		libvshadow_volume_get_store(
			volume, number - 1, &store, (libvshadow_error_t **)&error) == 1 &&
		libvshadow_store_get_volume_size(store, &size, NULL) == 1) {
		set_how(served, store);
		served_set_size(served, size, 512);
		return store;
	}
	served_refuse(served, "it has %d shadow %s", count, count == 1 ? "copy" : "copies");
	yal_source_refuse(served, &error);
	return NULL;
}

static int shadow_read_at(void *handle, uint64_t offset, void *buffer, size_t len)
{
	return libvshadow_store_read_buffer_at_offset(handle, buffer, len, (off64_t)offset, NULL) ==
			       (ssize_t)len
		       ? 0
		       : -EIO;
}

static const struct served_kind served_shadow = {
	.memory = (uint64_t)1 << 30,
	.open = shadow_open,
	.list = shadow_list,
	.read_at = shadow_read_at,
};
#define SERVED &served_shadow
#else
#define SERVED NULL
#endif

static const char *const file_systems[] = { "ntfs", NULL };

const struct inner_kind inner_shadow = {
	.name = "shadow",
	.file_systems = file_systems,
	.library = "libvshadow",
	.only_on_request = true,
	.served = SERVED,
};
