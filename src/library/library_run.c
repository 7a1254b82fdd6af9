/*
 * A run is the command line that would do the same: its words go through the options' own table, and
 * into the report, so `burin carve --resume` continues what a program has cancelled. burin itself
 * brings a command line that it has parsed; what follows is the same.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "library/library.h"
#include "library/program_run.h"
#include "run/cluster.h"
#include "run/inputs.h"
#include "run/run.h"

/* Words before the options: who ran it, and the command. */
#define FIRST 2

struct burin_run {
	char **words; /* "libburin", "carve", the options, and room for the output, the image and a NULL */
	size_t count;
	const struct carve_options *parsed; /* burin's own; NULL: the words are to be parsed */
	char **command_line;                /* burin's own */
	bool loaded;                        /* the next three hold what the words name */
	struct carve_options settings;
	struct run_inputs inputs;
	struct run_options options;
	struct progress_listener listener;
	void (*file)(void *context, struct burin_file *file);
	void (*progress)(void *context, uint64_t done, uint64_t total, uint64_t files);
	void (*message)(void *context, enum burin_level level, const char *text);
	void *file_context, *progress_context, *message_context;
	atomic_bool cancelled;
	struct burin_file found; /* that is handed out */
	struct burin_error last; /* message that was an error */
};

/* Messages and signals are the process's. */
static pthread_mutex_t one_run = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct burin_run *) under_way;
/* getopt_long, with which options are parsed, has state of its own. */
static pthread_mutex_t parsing = PTHREAD_MUTEX_INITIALIZER;

/* ---- what is heard ------------------------------------------------------------------------- */

void burin_run_on_file(
	struct burin_run *run, void (*file)(void *context, struct burin_file *file), void *context)
{
	run->file = file;
	run->file_context = context;
}

void burin_run_on_progress(struct burin_run *run,
	void (*progress)(void *context, uint64_t done, uint64_t total, uint64_t files),
	void *context)
{
	run->progress = progress;
	run->progress_context = context;
}

void burin_run_on_message(struct burin_run *run,
	void (*message)(void *context, enum burin_level level, const char *text), void *context)
{
	run->message = message;
	run->message_context = context;
}

static void hear_file(void *context, const struct file_record *record)
{
	struct burin_run *run = context;

	if (!run->file)
		return;
	library_file_set(&run->found, record);
	run->file(run->file_context, &run->found);
}

static void hear_progress(void *context, uint64_t done, uint64_t total, uint64_t files)
{
	struct burin_run *run = context;

	if (run->progress)
		run->progress(run->progress_context, done, total, files);
}

static void hear_message(enum log_level level, const char *text)
{
	struct burin_run *run = under_way;

	if (level == LOG_ERROR)
		snprintf(run->last.text, sizeof(run->last.text), "%s", text);
	if (run->message)
		run->message(run->message_context, (enum burin_level)level, text);
}

/* ---- options ------------------------------------------------------------------------------- */

static int check_name(const char *name, struct error *error)
{
	struct suggestion near = { .word = name };

	for (const struct option_row *row = carve_option_rows; row->name; row++) {
		if (row->hidden || row->command_only)
			continue;
		if (strcmp(row->name, name) == 0)
			return 0;
		suggestion_offer(&near, row->name);
	}
	return error_set(error, EXIT_USAGE, EINVAL, "libburin has no option '%.200s'%s%s%s", name,
		near.best ? "; did you mean '" : "", near.best ? near.best : "",
		near.best ? "'?" : "");
}

/* Fills settings from the run's words; options_release must follow. */
static int parse(const struct burin_run *run, struct carve_options *settings, struct error *error)
{
	int count = (int)run->count - FIRST + 1, index = optind, loud = opterr, status;
	char **words = xcalloc((size_t)count + 1, sizeof(*words));

	memcpy(words, run->words + FIRST - 1, (size_t)count * sizeof(*words));
	pthread_mutex_lock(&parsing);
	status = options_parse(carve_option_rows, "libburin", count, words, settings, error);
	optind = index;
	opterr = loud;
	pthread_mutex_unlock(&parsing);
	free(words);
	return status < 0 ? status : carve_options_complete(settings, error);
}

/* ---- what they name ------------------------------------------------------------------------ */

static void unload(struct burin_run *run)
{
	if (!run->loaded)
		return;
	run_inputs_close(&run->inputs);
	if (!run->parsed)
		options_release(carve_option_rows, &run->settings);
	run->loaded = false;
}

/* Does nothing where an earlier run of the same options did. */
static int load(struct burin_run *run, struct error *error)
{
	int status = 0;

	if (run->loaded)
		return 0;
	run->settings = run->parsed ? *run->parsed : (struct carve_options){ 0 };
	run->inputs = (struct run_inputs){ 0 };
	run->loaded = true; /* for unload */
	if (!run->parsed)
		status = parse(run, &run->settings, error);
	if (!status)
		status = run_inputs_open(&run->inputs, &run->settings, &run->options, error);
	if (status) {
		unload(run);
		return status;
	}
	run->options.arguments = run->parsed ? run->command_line : run->words;
	if (!run->parsed) {
		run->options.progress.quiet = true;
		run->options.progress.style = PROGRESS_LINES;
		run->options.progress.listener = &run->listener;
	}
	return 0;
}

/* ---- a run --------------------------------------------------------------------------------- */

struct burin_run *library_run_of_program(const struct carve_options *settings, char **command_line)
{
	struct burin_run *run = xcalloc(1, sizeof(*run));

	run->parsed = settings;
	run->command_line = command_line;
	return run;
}

const struct run_options *library_run_options(struct burin_run *run, struct error *error)
{
	return load(run, error) ? NULL : &run->options;
}

struct burin_run *burin_run_new(void)
{
	struct burin_run *run;

	library_begin();
	run = xcalloc(1, sizeof(*run));
	run->words = xcalloc(FIRST + 4, sizeof(*run->words));
	run->words[0] = xstrdup("libburin");
	run->words[1] = xstrdup("carve");
	run->count = FIRST;
	run->listener = (struct progress_listener){ hear_progress, hear_file, run };
	return run;
}

int burin_run_set(
	struct burin_run *run, const char *option, const char *value, struct burin_error *burin)
{
	struct carve_options settings = { 0 };
	struct error error = { 0 };
	char **word = &run->words[run->count];
	int status = check_name(option, &error);

	if (!status) {
		*word = xasprintf("--%s%s%s", option, value ? "=" : "", value ? value : "");
		run->count++;
		status = parse(run, &settings, &error);
		options_release(carve_option_rows, &settings);
		if (status) {
			run->count--;
			free(*word);
		} else {
			run->words = xreallocarray(run->words, run->count + 4, sizeof(*run->words));
			unload(run);
		}
	}
	return status ? library_error(burin, &error) : BURIN_CLEAN;
}

/* ---- running ------------------------------------------------------------------------------- */

/* Confinement is the process's, so other runs may have changed it; burin has confined itself. In a cluster, the first
 * process coordinates. */
static int carve(struct burin_run *run, const char *image, const char *output, struct error *error)
{
	struct run_options options;

	if (load(run, error) || (!run->parsed && run_inputs_confine(&run->settings, error)))
		return error->code;
	options = run->options;
	options.cluster = the_cluster;
	if (the_cluster && the_cluster->rank)
		return the_cluster->work(&options, image, output);
	return run_carve(&options, image, output, NULL);
}

/* Completes the command line for this image; words_end takes that back. */
static void words_begin(struct burin_run *run, const char *image, const char *output)
{
	run->words[run->count] = xasprintf("--output=%s", output);
	run->words[run->count + 1] = xstrdup("--");
	run->words[run->count + 2] = xstrdup(image);
	run->words[run->count + 3] = NULL;
}

static void words_end(struct burin_run *run)
{
	for (size_t i = 0; i < 3; i++) {
		free(run->words[run->count + i]);
		run->words[run->count + i] = NULL;
	}
}

/* burin has said where messages go, and signals may have been caught. */
static int carve_heard(
	struct burin_run *run, const char *image, const char *output, struct error *error)
{
	int code;

	signals_set(0);
	if (run->cancelled)
		signals_set(SIGINT);
	library_hear(hear_message);
	words_begin(run, image, output);
	code = carve(run, image, output, error);
	words_end(run);
	library_hear(NULL);
	library_file_clear(&run->found);
	return code;
}

int burin_run_carve(
	struct burin_run *run, const char *image, const char *output, struct burin_error *burin)
{
	struct error error = { 0 };
	int code;

	if (pthread_mutex_trylock(&one_run)) {
		error_set(&error, EXIT_USAGE, EBUSY, "another run is under way in this process");
		return library_error(burin, &error);
	}
	run->last = (struct burin_error){ 0 };
	under_way = run;
	code = run->parsed ? carve(run, image, output, &error)
			   : carve_heard(run, image, output, &error);
	under_way = NULL;
	run->cancelled = false;
	if (error.code)
		library_error(&run->last, &error);
	run->last.code = code;
	if (burin)
		*burin = run->last;
	pthread_mutex_unlock(&one_run);
	return code;
}

void burin_run_cancel(struct burin_run *run)
{
	run->cancelled = true;
	if (under_way == run)
		signals_set(SIGINT);
}

void burin_run_free(struct burin_run *run)
{
	if (!run)
		return;
	unload(run);
	for (size_t i = 0; i < run->count; i++)
		free(run->words[i]);
	free(run->words);
	free(run);
}
