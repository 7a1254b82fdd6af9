/* AFF4 (evidence/aff4.h), in a process that can read nothing but its folder. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "confined/served_work.h"
#include "evidence/aff4.h"
#include "evidence/backend.h"
#include "evidence/container_job.h"

#define SECTOR_LEN 512

static int fd = -1;

static int read_file(void *context, uint64_t offset, void *buffer, size_t len)
{
	(void)context;
	return file_read_at(fd, buffer, len, offset) == (ssize_t)len ? 0 : -EIO;
}

static void *open_file(struct served *served, void *arg)
{
	const struct container *container = arg;
	struct aff4_source source = { .read = read_file };
	char reason[256];
	struct aff4 *aff4;
	struct stat st;

	fd = image_open_file(container->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		served_refuse(served, "%s", strerror(errno));
		return NULL;
	}
	source.size = (uint64_t)st.st_size;
	aff4 = aff4_open(&source, reason, sizeof(reason));
	if (aff4)
		served_set_size(served, aff4_size(aff4), SECTOR_LEN);
	else
		served_refuse(served, "%s", reason);
	return aff4;
}

static int read_disk(void *handle, uint64_t offset, void *buffer, size_t len)
{
	return aff4_read(handle, offset, buffer, len);
}

const struct served_kind served_aff4 = {
	.name = "aff4",
	.memory = (uint64_t)1 << 30,
	.folder = served_container_folder,
	.open = open_file,
	.read_at = read_disk,
};
