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

struct output_dir {
	char *path;
	int fd;
	unsigned part, temporaries;
	struct path_alloc *path_alloc;
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

/* mkdir -p. path is changed temporarily. Returns 0 or a negative errno. */
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

/* Opens the folder; make: creates it where it is missing. Returns a descriptor or a negative errno.
 */
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
	log_warn("'%s' can't be locked (%s): make sure that no second run writes there", path,
		strerror(errno));
	return 0;
}

/* Entries that do not count: a run that was killed before it began leaves its first checkpoint
 * unfinished. */
static bool is_ignored(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	       strcmp(name, OUTPUT_DIR_CHECKPOINT OUTPUT_DIR_TEMPORARY_SUFFIX) == 0;
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
		if (!is_ignored(entry->d_name))
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

static int open_any(
	struct output_dir **output_dir, const char *path, enum opening opening, struct error *error)
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
	*output_dir = xcalloc(1, sizeof(**output_dir));
	(*output_dir)->path = absolute;
	(*output_dir)->fd = fd;
	(*output_dir)->path_alloc = path_alloc_new();
	free(plain);
	return 0;

close_fd:
	close(fd);
free_plain:
	free(plain);
	return status;
}

int output_dir_open(struct output_dir **output_dir, const char *path, struct error *error)
{
	return open_any(output_dir, path, OPEN_EMPTY, error);
}

int output_dir_reopen(struct output_dir **output_dir, const char *path, struct error *error)
{
	return open_any(output_dir, path, OPEN_OLD, error);
}

int output_dir_share(struct output_dir **output_dir, const char *path, struct error *error)
{
	return open_any(output_dir, path, OPEN_SHARED, error);
}

const char *output_dir_path(const struct output_dir *output_dir)
{
	return output_dir->path;
}

int output_dir_fd(const struct output_dir *output_dir)
{
	return output_dir->fd;
}

void output_dir_claim(struct output_dir *output_dir, const char *type, uint64_t offset,
	const char *extension, struct path_claim *claim)
{
	path_alloc_claim(output_dir->path_alloc, type, offset, extension, claim);
}

char *output_dir_claimed_name(const struct path_claim *claim, uint64_t offset, const char *label,
	const char *extension, unsigned digits, char *room, size_t room_len)
{
	return path_alloc_print(claim, offset, label, extension, digits, room, room_len);
}

void output_dir_reserve(struct output_dir *output_dir, const char *name)
{
	path_alloc_reserve(output_dir->path_alloc, name);
}

void output_dir_save_names(const struct output_dir *output_dir, struct codec_writer *writer)
{
	path_alloc_save(output_dir->path_alloc, writer);
}

void output_dir_load_names(struct output_dir *output_dir, struct codec_reader *reader)
{
	path_alloc_load(output_dir->path_alloc, reader);
}

/* ---- files --------------------------------------------------------------------------------- */

int output_dir_error(
	const struct output_dir *output_dir, const char *name, int errnum, struct error *error)
{
	char clean[512];

	text_clean(name, clean, sizeof(clean));
	return error_set(error, EXIT_IO, errnum, "cannot write '%s/%s': %s%s", output_dir->path,
		clean, strerror(errnum), advice(errnum));
}

int output_dir_create(struct output_dir *output_dir, const char *name, struct error *error)
{
	int fd = dirfd_open(output_dir->fd, name, O_RDWR | O_CREAT | O_EXCL, true);

	return fd < 0 ? output_dir_error(output_dir, name, -fd, error) : fd;
}

static const char *temporary_name(const struct output_dir_file *file, char name[48])
{
	if (file->part)
		snprintf(name, 48, OUTPUT_DIR_TEMPORARY_PREFIX "%u-%u" OUTPUT_DIR_TEMPORARY_SUFFIX,
			file->part, file->number);
	else
		snprintf(name, 48, OUTPUT_DIR_TEMPORARY_PREFIX "%u" OUTPUT_DIR_TEMPORARY_SUFFIX,
			file->number);
	return name;
}

void output_dir_set_part(struct output_dir *output_dir, unsigned part)
{
	output_dir->part = part;
}

int output_dir_begin(struct output_dir *output_dir, const char *name, struct output_dir_file *file,
	struct error *error)
{
	char temporary[48];
	const char *base;
	int errnum;

	file->folder = dirfd_parent(output_dir->fd, name, true, &base);
	if (file->folder < 0)
		return output_dir_error(output_dir, name, -file->folder, error);
	file->part = output_dir->part;
	file->number = __atomic_fetch_add(&output_dir->temporaries, 1, __ATOMIC_RELAXED);
	file->fd = openat(file->folder, temporary_name(file, temporary),
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (file->fd >= 0)
		return 0;
	errnum = errno;
	close(file->folder);
	return output_dir_error(output_dir, name, errnum, error);
}

static void remove_temporary(const struct output_dir_file *file)
{
	char temporary[48];

	if (unlinkat(file->folder, temporary_name(file, temporary), 0))
		log_warn("the incomplete file '%s' could not be removed: %s", temporary,
			strerror(errno));
	close(file->folder);
}

void output_dir_drop(struct output_dir_file *file)
{
	close(file->fd);
	remove_temporary(file);
}

int output_dir_finish(struct output_dir *output_dir, const char *name, struct output_dir_file *file,
	struct error *error)
{
	char temporary[48];
	int status = close(file->fd) ? -errno
				     : 0; /* network file systems report a full disk only here */

	if (!status)
		status = dirfd_rename(
			file->folder, temporary_name(file, temporary), text_file_name(name));
	if (!status) {
		close(file->folder);
		return 0;
	}
	remove_temporary(file);
	return output_dir_error(output_dir, name, -status, error);
}

void output_dir_remove(struct output_dir *output_dir, const char *name)
{
	int status = dirfd_unlink(output_dir->fd, name);
	char clean[512];

	if (status)
		log_warn("the incomplete file '%s' could not be removed: %s",
			text_clean(name, clean, sizeof(clean)), strerror(-status));
}

void output_dir_discard(struct output_dir *output_dir, const char *name)
{
	dirfd_unlink(output_dir->fd, name);
}

/* For file systems without O_TMPFILE. Returns a descriptor or a negative errno. */
static int create_and_unlink(struct output_dir *output_dir)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), ".spill-%ld-%u", (long)getpid(),
		__atomic_fetch_add(&output_dir->temporaries, 1, __ATOMIC_RELAXED));
	fd = openat(output_dir->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	unlinkat(output_dir->fd, name, 0);
	return fd;
}

int output_dir_temporary(struct output_dir *output_dir, struct error *error)
{
	int fd = openat(output_dir->fd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0 &&
		(errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT))
		fd = create_and_unlink(output_dir);
	else if (fd < 0)
		fd = -errno;
	return fd < 0 ? output_dir_error(output_dir, "(a temporary file)", -fd, error) : fd;
}

void output_dir_close(struct output_dir *output_dir)
{
	if (!output_dir)
		return;
	path_alloc_free(output_dir->path_alloc);
	close(output_dir->fd);
	free(output_dir->path);
	free(output_dir);
}
