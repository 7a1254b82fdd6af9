/* `burin carve --resume`: the command line with which a run is resumed. */
#ifndef BURIN_CLI_RESUME_H
#define BURIN_CLI_RESUME_H

#include "base/options.h"
#include "run/checkpoint.h"

struct resume {
	struct checkpoint_header old;
	char *output; /* absolute, like the next */
	char *moved;  /* where the image is now; NULL: where it was */
	char **words; /* as argv for options_parse: of that run, of which there are word_count */
	int word_count;
	char **given; /* the same for the options given now */
	int given_count;
};

/* Reads the checkpoint in the folder output, and changes to the working directory from which that
 * run was started. given: the words of this command line; image: the image among them, or NULL.
 * Returns -1 if there is a run to resume; else logs why not and returns the exit code. */
int resume_begin(struct resume *resume, const char *output, char **given, const char *image);
void resume_end(struct resume *resume);

#endif
