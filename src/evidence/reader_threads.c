/*
 * Fills the ring with threads: each takes the next request, reads it and takes another. Plain reads
 * from the page cache are copies, of which one processor does some 4 GB a second; E01 chunks are
 * decompressed. Both want as many threads as there are processors: a GPU scans faster than they
 * read together. They are not jobs of the run's pool, because reading must continue while the pool
 * is busy.
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
	unsigned idle; /* that found no request, and were not woken since; under the lock */
	sem_t wake;    /* a post for each that was */
	unsigned count;
	pthread_t thread[THREADS_MAX];
};

/* False for an error or a short read: reader_recover finds out which bytes are affected. */
static bool read_direct(const struct ring_request *request)
{
	return !file_read_all_at(request->fd, request->to, request->len, request->fd_offset);
}

/* Several threads that read one file confuse the kernel's read-ahead, so it is told what is wanted.
 * For bytes that are in the page cache already this costs next to nothing. */
static void read_ahead(struct reader *reader, const struct ring_request *request)
{
	uint64_t fd_offset, len;
	int fd;

	if (!image_extent(reader->image, request->offset, false, &fd, &fd_offset, &len))
		posix_fadvise(fd, (off_t)fd_offset, (off_t)request->len, POSIX_FADV_WILLNEED);
}

static void read_request(
	struct reader *reader, const struct ring_request *request, struct ranges *bad)
{
	bool ok = true;

	if (request->hole) {
		memset(request->to, 0, request->len);
	} else if (request->direct) {
		ok = read_direct(request);
	} else {
		read_ahead(reader, request);
		ok = !image_read_at(reader->image, request->offset, request->to, request->len);
	}
	if (!ok)
		reader_recover(reader, request, bad);
}

/* Counts threads that are to be woken, if there is work for them: at most so many. Under the lock; post as often after it. */
static unsigned count_to_wake(const struct reader *reader, struct threads *threads, unsigned most)
{
	unsigned count = threads->idle < most ? threads->idle : most;

	if (reader->requesting == reader->assigned)
		return 0;
	threads->idle -= count;
	return count;
}

static void wake(struct threads *threads, unsigned count)
{
	while (count--)
		sem_post(&threads->wake);
}

/* A thread that finds work wakes two more, and those two more each: so all are soon awake when
 * there is work for all, and the thread that releases a slot does not spend its time on waking
 * them. */
static void *work(void *arg)
{
	struct reader *reader = arg;
	struct threads *threads = reader->backend_state;
	struct ring_request request;

	pthread_mutex_lock(&reader->lock);
	while (!atomic_load(&reader->closing)) {
		struct ranges bad = { 0 };
		bool found = reader_next_request(reader, &request);
		unsigned to_wake = found ? count_to_wake(reader, threads, 2) : 0;

		threads->idle += !found;
		pthread_mutex_unlock(&reader->lock);
		if (found) {
			wake(threads, to_wake);
			read_request(reader, &request, &bad);
		} else {
			thread_sem_take(&threads->wake);
		}
		pthread_mutex_lock(&reader->lock);
		if (found)
			reader_finish(reader, &request, &bad);
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
	struct threads *threads = reader->backend_state;

	pthread_mutex_lock(&reader->lock);
	wake(threads, threads->idle);
	threads->idle = 0;
	pthread_mutex_unlock(&reader->lock);
	for (unsigned i = 0; i < threads->count; i++)
		pthread_join(threads->thread[i], NULL);
	sem_destroy(&threads->wake);
	free(threads);
	reader->backend_state = NULL;
}

static int threads_start(struct reader *reader)
{
	struct threads *threads = xcalloc(1, sizeof(*threads));
	unsigned wanted = reader_thread_count();
	int rc = 0;

	sem_init(&threads->wake, 0, 0);
	reader->backend_state = threads;
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
	struct threads *threads = reader->backend_state;
	unsigned to_wake;

	pthread_mutex_lock(&reader->lock);
	to_wake = count_to_wake(reader, threads, 1);
	pthread_mutex_unlock(&reader->lock);
	wake(threads, to_wake);
}

const struct reader_backend reader_threads_backend = {
	.name = "threads",
	.start = threads_start,
	.wake = threads_wake,
	.stop = threads_stop,
};
