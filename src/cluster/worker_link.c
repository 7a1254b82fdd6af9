/* The transport's thread notes what the coordinator sends; the worker's thread waits for it. */
#include "cluster/worker_link.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"
#include "cluster/credit.h"
#include "cluster/messages.h"
#include "cluster/reduction.h"
#include "run/signals.h"

/* More than the coordinator deals in advance. */
#define UNITS_MAX 8
#define MARK_MAX ((size_t)4096)

struct given {
	struct range range;
	bool last;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool used, begun, ended, cancelled;
	char *mark;
	struct given units[UNITS_MAX];
	uint64_t got, taken; /* units; one of length 0 is the last */
	size_t unused;       /* of what was sent, as credit_of counts */
	void (*hide)(void *context, uint64_t until);
	void *hide_context;
	bool has_passes; /* a message about them, which was not taken yet */
	struct message passes;
	bool has_reduced;
	struct cluster_reduced reduced;
	bool has_image;
	size_t image;
} worker = { .lock = PTHREAD_MUTEX_INITIALIZER };

void link_init(void)
{
	thread_cond_init(&worker.changed);
}

bool link_was_used(void)
{
	return worker.used;
}

/* Until something has changed, or a tenth of a second. False when a signal was caught. */
static bool wait_a_moment(void)
{
	thread_cond_wait(&worker.changed, &worker.lock, 0.1);
	return !signals_caught();
}

/* ---- what arrives -------------------------------------------------------------------------- */

static void note_unit(struct codec_reader *reader)
{
	struct given *given = &worker.units[worker.got % UNITS_MAX];

	assert(worker.got - worker.taken < UNITS_MAX);
	given->range.offset = codec_get(reader, UINT64_MAX);
	given->range.length = codec_get(reader, UINT64_MAX);
	given->last = codec_get_flag(reader);
	worker.got++;
}

static void note_credit(struct codec_reader *reader)
{
	size_t used = (size_t)codec_get(reader, SIZE_MAX);

	worker.unused -= used < worker.unused ? used : worker.unused;
}

static void note_hidden(struct codec_reader *reader)
{
	uint64_t until = codec_get(reader, UINT64_MAX);

	rpc_server_hide(until);
	if (worker.hide)
		worker.hide(worker.hide_context, until);
}

static void note(const struct message *message)
{
	struct codec_reader reader = codec_reader_from(message->bytes, message->len);

	switch (message->kind) {
	case MESSAGE_BEGIN:
		free(worker.mark);
		worker.mark = codec_get_text(&reader, MARK_MAX);
		worker.begun = true;
		break;
	case MESSAGE_UNIT:
		note_unit(&reader);
		break;
	case MESSAGE_CREDIT:
		note_credit(&reader);
		break;
	case MESSAGE_HIDE:
		note_hidden(&reader);
		break;
	case MESSAGE_IMAGE:
		worker.image = (size_t)codec_get(&reader, SIZE_MAX);
		worker.has_image = true;
		break;
	case MESSAGE_REDUCED:
		codec_copy_bytes(&reader, &worker.reduced, sizeof(worker.reduced));
		worker.has_reduced = true;
		break;
	case MESSAGE_CANCEL:
		rpc_server_cancel();
		worker.cancelled = true;
		break;
	default:
		rpc_server_cancel(); /* what is checked ahead, too */
		worker.ended = true;
		break;
	}
	assert(codec_ok(&reader)); /* every process runs the same program */
}

void link_deliver(struct message *message)
{
	if (message->kind == MESSAGE_CHECK || message->kind == MESSAGE_WRITE) {
		rpc_server_deliver(message);
		return;
	}
	pthread_mutex_lock(&worker.lock);
	if (message->kind == MESSAGE_PASSES || message->kind == MESSAGE_PARTS) {
		assert(!worker.has_passes); /* the next comes after an answer */
		worker.passes = *message;
		worker.has_passes = true;
		message->bytes = NULL;
	} else {
		note(message);
	}
	pthread_cond_broadcast(&worker.changed);
	pthread_mutex_unlock(&worker.lock);
	free(message->bytes);
}

/* ---- one image ----------------------------------------------------------------------------- */

static void say_hello(const struct link_join *join)
{
	struct codec_writer writer = { 0 };

	codec_put(&writer, pool_threads(join->serve.pool));
	codec_put_text(&writer, join->engine);
	codec_put(&writer, join->traits->count);
	for (size_t i = 0; i < join->traits->count; i++)
		codec_put_text(&writer, join->traits->values[i]);
	worker.used = true;
	transport_send(0, MESSAGE_HELLO, &writer);
}

int link_join(const struct link_join *join, struct error *error)
{
	bool begun;
	int status;

	say_hello(join);
	pthread_mutex_lock(&worker.lock);
	while (!worker.begun && !worker.ended && wait_a_moment())
		;
	begun = worker.begun && !worker.ended;
	pthread_mutex_unlock(&worker.lock);
	if (!begun)
		return 0;
	status = rpc_server_begin(&join->serve, worker.mark, error);
	if (status)
		return status;
	pthread_mutex_lock(&worker.lock);
	worker.hide = join->hide;
	worker.hide_context = join->context;
	pthread_mutex_unlock(&worker.lock);
	transport_send(0, MESSAGE_JOINED, NULL);
	return 1;
}

int link_next_unit(bool wait, struct range *unit, bool *last)
{
	int result = -EAGAIN;

	pthread_mutex_lock(&worker.lock);
	while (wait && worker.got == worker.taken && !worker.ended && wait_a_moment())
		;
	if (worker.got != worker.taken) {
		const struct given *given = &worker.units[worker.taken % UNITS_MAX];

		*unit = given->range;
		*last = given->last;
		result = given->range.length != 0;
		worker.taken += (unsigned)result; /* the end stays */
	} else if (wait) {
		result = 0;
	}
	pthread_mutex_unlock(&worker.lock);
	return result;
}

int link_send_result(const struct cluster_result *result)
{
	struct codec_writer writer = { 0 };
	size_t credit;
	bool wanted;

	message_put_result(&writer, result);
	credit = credit_of(writer.len, result->ends_unit);
	pthread_mutex_lock(&worker.lock);
	while (worker.unused && worker.unused + credit > CREDIT_LEN && !worker.ended &&
		!worker.cancelled && wait_a_moment())
		;
	wanted = !worker.ended && !worker.cancelled && !signals_caught();
	worker.unused += credit;
	pthread_mutex_unlock(&worker.lock);
	if (wanted)
		transport_send(0, MESSAGE_RESULT, &writer);
	free(writer.bytes);
	return wanted ? 0 : -ECANCELED;
}

/* ---- passes over files in pieces ------------------------------------------------------------ */

bool link_next_passes(struct message *task)
{
	bool has;

	pthread_mutex_lock(&worker.lock);
	while (!worker.has_passes && !worker.ended && !worker.cancelled && wait_a_moment())
		;
	has = worker.has_passes;
	worker.has_passes = false;
	if (has)
		*task = worker.passes;
	pthread_mutex_unlock(&worker.lock);
	return has;
}

static void send_part(bool gives_up, const struct codec_writer *own)
{
	struct codec_writer writer = { 0 };

	codec_put(&writer, gives_up);
	if (own)
		codec_put_bytes(&writer, own->bytes, own->len);
	transport_send(0, MESSAGE_PART, &writer);
}

bool link_exchange(void *context, const struct codec_writer *own, struct codec_writer *theirs)
{
	struct message parts;

	(void)context;
	send_part(false, own);
	if (!link_next_passes(&parts))
		return false;
	*theirs = (struct codec_writer){
		.bytes = parts.bytes, .len = parts.len, .capacity = parts.len
	};
	return true;
}

void link_give_up(void *context)
{
	(void)context;
	send_part(true, NULL);
}

void link_fail(const struct error *error)
{
	struct codec_writer writer = { 0 };

	message_put_error(&writer, error);
	worker.used = true;
	transport_send(0, MESSAGE_FAILED, &writer);
}

void link_leave(void)
{
	pthread_mutex_lock(&worker.lock);
	while (!worker.ended)
		wait_a_moment();
	free(worker.mark);
	worker.mark = NULL;
	worker.begun = false;
	worker.hide = NULL;
	pthread_mutex_unlock(&worker.lock);
	rpc_server_end();
}

/* ---- whole images -------------------------------------------------------------------------- */

bool link_next_image(size_t *number)
{
	bool has_image;

	worker.used = true;
	pthread_mutex_lock(&worker.lock);
	while (!worker.has_image && !worker.ended && wait_a_moment())
		;
	has_image = worker.has_image;
	*number = worker.image;
	worker.has_image = false;
	pthread_mutex_unlock(&worker.lock);
	return has_image;
}

void link_image_carved(int code, const struct run_sums *sums)
{
	struct codec_writer writer = { 0 };

	codec_put(&writer, (uint64_t)code);
	codec_put_bytes(&writer, sums, sizeof(*sums));
	transport_send(0, MESSAGE_CARVED, &writer);
}

/* ---- measurements -------------------------------------------------------------------------- */

int link_reduce(struct cluster_reduced *reduced, struct error *error)
{
	struct codec_writer writer = { 0 };
	int status = 0;

	codec_put_bytes(&writer, reduced, sizeof(*reduced));
	worker.used = true;
	transport_send(0, MESSAGE_REDUCE, &writer);
	pthread_mutex_lock(&worker.lock);
	while (!status && !worker.has_reduced) {
		if (worker.ended || !wait_a_moment())
			status = error_set(error, EXIT_IO, ECANCELED, "the measurement was ended");
		else if (!transport_rank())
			status = reduction_failure(error);
	}
	*reduced = worker.reduced;
	worker.has_reduced = false;
	pthread_mutex_unlock(&worker.lock);
	return status;
}
