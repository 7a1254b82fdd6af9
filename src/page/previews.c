/*
 * Nothing is parsed: of a file that looks like text, so that a person can read it, there are 4 KiB, of
 * another one what fills a few lines, all as hexadecimal digits, and the browser makes characters of them.
 */
#include "page/previews.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "output/dirfd.h"
#include "page/page_data.h"
#include "report/report.h"

#define PREVIEW_FILES 256 /* as in page/assets/preview.js */
#define TEXT_LEN ((size_t)4096)
#define BYTES_LEN ((size_t)256)

struct previews {
	int dir_fd;
	uint64_t left; /* to be made */
	uint64_t part; /* number of the part that is being filled, from 0 */
	struct strbuf rows;
};

/* Control characters but those of lines and pages are not in text, in any encoding that ASCII is a part of. */
static bool looks_like_text(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] < 32 && !strchr("\t\n\r\f\x1b", bytes[i] ? bytes[i] : 1))
			return false;
	return true;
}

static size_t read_start(struct previews *previews, const char *path, uint8_t *bytes)
{
	int fd = dirfd_open(previews->dir_fd, path, O_RDONLY | O_NONBLOCK, false);
	struct stat info;
	ssize_t len = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
		len = file_read_at(fd, bytes, TEXT_LEN, 0);
	close(fd);
	return len > 0 ? (size_t)len : 0;
}

static int write_part(struct previews *previews, struct error *error)
{
	char path[64];
	FILE *file;
	int status;

	if (!previews->rows.len)
		return 0;
	snprintf(path, sizeof(path), PAGE_DATA_DIR "p%08" PRIu64 ".js", previews->part);
	status = page_data_create(previews->dir_fd, path, &file, error);
	if (status)
		return status;
	fputs("burin.previewPart([", file);
	strbuf_write(&previews->rows, file);
	fputs("]);\n", file);
	previews->rows.len = 0;
	return page_data_close(file, path, error);
}

struct previews *previews_open(int dir_fd, uint64_t max)
{
	struct previews *previews = xcalloc(1, sizeof(*previews));

	page_data_remove(dir_fd, "report.data", ".js");
	previews->dir_fd = dir_fd;
	previews->left = max;
	return previews;
}

int previews_add(struct previews *previews, const struct file_record *file, uint64_t number,
	struct error *error)
{
	uint8_t bytes[TEXT_LEN];
	size_t len = previews->left && file->written ? read_start(previews, file->path, bytes) : 0;
	uint64_t part = (number - 1) / PREVIEW_FILES;
	bool text = looks_like_text(bytes, len);
	int status = 0;

	if (!len)
		return 0;
	previews->left--;
	if (part != previews->part)
		status = write_part(previews, error);
	previews->part = part;
	if (!text && len > BYTES_LEN)
		len = BYTES_LEN;
	strbuf_print(&previews->rows, "%s[%" PRIu64 ",%d,\"", previews->rows.len ? "," : "",
		number - 1, text);
	for (size_t i = 0; i < len; i++)
		strbuf_print(&previews->rows, "%02x", bytes[i]);
	strbuf_text(&previews->rows, "\"]");
	return status ? status : 1;
}

int previews_finish(struct previews *previews, struct error *error)
{
	return write_part(previews, error);
}

void previews_close(struct previews *previews)
{
	strbuf_free(&previews->rows);
	free(previews);
}
