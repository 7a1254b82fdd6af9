/* Checks and writes: requests of the carving stage, each to the helper with the fewest for its
 * threads. Nobody waits for an answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cluster/conductor.h"
#include "cluster/wire.h"
#include "run/run.h"

/* So many for each thread of a helper are on their way, waiting or being done: enough to keep it at
 * work while answers and new requests travel; more of them cost processor time, as more is checked
 * that a decision would have spared. */
#define JOBS_EACH 4
/* More than that gain nothing. */
#define JOBS_MOST 512
/* Seconds for which requests that were cancelled still wait for the helpers to clean up. */
#define PATIENCE 1.0
/* A request's number holds its place in so many bits. */
#define PLACE_BITS 20

/* A request that has no answer yet, or a free place for one. */
struct asked {
	uint64_t number; /* 0: free */
	size_t next;     /* free: the next place that is, and 1; 0 for none */
	unsigned rank;
	double since; /* clock_seconds */
	struct remote_request *request;
};

/* Under the conductor's lock. */
static struct {
	struct asked *asked;
	size_t room, free;         /* places; the first that is free, and 1 */
	uint64_t count;            /* since the start */
	double cancelled;          /* clock_seconds: when the helpers heard of it */
	struct strpool extensions; /* what findings point to; a few dozen different ones */
} desk;

void ask_end(void)
{
	strpool_free(&desk.extensions);
	free(desk.asked);
	memset(&desk, 0, sizeof(desk));
}

const char *ask_keep(const char *extension)
{
	return strpool_keep(&desk.extensions, extension);
}

static unsigned ask_jobs(void)
{
	unsigned jobs = 0;

	for (unsigned rank = 0; rank < post_count(); rank++)
		jobs += conductor.peers[rank].threads * JOBS_EACH;
	return jobs < JOBS_MOST ? jobs : JOBS_MOST;
}

/* ---- places -------------------------------------------------------------------------------- */

static struct asked *take_place(void)
{
	size_t place = desk.free;

	if (place) {
		desk.free = desk.asked[place - 1].next;
	} else {
		desk.asked = xreallocarray(desk.asked, ++desk.room, sizeof(*desk.asked));
		place = desk.room;
	}
	desk.asked[place - 1] =
		(struct asked){ .number = ++desk.count << PLACE_BITS | (place - 1) };
	return &desk.asked[place - 1];
}

/* NULL: nobody waits for it any more. */
static struct asked *find_place(uint64_t number, unsigned rank)
{
	size_t place = (size_t)(number & ((1u << PLACE_BITS) - 1));
	struct asked *asked = place < desk.room ? &desk.asked[place] : NULL;

	return asked && number && asked->number == number && asked->rank == rank ? asked : NULL;
}

/* Its place is free again, whatever becomes of the request. */
static void answer(struct asked *asked, int status, const struct error *error)
{
	struct peer *peer = &conductor.peers[asked->rank];

	peer->jobs--;
	peer->jobs_done++;
	peer->jobs_wait += clock_seconds() - asked->since;
	asked->number = 0;
	asked->next = desk.free;
	desk.free = (size_t)(asked - desk.asked) + 1;
	asked->request->done(asked->request, status, error);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* Of those that are equal, another one each time. */
static unsigned idlest(void)
{
	unsigned count = post_count(), best = (unsigned)(desk.count % count);

	for (unsigned i = 1; i < count; i++) {
		unsigned rank = (unsigned)((desk.count + i) % count);
		const struct peer *peer = &conductor.peers[rank], *than = &conductor.peers[best];

		if (peer->jobs * than->threads < than->jobs * peer->threads)
			best = rank;
	}
	return best;
}

static void put_request(struct pack *pack, const struct remote_request *request)
{
	if (request->check_count)
		pack_number(pack, request->hidden_until);
	pack_number(pack, request->check_count + request->write_count);
	for (uint32_t i = 0; i < request->check_count; i++) {
		pack_number(pack, request->checks[i].force);
		wire_put_candidate(pack, request->checks[i].candidate);
	}
	for (uint32_t i = 0; i < request->write_count; i++)
		wire_put_file(pack, request->writes[i].record);
}

static void ask(struct remote_request *request)
{
	struct pack pack = { 0 };
	struct asked *asked;

	pthread_mutex_lock(&conductor.lock);
	asked = take_place();
	asked->request = request;
	asked->rank = idlest();
	asked->since = clock_seconds();
	conductor.peers[asked->rank].jobs++;
	pack_number(&pack, asked->number);
	put_request(&pack, request);
	post_send(asked->rank, request->check_count ? POST_CHECK : POST_WRITE, &pack);
	pthread_mutex_unlock(&conductor.lock);
}

/* ---- answers ------------------------------------------------------------------------------- */

/* A helper that could not do it says why. Returns its status. */
static int take_status(struct unpack *unpack, unsigned rank, struct error *error)
{
	struct error theirs = { 0 };
	int status = (int)unpack_number(unpack);

	theirs.code = (int)unpack_number(unpack);
	unpack_text(unpack, theirs.text, sizeof(theirs.text));
	if (status && theirs.code)
		conductor_blame(rank, &theirs, error);
	return status;
}

static void get_outcomes(struct unpack *unpack, const struct remote_request *request)
{
	for (uint32_t i = 0; i < request->check_count; i++) {
		struct remote_check *asked = &request->checks[i];

		asked->deferred = unpack_number(unpack);
		if (!asked->deferred)
			wire_get_outcome(unpack, asked->outcome, ask_keep);
	}
}

static void get_written(struct unpack *unpack, const struct remote_request *request)
{
	for (uint32_t i = 0; i < request->write_count; i++) {
		request->writes[i].status = unpack->left ? (int)unpack_number(unpack) : -EBADMSG;
		wire_get_written(unpack, request->writes[i].record);
	}
}

static void take_answer(struct asked *asked, struct unpack *unpack)
{
	const struct remote_request *request = asked->request;
	struct error error = { 0 };
	int status = take_status(unpack, asked->rank, &error);

	if (!status || request->write_count)
		get_written(unpack, request);
	if (!status)
		get_outcomes(unpack, request);
	if (unpack->bad)
		status = error_set(&error, EXIT_IO, EBADMSG,
			"a fault in burin: rank %u sent an answer that makes no sense",
			asked->rank);
	answer(asked, status, &error);
}

void ask_deliver(struct post *post)
{
	struct unpack unpack = { post->bytes, post->len, false };
	struct asked *asked = find_place(unpack_number(&unpack), post->from);

	if (asked && post->kind == POST_REACHED && asked->request->check_count) {
		uint64_t start = unpack_number(&unpack), reached = unpack_number(&unpack);

		if (!unpack.bad)
			asked->request->reached(asked->request, start, reached);
	} else if (asked) {
		take_answer(asked, &unpack);
	}
	free(post->bytes);
}

/* ---- when none come ------------------------------------------------------------------------ */

static void give_up(int status, const struct error *error)
{
	for (size_t i = 0; i < desk.room; i++)
		if (desk.asked[i].number)
			answer(&desk.asked[i], status, error);
}

static void tell_cancelled(void)
{
	conductor.cancelled = true;
	desk.cancelled = clock_seconds();
	for (unsigned rank = 0; rank < post_count(); rank++)
		post_send(rank, POST_CANCEL, NULL);
}

static void watch(bool cancelled)
{
	struct error error = { 0 };
	int status;

	pthread_mutex_lock(&conductor.lock);
	status = conductor_failure(&error);
	if (cancelled && !conductor.cancelled)
		tell_cancelled();
	if (!status && cancelled && clock_seconds() - desk.cancelled > PATIENCE)
		status = -ECANCELED;
	if (status)
		give_up(status, &error);
	pthread_mutex_unlock(&conductor.lock);
}

const struct remote_workers ask_remote = { ask_jobs, ask, watch, deal_hide };
