#include "run/run_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

static int open_engine(struct run *run)
{
	struct scan_options options = {
		.pool = run->pool,
		.kernel = run->kernel,
		.gpu = &run->options->gpu,
	};

	reader_ring(
		run->reader, &options.ring, &options.ring_len, &options.chunk_len, &options.chunks);
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
	run->kernel = NULL; /* the one that was asked for is no concern of this engine */
	run->error = (struct error){ 0 };
	return 0;
}

int run_pick_engine(struct run *run)
{
	run->engine = scan_engine_pick(
		run->options->engine, run->engine_reason, sizeof(run->engine_reason), &run->error);
	run->kernel = run->options->kernel;
	return run->engine ? 0 : -EINVAL;
}

int run_start_engine(struct run *run)
{
	int status;

	while ((status = open_engine(run)))
		if (run->error.code == EXIT_USAGE || fall_back(run, run->error.text)) {
			run->unsuited = status == -EINVAL;
			return status;
		}
	return 0;
}

struct flight *run_flight(struct run *run, uint64_t number)
{
	return &run->flights[number % run->flight_count];
}

int run_submit(struct run *run, struct flight *flight)
{
	flight->finished = false;
	flight->chunk.status = 0;
	return run->engine->submit(run->scan, &flight->chunk);
}

/* Waits until some chunk is finished. */
static int reap(struct run *run)
{
	struct chunk *chunk;
	int status = run->engine->reap(run->scan, &chunk);

	if (!status)
		((struct flight *)chunk)->finished = true;
	return status;
}

int run_submit_again(struct run *run, struct flight *flight)
{
	int status;

	while ((status = run_submit(run, flight)) == -EAGAIN) {
		status = reap(run);
		if (status)
			return status;
	}
	return status;
}

int run_await(struct run *run, struct flight *flight)
{
	double from = clock_seconds();
	int status = 0;

	while (!flight->finished && !status)
		status = reap(run);
	run->scan_wait += clock_seconds() - from;
	return status;
}

int run_replace_engine(struct run *run, int status)
{
	const char *broken = run->engine->name;
	char why[sizeof(run->error.text)];

	for (uint64_t n = run->consumed; n < run->submitted; n++)
		run_await(run, run_flight(run, n));
	run->refused = false;
	run->engine->close(run->scan);
	run->scan = NULL;
	snprintf(why, sizeof(why), "broke down at byte %" PRIu64 " (%s)",
		run_flight(run, run->consumed)->chunk.offset, strerror(-status));
	run_add_problem(run, xasprintf("the engine %s %s", broken, why));
	do {
		if (fall_back(run, why))
			return error_set(&run->error, EXIT_NO_ENGINE, -status, "the engine %s %s",
				run->engine->name, why);
		status = open_engine(run);
		snprintf(why, sizeof(why), "%s", run->error.text);
	} while (status);
	for (uint64_t n = run->consumed; n < run->submitted; n++) {
		status = run_submit_again(run, run_flight(run, n));
		if (status)
			return status;
	}
	return 0;
}

void run_stop_engine(struct run *run)
{
	struct chunk *chunk;

	if (!run->scan)
		return;
	while (run->engine->reap(run->scan, &chunk) == 0)
		;
	run->engine->close(run->scan);
}
