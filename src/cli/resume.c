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
#include "base/text.h"
#include "cli/command.h"

/* A copy, which options_parse may permute, of the words from "carve" on, or from "burin" where that
 * is not there. */
static char **copy_words(char *const *words, int *count)
{
	char **copy;
	size_t len = 0;

	if (words[0] && words[1] && strcmp(words[1], carve_command.name) == 0)
		words++;
	while (words[len])
		len++;
	copy = xcalloc(len + 1, sizeof(*copy));
	memcpy(copy, words, len * sizeof(*copy));
	*count = (int)len;
	return copy;
}

/* Of a batch that has come to its end only the summary is left. */
static bool holds_batch(const char *output)
{
	char *path = xasprintf("%s/batch.json", output);
	bool found = access(path, F_OK) == 0;

	free(path);
	return found;
}

static int nothing_to_resume(const char *output, int kind, const struct error *error)
{
	if (kind < 0) {
		log_error("%s", error->text);
		return error->code;
	}
	if (kind == CHECKPOINT_FINISHED || holds_batch(output)) {
		log_info("the run in %s is complete; there is nothing to resume", output);
		return EXIT_CLEAN;
	}
	log_error("cannot resume: there is no checkpoint in %s", output);
	return EXIT_USAGE;
}

/* The image may have moved, but its name is in the reports and must be the same. For the same
 * reason links are not resolved. */
static int move_image(struct resume *resume, const char *image)
{
	const char *was = resume->old.image_path;
	char *directory = *image == '/' ? NULL : getcwd(NULL, 0);

	if (resume->old.batch || strcmp(text_file_name(was), text_file_name(image)) != 0) {
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
	resume->words = copy_words(resume->old.arguments, &resume->word_count);
	resume->given = copy_words(given, &resume->given_count);
	if (chdir(resume->old.directory))
		log_warn("cannot change to %s, where the run was started: %s",
			resume->old.directory, strerror(errno));
	return -1;
}

void resume_end(struct resume *resume)
{
	checkpoint_header_free(&resume->old);
	free(resume->words);
	free(resume->given);
	free(resume->output);
	free(resume->moved);
}
