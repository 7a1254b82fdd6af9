#include "report/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#define BUFFER_LEN ((size_t)1 << 20)
/* burin creates two levels, thumbnails and compat mode included; a batch adds one. */
#define MAX_DEPTH 32

void names_add(struct names *names, const char *name)
{
	names->items = xgrow(names->items, &names->capacity, names->count, sizeof(*names->items));
	names->items[names->count++] = xstrdup(name);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void names_sort(struct names *names)
{
	if (names->count)
		qsort(names->items, names->count, sizeof(*names->items), compare_texts);
}

bool names_hold(const struct names *names, const char *name)
{
	return names->count &&
	       bsearch(&name, names->items, names->count, sizeof(*names->items), compare_texts);
}

void names_free(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct names){ 0 };
}

struct walk {
	struct names *names;
	void (*failed)(void *context, const char *path, int errnum);
	void *context;
};

static void walk_folder(const struct walk *walk, int fd, const char *prefix, int depth);

/* path: of the entry, from the folder where the walk began. */
static void walk_entry(
	const struct walk *walk, int dir_fd, const char *name, const char *path, int depth)
{
	int inner = -1;

	if (depth < MAX_DEPTH)
		inner = openat(
			dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (inner >= 0) {
		char *below = xasprintf("%s/", path);

		walk_folder(walk, inner, below, depth + 1);
		free(below);
	} else {
		names_add(walk->names, path);
	}
}

/* Closes fd. prefix: the folder's path with a slash, or "". */
static void walk_folder(const struct walk *walk, int fd, const char *prefix, int depth)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		walk->failed(walk->context, *prefix ? prefix : ".", errno);
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((errno = 0, entry = readdir(dir))) {
		char *path = xasprintf("%s%s", prefix, entry->d_name);

		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			walk_entry(walk, dirfd(dir), entry->d_name, path, depth);
		free(path);
	}
	if (errno)
		walk->failed(walk->context, *prefix ? prefix : ".", errno);
	closedir(dir);
}

void folder_list(int dir_fd, struct names *names,
	void (*failed)(void *context, const char *path, int errnum), void *context)
{
	const struct walk walk = { names, failed, context };

	walk_folder(&walk, openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "", 0);
	names_sort(names);
}

int folder_hash(int fd, struct hasher *hasher, uint64_t *bytes)
{
	uint8_t *buffer = xmalloc(BUFFER_LEN);
	ssize_t len;

	while ((len = read(fd, buffer, BUFFER_LEN)) > 0 || (len < 0 && errno == EINTR)) {
		if (len < 0)
			continue;
		hasher_update(hasher, buffer, (size_t)len);
		*bytes += (uint64_t)len;
	}
	free(buffer);
	return len < 0 ? -errno : 0;
}
