/*
 * How fast one carver checks files, in one thread, from memory.
 *
 *     carver_speed CARVER [--seconds S] FILE...
 *
 * A line for each file: MB/s (10^6 bytes of what the check found to be its length) by processor
 * time, the best of the checks that fit into S seconds (0.5; at least 3), nanoseconds for a unit of
 * work (view_work), and the verdict. The last line has the files together.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "carve/view.h"
#include "carvers/carver.h"

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = { "reject", "complete", "truncated", "unverified" };

	return names[verdict];
}

/* Maps a whole file. */
static const uint8_t *map_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;
	void *bytes = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &stat) == 0) {
		*len = (size_t)stat.st_size;
		bytes = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	return bytes == MAP_FAILED ? NULL : bytes;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "seconds", required_argument, NULL, 's' },
		{ 0 } };
	double limit = 0.5, all_time = 0, all_bytes = 0;
	const struct carver *carver;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option != 's')
			return 2;
		limit = strtod(optarg, NULL);
	}
	carver = optind < argc ? carver_find(argv[optind]) : NULL;
	if (!carver) {
		fprintf(stderr, "usage: carver_speed CARVER [--seconds S] FILE...\n");
		return 2;
	}
	for (int i = optind + 1; i < argc; i++) {
		double start = seconds(), best = 1e9;
		const char *slash = strrchr(argv[i], '/');
		struct finding finding = { 0 };
		enum verdict verdict = CARVE_REJECT;
		uint64_t work = 1;
		size_t len;
		const uint8_t *bytes = map_file(argv[i], &len);

		if (!bytes) {
			perror(argv[i]);
			return 1;
		}
		for (int runs = 0; runs < 3 || seconds() - start < limit; runs++) {
			struct view *view = view_new_memory(bytes, len);
			double from = seconds(), took;

			memset(&finding, 0, sizeof(finding));
			verdict = carver->check(view, &finding);
			took = seconds() - from;
			best = took < best ? took : best;
			work = view_work_done(view);
			view_free(view);
		}
		printf("%-40.40s %10zu bytes %8.1f MB/s %6.2f ns a unit  %s\n",
			slash ? slash + 1 : argv[i], (size_t)finding.length,
			(double)finding.length / best / 1e6, best * 1e9 / (double)work,
			verdict_name(verdict));
		all_time += best;
		all_bytes += (double)finding.length;
		munmap((void *)bytes, len);
	}
	if (all_time > 0)
		printf("%-40s %10.0f bytes %8.1f MB/s\n", "all", all_bytes,
			all_bytes / all_time / 1e6);
	return 0;
}
