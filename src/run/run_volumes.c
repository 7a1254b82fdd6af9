/*
 * What the image holds, and with --unallocated or --allocated the part of it that is searched. That
 * part is one stream: a file may begin in one of its pieces and end in the next. All stages work
 * with offsets in the stream; alignment is asked for, and reports are written, in offsets of the
 * evidence (evidence/extent_image.h).
 */
#include "run/run_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/text.h"
#include "evidence/extent_image.h"

/* A hostile partition table has a thousand entries. */
#define TELL_MAX 16

static bool interrupted(void)
{
	return run_caught_signal() != 0;
}

/* "ntfs 'DATA' at byte 1048576, 20.0 MiB (Basic data partition)" */
static char *volume_words(const struct volume *volume)
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

/* Of what is not read more is said than of the rest. */
static void tell_volumes(const struct run *run)
{
	const struct volume *volumes;
	size_t count, told = 0;

	volumes = volumes_list(run->volumes, &count);
	for (size_t i = 0; i < count; i++) {
		const struct volume *volume = &volumes[i];
		char *words = volume_words(volume);
		bool loud = volume->encrypted || !volume->type;

		if (loud && told++ < TELL_MAX)
			log_warn("%s: %s: %s", run->record.image_path, words, volume->note);
		else
			log_debug("%s: %s%s%s", run->record.image_path, words,
				*volume->note ? ": " : "", volume->note);
		free(words);
	}
	if (told > TELL_MAX)
		log_warn(
			"%s: %zu more volumes that are encrypted or unknown; the report lists them",
			run->record.image_path, told - TELL_MAX);
}

/* A damaged file system is daily bread to a carver, and a problem only where the result rests on
 * it. */
static void take_problems(struct run *run)
{
	for (size_t i = 0; volumes_problem(run->volumes, i); i++) {
		if (run->options->space != SPACE_ALL)
			run_add_problem(run, xstrdup(volumes_problem(run->volumes, i)));
		else
			log_warn(
				"%s: %s", run->record.image_path, volumes_problem(run->volumes, i));
	}
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

static void choose_space(struct run *run)
{
	static const struct ranges none;
	const struct ranges *in_use = volumes_in_use(run->volumes);
	uint64_t size = image_info(run->evidence)->size;
	bool unallocated = run->options->space == SPACE_UNALLOCATED;

	if (!in_use)
		run_add_problem(run, xasprintf("no file system could be read: %s counts as %s",
					     unallocated ? "all of the image" : "none of the image",
					     unallocated ? "unallocated" : "allocated"));
	if (unallocated)
		complement(in_use ? in_use : &none, size, &run->space);
	else if (in_use)
		for (size_t i = 0; i < in_use->count; i++)
			ranges_add(&run->space, in_use->items[i].offset, in_use->items[i].length);
	if (run->space.count)
		run->image = extent_image_open(run->evidence, &run->space);
}

void run_read_volumes(struct run *run, const char *image_path)
{
	const struct run_options *options = run->options;

	run->record.image_path = image_path;
	if (options->space == SPACE_ALL && options->file_systems == VOLUMES_OFF)
		return;
	run->volumes = volumes_read(run->evidence,
		options->space == SPACE_ALL ? options->file_systems : VOLUMES_MAP, interrupted);
	tell_volumes(run);
	take_problems(run);
	if (options->space != SPACE_ALL)
		choose_space(run);
}

bool run_is_empty(const struct run *run)
{
	return run->range_start == run->range_end;
}

int run_check_range(struct run *run)
{
	const struct run_options *options = run->options;
	uint64_t size = image_info(run->evidence)->size, end = size;

	if (options->offset >= size)
		return error_set(&run->error, EXIT_USAGE, EINVAL,
			"--offset %" PRIu64 " lies behind the end of the image (%" PRIu64 " bytes)",
			options->offset, size);
	if (options->length && options->length < size - options->offset)
		end = options->offset + options->length;
	if (options->space != SPACE_ALL && !run->space.count)
		return 0; /* empty */
	run->range_start = extent_image_from_evidence(run->image, options->offset);
	run->range_end = extent_image_from_evidence(run->image, end);
	return 0;
}

const struct ranges *run_unreadable(struct run *run)
{
	const struct ranges *found = &run->unread;

	if (run->image == run->evidence)
		return found;
	ranges_free(&run->unreadable);
	for (size_t i = 0; i < found->count; i++) {
		size_t count;
		struct range *runs = extent_image_runs(
			run->image, found->items[i].offset, found->items[i].length, &count);

		for (size_t k = 0; k < count; k++)
			ranges_add(&run->unreadable, runs[k].offset, runs[k].length);
		free(runs);
	}
	return &run->unreadable;
}

uint64_t run_place(const void *context, uint64_t offset)
{
	const struct run *run = context;

	return extent_image_to_evidence(run->image, offset);
}

void run_free_volumes(struct run *run)
{
	if (run->image != run->evidence)
		image_close(run->image);
	volumes_free(run->volumes);
	ranges_free(&run->space);
	ranges_free(&run->unreadable);
}
