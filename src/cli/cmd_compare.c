/* `burin compare`: two runs side by side. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_value.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/runs.h"
#include "cli/table.h"
#include "compare/compare.h"
#include "report/report_reader.h"
#include "rules/paths.h"

struct compare_settings {
	const char *config, *image, *html;
	struct option_list types;
	enum rules_format rules_format;
	bool all, json;
};

#define MEMBER(member) .offset = offsetof(struct compare_settings, member)

static const struct option_row compare_options[] = {
	{ .name = "image",
		.kind = OPTION_STRING,
		.metavar = "FILE",
		MEMBER(image),
		.help = "The image, to find out why results differ (default: the one named by a "
			"report, if it exists and has the reported size)" },
	{ .name = "config",
		.letter = 'c',
		.kind = OPTION_STRING,
		.metavar = "FILE",
		MEMBER(config),
		.help = "The rules of burin's run (default: the file named by its report, if it "
			"has not changed)" },
	RULES_FORMAT_ROW(struct compare_settings, rules_format, NULL),
	{ .name = "types",
		.letter = 't',
		.kind = OPTION_LIST,
		.metavar = "LIST",
		MEMBER(types),
		.help = "The --types of burin's run (default: those that its report names)" },
	{ .name = "all", MEMBER(all), .help = "Also show files that are the same" },
	{ .name = "html",
		.kind = OPTION_STRING,
		.metavar = "FILE",
		MEMBER(html),
		.help = "Also write a page to FILE, which must not exist" },
	{ .name = "json", MEMBER(json), .help = "Print JSON" },
	{ 0 },
};

/* ---- text ---------------------------------------------------------------------------------- */

static void add_file_cell(struct table *table, const struct listed *file)
{
	if (!file)
		table_add(table, "-");
	else
		table_add(table, "%s %s%" PRIu64 "%s%s", *file->type ? file->type : "?",
			file->length_off ? "~" : "", file->length, *file->status ? " " : "",
			file->status);
}

/* "length, status", "only in A"; "" if there is no difference. */
static const char *difference_text(const struct compared *row, char text[64])
{
	text[0] = '\0';
	if (!row->a || !row->b)
		return row->a ? "only in A" : "only in B";
	for (unsigned bit = 0; bit < DIFFERENCES; bit++)
		if (row->differences & 1u << bit) {
			size_t used = strlen(text);

			snprintf(text + used, 64 - used, "%s%s", used ? ", " : "",
				compare_difference_name((enum compare_difference)(1u << bit)));
		}
	return text;
}

static void print_rows(const struct comparison *comparison, bool all)
{
	static const char *const heads[] = { "OFFSET", "A", "B", "DIFFERENCE", "WHY", "IN WORDS" };
	struct table *table = table_new("rlllll");
	bool some = false;
	char text[64];

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		table_add(table, "%s", heads[i]);
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compared *row = &comparison->rows[i];

		if (row->why == COMPARE_SAME && !all)
			continue;
		some = true;
		table_add(table, "%" PRIu64, (row->a ? row->a : row->b)->offset);
		add_file_cell(table, row->a);
		add_file_cell(table, row->b);
		table_add(table, "%s", difference_text(row, text));
		table_add(table, "%s", compare_why_name(row->why));
		table_add(table, "%s", row->text);
	}
	if (some) {
		table_print(table, stdout);
		putchar('\n');
	}
	table_free(table);
}

static void print_side(const char *name, const struct listing *listing)
{
	printf("%s: %s %s, %zu file%s%s: %s\n", name, listing_tool_name(listing->tool),
		listing->version, listing->count, listing->count == 1 ? "" : "s",
		listing->ended ? "" : ", unfinished", listing->path);
}

static void print_text(const struct comparison *comparison, bool all)
{
	const char *before = "Why: ";

	print_side("A", comparison->a.listing);
	print_side("B", comparison->b.listing);
	putchar('\n');
	print_rows(comparison, all);
	printf("%" PRIu64 " the same, %" PRIu64 " different, %" PRIu64 " in A alone, %" PRIu64
	       " in B alone\n",
		comparison->same, comparison->different, comparison->only_a, comparison->only_b);
	for (int why = COMPARE_SAME + 1; why < COMPARE_WHY_COUNT; why++)
		if (comparison->whys[why]) {
			printf("%s%" PRIu64 " %s", before, comparison->whys[why],
				compare_why_name((enum compare_why)why));
			before = ", ";
		}
	if (*before == ',')
		putchar('\n');
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static json_t *side_json(const struct listing *listing)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:b, s:I}", "tool",
		json_text(listing_tool_name(listing->tool)), "version", json_text(listing->version),
		"report", json_text(listing->path), "image", json_text(listing->image_path),
		"ended", listing->ended, "files", (json_int_t)listing->count);
}

static json_t *file_json(const struct listed *file)
{
	if (!file)
		return json_null();
	return json_pack("{s:o, s:o, s:I, s:I, s:o, s:o, s:I}", "path", json_text(file->path),
		"type", json_text(file->type), "length", (json_int_t)file->length, "length_at_most",
		(json_int_t)(file->length + file->length_off), "status",
		json_text(*file->status ? file->status : NULL), "note", json_text(file->note),
		"pieces", (json_int_t)file->run_count);
}

static json_t *row_json(const struct compared *row)
{
	json_t *differences = json_array();

	for (unsigned bit = 0; bit < DIFFERENCES; bit++)
		if (row->differences & 1u << bit)
			json_array_append_new(
				differences, json_text(compare_difference_name(
						     (enum compare_difference)(1u << bit))));
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "offset",
		(json_int_t)(row->a ? row->a : row->b)->offset, "a", file_json(row->a), "b",
		file_json(row->b), "differences", differences, "why",
		json_text(compare_why_name(row->why)), "text", json_text(row->text));
}

static void print_json(const struct comparison *comparison, bool all)
{
	json_t *rows = json_array(), *whys = json_object();

	for (size_t i = 0; i < comparison->count; i++)
		if (all || comparison->rows[i].why != COMPARE_SAME)
			json_array_append_new(rows, row_json(&comparison->rows[i]));
	for (int why = COMPARE_SAME + 1; why < COMPARE_WHY_COUNT; why++)
		if (comparison->whys[why])
			json_object_set_new(whys, compare_why_name((enum compare_why)why),
				json_integer((json_int_t)comparison->whys[why]));
	json_print(json_pack("{s:o, s:o, s:{s:I, s:I, s:I, s:I}, s:o, s:o}", "a",
		side_json(comparison->a.listing), "b", side_json(comparison->b.listing), "counts",
		"same", (json_int_t)comparison->same, "different",
		(json_int_t)comparison->different, "only_a", (json_int_t)comparison->only_a,
		"only_b", (json_int_t)comparison->only_b, "why", whys, "rows", rows));
}

/* ---- rules and image ----------------------------------------------------------------------- */

/* Finds the rules of a run: for burin those of --config, or those that its report names; for
 * Scalpel those that its audit names. NULL if they do not exist or have changed since. */
static int find_rules(const struct compare_settings *settings, const struct listing *listing,
	struct rules **rules, struct error *error)
{
	bool burin = listing->tool == TOOL_BURIN;
	struct option_list selected = { (const char *[]){ listing->types }, *listing->types != 0,
		0 };
	const struct option_list *types = settings->types.count ? &settings->types : &selected;
	struct error ignored = { 0 };

	*rules = NULL;
	if (burin && settings->config)
		return rules_open(rules, settings->config, settings->rules_format, types, error);
	if ((!burin && listing->tool != TOOL_SCALPEL) || !*listing->rules_path ||
		rules_open(rules, listing->rules_path,
			burin ? settings->rules_format : RULES_SCALPEL, burin ? types : NULL,
			&ignored))
		return 0;
	if (burin && strcmp((*rules)->sha256, listing->rules_sha256) != 0) {
		log_warn("the rules '%s' have changed since the run and are not used",
			listing->rules_path);
		rules_free(*rules);
		*rules = NULL;
	}
	return 0;
}

/* The image named by a report; NULL unless it exists and has the reported size. */
static struct image *named_image(const struct listing *listing)
{
	struct error ignored = { 0 };
	struct image *image = NULL;

	if (!*listing->image_path || access(listing->image_path, R_OK) ||
		image_open(&image, listing->image_path, &ignored))
		return NULL;
	if (listing->image_size && image_info(image)->size != listing->image_size) {
		image_close(image);
		return NULL;
	}
	return image;
}

static int find_image(const struct compare_settings *settings, const struct listing *a,
	const struct listing *b, struct image **image, struct error *error)
{
	if (settings->image)
		return image_open(image, settings->image, error);
	*image = named_image(a);
	if (!*image)
		*image = named_image(b);
	return 0;
}

/* ---- all ----------------------------------------------------------------------------------- */

static int write_page(const struct comparison *comparison, const char *path, struct error *error)
{
	FILE *stream = fopen(path, "wxe");
	int status;

	if (!stream)
		return error_set(
			error, EXIT_IO, errno, "cannot create '%.500s': %s", path, strerror(errno));
	status = compare_page(comparison, stream);
	if (fclose(stream) || status)
		return error_set(error, EXIT_IO, EIO, "cannot write '%.500s'", path);
	return 0;
}

static void warn_about(const struct listing *a, const struct listing *b)
{
	if (a->image_size && b->image_size && a->image_size != b->image_size)
		log_warn("the runs are over different images: one has %" PRIu64
			 " bytes, the other %" PRIu64,
			a->image_size, b->image_size);
}

static int compare(const struct compare_settings *settings, const struct compare_side *a,
	const struct compare_side *b, struct image *image, struct error *error)
{
	struct comparison *comparison;
	int status = 0;

	compare_runs(&comparison, a, b, image);
	if (settings->html)
		status = write_page(comparison, settings->html, error);
	if (!status && settings->json)
		print_json(comparison, settings->all);
	else if (!status)
		print_text(comparison, settings->all);
	if (!status)
		status = comparison->same == comparison->count ? EXIT_CLEAN : EXIT_PROBLEMS;
	comparison_free(comparison);
	return status;
}

/* Returns an exit code. */
static int compare_reports(
	const struct compare_settings *settings, const char *path_a, const char *path_b)
{
	struct listing *a = NULL, *b = NULL;
	struct rules *rules_a = NULL, *rules_b = NULL;
	struct image *image = NULL;
	struct error error = { 0 };
	int status = listing_open(&a, path_a, &error);

	if (!status)
		status = listing_open(&b, path_b, &error);
	if (!status)
		status = find_rules(settings, a, &rules_a, &error);
	if (!status)
		status = find_rules(settings, b, &rules_b, &error);
	if (!status)
		status = find_image(settings, a, b, &image, &error);
	if (!status) {
		warn_about(a, b);
		status = compare(settings, &(struct compare_side){ a, rules_a },
			&(struct compare_side){ b, rules_b }, image, &error);
	}
	if (status < 0)
		log_error("%s", error.text);
	image_close(image);
	rules_free(rules_a);
	rules_free(rules_b);
	listing_free(a);
	listing_free(b);
	return status < 0 ? error.code : status;
}

static const char *name_of(const char *folder)
{
	return strrchr(folder, '/') + 1; /* runs_find put the slash there */
}

/* The folder of the same name in another batch; NULL. */
static const char *find_run(const struct runs *runs, const char *folder)
{
	for (size_t i = 0; i < runs->count; i++)
		if (strcmp(name_of(runs->folders[i]), name_of(folder)) == 0)
			return runs->folders[i];
	return NULL;
}

/* Returns EXIT_PROBLEMS when images have a run in one batch alone. */
static int warn_of_alone(const struct runs *runs, const struct runs *other)
{
	int code = EXIT_CLEAN;

	for (size_t i = 0; i < runs->count; i++)
		if (!find_run(other, runs->folders[i])) {
			log_warn("the other batch has no %s, as %s has", name_of(runs->folders[i]),
				runs->folders[i]);
			code = EXIT_PROBLEMS;
		}
	return code;
}

/* Image by image, by the names of their folders. */
static int compare_batches(
	const struct compare_settings *settings, const struct runs *a, const struct runs *b)
{
	int worst, code;

	if (settings->html) {
		log_error("--html makes a page of two runs, and these are batches: name the folder "
			  "of one image in each");
		return EXIT_USAGE;
	}
	worst = warn_of_alone(a, b);
	code = warn_of_alone(b, a);
	worst = code > worst ? code : worst;
	for (size_t i = 0; i < a->count; i++) {
		const char *same = find_run(b, a->folders[i]);

		if (!same)
			continue;
		if (!settings->json)
			printf("%s%s\n", i ? "\n" : "", name_of(a->folders[i]));
		code = compare_reports(settings, a->folders[i], same);
		worst = code > worst ? code : worst;
	}
	return worst;
}

/* Whether a batch's run carved an image of this size (0: not known) and file name. */
static bool is_about(const char *folder, const struct listing *other)
{
	char *path = report_reader_path(folder);
	struct report_reader *report = NULL;
	struct error ignored = { 0 };
	bool same = false;

	if (!report_reader_open(&report, AT_FDCWD, path, &ignored)) {
		const struct report_reader_run *run = report_reader_run(report);

		same = strcmp(text_file_name(run->image_path), text_file_name(other->image_path)) ==
			       0 &&
		       (!other->image_size || other->image_size == run->image_size);
	}
	report_reader_close(report);
	free(path);
	return same;
}

/* Of a batch, the run over the same image as a single run: replaces the batch's path in it. Returns an exit code. */
static int choose_run(const struct runs *batch, const char *single, const char **path)
{
	const char *batch_path = *path;
	struct listing *other = NULL;
	struct error error = { 0 };
	size_t found = 0;

	if (listing_open(&other, single, &error)) {
		log_error("%s", error.text);
		return error.code;
	}
	for (size_t i = 0; i < batch->count; i++)
		if (*other->image_path && is_about(batch->folders[i], other)) {
			*path = batch->folders[i];
			found++;
		}
	if (found != 1)
		log_error("'%s' is a batch, and %s of its runs carved the image of '%s'; name the "
			  "folder of one image",
			batch_path, found ? "several" : "none", single);
	listing_free(other);
	return found == 1 ? EXIT_CLEAN : EXIT_USAGE;
}

static int run(void *arg, int argc, char **argv)
{
	const char *path_a = argv[0], *path_b = argv[1];
	struct runs a = { 0 }, b = { 0 };
	int code = EXIT_CLEAN;

	(void)argc;
	runs_find(&a, path_a);
	runs_find(&b, path_b);
	if (a.batch && !b.batch)
		code = choose_run(&a, path_b, &path_a);
	else if (b.batch && !a.batch)
		code = choose_run(&b, path_a, &path_b);
	if (code == EXIT_CLEAN)
		code = a.batch && b.batch ? compare_batches(arg, &a, &b)
					  : compare_reports(arg, path_a, path_b);
	runs_free(&a);
	runs_free(&b);
	return code;
}

static const struct example examples[] = {
	{ "burin compare old new", "shows where the results of two runs of burin differ" },
	{ "burin compare out recup_dir.1/report.xml --image disk.dd --html compared.html",
		"compares burin with PhotoRec, and also writes a page" },
	{ NULL, NULL },
};

const struct command compare_command = {
	.name = "compare",
	.summary = "Show where the results of two runs, or two tools, differ, and why",
	.arguments = "A B",
	.min_arguments = 2,
	.max_arguments = 2,
	.description =
		"A and B are reports, or folders that contain one: a `report.jsonl` of burin, an "
		"`audit.txt` of Scalpel or Foremost, a `report.xml` of PhotoRec (or other DFXML "
		"with image offsets). The format is detected from the content. Two batches are "
		"compared image by image; of a batch and a single run, the runs over the same "
		"image are.\n\n"
		"Files are matched by their start offset in the image. Then lengths, types (as far "
		"as the tools' names correspond: a DOCX is a ZIP), statuses, hashes and extents "
		"are compared. If one side lacks a file, the reason is shown as far as it can be "
		"determined: not scanned, unaligned, hidden inside another file, no rule. If the "
		"image is available, the rules of burin, and of Scalpel if its rule file exists, "
		"are tested at the offset, as `burin why` does.\n\n"
		"The exit code is 0 if both have the same files, 1 if something differs.",
	.options = compare_options,
	.settings_size = sizeof(struct compare_settings),
	.run = run,
	.examples = examples,
};
