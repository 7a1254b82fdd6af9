#include "report/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/size.h"
#include "report/jsonl.h"

#define TERMINAL_SECONDS 0.5
#define LINES_SECONDS 30.0
#define LINE_LEN 256

struct progress {
	pthread_mutex_t lock;
	enum progress_style style; /* never PROGRESS_AUTO */
	bool quiet, json;
	struct progress_listener listener;
	const char *label;
	double started; /* clock_seconds */
	uint64_t total, done, files;
	double before;          /* seconds of the earlier run that is resumed */
	double shown, reported; /* seconds since the start: of the last line, of the last event */
	char line[LINE_LEN];    /* on the terminal now, "" for none */
	struct strbuf event;    /* empty, but for its memory */
};

/* Whose line is on the terminal: log.h's hooks have no argument. */
static struct progress *on_terminal;

static double seconds_since_start(const struct progress *progress)
{
	return progress->before + clock_seconds() - progress->started;
}

/* ---- the line ------------------------------------------------------------------------------ */

static void format_left(uint64_t done, uint64_t total, double seconds, char *buffer, size_t len)
{
	double left = done ? (double)(total - done) * seconds / (double)done : 0;
	uint64_t whole;

	if (!done || seconds < 1 || left > 1e9) {
		snprintf(buffer, len, "-:--");
		return;
	}
	whole = (uint64_t)(left + 0.5);
	if (whole >= 3600)
		snprintf(buffer, len, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, whole / 3600,
			whole / 60 % 60, whole % 60);
	else
		snprintf(buffer, len, "%" PRIu64 ":%02" PRIu64, whole / 60, whole % 60);
}

char *progress_format(uint64_t done, uint64_t total, uint64_t files, double seconds, unsigned width,
	char *buffer, size_t len)
{
	char done_text[16], total_text[16], speed[16], left[32];
	unsigned percent;

	if (done > total)
		done = total;
	percent = total ? (unsigned)((double)done / (double)total * 100) : 100;
	if (percent == 100 && done < total)
		percent = 99;
	format_left(done, total, seconds, left, sizeof(left));
	snprintf(buffer, len, "%s of %s (%u%%), %s/s, %s left, %" PRIu64 " file%s",
		size_print(done, done_text), size_print(total, total_text), percent,
		size_print(seconds > 0 ? (uint64_t)((double)done / seconds) : 0, speed), left,
		files, files == 1 ? "" : "s");
	if (width && strlen(buffer) > width - 1)
		buffer[width - 1] = '\0';
	return buffer;
}

static unsigned terminal_width(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* With the lock held. */
static void clear_line(struct progress *progress)
{
	if (*progress->line)
		fprintf(stderr, "\r%*s\r", (int)strlen(progress->line), "");
}

static void before_message(void)
{
	if (!on_terminal)
		return;
	pthread_mutex_lock(&on_terminal->lock);
	clear_line(on_terminal);
}

static void after_message(void)
{
	if (!on_terminal)
		return;
	fputs(on_terminal->line, stderr);
	pthread_mutex_unlock(&on_terminal->lock);
}

/* With the lock held. */
static void print_line(struct progress *progress, double now)
{
	double pause = progress->style == PROGRESS_TERMINAL ? TERMINAL_SECONDS : LINES_SECONDS;
	char line[LINE_LEN];

	if (progress->quiet || now - progress->shown < pause)
		return;
	progress->shown = now;
	if (progress->style == PROGRESS_LINES) {
		fprintf(stderr, "burin: %s%s%s\n", progress->label ? progress->label : "",
			progress->label ? ": " : "",
			progress_format(progress->done, progress->total, progress->files, now, 0,
				line, sizeof(line)));
		return;
	}
	progress_format(progress->done, progress->total, progress->files, now, terminal_width(),
		line, sizeof(line));
	fprintf(stderr, "\r%-*s", (int)strlen(progress->line), line);
	/* The cursor must end up after the text: whatever comes next overwrites the line. */
	if (strlen(progress->line) > strlen(line))
		fprintf(stderr, "\r%s", line);
	memcpy(progress->line, line, sizeof(line));
}

/* ---- events -------------------------------------------------------------------------------- */

static json_t *event(const struct progress *progress, const char *name)
{
	json_t *object = jsonl_object();

	jsonl_put(object, "event", json_string(name));
	if (progress->label)
		jsonl_put(object, "image", json_text(progress->label));
	return object;
}

/* Who reads them waits for them: they leave at once. Frees the event. */
static void write_event(json_t *object)
{
	jsonl_write(stdout, object);
	fflush(stdout);
}

/* With the lock held. */
static void write_progress(struct progress *progress, double now)
{
	json_t *object;

	if (progress->listener.update)
		progress->listener.update(progress->listener.context, progress->done,
			progress->total, progress->files);
	progress->reported = now;
	if (!progress->json)
		return;
	object = event(progress, "progress");

	jsonl_put(object, "done", jsonl_number(progress->done));
	jsonl_put(object, "total", jsonl_number(progress->total));
	jsonl_put(object, "files", jsonl_number(progress->files));
	jsonl_put(object, "seconds", json_real(now));
	write_event(object);
}

static void write_message(enum log_level level, const char *text)
{
	json_t *object = jsonl_object();

	jsonl_put(object, "event", json_string(level == LOG_ERROR ? "error" : "warning"));
	jsonl_put(object, "text", json_text(text));
	write_event(object);
}

void progress_log_events(void)
{
	log_listen(write_message);
}

void progress_start(struct progress *progress, const struct run_record *run)
{
	json_t *object;

	if (!progress->json)
		return;
	object = jsonl_object();
	jsonl_put(object, "event", json_string("start"));
	jsonl_put(object, "image", json_text(run->image_path));
	jsonl_put(object, "output", json_text(run->output_dir));
	jsonl_put(object, "total", jsonl_number(progress->total));
	write_event(object);
}

/* ---- the interface ------------------------------------------------------------------------- */

static enum progress_style style_here(enum progress_style style)
{
	const char *terminal = getenv("TERM");

	if (style != PROGRESS_AUTO)
		return style;
	return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0
		       ? PROGRESS_TERMINAL
		       : PROGRESS_LINES;
}

struct progress *progress_open(const struct progress_options *options, uint64_t total)
{
	struct progress *progress = xcalloc(1, sizeof(*progress));

	pthread_mutex_init(&progress->lock, NULL);
	progress->style = style_here(options->style);
	progress->quiet = options->quiet;
	progress->json = options->json;
	if (options->listener)
		progress->listener = *options->listener;
	progress->label = options->label;
	progress->total = total;
	progress->started = clock_seconds();
	if (progress->style == PROGRESS_TERMINAL && !progress->quiet) {
		on_terminal = progress;
		log_set_hooks(before_message, after_message);
	}
	return progress;
}

/* Whatever is due. With the lock held. */
static void report_due(struct progress *progress)
{
	double now = seconds_since_start(progress);

	print_line(progress, now);
	if (now - progress->reported >= TERMINAL_SECONDS)
		write_progress(progress, now);
}

void progress_resume(struct progress *progress, uint64_t files, double seconds)
{
	pthread_mutex_lock(&progress->lock);
	progress->files += files;
	progress->before += seconds;
	pthread_mutex_unlock(&progress->lock);
}

void progress_update(struct progress *progress, uint64_t done)
{
	pthread_mutex_lock(&progress->lock);
	progress->done = done;
	report_due(progress);
	pthread_mutex_unlock(&progress->lock);
}

void progress_file(struct progress *progress, const struct file_record *file)
{
	pthread_mutex_lock(&progress->lock);
	progress->files++;
	if (progress->json) {
		jsonl_line_file(&progress->event, "event", progress->label, file);
		strbuf_write(&progress->event, stdout);
	}
	if (progress->listener.file)
		progress->listener.file(progress->listener.context, file);
	report_due(progress);
	pthread_mutex_unlock(&progress->lock);
}

void progress_files(struct progress *progress, uint64_t count)
{
	pthread_mutex_lock(&progress->lock);
	progress->files += count;
	report_due(progress);
	pthread_mutex_unlock(&progress->lock);
}

bool progress_wants_files(const struct progress *progress)
{
	return progress->json || progress->listener.file;
}

void progress_close(struct progress *progress, int exit_code)
{
	json_t *object;

	if (!progress)
		return;
	if (on_terminal == progress) {
		log_set_hooks(NULL, NULL); /* returns when no message is being written */
		on_terminal = NULL;
		clear_line(progress);
	}
	write_progress(progress, seconds_since_start(progress));
	if (progress->json) {
		object = event(progress, "done");
		jsonl_put(object, "exit", json_integer(exit_code));
		write_event(object);
	}
	pthread_mutex_destroy(&progress->lock);
	strbuf_free(&progress->event);
	free(progress);
}

/* ---- parts of a whole ---------------------------------------------------------------------- */

static void count_part(void *context, uint64_t done, uint64_t total, uint64_t files)
{
	struct progress_part *part = context;
	struct progress *whole = part->whole;
	uint64_t reached = done < total
				   ? (uint64_t)((double)part->weight * (double)done / (double)total)
				   : part->weight;

	(void)files;
	if (reached <= part->counted)
		return;
	pthread_mutex_lock(&whole->lock);
	whole->done += reached - part->counted;
	report_due(whole);
	pthread_mutex_unlock(&whole->lock);
	part->counted = reached;
}

static void count_file_of_part(void *context, const struct file_record *file)
{
	const struct progress_part *part = context;

	progress_file(part->whole, file);
}

void progress_part_begin(struct progress_part *part, struct progress *whole, uint64_t weight)
{
	*part = (struct progress_part){ whole, weight, 0,
		{ count_part, count_file_of_part, part } };
}

void progress_part_end(struct progress_part *part)
{
	count_part(part, 0, 0, 0);
}
