/*
 * Filling the ring through io_uring: the caller's thread hands requests to the kernel whenever
 * places of the ring become free, and takes note of the finished ones when it asks for a slot.
 * Between these calls the device works on its own, so there is no thread here. A request that
 * fails, or comes back short, is read again by the caller's thread, around what can't be read.
 *
 * As many requests are in flight as the ring has room for. tests/bench/cold --sweep shows what a
 * disk does with each size and depth; with pieces of 2 MiB a near one is as fast with 2 of them as
 * with 64, and one that is far away needs the more.
 *
 * Reads through the page cache would be done on the spot, in the caller's time; they are marked to
 * be done by the kernel's threads.
 */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/reader_ring.h"

#define DEPTH 64

struct request {
	struct piece piece;
	struct request *next; /* free ones */
};

struct uring {
	struct io_uring ring;
	struct request requests[DEPTH], *free;
	unsigned in_flight;
};

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
	reader->way_state = uring;
	return 0;
}

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

static void fill_hole(struct piece *piece)
{
	struct ranges none = { 0 };

	memset(piece->to, 0, piece->len);
	reader_finish(piece, &none);
}

/* Asks for as much as fits. What the kernel does not take at once (a submit that fails for now)
 * stays queued for the next time. */
static int submit(struct reader *reader)
{
	struct uring *uring = reader->way_state;
	struct piece piece;
	int rc;

	pthread_mutex_lock(&reader->lock);
	while (uring->free && io_uring_sq_space_left(&uring->ring) && reader_take(reader, &piece)) {
		if (piece.hole)
			fill_hole(&piece);
		else
			queue(uring, &piece);
	}
	rc = io_uring_sq_ready(&uring->ring) ? io_uring_submit(&uring->ring) : 0;
	pthread_mutex_unlock(&reader->lock);
	return rc >= 0 || rc == -EAGAIN || rc == -EBUSY || rc == -EINTR ? 0 : rc;
}

static void uring_wake(struct reader *reader)
{
	submit(reader); /* reaping submits again, and returns the error */
}

static void complete(struct reader *reader, struct io_uring_cqe *cqe)
{
	struct uring *uring = reader->way_state;
	struct request *request = io_uring_cqe_get_data(cqe);
	struct ranges bad = { 0 };

	if (cqe->res < 0 || (size_t)cqe->res != request->piece.len)
		reader_recover(reader, &request->piece, &bad);
	io_uring_cqe_seen(&uring->ring, cqe);
	pthread_mutex_lock(&reader->lock);
	reader_finish(&request->piece, &bad);
	request->next = uring->free;
	uring->free = request;
	uring->in_flight--;
	pthread_mutex_unlock(&reader->lock);
}

/* Takes note of what is finished; wait: of one at least, when one is under way. */
static int take_finished(struct reader *reader, bool wait)
{
	struct uring *uring = reader->way_state;
	struct io_uring_cqe *cqe;

	if (wait && uring->in_flight > io_uring_sq_ready(&uring->ring)) {
		int rc = io_uring_wait_cqe(&uring->ring, &cqe);

		if (rc && rc != -EINTR && rc != -EAGAIN)
			return rc;
	}
	while (!io_uring_peek_cqe(&uring->ring, &cqe))
		complete(reader, cqe);
	return 0;
}

static bool is_done(struct reader *reader, const struct fill *fill)
{
	bool done;

	pthread_mutex_lock(&reader->lock);
	done = reader_done(fill);
	pthread_mutex_unlock(&reader->lock);
	return done;
}

static int uring_reap(struct reader *reader, struct fill *fill, bool wait)
{
	int rc = take_finished(reader, false);

	if (!rc)
		rc = submit(reader);
	while (!rc && wait && !is_done(reader, fill)) {
		rc = take_finished(reader, true);
		if (!rc)
			rc = submit(reader);
	}
	return rc;
}

/* The kernel must not write into the ring once that is gone. Reads end by themselves. */
static void uring_stop(struct reader *reader)
{
	struct uring *uring = reader->way_state;

	while (uring->in_flight > io_uring_sq_ready(&uring->ring))
		if (take_finished(reader, true))
			break;
	io_uring_queue_exit(&uring->ring);
	free(uring);
	reader->way_state = NULL;
}

const struct reader_way reader_uring_way = {
	.name = "io_uring",
	.start = uring_start,
	.wake = uring_wake,
	.reap = uring_reap,
	.stop = uring_stop,
};
