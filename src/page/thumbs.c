/*
 * Decoders of pictures and films are what attackers target first. They run in processes of their
 * own with limits (base/sandbox.h), which get bytes and return a JPEG; this process parses neither.
 * A decoder that crashes or does not end is killed and costs the picture that it was working on.
 */
#include "page/thumbs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sandbox.h"
#include "output/dirfd.h"
#include "page/page_data.h"
#include "report/report.h"
#include "page/thumb_jobs.h"

/* Larger pictures get no thumbnail. */
#define MAX_FILE_LEN ((uint64_t)64 << 20)
/* Seconds after which a child is killed; its limit on processor time is lower, so this is for one
 * that waits. */
#define PATIENCE 30

static const struct kind {
	const char *extension;
	const char *demuxer; /* NULL: a picture that libvips reads */
	bool still;
} kinds[] = {
	{ "jpg", NULL, true },
	{ "jpeg", NULL, true },
	{ "png", NULL, true },
	{ "gif", NULL, true },
	{ "webp", NULL, true },
	{ "tif", NULL, true },
	{ "tiff", NULL, true },
	{ "heic", NULL, true },
	{ "heif", NULL, true },
	{ "avif", NULL, true },
	{ "jp2", NULL, true },
	{ "bmp", "bmp_pipe", true },
	{ "ico", "ico", true },
	{ "psd", "psd_pipe", true },
	{ "mp4", "mov", false },
	{ "m4v", "mov", false },
	{ "mov", "mov", false },
	{ "3gp", "mov", false },
	{ "mkv", "matroska", false },
	{ "webm", "matroska", false },
	{ "avi", "avi", false },
	{ "mpg", "mpeg", false },
	{ "mpeg", "mpeg", false },
	{ "ts", "mpegts", false },
	{ "flv", "flv", false },
	{ "wmv", "asf", false },
	{ "asf", "asf", false },
	{ "ogv", "ogg", false },
};

struct thumbs {
	int dir_fd;
	const char *folder;
	uint64_t left; /* to be tried */
	uint64_t made, failed;
	struct sandbox_child *pictures; /* the child for pictures; NULL: none runs */
	char *ffmpeg;                   /* its path; NULL: not looked for, or not there */
	const char *no_pictures, *no_films;
	uint8_t *file; /* a picture's bytes */
	uint8_t *jpeg;
};

static const struct kind *find_kind(const struct file_record *file)
{
	const char *extension = *file->extension ? file->extension : file->type;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcasecmp(extension, kinds[i].extension) == 0)
			return &kinds[i];
	return NULL;
}

bool thumbs_wants(const struct file_record *file)
{
	return find_kind(file) != NULL;
}

/* ---- children ------------------------------------------------------------------------------ */

static struct sandbox_child *start_child(int (*job)(int fd, void *arg), void *arg)
{
	const struct sandbox_limits limits = { THUMB_SECONDS, THUMB_MEMORY };
	const struct timeval patience = { .tv_sec = PATIENCE };
	struct sandbox_child *child = NULL;

	if (sandbox_start(&child, job, arg, &limits))
		return NULL;
	setsockopt(sandbox_socket(child), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(sandbox_socket(child), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return child;
}

static void end_pictures(struct thumbs *thumbs)
{
	if (thumbs->pictures)
		free(sandbox_end(thumbs->pictures));
	thumbs->pictures = NULL;
}

static bool start_pictures(struct thumbs *thumbs)
{
	char ready = 0;

	if (thumbs->no_pictures)
		return false;
	if (thumbs->pictures)
		return true;
	thumbs->pictures = start_child(thumb_pictures_job, NULL);
	if (thumbs->pictures && sandbox_receive(sandbox_socket(thumbs->pictures), &ready, 1) &&
		ready)
		return true;
	thumbs->no_pictures = "libvips is not installed, or does not start";
	end_pictures(thumbs);
	return false;
}

/* ---- bytes --------------------------------------------------------------------------------- */

/* Reads the whole file, which may have become shorter. Returns its length, 0 for a failure. */
static uint32_t read_file(struct thumbs *thumbs, const struct file_record *record)
{
	int fd = dirfd_open(thumbs->dir_fd, record->path, O_RDONLY | O_NONBLOCK, false);
	struct stat info;
	size_t len = 0;
	ssize_t n = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
		(uint64_t)info.st_size <= MAX_FILE_LEN) {
		thumbs->file = xreallocarray(thumbs->file, (size_t)info.st_size, 1);
		while (len < (size_t)info.st_size &&
			(n = read(fd, thumbs->file + len, (size_t)info.st_size - len)) > 0)
			len += (size_t)n;
	}
	close(fd);
	return n < 0 ? 0 : (uint32_t)len;
}

/* A compromised child may send any. */
static bool is_on_earth(const struct thumb_facts *facts)
{
	return facts->latitude >= -90000000 && facts->latitude <= 90000000 &&
	       facts->longitude >= -180000000 && facts->longitude <= 180000000;
}

static uint32_t request_picture(struct thumbs *thumbs, uint32_t file_len, struct thumb_facts *facts)
{
	int fd = sandbox_socket(thumbs->pictures);
	uint32_t len = 0;

	if (sandbox_send(fd, &file_len, sizeof(file_len)) &&
		sandbox_send(fd, thumbs->file, file_len) &&
		sandbox_receive(fd, &len, sizeof(len)) && len <= THUMB_MAX_LEN &&
		sandbox_receive(fd, facts, sizeof(*facts)) &&
		sandbox_receive(fd, thumbs->jpeg, len) && is_on_earth(facts))
		return len;
	*facts = (struct thumb_facts){ 0 };
	end_pictures(thumbs);
	return 0;
}

/* Reads until the child is done; more than a thumbnail needs is an error. */
static uint32_t receive_all(int fd, uint8_t *bytes)
{
	uint32_t len = 0;
	ssize_t n;

	while (len < THUMB_MAX_LEN && ((n = recv(fd, bytes + len, THUMB_MAX_LEN - len, 0)) > 0 ||
					      (n < 0 && errno == EINTR)))
		len += n > 0 ? (uint32_t)n : 0;
	return len < THUMB_MAX_LEN ? len : 0;
}

static uint32_t request_film(
	struct thumbs *thumbs, const struct file_record *file, const struct kind *kind)
{
	struct thumb_film film = { thumbs->ffmpeg, thumbs->folder, file->path, kind->demuxer,
		kind->still };
	struct sandbox_child *child = start_child(thumb_film_job, &film);
	uint32_t len;

	if (!child)
		return 0;
	len = receive_all(sandbox_socket(child), thumbs->jpeg);
	free(sandbox_end(child));
	return len;
}

/* The page shows only what begins like a JPEG, whatever a compromised child may send. */
static bool save_thumb(struct thumbs *thumbs, uint32_t len, uint64_t number)
{
	char path[64];
	FILE *file;

	if (len < 3 || memcmp(thumbs->jpeg, "\xFF\xD8\xFF", 3) != 0)
		return false;
	snprintf(path, sizeof(path), PAGE_THUMBS_DIR "p%08" PRIu64 ".jpg", number);
	if (page_data_create(thumbs->dir_fd, path, &file, NULL))
		return false;
	fwrite(thumbs->jpeg, 1, len, file);
	return page_data_close(file, path, NULL) == 0;
}

/* ---- from outside -------------------------------------------------------------------------- */

/* The path of a program of that name in PATH, which the caller frees; NULL: there is none. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t len = strcspn(path, ":");
		char *full = xasprintf("%.*s/%s", (int)len, path, name);

		if (access(full, X_OK) == 0)
			return full;
		free(full);
		path += len + (path[len] == ':');
	}
	return NULL;
}

/* Called only when there is a film, so that a page without films does not complain. */
static bool have_films(struct thumbs *thumbs)
{
	if (!thumbs->ffmpeg && !thumbs->no_films) {
		thumbs->ffmpeg = find_program("ffmpeg");
		thumbs->no_films = thumbs->ffmpeg ? NULL : "ffmpeg is not installed";
	}
	return thumbs->ffmpeg;
}

struct thumbs *thumbs_open(int dir_fd, const char *folder, uint64_t max)
{
	struct thumbs *thumbs = xcalloc(1, sizeof(*thumbs));

	page_data_remove(dir_fd, "thumbs", ".jpg");
	*thumbs = (struct thumbs){ .dir_fd = dir_fd, .folder = folder, .left = max };
	thumbs->jpeg = xmalloc(THUMB_MAX_LEN);
	return thumbs;
}

struct thumb thumbs_make(struct thumbs *thumbs, const struct file_record *file, uint64_t number)
{
	const struct kind *kind = file->written && thumbs->left ? find_kind(file) : NULL;
	struct thumb thumb = { 0 };
	uint32_t len;

	if (!kind || !(kind->demuxer ? have_films(thumbs) : start_pictures(thumbs)))
		return thumb;
	thumbs->left--;
	if (kind->demuxer)
		len = request_film(thumbs, file, kind);
	else
		len = (len = read_file(thumbs, file)) ? request_picture(thumbs, len, &thumb.facts)
						      : 0;
	thumb.state = save_thumb(thumbs, len, number) ? 'y' : 'f';
	thumbs->made += thumb.state == 'y';
	thumbs->failed += thumb.state == 'f';
	return thumb;
}

void thumbs_close(struct thumbs *thumbs, struct page_counts *counts)
{
	counts->thumbs = thumbs->made;
	counts->failed_thumbs = thumbs->failed;
	counts->no_pictures = thumbs->no_pictures;
	counts->no_films = thumbs->no_films;
	end_pictures(thumbs);
	free(thumbs->ffmpeg);
	free(thumbs->jpeg);
	free(thumbs->file);
	free(thumbs);
}
