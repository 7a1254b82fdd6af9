/* Checks and writes that the carving stage asks for: each request goes to the worker with the fewest
 * for its threads. The caller does not wait; the answer calls it back. */
#include "cluster/rpc_client.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cluster/coordinator.h"
#include "cluster/messages.h"
#include "cluster/scheduler.h"

/* Requests for each thread of a worker that are on their way, waiting or being done: enough to keep
 * it at work while answers and new requests travel; more cost processor time, because candidates
 * are checked that a decision would have spared. */
#define JOBS_EACH 4
/* More than that gain nothing. */
#define JOBS_MAX 512
/* Seconds for which requests that were cancelled still wait for the workers to clean up. */
#define PATIENCE 1.0
/* Bits of a request's number that hold its entry in the table. */
#define ENTRY_BITS 20

/* A request that has no answer yet, or a free entry for one. */
struct asked {
	uint64_t number; /* 0: free */
	size_t next;     /* free: the next free entry, plus 1; 0 for none */
	unsigned rank;
	double since; /* clock_seconds */
	struct remote_request *request;
};

/* Under the coordinator's lock. */
static struct {
	struct asked *asked;
	size_t room, free;   /* entries; the first free one, plus 1 */
	uint64_t count;      /* since the start */
	bool was_cancelled;  /* the workers were told */
	double cancelled_at; /* clock_seconds */
} requests;

void rpc_client_end(void)
{
	free(requests.asked);
	memset(&requests, 0, sizeof(requests));
}

/* How many requests are worth having out at a time. */
static unsigned count_jobs(void)
{
	unsigned jobs = 0;

	for (unsigned rank = 0; rank < transport_count(); rank++)
		jobs += coordinator.peers[rank].threads * JOBS_EACH;
	return jobs < JOBS_MAX ? jobs : JOBS_MAX;
}

/* ---- the table ----------------------------------------------------------------------------- */

static struct asked *take_entry(void)
{
	size_t entry = requests.free;

	if (entry) {
		requests.free = requests.asked[entry - 1].next;
	} else {
		requests.asked =
			xreallocarray(requests.asked, ++requests.room, sizeof(*requests.asked));
		entry = requests.room;
	}
	requests.asked[entry - 1] =
		(struct asked){ .number = ++requests.count << ENTRY_BITS | (entry - 1) };
	return &requests.asked[entry - 1];
}

/* NULL: it was given up. */
static struct asked *find_entry(uint64_t number, unsigned rank)
{
	size_t entry = (size_t)(number & ((1u << ENTRY_BITS) - 1));
	struct asked *asked = entry < requests.room ? &requests.asked[entry] : NULL;

	return asked && number && asked->number == number && asked->rank == rank ? asked : NULL;
}

/* Frees the entry and calls back. */
static void complete(struct asked *asked, int status, const struct error *error)
{
	struct peer *peer = &coordinator.peers[asked->rank];

	peer->jobs--;
	peer->jobs_done++;
	peer->jobs_wait += clock_seconds() - asked->since;
	asked->number = 0;
	asked->next = requests.free;
	requests.free = (size_t)(asked - requests.asked) + 1;
	asked->request->done(asked->request, status, error);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* Of those that are equally busy, another one each time. */
static unsigned idlest_rank(void)
{
	unsigned count = transport_count(), best = (unsigned)(requests.count % count);

	for (unsigned i = 1; i < count; i++) {
		unsigned rank = (unsigned)((requests.count + i) % count);
		const struct peer *peer = &coordinator.peers[rank];
		const struct peer *than = &coordinator.peers[best];

		if (peer->jobs * than->threads < than->jobs * peer->threads)
			best = rank;
	}
	return best;
}

static void put_request(struct codec_writer *writer, const struct remote_request *request)
{
	if (request->check_count)
		codec_put(writer, request->hidden_until);
	codec_put(writer, request->check_count + request->write_count);
	for (uint32_t i = 0; i < request->check_count; i++) {
		codec_put(writer, request->checks[i].force);
		codec_put(writer, request->checks[i].work_max);
		candidate_save(request->checks[i].candidate, writer);
	}
	for (uint32_t i = 0; i < request->write_count; i++)
		message_put_file(writer, request->writes[i].record);
}

static void ask(struct remote_request *request)
{
	struct codec_writer writer = { 0 };
	struct asked *asked;

	pthread_mutex_lock(&coordinator.lock);
	asked = take_entry();
	asked->request = request;
	asked->rank = idlest_rank();
	asked->since = clock_seconds();
	coordinator.peers[asked->rank].jobs++;
	codec_put(&writer, asked->number);
	put_request(&writer, request);
	transport_send(asked->rank, request->check_count ? MESSAGE_CHECK : MESSAGE_WRITE, &writer);
	pthread_mutex_unlock(&coordinator.lock);
}

/* ---- answers ------------------------------------------------------------------------------- */

/* A worker that could not do it says why. Returns its status. */
static int get_status(struct codec_reader *reader, unsigned rank, struct error *error)
{
	struct error theirs = { 0 };
	int status = -(int)codec_get(reader, INT32_MAX);

	message_get_error(reader, &theirs);
	if (status && theirs.code)
		coordinator_blame(rank, &theirs, error);
	return status;
}

static void get_outcomes(struct codec_reader *reader, const struct remote_request *request)
{
	for (uint32_t i = 0; i < request->check_count; i++) {
		struct remote_check *check = &request->checks[i];

		check->deferred = codec_get_flag(reader);
		if (!check->deferred)
			outcome_load(check->outcome, coordinator_keep, reader);
	}
}

static void get_written(struct codec_reader *reader, const struct remote_request *request)
{
	for (uint32_t i = 0; i < request->write_count; i++) {
		request->writes[i].status = -(int)codec_get(reader, INT32_MAX);
		message_get_written(reader, request->writes[i].record);
	}
}

static void note_answer(struct asked *asked, struct codec_reader *reader)
{
	const struct remote_request *request = asked->request;
	struct error error = { 0 };
	int status = get_status(reader, asked->rank, &error);

	get_written(reader, request);
	if (!status)
		get_outcomes(reader, request);
	assert(codec_at_end(reader)); /* every process runs the same program */
	complete(asked, status, &error);
}

void rpc_client_deliver(struct message *message)
{
	struct codec_reader reader = codec_reader_from(message->bytes, message->len);
	struct asked *asked = find_entry(codec_get(&reader, UINT64_MAX), message->from);

	if (asked && message->kind == MESSAGE_REACHED && asked->request->check_count) {
		uint64_t start = codec_get(&reader, UINT64_MAX);
		uint64_t reached = codec_get(&reader, UINT64_MAX);

		asked->request->reached(asked->request, start, reached);
	} else if (asked) {
		note_answer(asked, &reader);
	}
	free(message->bytes);
}

/* ---- when none come ------------------------------------------------------------------------ */

static void complete_all(int status, const struct error *error)
{
	for (size_t i = 0; i < requests.room; i++)
		if (requests.asked[i].number)
			complete(&requests.asked[i], status, error);
}

static void send_cancel(void)
{
	requests.was_cancelled = true;
	requests.cancelled_at = clock_seconds();
	for (unsigned rank = 0; rank < transport_count(); rank++)
		transport_send(rank, MESSAGE_CANCEL, NULL);
}

static void watch(bool cancelled)
{
	struct error error = { 0 };
	int status;

	pthread_mutex_lock(&coordinator.lock);
	status = coordinator_failure(&error);
	if (cancelled && !requests.was_cancelled)
		send_cancel();
	if (!status && cancelled && clock_seconds() - requests.cancelled_at > PATIENCE)
		status = -ECANCELED;
	if (status)
		complete_all(status, &error);
	pthread_mutex_unlock(&coordinator.lock);
}

const struct remote_workers rpc_client_remote = { count_jobs, ask, watch, scheduler_hide };
