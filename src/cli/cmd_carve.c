/* `burin carve`: images and rules in, files and reports out. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/batch.h"
#include "cli/command.h"
#include "cli/images.h"
#include "cli/resume.h"
#include "library/program_run.h"
#include "run/carve_options.h"
#include "run/cluster.h"
#include "run/inputs.h"

/* A user who gives a key wants what it opens. */
static void open_images(struct images *images, const struct carve_options *settings)
{
	const struct inner_wanted wanted = {
		.volumes = settings->open || settings->secrets.passwords.count ||
			   settings->secrets.keys.count,
		.shadows = settings->shadow,
	};

	if (wanted.volumes || wanted.shadows)
		images_open(images, &wanted);
}

static int collect_images(
	struct images *images, const struct carve_options *settings, int argc, char **argv)
{
	struct error error = { 0 };
	int status = secret_files_read(&settings->secrets, &error);

	images->recursive = settings->recursive;
	for (int i = 0; i < argc && !status; i++)
		status = images_add(images, argv[i], &error);
	for (size_t i = 0; i < settings->lists.count && !status; i++)
		status = images_add_list(images, settings->lists.items[i], &error);
	if (!status) {
		images_finish(images);
		open_images(images, settings);
	}
	if (!the_cluster || !the_cluster->rank)
		images_log(images);
	if (!status && !images->count)
		status = error_set(&error, EXIT_USAGE, EINVAL,
			"no image was given; try: burin carve -o OUT IMAGE");
	if (!status && settings->run.map_path && images->count > 1)
		status = error_set(&error, EXIT_USAGE, EINVAL,
			"--map describes one image, but %zu were given", images->count);
	if (status)
		log_error("%s", error.text);
	return status ? error.code : EXIT_CLEAN;
}

static int confine_parsers(const struct carve_options *settings)
{
	struct error error = { 0 };

	if (!run_inputs_confine(settings, &error))
		return EXIT_CLEAN;
	log_error("%s", error.text);
	return error.code;
}

/* For a person at a terminal, before anything begins. */
static void announce(
	const struct run_options *options, const struct images *images, const char *output)
{
	const struct rules *rules = options->rules;
	char *what = images->count == 1 ? xstrdup(images->paths[0])
					: xasprintf("%zu images", images->count);

	if (isatty(STDERR_FILENO) && !(the_cluster && the_cluster->rank))
		log_info("%s %s for files of %" PRIu32 " %s (%s); %s to %s",
			options->resume ? "resuming to search" : "searching", what, rules->count,
			rules->count == 1 ? "type" : "types", rules->path,
			options->dry_run ? "the reports alone go" : "they and the reports go",
			output);
	free(what);
}

/* Carves into output or, for several images and for a resumed batch, into a folder for each in
 * output. */
static int carve(const struct carve_options *settings, const struct images *images,
	const char *output, bool batch, char **arguments)
{
	struct burin_run *run = library_run_of_program(settings, arguments);
	struct error error = { 0 };
	const struct run_options *options = library_run_options(run, &error);
	int code;

	if (!options) {
		log_error("%s", error.text);
		code = error.code;
	} else {
		signals_catch();
		announce(options, images, output);
		code = batch ? batch_carve(options, images, output, (unsigned)settings->jobs,
				       settings->html)
			     : burin_run_carve(run, images->paths[0], output, NULL);
		if (settings->html && !batch && !(the_cluster && the_cluster->rank))
			code = page_after_run(output, code);
	}
	burin_run_free(run);
	return code;
}

/* settings: filled from the command line of the run and then from the current one. */
static int carve_resumed(struct carve_options *settings, struct resume *resume)
{
	char *path = resume->moved ? resume->moved : resume->old.image_path;
	struct images one = { .paths = &path, .count = 1 }, several = { 0 };
	struct error error = { 0 };
	bool batch = resume->old.batch;
	int first = options_parse(carve_option_rows, "burin carve", resume->word_count,
		resume->words, settings, &error);
	int code;

	if (first <= 0 ||
		options_parse_over(carve_option_rows, "burin carve", resume->given_count,
			resume->given, settings, &error) <= 0 ||
		carve_options_complete(settings, &error)) {
		log_error("%s", error.text);
		return EXIT_USAGE;
	}
	code = confine_parsers(settings);
	if (batch && !code)
		code = collect_images(
			&several, settings, resume->word_count - first, resume->words + first);
	if (!code)
		code = carve(settings, batch ? &several : &one, resume->output, batch,
			resume->old.arguments);
	images_free(&several);
	return code;
}

/* given: only what this command line says. */
static int resume_run(const struct carve_options *given, int argc, char **argv)
{
	struct carve_options settings = { 0 };
	struct resume resume = { 0 };
	int code;

	if (given->output || given->lists.count || argc > 1) {
		log_error("--resume uses the run's own folder and images: %s can't be combined "
			  "with it",
			given->output        ? "-o"
			: given->lists.count ? "--list"
					     : "several images");
		return EXIT_USAGE;
	}
	code = resume_begin(&resume, given->resume, command_line, argc ? argv[0] : NULL);
	if (code < 0)
		code = carve_resumed(&settings, &resume);
	options_release(carve_option_rows, &settings);
	resume_end(&resume);
	return code;
}

static int run(void *arg, int argc, char **argv)
{
	struct carve_options *settings = arg;
	struct images images = { 0 };
	struct error error = { 0 };
	int code;

	log_set_level(settings->run.progress.quiet ? LOG_WARN
		      : settings->verbose          ? LOG_DEBUG
						   : LOG_INFO);
	if (settings->run.progress.json)
		progress_log_events();
	if (settings->resume)
		return resume_run(settings, argc, argv);
	if (!settings->output) {
		log_error("no output folder was given; try: burin carve -o OUT IMAGE");
		return EXIT_USAGE;
	}
	if (carve_options_complete(settings, &error)) {
		log_error("%s", error.text);
		return error.code;
	}
	code = confine_parsers(settings);
	if (!code)
		code = collect_images(&images, settings, argc, argv);
	if (!code)
		code = carve(settings, &images, settings->output,
			images.count > 1 || images.folders, command_line);
	images_free(&images);
	return code;
}

static const struct example examples[] = {
	{ "burin carve -o out disk.E01", "carves every type in the shipped rules" },
	{ "burin carve -c scalpel.conf -o out disk.dd", "carves with Scalpel's own rule file" },
	{ "burin carve -t jpeg,png -p -o plan disk.dd",
		"reports the pictures found, without writing them" },
	{ "burin carve --resume out",
		"resumes a run that was killed, interrupted, or out of space" },
	{ NULL, NULL },
};

const struct command carve_command = {
	.name = "carve",
	.summary = "Find files in disk images and recover them",
	.arguments = "IMAGE...",
	.description =
		"Scans every byte offset of each IMAGE for the headers and footers of the "
		"rules, checks each candidate, and writes the files to the output folder, "
		"with three reports: `report.jsonl` for programs, `report.xml` (DFXML) for "
		"other forensic tools, `audit.txt` for people who know Scalpel.\n\n"
		"An IMAGE is a raw file, the first part of a split raw image, a block "
		"device, an AFF, AFF4, VMDK, VHD, VHDX, QCOW2 or VDI file, or the first segment "
		"of an E01 "
		"set; a folder means all images in it, which are detected by their "
		"content or their extensions. Images are never written to. With several "
		"images, or a folder, each gets "
		"its own folder in the output folder, one that fails does not stop the "
		"others, and `batch.txt` and `batch.json` summarize them; what is in a "
		"folder and not carved is named there with the reason.\n\n"
		"`--resume DIR` continues a run that was killed, interrupted or out of "
		"space, and gives the same files and reports as an undisturbed run. It uses "
		"the run's image, rules and options; options that do not change the result, "
		"such as `--threads`, may be given again. It is refused if the image has changed: "
		"if `--verify` hashes the evidence, by the hash of all that was searched before, "
		"otherwise by 18 samples of 64 KiB.\n\n"
		"The files and reports are the same whatever engine, number of threads or "
		"chunk size is used.",
	.options = carve_option_rows,
	.settings_size = sizeof(struct carve_options),
	.run = run,
	.shared = true,
	.examples = examples,
};
