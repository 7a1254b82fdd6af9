/*
 * The conductor's thread does everything that must happen in order: it takes slots from the reader, hands them to the engine, gives the hits of
 * finished chunks to the pairing in order of the image, and settled candidates to the carving stage. All that takes time
 * runs elsewhere: reading in the reader's threads, searching, checking and writing in the pool's.
 *
 * Chunks in flight form a ring of as many places as the reader has slots. Chunks may finish in any order and are consumed in order. One whose
 * hits did not fit is consumed as far as it got and submitted again from there, while those behind it wait.
 */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/size.h"
#include "carve/carving.h"
#include "carve/scalpel.h"
#include "output/reread.h"
#include "scan/scan.h"

#define HITS_PER_CHUNK ((size_t)256 * 1024)
#define PENDING_MEMORY ((size_t)64 * 1024 * 1024)

struct flight {
	struct chunk chunk;
	struct slot *slot;
	bool finished;
};

struct run {
	const struct run_options *options;
	struct image *image;
	struct sink *sink;
	struct pool *pool;
	struct reader *reader;
	const struct scan_engine *engine;
	struct scan *scan;
	char engine_reason[512];
	struct fifo_store *store;
	struct pairing *pairing;
	struct scalpel_order *order;  /* NULL without --compat scalpel */
	struct carving *carving;
	struct report *report;
	struct progress *progress;
	struct flight *flights;
	unsigned flight_count;
	uint64_t submitted, consumed; /* chunks, since the start */
	struct candidate pending;     /* a candidate that the carving stage could not take yet */
	bool has_pending, read_all;
	uint64_t range_end;
	struct run_record record;
	struct summary_record summary;
	size_t problem_count;
	char *problems[16];
	double started, read_wait, scan_wait;
	struct error error;
};

/* ---- signals ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t caught;

static void catch_signal(int number)
{
	if (caught)
		_exit(128 + number);
	caught = number;
}

void run_catch_signals(void)
{
	struct sigaction action = { .sa_handler = catch_signal };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

int run_caught_signal(void)
{
	return caught;
}

/* ---- small things ----------------------------------------------------------------------------- */

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void add_problem(struct run *run, char *sentence)
{
	if (run->problem_count + 1 >= sizeof(run->problems) / sizeof(*run->problems)) {
		free(sentence);
		return;
	}
	run->summary.problems[run->problem_count] = sentence;
	run->problems[run->problem_count++] = sentence;
}

static char *join_arguments(char **arguments)
{
	char *line = xstrdup("");

	for (; arguments && *arguments; arguments++) {
		char *longer = xasprintf("%s%s%s", line, *line ? " " : "", *arguments);

		free(line);
		line = longer;
	}
	return line;
}

/* The nearest folder above path that exists: where a new folder would be made. The caller frees it. */
static char *existing_parent(const char *path)
{
	char *parent = xstrdup(path);

	while (access(parent, F_OK) != 0) {
		char *slash = strrchr(parent, '/');

		if (!slash) {
			strcpy(parent, *parent == '.' ? parent : ".");
			break;
		}
		slash[slash == parent ? 1 : 0] = '\0';
		if (slash == parent)
			break;
	}
	return parent;
}

/* ---- setting up ------------------------------------------------------------------------------- */

static int open_output(struct run *run, const char *output)
{
	char *parent = existing_parent(output);
	bool under = image_is_under(run->image, parent);

	free(parent);
	if (under)
		return error_set(&run->error, EXIT_IO, EINVAL,
			"the output folder %s lies on the device that is the evidence; choose a folder "
			"on another device",
			output);
	return sink_open(&run->sink, output, &run->error);
}

static int open_pool(struct run *run)
{
	run->pool = pool_new(run->options->threads);
	if (run->pool)
		return 0;
	return error_set(&run->error, EXIT_IO, EAGAIN, "cannot start any thread");
}

static int check_range(struct run *run)
{
	const struct run_options *options = run->options;
	uint64_t size = image_info(run->image)->size;

	if (options->offset >= size)
		return error_set(&run->error, EXIT_USAGE, EINVAL,
			"--offset %" PRIu64 " lies behind the end of the image (%" PRIu64 " bytes)",
			options->offset, size);
	run->range_end = size;
	if (options->length && options->length < size - options->offset)
		run->range_end = options->offset + options->length;
	return 0;
}

static uint64_t largest_header_offset(const struct rules *rules)
{
	uint64_t largest = 0;

	for (uint32_t r = 0; r < rules->count; r++)
		if (rules->rules[r].header_offset > largest)
			largest = rules->rules[r].header_offset;
	return largest;
}

/* Reads far enough behind the range's end to see the headers of files that start inside it. */
static int open_reader(struct run *run)
{
	const struct run_options *options = run->options;
	uint64_t behind = largest_header_offset(options->rules);
	uint64_t left = image_info(run->image)->size - run->range_end;
	struct reader_options reader = {
		.slot_len = options->chunk_size,
		.overlap = options->rules->patterns.longest - 1,
		.offset = options->offset,
		.length = run->range_end - options->offset + (behind < left ? behind : left),
		.method = options->io,
		.cache = options->cache,
	};

	return reader_open(&run->reader, run->image, &reader, &run->error);
}

static int open_engine(struct run *run)
{
	struct scan_options options = { .pool = run->pool, .kernel = run->options->kernel };

	reader_ring(run->reader, &options.ring, &options.ring_len, &options.chunk_len, &options.chunks);
	run->flight_count = options.chunks;
	return run->engine->open(&run->scan, &run->options->rules->patterns, &options, &run->error);
}

/* The next row of the table that works here; NULL when run->engine was the last. */
static const struct scan_engine *next_engine(const struct run *run)
{
	const struct scan_engine *const *row = scan_engines;
	char reason[256];

	while (*row && *row != run->engine)
		row++;
	while (*row && *++row)
		if ((*row)->probe(reason, sizeof(reason)) == 0)
			return *row;
	return NULL;
}

static bool engine_is_auto(const struct run *run)
{
	return !run->options->engine || strcmp(run->options->engine, "auto") == 0;
}

/* Goes on to the next engine of the table, and says why in the log and the report. */
static int fall_back(struct run *run, const char *why)
{
	const struct scan_engine *next = engine_is_auto(run) ? next_engine(run) : NULL;
	size_t used = strlen(run->engine_reason);

	if (!next)
		return -EINVAL;
	log_warn("engine %s: %s; going on with %s", run->engine->name, why, next->name);
	snprintf(run->engine_reason + used, sizeof(run->engine_reason) - used, "; %s: %s",
		run->engine->name, why);
	run->engine = next;
	return 0;
}

static int start_engine(struct run *run)
{
	int status;

	run->engine = scan_engine_pick(run->options->engine, run->engine_reason,
		sizeof(run->engine_reason), &run->error);
	if (!run->engine)
		return -EINVAL;
	while ((status = open_engine(run)))
		if (fall_back(run, run->error.text))
			return status;
	return 0;
}

static void allocate_flights(struct run *run)
{
	size_t capacity = run->options->rules->patterns.count;

	if (capacity < HITS_PER_CHUNK)
		capacity = HITS_PER_CHUNK;
	run->flights = xcalloc(run->flight_count, sizeof(*run->flights));
	for (unsigned i = 0; i < run->flight_count; i++) {
		run->flights[i].chunk.hits = xmalloc(capacity * sizeof(struct hit));
		run->flights[i].chunk.hit_capacity = capacity;
	}
}

static int create_spill(void *context, struct error *error)
{
	return sink_temporary(context, error);
}

static int start_pairing(struct run *run)
{
	const struct run_options *options = run->options;
	struct pairing_options pairing = {
		.both = options->both,
		.align = options->align,
		.scalpel = options->scalpel,
		.range_start = options->offset,
		.range_end = run->range_end,
	};

	run->store = fifo_store_new(PENDING_MEMORY, create_spill, run->sink);
	run->pairing = pairing_new(options->rules, &pairing, run->store, &run->summary.rejected,
		&run->summary.skipped);
	if (!options->scalpel)
		return 0;
	return scalpel_order_new(&run->order, options->rules, run->store, &run->error);
}

static void fill_run_record(struct run *run, const char *image_path)
{
	const struct run_options *options = run->options;

	run->record = (struct run_record){
		.command_line = join_arguments(options->arguments),
		.arguments = options->arguments,
		.output_dir = sink_path(run->sink),
		.started = time(NULL),
		.image = image_info(run->image),
		.image_path = image_path,
		.rules = options->rules,
		.engine = run->engine ? run->engine->name : "none",
		.kernel = run->engine && run->engine->kernel ? run->engine->kernel(run->scan) : "",
		.engine_reason = run->engine_reason,
		.reader = run->reader ? reader_method_name(run->reader) : "",
		.threads = pool_threads(run->pool),
		.chunk_size = options->chunk_size,
		.dry_run = options->dry_run,
		.nested = options->decide.nested,
		.strict = options->decide.strict,
		.both = options->both,
		.compat_scalpel = options->scalpel,
		.align = options->align,
		.range_offset = options->offset,
		.range_length = options->length,
		.max_files = options->decide.max_files,
		.max_bytes = options->decide.max_bytes,
		.max_files_type = options->decide.max_files_type,
		.max_bytes_type = options->decide.max_bytes_type,
		.hash_mask = options->dry_run ? 0 : options->hash_mask,
	};
}

static enum carving_names names_of(const struct run_options *options)
{
	if (options->scalpel)
		return options->flat ? NAMES_SCALPEL_FLAT : NAMES_SCALPEL;
	return options->flat ? NAMES_FLAT : NAMES_BY_TYPE;
}

static void start_carving(struct run *run)
{
	const struct run_options *options = run->options;
	struct carving_options carving = {
		.image = run->image,
		.rules = options->rules,
		.sink = run->sink,
		.report = run->report,
		.progress = run->progress,
		.pool = run->pool,
		.decide = options->decide,
		.names = names_of(options),
		.no_extension = options->no_extension,
		.dry_run = options->dry_run,
		.hash_mask = options->dry_run ? 0 : options->hash_mask,
		.unreadable = run->reader ? reader_unreadable(run->reader) : NULL,
		.rejected = &run->summary.rejected,
		.skipped = &run->summary.skipped,
		.by_type = &run->summary.by_type,
	};

	run->carving = carving_new(&carving);
}

static int start_report(struct run *run, const char *image_path, uint64_t total)
{
	fill_run_record(run, image_path);
	run->progress = progress_open(&run->options->progress, total);
	return report_open(&run->report, run->sink, &run->record, &run->error);
}

/* ---- the loop --------------------------------------------------------------------------------- */

static struct flight *flight_at(struct run *run, uint64_t number)
{
	return &run->flights[number % run->flight_count];
}

static int submit(struct run *run, struct flight *flight)
{
	flight->finished = false;
	flight->chunk.status = 0;
	return run->engine->submit(run->scan, &flight->chunk);
}

static int submit_slot(struct run *run, struct slot *slot)
{
	struct flight *flight = flight_at(run, run->submitted++);

	flight->slot = slot;
	flight->chunk.data = slot->data;
	flight->chunk.offset = slot->offset;
	flight->chunk.len = slot->len;
	flight->chunk.tail_len = slot->tail_len;
	flight->chunk.from = 0;
	return submit(run, flight);
}

/* Hands read slots to the engine; waits for one only when the engine has nothing to do. */
static int feed(struct run *run)
{
	while (!run->read_all && run->submitted - run->consumed < run->flight_count) {
		double from = seconds_now();
		struct slot *slot;
		int status;

		if (run->submitted > run->consumed && !reader_ready(run->reader))
			return 0;
		status = reader_next(run->reader, &slot);
		run->read_wait += seconds_now() - from;
		if (status < 0)
			return error_set(&run->error, EXIT_IO, -status, "the reader of %s broke down: %s",
				run->record.image_path, strerror(-status));
		if (status == 0) {
			run->read_all = true;
			return 0;
		}
		status = submit_slot(run, slot);
		if (status)
			return error_set(&run->error, EXIT_IO, -status,
				"the engine %s refused a chunk: %s", run->engine->name, strerror(-status));
	}
	return 0;
}

/* Waits until the chunk is finished. */
static int await(struct run *run, struct flight *flight)
{
	double from = seconds_now();
	int status = 0;

	while (!flight->finished && !status) {
		struct chunk *chunk;

		status = run->engine->reap(run->scan, &chunk);
		if (!status)
			((struct flight *)chunk)->finished = true;
	}
	run->scan_wait += seconds_now() - from;
	return status;
}

/* The engine broke down in a chunk: everything not consumed is searched again by the next engine of the table. */
static int replace_engine(struct run *run, int status)
{
	char why[128];

	for (uint64_t n = run->consumed; n < run->submitted; n++)
		await(run, flight_at(run, n));
	run->engine->close(run->scan);
	run->scan = NULL;
	snprintf(why, sizeof(why), "broke down at byte %" PRIu64 " (%s)",
		flight_at(run, run->consumed)->chunk.offset, strerror(-status));
	do {
		if (fall_back(run, why))
			return error_set(&run->error, EXIT_NO_ENGINE, -status, "the engine %s %s",
				run->engine->name, why);
	} while (open_engine(run));
	for (uint64_t n = run->consumed; n < run->submitted; n++) {
		status = submit(run, flight_at(run, n));
		if (status)
			return status;
	}
	return 0;
}

static uint32_t match_len(const struct run *run, const struct chunk *chunk, const struct hit *hit)
{
	const struct pattern *pattern = &run->options->rules->patterns.patterns[hit->pattern];
	size_t at = (size_t)(hit->offset - chunk->offset);

	if (!pattern->regex)
		return pattern->len;
	return (uint32_t)pattern_match_len(pattern, chunk->data + at,
		chunk->len + chunk->tail_len - at);
}

static void pair_hits(struct run *run, const struct chunk *chunk)
{
	for (size_t i = 0; i < chunk->hit_count; i++) {
		const struct hit *hit = &chunk->hits[i];
		uint32_t len = 0;

		if (pairing_wants_length(run->pairing, hit->pattern))
			len = match_len(run, chunk, hit);
		pairing_hit(run->pairing, hit->offset, hit->pattern, len);
		if (run->order)
			scalpel_order_hit(run->order, hit->offset, hit->pattern);
	}
	run->summary.hits += chunk->hit_count;
	pairing_advance(run->pairing, chunk->offset + chunk->until);
}

/* The next candidate for the carving stage. With Scalpel's order only when all are known. */
static bool next_candidate(struct run *run, bool all_known)
{
	if (!run->order)
		return pairing_next(run->pairing, &run->pending);
	while (pairing_next(run->pairing, &run->pending))
		scalpel_order_add(run->order, &run->pending);
	return all_known && scalpel_order_next(run->order, &run->pending);
}

static int carving_failed(struct run *run, int status)
{
	run->error = *carving_error(run->carving);
	return status;
}

/* Gives settled candidates to the carving stage. -EAGAIN is no failure: the rest comes later. */
static int carve_settled(struct run *run, bool all_known)
{
	int status = 0;

	while (!status && !caught) {
		if (!run->has_pending)
			run->has_pending = next_candidate(run, all_known);
		if (!run->has_pending)
			break;
		status = carving_offer(run->carving, &run->pending);
		if (!status)
			run->has_pending = false;
	}
	if (status == -EAGAIN)
		status = 0;
	if (status)
		return carving_failed(run, status);
	return fifo_store_status(run->store, &run->error);
}

/* Uses a finished chunk's hits, and takes the next step with it. */
static int consume(struct run *run, struct flight *flight)
{
	struct chunk *chunk = &flight->chunk;
	uint64_t position;
	int status;

	if (chunk->status)
		return replace_engine(run, chunk->status);
	pair_hits(run, chunk);
	position = chunk->offset + chunk->until;
	if (chunk->until < chunk->len) {
		chunk->from = chunk->until;
		status = submit(run, flight);
		if (status)
			return status;
	} else {
		reader_release(run->reader, flight->slot);
		run->consumed++;
	}
	status = carve_settled(run, false);
	if (status)
		return status;
	status = carving_scanned(run->carving, position);
	if (status)
		return carving_failed(run, status);
	run->summary.scanned = position - run->options->offset;
	progress_update(run->progress, run->summary.scanned);
	return 0;
}

static int scan_all(struct run *run)
{
	int status = 0;

	while (!status && !caught) {
		struct flight *flight;

		status = feed(run);
		if (status || run->submitted == run->consumed)
			break;
		flight = flight_at(run, run->consumed);
		status = await(run, flight);
		if (status)
			return error_set(&run->error, EXIT_IO, -status,
				"the engine %s lost a chunk: %s", run->engine->name, strerror(-status));
		status = consume(run, flight);
	}
	return status;
}

static int finish_carving(struct run *run)
{
	int status;

	pairing_finish(run->pairing);
	status = carving_scanned(run->carving, UINT64_MAX);
	if (!status)
		status = carve_settled(run, true);
	if (status)
		return run->error.code ? status : carving_failed(run, status);
	if (caught)
		return 0;
	status = carving_finish(run->carving);
	return status ? carving_failed(run, status) : 0;
}

/* Leaves nothing in flight, whatever happened. */
static void settle_engine(struct run *run)
{
	struct chunk *chunk;

	while (run->scan && run->engine->reap(run->scan, &chunk) == 0)
		;
}

/* ---- the end ---------------------------------------------------------------------------------- */

static void collect_problems(struct run *run)
{
	const struct ranges *unreadable = run->reader ? reader_unreadable(run->reader) : NULL;

	if (unreadable && unreadable->count) {
		uint64_t bytes = 0;

		for (size_t i = 0; i < unreadable->count; i++)
			bytes += unreadable->items[i].length;
		add_problem(run,
			xasprintf("%" PRIu64 " bytes of the image in %zu places could not be read and "
				  "count as zeros",
				bytes, unreadable->count));
	} else if (run->carving && carving_unreadable(run->carving)) {
		add_problem(run, xasprintf("carved files hold %" PRIu64 " bytes that could not be read "
					   "and are zeros",
					 carving_unreadable(run->carving)));
	}
	if (run->carving && carving_quota_reached(run->carving))
		add_problem(run, xasprintf("a quota was reached, so files were found and not carved; "
					   "the summary counts them under 'quota'"));
	if (caught)
		add_problem(run, xasprintf("interrupted by signal %d after %" PRIu64 " bytes", (int)caught,
					 run->summary.scanned));
	if (run->error.code)
		add_problem(run, xstrdup(run->error.text));
}

static int exit_code(const struct run *run)
{
	if (run->error.code)
		return run->error.code;
	if (caught)
		return 128 + caught;
	return run->problem_count ? EXIT_PROBLEMS : EXIT_CLEAN;
}

/* Completes the reports; a failure to write them becomes the run's error when it is the first. */
static void finish_report(struct run *run)
{
	struct summary_record *summary = &run->summary;
	struct error error = { 0 };

	collect_problems(run);
	if (run->carving)
		carving_sums(run->carving, &summary->files, &summary->bytes);
	summary->unreadable = run->reader ? reader_unreadable(run->reader) : NULL;
	summary->seconds_total = seconds_now() - run->started;
	summary->seconds_read_wait = run->read_wait;
	summary->seconds_scan_wait = run->scan_wait;
	summary->seconds_carve_wait = run->carving ? carving_waited(run->carving) : 0;
	summary->finished = time(NULL);
	summary->signal = caught;
	summary->exit = exit_code(run);
	if (run->report && report_close(run->report, summary, &error) && !run->error.code)
		run->error = error;
	run->report = NULL;
}

static void tell(const struct run *run, const char *image_path)
{
	char size[16];

	for (size_t i = 0; i < run->problem_count; i++)
		if (strcmp(run->problems[i], run->error.text) != 0)
			log_warn("%s: %s", image_path, run->problems[i]);
	if (run->error.code)
		log_error("%s", run->error.text);
	if (run->sink)
		log_info("%s: %" PRIu64 " files, %s%s in %s (report.jsonl, report.xml, audit.txt)",
			image_path, run->summary.files, size_print(run->summary.bytes, size),
			run->options->dry_run ? " to be carved;" : "", sink_path(run->sink));
}

static int end_run(struct run *run, const char *image_path, struct run_sums *sums)
{
	int code;

	finish_report(run);
	code = exit_code(run);
	progress_close(run->progress, code);
	tell(run, image_path);
	if (sums)
		*sums = (struct run_sums){ run->summary.files, run->summary.bytes };
	settle_engine(run);
	if (run->scan)
		run->engine->close(run->scan);
	carving_free(run->carving);
	pool_free(run->pool);
	scalpel_order_free(run->order);
	pairing_free(run->pairing);
	fifo_store_free(run->store);
	for (unsigned i = 0; run->flights && i < run->flight_count; i++)
		free(run->flights[i].chunk.hits);
	free(run->flights);
	reader_close(run->reader);
	sink_close(run->sink);
	image_close(run->image);
	tallies_free(&run->summary.by_type);
	tallies_free(&run->summary.rejected);
	tallies_free(&run->summary.skipped);
	for (size_t i = 0; i < run->problem_count; i++)
		free(run->problems[i]);
	free((char *)run->record.command_line);
	return code;
}

static int set_up(struct run *run, const char *image_path, const char *output)
{
	int status;

	if ((status = image_open(&run->image, image_path, &run->error)) ||
		(status = check_range(run)) || (status = open_pool(run)) ||
		(status = open_reader(run)) || (status = start_engine(run)) ||
		(status = open_output(run, output)) || (status = start_pairing(run)) ||
		(status = start_report(run, image_path, run->range_end - run->options->offset)))
		return status;
	allocate_flights(run);
	start_carving(run);
	return 0;
}

int run_carve(const struct run_options *options, const char *image_path, const char *output,
	struct run_sums *sums)
{
	struct run run = { .options = options, .started = seconds_now() };
	int status = set_up(&run, image_path, output);

	if (!status)
		status = scan_all(&run);
	if (!status && !caught)
		status = finish_carving(&run);
	if (run.carving && (status || caught))
		carving_cancel(run.carving);
	if (status && !run.error.code && !caught)
		error_set(&run.error, EXIT_IO, -status, "%s: %s", image_path, strerror(-status));
	return end_run(&run, image_path, sums);
}
