#include "cluster/post.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"

/* A process that waits must not take the processor from others: it looks again after so many
 * microseconds, and later when nothing comes. */
#define WAIT_FIRST 20
#define WAIT_MOST 2000
/* So often it looks without a pause. */
#define LOOKS 50

struct letter {
	struct letter *next;
	unsigned to;
	enum post_kind kind;
	struct pack pack;
	MPI_Request request;
};

struct host {
	char name[MPI_MAX_PROCESSOR_NAME];
};

static struct {
	int rank, count, local_rank, local_count, hosts;
	struct host *names;
	pthread_mutex_t lock; /* over the next three */
	pthread_cond_t filled;
	struct letter *first, **end;
	bool woken;
	struct letter *flying; /* given to MPI and not done */
} office = { .lock = PTHREAD_MUTEX_INITIALIZER, .end = &office.first };

/* ---- who is there -------------------------------------------------------------------------- */

static void learn_hosts(void)
{
	struct host own = { "" };
	MPI_Comm here;
	int len, first;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
	MPI_Comm_rank(here, &office.local_rank);
	MPI_Comm_size(here, &office.local_count);
	MPI_Comm_free(&here);
	first = office.local_rank == 0;
	MPI_Allreduce(&first, &office.hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Get_processor_name(own.name, &len);
	office.names = xcalloc((size_t)office.count, sizeof(*office.names));
	MPI_Allgather(
		&own, sizeof(own), MPI_BYTE, office.names, sizeof(own), MPI_BYTE, MPI_COMM_WORLD);
}

int post_open(int *argc, char ***argv)
{
	int provided;

	if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) ||
		provided < MPI_THREAD_FUNNELED)
		return -1;
	thread_cond_init(&office.filled);
	MPI_Comm_rank(MPI_COMM_WORLD, &office.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &office.count);
	learn_hosts();
	return 0;
}

unsigned post_rank(void)
{
	return (unsigned)office.rank;
}

unsigned post_count(void)
{
	return (unsigned)office.count;
}

unsigned post_local_rank(void)
{
	return (unsigned)office.local_rank;
}

unsigned post_local_count(void)
{
	return (unsigned)office.local_count;
}

unsigned post_hosts(void)
{
	return (unsigned)office.hosts;
}

const char *post_host(unsigned rank)
{
	return office.names[rank].name;
}

/* ---- sending ------------------------------------------------------------------------------- */

void post_send(unsigned to, enum post_kind kind, struct pack *pack)
{
	struct letter *letter = xcalloc(1, sizeof(*letter));

	letter->to = to;
	letter->kind = kind;
	if (pack) {
		letter->pack = *pack;
		*pack = (struct pack){ 0 };
	}
	pthread_mutex_lock(&office.lock);
	*office.end = letter;
	office.end = &letter->next;
	pthread_cond_signal(&office.filled);
	pthread_mutex_unlock(&office.lock);
}

void post_wake(void)
{
	pthread_mutex_lock(&office.lock);
	office.woken = true;
	pthread_cond_signal(&office.filled);
	pthread_mutex_unlock(&office.lock);
}

static struct letter *take_letters(void)
{
	struct letter *letters;

	pthread_mutex_lock(&office.lock);
	letters = office.first;
	office.first = NULL;
	office.end = &office.first;
	pthread_mutex_unlock(&office.lock);
	return letters;
}

static bool has_letters(void)
{
	bool any;

	pthread_mutex_lock(&office.lock);
	any = office.first != NULL;
	pthread_mutex_unlock(&office.lock);
	return any;
}

/* To itself, or on its way. Returns whether there was any. */
static bool send_letters(void (*deliver)(struct post *post))
{
	struct letter *letter = take_letters(), *next;
	bool any = letter != NULL;

	for (; letter; letter = next) {
		next = letter->next;
		if (letter->to == (unsigned)office.rank) {
			struct post post = { letter->to, letter->kind, letter->pack.bytes,
				letter->pack.len };

			deliver(&post);
			free(letter);
			continue;
		}
		MPI_Isend(letter->pack.bytes, (int)letter->pack.len, MPI_BYTE, (int)letter->to,
			(int)letter->kind, MPI_COMM_WORLD, &letter->request);
		letter->next = office.flying;
		office.flying = letter;
	}
	return any;
}

static bool land_letters(void)
{
	bool any = false;

	for (struct letter **at = &office.flying; *at;) {
		struct letter *letter = *at;
		int done;

		MPI_Test(&letter->request, &done, MPI_STATUS_IGNORE);
		if (!done) {
			at = &letter->next;
			continue;
		}
		any = true;
		*at = letter->next;
		free(letter->pack.bytes);
		free(letter);
	}
	return any;
}

/* ---- receiving ----------------------------------------------------------------------------- */

static bool receive(void (*deliver)(struct post *post))
{
	MPI_Message message;
	MPI_Status status;
	struct post post;
	int there, len;

	MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &message, &status);
	if (!there)
		return false;
	MPI_Get_count(&status, MPI_BYTE, &len);
	post = (struct post){ (unsigned)status.MPI_SOURCE, (enum post_kind)status.MPI_TAG,
		xmalloc((size_t)len + 1), (size_t)len };
	MPI_Mrecv(post.bytes, len, MPI_BYTE, &message, MPI_STATUS_IGNORE);
	deliver(&post);
	return true;
}

static void pause_a_while(long microseconds)
{
	pthread_mutex_lock(&office.lock);
	if (!office.first && !office.woken)
		thread_cond_wait(&office.filled, &office.lock, (double)microseconds / 1e6);
	office.woken = false;
	pthread_mutex_unlock(&office.lock);
}

void post_run(void (*deliver)(struct post *post), bool (*done)(void))
{
	unsigned idle = 0;

	for (;;) {
		bool any = send_letters(deliver);

		any |= land_letters();
		any |= receive(deliver);
		if (any) {
			idle = 0;
			continue;
		}
		if (done() && !office.flying && !has_letters())
			return;
		idle++;
		if (idle < LOOKS)
			sched_yield();
		else
			pause_a_while(idle - LOOKS < WAIT_MOST / WAIT_FIRST
					      ? (long)(idle - LOOKS + 1) * WAIT_FIRST
					      : WAIT_MOST);
	}
}

void post_close(void)
{
	MPI_Finalize();
	free(office.names);
	pthread_cond_destroy(&office.filled);
}
