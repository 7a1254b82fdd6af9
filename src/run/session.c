#include "run/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sandbox.h"
#include "base/size.h"
#include "base/strbuf.h"
#include "carve/ahead.h"
#include "carve/checker_process.h"
#include "evidence/extent_image.h"
#include "run/carve_options.h"
#include "run/cluster.h"
#include "run/signals.h"
#include "scan/scan.h"

/* ---- setting up ---------------------------------------------------------------------------- */

/* Each thread that writes has some descriptors open, and soft limits date from times of few
 * threads. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

struct pool *session_pool_new(unsigned threads)
{
	raise_descriptor_limit();
	sandbox_layers(); /* as session_init */
	return pool_new(threads);
}

void session_init(
	struct session *session, const struct run_options *options, const char *image_path)
{
	*session = (struct session){
		.options = options,
		.image_path = image_path,
		.started = clock_seconds(),
		.lost = options->rules ? lost_processes_new(image_path, options->rules) : NULL,
	};
	/* The report names them. A process is forked to find out, which is safest before there are threads, of the pool or of an
	 * image: with the address sanitizer the child waited for ever for a lock that another thread had. */
	sandbox_layers();
}

int session_open_pool(struct session *session, unsigned threads)
{
	session->pool = session->options->pool ? session->options->pool : session_pool_new(threads);
	if (session->pool)
		return 0;
	return error_set(&session->error, EXIT_IO, EAGAIN, "cannot start a thread");
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

int session_open_output(struct session *session, const char *output)
{
	char *parent = existing_parent(output);
	enum image_relation relation = image_shares_device(session->scope.evidence, parent);

	free(parent);
	if (relation == IMAGE_SHARED)
		return error_set(&session->error, EXIT_IO, EINVAL,
			"the output folder %s is on the device that is the evidence; choose a "
			"folder on another device",
			output);
	if (relation == IMAGE_UNKNOWN)
		log_warn("%s: cannot determine whether the output folder %s is on the device that "
			 "is the evidence, because this system does not say what devices consist "
			 "of (is /sys mounted?)",
			session->image_path, output);
	return output_dir_open(&session->output_dir, output, &session->error);
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

/* It warns once, whatever the number of images. */
static bool carver_program_is_there(void)
{
	static atomic_flag warned = ATOMIC_FLAG_INIT;
	char reason[4400];

	if (checker_program_is_there(reason, sizeof(reason)))
		return true;
	if (!atomic_flag_test_and_set(&warned))
		log_warn("candidates are checked in burin itself and not in confined processes: %s",
			reason);
	return false;
}

static bool confines_checks(const struct run_options *options)
{
	if (confine_mode() == CONFINE_OFF || !options->rules)
		return false;
	return confine_mode() == CONFINE_REQUIRE || carver_program_is_there();
}

bool session_confines_checks(struct session *session)
{
	if (!session->confinement_known)
		session->checks_confined = confines_checks(session->options);
	session->confinement_known = true;
	return session->checks_confined;
}

void session_fill_record(struct session *session, uint64_t total)
{
	const struct run_options *options = session->options;
	const struct image_info *image = image_info(session->scope.evidence);

	session->limited = *options;
	session->limited.decide.max_bytes = output_limit(options, image->size);
	session->record = (struct run_record){
		.about = options->about,
		.command_line = join_arguments(options->arguments),
		.arguments = options->arguments,
		.output_dir = output_dir_path(session->output_dir),
		.started = time(NULL),
		.image = image,
		.volumes = session->scope.volumes,
		.image_path = session->image_path,
		.plugins = options->plugins,
		.rules = options->rules,
		.engine = "none",
		.kernel = "",
		.engine_reason = "",
		.reader = "",
		.threads = options->cluster ? options->cluster->carving->capacity()
					    : pool_threads(session->pool),
		.chunk_size = options->chunk_size,
		.confined = *sandbox_layers(),
		.checks_confined = session_confines_checks(session),
		.option_rows = carve_option_rows,
		.options = &session->limited,
		.compat_scalpel = options->scalpel,
	};
	session->progress = progress_open(&options->progress, total);
	progress_start(session->progress, &session->record);
}

int session_open_report(struct session *session)
{
	return report_open(
		&session->report, session->output_dir, &session->record, &session->error);
}

static enum carving_names names_of(const struct run_options *options)
{
	if (options->scalpel)
		return options->flat ? NAMES_SCALPEL_FLAT : NAMES_SCALPEL;
	if (options->flat)
		return NAMES_FLAT;
	return options->folders == FOLDERS_BY_KIND ? NAMES_BY_KIND : NAMES_BY_TYPE;
}

void session_start_carving(struct session *session, void (*on_wait)(void *context), void *context)
{
	const struct run_options *options = session->options;
	struct carving_options carving = {
		.image = session->scope.image,
		.volumes = session->scope.volumes,
		.rules = options->rules,
		.output_dir = session->output_dir,
		.report = session->report,
		.progress = session->progress,
		.pool = session->pool,
		.remote = options->cluster ? options->cluster->carving : NULL,
		.decide = session->limited.decide,
		.names = names_of(options),
		.style = options->style,
		.dry_run = options->dry_run,
		.confined = session->record.checks_confined,
		.lost = session->lost,
		.hash_mask = options->dry_run && !options->sets ? 0 : options->hash_mask,
		.sets = options->sets,
		.unreadable = &session->scope.unread,
		.on_wait = on_wait,
		.context = context,
		.interrupted = signals_interrupted,
		.ahead = session->ahead,
		.rejections = session->rejections,
		.rejected = &session->summary.rejected,
		.skipped = &session->summary.skipped,
		.by_type = &session->summary.by_type,
		.by_kind = &session->summary.by_kind,
	};

	carving.decide.any_order = options->scalpel;
	carving.decide.searched_len = session->scope.end - session->scope.begin;
	session->carving = carving_new(&carving);
}

/* The default limit of this run's output; 0: none, or another one was given. */
static uint64_t default_limit(const struct session *session)
{
	bool is_default = session->options->decide.max_bytes == OUTPUT_LIMIT_AUTO;

	return is_default ? session->limited.decide.max_bytes : 0;
}

void session_watch_output(struct session *session)
{
	uint64_t limit = default_limit(session);
	struct quota_state quota;
	char size[16];

	if (!limit || session->near_limit_logged)
		return;
	carving_quota(session->carving, &quota);
	if (quota.kept_bytes < limit - limit / 10 && !quota.over_files)
		return;
	session->near_limit_logged = true;
	log_warn("%s: the carved files have nearly reached the output limit of %s (%u times the "
		 "image's size, at least 1 GiB); what exceeds it is only counted; --max-bytes "
		 "sets another limit, and 0 none",
		session->image_path, size_print(limit, size), OUTPUT_LIMIT_FACTOR);
}

/* ---- the end ------------------------------------------------------------------------------- */

void session_fail(struct session *session, int status)
{
	if (status && !session->error.code && !signals_caught())
		error_set(&session->error, EXIT_IO, -status, "%s: %s", session->image_path,
			strerror(-status));
}

/* With their places, for people who look into it. */
static void collect_crashes(struct session *session)
{
	const struct crashed_checks *crashed = carving_crashed(session->carving);
	struct strbuf places = { 0 };

	if (!crashed || !crashed->count)
		return;
	for (uint64_t i = 0; i < crashed->count && i < CRASHES_NAMED; i++)
		strbuf_print(&places, "%s%" PRIu64 " (%s)", i ? ", " : "",
			extent_image_to_evidence(session->scope.image, crashed->first[i].start),
			session->options->rules->rules[crashed->first[i].rule].name);
	problems_add(&session->problems,
		xasprintf("%" PRIu64 " possible %s left out, because %s crashed: at %s%s",
			crashed->count, crashed->count == 1 ? "file is" : "files are",
			crashed->count == 1 ? "its check" : "their checks", places.bytes,
			crashed->count > CRASHES_NAMED ? ", ..." : ""));
	strbuf_free(&places);
}

static void collect_carving_problems(struct session *session)
{
	struct problems *problems = &session->problems;
	const struct carving *carving = session->carving;
	uint64_t limit = default_limit(session);
	struct quota_state quota;
	char over[16], size[16], *lost;

	if (carving_mismatches(carving))
		problems_add(problems,
			xasprintf("%" PRIu64 " file%s the hashes that the report gives: the image "
				  "has changed",
				carving_mismatches(carving),
				carving_mismatches(carving) == 1 ? " does not have"
								 : "s do not have"));
	if (carving_unchecked(carving))
		problems_add(problems,
			xasprintf("%" PRIu64
				  " possible files were not checked, because many before "
				  "them cost too much work; the summary counts them by type",
				carving_unchecked(carving)));
	collect_crashes(session);
	if (session->lost && (lost = lost_processes_sentence(session->lost)))
		problems_add(problems, lost);
	carving_quota(carving, &quota);
	if (limit && quota.over_files)
		problems_add(problems,
			xasprintf("%" PRIu64 " %s (%s) %s not carved, because the output limit of "
				  "%s was reached; to carve all, use --max-bytes 0",
				quota.over_files, quota.over_files == 1 ? "file" : "files",
				size_print(quota.over_bytes, over),
				quota.over_files == 1 ? "was" : "were", size_print(limit, size)));
	if (quota.other || (!limit && quota.over_files))
		problems_add(
			problems, xstrdup("a quota was reached, so some files were not carved; "
					  "the summary counts them under 'quota'"));
}

static void collect_problems(struct session *session, const struct ranges *unreadable)
{
	struct problems *problems = &session->problems;
	const struct image *evidence = session->scope.evidence;
	char *changed;

	if (session->summary.evidence.state == EVIDENCE_MISMATCH)
		problems_add(problems, xstrdup(session->summary.evidence.sentence));
	if (evidence && (changed = image_changed(evidence)))
		problems_add(problems, changed);
	if (evidence && image_info(evidence)->damage)
		problems_add(problems, xstrdup(image_info(evidence)->damage));
	if (unreadable->count) {
		problems_add(problems,
			xasprintf("%" PRIu64 " bytes of the image, in %zu %s, could not be "
				  "read and count as zeros",
				ranges_bytes(unreadable), unreadable->count,
				unreadable->count == 1 ? "place" : "places"));
	} else if (session->carving && carving_sums(session->carving)->unreadable) {
		problems_add(problems, xasprintf("carved files have zeros in place of %" PRIu64
						 " bytes that could not be read",
					       carving_sums(session->carving)->unreadable));
	}
	if (session->carving)
		collect_carving_problems(session);
	if (signals_caught())
		problems_add(problems,
			xasprintf("interrupted by SIG%s after %" PRIu64 " bytes",
				sigabbrev_np(signals_caught()), session->summary.scanned));
	if (session->error.code)
		problems_add(problems, xstrdup(session->error.text));
}

/* Of what was searched and is not zeros, so much looks random that hardly anything else is there. */
static bool looks_random(const struct content_sums *content)
{
	uint64_t random = content->bytes[CONTENT_COMPRESSED];
	uint64_t rest = content->bytes[CONTENT_TEXT] + content->bytes[CONTENT_CODE] +
			content->bytes[CONTENT_OTHER];

	return random && rest <= random / 20;
}

static bool has_file_system(const struct volumes *volumes)
{
	const struct volume *volume;
	size_t count;

	volume = volumes_list(volumes, &count);
	for (size_t i = 0; i < count; i++)
		if (*volume[i].file_system)
			return true;
	return false;
}

/* A run over an image that was not what it seemed to be has no problems either. */
static void collect_cautions(struct session *session)
{
	const struct volumes *volumes = session->scope.volumes;
	const char **caution = session->summary.cautions;

	if (!session->summary.files)
		*caution++ = "no file was found: that the image holds none is not proved by that";
	if (looks_random(&session->summary.content))
		*caution++ =
			"nearly all that is not zeros looks random: the image may be encrypted or "
			"compressed, or a container that burin does not know";
	if (volumes && !volumes_table(volumes) && !has_file_system(volumes))
		*caution++ = "no partition table and no file system was recognised: the image may "
			     "be in a "
			     "format that burin does not know, or a part of a disk";
}

static int exit_code(const struct session *session)
{
	if (session->error.code)
		return session->error.code;
	if (signals_caught())
		return 128 + signals_caught();
	return session->problems.count ? EXIT_PROBLEMS : EXIT_CLEAN;
}

/* A failure to write the events becomes the run's error when it is the first. */
static void check_events(struct session *session)
{
	if (session->options->progress.json && (fflush(stdout) || ferror(stdout)) &&
		!session->error.code)
		error_set(&session->error, EXIT_IO, EPIPE,
			"cannot write the events to standard output: its reader is gone or its "
			"disk is full");
}

static void fill_summary(struct session *session)
{
	struct summary_record *summary = &session->summary;
	const struct ranges *unreadable = scope_unreadable(&session->scope);

	collect_problems(session, unreadable);
	if (session->carving) {
		const struct file_sums *sums = carving_sums(session->carving);

		summary->files = sums->files;
		summary->bytes = sums->bytes;
		summary->known = sums->known;
		summary->alert = sums->alert;
		carving_tally_checks(session->carving, &summary->checks);
		summary->seconds_carve_wait = carving_waited(session->carving);
	}
	summary->sets = session->options->sets != NULL;
	if (!*summary->evidence.sentence)
		snprintf(summary->evidence.sentence, sizeof(summary->evidence.sentence),
			"not hashed");
	summary->unreadable = unreadable;
	damages_collect(&summary->damage, session->scope.evidence, unreadable);
	memcpy(summary->problems, session->problems.sentences, sizeof(summary->problems));
	collect_cautions(session);
	summary->seconds_total = clock_seconds() - session->started;
	summary->finished = time(NULL);
	summary->signal = signals_caught();
	summary->exit = exit_code(session);
}

static void log_result(const struct session *session)
{
	const struct summary_record *summary = &session->summary;
	const char *image_path = session->image_path;
	char size[16];

	for (size_t i = 0; i < session->problems.count; i++)
		if (strcmp(session->problems.sentences[i], session->error.text) != 0)
			log_warn("%s: %s", image_path, session->problems.sentences[i]);
	if (session->error.code)
		log_error("%s", session->error.text);
	if (summary->evidence.state == EVIDENCE_MATCH || summary->evidence.state == EVIDENCE_HASHED)
		log_info("%s: %s", image_path, summary->evidence.sentence);
	if (summary->alert)
		log_warn("%s: %" PRIu64 " %s in a set of wanted hashes (--alert)", image_path,
			summary->alert, summary->alert == 1 ? "file is" : "files are");
	if (session->report)
		log_info("%s: %" PRIu64 " %s, %s%s; %s in %s", image_path, summary->files,
			summary->files == 1 ? "file" : "files", size_print(summary->bytes, size),
			session->options->dry_run ? ", found but not written" : "",
			session->options->dry_run ? "the reports are" : "they and the reports are",
			output_dir_path(session->output_dir));
}

int session_report(struct session *session)
{
	struct error error = { 0 };
	int code;

	session->whole = !session->error.code && !signals_caught();
	check_events(session);
	if (session->carving)
		session_watch_output(session);
	fill_summary(session);
	if (session->report && report_close(session->report, &session->summary, &error)) {
		session->whole = false;
		if (!session->error.code)
			session->error = error;
	}
	code = exit_code(session);
	/* A run that ended before it had anything to show must still send its last event. */
	if (!session->progress)
		session->progress = progress_open(&session->options->progress, 0);
	log_result(session); /* an event, too: the last one is that of progress_close */
	progress_close(session->progress, code);
	return code;
}

void session_sums(const struct session *session, struct run_sums *sums)
{
	const struct summary_record *summary = &session->summary;
	const struct image *image = session->scope.image;

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
		.image_size = image ? image_info(image)->size : 0,
		.evidence = summary->evidence.state,
	};
	problems_join(&session->problems, sums->problem, sizeof(sums->problem));
}

void session_stop_carving(struct session *session)
{
	carving_free(session->carving);
	session->carving = NULL;
}

void session_close(struct session *session)
{
	struct summary_record *summary = &session->summary;

	session_stop_carving(session);
	if (session->pool != session->options->pool)
		pool_free(session->pool);
	lost_processes_free(session->lost);
	rejections_free(session->rejections);
	ahead_free(session->ahead);
	output_dir_close(session->output_dir);
	scope_close(&session->scope);
	damages_free(&summary->damage);
	tallies_free(&summary->by_type);
	tallies_free(&summary->by_kind);
	tallies_free(&summary->rejected);
	tallies_free(&summary->skipped);
	tallies_free(&summary->checks);
	free(summary->resumed);
	free(summary->ranks);
	free((char *)session->record.command_line);
	problems_free(&session->problems);
}
