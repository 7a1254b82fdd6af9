/* Rows of whole runs over a file. */
#include "bench/bench_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct files {
	struct bench *bench;
	struct bench_folder folder;
	const char *image;
	char *written;            /* the image, when it was made from the text */
	struct hit_tallies right; /* the report's lines: with reference on the part, with the CPU
				    engine on all */
};

static struct run_options options_for(
	const struct files *files, const char *engine, const char *kernel, uint64_t length)
{
	const struct bench_options *options = files->bench->options;

	return (struct run_options){
		.rules = options->rules,
		.arguments = options->arguments,
		.engine = engine,
		.kernel = kernel,
		.gpu = options->gpu,
		.threads = options->threads,
		.chunk_size = options->chunk_size,
		.io = options->io,
		.cache = options->cache,
		.length = length,
		.dry_run = true,
		.progress = { .quiet = true },
	};
}

/* The image, or as much of it as length says. */
static int run_once(const struct files *files, struct bench_whole *whole, const char *engine,
	const char *kernel, uint64_t length, struct error *error)
{
	struct run_options options = options_for(files, engine, kernel, length);

	return bench_whole_run(whole, &options, files->image, &files->folder, error);
}

/* The lines of a run over the part and one over all, which also warms up. */
static int find_lines(const struct files *files, struct hit_tallies *lines, const char *part_engine,
	const char *engine, const char *kernel, struct error *error)
{
	uint64_t part_len = files->bench->result->part_len;
	struct bench_whole whole;
	int status = run_once(files, &whole, part_engine, kernel, part_len, error);

	if (status)
		return status;
	*lines = (struct hit_tallies){ .part_len = part_len, .part = whole.lines };
	status = run_once(files, &whole, engine, kernel, 0, error);
	lines->all = whole.lines;
	return status;
}

static int time_runs(struct files *files, struct bench_row *row, struct error *error)
{
	struct bench *bench = files->bench;
	double spent = 0;
	unsigned done = 0;

	for (; bench_wants_round(bench, done, spent); done++) {
		struct bench_whole whole;
		int status = run_once(files, &whole, row->engine, row->kernel, 0, error);

		if (status)
			return status;
		if (!hit_tally_equal(whole.lines, files->right.all))
			return error_set(error, EXIT_PROBLEMS, EILSEQ,
				"another report in round %u than before", done + 1);
		row->sums = whole.sums;
		row->bytes = whole.sums.scanned;
		spent += bench->seconds[done] = whole.sums.total;
	}
	snprintf(row->how, sizeof(row->how), "%s", row->sums.kernel);
	row->seconds = bench_stats_of(bench->seconds, done);
	return 0;
}

static void file_row(struct files *files, const struct scan_engine *engine, const char *kernel)
{
	struct bench_row *row =
		bench_add_row(files->bench, BENCH_WHOLE, BENCH_FILE_READ, engine->name, kernel);
	struct error error = { 0 };
	struct hit_tallies lines;
	char reason[256];
	int status;

	if (engine->probe(reason, sizeof(reason))) {
		bench_row_failed(row, reason);
		return;
	}
	status = find_lines(files, &lines, engine->name, engine->name, kernel, &error);
	if (!status) {
		bench_judge(row, &lines, &files->right);
		if (row->verdict == BENCH_EQUAL)
			status = time_runs(files, row, &error);
	}
	if (status)
		bench_row_failed(row, error.text);
	if (status == -EILSEQ)
		row->verdict = BENCH_DIFFERENT;
}

/* With as many slots as the engine that wants the most. */
static void file_read(struct files *files)
{
	struct bench *bench = files->bench;
	struct bench_ceiling *ceiling = &bench->result->ceilings[BENCH_FILE_READ];
	const struct bench_options *options = bench->options;
	struct reader_options reader = {
		.slot_len = (size_t)options->chunk_size,
		.overlap = options->set->longest ? options->set->longest - 1 : 0,
		.method = options->io,
		.cache = options->cache,
	};
	struct error error = { 0 };
	double spent = 0, seconds = 0;
	unsigned done = 0;
	uint64_t len = 0;

	for (const struct scan_engine *const *engine = scan_engines; *engine; engine++)
		if ((*engine)->chunks > reader.slots)
			reader.slots = (*engine)->chunks;
	seconds = bench_read_file(files->image, &reader, &len, &error);
	for (; seconds >= 0 && bench_wants_round(bench, done, spent); done++) {
		seconds = bench_read_file(files->image, &reader, &len, &error);
		spent += bench->seconds[done] = seconds;
	}
	if (seconds < 0)
		snprintf(ceiling->why, sizeof(ceiling->why), "%s", error.text);
	else
		bench_set_ceiling(bench, BENCH_FILE_READ, len, done);
}

/* The data itself, or the text in a file. */
static int choose_image(struct files *files, struct error *error)
{
	const struct bench_options *options = files->bench->options;

	if (!options->rules)
		return error_set(
			error, EXIT_USAGE, EINVAL, "a run needs rules, and these are patterns");
	if (options->data && options->plant)
		return error_set(error, EXIT_USAGE, EINVAL,
			"--plant changes the text in memory, and not DATA");
	files->image = options->data;
	if (files->image)
		return 0;
	files->written = bench_folder_write(&files->folder, &files->bench->text, error);
	files->image = files->written;
	return files->written ? 0 : -EIO;
}

static void all_rows(struct files *files, const char *why)
{
	const struct scan_engine *engine;

	for (unsigned i = 0; (engine = scan_engine_at(i)); i++) {
		const char *kernel;

		for (size_t n = 0;
			bench_wants_engine(files->bench, engine->name) && !signals_caught() &&
			bench_nth_kernel(files->bench, engine, n, &kernel);
			n++) {
			if (why)
				bench_row_failed(bench_add_row(files->bench, BENCH_WHOLE,
							 BENCH_FILE_READ, engine->name, kernel),
					why);
			else
				file_row(files, engine, kernel);
		}
	}
}

void bench_files(struct bench *bench)
{
	struct files files = { .bench = bench };
	struct error error = { 0 };
	int status = bench_folder_make(&files.folder, &error);

	if (!status)
		status = choose_image(&files, &error);
	if (!status) {
		file_read(&files);
		status = find_lines(
			&files, &files.right, "reference", bench->base->name, NULL, &error);
	}
	all_rows(&files, status ? error.text : NULL);
	bench_folder_remove(&files.folder);
	free(files.written);
}
