#include "evidence/block_parent.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

#define VDI_HEAD_LEN 512
#define VDI_ID_AT 392

/* ---- by name ------------------------------------------------------------------------------- */

/* Whether the name can lead out of the image's folder. */
static bool leads_out(const char *name)
{
	return *name == '/' || !strcmp(name, "..") || !strncmp(name, "../", 3) ||
	       strstr(name, "/../") || strchr(name, '\\');
}

char *block_parent_by_name(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/'), *last = name + strlen(name);
	int folder_len = slash ? (int)(slash + 1 - path) : 0;
	char *found = leads_out(name) ? NULL : xasprintf("%.*s%s", folder_len, path, name);

	if (found && !access(found, F_OK))
		return found;
	free(found);
	while (last > name && last[-1] != '/' && last[-1] != '\\')
		last--;
	found = xasprintf("%.*s%s", folder_len, path, last);
	if (*last && !access(found, F_OK))
		return found;
	free(found);
	return NULL;
}

/* ---- by identifier ------------------------------------------------------------------------- */

/* Whether the file is the VDI image with the identifier. */
static bool has_id(const char *path, const uint8_t id[BLOCK_ID_LEN])
{
	int fd = image_open_file(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct image_ends ends = { .path = path };
	bool found = fd >= 0 && !image_read_ends(fd, &ends) && ends.head_len >= VDI_HEAD_LEN &&
		     vdi_format.probe(&ends) && !memcmp(ends.head + VDI_ID_AT, id, BLOCK_ID_LEN);

	if (fd >= 0)
		close(fd);
	return found;
}

/* Its path, which the caller frees; NULL: it is not in the folder. */
static char *find_in(const char *folder, const uint8_t id[BLOCK_ID_LEN])
{
	DIR *dir = opendir(*folder ? folder : ".");
	struct dirent *entry;
	char *found = NULL;

	while (dir && !found && (entry = readdir(dir))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcasecmp(dot, ".vdi"))
			continue;
		found = xasprintf("%s%s", folder, entry->d_name);
		if (!has_id(found, id)) {
			free(found);
			found = NULL;
		}
	}
	if (dir)
		closedir(dir);
	return found;
}

char *block_parent_by_id(const char *path, const uint8_t id[BLOCK_ID_LEN])
{
	static const char *const folders[] = { "", "../", "Snapshots/" };
	const char *slash = strrchr(path, '/');
	char *found = NULL;

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders) && !found; i++) {
		char *folder =
			xasprintf("%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, folders[i]);

		found = find_in(folder, id);
		free(folder);
	}
	return found;
}
