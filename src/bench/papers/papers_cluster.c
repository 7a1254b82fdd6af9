/*
 * Kouzinopoulos and others on several processes (run/cluster.h): their tables 3 to 6.
 *
 * As there, the text and the patterns are files that all processes read: DATA, or what rank 0 makes
 * and writes into a folder below $TMPDIR, which must then be shared, by NFS for instance. How long
 * writing the text takes is their column NFS. Each process loads its part by equation (3)
 * (part_of_text), which takes "Load Files", and searches it by the counting kernel under zero copy,
 * or without a GPU by the paper's algorithm on the processor. The counts are added up by MPI_Reduce. Rows
 * are measured for 1, 2, ... up to all processes; the rest wait.
 *
 * What differs: hosts have as many processes as were started on them, which share its GPUs. The text is
 * dropped from the page cache before each row, as far as this host can; a server's cache it can't
 * empty. Page-locking a part counts neither as loading nor as searching.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "bench/papers/paper_data.h"
#include "bench/papers/papers_state.h"
#include "bench/papers/theory.h"
#include "bench/bench_search.h"
#include "bench/whole.h"
#include "evidence/image.h"
#include "run/cluster.h"

#define TEXT_MB 1024.0
#define PATTERN_LEN 8
#define CHUNK_LEN ((size_t)32 << 20)
#define NODES 10 /* that the paper had */
#define SETS 3

static const uint32_t set_sizes[SETS] = { 1000, 8000, 16000 };

/* Seconds on 1 to 10 nodes. */
static const double nfs_then[NODES] = { 5.04, 6.10, 7.85, 7.51, 7.07, 6.09, 6.99, 6.96, 7.56,
	8.91 };
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

/* The files. */
struct input {
	struct bench_folder folder; /* rank 0: to be removed; all: where the patterns are */
	char *text;
	uint64_t len;       /* of the text, bytes */
	double distributed; /* seconds to write the text; -1: it was there */
};

/* Seconds of the slowest process, and what all have counted. */
struct row {
	double load, ac, wm, reduce;
	uint64_t ac_count, wm_count;
};

static double then(const double *seconds, unsigned nodes)
{
	return nodes <= NODES ? seconds[nodes - 1] : -1;
}

/* ---- the files ---- */

static char *patterns_path(const struct input *input, unsigned set)
{
	return xasprintf("%s/patterns-%u", input->folder.path, set_sizes[set]);
}

static int cannot_write(const char *path, struct error *error)
{
	return error_set(error, EXIT_IO, errno,
		"cannot write %s: %s; set TMPDIR to a folder with room that all hosts share", path,
		strerror(errno));
}

/* One a line. */
static int write_patterns(const struct pattern_set *set, const char *path, struct error *error)
{
	FILE *file = fopen(path, "we");
	bool good = file != NULL;

	for (uint32_t i = 0; good && i < set->count; i++)
		good = fprintf(file, "%s\n", set->patterns[i].text) > 0;
	if (file && fclose(file))
		good = false;
	return good ? 0 : cannot_write(path, error);
}

/* Writes it through to the disk, or to the server. */
static int sync_file(const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), status = 0;

	if (fd < 0 || fsync(fd))
		status = cannot_write(path, error);
	if (fd >= 0)
		close(fd);
	return status;
}

static void drop_from_cache(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

/* Rank 0. The text stays in memory until the patterns are cut out of it. */
static int make_files(struct papers *papers, struct input *input, struct error *error)
{
	double from;
	int status = papers_make_text(
		papers, paper_dna_text, papers_len(papers, TEXT_MB, TEXT_MB), error);

	if (!status)
		status = bench_folder_make(&input->folder, error);
	from = clock_seconds();
	if (!status && !papers->options->data) {
		input->text = bench_folder_write(&input->folder, &papers->text, error);
		status = input->text ? sync_file(input->text, error) : -EIO;
		input->distributed = clock_seconds() - from;
	}
	for (unsigned set = 0; set < SETS && !status; set++) {
		struct pattern_set patterns = { 0 };
		char *path = patterns_path(input, set);

		paper_dna_patterns(
			&patterns, &papers->text, set_sizes[set], papers->options->seed + set);
		status = write_patterns(&patterns, path, error);
		pattern_set_free(&patterns);
		free(path);
	}
	papers_forget(papers);
	return status;
}

#define SUFFIX_LEN 6 /* of a folder's name, made up by mkdtemp */

/* Tells all where the files are: by the end of the folder's name, as a number. */
static int share_folder(struct input *input, struct error *error)
{
	struct cluster_reduced shared = { 0 };
	char *suffix = input->folder.path
			       ? input->folder.path + strlen(input->folder.path) - SUFFIX_LEN
			       : NULL;
	int status;

	if (suffix)
		memcpy(&shared.sums[0], suffix, SUFFIX_LEN);
	shared.maxima[0] = input->distributed;
	status = the_cluster->reduce(&shared, error);
	if (status || suffix)
		return status;
	input->folder.path = bench_folder_name();
	memcpy(input->folder.path + strlen(input->folder.path) - SUFFIX_LEN, &shared.sums[0],
		SUFFIX_LEN);
	return 0;
}

/* All processes have the files' names; rank 0 has made them. */
static int open_input(struct papers *papers, struct input *input, struct error *error)
{
	struct image *image;
	int status = 0;

	if (papers->options->set)
		return error_set(error, EXIT_USAGE, EINVAL,
			"the tables of several processes have patterns of their own; leave out "
			"--patterns");
	if (!the_cluster->rank)
		status = make_files(papers, input, error);
	if (!status)
		status = share_folder(input, error);
	if (status)
		return status;
	if (!input->text)
		input->text = papers->options->data ? xstrdup(papers->options->data)
						    : xasprintf("%s/data", input->folder.path);
	status = image_open(&image, input->text, error);
	if (!status) {
		input->len = image_info(image)->size;
		if (papers->options->size && papers->options->size < input->len)
			input->len = papers->options->size;
		image_close(image);
	}
	return status;
}

static void close_input(struct input *input)
{
	if (!the_cluster->rank)
		bench_folder_remove(&input->folder);
	free(input->folder.path);
	free(input->text);
}

/* ---- a process's part ---- */

/* Loads it into papers->text. */
static int load_part(struct papers *papers, const struct input *input, unsigned nodes,
	double *seconds, struct error *error)
{
	uint64_t start, stop;
	struct image *image;
	double from = clock_seconds();
	int status;

	part_of_text(input->len, the_cluster->rank, nodes, PATTERN_LEN, &start, &stop);
	bench_text_free(&papers->text);
	status = bench_text_take(&papers->text, stop - start, error);
	if (!status)
		status = image_open(&image, input->text, error);
	if (status)
		return status;
	if (image_read_at(image, start, papers->text.bytes, papers->text.len))
		status = error_set(error, EXIT_IO, EIO, "cannot read %s", input->text);
	image_close(image);
	*seconds = clock_seconds() - from;
	return status;
}

/* By the counting kernel, which takes the text from the host's memory. */
static int count_on_gpu(
	struct papers *papers, bool wm, double *seconds, uint64_t *count, struct error *error)
{
	struct gpu_bench_kernel run = { .form = true,
		.zero_copy = true,
		.seconds = papers->seconds,
		.rounds = papers->options->rounds };
	int status = gpu_bench_tool->run(
		papers->gpu, wm ? "wm-cw" : "nfa-cw", &papers->set, &run, error);

	if (status)
		return status;
	*seconds = bench_stats_of(papers->seconds, run.rounds).median;
	*count = run.hits.all.count;
	return 0;
}

static int count_on_processor(struct papers *papers, bool wm, struct pool *pool, double *seconds,
	uint64_t *count, struct error *error)
{
	struct bench_search_options options = {
		.engine = scan_engine_find(wm ? "wm" : "nfa"),
		.set = &papers->set,
		.text = &papers->text,
		.chunk_len = CHUNK_LEN,
		.pool = pool,
	};
	struct bench_search *search;
	int status = bench_search_open(&search, &options, error);

	if (status)
		return status;
	for (unsigned i = 0; i < papers->options->rounds && !status; i++) {
		papers->seconds[i] =
			bench_search_run(search, papers->text.len, 1, NULL, count, error);
		if (papers->seconds[i] < 0)
			status = (int)papers->seconds[i];
	}
	if (!status)
		*seconds = bench_stats_of(papers->seconds, papers->options->rounds).median;
	bench_search_close(search);
	return status;
}

static int count(struct papers *papers, bool wm, struct pool *pool, double *seconds,
	uint64_t *matches, struct error *error)
{
	if (papers->text.len < PATTERN_LEN)
		return 0;
	return papers->gpu ? count_on_gpu(papers, wm, seconds, matches, error)
			   : count_on_processor(papers, wm, pool, seconds, matches, error);
}

/* ---- rows ---- */

/* Waits for the slowest process: its seconds. */
static int slowest(double *seconds, struct error *error)
{
	struct cluster_reduced reduced = { .maxima = { *seconds } };
	int status = the_cluster->reduce(&reduced, error);

	*seconds = reduced.maxima[0];
	return status;
}

/* The steps of a row, each begun by all processes together. */
static int measure(struct papers *papers, const struct input *input, unsigned nodes,
	struct pool *pool, struct row *row, struct error *error)
{
	bool in = the_cluster->rank < nodes;
	uint64_t counts[2] = { 0 };
	int status;

	*row = (struct row){ 0 };
	drop_from_cache(input->text);
	status = slowest(&row->load, error);
	if (!status && in)
		status = load_part(papers, input, nodes, &row->load, error);
	if (!status)
		status = slowest(&row->load, error);
	if (!status && in)
		papers_open_gpu(papers);
	for (int wm = 0; wm < 2 && !status; wm++) {
		double *seconds = wm ? &row->wm : &row->ac, nothing = 0;

		status = slowest(&nothing, error);
		if (!status && in)
			status = count(papers, wm, pool, seconds, &counts[wm], error);
		if (!status)
			status = slowest(seconds, error);
	}
	if (!status)
		the_cluster->total(counts, 2, nodes, &row->reduce);
	row->ac_count = counts[0];
	row->wm_count = counts[1];
	papers_close_gpu(papers);
	return status;
}

/* right: the matches in all of the text by the engine `ac`. */
static void show(struct papers *papers, struct paper_table *table, unsigned set, unsigned nodes,
	const struct input *input, const struct row *row, const struct row *alone, uint64_t right)
{
	bool equal = row->ac_count == right && row->wm_count == right;
	double ac = row->load + row->ac + row->reduce, wm = row->load + row->wm + row->reduce;

	paper_table_number(table, nodes, 0);
	paper_table_number(table, then(nfs_then, nodes), 2);
	paper_table_number(table, input->distributed, 4);
	paper_table_number(table, then(load_then, nodes), 2);
	paper_table_number(table, row->load, 4);
	paper_table_number(table, then(ac_then[set], nodes), 2);
	paper_table_number(table, row->ac, 4);
	paper_table_number(table, then(ac_then[set], 1) / then(ac_then[set], nodes), 2);
	papers_cell_ratio(table, alone->ac, row->ac);
	paper_table_number(table, then(wm_then[set], nodes), 2);
	paper_table_number(table, row->wm, 4);
	paper_table_number(table, then(wm_then[set], 1) / then(wm_then[set], nodes), 2);
	papers_cell_ratio(table, alone->wm, row->wm);
	paper_table_number(table, then(reduce_then, nodes), 2);
	paper_table_number(table, row->reduce, 6);
	paper_table_number(table, then(ac_speedup_then[set], nodes), 2);
	papers_cell_ratio(table, alone->load + alone->ac + alone->reduce, ac);
	paper_table_number(table, then(wm_speedup_then[set], nodes), 2);
	papers_cell_ratio(table, alone->load + alone->wm + alone->reduce, wm);
	paper_table_word(table, "%s", equal ? "equal" : "DIFFERENT");
	papers->result->different += !equal;
}

/* What the engine `ac` finds, by rank 0; the others need not know. */
static int find_right(
	struct papers *papers, const struct input *input, uint64_t *right, struct error *error)
{
	struct papers alone = { .options = papers->options,
		.result = papers->result,
		.set = papers->set,
		.lens = papers->lens,
		.seconds = papers->seconds };
	const struct hit_tallies *hits;
	double seconds;
	int status;

	if (the_cluster->rank)
		return 0;
	status = load_part(&alone, input, 1, &seconds, error);
	hits = status ? NULL : papers_right(&alone, 0);
	if (!status && !hits)
		status = error_set(error, EXIT_IO, EIO, "the engine ac cannot search the text");
	*right = hits ? hits->all.count : 0;
	bench_text_free(&alone.text);
	return status;
}

static int one_set(struct papers *papers, const struct input *input, unsigned set,
	struct pool *pool, struct error *error)
{
	struct paper_table *table = paper_table_new(&papers->result->tables, 2,
		"NODES|NFS THEN s|NOW|LOAD FILES THEN s|NOW|AC THEN s|NOW|SPEEDUP THEN|NOW|WM THEN "
		"s|NOW|SPEEDUP THEN|NOW|REDUCE THEN s|NOW|AC WITH LOAD AND REDUCE, SPEEDUP THEN|"
		"NOW|WM, SPEEDUP THEN|NOW|COUNTS",
		"Tables 3 to 6: AC and WM on %s: %u patterns of 8 letters, DNA text of %.1f MB",
		the_cluster->summary, set_sizes[set], (double)input->len / MB);
	char *path = patterns_path(input, set);
	struct row row, alone = { 0 };
	uint64_t right = 0;
	int status;

	papers_forget(papers);
	status = pattern_set_read(&papers->set, path, error);
	free(path);
	papers_take_lens(papers);
	if (!status)
		status = find_right(papers, input, &right, error);
	for (unsigned nodes = 1; nodes <= the_cluster->count && !status; nodes++) {
		status = measure(papers, input, nodes, pool, &row, error);
		if (nodes == 1)
			alone = row;
		if (!status)
			show(papers, table, set, nodes, input, &row, &alone, right);
	}
	paper_table_note(table,
		"A node is a process. NFS: writing the text to where all read it; load: each "
		"process "
		"reads its part. Matches are counted %s, and the counts added up by MPI_Reduce.",
		*papers->result->gpu_why ? "on the processor"
					 : "on the GPU, which takes the text from the host's "
					   "memory (zero copy)");
	return status;
}

int papers_cluster(struct papers *papers, struct error *error)
{
	unsigned threads = papers->options->threads;
	struct pool *pool = pool_new(threads ? threads : the_cluster->threads);
	struct input input = { .distributed = -1 };
	int status = open_input(papers, &input, error);

	for (unsigned set = 0; !status && set < SETS; set++)
		status = one_set(papers, &input, set, pool, error);
	papers_forget(papers);
	close_input(&input);
	pool_free(pool);
	return status;
}
