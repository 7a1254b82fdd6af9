/* One run: setting up, and the end, whatever came between. */
#include "run_state.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/size.h"
#include "evidence/gathered.h"

#define HITS_PER_CHUNK ((size_t)256 * 1024)
#define PENDING_MEMORY ((size_t)64 * 1024 * 1024)
/* Of what has been searched, for carvers and writers to look at. */
#define WARM_LEN ((size_t)64 * 1024 * 1024)

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
	/* Restarted: what waits asks run_caught_signal itself, and a report's write must not be torn. */
	struct sigaction action = { .sa_handler = catch_signal, .sa_flags = SA_RESTART }, hangup;

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) /* not under nohup */
		sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

int run_caught_signal(void)
{
	return caught;
}

bool run_interrupted(void)
{
	return caught != 0;
}

/* ---- small things ----------------------------------------------------------------------------- */

double run_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

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

/* The nearest folder above path that exists: where a new folder would be made. The caller frees it. */
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
	bool under = image_is_under(run->evidence, parent);

	free(parent);
	if (under)
		return error_set(&run->error, EXIT_IO, EINVAL,
			"the output folder %s lies on the device that is the evidence; choose a folder "
			"on another device",
			output);
	return sink_open(&run->sink, output, &run->error);
}

/* Each thread that writes has some descriptors open, and soft limits come from times of few threads. */
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

static size_t copy_searched(void *context, uint64_t offset, void *buffer, size_t len)
{
	const struct run *run = context;

	return reader_copy(run->reader, offset, buffer, len);
}

/* For those who read the evidence of which a part is searched. */
static size_t copy_part(void *context, uint64_t place, void *buffer, size_t len)
{
	const struct run *run = context;
	uint64_t offset, follow;
	size_t done = 0, got = 1;

	while (done < len && got && gathered_find(run->image, place + done, &offset, &follow)) {
		size_t part_len = follow < len - done ? (size_t)follow : len - done;

		got = reader_copy(run->reader, offset, (uint8_t *)buffer + done, part_len);
		done += got;
	}
	return done;
}

static void lend_ring(struct run *run)
{
	if (run->evidence != run->image)
		image_set_warm(run->evidence, copy_part, run);
	image_set_warm(run->image, copy_searched, run);
}

static void close_reader(struct run *run)
{
	if (!run->reader)
		return;
	image_set_warm(run->evidence, NULL, NULL);
	image_set_warm(run->image, NULL, NULL);
	reader_close(run->reader);
}

static int open_reader(struct run *run, uint64_t length)
{
	const struct run_options *options = run->options;
	struct reader_options reader = {
		.slot_len = options->chunk_size ? options->chunk_size : run->engine->chunk_len,
		.slots = scan_engine_chunks(run->engine, &options->gpu),
		.warm_len = WARM_LEN,
		.overlap = options->rules->patterns.longest - 1,
		.offset = run->position,
		.length = length,
		.method = options->io,
		.cache = options->cache,
	};
	int status = reader_open(&run->reader, run->image, &reader, &run->error);

	if (!status)
		lend_ring(run);
	run->near_len = WARM_LEN / 2;
	return status;
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

int run_open_search(struct run *run, uint64_t length)
{
	int status = open_reader(run, length);

	if (!status)
		status = run_start_engine(run);
	if (!status)
		allocate_flights(run);
	return status;
}

/* What a run that is resumed has searched to the end needs no engine any more. In a cluster the helpers have theirs. */
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

	return sink_temporary(run->sink, error);
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
		.place = run_place,
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
		.output_dir = sink_path(run->sink),
		.started = time(NULL),
		.image = image_info(run->evidence),
		.volumes = run->volumes,
		.space = run_space_name(options->space),
		.image_path = image_path,
		.rules = options->rules,
		.engine = run->engine       ? run->engine->name
			  : options->cluster ? options->cluster->engine()
					     : "none",
		.kernel = run->scan && run->engine->kernel ? run->engine->kernel(run->scan) : "",
		.engine_reason = run->engine_reason,
		.reader = run->reader ? reader_method_name(run->reader) : "",
		.threads = options->cluster ? options->cluster->carving->jobs()
					    : pool_threads(run->pool),
		.chunk_size = options->chunk_size,
		.dry_run = options->dry_run,
		.nested = options->decide.nested,
		.strict = options->decide.strict,
		.both = options->both,
		.compat_scalpel = options->scalpel,
		.align = options->align,
		.map_path = options->map_path,
		.range_offset = options->offset,
		.range_length = options->length,
		.max_files = options->decide.max_files,
		.max_bytes = options->decide.max_bytes,
		.max_files_type = options->decide.max_files_type,
		.max_bytes_type = options->decide.max_bytes_type,
		.hash_mask = options->dry_run ? 0 : options->hash_mask,
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
		.sink = run->sink,
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
		.pause = pause_carving,
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
	return report_open(&run->report, run->sink, &run->record, &run->error);
}

/* ---- the end ---------------------------------------------------------------------------------- */

static void collect_problems(struct run *run)
{
	const struct ranges *unreadable = run_unreadable(run);

	if (run->summary.evidence.state == EVIDENCE_MISMATCH)
		run_add_problem(run, xstrdup(run->summary.evidence.sentence));
	if (run->evidence && image_info(run->evidence)->damage)
		run_add_problem(run, xstrdup(image_info(run->evidence)->damage));
	if (unreadable && unreadable->count) {
		run_add_problem(run,
			xasprintf("%" PRIu64 " bytes of the image, in %zu %s, could not be read and "
				  "count as zeros",
				ranges_bytes(unreadable), unreadable->count,
				unreadable->count == 1 ? "place" : "places"));
	} else if (run->carving && carving_unreadable(run->carving)) {
		run_add_problem(run, xasprintf("carved files hold %" PRIu64 " bytes that could not be read "
					   "and are zeros",
					 carving_unreadable(run->carving)));
	}
	if (run->carving && carving_mismatches(run->carving))
		run_add_problem(run, xasprintf("%" PRIu64 " files have other hashes than the report that they "
					       "come from: the image has changed",
					     carving_mismatches(run->carving)));
	if (run->carving && carving_quota_reached(run->carving))
		run_add_problem(run, xasprintf("a quota was reached, so files were found and not carved; "
					   "the summary counts them under 'quota'"));
	if (caught)
		run_add_problem(run, xasprintf("interrupted by SIG%s after %" PRIu64 " bytes",
					     sigabbrev_np(caught), run->summary.scanned));
	if (run->error.code)
		run_add_problem(run, xstrdup(run->error.text));
}

static int exit_code(const struct run *run)
{
	if (run->error.code)
		return run->error.code;
	if (caught)
		return 128 + caught;
	return run->problem_count ? EXIT_PROBLEMS : EXIT_CLEAN;
}

/* The reader's list only grows, at its end. */
void run_note_unread(struct run *run)
{
	const struct ranges *read = run->reader ? reader_unreadable(run->reader) : NULL;
	const struct range *last = read && read->count ? &read->items[read->count - 1] : NULL;

	if (!last || last->offset + last->length == run->unread_noted)
		return;
	run->unread_noted = last->offset + last->length;
	for (size_t i = 0; i < read->count; i++)
		ranges_add(&run->unread, read->items[i].offset, read->items[i].length);
}

/* Nothing that was found is dropped in silence: what an early end leaves undone is counted. */
static void count_undecided(struct run *run)
{
	uint64_t count = run->has_pending;

	if (run->pairing)
		count += pairing_pending(run->pairing);
	if (run->order)
		count += scalpel_order_pending(run->order);
	tally_add_many(&run->summary.skipped, SKIPPED_BY_END, count, 0);
}

static void note_ranks(struct run *run)
{
	const struct run_cluster *cluster = run->options->cluster;
	struct summary_record *summary = &run->summary;

	if (!cluster)
		return;
	summary->ranks = xcalloc(cluster->count, sizeof(*summary->ranks));
	summary->rank_count = cluster->count;
	for (unsigned rank = 0; rank < cluster->count; rank++)
		cluster->spent(rank, &summary->ranks[rank]);
}

/* Completes the reports; a failure to write them becomes the run's error when it is the first. */
static void finish_report(struct run *run)
{
	struct summary_record *summary = &run->summary;
	struct error error = { 0 };

	if (run->options->progress.json && (fflush(stdout) || ferror(stdout)) && !run->error.code)
		error_set(&run->error, EXIT_IO, EPIPE,
			"cannot write the events to standard output: its reader is gone or its disk is full");
	run_note_unread(run);
	run_finish_map(run);
	count_undecided(run);
	collect_problems(run);
	if (run->carving) {
		carving_sums(run->carving, &summary->files, &summary->bytes);
		carving_marks(run->carving, &summary->known, &summary->alert);
	}
	summary->sets = run->options->sets != NULL;
	if (!*summary->evidence.sentence)
		snprintf(summary->evidence.sentence, sizeof(summary->evidence.sentence), "not hashed");
	summary->unreadable = run_unreadable(run);
	if (summary->unreadable)
		damages_collect(&summary->damage, run->evidence, summary->unreadable);
	summary->seconds_total = run_clock() - run->started;
	summary->seconds_start = run->set_up;
	summary->seconds_read_wait = run->read_wait;
	summary->seconds_scan_wait = run->scan_wait;
	summary->seconds_carve_wait = run->carving ? carving_waited(run->carving) : 0;
	note_ranks(run);
	summary->finished = time(NULL);
	summary->signal = caught;
	summary->exit = exit_code(run);
	if (run->report && report_close(run->report, summary, &error) && !run->error.code)
		run->error = error;
}

static void tell(const struct run *run, const char *image_path)
{
	char size[16];

	for (size_t i = 0; i < run->problem_count; i++)
		if (strcmp(run->problems[i], run->error.text) != 0)
			log_warn("%s: %s", image_path, run->problems[i]);
	if (run->error.code)
		log_error("%s", run->error.text);
	if (run->summary.evidence.state == EVIDENCE_MATCH || run->summary.evidence.state == EVIDENCE_HASHED)
		log_info("%s: %s", image_path, run->summary.evidence.sentence);
	if (run->summary.alert)
		log_warn("%s: %" PRIu64 " %s in a set of wanted hashes (--alert)", image_path,
			run->summary.alert, run->summary.alert == 1 ? "file is" : "files are");
	if (run->report)
		log_info("%s: %" PRIu64 " %s, %s%s; %s in %s", image_path, run->summary.files,
			run->summary.files == 1 ? "file" : "files",
			size_print(run->summary.bytes, size),
			run->options->dry_run ? ", found and not written" : "",
			run->options->dry_run ? "the reports are" : "they and the reports are",
			sink_path(run->sink));
}

/* The problems in one line. */
static void join_problems(const struct run *run, char *text, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < run->problem_count && used < len; i++)
		used += (size_t)snprintf(text + used, len - used, "%s%s", i ? "; " : "", run->problems[i]);
}

static void fill_sums(const struct run *run, struct run_sums *sums)
{
	const struct summary_record *summary = &run->summary;

	*sums = (struct run_sums){
		.files = summary->files,
		.bytes = summary->bytes,
		.scanned = summary->scanned,
		.hits = summary->hits,
		.total = summary->seconds_total,
		.start = summary->seconds_start,
		.read_wait = summary->seconds_read_wait,
		.scan_wait = summary->seconds_scan_wait,
		.carve_wait = summary->seconds_carve_wait,
		.image_size = run->image ? image_info(run->image)->size : 0,
		.evidence = summary->evidence.state,
		.unsuited = run->unsuited,
	};
	join_problems(run, sums->problem, sizeof(sums->problem));
	if (run->scan && run->engine->kernel)
		snprintf(sums->kernel, sizeof(sums->kernel), "%s", run->engine->kernel(run->scan));
}

int run_end(struct run *run, const char *image_path, struct run_sums *sums)
{
	int code;

	finish_report(run);
	code = exit_code(run);
	if (!run->progress) /* it ended before there was something to show: whoever reads events hears of that */
		run->progress = progress_open(&run->options->progress, 0);
	progress_close(run->progress, code);
	tell(run, image_path);
	if (run_end_checkpoints(run, !run->error.code && !caught) && run->carving)
		log_info("to go on with it: burin carve --resume %s", sink_path(run->sink));
	if (sums)
		fill_sums(run, sums);
	run_free(run);
	return code;
}

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
	close_reader(run);
	sink_close(run->sink);
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

	if (status || (map && (status = image_use_map(run->evidence, map, &run->error))))
		return status;
	run->image = run->evidence;
	run->record.image_path = image_path;
	if (volumes)
		run_read_volumes(run, image_path);
	return run_check_range(run);
}

/* Waits until all helpers are there. They check and write: a thread for what they answer is enough. */
static int gather_helpers(struct run *run, const char *image_path, const char *output)
{
	const struct run_options *options = run->options;
	const struct run_begin begin = {
		.alike = { run->traits.names, run->traits.values, run->traits.count },
		.position = run->position,
		.end = run->read_all ? run->position : reading_end(run),
		.unit_size = options->unit_size,
		.chunk_size = options->chunk_size,
		.sink = options->dry_run ? NULL : run->sink,
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
	if (caught) /* what is known of the volumes may be half of it: nothing may rest on that */
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
	run->set_up = run_clock() - began;
	return options->resume ? run_finish_resuming(run) : 0;
}

int run_carve(const struct run_options *options, const char *image_path, const char *output,
	struct run_sums *sums)
{
	struct run run = { .options = options, .started = run_clock() };
	int status = set_up(&run, image_path, output);

	if (!status)
		status = run_scan(&run);
	run_finish_hashing(&run, true); /* unless it was done */
	if (run.carving && (status || caught)) {
		run_last_checkpoint(&run);
		carving_cancel(run.carving);
	}
	if (status && !run.error.code && !caught)
		error_set(&run.error, EXIT_IO, -status, "%s: %s", image_path, strerror(-status));
	return run_end(&run, image_path, sums);
}
