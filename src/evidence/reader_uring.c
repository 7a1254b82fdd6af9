/*
 * Fills the ring through io_uring: one thread hands requests to the kernel whenever entries of the
 * ring become free, and collects the finished ones. Between these calls the device works on its
 * own. A request that fails, or comes back short, is read again by that thread, around what can't
 * be read.
 *
 * As many requests are in flight as the ring has room for. tests/bench/cold --sweep shows what a
 * disk does with each size and depth; with requests of 2 MiB a local one is as fast with 2 of them
 * as with 64, and a remote one needs more.
 *
 * Reads through the page cache would be done on the spot, in this thread's time; they are marked to
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
/* Microseconds to wait when the kernel accepts no request for now. */
#define PAUSE 1000

struct in_flight {
	struct ring_request request;
	struct in_flight *next; /* free ones */
};

/* Owned by the thread. */
struct uring {
	struct io_uring ring;
	struct in_flight flights[DEPTH], *free;
	unsigned in_flight;
	pthread_t thread;
	pthread_cond_t work; /* under the reader's lock */
};

/* There must be room for it. */
static void queue(struct uring *uring, const struct ring_request *request)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);
	struct in_flight *flight = uring->free;

	uring->free = flight->next;
	flight->request = *request;
	io_uring_prep_read(
		sqe, request->fd, request->to, (unsigned)request->len, request->fd_offset);
	if (!request->direct)
		io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
	io_uring_sqe_set_data(sqe, flight);
	uring->in_flight++;
}

static void fill_hole(struct reader *reader, struct ring_request *request)
{
	struct ranges none = { 0 };

	pthread_mutex_unlock(&reader->lock);
	memset(request->to, 0, request->len);
	pthread_mutex_lock(&reader->lock);
	reader_finish(reader, request, &none);
}

/* Queues as much as fits. Under the lock. */
static void queue_requests(struct reader *reader, struct uring *uring)
{
	struct ring_request request;

	while (uring->free && io_uring_sq_space_left(&uring->ring) &&
		reader_next_request(reader, &request)) {
		if (request.hole)
			fill_hole(reader, &request);
		else
			queue(uring, &request);
	}
}

static void complete(struct reader *reader, struct uring *uring, struct io_uring_cqe *cqe)
{
	struct in_flight *flight = io_uring_cqe_get_data(cqe);
	struct ranges bad = { 0 };

	if (cqe->res < 0 || (size_t)cqe->res != flight->request.len)
		reader_recover(reader, &flight->request, &bad);
	io_uring_cqe_seen(&uring->ring, cqe);
	flight->next = uring->free;
	uring->free = flight;
	uring->in_flight--;
	pthread_mutex_lock(&reader->lock);
	reader_finish(reader, &flight->request, &bad);
	pthread_mutex_unlock(&reader->lock);
}

static bool is_transient(int rc)
{
	return rc >= 0 || rc == -EAGAIN || rc == -EBUSY || rc == -EINTR;
}

/* Collects what is finished, after waiting for one request. Something is in flight. */
static int collect_finished(struct reader *reader, struct uring *uring)
{
	struct io_uring_cqe *cqe;
	int rc = 0;

	if (uring->in_flight > io_uring_sq_ready(&uring->ring))
		rc = io_uring_wait_cqe(&uring->ring, &cqe);
	else
		usleep(PAUSE);
	while (is_transient(rc) && !io_uring_peek_cqe(&uring->ring, &cqe))
		complete(reader, uring, cqe);
	return rc;
}

/* What the kernel does not accept at once stays queued for the next time. */
static int submit_and_collect(struct reader *reader, struct uring *uring)
{
	int rc = io_uring_sq_ready(&uring->ring) ? io_uring_submit(&uring->ring) : 0;

	return is_transient(rc) ? collect_finished(reader, uring) : rc;
}

static void *work(void *arg)
{
	struct reader *reader = arg;
	struct uring *uring = reader->backend_state;
	int rc = 0;

	pthread_mutex_lock(&reader->lock);
	while (!atomic_load(&reader->closing) && is_transient(rc)) {
		queue_requests(reader, uring);
		if (!uring->in_flight) {
			pthread_cond_wait(&uring->work, &reader->lock);
			continue;
		}
		pthread_mutex_unlock(&reader->lock);
		rc = submit_and_collect(reader, uring);
		pthread_mutex_lock(&reader->lock);
	}
	if (!is_transient(rc))
		reader_fail(reader, rc);
	pthread_mutex_unlock(&reader->lock);
	/* The kernel must not write into the ring once that is freed. Reads end by themselves. */
	while (uring->in_flight > io_uring_sq_ready(&uring->ring))
		if (!is_transient(collect_finished(reader, uring)))
			break;
	return NULL;
}

static void uring_free(struct reader *reader)
{
	struct uring *uring = reader->backend_state;

	io_uring_queue_exit(&uring->ring);
	pthread_cond_destroy(&uring->work);
	free(uring);
	reader->backend_state = NULL;
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
		uring->flights[i].next = uring->free;
		uring->free = &uring->flights[i];
	}
	pthread_cond_init(&uring->work, NULL);
	reader->backend_state = uring;
	rc = thread_start(&uring->thread, work, reader);
	if (rc)
		uring_free(reader);
	return rc;
}

/* While requests are in flight the thread returns here anyway. */
static void uring_wake(struct reader *reader)
{
	struct uring *uring = reader->backend_state;

	pthread_mutex_lock(&reader->lock);
	pthread_cond_signal(&uring->work);
	pthread_mutex_unlock(&reader->lock);
}

static void uring_stop(struct reader *reader)
{
	struct uring *uring = reader->backend_state;

	uring_wake(reader);
	pthread_join(uring->thread, NULL);
	uring_free(reader);
}

const struct reader_backend reader_uring_backend = {
	.name = "io_uring",
	.start = uring_start,
	.wake = uring_wake,
	.stop = uring_stop,
};
