/* Times of kernels, engines and transfers on the current data, and whether their hits are right. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"
#include "bench/papers/papers_state.h"
#include "bench/bench_search.h"

#define CHUNK_LEN ((size_t)32 << 20)
#define ENGINE_SECONDS 0.5 /* a CPU engine that has taken this long gets no further round */
#define TRANSFER_ROUNDS 3  /* of the whole way at most: a round moves three times the text */

/* ---- engines ------------------------------------------------------------------------------- */

struct run {
	struct bench_search *search;
	struct bench_text text;
	struct pool *pool;
};

static int run_open(struct run *run, struct papers *papers, const struct scan_engine *engine,
	unsigned threads, size_t len, struct error *error)
{
	struct bench_search_options options = { 0 };
	int status;

	run->text = (struct bench_text){ papers->text.bytes, len ? len : papers->text.len };
	run->pool = pool_new(threads ? threads : papers->options->threads);
	if (!run->pool)
		return error_set(error, EXIT_IO, EAGAIN, "cannot start any thread");
	options.engine = engine;
	options.set = &papers->set;
	options.text = &run->text;
	options.chunk_len = CHUNK_LEN;
	options.pool = run->pool;
	status = bench_search_open(&run->search, &options, error);
	if (status)
		pool_free(run->pool);
	return status;
}

static void run_close(struct run *run)
{
	bench_search_close(run->search);
	pool_free(run->pool);
}

const struct hit_tallies *papers_right(struct papers *papers, size_t len)
{
	const struct scan_engine *engine = scan_engine_find("ac");
	struct papers_right *right;
	struct error error = { 0 };
	struct run run;
	uint64_t count;

	len = len ? len : papers->text.len;
	log_debug("right hits in %zu bytes", len);
	for (unsigned i = 0; i < papers->right_count; i++)
		if (papers->right[i].len == len)
			return &papers->right[i].hits;
	right = &papers->right[papers->right_count % PAPERS_RIGHT_MAX];
	*right = (struct papers_right){ .len = len, .hits = { .lens = papers->lens } };
	if (run_open(&run, papers, engine, 0, len, &error))
		return NULL;
	if (bench_search_run(run.search, len, 1, &right->hits, &count, &error) < 0)
		right = NULL;
	run_close(&run);
	if (!right)
		return NULL;
	hit_tallies_finish(&right->hits);
	if (papers->right_count < PAPERS_RIGHT_MAX)
		papers->right_count++;
	return &right->hits;
}

/* ---- verdicts ------------------------------------------------------------------------------- */

static void judge(struct papers *papers, struct papers_time *time, const struct hit_tallies *found,
	enum gpu_bench_found kind, size_t len)
{
	const struct hit_tallies *right = papers_right(papers, len);
	const struct hit_tally *wanted;
	bool equal;

	if (!right) {
		snprintf(time->why, sizeof(time->why),
			"the engine ac found nothing to compare with");
		time->seconds = -1;
		return;
	}
	wanted = kind == GPU_FOUND_LONGEST ? &right->longest : &right->all;
	equal = kind == GPU_FOUND_COUNT ? found->all.count == wanted->count
					: hit_tally_equal(found->all, *wanted);
	if (equal)
		return;
	time->different = true;
	papers->result->different++;
	snprintf(time->why, sizeof(time->why), "%llu matches, and %llu with the engine ac",
		(unsigned long long)found->all.count, (unsigned long long)wanted->count);
}

static void failed(struct papers_time *time, const char *why)
{
	time->seconds = -1;
	snprintf(time->why, sizeof(time->why), "%.*s", (int)sizeof(time->why) - 1, why);
}

/* ---- measuring ----------------------------------------------------------------------------- */

void papers_time_kernel(
	struct papers *papers, const struct papers_kernel *kernel, struct papers_time *time)
{
	struct gpu_bench_kernel run = {
		.tuning = &kernel->tuning,
		.len = kernel->len,
		.form = kernel->form,
		.zero_copy = kernel->zero_copy,
		.seconds = papers->seconds,
		.rounds = papers->options->rounds,
	};
	struct error error = { 0 };

	*time = (struct papers_time){ .seconds = -1 };
	log_debug("kernel %s%s%s, %zu bytes", kernel->name,
		kernel->form ? ", its paper's form" : "", kernel->zero_copy ? ", zero copy" : "",
		kernel->len);
	if (!papers->gpu || papers_stop()) {
		failed(time, papers->gpu ? "interrupted" : "no GPU");
		return;
	}
	if (gpu_bench_tool->run(papers->gpu, kernel->name, &papers->set, &run, &error)) {
		failed(time, error.text);
		return;
	}
	time->seconds = bench_stats_of(papers->seconds, run.rounds).median;
	time->compile = run.compile;
	time->form_len = run.form_len;
	if (run.overflow)
		snprintf(time->why, sizeof(time->why), "too many hits to be compared");
	else
		judge(papers, time, &run.hits, run.found, kernel->len);
}

/* first: seconds of the round in which the hits were tallied. A long one is used too, as tallying is
 * a small part of it. */
static void time_rounds(struct papers *papers, struct run *run, double first,
	struct papers_time *time, struct error *error)
{
	double spent = 0;
	unsigned done = 0;
	uint64_t count;

	if (first > ENGINE_SECONDS / 2)
		spent = papers->seconds[done++] = first;

	for (; done < papers->options->rounds && spent < ENGINE_SECONDS && !papers_stop(); done++) {
		double seconds =
			bench_search_run(run->search, run->text.len, 1, NULL, &count, error);

		if (seconds < 0) {
			failed(time, error->text);
			return;
		}
		spent += papers->seconds[done] = seconds;
	}
	if (done)
		time->seconds = bench_stats_of(papers->seconds, done).median;
}

void papers_time_engine(struct papers *papers, const char *name, unsigned threads, size_t len,
	struct papers_time *time)
{
	const struct scan_engine *engine = scan_engine_find(name);
	struct hit_tallies found = { 0 };
	struct error error = { 0 };
	struct run run;
	uint64_t count;
	double first;

	*time = (struct papers_time){ .seconds = -1 };
	log_debug("engine %s, %u threads, %zu bytes", name, threads, len);
	if (!engine || papers_stop() || run_open(&run, papers, engine, threads, len, &error)) {
		failed(time, engine ? error.text : "there is no such engine");
		return;
	}
	first = bench_search_run(run.search, run.text.len, 1, &found, &count, &error);
	if (first < 0)
		failed(time, error.text);
	else
		time_rounds(papers, &run, first, time, &error);
	run_close(&run);
	if (time->seconds >= 0)
		judge(papers, time, &found, GPU_FOUND_ALL, len);
}

void papers_time_transfer(
	struct papers *papers, struct gpu_bench_transfer *result, struct papers_time *time)
{
	struct error error = { 0 };

	*time = (struct papers_time){ .seconds = -1 };
	log_debug("strategy %d, %u segments, %zu bytes", (int)result->strategy, result->segments,
		result->len);
	result->rounds = papers->options->rounds < TRANSFER_ROUNDS ? papers->options->rounds
								   : TRANSFER_ROUNDS;
	result->seconds = papers->seconds;
	result->hits = (struct hit_tallies){ 0 };
	if (!papers->gpu || papers_stop()) {
		failed(time, "no GPU");
		return;
	}
	if (gpu_bench_tool->transfer(papers->gpu, &papers->set, result, &error)) {
		failed(time, error.text);
		return;
	}
	time->seconds = bench_stats_of(papers->seconds, result->rounds).median;
	judge(papers, time, &result->hits, result->found, result->len);
}

/* ---- cells --------------------------------------------------------------------------------- */

void papers_cell_ms(struct paper_table *table, const struct papers_time *time)
{
	double ms = time->seconds * 1e3;

	if (time->different)
		paper_table_word(table, "DIFFERENT");
	else
		paper_table_number(table, ms, ms < 10 ? 3 : ms < 100 ? 2 : 1);
}

void papers_cell_speed(struct paper_table *table, size_t len, const struct papers_time *time)
{
	double speed = (double)len / time->seconds / 1e9;

	if (time->different)
		paper_table_word(table, "DIFFERENT");
	else
		paper_table_number(table, speed,
			speed < 1     ? 3
			: speed < 10  ? 2
			: speed < 100 ? 1
				      : 0);
}

void papers_cell_share(struct paper_table *table, double len, double seconds, double memory)
{
	paper_table_share(table, seconds > 0 ? len / seconds : -1, memory);
}

void papers_cell_ratio(struct paper_table *table, double a, double b)
{
	paper_table_number(table, a > 0 && b > 0 ? a / b : -1, 2);
}

void papers_cell_verdict(struct paper_table *table, const struct papers_time *time)
{
	if (time->different)
		paper_table_word(table, "DIFFERENT");
	else
		paper_table_word(table, "%s",
			*time->why           ? time->why
			: time->seconds >= 0 ? "equal"
					     : "not run");
}
