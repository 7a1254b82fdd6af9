#include "run/scope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/text.h"
#include "evidence/evidence_process.h"
#include "evidence/extent_image.h"
#include "evidence/inner.h"
#include "run/signals.h"

/* A hostile partition table has a thousand entries. */
#define WARNINGS_MAX 16

/* ---- volumes ------------------------------------------------------------------------------- */

/* "ntfs 'DATA' at byte 1048576, 20.0 MiB (Basic data partition)" */
static char *describe_volume(const struct volume *volume)
{
	char size[16];
	char *name = text_clean_copy(volume->file_system), *label = text_clean_copy(volume->label),
	     *description = text_clean_copy(volume->description);
	char *words = xasprintf("%s%s%s%s at byte %" PRIu64 ", %s%s%s%s",
		*name ? name : "unknown volume", *label ? " '" : "", label, *label ? "'" : "",
		volume->offset, size_print(volume->length, size), *description ? " (" : "",
		description, *description ? ")" : "");

	free(name);
	free(label);
	free(description);
	return words;
}

/* Volumes that can't be read are logged as warnings, the rest for --verbose only. */
static void log_volumes(const struct scope *scope)
{
	const struct volume *volumes;
	size_t count, warnings = 0;

	volumes = volumes_list(scope->volumes, &count);
	for (size_t i = 0; i < count; i++) {
		const struct volume *volume = &volumes[i];
		char *words = describe_volume(volume);
		bool unread = volume->encrypted || !volume->type;

		if (unread && warnings++ < WARNINGS_MAX)
			log_warn("%s: %s: %s", scope->image_path, words, volume->note);
		else
			log_debug("%s: %s%s%s", scope->image_path, words, *volume->note ? ": " : "",
				volume->note);
		free(words);
	}
	if (warnings > WARNINGS_MAX)
		log_warn(
			"%s: %zu more volumes that are encrypted or unknown; the report lists them",
			scope->image_path, warnings - WARNINGS_MAX);
}

/* A damaged file system is nothing unusual for a carver: it is a problem only where the result
 * depends on it. */
static void log_problems(const struct scope *scope)
{
	for (size_t i = 0; volumes_problem(scope->volumes, i); i++)
		log_warn("%s: %s", scope->image_path, volumes_problem(scope->volumes, i));
}

static void note_problems(const struct scope *scope, struct problems *problems)
{
	for (size_t i = 0; volumes_problem(scope->volumes, i); i++)
		problems_add(problems, xstrdup(volumes_problem(scope->volumes, i)));
}

void scope_log_volumes(struct scope *scope)
{
	if (scope->volumes_logged || !scope->volumes || !volumes_known(scope->volumes))
		return;
	scope->volumes_logged = true;
	log_volumes(scope);
	if (!scope->selects)
		log_problems(scope);
}

void scope_end_volumes(struct scope *scope, bool failed)
{
	if (failed)
		volumes_cancel(scope->volumes);
	else if (scope->volumes)
		volumes_wait(scope->volumes);
	scope_log_volumes(scope);
}

/* ---- the part that is searched ------------------------------------------------------------- */

/* Where the range of --offset and --length ends. */
static uint64_t range_end(const struct run_options *options, uint64_t size)
{
	return options->length && options->offset < size && options->length < size - options->offset
		       ? options->offset + options->length
		       : size;
}

/* The bytes of the image that no range holds. */
static void complement(const struct ranges *ranges, uint64_t size, struct ranges *rest)
{
	uint64_t at = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		ranges_add(rest, at, ranges->items[i].offset - at);
		at = ranges->items[i].offset + ranges->items[i].length;
	}
	ranges_add(rest, at, size - at);
}

/* Adds the parts of ranges from `from` on that start before `until`. */
static void add_from(
	struct ranges *part, const struct ranges *ranges, uint64_t from, uint64_t until)
{
	for (size_t i = 0; i < ranges->count && ranges->items[i].offset < until; i++) {
		uint64_t offset = ranges->items[i].offset, end = offset + ranges->items[i].length;

		if (offset < from)
			offset = from;
		if (offset < end)
			ranges_add(part, offset, end - offset);
	}
}

/* Both rising. */
static void add_both(struct ranges *sum, const struct ranges *a, const struct ranges *b)
{
	size_t i = 0, k = 0;

	while (i < a->count || k < b->count) {
		const struct range *next =
			k == b->count || (i < a->count && a->items[i].offset < b->items[k].offset)
				? &a->items[i++]
				: &b->items[k++];

		ranges_add(sum, next->offset, next->length);
	}
}

/* What no file uses though it is in blocks that are in use. */
static void find_small(
	const struct scope *scope, const struct run_options *options, struct ranges *small)
{
	uint64_t size = image_info(scope->evidence)->size;
	struct ranges all = { 0 };

	if (options->no_slack)
		add_from(&all, volumes_free_records(scope->volumes), 0, UINT64_MAX);
	else
		add_both(&all, volumes_slack(scope->volumes), volumes_free_records(scope->volumes));
	add_from(small, &all, options->offset, range_end(options, size));
	ranges_free(&all);
}

/* Leaves of the ranges what is in others, too. */
static void keep_common(struct ranges *ranges, const struct ranges *others)
{
	struct ranges common = { 0 };
	size_t i = 0, k = 0;

	while (i < ranges->count && k < others->count) {
		const struct range *a = &ranges->items[i], *b = &others->items[k];
		uint64_t a_end = a->offset + a->length, b_end = b->offset + b->length;
		uint64_t from = a->offset > b->offset ? a->offset : b->offset;
		uint64_t end = a_end < b_end ? a_end : b_end;

		if (from < end)
			ranges_add(&common, from, end - from);
		if (a_end < b_end)
			i++;
		else
			k++;
	}
	ranges_free(ranges);
	*ranges = common;
}

static void select_space(const struct scope *scope, const struct run_options *options,
	struct problems *problems, struct ranges *small, struct ranges *all)
{
	const struct ranges *in_use = volumes_in_use(scope->volumes);
	bool unallocated = options->space == SPACE_UNALLOCATED;
	struct ranges used = { 0 };

	if (!in_use)
		problems_add(
			problems, xasprintf("no file system could be read: %s counts as %s",
					  unallocated ? "the whole image" : "none of the image",
					  unallocated ? "unallocated" : "allocated"));
	if (!unallocated) {
		if (in_use)
			add_from(all, in_use, 0, UINT64_MAX);
		return;
	}
	if (in_use)
		add_both(&used, in_use, volumes_free_records(scope->volumes));
	complement(&used, image_info(scope->evidence)->size, all);
	ranges_free(&used);
	find_small(scope, options, small);
}

/* The selected part begins where files may start, so that both kinds of ranges do. changed: of a shadow
 * copy, what differs from the volume, whole files where that is known; NULL: another image. */
static void select_part(struct scope *scope, const struct run_options *options,
	struct problems *problems, const struct ranges *changed)
{
	struct ranges all = { 0 }, small = { 0 }, part = { 0 };

	if (options->space == SPACE_ALL)
		ranges_add(&all, 0, image_info(scope->evidence)->size);
	else
		select_space(scope, options, problems, &small, &all);
	if (changed) {
		keep_common(&all, changed);
		keep_common(&small, changed);
	}
	add_from(&part, &all, options->offset, UINT64_MAX);
	if (part.count || small.count)
		scope->image = extent_image_open(scope->evidence, &small, &part);
	ranges_free(&all);
	ranges_free(&small);
	ranges_free(&part);
}

/* Reads the volumes where they are asked for, or decide what is searched. */
static int read_volumes(struct scope *scope, const struct run_options *options, bool find_volumes,
	struct problems *problems, struct error *error)
{
	bool select = options->space != SPACE_ALL;
	struct ranges changed = { 0 };
	bool is_copy = inner_changed(scope->evidence, &changed);
	bool wanted = select || (options->file_systems != VOLUMES_OFF && (find_volumes || is_copy));

	if (wanted && evidence_process_check(error)) {
		ranges_free(&changed);
		return -ENOENT;
	}
	scope->selects = select;
	scope->is_part = select || is_copy;
	if (wanted) {
		scope->volumes = volumes_read(scope->evidence,
			select ? VOLUMES_MAP : options->file_systems, signals_interrupted);
		volumes_complete(scope->volumes, &changed);
	}
	if (select)
		note_problems(scope, problems);
	if (scope->is_part)
		select_part(scope, options, problems, is_copy ? &changed : NULL);
	ranges_free(&changed);
	return 0;
}

static int check_range(struct scope *scope, const struct run_options *options, struct error *error)
{
	uint64_t size = image_info(scope->evidence)->size;

	if (options->offset >= size)
		return error_set(error, EXIT_USAGE, EINVAL,
			"--offset %" PRIu64 " is past the end of the image (%" PRIu64 " bytes)",
			options->offset, size);
	if (scope->is_part && scope->image == scope->evidence)
		return 0; /* empty */
	if (!scope->is_part)
		scope->begin = options->offset;
	scope->end = extent_image_from_evidence(scope->image, range_end(options, size));
	return 0;
}

/* ---- the interface ------------------------------------------------------------------------- */

int scope_open_image(struct scope *scope, const char *image_path, struct error *error)
{
	int status = image_open(&scope->evidence, image_path, error);

	scope->image_path = image_path;
	if (status)
		return status;
	image_set_interrupted(scope->evidence, signals_interrupted);
	scope->image = scope->evidence;
	scope->end = image_info(scope->evidence)->size;
	return 0;
}

int scope_open(struct scope *scope, const struct run_options *options, const char *image_path,
	bool find_volumes, struct problems *problems, struct error *error)
{
	int status = scope_open_image(scope, image_path, error);

	if (!status && options->map_path)
		status = image_use_ddrescue_map(scope->evidence, options->map_path, error);
	if (!status)
		status = read_volumes(scope, options, find_volumes, problems, error);
	if (status)
		return status;
	scope->begin = scope->end = 0;
	return check_range(scope, options, error);
}

bool scope_is_empty(const struct scope *scope)
{
	return scope->begin == scope->end;
}

static uint64_t largest_header_offset(const struct rules *rules)
{
	uint64_t largest = 0;

	for (uint32_t r = 0; r < rules->count; r++)
		if (rules->rules[r].header_offset > largest)
			largest = rules->rules[r].header_offset;
	return largest;
}

uint64_t scope_reading_end(const struct scope *scope, const struct rules *rules)
{
	uint64_t past = largest_header_offset(rules);
	uint64_t left = image_info(scope->image)->size - scope->end;

	return scope->end + (past < left ? past : left);
}

uint64_t scope_evidence_offset(const void *context, uint64_t offset)
{
	const struct scope *scope = context;

	return extent_image_to_evidence(scope->image, offset);
}

void scope_note_unread(struct scope *scope, const struct ranges *unreadable)
{
	const struct range *last;

	if (!unreadable->count)
		return;
	last = &unreadable->items[unreadable->count - 1];
	if (last->offset + last->length == scope->unread_noted)
		return;
	scope->unread_noted = last->offset + last->length;
	for (size_t i = 0; i < unreadable->count; i++)
		ranges_add(
			&scope->unread, unreadable->items[i].offset, unreadable->items[i].length);
}

const struct ranges *scope_unreadable(struct scope *scope)
{
	const struct ranges *unread = &scope->unread;

	if (scope->image == scope->evidence)
		return unread;
	ranges_free(&scope->unreadable);
	for (size_t i = 0; i < unread->count; i++) {
		size_t count;
		struct range *runs = extent_image_runs(
			scope->image, unread->items[i].offset, unread->items[i].length, &count);

		for (size_t k = 0; k < count; k++)
			ranges_add(&scope->unreadable, runs[k].offset, runs[k].length);
		free(runs);
	}
	return &scope->unreadable;
}

void scope_close(struct scope *scope)
{
	if (scope->image != scope->evidence)
		image_close(scope->image);
	volumes_free(scope->volumes);
	image_close(scope->evidence);
	ranges_free(&scope->unread);
	ranges_free(&scope->unreadable);
}
