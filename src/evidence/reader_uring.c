/*
 * Filling the ring through io_uring: one thread hands requests to the kernel whenever places of the
 * ring become free, and takes note of the finished ones. Between these calls the device works on
 * its own. A request that fails, or comes back short, is read again by that thread, around what
 * can't be read.
 *
 * As many requests are in flight as the ring has room for. tests/bench/cold --sweep shows what a
 * disk does with each size and depth; with pieces of 2 MiB a near one is as fast with 2 of them as
 * with 64, and one that is far away needs the more.
 *
 * Reads through the page cache would be done on the spot, in the thread's time; they are marked to
 * be done by the kernel's threads.
 */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/thread.h"
#include "evidence/reader_ring.h"

#define DEPTH 64
/* Microseconds, when the kernel takes no request for now. */
#define PAUSE 1000

struct request {
	struct piece piece;
	struct request *next; /* free ones */
};

/* All of it is the thread's. */
struct uring {
	struct io_uring ring;
	struct request requests[DEPTH], *free;
	unsigned in_flight;
	pthread_t thread;
	pthread_cond_t work; /* under the reader's lock */
};

/* There is room for it. */
static void queue(struct uring *uring, const struct piece *piece)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);
	struct request *request = uring->free;

	uring->free = request->next;
	request->piece = *piece;
	io_uring_prep_read(sqe, piece->fd, piece->to, (unsigned)piece->len, piece->fd_offset);
	if (!piece->direct)
		io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
	io_uring_sqe_set_data(sqe, request);
	uring->in_flight++;
}

static void fill_hole(struct reader *reader, struct piece *piece)
{
	struct ranges none = { 0 };

	pthread_mutex_unlock(&reader->lock);
	memset(piece->to, 0, piece->len);
	pthread_mutex_lock(&reader->lock);
	reader_finish(reader, piece, &none);
}

/* Queues as much as fits. Under the lock. */
static void queue_pieces(struct reader *reader, struct uring *uring)
{
	struct piece piece;

	while (uring->free && io_uring_sq_space_left(&uring->ring) && reader_take(reader, &piece)) {
		if (piece.hole)
			fill_hole(reader, &piece);
		else
			queue(uring, &piece);
	}
}

static void complete(struct reader *reader, struct uring *uring, struct io_uring_cqe *cqe)
{
	struct request *request = io_uring_cqe_get_data(cqe);
	struct ranges bad = { 0 };

	if (cqe->res < 0 || (size_t)cqe->res != request->piece.len)
		reader_recover(reader, &request->piece, &bad);
	io_uring_cqe_seen(&uring->ring, cqe);
	request->next = uring->free;
	uring->free = request;
	uring->in_flight--;
	pthread_mutex_lock(&reader->lock);
	reader_finish(reader, &request->piece, &bad);
	pthread_mutex_unlock(&reader->lock);
}

static bool is_passing(int rc)
{
	return rc >= 0 || rc == -EAGAIN || rc == -EBUSY || rc == -EINTR;
}

/* Takes note of what is finished, once one request is. Something is in flight. */
static int take_finished(struct reader *reader, struct uring *uring)
{
	struct io_uring_cqe *cqe;
	int rc = 0;

	if (uring->in_flight > io_uring_sq_ready(&uring->ring))
		rc = io_uring_wait_cqe(&uring->ring, &cqe);
	else
		usleep(PAUSE);
	while (is_passing(rc) && !io_uring_peek_cqe(&uring->ring, &cqe))
		complete(reader, uring, cqe);
	return rc;
}

/* What the kernel does not take at once stays queued for the next time. */
static int submit_and_take(struct reader *reader, struct uring *uring)
{
	int rc = io_uring_sq_ready(&uring->ring) ? io_uring_submit(&uring->ring) : 0;

	return is_passing(rc) ? take_finished(reader, uring) : rc;
}

static void *work(void *arg)
{
	struct reader *reader = arg;
	struct uring *uring = reader->way_state;
	int rc = 0;

	pthread_mutex_lock(&reader->lock);
	while (!atomic_load(&reader->closing) && is_passing(rc)) {
		queue_pieces(reader, uring);
		if (!uring->in_flight) {
			pthread_cond_wait(&uring->work, &reader->lock);
			continue;
		}
		pthread_mutex_unlock(&reader->lock);
		rc = submit_and_take(reader, uring);
		pthread_mutex_lock(&reader->lock);
	}
	if (!is_passing(rc))
		reader_break(reader, rc);
	pthread_mutex_unlock(&reader->lock);
	/* The kernel must not write into the ring once that is gone. Reads end by themselves. */
	while (uring->in_flight > io_uring_sq_ready(&uring->ring))
		if (!is_passing(take_finished(reader, uring)))
			break;
	return NULL;
}

static void uring_free(struct reader *reader)
{
	struct uring *uring = reader->way_state;

	io_uring_queue_exit(&uring->ring);
	pthread_cond_destroy(&uring->work);
	free(uring);
	reader->way_state = NULL;
}

static int uring_start(struct reader *reader)
{
	struct uring *uring = xcalloc(1, sizeof(*uring));
	int rc = io_uring_queue_init(DEPTH, &uring->ring, 0);

	if (rc) {
		free(uring);
		return rc;
	}
	for (unsigned i = 0; i < DEPTH; i++) {
		uring->requests[i].next = uring->free;
		uring->free = &uring->requests[i];
	}
	pthread_cond_init(&uring->work, NULL);
	reader->way_state = uring;
	rc = thread_start(&uring->thread, work, reader);
	if (rc)
		uring_free(reader);
	return rc;
}

/* While requests are in flight the thread comes by anyway. */
static void uring_wake(struct reader *reader)
{
	struct uring *uring = reader->way_state;

	pthread_mutex_lock(&reader->lock);
	pthread_cond_signal(&uring->work);
	pthread_mutex_unlock(&reader->lock);
}

static void uring_stop(struct reader *reader)
{
	struct uring *uring = reader->way_state;

	uring_wake(reader);
	pthread_join(uring->thread, NULL);
	uring_free(reader);
}

const struct reader_way reader_uring_way = {
	.name = "io_uring",
	.start = uring_start,
	.wake = uring_wake,
	.stop = uring_stop,
};
