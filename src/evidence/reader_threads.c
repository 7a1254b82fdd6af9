/*
 * Filling the ring with threads: each takes the next piece, reads it and takes another. Plain reads
 * from the page cache are copies, of which one processor does some 4 GB a second; E01 chunks are
 * unpacked. Both want as many threads as there are processors: a GPU searches faster than they read
 * together. They are no jobs of the run's pool, because reading must go on while the pool has
 * enough to do.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/thread.h"
#include "evidence/reader_ring.h"

#define THREADS_MIN 2
#define THREADS_MAX 32

struct threads {
	pthread_cond_t work;
	unsigned idle; /* wait for work; under the lock */
	unsigned count;
	pthread_t thread[THREADS_MAX];
};

/* False for an error or a short read: reader_recover finds out which bytes it is about. */
static bool read_direct(const struct piece *piece)
{
	return !file_read_all_at(piece->fd, piece->to, piece->len, piece->fd_offset);
}

/* Several threads that read one file confuse the kernel's read-ahead, so it is told what is wanted.
 * For bytes that are in the page cache already this costs next to nothing. */
static void read_ahead(struct reader *reader, const struct piece *piece)
{
	uint64_t fd_offset, len;
	int fd;

	if (!image_extent(reader->image, piece->offset, false, &fd, &fd_offset, &len))
		posix_fadvise(fd, (off_t)fd_offset, (off_t)piece->len, POSIX_FADV_WILLNEED);
}

static void read_piece(struct reader *reader, const struct piece *piece, struct ranges *bad)
{
	bool good = true;

	if (piece->hole) {
		memset(piece->to, 0, piece->len);
	} else if (piece->direct) {
		good = read_direct(piece);
	} else {
		read_ahead(reader, piece);
		good = !image_read_at(reader->image, piece->offset, piece->to, piece->len);
	}
	if (!good)
		reader_recover(reader, piece, bad);
}

/* Whoever finds work wakes two others, and those two more: so all are soon awake when there is work
 * for all, and who releases a slot does not spend his time on waking them. Under the lock. */
static void wake_others(const struct reader *reader, struct threads *threads)
{
	if (reader->asking == reader->given)
		return;
	for (unsigned i = 0; i < 2 && i < threads->idle; i++)
		pthread_cond_signal(&threads->work);
}

static void *work(void *arg)
{
	struct reader *reader = arg;
	struct threads *threads = reader->way_state;
	struct piece piece;

	pthread_mutex_lock(&reader->lock);
	while (!atomic_load(&reader->closing)) {
		struct ranges bad = { 0 };

		if (!reader_take(reader, &piece)) {
			threads->idle++;
			pthread_cond_wait(&threads->work, &reader->lock);
			threads->idle--;
			continue;
		}
		wake_others(reader, threads);
		pthread_mutex_unlock(&reader->lock);
		read_piece(reader, &piece, &bad);
		pthread_mutex_lock(&reader->lock);
		reader_finish(reader, &piece, &bad);
	}
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

unsigned reader_thread_count(void)
{
	unsigned count = 1;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		count = (unsigned)CPU_COUNT(&set);
	if (count < THREADS_MIN)
		return THREADS_MIN;
	return count < THREADS_MAX ? count : THREADS_MAX;
}

static void threads_stop(struct reader *reader)
{
	struct threads *threads = reader->way_state;

	pthread_mutex_lock(&reader->lock);
	pthread_cond_broadcast(&threads->work);
	pthread_mutex_unlock(&reader->lock);
	for (unsigned i = 0; i < threads->count; i++)
		pthread_join(threads->thread[i], NULL);
	pthread_cond_destroy(&threads->work);
	free(threads);
	reader->way_state = NULL;
}

static int threads_start(struct reader *reader)
{
	struct threads *threads = xcalloc(1, sizeof(*threads));
	unsigned wanted = reader_thread_count();
	int rc = 0;

	pthread_cond_init(&threads->work, NULL);
	reader->way_state = threads;
	while (!rc && threads->count < wanted) {
		rc = thread_start(&threads->thread[threads->count], work, reader);
		if (!rc)
			threads->count++;
	}
	if (threads->count)
		return 0;
	threads_stop(reader);
	return rc;
}

static void threads_wake(struct reader *reader)
{
	struct threads *threads = reader->way_state;

	pthread_mutex_lock(&reader->lock);
	pthread_cond_signal(&threads->work);
	pthread_mutex_unlock(&reader->lock);
}

const struct reader_way reader_threads_way = {
	.name = "threads",
	.start = threads_start,
	.wake = threads_wake,
	.stop = threads_stop,
};
