/* `burin carve`: images and rules in, files and reports out. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/size.h"
#include "cli/batch.h"
#include "cli/command.h"
#include "cli/images.h"
#include "cli/page.h"
#include "cli/paths.h"
#include "cli/resume.h"
#include "cli/types.h"
#include "output/hash.h"
#include "output/hash_sets.h"
#include "rules/rules.h"
#include "run.h"
#include "run_cluster.h"

struct carve_settings {
	const char *config, *output, *types, *engine, *kernel, *gpus, *hash, *verify, *map,
		*resume;
	struct option_list lists, known, alert;
	enum rules_format rules_format;
	unsigned io;
	enum gpu_transfer transfer;
	enum carving_label label;
	enum volumes_depth file_systems;
	unsigned compat;
	uint64_t align, threads, jobs, chunk_size, offset, length, parts;
	uint64_t max_files, max_bytes, max_files_type, max_bytes_type;
	uint64_t checkpoint_interval, unit_size;
	bool unallocated, allocated;
	bool both, dry_run, no_extension, flat, nested, strict, html, quiet, verbose, json;
	bool no_content_map, skip_known;
};

#define MEMBER(member) .offset = offsetof(struct carve_settings, member)

static const struct option_row carve_options[] = {
	{ .name = "config", .letter = 'c', .kind = OPTION_STRING, .metavar = "FILE", MEMBER(config),
		.group = "Rules",
		.help = "Read the rules from FILE: burin's own format, or a scalpel.conf "
			"(default: the installed burin.conf)" },
	{ .name = "rules-format", .kind = OPTION_CHOICE, .choices = RULES_FORMAT_CHOICES,
		.fallback = "auto", MEMBER(rules_format), .group = "Rules",
		.help = "The form of the rule file; foremost must be said, the others are told apart" },
	{ .name = "types", .letter = 't', .kind = OPTION_STRING, .metavar = "LIST", MEMBER(types),
		.group = "Rules",
		.help = "Only these types, separated by commas; with a - in front: all but these" },
	{ .name = "both", .letter = 'b', MEMBER(both), .group = "Rules",
		.help = "Carve max_size bytes where a forward rule finds no footer, as Scalpel's -b" },
	{ .name = "compat", .kind = OPTION_CHOICE, .choices = "none|scalpel", .fallback = "none",
		MEMBER(compat), .group = "Rules",
		.help = "scalpel: the decisions, names and audit of Scalpel 1.60" },

	{ .name = "list", .letter = 'i', .kind = OPTION_LIST, .metavar = "FILE", MEMBER(lists),
		.group = "Evidence", .help = "Carve the images, folders and patterns that FILE names, one a line" },
	{ .name = "offset", .kind = OPTION_SIZE, .metavar = "SIZE", MEMBER(offset),
		.group = "Evidence", .help = "Carve only files that start here or later" },
	{ .name = "length", .kind = OPTION_SIZE, .metavar = "SIZE", MEMBER(length),
		.group = "Evidence",
		.help = "... and less than SIZE bytes behind; footers are looked for only there too" },
	{ .name = "unallocated", MEMBER(unallocated), .group = "Evidence",
		.help = "Carve only what no file system has in use, as one stream over all gaps" },
	{ .name = "allocated", MEMBER(allocated), .group = "Evidence",
		.help = "Carve only what file systems have in use" },
	{ .name = "file-systems", .kind = OPTION_CHOICE, .choices = VOLUMES_DEPTH_CHOICES,
		.fallback = "map", MEMBER(file_systems), .group = "Evidence",
		.help = "Find out volumes (list), also whose bytes a carved file has (map), or nothing" },
	{ .name = "align", .letter = 'q', .kind = OPTION_SIZE, .metavar = "SIZE", MEMBER(align),
		.group = "Evidence", .help = "Carve only files that start at a multiple of SIZE" },
	{ .name = "map", .kind = OPTION_STRING, .metavar = "FILE", MEMBER(map), .group = "Evidence",
		.help = "A ddrescue mapfile of the image: what it does not call finished counts as unreadable" },
	{ .name = "verify", .kind = OPTION_STRING, .metavar = "LIST", .fallback = "auto",
		.bare = "stored", MEMBER(verify), .group = "Evidence",
		.help = "Hash the evidence while it is read, and compare: with the hashes that it stores, or "
			"with md5, sha1, sha256; auto: where that costs no time; none: never" },

	{ .name = "output", .letter = 'o', .kind = OPTION_STRING, .metavar = "DIR", MEMBER(output),
		.group = "Output", .help = "Write to DIR, which must be new or empty" },
	{ .name = "resume", .kind = OPTION_STRING, .metavar = "DIR", MEMBER(resume),
		.group = "Output",
		.help = "Go on with the run in DIR, which was killed or interrupted, with its own image, "
			"rules and options" },
	{ .name = "checkpoint-interval", .kind = OPTION_SECONDS, .metavar = "SECONDS",
		.max = 86400, .fallback = "10", MEMBER(checkpoint_interval), .group = "Output",
		.help = "Keep in DIR how far the run is, at most so often, for --resume; 0: never" },
	{ .name = "dry-run", .letter = 'p', MEMBER(dry_run), .group = "Output",
		.help = "Write the reports, but no files; burin extract writes those later" },
	{ .name = "hash", .kind = OPTION_STRING, .metavar = "LIST", .fallback = "sha256", MEMBER(hash),
		.group = "Output", .help = "Hashes of carved files: md5, sha1, sha256, or none" },
	{ .name = "nested", MEMBER(nested), .group = "Output",
		.help = "Keep what starts inside a file that was verified complete" },
	{ .name = "html", MEMBER(html), .group = "Output",
		.help = "Write report.html at the end, a page to look at what was found, as burin report does" },
	{ .name = "strict", MEMBER(strict), .group = "Output",
		.help = "Write only files that were verified complete" },
	{ .name = "max-files", .kind = OPTION_NUMBER, .metavar = "N", MEMBER(max_files),
		.group = "Output", .help = "Carve N files at most; the rest is counted" },
	{ .name = "max-bytes", .kind = OPTION_SIZE, .metavar = "SIZE", MEMBER(max_bytes),
		.group = "Output", .help = "Carve SIZE bytes at most; the rest is counted" },
	{ .name = "max-files-per-type", .kind = OPTION_NUMBER, .metavar = "N",
		MEMBER(max_files_type), .group = "Output", .help = "Carve N files of a rule at most" },
	{ .name = "max-bytes-per-type", .kind = OPTION_SIZE, .metavar = "SIZE",
		MEMBER(max_bytes_type), .group = "Output",
		.help = "Carve SIZE bytes of a rule at most" },
	{ .name = "no-extension", .letter = 'n', MEMBER(no_extension), .group = "Output",
		.help = "Leave extensions away" },
	{ .name = "rename", .kind = OPTION_CHOICE, .choices = CARVING_LABEL_CHOICES,
		.fallback = "none", MEMBER(label), .group = "Output",
		.help = "Put the file's own title or time into its name, where it has one" },
	{ .name = "flat", .letter = 'O', MEMBER(flat), .group = "Output",
		.help = "No folders: all files in DIR itself" },

	{ .name = "known", .kind = OPTION_LIST, .metavar = "FILE", MEMBER(known), .group = "Output",
		.help = "Mark files whose hash is in FILE: a list, NSRLFile.txt, or a database of NSRL" },
	{ .name = "skip-known", MEMBER(skip_known), .group = "Output",
		.help = "Leave such files out, and count them" },
	{ .name = "alert", .kind = OPTION_LIST, .metavar = "FILE", MEMBER(alert), .group = "Output",
		.help = "Mark files whose hash is in FILE, keep them even when they are known, and say so" },
	{ .name = "no-content-map", MEMBER(no_content_map), .group = "Output",
		.help = "Don't write map.bin: text, code, compressed or zeros, block by block" },

	{ .name = "engine", .kind = OPTION_STRING, .metavar = "NAME", .fallback = "auto",
		MEMBER(engine), .group = "Machine",
		.help = "Search with this engine (burin list engines); all find the same" },
	{ .name = "kernel", .kind = OPTION_STRING, .metavar = "NAME", MEMBER(kernel),
		.group = "Machine",
		.help = "... and with this one of its kernels (burin list kernels)" },
	{ .name = "gpus", .kind = OPTION_STRING, .metavar = "N|LIST|all", MEMBER(gpus),
		.group = "Machine",
		.help = "GPUs for the gpu engine: how many, which (0,3 or 1,), or all (default: the "
			"first)" },
	{ .name = "transfer", .kind = OPTION_CHOICE, .choices = GPU_TRANSFER_CHOICES,
		.fallback = "auto", MEMBER(transfer), .group = "Machine",
		.help = "Buffers of a GPU: a, one for every chunk in flight; b (auto), a few in turn" },
	{ .name = "parts", .kind = OPTION_NUMBER, .metavar = "N", .max = GPU_PARTS_MAX,
		MEMBER(parts), .group = "Machine",
		.help = "Automata that the kernels stt-p1 and stt-p2 deal the patterns to (default: 8)" },
	{ .name = "threads", .kind = OPTION_NUMBER, .metavar = "N", .max = 1024, MEMBER(threads),
		.group = "Machine", .help = "Use N threads (default: one a processor)" },
	{ .name = "jobs", .letter = 'j', .kind = OPTION_NUMBER, .metavar = "N", .min = 1, .max = 64,
		.fallback = "1", MEMBER(jobs), .group = "Machine",
		.help = "Carve N images side by side; they share the threads" },
	{ .name = "chunk-size", .kind = OPTION_SIZE, .metavar = "SIZE", .max = (uint64_t)1 << 30,
		MEMBER(chunk_size), .group = "Machine",
		.help = "Read and search the image in pieces of SIZE (default: 8M)" },
	{ .name = "unit-size", .kind = OPTION_SIZE, .metavar = "SIZE",
		.max = (uint64_t)1 << 40, MEMBER(unit_size), .group = "Machine",
		.help = "Of burin-mpi: what a process searches before it asks for more (default: by the "
			"image's size and the number of processes)" },
	{ .name = "io", .kind = OPTION_CHOICE, .choices = READER_IO_CHOICES, .fallback = "auto",
		MEMBER(io), .group = "Machine",
		.help = "How a raw image is read: with io_uring or threads; past the page cache or "
			"through it; auto: past it with io_uring, unless the image is cached already" },

	{ .name = "quiet", MEMBER(quiet), .group = "Messages", .help = "Only warnings and errors" },
	{ .name = "verbose", .letter = 'v', MEMBER(verbose), .group = "Messages",
		.help = "Say more" },
	{ .name = "json", MEMBER(json), .group = "Messages",
		.help = "Events on stdout, one JSON object a line" },
	{ 0 },
};

static int collect_images(struct images *images, const struct carve_settings *settings, int argc,
	char **argv)
{
	struct error error = { 0 };
	int status = 0;

	for (int i = 0; i < argc && !status; i++)
		status = images_add(images, argv[i], &error);
	for (size_t i = 0; i < settings->lists.count && !status; i++)
		status = images_add_list(images, settings->lists.items[i], &error);
	if (!status && !images->count)
		status = error_set(&error, EXIT_USAGE, EINVAL,
			"no image was given; try: burin carve -o OUT IMAGE");
	if (!status && settings->map && images->count > 1)
		status = error_set(&error, EXIT_USAGE, EINVAL,
			"--map is the map of one image, and %zu were given", images->count);
	if (status)
		log_error("%s", error.text);
	return status ? error.code : EXIT_CLEAN;
}

static struct run_options run_options_of(const struct carve_settings *settings)
{
	return (struct run_options){
		.engine = settings->engine,
		.kernel = settings->kernel,
		.gpu = { .devices = settings->gpus,
			.transfer = settings->transfer,
			.tuning = { .parts = (unsigned)settings->parts } },
		.threads = (unsigned)settings->threads,
		.chunk_size = settings->chunk_size,
		.io = reader_io_method(settings->io),
		.cache = reader_io_cache(settings->io),
		.map_path = settings->map,
		.offset = settings->offset,
		.length = settings->length,
		.file_systems = settings->file_systems,
		.space = settings->unallocated ? SPACE_UNALLOCATED
			 : settings->allocated ? SPACE_ALLOCATED
					       : SPACE_ALL,
		.align = settings->align,
		.both = settings->both,
		.dry_run = settings->dry_run,
		.flat = settings->flat,
		.no_extension = settings->no_extension,
		.scalpel = settings->compat != 0,
		.content_map = !settings->no_content_map,
		.label = settings->label,
		.decide = { .nested = settings->nested,
			.strict = settings->strict,
			.max_files = settings->max_files,
			.max_bytes = settings->max_bytes,
			.max_files_type = settings->max_files_type,
			.max_bytes_type = settings->max_bytes_type },
		.checkpoint_interval = settings->checkpoint_interval,
		.unit_size = settings->unit_size,
		.progress = { .quiet = settings->quiet, .json = settings->json },
	};
}

static int parse_verify(const char *text, struct run_options *options, struct error *error)
{
	static const char *const words[] = { "auto", "none", "stored" }; /* as enum run_verify */

	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(text, words[i]) == 0) {
			options->verify = (enum run_verify)i;
			return 0;
		}
	options->verify = RUN_VERIFY_KINDS;
	return hash_mask_parse(text, &options->verify_mask, error);
}

static int open_sets(const struct carve_settings *settings, struct hash_sets **sets,
	struct run_options *options, struct error *error)
{
	const struct option_list *known = &settings->known, *alert = &settings->alert;
	int status;

	if (settings->skip_known && !known->count)
		return error_set(error, EXIT_USAGE, EINVAL,
			"--skip-known leaves out what is in the lists of --known, and none was given");
	if (settings->dry_run && (known->count || alert->count))
		return error_set(error, EXIT_USAGE, EINVAL,
			"a dry run writes and hashes no files, so --known and --alert can't be given "
			"with it");
	status = hash_sets_open(
		sets, known->items, known->count, alert->items, alert->count, error);
	options->sets = *sets;
	options->skip_known = settings->skip_known;
	options->hash_mask |= hash_sets_kinds(*sets);
	return status;
}

/* What must be looked at before anything is opened. */
static int load(const struct carve_settings *settings, struct rules **rules, struct hash_sets **sets,
	struct run_options *options)
{
	char *config = settings->config ? xstrdup(settings->config) : rules_default_path();
	struct gpu_wanted gpus;
	struct error error = { 0 };
	int status = hash_mask_parse(settings->hash, &options->hash_mask, &error);

	if (!status)
		status = parse_verify(settings->verify, options, &error);
	if (!status)
		status = gpu_wanted_parse(&gpus, settings->gpus, &error);
	if (!status)
		status = rules_load(rules, config, settings->rules_format, settings->types, &error);
	if (!status)
		status = open_sets(settings, sets, options, &error);
	free(config);
	if (status)
		log_error("%s", error.text);
	return status ? error.code : EXIT_CLEAN;
}

/* Of several processes, the first conducts. */
static int carve_one(struct run_options *options, const char *image_path, const char *output)
{
	options->cluster = run_cluster;
	if (run_cluster && run_cluster->rank)
		return run_help(options, image_path, output);
	return run_carve(options, image_path, output, NULL);
}

/* Into output, or, with several images or a batch that is resumed, into a folder of it for each. */
static int carve(const struct carve_settings *settings, const struct images *images,
	const char *output, bool batch, char **arguments)
{
	struct run_options options = run_options_of(settings);
	struct hash_sets *sets = NULL;
	struct rules *rules = NULL;
	int code = load(settings, &rules, &sets, &options);

	if (!code) {
		run_catch_signals();
		options.arguments = arguments;
		options.resume = settings->resume != NULL;
		options.rules = rules;
		code = batch ? batch_carve(&options, images, output, (unsigned)settings->jobs,
				       settings->html)
			     : carve_one(&options, images->paths[0], output);
		if (settings->html && !batch && !(run_cluster && run_cluster->rank))
			code = page_after_run(output, code);
	}
	hash_sets_close(sets);
	rules_free(rules);
	return code;
}

/* settings: to be filled with those of the run's own command line, and what was given now. */
static int go_on(struct carve_settings *settings, struct resume *resume)
{
	char *path = resume->moved ? resume->moved : resume->left.image_path;
	struct images one = { .paths = &path, .count = 1 }, several = { 0 };
	struct error error = { 0 };
	bool batch = resume->left.batch;
	int first = options_parse(carve_options, "burin carve", resume->word_count, resume->words,
		settings, &error);
	int code = EXIT_CLEAN;

	if (first <= 0) {
		log_error("%s", error.text);
		return EXIT_USAGE;
	}
	if (batch)
		code = collect_images(&several, settings, resume->word_count - first,
			resume->words + first);
	if (!code)
		code = carve(settings, batch ? &several : &one, resume->output, batch,
			resume->left.arguments);
	images_free(&several);
	return code;
}

/* given: what this command line alone says. */
static int resume_run(const struct carve_settings *given, int argc, char **argv)
{
	struct carve_settings settings = { 0 };
	struct resume resume = { 0 };
	int code;

	if (given->output || given->lists.count || argc > 1) {
		log_error("--resume goes on in its own folder with its own images: %s can't be given "
			  "with it",
			given->output ? "-o" : given->lists.count ? "--list" : "several images");
		return EXIT_USAGE;
	}
	code = resume_begin(&resume, given->resume, command_line, argc ? argv[0] : NULL);
	if (code < 0)
		code = go_on(&settings, &resume);
	options_release(carve_options, &settings);
	resume_end(&resume);
	return code;
}

static int run(void *arg, int argc, char **argv)
{
	const struct carve_settings *settings = arg;
	struct images images = { 0 };
	int code;

	log_set_level(settings->quiet ? LOG_WARN : settings->verbose ? LOG_DEBUG : LOG_INFO);
	if (settings->resume)
		return resume_run(settings, argc, argv);
	if (!settings->output) {
		log_error("no output folder was given; try: burin carve -o OUT IMAGE");
		return EXIT_USAGE;
	}
	if (settings->unallocated && settings->allocated) {
		log_error("--unallocated and --allocated exclude each other; without both, all is carved");
		return EXIT_USAGE;
	}
	code = collect_images(&images, settings, argc, argv);
	if (!code)
		code = carve(settings, &images, settings->output, images.count > 1, command_line);
	images_free(&images);
	return code;
}

static const struct example examples[] = {
	{ "burin carve -o out disk.E01", "carves everything that the shipped rules know" },
	{ "burin carve -c scalpel.conf -o out disk.dd", "carves by Scalpel's own rule file" },
	{ "burin carve -t jpeg,png -p -o plan disk.dd",
		"reports the pictures that are there, writing none" },
	{ "burin carve --resume out", "goes on with a run that was killed, interrupted, or out of space" },
	{ NULL, NULL },
};

const struct command carve_command = {
	.name = "carve",
	.summary = "Find files in disk images and cut them out",
	.arguments = "IMAGE...",
	.description =
		"Searches every byte offset of each IMAGE for the headers and footers of the rules, checks "
		"what it finds, and writes the files that stand there to the output folder, with three "
		"reports: `report.jsonl` for programs, `report.xml` (DFXML) for other forensic tools, "
		"`audit.txt` for people who know Scalpel.\n\n"
		"An IMAGE is a raw file, the first part of a split raw image, a block device, an AFF, VMDK, "
		"VHD or VHDX file, or the first segment of an E01 set; a folder stands for the images in "
		"it, told by their names. It is "
		"never written to. With several images, each gets its own folder in the output folder, one "
		"that fails does not stop the others, and `batch.txt` and `batch.json` sum them up.\n\n"
		"A run that was killed, interrupted or out of space goes on with `--resume DIR`, and gives the "
		"same files and reports as one that nobody disturbed. Its image, rules and options are "
		"known; what does not change the result, like `--threads`, may be given anew.\n\n"
		"The files and reports are the same whatever engine, number of threads or chunk size is "
		"used.",
	.options = carve_options,
	.settings_size = sizeof(struct carve_settings),
	.run = run,
	.shared = true,
	.examples = examples,
};
