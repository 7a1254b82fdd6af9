/* `burin bench`: how fast engines and kernels are on given data, and whether they find the same
 * hits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/assemble_show.h"
#include "cli/bench_options.h"
#include "cli/bench_show.h"
#include "cli/command.h"
#include "cli/papers_show.h"
#include "cli/types.h"
#include "rules/paths.h"
#include "scan/gpu_kernels.h"
#include "patterns/pattern_set.h"
#include "run/cluster.h"
#include "scan/scan.h"

/* ---- what to measure --------------------------------------------------------------------- */

static bool is_kernel(const char *name)
{
	for (const struct gpu_kernel_info *kernel = gpu_kernel_list; kernel->name; kernel++)
		if (strcmp(kernel->name, name) == 0)
			return true;
	return false;
}

/* Checks that the engines and kernels exist, and that the list of GPUs is valid. */
static int check_names(const struct bench_settings *settings, struct error *error)
{
	struct gpu_wanted gpus;

	for (size_t i = 0; i < settings->engines.count; i++)
		if (!scan_engine_find(settings->engines.items[i]))
			return error_set(error, EXIT_USAGE, EINVAL,
				"there is no engine '%s'; see burin list engines --all",
				settings->engines.items[i]);
	for (size_t i = 0; i < settings->kernels.count; i++)
		if (!is_kernel(settings->kernels.items[i]))
			return error_set(error, EXIT_USAGE, EINVAL,
				"there is no kernel '%s'; see burin list kernels --all",
				settings->kernels.items[i]);
	return gpu_wanted_parse(&gpus, settings->gpus, error);
}

/* Loads rules, or patterns without rules. */
static int load(const struct bench_settings *settings, struct rules **rules,
	struct pattern_set *patterns, struct error *error)
{
	if (settings->patterns && settings->config)
		return error_set(
			error, EXIT_USAGE, EINVAL, "--config and --patterns exclude each other");
	if (settings->patterns)
		return pattern_set_read(patterns, settings->patterns, error);
	return rules_open(rules, settings->config, settings->rules_format, &settings->types, error);
}

/* ---- running ------------------------------------------------------------------------------- */

/* Returns the exit code: differences are problems; if none of the requested engines gave a row,
 * they are not available. */
static int exit_code_of(const struct bench_options *options, const struct bench_result *result)
{
	unsigned different = 0, run = 0;

	for (size_t i = 0; i < result->count; i++) {
		different += result->rows[i].verdict == BENCH_DIFFERENT;
		run += result->rows[i].verdict == BENCH_EQUAL;
	}
	if (different) {
		log_error("%u rows found other hits than they should have", different);
		return EXIT_PROBLEMS;
	}
	if (!run && (options->engine_count || options->kernel_count)) {
		log_error("none of the requested engines and kernels could be measured here");
		return EXIT_NO_ENGINE;
	}
	return EXIT_CLEAN;
}

static int measure(const struct bench_settings *settings, const struct bench_options *options)
{
	struct bench_result result;
	struct error error = { 0 };
	int status, code;

	signals_catch();
	status = bench_run(&result, options, &error);
	if (status && !signals_caught())
		log_error("%s", error.text);
	code = signals_caught() ? 128 + signals_caught() : error.code;
	if (!status) {
		if (settings->json)
			bench_show_json(options, &result);
		else
			bench_show_table(options, &result);
		code = exit_code_of(options, &result);
	}
	bench_result_free(&result);
	return code;
}

/* Whether any option of kernels, or --parts, is given. */
static bool has_tuning(const struct bench_settings *settings)
{
	const struct bench_settings none = { 0 };
	bool given = settings->parts;

	for (const struct option_row *row = bench_option_rows; row->name; row++) {
		char *value, *absent;

		if (!row->group || strcmp(row->group, BENCH_KERNEL_GROUP) != 0)
			continue;
		value = option_text(row, settings);
		absent = option_text(row, &none);
		given |= strcmp(value, absent) != 0;
		free(value);
		free(absent);
	}
	return given;
}

/* The user's own data and patterns fit one paper, not all. */
static int check_papers(
	const struct bench_settings *settings, const char *data, struct error *error)
{
	if ((data || settings->patterns) && !settings->paper)
		return error_set(error, EXIT_USAGE, EINVAL,
			"DATA and --patterns replace the data of one paper; name it with --paper");
	if (has_tuning(settings))
		return error_set(error, EXIT_USAGE, EINVAL,
			"--papers measures the papers' variants of kernels itself; options of "
			"kernels are for measuring single ones (--kernel)");
	if (settings->config)
		return error_set(error, EXIT_USAGE, EINVAL,
			"--papers has its own dictionaries, or takes --patterns; it does not take "
			"rules");
	return 0;
}

static int measure_papers(
	const struct bench_settings *settings, const struct papers_options *options)
{
	struct papers_result result;
	struct error error = { 0 };
	int status, code;

	signals_catch();
	status = papers_run(&result, options, &error);
	if (status)
		log_error("%s",
			signals_caught() ? "interrupted: the tables are not complete" : error.text);
	code = signals_caught() ? 128 + signals_caught() : error.code;
	/* Those of minutes are not to be lost. */
	if ((!status || signals_caught()) && !(the_cluster && the_cluster->rank)) {
		(settings->json ? papers_show_json : papers_show_text)(options, &result);
		if (result.different) {
			log_error(
				"%u rows found other hits than they should have", result.different);
			code = code ? code : EXIT_PROBLEMS;
		}
	}
	papers_result_free(&result);
	return code;
}

static int run_papers(const struct bench_settings *settings, const char *data)
{
	struct pattern_set patterns = { 0 };
	struct papers_options options = papers_options_of(settings, data);
	struct error error = { 0 };
	int code = EXIT_CLEAN;

	if (check_papers(settings, data, &error) ||
		(settings->patterns && pattern_set_read(&patterns, settings->patterns, &error))) {
		log_error("%s", error.text);
		code = error.code;
	} else {
		options.set = settings->patterns ? &patterns : NULL;
		code = measure_papers(settings, &options);
	}
	pattern_set_free(&patterns);
	return code;
}

static int run_assemble(const struct bench_settings *settings, const char *data)
{
	const struct bench_assemble_options options = { .data = data,
		.size = settings->size,
		.seed = settings->seed,
		.rounds = (unsigned)settings->rounds,
		.threads = (unsigned)settings->threads,
		.devices = settings->gpus };
	struct bench_assemble result;
	struct error error = { 0 };

	if (bench_assemble_run(&result, &options, &error)) {
		log_error("%s", error.text);
		return error.code;
	}
	return (settings->json ? assemble_show_json : assemble_show_table)(&result) ? EXIT_CLEAN
										    : EXIT_PROBLEMS;
}

static int run(void *arg, int argc, char **argv)
{
	const struct bench_settings *settings = arg;
	struct bench_options options = bench_options_of(settings, argc ? argv[0] : NULL);
	struct pattern_set patterns = { 0 };
	struct rules *rules = NULL;
	struct error error = { 0 };
	int code = EXIT_CLEAN;

	log_set_level(settings->verbose ? LOG_DEBUG : LOG_WARN);
	/* Only paper 2 uses several processes. */
	if (the_cluster && the_cluster->rank && settings->paper != 2)
		return EXIT_CLEAN;
	if (settings->papers || settings->paper)
		return run_papers(settings, options.data);
	if (settings->mode == BENCH_MODES + 1)
		return run_assemble(settings, options.data);
	if (check_names(settings, &error) || load(settings, &rules, &patterns, &error)) {
		log_error("%s", error.text);
		code = error.code;
	} else {
		options.rules = rules;
		options.set = rules ? &rules->patterns : &patterns;
		code = measure(settings, &options);
	}
	rules_free(rules);
	pattern_set_free(&patterns);
	return code;
}

static const struct example examples[] = {
	{ "burin bench -c my.conf disk.dd",
		"measures everything that works on this machine, on an image" },
	{ "burin bench --mode resident --size 2G --kernel gram --kernel ac",
		"compares two kernels on random bytes" },
	{ "burin bench --papers --paper 3 --size 16M",
		"reproduces the tables of PFAC, on texts of up to 16 MiB" },
	{ NULL, NULL },
};

const struct command bench_command = {
	.name = "bench",
	.summary = "Measure engines and kernels on given data and rules",
	.arguments = "[DATA]",
	.max_arguments = 1,
	.description =
		"Measures how fast DATA, an image or any other file, is scanned for the patterns "
		"of the rules: by GPU kernels on data in GPU memory (resident), by engines on data "
		"in main memory (host), and by whole dry runs over the file, with the time of each "
		"stage (end-to-end). Without DATA it uses random bytes. Speeds are in GB of 10^9 "
		"bytes and are medians after a warm-up round. They are shown beside ceilings "
		"measured in the same run: reading GPU memory, copying to it, reading main memory, "
		"and reading the file without scanning it.\n\n"
		"A row counts only if its hits were compared: on a part of the data with the "
		"engine `reference`, and on all of it with the CPU engine, by count and by a "
		"checksum over offsets and patterns; whole runs by the lines of their reports. If "
		"anything differs, the exit code is 1.\n\n"
		"With --papers it reproduces the tables of five papers in their layout, with the "
		"published figures beside today's: see gpu/papers/README.md. The hits of each row "
		"are compared with those of the engine `ac`.\n\n"
		"With --mode assemble it measures the searches that put files in pieces together: "
		"for breaks by CRC, for two breaks with a piece in between, and for clusters that "
		"may follow a break in a JPEG, in an image of --size with DATA's clusters. All "
		"threads of the processor are compared with the GPU, in time and in what they "
		"find.\n\n"
		"Reports of the runs, and a file of random bytes, go to temporary folders below "
		"`$TMPDIR`.",
	.options = bench_option_rows,
	.settings_size = sizeof(struct bench_settings),
	.run = run,
	.shared = true,
	.examples = examples,
};
