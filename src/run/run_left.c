#include "run/run_left.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "run/checkpoint_file.h"
#include "output/output_dir.h"

#define FORMAT 1
#define MOST_TEXT ((size_t)1 << 20)
#define MOST_WORDS 100000

/* ---- the head ------------------------------------------------------------------------------ */

void run_left_put(struct codec_writer *writer, bool batch, const char *image_path, char **arguments)
{
	char *directory = getcwd(NULL, 0);
	uint64_t count = 0;

	while (arguments && arguments[count])
		count++;
	codec_put(writer, FORMAT);
	codec_put(writer, batch);
	codec_put_text(writer, directory ? directory : "");
	codec_put_text(writer, image_path);
	codec_put(writer, count);
	for (uint64_t i = 0; i < count; i++)
		codec_put_text(writer, arguments[i]);
	free(directory);
}

void run_left_get(struct run_left *left, struct codec_reader *reader)
{
	uint64_t count;

	if (codec_get(reader, UINT64_MAX) != FORMAT)
		codec_fail(reader);
	left->batch = codec_get_flag(reader);
	left->directory = codec_get_text(reader, MOST_TEXT);
	left->image_path = codec_get_text(reader, MOST_TEXT);
	count = codec_get(reader, MOST_WORDS);
	left->arguments = xcalloc(count + 1, sizeof(*left->arguments));
	for (uint64_t i = 0; i < count; i++)
		left->arguments[i] = codec_get_text(reader, MOST_TEXT);
}

void run_left_free(struct run_left *left)
{
	for (char **word = left->arguments; word && *word; word++)
		free(*word);
	free(left->arguments);
	free(left->directory);
	free(left->image_path);
	*left = (struct run_left){ 0 };
}

int run_left_open(int dir_fd, const char *output, struct codec_reader **reader, struct error *error)
{
	int fd = openat(
		dir_fd, OUTPUT_DIR_CHECKPOINT, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int status = fd < 0 ? -errno : codec_reader_open(reader, fd);

	if (!status)
		return fd;
	if (fd >= 0)
		close(fd);
	if (status == -ENOENT)
		return status;
	return error_set(error, EXIT_IO, -status, "the checkpoint in %s can't be used: %s", output,
		status == -EBADMSG ? "it is damaged; carve again into another folder"
				   : strerror(-status));
}

/* ---- what is in a folder ------------------------------------------------------------------- */

/* The exit code of a run that has come to its end, as its report says; -1 for another. */
static int finished_exit(int dir_fd)
{
	static const char *const ends[] = { "\"signal\":0,\"exit\":0}\n",
		"\"signal\":0,\"exit\":1}\n" };
	int fd = openat(dir_fd, "report.jsonl", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t len = strlen(ends[0]);
	char end[64] = "";
	int code = -1;

	if (fd < 0)
		return -1;
	if (lseek(fd, -(off_t)len, SEEK_END) >= 0 && read(fd, end, len) == (ssize_t)len)
		code = strcmp(end, ends[0]) == 0   ? EXIT_CLEAN
		       : strcmp(end, ends[1]) == 0 ? EXIT_PROBLEMS
						   : -1;
	close(fd);
	return code;
}

int run_left_find(struct run_left *left, const char *output, struct error *error)
{
	int dir_fd = open(output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct codec_reader *reader = NULL;
	int fd, kind = RUN_LEFT_RESUMABLE;

	*left = (struct run_left){ 0 };
	if (dir_fd < 0)
		return error_set(error, EXIT_USAGE, errno, "cannot open the output folder %s: %s",
			output, strerror(errno));
	fd = run_left_open(dir_fd, output, &reader, error);
	if (fd == -ENOENT) {
		left->exit = finished_exit(dir_fd);
		kind = left->exit >= 0 ? RUN_LEFT_FINISHED : RUN_LEFT_NOTHING;
	} else if (fd < 0) {
		kind = fd;
	} else {
		run_left_get(left, reader);
		if (!codec_ok(reader)) {
			run_left_free(left);
			kind = error_set(error, EXIT_USAGE, EINVAL,
				"the checkpoint in %s is of another version of burin", output);
		}
		codec_reader_close(reader);
		close(fd);
	}
	close(dir_fd);
	return kind;
}

bool run_left_is_there(const char *output)
{
	char *path = xasprintf("%s/%s", output, OUTPUT_DIR_CHECKPOINT);
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

/* ---- batches ------------------------------------------------------------------------------- */

/* Without one, only the comfort of resuming is lost. */
static void write_batch(struct output_dir *output_dir, char **arguments)
{
	struct checkpoint_file *checkpoint_file = checkpoint_file_new(output_dir);
	struct codec_writer *writer;
	int fd = checkpoint_file_begin(checkpoint_file);

	if (fd >= 0) {
		writer = codec_writer_new(fd);
		run_left_put(writer, true, "", arguments);
		if (codec_writer_close(writer))
			checkpoint_file_drop(checkpoint_file);
		else
			checkpoint_file_commit(checkpoint_file, false);
	}
	checkpoint_file_free(checkpoint_file);
}

int run_left_begin_batch(const char *output, char **arguments, struct error *error)
{
	struct output_dir *output_dir;
	int status = output_dir_share(&output_dir, output, error);

	if (status)
		return status;
	if (faccessat(output_dir_fd(output_dir), OUTPUT_DIR_CHECKPOINT, F_OK,
		    AT_SYMLINK_NOFOLLOW) == 0)
		status = error_set(error, EXIT_IO, EEXIST,
			"a run that did not come to its end is in %s: go on with burin carve "
			"--resume %s, or choose another folder with -o",
			output, output);
	else
		write_batch(output_dir, arguments);
	output_dir_close(output_dir);
	return status;
}

void run_left_end_batch(const char *output)
{
	int dir_fd = open(output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir_fd < 0)
		return;
	unlinkat(dir_fd, OUTPUT_DIR_CHECKPOINT, 0);
	close(dir_fd);
}
