/* `burin bench`: how fast engines and kernels are on given data, and whether they find the same. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "bench/bench.h"
#include "bench/papers.h"
#include "cli/bench_show.h"
#include "cli/command.h"
#include "cli/papers_show.h"
#include "cli/paths.h"
#include "cli/types.h"
#include "gpu/list.h"
#include "rules/rules.h"
#include "scan/scan.h"
#include "run_cluster.h"

/* The words of --mode; behind the first in the order of enum bench_mode. */
#define MODE_CHOICES "all|resident|host|end-to-end"

struct bench_settings {
	const char *config, *patterns, *types, *gpus;
	struct option_list engines, kernels;
	enum rules_format rules_format;
	enum gpu_transfer transfer;
	unsigned io;
	unsigned mode;
	uint64_t size, rounds, threads, chunk_size, seed, plant, parts, paper;
	uint64_t words, blocks, block_threads;
	bool papers, uints, no_diagonal, zero_copy, json, verbose;
};

#define MEMBER(member) .offset = offsetof(struct bench_settings, member)

static const struct option_row bench_options[] = {
	{ .name = "config",
		.letter = 'c',
		.kind = OPTION_STRING,
		.metavar = "FILE",
		MEMBER(config),
		.group = "What is searched for",
		.help = "Take the rules from FILE (default: the installed burin.conf)" },
	{ .name = "rules-format",
		.kind = OPTION_CHOICE,
		.choices = RULES_FORMAT_CHOICES,
		.fallback = "auto",
		MEMBER(rules_format),
		.group = "What is searched for",
		.help = "The form of the rule file" },
	{ .name = "types",
		.letter = 't',
		.kind = OPTION_STRING,
		.metavar = "LIST",
		MEMBER(types),
		.group = "What is searched for",
		.help = "Only these types, separated by commas; with a - in front: all but these" },
	{ .name = "patterns",
		.kind = OPTION_STRING,
		.metavar = "FILE",
		MEMBER(patterns),
		.group = "What is searched for",
		.help = "In place of rules the patterns in FILE, one a line, for rows in memory" },

	{ .name = "size",
		.kind = OPTION_SIZE,
		.metavar = "SIZE",
		.min = 1,
		.max = (uint64_t)1 << 40,
		MEMBER(size),
		.group = "Data",
		.help = "Bytes in memory: pieces of DATA in random order where it is not as long "
			"(default: DATA, 1G at most; 256M without DATA)" },
	{ .name = "seed",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.fallback = "1",
		MEMBER(seed),
		.group = "Data",
		.help = "For everything that is drawn at random" },
	{ .name = "plant",
		.kind = OPTION_SIZE,
		.metavar = "SIZE",
		.min = 1,
		MEMBER(plant),
		.group = "Data",
		.help = "Put a pattern into every SIZE bytes in memory" },

	{ .name = "mode",
		.kind = OPTION_CHOICE,
		.choices = MODE_CHOICES,
		.fallback = "all",
		MEMBER(mode),
		.group = "Measuring",
		.help = "resident: kernels on the device's memory; host: engines from memory to "
			"memory; end-to-end: dry runs over the file" },
	{ .name = "engine",
		.kind = OPTION_LIST,
		.metavar = "NAME",
		MEMBER(engines),
		.group = "Measuring",
		.help = "Only this engine; may be repeated (default: all but reference)" },
	{ .name = "kernel",
		.kind = OPTION_LIST,
		.metavar = "NAME",
		MEMBER(kernels),
		.group = "Measuring",
		.help = "Only this kernel of the gpu engine; may be repeated" },
	{ .name = "papers",
		MEMBER(papers),
		.group = "Measuring",
		.help = "In place of all that: the tables of the papers whose algorithms are here, "
			"again on this machine" },
	{ .name = "paper",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.min = 1,
		.max = PAPERS,
		MEMBER(paper),
		.group = "Measuring",
		.help = "... of this one alone: 1 Zha and Sahni, 2 Kouzinopoulos, 3 Lin (PFAC), 4 "
			"Tran, "
			"5 Han; DATA and --patterns then replace what is made" },
	{ .name = "rounds",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.min = 1,
		.max = 1000,
		.fallback = "7",
		MEMBER(rounds),
		.group = "Measuring",
		.help = "Measure N times and take the median; fewer where a row takes over 20 "
			"seconds" },

	{ .name = "gpus",
		.kind = OPTION_STRING,
		.metavar = "N|LIST|all",
		MEMBER(gpus),
		.group = "Machine",
		.help = "As in burin carve; resident rows use the first of them" },
	{ .name = "transfer",
		.kind = OPTION_CHOICE,
		.choices = GPU_TRANSFER_CHOICES,
		.fallback = "auto",
		MEMBER(transfer),
		.group = "Machine",
		.help = "As in burin carve" },
	{ .name = "parts",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.max = GPU_PARTS_MAX,
		MEMBER(parts),
		.group = "Machine",
		.help = "As in burin carve" },
	{ .name = "words",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.max = 64,
		MEMBER(words),
		.group = "Kernels of papers",
		.help = "ac3, ac4: tWord, the words of a thread (default: 57; ac4 takes 48, 56 and "
			"57)" },
	{ .name = "uints",
		MEMBER(uints),
		.group = "Kernels of papers",
		.help = "ac3: takes its text from shared memory word by word" },
	{ .name = "no-diagonal",
		MEMBER(no_diagonal),
		.group = "Kernels of papers",
		.help = "stt-p2: stores the text without the diagonal scheme" },
	{ .name = "blocks",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.max = 65535,
		MEMBER(blocks),
		.group = "Kernels of papers",
		.help = "bmh: blocks of the grid (default: 256)" },
	{ .name = "block-threads",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.max = 1024,
		MEMBER(block_threads),
		.group = "Kernels of papers",
		.help = "bmh: threads of a block (default: 16)" },
	{ .name = "zero-copy",
		MEMBER(zero_copy),
		.group = "Kernels of papers",
		.help = "Resident rows fetch the text from pinned memory of the host" },
	{ .name = "threads",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.max = 1024,
		MEMBER(threads),
		.group = "Machine",
		.help = "Use N threads (default: one a processor)" },
	{ .name = "chunk-size",
		.kind = OPTION_SIZE,
		.metavar = "SIZE",
		.min = 1,
		.max = (uint64_t)1 << 30,
		.fallback = "32M",
		MEMBER(chunk_size),
		.group = "Machine",
		.help = "Search in chunks of SIZE" },
	{ .name = "io",
		.kind = OPTION_CHOICE,
		.choices = READER_IO_CHOICES,
		.fallback = "auto",
		MEMBER(io),
		.group = "Machine",
		.help = "How the file is read: as burin carve --io" },

	{ .name = "json", MEMBER(json), .group = "Messages", .help = "Print JSON" },
	{ .name = "verbose",
		.letter = 'v',
		MEMBER(verbose),
		.group = "Messages",
		.help = "Say what is being measured" },
	{ 0 },
};

/* ---- what is asked for ------------------------------------------------------------------------
 */

static bool is_kernel(const char *name)
{
	for (const struct gpu_kernel_info *kernel = gpu_kernel_list; kernel->name; kernel++)
		if (strcmp(kernel->name, name) == 0)
			return true;
	return false;
}

/* Engines and kernels that exist, and GPUs that could. */
static int check_names(const struct bench_settings *settings, struct error *error)
{
	struct gpu_wanted gpus;

	for (size_t i = 0; i < settings->engines.count; i++)
		if (!scan_engine_find(settings->engines.items[i]))
			return error_set(error, EXIT_USAGE, EINVAL,
				"there is no engine '%s': see burin list engines",
				settings->engines.items[i]);
	for (size_t i = 0; i < settings->kernels.count; i++)
		if (!is_kernel(settings->kernels.items[i]))
			return error_set(error, EXIT_USAGE, EINVAL,
				"there is no kernel '%s': see burin list kernels",
				settings->kernels.items[i]);
	return gpu_wanted_parse(&gpus, settings->gpus, error);
}

static int add_pattern(struct pattern_set *set, const char *path, unsigned number, const char *line,
	struct error *error)
{
	struct error mistake = { 0 };
	struct pattern pattern;

	if (pattern_parse(&pattern, line, &mistake))
		return error_set(
			error, EXIT_USAGE, EINVAL, "%.300s:%u: %.600s", path, number, mistake.text);
	pattern_set_add(set, &pattern);
	return 0;
}

static int read_patterns(struct pattern_set *set, const char *path, struct error *error)
{
	FILE *file = fopen(path, "re");
	unsigned number = 0;
	char *line = NULL;
	size_t capacity = 0;
	int status = 0;

	if (!file)
		return error_set(error, EXIT_USAGE, errno, "cannot read the patterns in %s: %s",
			path, strerror(errno));
	while (!status && getline(&line, &capacity, file) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		number++;
		if (*line)
			status = add_pattern(set, path, number, line, error);
	}
	if (!status && ferror(file))
		status = error_set(error, EXIT_USAGE, EIO, "cannot read the patterns in %s", path);
	if (!status && !set->count)
		status = error_set(error, EXIT_USAGE, EINVAL, "there are no patterns in %s", path);
	free(line);
	fclose(file);
	return status;
}

/* Rules, or patterns without. */
static int load(const struct bench_settings *settings, struct rules **rules,
	struct pattern_set *patterns, struct error *error)
{
	char *config;
	int status;

	if (settings->patterns && settings->config)
		return error_set(error, EXIT_USAGE, EINVAL,
			"--config and --patterns both say what is searched for: give one of them");
	if (settings->patterns)
		return read_patterns(patterns, settings->patterns, error);
	config = settings->config ? xstrdup(settings->config) : rules_default_path();
	status = rules_load(rules, config, settings->rules_format, settings->types, error);
	free(config);
	return status;
}

static struct gpu_tuning tuning_of(const struct bench_settings *settings)
{
	return (struct gpu_tuning){ .parts = (unsigned)settings->parts,
		.words = (unsigned)settings->words,
		.uints = settings->uints,
		.no_diagonal = settings->no_diagonal,
		.blocks = (unsigned)settings->blocks,
		.threads = (unsigned)settings->block_threads };
}

static struct bench_options options_of(const struct bench_settings *settings, const char *data)
{
	struct bench_options options = {
		.data = data,
		.size = settings->size,
		.seed = settings->seed,
		.plant = settings->plant,
		.rounds = (unsigned)settings->rounds,
		.threads = (unsigned)settings->threads,
		.chunk_size = settings->chunk_size,
		.engines = settings->engines.items,
		.engine_count = settings->engines.count,
		.kernels = settings->kernels.items,
		.kernel_count = settings->kernels.count,
		.gpu = { .devices = settings->gpus,
			.transfer = settings->transfer,
			.tuning = tuning_of(settings) },
		.zero_copy = settings->zero_copy,
		.io = reader_io_method(settings->io),
		.cache = reader_io_cache(settings->io),
		.arguments = command_line,
	};

	for (unsigned mode = 0; mode < BENCH_MODES; mode++)
		options.modes[mode] = settings->mode == 0 || settings->mode == mode + 1;
	return options;
}

/* ---- running ----------------------------------------------------------------------------------
 */

/* Differences are problems; an engine that was asked for and gave no row is not available. */
static int judge(const struct bench_options *options, const struct bench_result *result)
{
	unsigned different = 0, run = 0;

	for (size_t i = 0; i < result->count; i++) {
		different += result->rows[i].verdict == BENCH_DIFFERENT;
		run += result->rows[i].verdict == BENCH_EQUAL;
	}
	if (different) {
		log_error("%u rows found something else than they should have", different);
		return EXIT_PROBLEMS;
	}
	if (!run && (options->engine_count || options->kernel_count)) {
		log_error("nothing of what was asked for could be measured here");
		return EXIT_NO_ENGINE;
	}
	return EXIT_CLEAN;
}

static int measure(const struct bench_settings *settings, const struct bench_options *options)
{
	struct bench_result result;
	struct error error = { 0 };
	int status, code;

	run_catch_signals();
	status = bench_run(&result, options, &error);
	if (status && !run_caught_signal())
		log_error("%s", error.text);
	code = run_caught_signal() ? 128 + run_caught_signal() : error.code;
	if (!status) {
		if (settings->json)
			bench_show_json(options, &result);
		else
			bench_show_table(options, &result);
		code = judge(options, &result);
	}
	bench_result_free(&result);
	return code;
}

/* DATA and patterns of one's own fit one paper, not all. */
static int check_papers(
	const struct bench_settings *settings, const char *data, struct error *error)
{
	if ((data || settings->patterns) && !settings->paper)
		return error_set(error, EXIT_USAGE, EINVAL,
			"DATA and --patterns take the place of one paper's data: say which with "
			"--paper");
	if (settings->config)
		return error_set(error, EXIT_USAGE, EINVAL,
			"--papers has dictionaries of its own, or takes --patterns; it takes no "
			"rules");
	return 0;
}

static int measure_papers(
	const struct bench_settings *settings, const struct papers_options *options)
{
	struct papers_result result;
	struct error error = { 0 };
	int status, code;

	run_catch_signals();
	status = papers_run(&result, options, &error);
	if (status && !run_caught_signal())
		log_error("%s", error.text);
	code = run_caught_signal() ? 128 + run_caught_signal() : error.code;
	if (!status && !(run_cluster && run_cluster->rank)) {
		(settings->json ? papers_show_json : papers_show_text)(options, &result);
		if (result.different) {
			log_error("%u rows found something else than they should have",
				result.different);
			code = EXIT_PROBLEMS;
		}
	}
	papers_result_free(&result);
	return code;
}

static int run_papers(const struct bench_settings *settings, const char *data)
{
	struct pattern_set patterns = { 0 };
	struct papers_options options = {
		.paper = (unsigned)settings->paper,
		.size = settings->size,
		.seed = settings->seed,
		.rounds = (unsigned)settings->rounds,
		.threads = (unsigned)settings->threads,
		.gpu = { .devices = settings->gpus },
		.data = data,
	};
	struct error error = { 0 };
	int code = EXIT_CLEAN;

	if (check_papers(settings, data, &error) ||
		(settings->patterns && read_patterns(&patterns, settings->patterns, &error))) {
		log_error("%s", error.text);
		code = error.code;
	} else {
		options.set = settings->patterns ? &patterns : NULL;
		code = measure_papers(settings, &options);
	}
	pattern_set_free(&patterns);
	return code;
}

static int run(void *arg, int argc, char **argv)
{
	const struct bench_settings *settings = arg;
	struct bench_options options = options_of(settings, argc ? argv[0] : NULL);
	struct pattern_set patterns = { 0 };
	struct rules *rules = NULL;
	struct error error = { 0 };
	int code = EXIT_CLEAN;

	log_set_level(settings->verbose ? LOG_DEBUG : LOG_WARN);
	if (run_cluster && run_cluster->rank && settings->paper != 2) /* the only one that is shared */
		return EXIT_CLEAN;
	if (settings->papers || settings->paper)
		return run_papers(settings, options.data);
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
	{ "burin bench -c my.conf disk.dd", "measures all that can work here on an image" },
	{ "burin bench --mode resident --size 2G --kernel gram --kernel ac",
		"compares two kernels on random bytes" },
	{ "burin bench --papers --paper 3 --size 16M",
		"the tables of PFAC, on texts of up to 16 MiB" },
	{ NULL, NULL },
};

const struct command bench_command = {
	.name = "bench",
	.summary = "Measure engines and kernels on given data and rules",
	.arguments = "[DATA]",
	.max_arguments = 1,
	.description =
		"Measures how fast DATA, an image or any other file, is searched for what "
		"the rules name: by "
		"the GPU's kernels in the device's own memory (resident), by the engines "
		"from memory to memory "
		"(host), and by whole dry runs over the file, with the time by stage "
		"(end-to-end). Without "
		"DATA it takes random bytes. Speeds are in GB of 10^9 bytes, medians after "
		"a round that does "
		"not count, beside ceilings that are measured in the same run: reading the "
		"device's memory, "
		"copying to it, reading this machine's memory, and reading the file without "
		"searching it.\n\n"
		"A row counts only if what it found was compared: on a part of the data "
		"with the engine "
		"`reference`, and on all of it with the CPU engine, by count and by a "
		"checksum over offsets "
		"and patterns; whole runs by the lines of their reports. When anything is "
		"different, the exit "
		"code is 1.\n\n"
		"With --papers the tables of five papers are measured again, in their layout, "
		"with the published figures beside today's: see gpu/README.md. What a row "
		"found is compared with the engine `ac`.\n\n"
		"Folders for the runs' reports, and for a file of random bytes, are made "
		"below `$TMPDIR`.",
	.options = bench_options,
	.settings_size = sizeof(struct bench_settings),
	.run = run,
	.shared = true,
	.examples = examples,
};
