/* QCOW2, VDI, and raw images compressed in parts (evidence/block_file.h), in a process that can read nothing but
 * the file. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "confined/served_work.h"
#include "evidence/block_job.h"

#define SECTOR_LEN 512

static char *file_path(const void *arg)
{
	return xstrdup(((const struct block_job *)arg)->path);
}

static void *open_file(struct served *served, void *arg)
{
	const struct block_job *job = arg;
	const struct block_format *format = block_format_at(job->format);
	struct block_about about;
	struct block_file *file = format ? block_file_open(format, job->path, &about) : NULL;

	if (file) {
		served_set_size(served, about.size, SECTOR_LEN);
		served_answer_open(served, &about, sizeof(about));
	} else if (format) {
		served_refuse(served, "%s", about.refusal);
		served_set_errno(served, about.refusal_errno);
	}
	return file;
}

static int read_file(void *handle, uint64_t offset, void *buffer, size_t len)
{
	return block_file_read(handle, offset, buffer, len);
}

static size_t list_file(void *handle, uint64_t offset, uint64_t effort, void *buffer)
{
	struct block_file *file = handle;

	if (offset >= file->about.size || !effort)
		return 0;
	return block_file_list(file, offset, (size_t)effort, buffer, BLOCK_EXTENTS_MAX) *
	       sizeof(struct block_extent);
}

const struct served_kind served_blocks = {
	.name = "blocks",
	.memory = (uint64_t)1 << 30,
	.folder = file_path,
	.open = open_file,
	.read_at = read_file,
	.list_at = list_file,
};
