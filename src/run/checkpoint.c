/*
 * A checkpoint is taken between two steps of the run's thread, and nothing is waited for: checks and
 * writes under way are saved as still to do, and only the report is brought up to what is counted as
 * reported. So the pipeline does not stall. What a large state costs is kept to a hundredth of the
 * time by making the next one later.
 */
#include "run/checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"

#define FORMAT 1
#define TEXT_MAX ((size_t)1 << 20)
#define TRAIT_MAX ((size_t)1 << 16)
#define ARGUMENTS_MAX 100000
#define TEMPORARY OUTPUT_DIR_CHECKPOINT OUTPUT_DIR_TEMPORARY_SUFFIX
/* The next checkpoint comes at the earliest after this many times what the last one took, when that
 * was more than a moment (seconds). */
#define PAUSE_FACTOR 100
#define MOMENT 0.05

struct checkpoint {
	struct checkpoint_options options;
	bool active;           /* checkpoint_begin was called, and an interval is set */
	bool has_parts;        /* new ones have them */
	bool synced;           /* one was brought to the disk */
	bool warned;           /* a failure was logged */
	double due, due_since; /* seconds: when the next one is; when checkpoint_is_due said so */

	/* resuming */
	bool resumed;
	bool loading; /* not everything is loaded, or acted on: the old one must not be replaced */
	bool old_has_parts;
	const struct checkpoint_part *next_part; /* to be loaded */
	struct codec_reader *reader;
	int reader_fd;

	/* the file */
	int dir_fd;
	int fd; /* of the new one; -1: none */
	bool has_thread;
	pthread_t thread;
	atomic_bool thread_done;
	int status; /* of the first that failed to get to its place; the thread's while there is one */
};

/* ---- the file ------------------------------------------------------------------------------ */

static bool is_busy(const struct checkpoint *checkpoint)
{
	return checkpoint->has_thread && !atomic_load(&checkpoint->thread_done);
}

/* Waits until the last one is in its place. 0, or why one failed to get there. */
static int wait_for_disk(struct checkpoint *checkpoint)
{
	if (checkpoint->has_thread)
		pthread_join(checkpoint->thread, NULL);
	checkpoint->has_thread = false;
	return checkpoint->status;
}

static int create_file(struct checkpoint *checkpoint)
{
	wait_for_disk(checkpoint);
	unlinkat(checkpoint->dir_fd, TEMPORARY, 0);
	checkpoint->fd = openat(checkpoint->dir_fd, TEMPORARY,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return checkpoint->fd < 0 ? -errno : 0;
}

static void drop_file(struct checkpoint *checkpoint)
{
	close(checkpoint->fd);
	checkpoint->fd = -1;
	unlinkat(checkpoint->dir_fd, TEMPORARY, 0);
}

static void note_failure(struct checkpoint *checkpoint)
{
	if (!checkpoint->status)
		checkpoint->status = -errno;
}

static void put_in_place(struct checkpoint *checkpoint)
{
	close(checkpoint->fd);
	checkpoint->fd = -1;
	if (renameat(checkpoint->dir_fd, TEMPORARY, checkpoint->dir_fd, OUTPUT_DIR_CHECKPOINT))
		note_failure(checkpoint);
}

/* syncfs covers the new checkpoint, the files, their names and the reports. */
static void *sync_and_place(void *arg)
{
	struct checkpoint *checkpoint = arg;

	if (syncfs(checkpoint->dir_fd) || fsync(checkpoint->fd)) {
		note_failure(checkpoint);
		drop_file(checkpoint);
	} else {
		put_in_place(checkpoint);
		if (fsync(checkpoint->dir_fd))
			note_failure(checkpoint);
	}
	atomic_store(&checkpoint->thread_done, true);
	return NULL;
}

static void commit_file(struct checkpoint *checkpoint, bool sync)
{
	if (!sync) {
		put_in_place(checkpoint);
		return;
	}
	atomic_store(&checkpoint->thread_done, false);
	checkpoint->has_thread = thread_start(&checkpoint->thread, sync_and_place, checkpoint) == 0;
	if (!checkpoint->has_thread)
		sync_and_place(checkpoint);
}

/* ---- the header ---------------------------------------------------------------------------- */

static void save_header(
	struct codec_writer *writer, bool batch, const char *image_path, char **arguments)
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

void checkpoint_header_load(struct checkpoint_header *header, struct codec_reader *reader)
{
	uint64_t count;

	if (codec_get(reader, UINT64_MAX) != FORMAT)
		codec_fail(reader);
	header->batch = codec_get_flag(reader);
	header->directory = codec_get_text(reader, TEXT_MAX);
	header->image_path = codec_get_text(reader, TEXT_MAX);
	count = codec_get(reader, ARGUMENTS_MAX);
	header->arguments = xcalloc(count + 1, sizeof(*header->arguments));
	for (uint64_t i = 0; i < count; i++)
		header->arguments[i] = codec_get_text(reader, TEXT_MAX);
}

void checkpoint_header_free(struct checkpoint_header *header)
{
	for (char **word = header->arguments; word && *word; word++)
		free(*word);
	free(header->arguments);
	free(header->directory);
	free(header->image_path);
	*header = (struct checkpoint_header){ 0 };
}

/* Opens the checkpoint in a folder. -ENOENT, with no error set, when there is none; else a negative
 * errno with error set. Returns the descriptor. */
static int open_checkpoint(
	int dir_fd, const char *output, struct codec_reader **reader, struct error *error)
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

/* ---- writing ------------------------------------------------------------------------------- */

struct checkpoint *checkpoint_new(const struct checkpoint_options *options)
{
	struct checkpoint *checkpoint = xcalloc(1, sizeof(*checkpoint));

	checkpoint->options = *options;
	checkpoint->dir_fd = output_dir_fd(options->output_dir);
	checkpoint->fd = -1;
	return checkpoint;
}

static int save(struct checkpoint *checkpoint)
{
	const struct checkpoint_options *options = &checkpoint->options;
	struct codec_writer *writer = codec_writer_new(checkpoint->fd);

	save_header(writer, false, options->image_path, options->arguments);
	codec_put(writer, options->traits->count);
	for (size_t i = 0; i < options->traits->count; i++)
		codec_put_text(writer, options->traits->values[i]);
	codec_put(writer, checkpoint->has_parts);
	for (const struct checkpoint_part *part = options->parts;
		checkpoint->has_parts && part->name; part++)
		part->save(options->run, writer);
	return codec_writer_close(writer);
}

static void warn(struct checkpoint *checkpoint, int status)
{
	if (!checkpoint->warned)
		log_warn("%s: no checkpoint could be written: %s; %s",
			checkpoint->options.image_path, strerror(-status),
			checkpoint->has_parts ? "the last one is kept"
					      : "the run can't be resumed");
	checkpoint->warned = true;
}

static void write_checkpoint(struct checkpoint *checkpoint, bool sync)
{
	int status = create_file(checkpoint);

	if (status) {
		warn(checkpoint, status);
		return;
	}
	if (checkpoint->status)
		warn(checkpoint, checkpoint->status);
	status = save(checkpoint);
	if (!status) {
		commit_file(checkpoint, sync);
		return;
	}
	drop_file(checkpoint);
	warn(checkpoint, status);
}

void checkpoint_begin(struct checkpoint *checkpoint)
{
	if (!checkpoint->options.interval)
		return;
	checkpoint->active = true;
	checkpoint->due = clock_seconds() + (double)checkpoint->options.interval / 1000;
	if (!checkpoint->resumed)
		write_checkpoint(checkpoint, false);
}

void checkpoint_begin_parts(struct checkpoint *checkpoint)
{
	checkpoint->has_parts = true;
}

bool checkpoint_is_due(struct checkpoint *checkpoint)
{
	checkpoint->due_since = clock_seconds();
	return checkpoint->active && !checkpoint->loading &&
	       checkpoint->due_since >= checkpoint->due && !is_busy(checkpoint);
}

void checkpoint_hasten(struct checkpoint *checkpoint)
{
	checkpoint->due = 0;
}

void checkpoint_write(struct checkpoint *checkpoint, uint64_t position)
{
	double took, pause = (double)checkpoint->options.interval / 1000;

	write_checkpoint(checkpoint, true);
	checkpoint->synced = true;
	took = clock_seconds() - checkpoint->due_since;
	if (took > MOMENT && pause < took * PAUSE_FACTOR)
		pause = took * PAUSE_FACTOR;
	checkpoint->due = checkpoint->due_since + took + pause;
	log_debug("%s: checkpoint at byte %ju, %.1f ms", checkpoint->options.image_path,
		(uintmax_t)position, took * 1000);
}

void checkpoint_write_last(struct checkpoint *checkpoint)
{
	if (!checkpoint->active || checkpoint->loading)
		return;
	wait_for_disk(checkpoint);
	checkpoint->warned = true; /* what ends the run is reported elsewhere */
	write_checkpoint(checkpoint, checkpoint->synced);
	wait_for_disk(checkpoint);
}

static void close_reader(struct checkpoint *checkpoint)
{
	if (!checkpoint->reader)
		return;
	codec_reader_close(checkpoint->reader);
	checkpoint->reader = NULL;
	close(checkpoint->reader_fd);
}

bool checkpoint_end(struct checkpoint *checkpoint, bool finished)
{
	bool resumable;

	if (!checkpoint)
		return false;
	resumable =
		checkpoint->active && !finished && (checkpoint->has_parts || checkpoint->resumed);
	wait_for_disk(checkpoint);
	if (checkpoint->active && !resumable) {
		if (finished && checkpoint->synced)
			syncfs(checkpoint->dir_fd);
		unlinkat(checkpoint->dir_fd, OUTPUT_DIR_CHECKPOINT, 0);
	}
	close_reader(checkpoint);
	free(checkpoint);
	return resumable;
}

/* ---- resuming ------------------------------------------------------------------------------ */

static int compare_traits(struct checkpoint *checkpoint, struct error *error)
{
	const struct traits *traits = checkpoint->options.traits;
	struct codec_reader *reader = checkpoint->reader;
	uint64_t count = codec_get(reader, UINT64_MAX);
	int status = 0;

	for (size_t i = 0; i < traits->count && !status && codec_ok(reader); i++) {
		char *was = codec_get_text(reader, TRAIT_MAX);

		if (codec_ok(reader) && (traits_differ(traits, i, was) || count != traits->count))
			status = error_set(error, EXIT_USAGE, EINVAL,
				"the run in %s can't be resumed: %s differs (it was '%s' and is "
				"'%s')",
				output_dir_path(checkpoint->options.output_dir), traits->names[i],
				was, traits->values[i]);
		free(was);
	}
	return status;
}

static int damaged(const struct checkpoint *checkpoint, struct error *error)
{
	return error_set(error, EXIT_IO, EBADMSG,
		"the checkpoint in %s is damaged; carve again into another folder",
		output_dir_path(checkpoint->options.output_dir));
}

int checkpoint_resume(struct checkpoint *checkpoint, struct error *error)
{
	const char *output = output_dir_path(checkpoint->options.output_dir);
	struct checkpoint_header header = { 0 };
	int status;

	checkpoint->resumed = checkpoint->loading = true;
	checkpoint->next_part = checkpoint->options.parts;
	status = open_checkpoint(checkpoint->dir_fd, output, &checkpoint->reader, error);
	if (status == -ENOENT)
		return error_set(error, EXIT_USAGE, ENOENT, "%s holds no checkpoint", output);
	if (status < 0)
		return status;
	checkpoint->reader_fd = status;
	checkpoint_header_load(&header, checkpoint->reader);
	checkpoint_header_free(&header);
	status = compare_traits(checkpoint, error);
	checkpoint->old_has_parts = codec_get_flag(checkpoint->reader);
	if (!status && !codec_ok(checkpoint->reader))
		status = damaged(checkpoint, error);
	return status ? status : checkpoint_load(checkpoint, CHECKPOINT_SUMS, error);
}

bool checkpoint_has_parts(const struct checkpoint *checkpoint)
{
	return checkpoint->old_has_parts;
}

int checkpoint_load(struct checkpoint *checkpoint, enum checkpoint_stage stage, struct error *error)
{
	const struct checkpoint_part *part;
	int status = 0;

	assert(checkpoint->loading);
	while (checkpoint->old_has_parts && !status && (part = checkpoint->next_part)->name &&
		part->stage == stage) {
		status = part->load(checkpoint->options.run, checkpoint->reader, error);
		if (!status && !codec_ok(checkpoint->reader)) {
			log_debug("the checkpoint's %s can't be loaded", part->name);
			status = damaged(checkpoint, error);
		}
		checkpoint->next_part++;
	}
	if (stage != CHECKPOINT_STATE)
		return status;
	if (!status && checkpoint->old_has_parts && !codec_at_end(checkpoint->reader))
		status = damaged(checkpoint, error);
	close_reader(checkpoint);
	return status;
}

void checkpoint_loaded(struct checkpoint *checkpoint)
{
	checkpoint->loading = false;
}

/* ---- what a run has left ------------------------------------------------------------------- */

/* The exit code of a run that has come to its end, by its report; -1 for any other. */
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

int checkpoint_find(struct checkpoint_header *header, const char *output, struct error *error)
{
	int dir_fd = open(output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct codec_reader *reader = NULL;
	int fd, found = CHECKPOINT_RESUMABLE;

	*header = (struct checkpoint_header){ 0 };
	if (dir_fd < 0)
		return error_set(error, EXIT_USAGE, errno, "cannot open the output folder %s: %s",
			output, strerror(errno));
	fd = open_checkpoint(dir_fd, output, &reader, error);
	if (fd == -ENOENT) {
		header->exit = finished_exit(dir_fd);
		found = header->exit >= 0 ? CHECKPOINT_FINISHED : CHECKPOINT_NONE;
	} else if (fd < 0) {
		found = fd;
	} else {
		checkpoint_header_load(header, reader);
		if (!codec_ok(reader)) {
			checkpoint_header_free(header);
			found = error_set(error, EXIT_USAGE, EINVAL,
				"the checkpoint in %s was written by another version of burin",
				output);
		}
		codec_reader_close(reader);
		close(fd);
	}
	close(dir_fd);
	return found;
}

bool checkpoint_exists(const char *output)
{
	char *path = xasprintf("%s/%s", output, OUTPUT_DIR_CHECKPOINT);
	bool exists = access(path, F_OK) == 0;

	free(path);
	return exists;
}

/* ---- batches ------------------------------------------------------------------------------- */

/* A failure costs no more than the possibility to resume. */
static void write_batch(struct output_dir *output_dir, char **arguments)
{
	const struct checkpoint_options options = { .output_dir = output_dir };
	struct checkpoint *checkpoint = checkpoint_new(&options);
	struct codec_writer *writer;

	if (create_file(checkpoint) == 0) {
		writer = codec_writer_new(checkpoint->fd);
		save_header(writer, true, "", arguments);
		if (codec_writer_close(writer))
			drop_file(checkpoint);
		else
			commit_file(checkpoint, false);
	}
	free(checkpoint);
}

int checkpoint_begin_batch(const char *output, char **arguments, struct error *error)
{
	struct output_dir *output_dir;
	int status = output_dir_share(&output_dir, output, error);

	if (status)
		return status;
	if (faccessat(output_dir_fd(output_dir), OUTPUT_DIR_CHECKPOINT, F_OK,
		    AT_SYMLINK_NOFOLLOW) == 0)
		status = error_set(error, EXIT_IO, EEXIST,
			"%s holds an unfinished run: resume it with burin carve --resume %s, or "
			"choose another folder with -o",
			output, output);
	else
		write_batch(output_dir, arguments);
	output_dir_close(output_dir);
	return status;
}

void checkpoint_end_batch(const char *output)
{
	int dir_fd = open(output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir_fd < 0)
		return;
	unlinkat(dir_fd, OUTPUT_DIR_CHECKPOINT, 0);
	close(dir_fd);
}
