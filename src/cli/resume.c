/*
 * A run is resumed with its own command line, which its checkpoint holds, plus the options given
 * now: how many threads, which engine. The run itself refuses options that would change the result
 * (run/checkpoint.c), because it knows what its checkpoint was made with.
 */
#include "cli/resume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/command.h"

/* Skips "burin carve", or "burin" alone. */
static char **options_of(char **words)
{
	if (*words)
		words++;
	if (*words && strcmp(*words, carve_command.name) == 0)
		words++;
	return words;
}

static int find_end(char **words)
{
	int count = 0;

	while (words[count] && strcmp(words[count], "--") != 0)
		count++;
	return count;
}

/* Options given now come last and so override the old ones. Images given now are left out;
 * everything after "--" is an image. */
static void join_command_lines(struct resume *resume, char **old, char **given)
{
	int options = find_end(old), more = find_end(given), rest = 0, used = 0;

	while (old[options + rest])
		rest++;
	resume->words = xcalloc((size_t)(1 + options + more + rest + 1), sizeof(*resume->words));
	resume->words[used++] = (char *)carve_command.name;
	for (int i = 0; i < options; i++)
		resume->words[used++] = old[i];
	for (int i = 0; i < more; i++)
		resume->words[used++] = given[i];
	for (int i = 0; i < rest; i++)
		resume->words[used++] = old[options + i];
	resume->word_count = used;
}

static int nothing_to_resume(const char *output, int kind, const struct error *error)
{
	if (kind < 0) {
		log_error("%s", error->text);
		return error->code;
	}
	if (kind == CHECKPOINT_FINISHED) {
		log_info("the run in %s is complete; there is nothing to resume", output);
		return EXIT_CLEAN;
	}
	log_error("cannot resume: there is no checkpoint in %s", output);
	return EXIT_USAGE;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The image may have moved, but its name is in the reports and must be the same. For the same
 * reason links are not resolved. */
static int move_image(struct resume *resume, const char *image)
{
	const char *was = resume->old.image_path;
	char *directory = *image == '/' ? NULL : getcwd(NULL, 0);

	if (resume->old.batch || strcmp(last_component(was), last_component(image)) != 0) {
		log_error("the run in %s is for %s; it can't be resumed with %s", resume->output,
			resume->old.batch ? "several images" : was, image);
		free(directory);
		return EXIT_USAGE;
	}
	resume->moved = directory ? xasprintf("%s/%s", directory, image) : xstrdup(image);
	free(directory);
	return EXIT_CLEAN;
}

int resume_begin(struct resume *resume, const char *output, char **given, const char *image)
{
	struct error error = { 0 };
	int kind = checkpoint_find(&resume->old, output, &error);

	if (kind != CHECKPOINT_RESUMABLE)
		return nothing_to_resume(output, kind, &error);
	resume->output = realpath(output, NULL);
	if (!resume->output) {
		log_error("cannot open the output folder %s: %s", output, strerror(errno));
		return EXIT_IO;
	}
	if (image && move_image(resume, image))
		return EXIT_USAGE;
	join_command_lines(resume, options_of(resume->old.arguments), options_of(given));
	if (chdir(resume->old.directory))
		log_warn("cannot change to %s, where the run was started: %s",
			resume->old.directory, strerror(errno));
	return -1;
}

void resume_end(struct resume *resume)
{
	checkpoint_header_free(&resume->old);
	free(resume->words);
	free(resume->output);
	free(resume->moved);
}
