/*
 * A worker opens the image and an engine as any run does. Three things happen at once: this thread
 * searches the units and sends results; the pool does the prechecks (cluster/precheck.h) and what
 * the coordinator asks for (cluster/rpc_server.c).
 */
#include "cluster/worker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/confined.h"
#include "base/clock.h"
#include "base/memory.h"
#include "carve/checker_process.h"
#include "cluster/precheck.h"
#include "cluster/worker_link.h"
#include "content_map/content_map.h"
#include "run/search.h"
#include "run/session.h"
#include "run/signals.h"

/* Hits in a result, as a rule. */
#define RESULT_HITS 4096
/* Far more than the coordinator deals in advance. */
#define UNITS_MAX 256

struct unit {
	struct range range;
	bool last; /* it ends where the search ends */
};

struct worker {
	struct session session;
	struct run_options options;
	struct traits traits;
	struct search *search;
	struct content_map *map;
	struct precheck *precheck;
	struct unit units[UNITS_MAX];   /* unit n is units[n % UNITS_MAX] */
	uint64_t begun, searched, sent; /* units, since the start */
	uint64_t sent_len;              /* bytes of them */
	double ready;                   /* when it could search */
	double unit_wait, send_wait;    /* seconds since */
};

/* The one that is being searched. Later ones are being read already, earlier ones perhaps not yet
 * sent. */
static const struct unit *current_unit(const struct worker *worker)
{
	return &worker->units[worker->searched % UNITS_MAX];
}

static uint64_t unit_end(const struct unit *unit)
{
	return unit->range.offset + unit->range.length;
}

/* ---- sending ------------------------------------------------------------------------------- */

/* What of [from, until) could not be read; at the end of the last unit, its tail counts too. */
static void unread_between(
	const struct worker *worker, uint64_t from, uint64_t until, struct ranges *unread)
{
	const struct ranges *all = search_unreadable(worker->search);
	const struct unit *unit = current_unit(worker);
	bool end = unit->last && until == unit_end(unit);

	for (size_t i = 0; i < all->count; i++) {
		uint64_t begin = all->items[i].offset, stop = begin + all->items[i].length;

		begin = begin < from ? from : begin;
		stop = stop > until && !end ? until : stop;
		if (stop > begin)
			ranges_add(unread, begin, stop - begin);
	}
}

/* How many hits from `first` on go into one result: those of one offset stay together. */
static size_t count_hits(const struct chunk *chunk, size_t first)
{
	size_t end = first + RESULT_HITS;

	if (end >= chunk->hit_count)
		return chunk->hit_count - first;
	while (end < chunk->hit_count && chunk->hits[end].offset == chunk->hits[end - 1].offset)
		end++;
	return end - first;
}

static struct rank_record spent(const struct worker *worker)
{
	struct rank_record record = {
		.bytes = worker->sent_len,
		.start = worker->ready - worker->session.started,
		.search = clock_seconds() - worker->ready,
		.unit_wait = worker->unit_wait,
		.send_wait = worker->send_wait,
	};

	search_waits(worker->search, &record.read_wait, &record.scan_wait);
	return record;
}

/* All of the result's candidates were checked. */
static int send_result(void *context, struct cluster_result *result)
{
	struct worker *worker = context;
	double from;
	int status;

	if (result->ends_unit) {
		worker->sent_len += worker->units[worker->sent++ % UNITS_MAX].range.length;
		result->spent = spent(worker);
	}
	from = clock_seconds();
	status = link_send_result(result);
	worker->send_wait += clock_seconds() - from;
	return status;
}

static int add_result(
	struct worker *worker, const struct chunk *chunk, size_t first, size_t count, uint64_t from)
{
	struct ranges unread = { 0 };
	bool more = first + count < chunk->hit_count;
	const struct unit *unit = current_unit(worker);
	struct cluster_hit *hits = xmalloc((count + 1) * sizeof(*hits));
	struct cluster_result result = { .hits = hits, .hit_count = count };

	for (size_t i = 0; i < count; i++) {
		const struct hit *hit = &chunk->hits[first + i];

		hits[i] = (struct cluster_hit){ hit->offset, hit->pattern,
			search_match_len(worker->search, chunk, hit) };
	}
	result.until = more ? chunk->hits[first + count].offset : chunk->offset + chunk->until;
	result.ends_unit = result.until == unit_end(unit);
	unread_between(worker, from, result.until, &unread);
	result.unread = unread.items;
	result.unread_count = unread.count;
	if (result.until == chunk->offset + chunk->len)
		result.classes = content_map_encode(worker->map, &result.classes_len);
	worker->searched += result.ends_unit;
	return precheck_add(worker->precheck, unit->range.offset, &result);
}

static int add_results(struct worker *worker, const struct chunk *chunk)
{
	uint64_t from = chunk->offset + chunk->from;
	size_t first = 0;
	int status;

	do {
		size_t count = count_hits(chunk, first);

		status = add_result(worker, chunk, first, count, from);
		first += count;
		if (first < chunk->hit_count)
			from = chunk->hits[first].offset;
	} while (!status && first < chunk->hit_count);
	return status;
}

/* ---- searching ----------------------------------------------------------------------------- */

/* 1: the next unit; 0: there are no more; -EAGAIN: none has come yet. */
static int next_unit(struct worker *worker, bool wait, struct range *range)
{
	struct unit *unit = &worker->units[worker->begun % UNITS_MAX];
	double from = clock_seconds();
	int got;

	assert(worker->begun - worker->sent < UNITS_MAX);
	got = link_next_unit(wait, &unit->range, &unit->last);
	worker->unit_wait += clock_seconds() - from;
	if (got > 0) {
		worker->begun++;
		*range = unit->range;
	}
	return got;
}

/* Queues units, so that the reader need not stop between them. Waits for one only when nothing else
 * is left to do. As next_unit. */
static int queue_units(struct worker *worker, bool wait)
{
	struct range range;
	int got = next_unit(worker, wait, &range), result = got;

	while (got > 0) {
		search_add(worker->search, range);
		got = next_unit(worker, false, &range);
	}
	return result;
}

static int search_units(struct worker *worker)
{
	int status;

	while (!signals_caught() && !rpc_server_is_cancelled()) {
		const struct chunk *chunk;

		queue_units(worker, false);
		status = search_next(worker->search, &chunk, &worker->session.error);
		if (status > 0) {
			uint64_t position = chunk->offset + chunk->until;

			status = add_results(worker, chunk);
			search_done(worker->search);
			if (!status)
				status = precheck_settle(
					worker->precheck, search_near(worker->search, position));
		} else if (!status) {
			status = precheck_drain(worker->precheck);
			if (!status && queue_units(worker, true) <= 0)
				return 0;
		}
		if (status)
			return status;
	}
	return 0;
}

/* With the first unit. Returns 1, or 0 when there is none. */
static int open_search(struct worker *worker)
{
	struct session *session = &worker->session;
	struct range range;
	int status;

	if (next_unit(worker, true, &range) <= 0)
		return 0;
	status = search_open(worker->search, range.offset, range.length, &session->error);
	if (status)
		return status;
	if (!worker->options.no_content_map) {
		const struct content_map_options map = { session->scope.image, session->scope.begin,
			range.offset, search_reader(worker->search), search_slots(worker->search),
			session->pool };

		worker->map = content_map_new(&map);
	}
	search_attach(worker->search, NULL, worker->map);
	worker->ready = clock_seconds();
	worker->unit_wait = 0;
	return 1;
}

/* ---- files in pieces ----------------------------------------------------------------------- */

static bool are_passes_over(void)
{
	return signals_caught() || rpc_server_is_cancelled();
}

/* This process's part of them. */
static int make_passes(struct worker *worker)
{
	const struct assemble_others others = { transport_rank(), transport_count(), link_exchange,
		link_give_up, NULL, checker_keep_extension };
	struct session *session = &worker->session;
	const struct assemble_options options = {
		.image = session->scope.image,
		.rules = worker->options.rules,
		.pool = session->pool,
		.tool = strcmp(search_engine_name(worker->search), "gpu") == 0 ? search_gpu : NULL,
		.devices = worker->options.gpu.devices,
		.interrupted = are_passes_over,
		.lost = session->lost,
		.others = &others,
	};
	char how[CONFINED_HOW_LEN];
	struct assembler *assembler;
	struct codec_reader reader;
	struct message task;
	int status;

	if (!link_next_passes(&task))
		return 0;
	reader = codec_reader_from(task.bytes, task.len);
	assembler = assembler_load_task(&options, checker_keep_extension, &reader);
	assert(codec_at_end(&reader)); /* every process runs the same program */
	free(task.bytes);
	status = passes_make(assembler, session_confines_checks(session), how, &session->error);
	assembler_free(assembler);
	return status == -EINTR || status == -ENOLINK ? 0 : status;
}

/* ---- a worker's life ----------------------------------------------------------------------- */

/* As much of a run's set-up as concerns what is searched. */
static int prepare(struct worker *worker)
{
	struct session *session = &worker->session;
	const struct run_options *options = &worker->options;
	struct search_options search;
	int status = scope_open(&session->scope, options, session->image_path, false,
		&session->problems, &session->error);

	if (status)
		return status;
	traits_find(&worker->traits, options, session->scope.evidence);
	if ((status = session_open_pool(session, options->threads)) ||
		scope_is_empty(&session->scope))
		return status;
	search = (struct search_options){ options, &session->scope, session->pool,
		&session->problems, NULL, NULL, session_confines_checks(session), false, false };
	session->ahead = search.ahead = ahead_new(
		options->rules, session->scope.image, pool_threads(session->pool), search.shared);
	worker->search = search_new(&search);
	return search_pick_engine(worker->search, 0, &session->error);
}

static int join(struct worker *worker, const char *output)
{
	struct session *session = &worker->session;
	const struct link_join join = {
		.traits = &worker->traits,
		.serve = {
			.image = session->scope.image,
			.rules = worker->options.rules,
			.pool = session->pool,
			.output = worker->options.dry_run ? NULL : output,
			.hash_mask = worker->options.hash_mask,
			.confined = session_confines_checks(session),
			.lost = session->lost,
		},
		.engine = worker->search ? search_engine_name(worker->search) : "none",
		.hide = precheck_hide,
		.context = worker->precheck,
	};

	return link_join(&join, &session->error);
}

static int work(struct worker *worker, const char *output)
{
	int status = prepare(worker);

	if (!status) {
		worker->precheck = precheck_new(&worker->session, send_result, worker);
		status = join(worker, output);
	}
	if (status > 0)
		status = worker->search ? open_search(worker) : 0;
	if (status > 0)
		status = search_units(worker);
	if (!status && worker->search && transport_rank())
		status = make_passes(worker);
	return status == -ECANCELED ? 0 : status;
}

int worker_run(const struct run_options *options, const char *image_path, const char *output)
{
	struct worker *worker = xcalloc(1, sizeof(*worker));
	int status;

	worker->options = *options;
	worker->options.resume = false;
	if (!options->gpu.devices)
		worker->options.gpu.devices = the_cluster->gpus;
	if (!options->threads)
		worker->options.threads = the_cluster->threads;
	session_init(&worker->session, &worker->options, image_path);
	status = work(worker, output);
	session_fail(&worker->session, status);
	if (status)
		link_fail(&worker->session.error);
	link_leave();
	content_map_free(worker->map);
	precheck_free(worker->precheck);
	search_close(worker->search);
	traits_free(&worker->traits);
	session_close(&worker->session);
	free(worker);
	return EXIT_CLEAN;
}

/* ---- the coordinator's own ----------------------------------------------------------------- */

static struct {
	pthread_t thread;
	bool started;
	struct cluster_begin begin;
} own_worker;

static void *run_own_worker(void *arg)
{
	const struct cluster_begin *begin = arg;

	worker_run(begin->options, begin->image_path, begin->output);
	return NULL;
}

int worker_start(const struct cluster_begin *begin, struct error *error)
{
	own_worker.begin = *begin;
	if (pthread_create(&own_worker.thread, NULL, run_own_worker, &own_worker.begin))
		return error_set(error, EXIT_IO, EAGAIN, "cannot start a thread");
	own_worker.started = true;
	return 0;
}

void worker_join(void)
{
	if (own_worker.started)
		pthread_join(own_worker.thread, NULL);
	own_worker.started = false;
}
