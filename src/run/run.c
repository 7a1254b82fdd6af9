/* One run: what it needs is opened, and freed again; in between others work (run/run_state.h). */
#include "run/run_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "run/carve_options.h"

#define PENDING_MEMORY ((size_t)64 * 1024 * 1024)

/* ---- small things ----------------------------------------------------------------------------- */

void run_add_problem(struct run *run, char *sentence)
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

/* The nearest folder above path that exists: where a new folder would be made. The caller frees
 * it. */
static char *existing_parent(const char *path)
{
	char *parent = xstrdup(path);

	while (access(parent, F_OK) != 0) {
		char *slash = strrchr(parent, '/');

		if (!slash || slash == parent) {
			free(parent);
			return xstrdup(slash ? "/" : ".");
		}
		*slash = '\0';
	}
	return parent;
}

/* ---- setting up ------------------------------------------------------------------------------- */

int run_open_output(struct run *run, const char *output)
{
	char *parent = existing_parent(output);
	bool under = image_shares_device(run->evidence, parent);

	free(parent);
	if (under)
		return error_set(&run->error, EXIT_IO, EINVAL,
			"the output folder %s lies on the device that is the evidence; choose a "
			"folder "
			"on another device",
			output);
	return output_dir_open(&run->output_dir, output, &run->error);
}

/* Each thread that writes has some descriptors open, and soft limits come from times of few
 * threads. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

struct pool *run_pool_new(unsigned threads)
{
	allow_descriptors();
	return pool_new(threads);
}

int run_open_pool(struct run *run)
{
	run->pool = run->options->pool ? run->options->pool : run_pool_new(run->options->threads);
	if (run->pool)
		return 0;
	return error_set(&run->error, EXIT_IO, EAGAIN, "cannot start any thread");
}

static uint64_t largest_header_offset(const struct rules *rules)
{
	uint64_t largest = 0;

	for (uint32_t r = 0; r < rules->count; r++)
		if (rules->rules[r].header_offset > largest)
			largest = rules->rules[r].header_offset;
	return largest;
}

/* Far enough behind the range's end to see the headers of files that start inside it. */
static uint64_t reading_end(const struct run *run)
{
	uint64_t behind = largest_header_offset(run->options->rules);
	uint64_t left = image_info(run->image)->size - run->range_end;

	return run->range_end + (behind < left ? behind : left);
}

/* What a run that is resumed has searched to the end needs no engine any more. In a cluster the
 * helpers have theirs. */
static int open_search(struct run *run)
{
	uint64_t end = reading_end(run);
	int status;

	run->read_all = run_is_empty(run) || run->position >= end;
	if (run->read_all || run->options->cluster)
		return 0;
	status = run_pick_engine(run);
	return status ? status : run_open_search(run, end - run->position);
}

static int create_spill(void *context, struct error *error)
{
	const struct run *run = context;

	return output_dir_temporary(run->output_dir, error);
}

struct pairing_options run_pairing_options(const struct run *run)
{
	const struct run_options *options = run->options;

	return (struct pairing_options){
		/* Foremost carves max_size bytes where a forward rule finds no footer. */
		.both = options->both || options->rules->format == RULES_FOREMOST,
		.align = options->align,
		.scalpel = options->scalpel,
		.range_start = run->range_start,
		.range_end = run->range_end,
		.to_evidence = run_place,
		.context = run,
	};
}

static int start_pairing(struct run *run)
{
	const struct run_options *options = run->options;
	struct pairing_options pairing = run_pairing_options(run);

	run->store = fifo_store_new(PENDING_MEMORY, create_spill, run);
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
		.output_dir = output_dir_path(run->output_dir),
		.started = time(NULL),
		.image = image_info(run->evidence),
		.volumes = run->volumes,
		.image_path = image_path,
		.rules = options->rules,
		.engine = run->engine        ? run->engine->name
			  : options->cluster ? options->cluster->engine()
					     : "none",
		.kernel = run->scan && run->engine->kernel ? run->engine->kernel(run->scan) : "",
		.engine_reason = run->engine_reason,
		.reader = run->reader ? reader_method_name(run->reader) : "",
		.threads = options->cluster ? options->cluster->carving->capacity()
					    : pool_threads(run->pool),
		.chunk_size = options->chunk_size,
		.option_rows = carve_option_rows,
		.options = options,
		.compat_scalpel = options->scalpel,
	};
}

static void pause_carving(void *context)
{
	run_pause(context, NULL);
}

static enum carving_names names_of(const struct run_options *options)
{
	if (options->scalpel)
		return options->flat ? NAMES_SCALPEL_FLAT : NAMES_SCALPEL;
	return options->flat ? NAMES_FLAT : NAMES_BY_TYPE;
}

void run_start_carving(struct run *run)
{
	const struct run_options *options = run->options;
	struct carving_options carving = {
		.image = run->image,
		.volumes = run->volumes,
		.rules = options->rules,
		.output_dir = run->output_dir,
		.report = run->report,
		.progress = run->progress,
		.pool = run->pool,
		.remote = options->cluster ? options->cluster->carving : NULL,
		.decide = options->decide,
		.names = names_of(options),
		.label = options->label,
		.no_extension = options->no_extension,
		.dry_run = options->dry_run,
		.hash_mask = options->dry_run ? 0 : options->hash_mask,
		.sets = options->sets,
		.skip_known = options->skip_known,
		.unreadable = &run->unread,
		.on_wait = pause_carving,
		.context = run,
		.interrupted = run_interrupted,
		.rejected = &run->summary.rejected,
		.skipped = &run->summary.skipped,
		.by_type = &run->summary.by_type,
	};

	run->carving = carving_new(&carving);
}

int run_start_report(struct run *run, const char *image_path, uint64_t total)
{
	fill_run_record(run, image_path);
	run->progress = progress_open(&run->options->progress, total);
	if (run->options->resume)
		return run_reopen_report(run);
	return report_open(&run->report, run->output_dir, &run->record, &run->error);
}

/* ---- the whole of it -------------------------------------------------------------------------- */

void run_free(struct run *run)
{
	run_end_help(run);
	run_stop_engine(run);
	run_end_scout(run);
	carving_free(run->carving);
	if (run->pool != run->options->pool)
		pool_free(run->pool);
	scalpel_order_free(run->order);
	pairing_free(run->pairing);
	fifo_store_free(run->store);
	for (unsigned i = 0; run->flights && i < run->flight_count; i++)
		free(run->flights[i].chunk.hits);
	free(run->flights);
	run_close_reader(run);
	output_dir_close(run->output_dir);
	run_free_volumes(run);
	image_close(run->evidence);
	damages_free(&run->summary.damage);
	tallies_free(&run->summary.by_type);
	tallies_free(&run->summary.rejected);
	tallies_free(&run->summary.skipped);
	for (size_t i = 0; i < run->problem_count; i++)
		free(run->problems[i]);
	free((char *)run->record.command_line);
	free(run->summary.resumed);
	free(run->summary.ranks);
	ranges_free(&run->unread);
	run_traits_free(&run->traits);
	run_end_resuming(run);
}

int run_open_evidence(struct run *run, const char *image_path, bool volumes)
{
	const char *map = run->options->map_path;
	int status = image_open(&run->evidence, image_path, &run->error);

	if (status || (map && (status = image_use_ddrescue_map(run->evidence, map, &run->error))))
		return status;
	run->image = run->evidence;
	run->record.image_path = image_path;
	if (volumes)
		run_read_volumes(run, image_path);
	return run_check_range(run);
}

/* Waits until all helpers are there. They check and write: a thread for what they answer is
 * enough. */
static int gather_helpers(struct run *run, const char *image_path, const char *output)
{
	const struct run_options *options = run->options;
	const struct run_begin begin = {
		.alike = { (const char *const *)run->traits.names, run->traits.values,
			run->traits.count },
		.position = run->position,
		.end = run->read_all ? run->position : reading_end(run),
		.unit_size = options->unit_size,
		.chunk_size = options->chunk_size,
		.output_dir = options->dry_run ? NULL : run->output_dir,
		.rules = options->rules,
	};
	int status;

	if (!options->cluster)
		return 0;
	status = run_start_help(run, image_path, output);
	if (!status)
		status = options->cluster->begin(&begin, &run->error);
	if (status)
		return status;
	snprintf(run->engine_reason, sizeof(run->engine_reason), "%s", options->cluster->summary);
	run->pool = run_pool_new(1);
	return run->pool ? 0 : error_set(&run->error, EXIT_IO, EAGAIN, "cannot start any thread");
}

static int set_up(struct run *run, const char *image_path, const char *output)
{
	const struct run_options *options = run->options;
	double began = run->started; /* a run that is resumed began earlier */
	int status;

	if ((status = run_open_evidence(run, image_path, true)))
		return status;
	if (run_caught_signal()) /* what is known of the volumes may be half of it: nothing may rest on that */
		return -EINTR;
	run->position = run->range_start;
	run_find_traits(run);
	if (options->resume && (status = run_begin_resuming(run, output)))
		return status;
	if ((!options->cluster && (status = run_open_pool(run))) || (status = open_search(run)) ||
		(status = start_pairing(run)) ||
		(!options->resume && (status = run_open_output(run, output))) ||
		(status = gather_helpers(run, image_path, output)))
		return status;
	run_begin_checkpoints(run);
	status = run_start_report(run, image_path, run->range_end - run->range_start);
	if (status)
		return status;
	status = run_start_hashing(run);
	if (status)
		return status;
	run_start_map(run);
	run_start_carving(run);
	run->set_up = clock_seconds() - began;
	return options->resume ? run_finish_resuming(run) : 0;
}

int run_carve(const struct run_options *options, const char *image_path, const char *output,
	struct run_sums *sums)
{
	struct run run = { .options = options, .started = clock_seconds() };
	int status = set_up(&run, image_path, output);

	if (!status)
		status = run_scan(&run);
	run_finish_hashing(&run, true); /* unless it was done */
	if (run.carving && (status || run_caught_signal())) {
		run_last_checkpoint(&run);
		carving_cancel(run.carving);
	}
	if (status && !run.error.code && !run_caught_signal())
		error_set(&run.error, EXIT_IO, -status, "%s: %s", image_path, strerror(-status));
	return run_end(&run, image_path, sums);
}
