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

#define TEMPORARY SINK_CHECKPOINT SINK_TEMPORARY_SUFFIX

struct keeper {
	int dir_fd;
	int fd; /* of the new one; -1: there is none */
	bool has_thread;
	pthread_t thread;
	atomic_bool done; /* the thread's work */
	int status;       /* of the first that failed; the thread's while there is one */
};

struct keeper *keeper_new(struct sink *sink)
{
	struct keeper *keeper = xcalloc(1, sizeof(*keeper));

	keeper->dir_fd = sink_dir_fd(sink);
	keeper->fd = -1;
	return keeper;
}

bool keeper_is_busy(struct keeper *keeper)
{
	return keeper->has_thread && !atomic_load(&keeper->done);
}

int keeper_wait(struct keeper *keeper)
{
	if (keeper->has_thread)
		pthread_join(keeper->thread, NULL);
	keeper->has_thread = false;
	return keeper->status;
}

int keeper_begin(struct keeper *keeper)
{
	if (keeper_is_busy(keeper))
		return -EBUSY;
	keeper_wait(keeper);
	unlinkat(keeper->dir_fd, TEMPORARY, 0);
	keeper->fd = openat(keeper->dir_fd, TEMPORARY,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return keeper->fd < 0 ? -errno : keeper->fd;
}

void keeper_drop(struct keeper *keeper)
{
	close(keeper->fd);
	keeper->fd = -1;
	unlinkat(keeper->dir_fd, TEMPORARY, 0);
}

static void note(struct keeper *keeper)
{
	if (!keeper->status)
		keeper->status = -errno;
}

static void put_in_place(struct keeper *keeper)
{
	close(keeper->fd);
	keeper->fd = -1;
	if (renameat(keeper->dir_fd, TEMPORARY, keeper->dir_fd, SINK_CHECKPOINT))
		note(keeper);
}

/* syncfs covers the new checkpoint, the files, their names and the reports. */
static void *sync_and_place(void *arg)
{
	struct keeper *keeper = arg;

	if (syncfs(keeper->dir_fd) || fsync(keeper->fd)) {
		note(keeper);
		keeper_drop(keeper);
	} else {
		put_in_place(keeper);
		if (fsync(keeper->dir_fd))
			note(keeper);
	}
	atomic_store(&keeper->done, true);
	return NULL;
}

static bool start_thread(struct keeper *keeper)
{
	atomic_store(&keeper->done, false);
	keeper->has_thread = thread_start(&keeper->thread, sync_and_place, keeper) == 0;
	return keeper->has_thread;
}

void keeper_commit(struct keeper *keeper, bool sync)
{
	if (!sync)
		put_in_place(keeper);
	else if (!start_thread(keeper))
		sync_and_place(keeper);
}

void keeper_remove(struct keeper *keeper, bool sync)
{
	keeper_wait(keeper);
	if (sync)
		syncfs(keeper->dir_fd);
	unlinkat(keeper->dir_fd, SINK_CHECKPOINT, 0);
}

void keeper_free(struct keeper *keeper)
{
	if (!keeper)
		return;
	keeper_wait(keeper);
	free(keeper);
}
