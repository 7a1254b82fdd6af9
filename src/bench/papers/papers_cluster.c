/*
 * Kouzinopoulos and others on several processes (run/cluster.h): their tables 3 to 6. The input is
 * split by their equation (3), start = rank n / size and stop = (rank + 1) n / size + m - 1, where
 * the product is taken first, so that no remainder is lost, and stop is cut at n. Matches belong to
 * the process in whose part they start. Rows are measured for 1, 2, ... up to all
 * processes; the rest wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/pool.h"
#include "bench/papers/paper_data.h"
#include "bench/papers/papers_state.h"
#include "bench/bench_search.h"
#include "run/cluster.h"

#define TEXT_MB 1024.0
#define PATTERN_LEN 8
#define CHUNK_LEN ((size_t)32 << 20)
#define NODES 10 /* that the paper had */
#define SETS 3

static const uint32_t set_sizes[SETS] = { 1000, 8000, 16000 };

/* Seconds on 1 to 10 nodes. */
static const double load_then[NODES] = { 12.40, 6.36, 4.91, 3.13, 2.50, 2.14, 2.31, 1.68, 1.45,
	1.37 };
static const double reduce_then[NODES] = { 0.00, 0.00, 0.00, 0.71, 2.00, 2.49, 2.91, 3.15, 3.36,
	4.35 };
static const double ac_then[SETS][NODES] = {
	{ 26.08, 13.06, 9.68, 6.52, 5.29, 4.38, 3.77, 3.29, 3.08, 2.64 },
	{ 55.59, 28.06, 18.58, 14.31, 11.28, 9.64, 8.13, 7.28, 6.52, 5.77 },
	{ 66.70, 33.74, 22.27, 17.38, 13.62, 11.74, 9.91, 8.95, 8.03, 7.11 },
};
static const double wm_then[SETS][NODES] = {
	{ 38.80, 18.43, 12.83, 9.78, 7.89, 6.66, 5.78, 5.10, 4.62, 4.17 },
	{ 300.60, 156.19, 109.06, 83.67, 69.27, 58.79, 53.51, 47.97, 44.52, 43.68 },
	{ 546.14, 275.75, 183.72, 138.48, 111.46, 91.97, 79.13, 69.21, 61.53, 55.26 },
};
static const double ac_speedup_then[SETS][NODES] = {
	{ 1.00, 1.71, 1.94, 2.44, 2.58, 2.88, 2.72, 2.89, 2.82, 2.52 },
	{ 1.00, 1.80, 2.33, 2.85, 3.20, 3.59, 3.59, 3.83, 3.87, 3.58 },
	{ 1.00, 1.82, 2.40, 2.93, 3.34, 3.75, 3.80, 4.06, 4.13, 3.87 },
};
static const double wm_speedup_then[SETS][NODES] = {
	{ 1.00, 1.82, 2.20, 2.66, 2.89, 3.24, 3.13, 3.33, 3.31, 2.99 },
	{ 1.00, 1.89, 2.61, 3.35, 3.93, 4.58, 4.84, 5.32, 5.59, 5.45 },
	{ 1.00, 1.96, 2.87, 3.76, 4.58, 5.49, 6.17, 6.96, 7.63, 8.06 },
};

/* Seconds of the slowest process. */
struct row {
	double load, ac, wm, reduce;
	uint64_t ac_count, wm_count;
};

static double then(const double *seconds, unsigned nodes)
{
	return nodes <= NODES ? seconds[nodes - 1] : -1;
}

/* This process's part by equation (3). Returns how many starts are its own. */
static size_t split(size_t n, unsigned nodes, size_t *start, size_t *stop)
{
	unsigned rank = the_cluster->rank;
	size_t next = (size_t)((unsigned __int128)n * (rank + 1) / nodes);

	*start = (size_t)((unsigned __int128)n * rank / nodes);
	*stop = next + PATTERN_LEN - 1 < n ? next + PATTERN_LEN - 1 : n;
	return next - *start;
}

/* The kernel of the paper where there is a GPU, else its algorithm on the CPU. */
static int search(struct papers *papers, bool wm, struct bench_text *part, size_t own_len,
	struct pool *pool, double *seconds, uint64_t *count, struct error *error)
{
	const struct gpu_options gpu = { .devices = the_cluster->gpus };
	struct bench_search_options options = {
		.engine = scan_engine_find("gpu"),
		.kernel = wm ? "wm-cw" : "nfa-cw",
		.set = &papers->set,
		.text = part,
		.chunk_len = CHUNK_LEN,
		.pool = pool,
		.gpu = papers->options->gpu.devices ? &papers->options->gpu : &gpu,
	};
	struct bench_search *search;
	char why[256];
	int status;

	if (options.engine->probe(why, sizeof(why))) {
		options.engine = scan_engine_find(wm ? "wm" : "nfa");
		options.kernel = NULL;
	}
	status = bench_search_open(&search, &options, error);
	if (status)
		return status;
	for (unsigned i = 0; i < papers->options->rounds && !status; i++) {
		papers->seconds[i] = bench_search_run(search, own_len, 1, NULL, count, error);
		if (papers->seconds[i] < 0)
			status = (int)papers->seconds[i];
	}
	if (!status)
		*seconds = bench_stats_of(papers->seconds, papers->options->rounds).median;
	bench_search_close(search);
	return status;
}

/* Loads this process's part and searches it. */
static int do_part(struct papers *papers, unsigned nodes, struct pool *pool,
	struct cluster_reduced *reduced, struct error *error)
{
	struct bench_text part = { 0 };
	size_t start, stop, own_len = split(papers->text.len, nodes, &start, &stop);
	double from = clock_seconds();
	int status;

	if (!own_len)
		return 0;
	if ((status = bench_text_take(&part, stop - start, error)))
		return status;
	memcpy(part.bytes, papers->text.bytes + start, stop - start);
	reduced->maxima[0] = clock_seconds() - from;
	status = search(
		papers, false, &part, own_len, pool, &reduced->maxima[1], &reduced->sums[0], error);
	if (!status)
		status = search(papers, true, &part, own_len, pool, &reduced->maxima[2],
			&reduced->sums[1], error);
	bench_text_free(&part);
	return status;
}

static int measure(struct papers *papers, unsigned nodes, struct pool *pool, struct row *row,
	struct error *error)
{
	struct cluster_reduced reduced = { 0 }, again = { 0 };
	double from;
	int status = 0;

	if (the_cluster->rank < nodes)
		status = do_part(papers, nodes, pool, &reduced, error);
	if (!status)
		status = the_cluster->reduce(&reduced, error); /* waits for the slowest */
	from = clock_seconds();
	if (!status)
		status = the_cluster->reduce(&again, error);
	*row = (struct row){ reduced.maxima[0], reduced.maxima[1], reduced.maxima[2],
		clock_seconds() - from, reduced.sums[0], reduced.sums[1] };
	return status;
}

static void show(struct papers *papers, struct paper_table *table, unsigned set, unsigned nodes,
	const struct row *row, const struct row *alone)
{
	bool equal = row->ac_count == alone->ac_count && row->wm_count == alone->ac_count;
	double ac = row->load + row->ac + row->reduce, wm = row->load + row->wm + row->reduce;

	paper_table_number(table, nodes, 0);
	paper_table_number(table, then(load_then, nodes), 2);
	paper_table_number(table, row->load, 4);
	paper_table_number(table, then(ac_then[set], nodes), 2);
	paper_table_number(table, row->ac, 4);
	paper_table_number(table, then(wm_then[set], nodes), 2);
	paper_table_number(table, row->wm, 4);
	paper_table_number(table, then(reduce_then, nodes), 2);
	paper_table_number(table, row->reduce, 4);
	paper_table_number(table, then(ac_speedup_then[set], nodes), 2);
	paper_table_number(table, (alone->load + alone->ac + alone->reduce) / ac, 2);
	paper_table_number(table, then(wm_speedup_then[set], nodes), 2);
	paper_table_number(table, (alone->load + alone->wm + alone->reduce) / wm, 2);
	paper_table_word(table, "%s", equal ? "equal" : "DIFFERENT");
	papers->result->different += !equal;
}

static int one_set(struct papers *papers, unsigned set, struct pool *pool, struct error *error)
{
	struct paper_table *table = paper_table_new(&papers->result->tables, 2,
		"NODES|LOAD THEN s|NOW|AC THEN s|NOW|WM THEN s|NOW|REDUCE THEN s|NOW|AC SPEEDUP "
		"THEN|NOW|WM SPEEDUP THEN|NOW|COUNTS",
		"AC and WM on %s: %u patterns of 8 letters, DNA text of %.1f MB",
		the_cluster->summary, set_sizes[set], (double)papers->text.len / MB);
	struct row row, alone;
	int status = 0;

	papers_forget_set(papers);
	paper_dna_patterns(
		&papers->set, &papers->text, set_sizes[set], papers->options->seed + set);
	for (unsigned nodes = 1; nodes <= the_cluster->count && !status; nodes++) {
		status = measure(papers, nodes, pool, &row, error);
		if (nodes == 1)
			alone = row;
		if (!status)
			show(papers, table, set, nodes, &row, &alone);
	}
	paper_table_note(table,
		"A node is a process. Load: its part of the text is copied; then it came from NFS. "
		"Speedups are of load, search and reduction together.");
	return status;
}

int papers_cluster(struct papers *papers, struct error *error)
{
	unsigned threads = papers->options->threads;
	struct pool *pool = pool_new(threads ? threads : the_cluster->threads);
	int status = papers_make_text(
		papers, paper_dna_text, papers_len(papers, TEXT_MB, TEXT_MB), error);

	for (unsigned set = 0; !status && set < SETS; set++)
		status = one_set(papers, set, pool, error);
	pool_free(pool);
	return status;
}
