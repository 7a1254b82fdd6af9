/*
 * Opens evidence, and chooses the backend that reads it.
 *
 * Nothing here may touch the evidence: files are opened read-only, and only after a check of what
 * they are, so that a FIFO can't block the run and a tape can't be wound.
 */
#include "evidence/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "evidence/backend.h"
#include "evidence/ddrescue_map.h"
#include "evidence/e01_names.h"
#include "evidence/inner.h"
#include "evidence/split.h"
#include "evidence/unsupported.h"
#include "evidence/volumes.h"

#define SPARE_DESCRIPTORS 256

/* The last one accepts whatever no other recognises. */
static const struct image_backend *const backends[] = { &ewf_backend, &container_backend,
	&block_backend, &raw_backend };

static const char *kind_of(mode_t mode)
{
	if (S_ISDIR(mode))
		return "a folder";
	if (S_ISFIFO(mode))
		return "a pipe";
	if (S_ISSOCK(mode))
		return "a socket";
	return "a character device";
}

static int check_kind(const char *path, const struct stat *st, struct error *error)
{
	if (S_ISBLK(st->st_mode))
		return 0;
	if (!S_ISREG(st->st_mode))
		return error_set(error, EXIT_IO, EINVAL,
			"%s is %s, not an image: give a file or a block device", path,
			kind_of(st->st_mode));
	if (st->st_size == 0)
		return error_set(
			error, EXIT_IO, ENODATA, "%s is empty: there is nothing to read", path);
	return 0;
}

static int cannot_open(const char *path, struct error *error)
{
	int errnum = errno;

	if (errnum == ENOENT && strcmp(path, "-") == 0)
		return error_set(error, EXIT_IO, errnum,
			"burin reads no image from standard input, since evidence is read more "
			"than once: write it to a file first");
	return error_set(error, EXIT_IO, errnum, "can't open %s: %s%s", path, strerror(errnum),
		errnum == EACCES || errnum == EPERM ? "; run burin as a user who may read it" : "");
}

/* Extensions of images that are not raw, for when the head can't be read. */
static bool is_container_name(const char *path)
{
	static const char *const extensions[] = { "e01", "ex01", "s01", "l01", "lx01", "aff",
		"aff4", "afd", "vmdk", "vhd", "vhdx", "qcow2", "vdi", "dmg" };
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof(extensions) / sizeof(*extensions); i++)
		if (strcasecmp(dot + 1, extensions[i]) == 0)
			return true;
	return false;
}

/* A disk that fails at its very beginning is evidence like any other. */
static int accept_headless(const char *path, int errnum, struct error *error)
{
	if (!is_container_name(path))
		return 0;
	return error_set(error, EXIT_IO, errnum,
		"can't read the head of %s (%s), and without it the file can't be decoded; copy "
		"it to a working disk first",
		path, strerror(errnum));
}

int image_read_ends(int fd, struct image_ends *ends)
{
	ssize_t head_len = file_read_at(fd, ends->head, IMAGE_HEAD_LEN, 0), tail_len = 0;
	struct stat st;

	ends->headless = head_len < 0;
	if (ends->headless)
		return (int)head_len;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= IMAGE_TAIL_LEN)
		tail_len =
			file_read_at(fd, ends->tail, IMAGE_TAIL_LEN, st.st_size - IMAGE_TAIL_LEN);
	ends->head_len = (size_t)head_len;
	ends->tail_len = tail_len > 0 ? (size_t)tail_len : 0;
	return 0;
}

bool image_has_format(const struct image_ends *ends)
{
	for (size_t i = 0; i + 1 < sizeof(backends) / sizeof(*backends); i++)
		if (backends[i]->probe(ends))
			return true;
	return false;
}

/* Refuses what burin does not read as evidence, otherwise leaves the file's ends in *ends, zeros
 * where there are none. */
static int inspect_open(int fd, const char *path, struct image_ends *ends, struct error *error)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st))
		return cannot_open(path, error);
	rc = check_kind(path, &st, error);
	if (rc)
		return rc;
	rc = image_read_ends(fd, ends);
	if (rc)
		return accept_headless(path, -rc, error);
	return image_has_format(ends)
		       ? 0
		       : unsupported_container(path, ends->head, ends->head_len, error);
}

int image_open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_NOATIME);

	return fd < 0 && errno == EPERM ? open(path, flags) : fd;
}

static int inspect(const char *path, struct image_ends *ends, struct error *error)
{
	struct stat st;
	int fd, rc;

	if (stat(path, &st))
		return cannot_open(path, error);
	rc = check_kind(path, &st, error);
	if (rc)
		return rc;
	/* Should a pipe have taken the file's place meanwhile, O_NONBLOCK keeps this from waiting
	 * for a writer. */
	fd = image_open_file(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return cannot_open(path, error);
	rc = inspect_open(fd, path, ends, error);
	close(fd);
	return rc;
}

struct file_state {
	bool known;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

/* Devices have no size, and their times are those of the node. */
static struct file_state file_state_of(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return (struct file_state){ 0 };
	return (struct file_state){ true, st.st_dev, st.st_ino, st.st_size, st.st_mtim };
}

static void note_states(struct image *image)
{
	image->states = xcalloc(image->info.path_count, sizeof(*image->states));
	for (size_t i = 0; i < image->info.path_count; i++)
		image->states[i] = file_state_of(image->info.paths[i]);
}

int image_open(struct image **image, const char *path, struct error *error)
{
	struct image_ends ends = { .path = path };
	size_t i = 0;
	int rc;

	if (inner_is_path(path)) {
		rc = inner_open(image, path, error);
		if (!rc)
			note_states(*image);
		return rc;
	}
	rc = inspect(path, &ends, error);
	if (rc)
		return rc;
	while (!backends[i]->probe(&ends))
		i++;
	rc = backends[i]->open(image, path, &ends, error);
	if (!rc)
		note_states(*image);
	if (!rc && ends.headless && !(*image)->info.damage)
		(*image)->info.damage = xasprintf(
			"the head of %s can't be read, so it is treated as a raw image", path);
	if (!rc && !(*image)->info.damage)
		(*image)->info.damage = unsupported_caution(path, ends.head, ends.head_len);
	return rc;
}

char *image_first_segment(const char *path)
{
	char *first = e01_first_name(path);

	return first ? first : split_first(path);
}

char *image_changed(const struct image *image)
{
	for (size_t i = 0; i < image->info.path_count; i++) {
		const char *path = image->info.paths[i], *what = NULL;
		struct file_state now = file_state_of(path);
		const struct file_state *then = &image->states[i];

		if (!then->known)
			continue;
		if (!now.known || now.device != then->device || now.inode != then->inode)
			what = "another file has taken its place";
		else if (now.size != then->size)
			what = "its size is another";
		else if (now.changed.tv_sec != then->changed.tv_sec ||
			 now.changed.tv_nsec != then->changed.tv_nsec)
			what = "its time of modification is another";
		if (what)
			return xasprintf("%s was changed while it was read: %s", path, what);
	}
	return NULL;
}

void image_allow_descriptors(size_t count)
{
	rlim_t wanted = (rlim_t)count + SPARE_DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int image_use_ddrescue_map(struct image *image, const char *ddrescue_map_path, struct error *error)
{
	int rc;

	while (image->outer)
		image = image->outer;
	rc = ddrescue_map_read(&image->unread, ddrescue_map_path, image->info.size, error);
	if (!rc)
		image->ddrescue_map_path = xstrdup(ddrescue_map_path);
	return rc;
}

static void free_info(struct image_info *info)
{
	for (size_t i = 0; i < info->path_count; i++)
		free(info->paths[i]);
	for (size_t i = 0; i < info->value_count; i++) {
		free(info->values[i].name);
		free(info->values[i].value);
	}
	free(info->paths);
	free(info->values);
	free(info->damage);
}

void image_close(struct image *image)
{
	struct image *outer = image ? image->outer : NULL;
	char *outer_path = image ? image->outer_path : NULL;

	if (!image)
		return;
	volumes_free(image->list);
	free_info(&image->info);
	ranges_free(&image->unread);
	free(image->ddrescue_map_path);
	free(image->states);
	image->backend->close(image);
	inner_close_outer(outer, outer_path);
}
