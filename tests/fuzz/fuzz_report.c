/* A report.jsonl of hostile content: every record that is let through must keep its promises. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/report_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const struct report_reader_run *run, const struct file_record *file)
{
	uint64_t sum = 0;

	if (*file->path == '/' || strstr(file->path, "..") == file->path)
		abort();
	for (uint32_t i = 0; i < file->run_count; i++) {
		const struct range *range = &file->runs[i];

		if (range->offset > run->image_size ||
			range->length > run->image_size - range->offset)
			abort();
		sum += range->length;
	}
	if (sum != file->length)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct report_reader *report;
	struct file_record file;
	struct error error = { 0 };
	char path[64];
	int fd = memfd_create("report", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (report_reader_open(&report, AT_FDCWD, path, &error) == 0) {
		while (report_reader_next(report, &file, &error) == 1)
			check(report_reader_run(report), &file);
		report_reader_close(report);
	} else if (!*error.text) {
		abort();
	}
	close(fd);
	return 0;
}
