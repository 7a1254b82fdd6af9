/* Cleans up the folder of a run that was killed. Only plain files in the folder itself and in its
 * direct subfolders are examined: burin creates no others. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "output/output_dir.h"

struct sweep {
	bool (*is_stale)(void *context, const char *folder, const char *name);
	void *context;
};

static bool is_temporary(const char *name)
{
	static const char suffix[] = OUTPUT_DIR_TEMPORARY_SUFFIX,
			  prefix[] = OUTPUT_DIR_TEMPORARY_PREFIX;
	size_t len = strlen(name);

	return len > sizeof(suffix) + sizeof(prefix) - 2 &&
	       strncmp(name, prefix, sizeof(prefix) - 1) == 0 &&
	       strcmp(name + len - (sizeof(suffix) - 1), suffix) == 0;
}

static void sweep_file(const struct sweep *sweep, int fd, const char *folder, const char *name)
{
	char clean[512];

	if (!is_temporary(name) && !sweep->is_stale(sweep->context, folder, name))
		return;
	if (unlinkat(fd, name, 0))
		log_warn("'%s', left by the run that is resumed, could not be removed: %s",
			text_clean(name, clean, sizeof(clean)), strerror(errno));
}

/* depth: how many levels of folders below this one are examined. */
static void sweep_folder(
	const struct sweep *sweep, int parent, const char *folder, const char *name, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat info;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
			fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISREG(info.st_mode))
			sweep_file(sweep, fd, folder, entry->d_name);
		else if (S_ISDIR(info.st_mode) && depth)
			sweep_folder(sweep, fd, entry->d_name, entry->d_name, depth - 1);
	}
	closedir(dir);
}

void output_dir_sweep(struct output_dir *output_dir,
	bool (*is_stale)(void *context, const char *folder, const char *name), void *context)
{
	const struct sweep sweep = { is_stale, context };

	sweep_folder(&sweep, output_dir_fd(output_dir), "", ".", 1);
}
