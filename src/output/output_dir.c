#include "output/output_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "output/dirfd.h"
#include "output/path_alloc.h"
#include "base/text.h"

struct sink {
	char *path;
	int fd;
	unsigned part, temporaries;
	struct namer *namer;
};

enum opening { OPEN_EMPTY, OPEN_OLD, OPEN_SHARED };

/* ---- opening ------------------------------------------------------------------------------- */

static const char *advice(int errnum)
{
	switch (errnum) {
	case ENOSPC:
		return "; free some space or choose another folder with -o";
	case EDQUOT:
		return "; your quota is used up: free some space or choose another folder with -o";
	case EROFS:
	case EACCES:
	case EPERM:
		return "; choose another folder with -o";
	case EFBIG:
		return "; the file system or a limit (ulimit -f) allows no larger file";
	case EMFILE:
		return "; allow more open files (ulimit -n) or use fewer threads";
	default:
		return "";
	}
}

static int open_error(const char *path, int errnum, struct error *error)
{
	char clean[512];
	struct stat info;

	text_clean(path, clean, sizeof(clean));
	if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
		return error_set(error, EXIT_IO, errnum,
			"the output folder '%s' is a symbolic link; give the folder it points to "
			"with -o",
			clean);
	if (lstat(path, &info) == 0 && !S_ISDIR(info.st_mode))
		return error_set(error, EXIT_IO, errnum,
			"'%s' is a file, not a folder; give a new or empty folder with -o", clean);
	return error_set(error, EXIT_IO, errnum,
		"cannot create or open the output folder '%s': %s%s", clean, strerror(errnum),
		advice(errnum));
}

/* mkdir -p. path is changed for a moment. Returns 0 or a negative errno. */
static int make_folders(char *path)
{
	for (char *at = path + 1;; at++) {
		char kept = *at;

		if (kept && kept != '/')
			continue;
		*at = '\0';
		if (mkdir(path, 0777) && errno != EEXIST) {
			int errnum = errno;

			*at = kept;
			return -errnum;
		}
		*at = kept;
		if (!kept)
			return 0;
	}
}

/* Opens the folder; make: where it is missing. Returns a descriptor or a negative errno. */
static int open_folder(char *path, bool make)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(path, flags);

	if (fd < 0 && errno == ENOENT && make) {
		int status = make_folders(path);

		if (status)
			return status;
		fd = open(path, flags);
	}
	return fd < 0 ? -errno : fd;
}

static int lock_folder(int fd, const char *path, struct error *error)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return error_set(error, EXIT_IO, EBUSY,
			"another burin run is writing to '%s'; wait for it or choose another "
			"folder with -o",
			path);
	/* Some network file systems lock no folders. */
	log_warn("'%s' can't be locked (%s): see to it that no second run writes there", path,
		strerror(errno));
	return 0;
}

/* Of no account in a folder: a run that was killed before it began leaves its first checkpoint
 * unfinished. */
static bool is_nothing(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	       strcmp(name, SINK_CHECKPOINT SINK_TEMPORARY_SUFFIX) == 0;
}

static int check_empty(int fd, const char *path, struct error *error)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), status = 0;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	char clean[512];

	if (!dir) {
		status =
			error_set(error, EXIT_IO, errno, "cannot list the output folder '%s': %s%s",
				path, strerror(errno), advice(errno));
		if (copy >= 0)
			close(copy);
		return status;
	}
	while (!status && (entry = readdir(dir)))
		if (!is_nothing(entry->d_name))
			status = error_set(error, EXIT_IO, ENOTEMPTY,
				"the output folder '%s' is not empty (it holds '%s'); give a new "
				"or empty folder with -o",
				path, text_clean(entry->d_name, clean, sizeof(clean)));
	closedir(dir);
	return status;
}

static int check_folder(int fd, const char *path, enum opening opening, struct error *error)
{
	char clean[512];
	int status;

	text_clean(path, clean, sizeof(clean));
	status = opening == OPEN_SHARED ? 0 : lock_folder(fd, clean, error);
	if (!status && opening == OPEN_EMPTY)
		status = check_empty(fd, clean, error);
	if (!status && faccessat(fd, ".", W_OK | X_OK, AT_EACCESS))
		status = error_set(error, EXIT_IO, errno,
			"cannot write to the output folder '%s': %s%s", clean, strerror(errno),
			advice(errno));
	return status;
}

static int open_sink(
	struct sink **sink, const char *path, enum opening opening, struct error *error)
{
	char *plain = xstrdup(path), *absolute;
	int fd, status;

	/* A slash at the end would make the kernel follow a symbolic link. */
	for (size_t len = strlen(plain); len > 1 && plain[len - 1] == '/'; len--)
		plain[len - 1] = '\0';
	fd = *plain ? open_folder(plain, opening != OPEN_OLD) : -ENOENT;
	if (fd < 0) {
		status = open_error(plain, -fd, error);
		goto free_plain;
	}
	status = check_folder(fd, plain, opening, error);
	if (status)
		goto close_fd;
	absolute = realpath(plain, NULL);
	if (!absolute) {
		status = open_error(plain, errno, error);
		goto close_fd;
	}
	*sink = xcalloc(1, sizeof(**sink));
	(*sink)->path = absolute;
	(*sink)->fd = fd;
	(*sink)->namer = namer_new();
	free(plain);
	return 0;

close_fd:
	close(fd);
free_plain:
	free(plain);
	return status;
}

int sink_open(struct sink **sink, const char *path, struct error *error)
{
	return open_sink(sink, path, OPEN_EMPTY, error);
}

int sink_reopen(struct sink **sink, const char *path, struct error *error)
{
	return open_sink(sink, path, OPEN_OLD, error);
}

int sink_share(struct sink **sink, const char *path, struct error *error)
{
	return open_sink(sink, path, OPEN_SHARED, error);
}

const char *sink_path(const struct sink *sink)
{
	return sink->path;
}

int sink_dir_fd(const struct sink *sink)
{
	return sink->fd;
}

char *sink_name(struct sink *sink, const char *type, uint64_t offset, const char *label,
	const char *extension, unsigned digits)
{
	return namer_name(sink->namer, type, offset, label, extension, digits);
}

void sink_reserve(struct sink *sink, const char *name)
{
	namer_reserve(sink->namer, name);
}

void sink_save_names(const struct sink *sink, struct state_writer *writer)
{
	namer_save(sink->namer, writer);
}

void sink_load_names(struct sink *sink, struct state_reader *reader)
{
	namer_load(sink->namer, reader);
}

/* ---- files --------------------------------------------------------------------------------- */

int sink_error(const struct sink *sink, const char *name, int errnum, struct error *error)
{
	char clean[512];

	text_clean(name, clean, sizeof(clean));
	return error_set(error, EXIT_IO, errnum, "cannot write '%s/%s': %s%s", sink->path, clean,
		strerror(errnum), advice(errnum));
}

int sink_create(struct sink *sink, const char *name, struct error *error)
{
	int fd = folder_open(sink->fd, name, O_RDWR | O_CREAT | O_EXCL, true);

	return fd < 0 ? sink_error(sink, name, -fd, error) : fd;
}

static const char *temporary_name(const struct sink_file *file, char name[48])
{
	if (file->part)
		snprintf(name, 48, SINK_TEMPORARY_PREFIX "%u-%u" SINK_TEMPORARY_SUFFIX, file->part,
			file->number);
	else
		snprintf(name, 48, SINK_TEMPORARY_PREFIX "%u" SINK_TEMPORARY_SUFFIX, file->number);
	return name;
}

void sink_set_part(struct sink *sink, unsigned part)
{
	sink->part = part;
}

int sink_begin(struct sink *sink, const char *name, struct sink_file *file, struct error *error)
{
	char temporary[48];
	const char *base;
	int errnum;

	file->folder = folder_parent(sink->fd, name, true, &base);
	if (file->folder < 0)
		return sink_error(sink, name, -file->folder, error);
	file->part = sink->part;
	file->number = __atomic_fetch_add(&sink->temporaries, 1, __ATOMIC_RELAXED);
	file->fd = openat(file->folder, temporary_name(file, temporary),
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (file->fd >= 0)
		return 0;
	errnum = errno;
	close(file->folder);
	return sink_error(sink, name, errnum, error);
}

static void remove_temporary(const struct sink_file *file)
{
	char temporary[48];

	if (unlinkat(file->folder, temporary_name(file, temporary), 0))
		log_warn("the incomplete file '%s' could not be removed: %s", temporary,
			strerror(errno));
	close(file->folder);
}

void sink_drop(struct sink_file *file)
{
	close(file->fd);
	remove_temporary(file);
}

int sink_finish(struct sink *sink, const char *name, struct sink_file *file, struct error *error)
{
	const char *slash = strrchr(name, '/');
	char temporary[48];
	int status =
		close(file->fd) ? -errno : 0; /* network file systems tell of a full disk now */

	if (!status)
		status = folder_rename(
			file->folder, temporary_name(file, temporary), slash ? slash + 1 : name);
	if (!status) {
		close(file->folder);
		return 0;
	}
	remove_temporary(file);
	return sink_error(sink, name, -status, error);
}

void sink_remove(struct sink *sink, const char *name)
{
	int status = folder_unlink(sink->fd, name);
	char clean[512];

	if (status)
		log_warn("the incomplete file '%s' could not be removed: %s",
			text_clean(name, clean, sizeof(clean)), strerror(-status));
}

void sink_discard(struct sink *sink, const char *name)
{
	folder_unlink(sink->fd, name);
}

/* For file systems without O_TMPFILE. Returns a descriptor or a negative errno. */
static int create_and_unlink(struct sink *sink)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), ".spill-%ld-%u", (long)getpid(),
		__atomic_fetch_add(&sink->temporaries, 1, __ATOMIC_RELAXED));
	fd = openat(sink->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	unlinkat(sink->fd, name, 0);
	return fd;
}

int sink_temporary(struct sink *sink, struct error *error)
{
	int fd = openat(sink->fd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0 &&
		(errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT))
		fd = create_and_unlink(sink);
	else if (fd < 0)
		fd = -errno;
	return fd < 0 ? sink_error(sink, "(a temporary file)", -fd, error) : fd;
}

void sink_close(struct sink *sink)
{
	if (!sink)
		return;
	namer_free(sink->namer);
	close(sink->fd);
	free(sink->path);
	free(sink);
}
