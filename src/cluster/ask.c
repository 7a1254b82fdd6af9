/* Checks and writes: requests of the conductor's proxy threads, each of which waits for one answer.
 * The helper with the fewest for its threads gets the next. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/texts.h"
#include "cluster/conductor.h"
#include "cluster/wire.h"
#include "run.h"

/* So many for each thread of a helper are on their way, waiting or being done: enough to keep it at
 * work while answers and new requests travel; more of them cost processor time, as more is checked
 * that a decision would have spared. */
#define JOBS_EACH 4
/* More proxies than that gain nothing. */
#define JOBS_MOST 512
/* How long a cancelled request still waits for the helper to clean up, in tenths of a second. */
#define PATIENCE 10

struct request {
	struct request *next;
	uint64_t number;
	unsigned rank;
	double asked; /* run_clock */
	pthread_cond_t answered;
	const struct carving_checks *checks; /* NULL: it is a write */
	bool done;
	struct post answer;
};

/* What findings point to; a few dozen different ones. */
static struct texts extensions;

void ask_end(void)
{
	texts_free(&extensions);
	extensions = (struct texts){ 0 };
}

unsigned ask_jobs(void)
{
	unsigned jobs = 0;

	for (unsigned rank = 0; rank < post_count(); rank++)
		jobs += conductor.peers[rank].threads * JOBS_EACH;
	return jobs < JOBS_MOST ? jobs : JOBS_MOST;
}

/* Of those that are equal, another one each time. */
static unsigned idlest(void)
{
	unsigned count = post_count(), best = (unsigned)(conductor.request_count % count);

	for (unsigned i = 1; i < count; i++) {
		unsigned rank = (unsigned)((conductor.request_count + i) % count);
		const struct peer *peer = &conductor.peers[rank], *than = &conductor.peers[best];

		if (peer->jobs * than->threads < than->jobs * peer->threads)
			best = rank;
	}
	return best;
}

static struct request *find_request(uint64_t number, unsigned rank)
{
	struct request *request = conductor.requests;

	while (request && (request->number != number || request->rank != rank))
		request = request->next;
	return request;
}

static void tell_reached(const struct carving_checks *checks, struct unpack *unpack)
{
	uint64_t start = unpack_number(unpack), reached = unpack_number(unpack);

	if (!unpack->bad)
		checks->reached(checks->context, start, reached);
}

void ask_deliver(struct post *post)
{
	struct unpack unpack = { post->bytes, post->len, false };
	struct request *request = find_request(unpack_number(&unpack), post->from);

	if (request && post->kind != POST_REACHED) {
		request->answer = *post;
		request->done = true;
		pthread_cond_signal(&request->answered);
		return;
	}
	if (request && request->checks)
		tell_reached(request->checks, &unpack);
	free(post->bytes); /* or nobody waits any more */
}

static void forget(struct request *request)
{
	struct request **at = &conductor.requests;
	struct peer *peer = &conductor.peers[request->rank];

	while (*at != request)
		at = &(*at)->next;
	*at = request->next;
	peer->jobs--;
	peer->jobs_done++;
	peer->jobs_wait += run_clock() - request->asked;
}

static void tell_cancelled(void)
{
	if (conductor.cancelled)
		return;
	conductor.cancelled = true;
	for (unsigned rank = 0; rank < post_count(); rank++)
		post_send(rank, POST_CANCEL, NULL);
}

static int await_answer(struct request *request, const atomic_bool *cancel, struct error *error)
{
	unsigned patience = PATIENCE;
	int status = 0;

	while (!request->done && !status) {
		conductor_wait(&request->answered);
		if (request->done)
			break;
		status = conductor_failure(error);
		if (!status && atomic_load(cancel)) {
			tell_cancelled();
			if (!patience--)
				status = -ECANCELED;
		}
	}
	return request->done ? 0 : status;
}

/* checks: NULL for a write. numbered: what follows the request's number. On success the caller
 * frees answer->bytes. */
static int ask(const struct carving_checks *checks, const struct pack *numbered,
	const atomic_bool *cancel, struct post *answer, unsigned *rank, struct error *error)
{
	struct request request = { .checks = checks };
	pthread_condattr_t attributes;
	struct pack pack = { 0 };
	int status;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&request.answered, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_lock(&conductor.lock);
	request.number = ++conductor.request_count;
	request.rank = *rank = idlest();
	request.asked = run_clock();
	request.next = conductor.requests;
	conductor.requests = &request;
	conductor.peers[request.rank].jobs++;
	pack_number(&pack, request.number);
	pack_bytes(&pack, numbered->bytes, numbered->len);
	post_send(request.rank, checks ? POST_CHECK : POST_WRITE, &pack);
	status = await_answer(&request, cancel, error);
	forget(&request);
	pthread_mutex_unlock(&conductor.lock);
	pthread_cond_destroy(&request.answered);
	*answer = request.answer;
	return status;
}

/* A helper that could not do it says why. Returns its status. */
static int take_status(struct unpack *unpack, unsigned rank, struct error *error)
{
	struct error theirs = { 0 };
	int status = (int)unpack_number(unpack);

	theirs.code = (int)unpack_number(unpack);
	unpack_text(unpack, theirs.text, sizeof(theirs.text));
	if (unpack->bad)
		return error_set(error, EXIT_IO, EBADMSG,
			"a fault in burin: rank %u sent an answer that makes no sense", rank);
	if (status && theirs.code)
		conductor_blame(rank, &theirs, error);
	return status;
}

static const char *keep_extension(const char *extension)
{
	const char *kept;

	pthread_mutex_lock(&conductor.lock);
	kept = texts_keep(&extensions, extension);
	pthread_mutex_unlock(&conductor.lock);
	return kept;
}

static void put_checks(struct pack *pack, const struct carving_checks *checks)
{
	pack_number(pack, checks->hidden_until);
	pack_number(pack, checks->count);
	for (uint32_t i = 0; i < checks->count; i++) {
		pack_number(pack, checks->asked[i].insist);
		wire_put_candidate(pack, checks->asked[i].candidate);
	}
}

static void get_answers(struct unpack *unpack, const struct carving_checks *checks)
{
	for (uint32_t i = 0; i < checks->count; i++) {
		struct carving_asked *asked = &checks->asked[i];

		asked->put_off = unpack_number(unpack);
		if (!asked->put_off)
			wire_get_outcome(unpack, asked->outcome, keep_extension);
	}
}

static int ask_check(
	const struct carving_checks *checks, const atomic_bool *cancel, struct error *error)
{
	struct pack pack = { 0 };
	struct post answer;
	struct unpack unpack;
	unsigned rank;
	int status;

	put_checks(&pack, checks);
	status = ask(checks, &pack, cancel, &answer, &rank, error);
	free(pack.bytes);
	if (status)
		return status;
	unpack = (struct unpack){ answer.bytes, answer.len, false };
	unpack_number(&unpack);
	status = take_status(&unpack, rank, error);
	if (!status)
		get_answers(&unpack, checks);
	if (!status && unpack.bad)
		status = take_status(&unpack, rank, error);
	free(answer.bytes);
	return status;
}

static int ask_write(struct file_record *record, const atomic_bool *cancel, struct error *error)
{
	struct pack pack = { 0 };
	struct post answer;
	struct unpack unpack;
	unsigned rank;
	int status;

	wire_put_file(&pack, record);
	status = ask(NULL, &pack, cancel, &answer, &rank, error);
	free(pack.bytes);
	if (status)
		return status;
	unpack = (struct unpack){ answer.bytes, answer.len, false };
	unpack_number(&unpack);
	status = take_status(&unpack, rank, error);
	if (!status)
		wire_get_written(&unpack, record);
	free(answer.bytes);
	return status;
}

const struct carving_remote ask_remote = { ask_check, ask_write };
