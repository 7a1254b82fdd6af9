#include "assemble/confined.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/device_server.h"
#include "assemble/pass_work.h"
#include "assemble/searches_served.h"
#include "assemble/strategies.h"
#include "base/clock.h"
#include "carve/check_limits.h"
#include "carve/checker_process.h"
#include "evidence/extent_image.h"

/* How often it is looked at, and how long it may go on when it is to stop. */
#define MEASURE_SECONDS 0.1
#define STOP_SECONDS 0.5

struct confined {
	struct assembler *assembler;
	const struct assemble_options *options;
	struct checker_process process;
	struct device_server *device;     /* NULL: there is none */
	struct searches_served *searches; /* NULL: the same */
	double most;                      /* units of work that honest passes do */
	double measured, stopping_since;
	bool stopping, done;
	struct codec_writer own; /* of the pass under way, for the other processes */
	bool were_left;          /* by them */
	bool alone;              /* threads make no trials for each other */
	unsigned threads;
	const struct check_trial *culprit; /* that crashed the process; NULL: that is not known */
};

static double most_work(const struct assemble_options *options)
{
	uint64_t size = image_info(extent_image_evidence(options->image))->size;
	double share = 100, budget = options->budget < 100 ? 1 : (double)options->budget / 100;

	for (const struct strategy *strategy = strategies; strategy->name; strategy++)
		share += strategy->share;
	return (double)pass_work_most(size) * share / 100 * budget;
}

/* The seconds of processor time for the work that it claims to have done. */
static double time_allowed(const struct confined *confined)
{
	double claimed = (double)atomic_load(&confined->process.shared->work);

	return (claimed < confined->most ? claimed : confined->most) / check_limits.work_a_second;
}

static bool give_task(struct confined *confined)
{
	const struct assemble_others *others = confined->options->others;
	struct codec_writer task = { 0 }, *writer = &confined->process.writer;
	bool works;

	assembler_save_task(confined->assembler, &task);
	works = channel_send_parts(&confined->process.channel, CHECK_TASK, &task);
	free(task.bytes);
	codec_put(writer, confined->alone);
	codec_put(writer, confined->device != NULL);
	codec_put(writer, others ? others->part : 0);
	codec_put(writer, others ? others->parts : 0);
	return (works && channel_send(&confined->process.channel, CHECK_ASSEMBLE, writer)) ||
	       checker_fail(&confined->process, "broke the protocol");
}

static bool give_bytes(struct confined *confined, struct codec_reader *body)
{
	bool cut = false;
	bool works = checker_give_bytes(&confined->process, confined->options->image, body, &cut);

	confined->stopping |= cut;
	return works;
}

static bool give_record(struct confined *confined, struct codec_reader *body)
{
	struct codec_writer *writer = &confined->process.writer;
	uint64_t start = codec_get(body, UINT64_MAX);
	struct recorded recorded;
	bool known;

	if (!codec_at_end(body))
		return checker_fail(&confined->process, "broke the protocol");
	known = recorded_find(confined->options->volumes, start, &recorded);
	codec_put(writer, 0);
	codec_put(writer, known);
	codec_put(writer, recorded.is_guessed);
	codec_put(writer, recorded.is_reallocated);
	runs_save(recorded.runs, recorded.count, writer);
	free(recorded.runs);
	return channel_send(&confined->process.channel, CHECK_ANSWER, writer) ||
	       checker_fail(&confined->process, "broke the protocol");
}

static bool ask_device(struct confined *confined, uint32_t kind, struct codec_reader *body)
{
	struct codec_writer *writer = &confined->process.writer;

	if (!confined->device || !device_server_answer(confined->device, kind, body, writer) ||
		!channel_send(&confined->process.channel, CHECK_ANSWER, writer))
		return checker_fail(&confined->process, "broke the protocol");
	return true;
}

/* Asks the other processes, once it has given all that its part of a pass came to. */
static bool exchange(struct confined *confined, struct codec_reader *body)
{
	const struct assemble_others *others = confined->options->others;
	int taken = others ? channel_take_part(body, CHECK_PART_MAX, &confined->own) : -EPROTO;
	struct codec_writer theirs = { 0 };

	if (taken < 0)
		return checker_fail(&confined->process, "broke the protocol");
	if (!taken)
		return true;
	confined->were_left = !others->exchange(others->context, &confined->own, &theirs) ||
			      !channel_send_parts(&confined->process.channel, CHECK_PART, &theirs);
	free(theirs.bytes);
	free(confined->own.bytes);
	confined->own = (struct codec_writer){ 0 };
	confined->measured = clock_seconds();
	confined->process.sleeps = 0;
	return !confined->were_left;
}

static bool take_files(struct confined *confined, struct codec_reader *body)
{
	assembler_take_files(confined->assembler, checker_keep_extension, body);
	return codec_at_end(body) ||
	       checker_fail(&confined->process, "gave a file that cannot be one");
}

static bool take_pass(struct confined *confined, struct codec_reader *body)
{
	assembler_take_pass(confined->assembler, body);
	confined->done = !assembler_has_pass(confined->assembler);
	return codec_at_end(body) || checker_fail(&confined->process, "broke the protocol");
}

/* False: it failed, and how. */
static bool take_message(struct confined *confined, uint32_t kind, struct codec_reader *body)
{
	switch (kind) {
	case CHECK_READ:
		return give_bytes(confined, body);
	case CHECK_RECORD:
		return give_record(confined, body);
	case CHECK_KEEP:
		return ask_device(confined, kind, body);
	case CHECK_PART:
		return exchange(confined, body);
	case CHECK_FOUND:
		return take_files(confined, body);
	case CHECK_PASSED:
		return take_pass(confined, body);
	case CHECK_NO_MEMORY:
		return checker_fail(&confined->process, "used too much memory");
	default:
		return checker_fail(&confined->process, "broke the protocol");
	}
}

/* The first of the files that crashed, in the order in which one thread would try them, once none before it is
 * under way. NULL: there is none yet. */
static const struct check_trial *find_culprit(const struct confined *confined)
{
	const struct check_trial *first = NULL;
	uint64_t first_number = UINT64_MAX;

	for (unsigned i = 0; i < confined->threads; i++) {
		const struct check_trial *trial = &confined->process.shared->trials[i];
		uint64_t number = atomic_load(&trial->number);

		if (!number || number >= first_number)
			continue;
		first_number = number;
		first = trial;
	}
	return first && atomic_load(&first->crashed) ? first : NULL;
}

/* As checker_process words it. The signal may be anything, as the process is not trusted. */
static void word_crash(const struct check_trial *trial, char how[CONFINED_HOW_LEN])
{
	uint64_t number = atomic_load(&trial->crashed);
	const char *name = number < NSIG ? sigabbrev_np((int)number) : NULL;

	snprintf(how, CONFINED_HOW_LEN, "crashed (SIG%s)", name ? name : "?");
}

/* Between messages. False: it is to be ended. */
static bool watch(struct confined *confined)
{
	const struct assemble_options *options = confined->options;
	double now = clock_seconds();
	char how[CONFINED_HOW_LEN];

	if (!confined->stopping_since &&
		(confined->stopping || (options->interrupted && options->interrupted()))) {
		confined->stopping = true;
		confined->stopping_since = now;
		atomic_store(&confined->process.shared->stop, CHECK_ASSEMBLING);
	}
	if (confined->stopping && now - confined->stopping_since > STOP_SECONDS)
		return false;
	if (confined->alone && (confined->culprit = find_culprit(confined))) {
		word_crash(confined->culprit, how);
		return checker_fail(&confined->process, how);
	}
	if (confined->searches && searches_served_failed(confined->searches))
		return checker_fail(&confined->process, "broke the protocol");
	if (now - confined->measured < MEASURE_SECONDS)
		return true;
	/* It may sleep while it waits for the device. */
	if (confined->searches && searches_served_are_answered(confined->searches))
		confined->process.sleeps = 0;
	confined->measured = now;
	return checker_measure(&confined->process, time_allowed(confined));
}

/* 0: all passes were made; 1: the process failed; or a negative errno. */
static int serve(struct confined *confined, struct error *error)
{
	const struct assemble_options *options = confined->options;
	bool works = give_task(confined);
	bool was_short = false;

	checker_begin(&confined->process);
	while (works && !confined->done) {
		struct codec_reader body;
		uint32_t kind;
		int got = channel_receive(&confined->process.channel, &kind, &body);

		was_short = got > 0 && kind == CHECK_NO_MEMORY && checker_memory_is_short();
		if (got > 0)
			works = take_message(confined, kind, &body);
		works = works && got >= 0 && watch(confined);
	}
	if (was_short)
		return assemble_memory_error(error);
	if (confined->stopping || (options->interrupted && options->interrupted()))
		return -EINTR;
	return works ? 0 : 1;
}

static int attempt(struct confined *confined, struct error *error)
{
	const struct assemble_options *options = confined->options;
	struct check_workers *given =
		check_workers_new(options->image, options->rules, true, confined->threads, NULL, 0);
	int status;

	given->has_searches = confined->device;
	status = checker_start(&confined->process, given, error);
	confined->culprit = NULL;
	confined->were_left = false;
	if (!status) {
		struct check_shared *shared = confined->process.shared;

		memset(shared->trials, 0, sizeof(shared->trials));
		atomic_store(&shared->stop, 0);
		atomic_store(&shared->work, 0);
		confined->most = most_work(options);
		confined->measured = clock_seconds();
		if (confined->device)
			confined->searches = searches_served_new(confined->device,
				confined->process.searches, confined->process.search_count);
		status = serve(confined, error);
		if (confined->searches)
			searches_served_free(confined->searches);
		confined->searches = NULL;
		checker_end(&confined->process);
	}
	check_workers_free(given);
	assembler_drop_files(confined->assembler);
	if (status > 0 && !confined->were_left)
		assembler_forget_passes(confined->assembler);
	free(confined->own.bytes);
	confined->own = (struct codec_writer){ 0 };
	return status;
}

static void place_of_trial(
	const struct confined *confined, const struct check_trial *trial, struct lost_place *place)
{
	uint64_t rule = atomic_load(&trial->rule);

	place->known = atomic_load(&trial->number) && rule < confined->options->rules->count;
	place->rule = (uint32_t)rule;
	place->start = atomic_load(&trial->start);
}

/* The file that crashed it, or else that which the only thread was trying when it ended. False: there is none, or there
 * were too many. */
static bool leave_out(struct confined *confined)
{
	const struct check_trial *trial =
		confined->culprit ? confined->culprit : confined->process.shared->trials;
	struct lost_place place;

	place_of_trial(confined, trial, &place);
	if (!place.known || !assembler_leave_out(confined->assembler, place.start, place.rule))
		return false;
	lost_processes_explain(confined->options->lost, LOST_ASSEMBLING, NULL);
	return true;
}

/* The only thread's file, or else one that crashed a thread just so; the process may be wrong, as it is not trusted. */
static const struct check_trial *likely_culprit(const struct confined *confined)
{
	const struct check_trial *trials = confined->process.shared->trials;
	char how[CONFINED_HOW_LEN];

	if (confined->culprit || confined->threads == 1)
		return confined->culprit ? confined->culprit : trials;
	for (unsigned i = 0; i < confined->threads; i++) {
		word_crash(&trials[i], how);
		if (!strcmp(how, confined->process.how))
			return &trials[i];
	}
	return NULL;
}

static void tell_loss(const struct confined *confined)
{
	const struct check_trial *trial = likely_culprit(confined);
	struct lost_place place = { 0 };

	if (trial)
		place_of_trial(confined, trial, &place);
	lost_processes_note(
		confined->options->lost, LOST_ASSEMBLING, &place, confined->process.how);
}

/* Where a process failed, the next shows more of what made it fail: it stays with one file a thread, and at last with one
 * thread. False: there are no results. */
static bool try_again(struct confined *confined, unsigned threads)
{
	if (!confined->culprit && confined->threads > 1) {
		confined->threads = confined->alone ? 1 : threads;
		confined->alone = true;
		return true;
	}
	if (!leave_out(confined))
		return false;
	confined->threads = threads;
	return true;
}

/* As many as the pool has; beside a device more, as about a third of them wait for it. */
static unsigned thread_count(const struct confined *confined)
{
	unsigned threads = pool_threads(confined->options->pool);

	if (confined->device && threads > 1)
		threads += threads / 2;
	return threads < CHECK_TRIALS_MAX ? threads : CHECK_TRIALS_MAX;
}

int confined_passes_make(
	struct assembler *assembler, char how[CONFINED_HOW_LEN], struct error *error)
{
	const struct assemble_options *options = assembler_options(assembler);
	struct confined confined = { .assembler = assembler, .options = options };
	unsigned threads;
	int status = 0;

	assembler_end_scan(assembler);
	*how = 0;
	if (!assembler_has_pass(assembler))
		return 0;
	confined.device = device_server_new(options);
	confined.threads = threads = thread_count(&confined);
	confined.alone = threads == 1;
	/* Not one pass is left when the only broken file was left out. */
	while (assembler_has_pass(assembler) && (status = attempt(&confined, error)) > 0) {
		if (!confined.were_left)
			tell_loss(&confined);
		if (options->others && options->others->part) {
			options->others->give_up(options->others->context);
			status = -ENOLINK;
			break;
		}
		if (options->others) {
			assembler_set_others(assembler, NULL);
			continue;
		}
		if (!try_again(&confined, threads)) {
			snprintf(how, CONFINED_HOW_LEN, "%s", confined.process.how);
			lost_processes_explain(options->lost, LOST_ASSEMBLING, NULL);
			status = 0;
			break;
		}
		status = 0;
	}
	checker_free(&confined.process);
	device_server_free(confined.device);
	return status;
}

int passes_make(
	struct assembler *assembler, bool confined, char how[CONFINED_HOW_LEN], struct error *error)
{
	bool (*interrupted)(void) = assembler_options(assembler)->interrupted;
	int status = 0;

	if (confined)
		return confined_passes_make(assembler, how, error);
	*how = 0;
	while (!status && assembler_has_pass(assembler))
		status = interrupted && interrupted() ? -EINTR : assembler_pass(assembler, error);
	return status;
}
