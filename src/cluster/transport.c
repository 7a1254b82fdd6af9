#include "cluster/transport.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

/* A process that waits must not take the processor from others: it polls again after WAIT_FIRST
 * microseconds, and ever more rarely while nothing comes. */
#define WAIT_FIRST 20
#define WAIT_MAX 2000
/* How often it polls before the first pause. */
#define BUSY_POLLS 50

struct outgoing {
	struct outgoing *next;
	unsigned to;
	enum message_kind kind;
	struct codec_writer content;
	MPI_Request request;
};

/* A sum that another thread waits for. */
struct total {
	uint64_t *counts;
	int count, processes;
	double seconds;
	bool done;
};

struct host {
	char name[MPI_MAX_PROCESSOR_NAME];
};

static struct {
	int rank, count, local_rank, local_count, hosts;
	struct host *names;
	pthread_mutex_t lock; /* over the next three */
	pthread_cond_t filled;
	struct outgoing *first, **end;
	bool woken;
	struct outgoing *in_flight; /* given to MPI and not done */
	struct total *total;        /* wanted by another thread; under the lock */
	pthread_cond_t totalled;
} transport = { .lock = PTHREAD_MUTEX_INITIALIZER, .end = &transport.first };

/* ---- processes and hosts -------------------------------------------------------------------------- */

static void find_hosts(void)
{
	struct host own = { "" };
	MPI_Comm here;
	int len, first;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
	MPI_Comm_rank(here, &transport.local_rank);
	MPI_Comm_size(here, &transport.local_count);
	MPI_Comm_free(&here);
	first = transport.local_rank == 0;
	MPI_Allreduce(&first, &transport.hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Get_processor_name(own.name, &len);
	transport.names = xcalloc((size_t)transport.count, sizeof(*transport.names));
	MPI_Allgather(&own, sizeof(own), MPI_BYTE, transport.names, sizeof(own), MPI_BYTE,
		MPI_COMM_WORLD);
}

int transport_open(int *argc, char ***argv)
{
	int provided;

	if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) ||
		provided < MPI_THREAD_FUNNELED)
		return -1;
	thread_cond_init(&transport.filled);
	thread_cond_init(&transport.totalled);
	MPI_Comm_rank(MPI_COMM_WORLD, &transport.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &transport.count);
	find_hosts();
	return 0;
}

unsigned transport_rank(void)
{
	return (unsigned)transport.rank;
}

unsigned transport_count(void)
{
	return (unsigned)transport.count;
}

unsigned transport_local_rank(void)
{
	return (unsigned)transport.local_rank;
}

unsigned transport_local_count(void)
{
	return (unsigned)transport.local_count;
}

unsigned transport_hosts(void)
{
	return (unsigned)transport.hosts;
}

const char *transport_host(unsigned rank)
{
	return transport.names[rank].name;
}

/* ---- sending ------------------------------------------------------------------------------- */

void transport_send(unsigned to, enum message_kind kind, struct codec_writer *content)
{
	struct outgoing *outgoing = xcalloc(1, sizeof(*outgoing));

	outgoing->to = to;
	outgoing->kind = kind;
	if (content) {
		outgoing->content = *content;
		*content = (struct codec_writer){ 0 };
	}
	pthread_mutex_lock(&transport.lock);
	*transport.end = outgoing;
	transport.end = &outgoing->next;
	pthread_cond_signal(&transport.filled);
	pthread_mutex_unlock(&transport.lock);
}

void transport_wake(void)
{
	pthread_mutex_lock(&transport.lock);
	transport.woken = true;
	pthread_cond_signal(&transport.filled);
	pthread_mutex_unlock(&transport.lock);
}

static struct outgoing *take_queued(void)
{
	struct outgoing *queued;

	pthread_mutex_lock(&transport.lock);
	queued = transport.first;
	transport.first = NULL;
	transport.end = &transport.first;
	pthread_mutex_unlock(&transport.lock);
	return queued;
}

static bool has_queued(void)
{
	bool any;

	pthread_mutex_lock(&transport.lock);
	any = transport.first != NULL;
	pthread_mutex_unlock(&transport.lock);
	return any;
}

/* Delivers those to itself, and gives the rest to MPI. Returns whether there were any. */
static bool send_queued(void (*deliver)(struct message *message))
{
	struct outgoing *outgoing = take_queued(), *next;
	bool any = outgoing != NULL;

	for (; outgoing; outgoing = next) {
		next = outgoing->next;
		if (outgoing->to == (unsigned)transport.rank) {
			struct message message = { outgoing->to, outgoing->kind,
				outgoing->content.bytes, outgoing->content.len };

			deliver(&message);
			free(outgoing);
			continue;
		}
		MPI_Isend(outgoing->content.bytes, (int)outgoing->content.len, MPI_BYTE,
			(int)outgoing->to, (int)outgoing->kind, MPI_COMM_WORLD, &outgoing->request);
		outgoing->next = transport.in_flight;
		transport.in_flight = outgoing;
	}
	return any;
}

static bool reap_sent(void)
{
	bool any = false;

	for (struct outgoing **at = &transport.in_flight; *at;) {
		struct outgoing *outgoing = *at;
		int done;

		MPI_Test(&outgoing->request, &done, MPI_STATUS_IGNORE);
		if (!done) {
			at = &outgoing->next;
			continue;
		}
		any = true;
		*at = outgoing->next;
		free(outgoing->content.bytes);
		free(outgoing);
	}
	return any;
}

/* ---- sums ---------------------------------------------------------------------------------- */

void transport_total(uint64_t *counts, unsigned count, unsigned processes, double *seconds)
{
	struct total total = { counts, (int)count, (int)processes, 0, false };

	pthread_mutex_lock(&transport.lock);
	transport.total = &total;
	pthread_cond_signal(&transport.filled);
	while (!total.done)
		pthread_cond_wait(&transport.totalled, &transport.lock);
	pthread_mutex_unlock(&transport.lock);
	*seconds = total.seconds;
}

/* All processes make the communicator; those that are not in it have nothing to add. */
static void add_up(struct total *total)
{
	bool root = transport.rank == 0, in = transport.rank < total->processes;
	MPI_Comm some;
	double from;

	MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, transport.rank, &some);
	if (!in)
		return;
	MPI_Barrier(some);
	from = clock_seconds();
	MPI_Reduce(root ? MPI_IN_PLACE : total->counts, root ? total->counts : NULL, total->count,
		MPI_UINT64_T, MPI_SUM, 0, some);
	total->seconds = clock_seconds() - from;
	MPI_Comm_free(&some);
}

/* Once everything was sent, so that nobody waits for this process in the meantime. */
static bool serve_total(void)
{
	struct total *total;

	pthread_mutex_lock(&transport.lock);
	total = transport.first || transport.in_flight ? NULL : transport.total;
	pthread_mutex_unlock(&transport.lock);
	if (!total)
		return false;
	add_up(total);
	pthread_mutex_lock(&transport.lock);
	transport.total = NULL;
	total->done = true;
	pthread_cond_signal(&transport.totalled);
	pthread_mutex_unlock(&transport.lock);
	return true;
}

/* ---- receiving ----------------------------------------------------------------------------- */

static bool receive(void (*deliver)(struct message *message))
{
	MPI_Message probed;
	MPI_Status status;
	struct message message;
	int found, len;

	MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &probed, &status);
	if (!found)
		return false;
	MPI_Get_count(&status, MPI_BYTE, &len);
	message = (struct message){ (unsigned)status.MPI_SOURCE, (enum message_kind)status.MPI_TAG,
		xmalloc((size_t)len + 1), (size_t)len };
	MPI_Mrecv(message.bytes, len, MPI_BYTE, &probed, MPI_STATUS_IGNORE);
	deliver(&message);
	return true;
}

static void wait_for_queued(long microseconds)
{
	pthread_mutex_lock(&transport.lock);
	if (!transport.first && !transport.woken && !transport.total)
		thread_cond_wait(&transport.filled, &transport.lock, (double)microseconds / 1e6);
	transport.woken = false;
	pthread_mutex_unlock(&transport.lock);
}

void transport_run(void (*deliver)(struct message *message), bool (*done)(void))
{
	unsigned idle = 0;

	for (;;) {
		bool any = send_queued(deliver);

		any |= reap_sent();
		any |= receive(deliver);
		any |= serve_total();
		if (any) {
			idle = 0;
			continue;
		}
		if (done() && !transport.in_flight && !has_queued())
			return;
		idle++;
		if (idle < BUSY_POLLS)
			sched_yield();
		else
			wait_for_queued(idle - BUSY_POLLS < WAIT_MAX / WAIT_FIRST
						? (long)(idle - BUSY_POLLS + 1) * WAIT_FIRST
						: WAIT_MAX);
	}
}

void transport_close(void)
{
	MPI_Finalize();
	free(transport.names);
	pthread_cond_destroy(&transport.filled);
	pthread_cond_destroy(&transport.totalled);
}
