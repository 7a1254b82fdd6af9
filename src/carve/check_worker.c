/*
 * The thread waits while its process checks, so that as many run as there are threads, and wakes up now and
 * then to see whether the check under way is still wanted. A batch goes there in one message and comes back
 * in one, unless it takes long. Messages come through a socket: what is read there is a copy, and the end of
 * the process ends it.
 *
 * The process is trusted as little as the evidence: outcomes are decoded and compared with what a check may
 * find; what it asks for it could read anyway; and how long it may compute is counted here, by the work that
 * it claims to have done, of which there is a most.
 */
#include "carve/check_worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/program.h"
#include "base/sandbox.h"
#include "base/version.h"
#include "carve/check_limits.h"
#include "carve/check_messages.h"
#include "evidence/extent_image.h"
#include "evidence/image_share.h"
#include "rules/rules_codec.h"

#define PROGRAM "burin-carver"
/* How often the check under way is looked at, and how seldom its time. */
#define WATCH_SECONDS 0.004
#define MEASURE_SECONDS 0.1
/* A check that is to be given up, and is not, costs the process. */
#define STOP_SECONDS 0.5
/* A crash that a candidate alone causes is no accident. */
#define CRASHES_MAX 2
/* Extensions that processes may name. */
#define EXTENSIONS_MAX 512
/* What a check that crashed counts for its rule, so that an image full of them does not start a process for each
 * for ever. */
#define CRASH_WORK ((uint64_t)16 << 20)

struct check_workers {
	struct image *image;
	const struct rules *rules;
	struct image_share *share;
	struct codec_writer start; /* the message */
};

/* A batch, or a part of it, that the process has. */
struct check_part {
	const struct check_request *requests;
	size_t begin, end, done; /* indexes; those before done have outcomes */
	uint64_t hidden_until;
	const struct check_listener *listener;
};

struct check_worker {
	const struct check_workers *all;
	struct check_workers *own;   /* the same, if it is freed with this one */
	struct sandbox_child *child; /* NULL: none was started, or it ended */
	struct check_shared *shared;
	int shared_fd;
	struct channel channel;
	struct codec_writer writer; /* scratch */
	struct view *view;          /* for what the process reserves */
	uint64_t number;            /* of the next check */
	/* Of the part that the process has. */
	uint64_t first;    /* number of its first check */
	uint64_t stopping; /* number of the check that is to be given up; 0: none */
	double stopping_since;
	double watched, measured; /* when it was, seconds of the clock */
	unsigned sleeps;          /* times that it was found asleep */
	double used_before;       /* when the last outcomes came; negative: not measured since */
	char how[96];             /* it failed; "" if it did not */
};

struct check_workers *check_workers_new(struct image *image, const struct rules *rules, bool nested)
{
	struct check_workers *workers = xcalloc(1, sizeof(*workers));

	workers->image = image;
	workers->rules = rules;
	workers->share = image_share_new(image);
	codec_put(&workers->start, confine_mode());
	codec_put(&workers->start, nested);
	rules_save_checks(rules, &workers->start);
	image_share_save(workers->share, &workers->start);
	return workers;
}

void check_workers_free(struct check_workers *workers)
{
	if (!workers)
		return;
	image_share_free(workers->share);
	free(workers->start.bytes);
	free(workers);
}

struct check_worker *check_worker_new(const struct check_workers *workers)
{
	struct check_worker *worker = xcalloc(1, sizeof(*worker));

	worker->all = workers;
	worker->shared_fd = -1;
	worker->view = view_new();
	worker->number = 1;
	return worker;
}

struct check_worker *check_worker_alone(struct image *image, const struct rules *rules)
{
	struct check_workers *workers = check_workers_new(image, rules, true);
	struct check_worker *worker = check_worker_new(workers);

	worker->own = workers;
	return worker;
}

/* Keeps how it failed, in words that follow "the check". */
static void end_process(struct check_worker *worker)
{
	char *how;

	if (!worker->child)
		return;
	how = sandbox_end(worker->child);
	worker->child = NULL;
	view_release(worker->view);
	if (!*worker->how)
		snprintf(worker->how, sizeof(worker->how), "%s",
			!how                      ? "ended without an outcome"
			: !strncmp(how, "it ", 3) ? how + 3
						  : how);
	free(how);
}

void check_worker_dismiss(struct check_worker *worker)
{
	if (worker && worker->child)
		shutdown(worker->channel.fd, SHUT_RDWR);
}

void check_worker_free(struct check_worker *worker)
{
	if (!worker)
		return;
	end_process(worker);
	if (worker->shared)
		munmap(worker->shared, sizeof(*worker->shared));
	if (worker->shared_fd >= 0)
		close(worker->shared_fd);
	channel_free(&worker->channel);
	free(worker->writer.bytes);
	view_free(worker->view);
	check_workers_free(worker->own);
	free(worker);
}

/* ---- starting ------------------------------------------------------------------------------ */

/* It waits for the other end this long, for either purpose. */
static void set_patience(int fd)
{
	const struct timeval receive = { .tv_usec = (suseconds_t)(WATCH_SECONDS * 1e6) };
	const struct timeval transmit = { .tv_sec = 10 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &receive, sizeof(receive));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &transmit, sizeof(transmit));
}

static bool give_start(struct check_worker *worker)
{
	const struct codec_writer *start = &worker->all->start;
	size_t count;
	const int *descriptors = image_share_descriptors(worker->all->share, &count);
	int ring = image_share_ring(worker->all->share);

	codec_append(&worker->writer, start);
	return sandbox_send_descriptors(worker->channel.fd, descriptors, count) &&
	       sandbox_send_descriptors(worker->channel.fd, &ring, ring >= 0) &&
	       channel_send(&worker->channel, CHECK_START, &worker->writer);
}

static bool await_ready(struct check_worker *worker)
{
	struct codec_reader body;
	uint32_t kind;

	return channel_receive(&worker->channel, &kind, &body) > 0 && kind == CHECK_READY;
}

static int start_process(struct check_worker *worker, struct error *error)
{
	char reason[4400];
	char *program = program_find(PROGRAM, reason, sizeof(reason));
	const char *const arguments[] = { program, burin_version, burin_commit, NULL };
	const char *why;
	int status = -ENOMEM;

	if (!program)
		return error_set(error, EXIT_IO, ENOENT, "%s", reason);
	if (!worker->shared)
		worker->shared = sandbox_memory(sizeof(*worker->shared), &worker->shared_fd, &why);
	if (worker->shared) {
		status = sandbox_execute(&worker->child, arguments, worker->shared_fd);
		why = strerror(-status);
	}
	free(program);
	if (status)
		return error_set(
			error, EXIT_IO, -status, "no process can be started for checks: %s", why);
	channel_reset(&worker->channel, sandbox_socket(worker->child));
	*worker->how = 0;
	/* Until then it has read nothing of the evidence, and may take its time. */
	if (give_start(worker) && await_ready(worker)) {
		set_patience(worker->channel.fd);
		return 0;
	}
	end_process(worker);
	return error_set(error, EXIT_IO, EIO,
		"the process for checks, " PROGRAM ", did not start: it %s", worker->how);
}

/* ---- watching ------------------------------------------------------------------------------ */

static bool fail(struct check_worker *worker, const char *how)
{
	snprintf(worker->how, sizeof(worker->how), "%s", how);
	return false;
}

/* The seconds of processor time that it may have used since its last outcomes. What it claims to have done is
 * at most what its checks may do. */
static double time_allowed(const struct check_worker *worker, const struct check_part *part)
{
	double claimed = (double)atomic_load(&worker->shared->work), most = 0;

	for (size_t i = part->done; i < part->end; i++)
		most += (double)view_work_most(part->requests[i].candidate->length);
	return check_limits.cpu_seconds +
	       (claimed < most ? claimed : most) / check_limits.work_a_second;
}

/* False: it computes without counting, or it does nothing at all. */
static bool measure(struct check_worker *worker, const struct check_part *part)
{
	double used = sandbox_time_used(worker->child);

	if (worker->used_before < 0)
		worker->used_before = used;
	worker->sleeps += !sandbox_is_awake(worker->child);
	/* Which of both comes first may depend on how busy the machine is. */
	return (worker->sleeps <= check_limits.sleeps &&
		       used - worker->used_before <= time_allowed(worker, part)) ||
	       fail(worker, "did not end");
}

/* The check under way is not wanted. False: it went on nevertheless. */
static bool stop_check(struct check_worker *worker, uint64_t number, double now)
{
	if (worker->stopping != number) {
		worker->stopping = number;
		worker->stopping_since = now;
		atomic_store(&worker->shared->stop, number);
	}
	return now - worker->stopping_since < STOP_SECONDS;
}

/* Between messages. False: the process is to be ended. */
static bool watch(struct check_worker *worker, const struct check_part *part)
{
	double now = clock_seconds();
	uint64_t number, index;

	if (now - worker->watched < WATCH_SECONDS)
		return true;
	worker->watched = now;
	number = atomic_load(&worker->shared->number);
	index = part->begin + (number - worker->first);
	if (index >= part->done && index < part->end &&
		!part->listener->go_on(part->listener->context, (size_t)index,
			atomic_load(&worker->shared->reached)) &&
		!stop_check(worker, number, now))
		return false;
	if (now - worker->measured < MEASURE_SECONDS)
		return true;
	worker->measured = now;
	return measure(worker, part);
}

/* ---- what the process says ----------------------------------------------------------------- */

/* Of letters and digits: it becomes a part of a file's name. */
static const char *keep_extension(const char *text)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct strpool pool;
	const char *kept = NULL;
	size_t len = strlen(text);

	if (text[0] == '.' ||
		strspn(text,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-") !=
			len)
		return NULL;
	pthread_mutex_lock(&lock);
	kept = strpool_keep(&pool, text);
	if (pool.count > EXTENSIONS_MAX)
		kept = NULL;
	pthread_mutex_unlock(&lock);
	return kept;
}

/* Whether the next check may be deferred: for one before it in the part, or because it is not wanted. Another one
 * would be asked for again and again. */
static bool may_be_deferred(const struct check_worker *worker, const struct check_part *part)
{
	const struct check_request *request = &part->requests[part->done];

	return (!request->force && part->done > part->begin) ||
	       request->candidate->start < part->hidden_until || worker->stopping;
}

static bool take_outcome(
	struct check_worker *worker, struct check_part *part, struct codec_reader *body)
{
	const struct check_request *request = &part->requests[part->done];
	uint64_t size = image_info(worker->all->image)->size;
	struct outcome outcome;

	if (codec_get_flag(body)) {
		if (!may_be_deferred(worker, part))
			return fail(worker, "gave an outcome that no check has");
		part->listener->done(part->listener->context, part->done++, NULL);
		return true;
	}
	outcome_load(&outcome, keep_extension, body);
	if (!codec_ok(body) || outcome.crashed ||
		!outcome_fits(&outcome, request->candidate, size)) {
		outcome_free(&outcome);
		return fail(worker, "gave an outcome that no check has");
	}
	part->listener->done(part->listener->context, part->done++, &outcome);
	return true;
}

static bool take_outcomes(
	struct check_worker *worker, struct check_part *part, struct codec_reader *body)
{
	view_release(worker->view);
	do {
		if (part->done == part->end)
			return fail(worker, "broke the protocol");
		if (!take_outcome(worker, part, body))
			return false;
	} while (!codec_at_end(body));
	worker->used_before = -1;
	return true;
}

static bool answer(struct check_worker *worker, int status)
{
	codec_put(&worker->writer, (uint64_t)-status);
	return channel_send(&worker->channel, CHECK_ANSWER, &worker->writer) ||
	       fail(worker, "broke the protocol");
}

/* Bytes that are in no plain file, or that it could not read. */
static bool give_bytes(struct check_worker *worker, struct codec_reader *body)
{
	struct image *evidence = extent_image_evidence(worker->all->image);
	uint64_t size = image_info(evidence)->size, offset = codec_get(body, size), len;
	bool bad;

	len = codec_get(body, size - offset < SHARED_ASK_MAX ? size - offset : SHARED_ASK_MAX);
	if (!codec_at_end(body))
		return fail(worker, "broke the protocol");
	bad = image_read_around(evidence, offset, worker->shared->data, (size_t)len);
	if (image_was_cut(evidence))
		stop_check(worker, atomic_load(&worker->shared->number), clock_seconds());
	return answer(worker, bad || image_was_cut(evidence) ? -EIO : 0);
}

static bool reserve(struct check_worker *worker, struct codec_reader *body)
{
	uint64_t bytes = codec_get(body, UINT64_MAX);

	if (!codec_at_end(body))
		return fail(worker, "broke the protocol");
	view_reserve(worker->view, bytes);
	return answer(worker, 0);
}

/* False: it failed, and how. */
static bool take_message(struct check_worker *worker, struct check_part *part, uint32_t kind,
	struct codec_reader *body)
{
	switch (kind) {
	case CHECK_OUTCOMES:
		return take_outcomes(worker, part, body);
	case CHECK_READ:
		return give_bytes(worker, body);
	case CHECK_RESERVE:
		return reserve(worker, body);
	case CHECK_NO_MEMORY:
		return fail(worker, "said that memory ran out, but there is enough");
	default:
		return fail(worker, "broke the protocol");
	}
}

/* ---- checking ------------------------------------------------------------------------------ */

static bool give_part(struct check_worker *worker, const struct check_part *part)
{
	struct codec_writer *writer = &worker->writer;

	worker->first = worker->number;
	worker->number += part->end - part->begin;
	worker->watched = worker->measured = clock_seconds();
	worker->used_before = -1;
	worker->sleeps = 0;
	worker->stopping = 0;
	codec_put(writer, worker->first);
	codec_put(writer, part->hidden_until);
	codec_put(writer, part->end - part->begin);
	for (size_t i = part->begin; i < part->end; i++) {
		codec_put(writer, part->requests[i].force);
		codec_put(writer, part->requests[i].work_max);
		candidate_save(part->requests[i].candidate, writer);
	}
	return channel_send(&worker->channel, CHECK_BATCH_IN, writer);
}

/* Those of a process that was ended because they were not wanted any more. */
static void defer_rest(struct check_part *part)
{
	while (part->done < part->end)
		part->listener->done(part->listener->context, part->done++, NULL);
}

/* Whether this process has no more than the other one may have: one that was taken over must not end the run by
 * saying so. */
static bool memory_is_short(void)
{
	void *memory = mmap(
		NULL, CHECK_MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return true;
	munmap(memory, CHECK_MEMORY);
	return false;
}

/* 0: all of the part is done; 1: the process failed; -ENOMEM: memory ran out. */
static int run_part(struct check_worker *worker, struct check_part *part)
{
	bool works = give_part(worker, part);

	while (works && part->done < part->end) {
		struct codec_reader body;
		uint32_t kind;
		int got = channel_receive(&worker->channel, &kind, &body);

		if (got > 0 && kind == CHECK_NO_MEMORY && memory_is_short())
			return -ENOMEM;
		if (got > 0)
			works = take_message(worker, part, kind, &body);
		works = works && got >= 0 && watch(worker, part);
	}
	if (works)
		return 0;
	end_process(worker);
	if (!worker->stopping)
		return 1;
	defer_rest(part);
	return 0;
}

/* Counted by the decider, and left out. */
static void give_up(struct check_worker *worker, struct check_part *part)
{
	struct outcome outcome = { .verdict = CARVE_REJECT, .work = CRASH_WORK, .crashed = true };

	snprintf(outcome.finding.why, sizeof(outcome.finding.why), "the check %s", worker->how);
	part->listener->done(part->listener->context, part->done++, &outcome);
}

static int no_memory(
	const struct check_worker *worker, const struct check_part *part, struct error *error)
{
	const struct candidate *candidate = part->requests[part->done].candidate;

	return check_memory_error(error, &worker->all->rules->rules[candidate->rule], candidate);
}

int check_worker_check(struct check_worker *worker, const struct check_request *requests,
	size_t count, uint64_t hidden_until, const struct check_listener *listener,
	struct error *error)
{
	struct check_part part = { .requests = requests,
		.end = count,
		.hidden_until = hidden_until,
		.listener = listener };
	unsigned crashes = 0;
	int status = 0;

	while (part.done < count) {
		size_t before = part.done;

		status = worker->child ? 0 : start_process(worker, error);
		if (status)
			return status;
		part.begin = part.done;
		status = run_part(worker, &part);
		if (status < 0)
			return no_memory(worker, &part, error);
		if (part.done > before)
			crashes = 0;
		/* What was under way is not known for certain: from now on one at a time. */
		if (status && part.end == part.done + 1 && ++crashes == CRASHES_MAX) {
			give_up(worker, &part);
			crashes = 0;
		}
		part.end = part.done + (part.done < count);
	}
	return 0;
}
