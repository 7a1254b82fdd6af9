#include "cluster/rpc_server.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/pool.h"
#include "carve/batch_work.h"
#include "carve/check_worker.h"
#include "carve/copy.h"
#include "carve/defer.h"
#include "carve/job.h"
#include "cluster/messages.h"
#include "evidence/extent_image.h"
#include "output/output_dir.h"

/* What a thread of the pool works with. */
struct workplace {
	struct view *view;
	struct check_worker *worker; /* NULL: checks are made in the thread itself */
	struct batch_work *batch;    /* of those */
	struct copier copier;
	uint64_t request, start; /* what is being checked */
	uint64_t report_at;      /* bytes: the coordinator is told when this many were read */
	/* Of the request for checks. */
	struct asked *asked;
	size_t to_check[CHECK_BATCH], to_check_count; /* of asked, that the worker has */
	size_t checking;                              /* of these */
};

/* A candidate of a request, and what became of it. */
struct asked {
	struct candidate candidate;
	uint64_t work_max;
	bool force;
	bool checked; /* else it was deferred */
	struct outcome outcome;
};

struct work {
	struct pool_job job; /* first: a job's address is its work's */
	struct message message;
};

static struct {
	struct image *image;
	const struct rules *rules;
	struct pool *pool;
	struct output_dir *output_dir;
	struct workplace *workplaces; /* one a thread of the pool */
	unsigned workplace_count;
	struct defer *defer;
	struct check_workers *workers; /* NULL: none */
	atomic_bool cancelled;
	pthread_mutex_t lock;
	pthread_cond_t done;
	uint64_t jobs; /* that are not done */
} server = { .lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER };

/* ---- beginning and end --------------------------------------------------------------------- */

static unsigned thread_of(const struct workplace *workplace)
{
	return (unsigned)(workplace - server.workplaces);
}

/* Candidates inside a file that is being checked may be with other workers by now. */
static void report_reached(struct workplace *workplace, uint64_t reached)
{
	struct codec_writer writer = { 0 };

	codec_put(&writer, workplace->request);
	codec_put(&writer, workplace->start);
	codec_put(&writer, reached);
	transport_send(0, MESSAGE_REACHED, &writer);
	workplace->report_at = 2 * (reached - workplace->start);
}

bool rpc_server_is_cancelled(void)
{
	return atomic_load(&server.cancelled);
}

/* The view's watch: whether the check goes on. */
static bool check_continues(void *context, uint64_t reached)
{
	struct workplace *workplace = context;

	if (reached - workplace->start >= workplace->report_at)
		report_reached(workplace, reached);
	return !rpc_server_is_cancelled() &&
	       defer_progress(server.defer, thread_of(workplace), reached);
}

/* The folder must be the coordinator's own, not another of the same name. */
static int open_folder(const char *output, const char *mark, struct error *error)
{
	char *path = xasprintf("%s/%s", output, mark);
	int status = access(path, F_OK) ? -errno : 0;

	free(path);
	if (status)
		return error_set(error, EXIT_IO, -status,
			"the output folder '%s' is not the one that rank 0 has: it must be on "
			"storage that all hosts share (%s)",
			output, strerror(-status));
	status = output_dir_share(&server.output_dir, output, error);
	if (!status)
		output_dir_set_part(server.output_dir, transport_rank() + 1);
	return status;
}

int rpc_server_begin(
	const struct rpc_server_options *options, const char *mark, struct error *error)
{
	int status = options->output ? open_folder(options->output, mark, error) : 0;

	if (status)
		return status;
	server.image = options->image;
	server.rules = options->rules;
	server.pool = options->pool;
	server.workplace_count = pool_threads(options->pool);
	server.workplaces = xcalloc(server.workplace_count, sizeof(*server.workplaces));
	pthread_mutex_lock(&server.lock);
	server.defer = (options->confined ? defer_new_shared : defer_new)(
		server.workplace_count, false, (uint32_t)options->rules->count);
	pthread_mutex_unlock(&server.lock);
	if (options->confined) {
		server.workers = check_workers_new(options->image, options->rules, false, 0,
			server.defer, server.workplace_count);
		server.workers->lost = options->lost;
	}
	for (unsigned i = 0; i < server.workplace_count; i++) {
		if (server.workers)
			server.workplaces[i].worker = check_worker_new(server.workers, i);
		server.workplaces[i].batch = batch_work_new(options->rules->count);
		server.workplaces[i].view = view_new();
		view_watch(server.workplaces[i].view, check_continues, &server.workplaces[i]);
		copier_init(&server.workplaces[i].copier, options->hash_mask, NULL);
	}
	return 0;
}

void rpc_server_cancel(void)
{
	atomic_store(&server.cancelled, true);
}

void rpc_server_hide(uint64_t until)
{
	pthread_mutex_lock(&server.lock);
	if (server.defer)
		defer_hide(server.defer, until);
	pthread_mutex_unlock(&server.lock);
}

void rpc_server_end(void)
{
	pthread_mutex_lock(&server.lock);
	while (server.jobs)
		pthread_cond_wait(&server.done, &server.lock);
	defer_free(server.defer);
	server.defer = NULL;
	pthread_mutex_unlock(&server.lock);
	for (unsigned i = 0; i < server.workplace_count; i++)
		check_worker_dismiss(server.workplaces[i].worker);
	for (unsigned i = 0; i < server.workplace_count; i++) {
		batch_work_free(server.workplaces[i].batch);
		view_free(server.workplaces[i].view);
		check_worker_free(server.workplaces[i].worker);
		copier_free(&server.workplaces[i].copier);
	}
	check_workers_free(server.workers);
	server.workers = NULL;
	free(server.workplaces);
	server.workplaces = NULL;
	server.workplace_count = 0;
	output_dir_close(server.output_dir);
	server.output_dir = NULL;
}

/* ---- in the pool's threads ----------------------------------------------------------------- */

static void put_status(struct codec_writer *writer, int status, const struct error *error)
{
	codec_put(writer, (uint64_t)-status);
	message_put_error(writer, error);
}

static void begin_report(struct workplace *workplace, const struct candidate *candidate)
{
	workplace->start = candidate->start;
	workplace->report_at = DEFER_LONG_CHECK;
}

/* In this process. Returns 0 or a negative errno with error set. */
static int check_here(struct asked *asked, unsigned thread, struct error *error)
{
	struct workplace *workplace = &server.workplaces[thread];
	const struct candidate *candidate = &asked->candidate;
	const struct rule *rule = &server.rules->rules[candidate->rule];
	uint64_t waited;

	begin_report(workplace, candidate);
	asked->checked = batch_work_check(workplace->batch, server.defer, thread, workplace->view,
		server.image, rule, candidate, asked->work_max, asked->force, false,
		&asked->outcome, &waited);
	if (asked->checked && asked->outcome.no_memory)
		return check_memory_error(error, rule, candidate);
	return 0;
}

static struct asked *asked_of(struct workplace *workplace, size_t index)
{
	return &workplace->asked[workplace->to_check[index]];
}

static bool worker_continues(void *context, size_t index, uint64_t reached)
{
	struct workplace *workplace = context;
	const struct asked *asked = asked_of(workplace, index);
	uint64_t start = asked->candidate.start;

	if (workplace->checking != index)
		begin_report(workplace, &asked->candidate);
	workplace->checking = index;
	if (reached > start && reached - start >= workplace->report_at)
		report_reached(workplace, reached);
	return !rpc_server_is_cancelled() && defer_may_go_on(server.defer, start, asked->force);
}

/* Then what follows the check under way is given up with it. */
static bool worker_is_cancelled(void *context)
{
	(void)context;
	return rpc_server_is_cancelled();
}

static void worker_is_done(void *context, size_t index, struct outcome *outcome, uint64_t waited)
{
	struct asked *asked = asked_of(context, index);

	(void)waited;
	if (outcome)
		asked->outcome = *outcome;
	asked->checked = outcome != NULL;
}

/* In the thread's process, but for what no carver parses. As check_here. */
static int check_in_worker(struct workplace *workplace, size_t count, struct error *error)
{
	const struct check_listener listener = { workplace, worker_continues, worker_is_done,
		worker_is_cancelled };
	struct check_request requests[CHECK_BATCH];
	int status = 0;

	workplace->to_check_count = 0;
	workplace->checking = SIZE_MAX;
	for (size_t i = 0; i < count && !status; i++) {
		struct asked *asked = &workplace->asked[i];

		if (!server.rules->rules[asked->candidate.rule].carver)
			status = check_here(asked, thread_of(workplace), error);
		else if (defer_may_begin(server.defer, &asked->candidate, asked->force)) {
			requests[workplace->to_check_count] =
				(struct check_request){ .candidate = &asked->candidate,
					.work_max = asked->work_max,
					.force = asked->force };
			workplace->to_check[workplace->to_check_count++] = i;
		}
	}
	if (status)
		return status;
	return check_worker_check(workplace->worker, requests, workplace->to_check_count,
		defer_hidden_until(server.defer), &listener, error);
}

/* Once the run was cancelled, or memory ran out, there are no outcomes. */
static int check_all(struct workplace *workplace, size_t count, struct error *error)
{
	int status = rpc_server_is_cancelled() ? -ECANCELED : 0;

	batch_work_begin(workplace->batch);
	if (!status && workplace->worker)
		status = check_in_worker(workplace, count, error);
	for (size_t i = 0; i < count && !status && !workplace->worker; i++)
		status = rpc_server_is_cancelled()
				 ? -ECANCELED
				 : check_here(&workplace->asked[i], thread_of(workplace), error);
	return rpc_server_is_cancelled() ? -ECANCELED : status;
}

static void answer_check(struct codec_reader *reader, unsigned thread, struct codec_writer *writer)
{
	struct workplace *workplace = &server.workplaces[thread];
	struct asked asked[CHECK_BATCH] = { 0 };
	struct error error = { 0 };
	size_t count;
	int status;

	defer_hide(server.defer, codec_get(reader, UINT64_MAX));
	count = (size_t)codec_get(reader, CHECK_BATCH);
	for (size_t i = 0; i < count; i++) {
		asked[i].force = codec_get_flag(reader);
		asked[i].work_max = codec_get(reader, UINT64_MAX);
		candidate_load(
			&asked[i].candidate, server.rules, image_info(server.image)->size, reader);
	}
	assert(codec_ok(reader)); /* every process runs the same program */
	workplace->asked = asked;
	status = check_all(workplace, count, &error);
	put_status(writer, status, &error);
	for (size_t i = 0; i < count; i++) {
		if (!status)
			codec_put(writer, !asked[i].checked);
		if (!status && asked[i].checked)
			outcome_save(&asked[i].outcome, writer);
		if (asked[i].checked)
			outcome_free(&asked[i].outcome);
	}
}

static int write_one(struct codec_reader *reader, unsigned thread, struct codec_writer *written,
	bool skip, struct error *error)
{
	struct file_record record;
	int status = -ECANCELED;

	message_get_file(reader, &record);
	assert(codec_ok(reader));
	if (!skip && !rpc_server_is_cancelled())
		status = copy_file(&server.workplaces[thread].copier,
			extent_image_evidence(server.image), server.output_dir, &record,
			&server.cancelled, error);
	codec_put(written, (uint64_t)-status);
	message_put_written(written, &record);
	free(record.path);
	free(record.runs);
	return status;
}

/* After the first that fails none is written. */
static void answer_write(struct codec_reader *reader, unsigned thread, struct codec_writer *writer)
{
	uint64_t count = codec_get(reader, UINT32_MAX);
	struct codec_writer written = { 0 };
	struct error error = { 0 };
	int status = 0;

	for (uint64_t i = 0; i < count; i++) {
		int one = write_one(reader, thread, &written, status, &error);

		status = status ? status : one;
	}
	put_status(writer, status, &error);
	codec_append(writer, &written);
	free(written.bytes);
}

static void run_work(struct pool_job *job, unsigned thread)
{
	struct work *work = (struct work *)job;
	struct message *message = &work->message;
	struct codec_reader reader = codec_reader_from(message->bytes, message->len);
	struct workplace *workplace = &server.workplaces[thread];
	bool check = message->kind == MESSAGE_CHECK;
	struct codec_writer writer = { 0 };

	workplace->request = codec_get(&reader, UINT64_MAX);
	codec_put(&writer, workplace->request);
	if (check)
		answer_check(&reader, thread, &writer);
	else
		answer_write(&reader, thread, &writer);
	transport_send(0, check ? MESSAGE_CHECKED : MESSAGE_WRITTEN, &writer);
	free(message->bytes);
	free(work);
	pthread_mutex_lock(&server.lock);
	server.jobs--;
	pthread_cond_signal(&server.done);
	pthread_mutex_unlock(&server.lock);
}

void rpc_server_deliver(struct message *message)
{
	struct work *work = xcalloc(1, sizeof(*work));
	bool check = message->kind == MESSAGE_CHECK;

	work->message = *message;
	work->job.run = run_work;
	pthread_mutex_lock(&server.lock);
	server.jobs++;
	pthread_mutex_unlock(&server.lock);
	pool_submit(server.pool, check ? POOL_CHECK : POOL_WRITE, &work->job);
}
