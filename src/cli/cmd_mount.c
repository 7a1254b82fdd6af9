/* `burin mount`: the files of a report as a file system. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/command.h"
#include "mount/mount.h"
#include "run/secret_files.h"

struct mount_settings {
	unsigned unreadable; /* 1: zeros */
	struct secret_files secrets;
	bool foreground;
};

/* Everything that a mount needs. */
struct mounting {
	const struct mount_settings *settings;
	const char *report_path, *image_path,
		*mount_point; /* image_path NULL: the report names it; mount_point: absolute,
					     * since the process in the background goes elsewhere */
	int ready_fd;         /* where to say that it is mounted; -1: to nobody */
};

static int open_evidence(const struct mounting *mounting, const struct report_reader *report,
	struct image **image, struct error *error)
{
	const char *path =
		mounting->image_path ? mounting->image_path : report_reader_image(report);
	int status = secret_files_read(&mounting->settings->secrets, error);

	if (!status)
		status = image_open(image, path, error);
	if (!status)
		status = report_reader_check_image(report, *image, path, error);
	return status;
}

/* The one who started this may go on; nothing is printed any more. */
static void say_ready(void *context)
{
	const struct mounting *mounting = context;
	int null = mounting->ready_fd < 0 ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);

	if (mounting->ready_fd < 0)
		return;
	if (chdir("/") || write(mounting->ready_fd, "", 1) != 1)
		log_warn("cannot tell that the files are mounted");
	close(mounting->ready_fd);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && null >= 0; fd++)
		dup2(null, fd);
}

static int serve(struct mounting *mounting)
{
	struct mount_options options = { .zeros = mounting->settings->unreadable == 1 };
	struct report_reader *report = NULL;
	struct image *image = NULL;
	struct files files = { 0 };
	struct error error = { 0 };
	int status = report_reader_open(&report, AT_FDCWD, mounting->report_path, &error);

	if (!status)
		status = open_evidence(mounting, report, &image, &error);
	if (!status)
		status = files_read(&files, report, &error);
	if (!status) {
		options.source = report_reader_run(report)->image_path;
		log_info("%s: %zu file%s", mounting->mount_point, files.count,
			files.count == 1 ? "" : "s");
		status = mount_serve(&files, image, mounting->mount_point, &options, say_ready,
			mounting, &error);
	}
	if (status)
		log_error("%s", error.text);
	files_free(&files);
	image_close(image);
	report_reader_close(report);
	return status ? error.code : EXIT_CLEAN;
}

/* Serves in a process of its own. Returns when the files are mounted, or with the exit code of what went
 * wrong. The evidence is opened there: what reads it belongs to that process. */
static int serve_in_background(struct mounting *mounting)
{
	int pipe_fds[2], status = 0;
	char byte;
	pid_t child;

	if (pipe2(pipe_fds, O_CLOEXEC) || (child = fork()) < 0) {
		log_error("cannot start a process in the background: %s", strerror(errno));
		return EXIT_IO;
	}
	if (child == 0) {
		close(pipe_fds[0]);
		setsid();
		mounting->ready_fd = pipe_fds[1];
		return serve(mounting);
	}
	close(pipe_fds[1]);
	if (read(pipe_fds[0], &byte, 1) != 1 && waitpid(child, &status, 0) == child)
		status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_IO;
	close(pipe_fds[0]);
	return status;
}

/* Its absolute path, which the caller frees; NULL, with the reason logged, unless it is an empty folder: the
 * evidence, if it is named last by mistake, must not be hidden. */
static char *mount_point_at(const char *path)
{
	DIR *dir = opendir(path);
	char *absolute = NULL;
	const struct dirent *entry;
	bool empty = true;

	while (dir && (entry = readdir(dir)))
		empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	if (dir && empty)
		absolute = realpath(path, NULL);
	if (!absolute)
		log_error("cannot mount at '%s': %s", path,
			empty ? strerror(errno) : "the folder is not empty");
	if (dir)
		closedir(dir);
	return absolute;
}

static int run_mount(void *arg, int argc, char **argv)
{
	const struct mount_settings *settings = arg;
	char *report_path = report_reader_path(argv[0]),
	     *mount_point = mount_point_at(argv[argc - 1]);
	struct mounting mounting = { settings, report_path, argc > 2 ? argv[1] : NULL, mount_point,
		-1 };
	int code = EXIT_USAGE;

	if (mount_point)
		code = settings->foreground ? serve(&mounting) : serve_in_background(&mounting);
	free(mount_point);
	free(report_path);
	return code;
}

static const struct option_row mount_options[] = {
	{ .name = "foreground",
		.letter = 'f',
		.kind = OPTION_FLAG,
		.offset = offsetof(struct mount_settings, foreground),
		.help = "Stay in the foreground until it is unmounted" },
	{ .name = "unreadable",
		.kind = OPTION_CHOICE,
		.choices = "error|zeros",
		.fallback = "error",
		.offset = offsetof(struct mount_settings, unreadable),
		.help = "What a file shows where the evidence can't be read: a read error, or "
			"zeros as in carved files" },
	SECRET_FILE_ROWS(struct mount_settings, secrets, NULL),
	{ 0 },
};

static const struct example mount_examples[] = {
	{ "burin carve -p -o plan disk.E01",
		"lists what would be carved, writing only the reports" },
	{ "burin mount plan /mnt/found", "shows these files in /mnt/found" },
	{ "fusermount3 -u /mnt/found", "unmounts them" },
	{ NULL, NULL },
};

const struct command mount_command = {
	.name = "mount",
	.summary = "Mount the files of a report, without copying them",
	.arguments = "REPORT [IMAGE] MOUNTPOINT",
	.min_arguments = 2,
	.max_arguments = 3,
	.description =
		"Mounts a read-only file system at MOUNTPOINT, an empty folder. It holds the files "
		"of REPORT, a report.jsonl (also of a dry run) or the output folder that has it. "
		"Programs that read a file get its bytes from IMAGE, the evidence; without IMAGE, "
		"from the path in the report. Nothing is written to disk.\n\nEach file is there by "
		"type (`type/`, named as in the report), by its path in the image's file system, "
		"if known (`path/`; files inside other files have \"@offset\" in their names), and "
		"by date (`date/YEAR/MONTH/DAY/`). Extended attributes (`getfattr -d`) hold "
		"offset, kind, status, title and hashes.\n\nburin mount runs in the background "
		"until the folder is unmounted with `fusermount3 -u MOUNTPOINT`, or until it gets "
		"a signal. It does not need root.",
	.options = mount_options,
	.settings_size = sizeof(struct mount_settings),
	.run = run_mount,
	.examples = mount_examples,
};
