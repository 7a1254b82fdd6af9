#include "run/checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/thread.h"

#define TEMPORARY OUTPUT_DIR_CHECKPOINT OUTPUT_DIR_TEMPORARY_SUFFIX

struct checkpoint_file {
	int dir_fd;
	int fd; /* of the new one; -1: there is none */
	bool has_thread;
	pthread_t thread;
	atomic_bool done; /* the thread's work */
	int status;       /* of the first that failed; the thread's while there is one */
};

struct checkpoint_file *checkpoint_file_new(struct output_dir *output_dir)
{
	struct checkpoint_file *checkpoint_file = xcalloc(1, sizeof(*checkpoint_file));

	checkpoint_file->dir_fd = output_dir_fd(output_dir);
	checkpoint_file->fd = -1;
	return checkpoint_file;
}

bool checkpoint_file_is_busy(struct checkpoint_file *checkpoint_file)
{
	return checkpoint_file->has_thread && !atomic_load(&checkpoint_file->done);
}

int checkpoint_file_wait(struct checkpoint_file *checkpoint_file)
{
	if (checkpoint_file->has_thread)
		pthread_join(checkpoint_file->thread, NULL);
	checkpoint_file->has_thread = false;
	return checkpoint_file->status;
}

int checkpoint_file_begin(struct checkpoint_file *checkpoint_file)
{
	if (checkpoint_file_is_busy(checkpoint_file))
		return -EBUSY;
	checkpoint_file_wait(checkpoint_file);
	unlinkat(checkpoint_file->dir_fd, TEMPORARY, 0);
	checkpoint_file->fd = openat(checkpoint_file->dir_fd, TEMPORARY,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return checkpoint_file->fd < 0 ? -errno : checkpoint_file->fd;
}

void checkpoint_file_drop(struct checkpoint_file *checkpoint_file)
{
	close(checkpoint_file->fd);
	checkpoint_file->fd = -1;
	unlinkat(checkpoint_file->dir_fd, TEMPORARY, 0);
}

static void note(struct checkpoint_file *checkpoint_file)
{
	if (!checkpoint_file->status)
		checkpoint_file->status = -errno;
}

static void put_in_place(struct checkpoint_file *checkpoint_file)
{
	close(checkpoint_file->fd);
	checkpoint_file->fd = -1;
	if (renameat(checkpoint_file->dir_fd, TEMPORARY, checkpoint_file->dir_fd,
		    OUTPUT_DIR_CHECKPOINT))
		note(checkpoint_file);
}

/* syncfs covers the new checkpoint, the files, their names and the reports. */
static void *sync_and_place(void *arg)
{
	struct checkpoint_file *checkpoint_file = arg;

	if (syncfs(checkpoint_file->dir_fd) || fsync(checkpoint_file->fd)) {
		note(checkpoint_file);
		checkpoint_file_drop(checkpoint_file);
	} else {
		put_in_place(checkpoint_file);
		if (fsync(checkpoint_file->dir_fd))
			note(checkpoint_file);
	}
	atomic_store(&checkpoint_file->done, true);
	return NULL;
}

static bool start_thread(struct checkpoint_file *checkpoint_file)
{
	atomic_store(&checkpoint_file->done, false);
	checkpoint_file->has_thread =
		thread_start(&checkpoint_file->thread, sync_and_place, checkpoint_file) == 0;
	return checkpoint_file->has_thread;
}

void checkpoint_file_commit(struct checkpoint_file *checkpoint_file, bool sync)
{
	if (!sync)
		put_in_place(checkpoint_file);
	else if (!start_thread(checkpoint_file))
		sync_and_place(checkpoint_file);
}

void checkpoint_file_remove(struct checkpoint_file *checkpoint_file, bool sync)
{
	checkpoint_file_wait(checkpoint_file);
	if (sync)
		syncfs(checkpoint_file->dir_fd);
	unlinkat(checkpoint_file->dir_fd, OUTPUT_DIR_CHECKPOINT, 0);
}

void checkpoint_file_free(struct checkpoint_file *checkpoint_file)
{
	if (!checkpoint_file)
		return;
	checkpoint_file_wait(checkpoint_file);
	free(checkpoint_file);
}
