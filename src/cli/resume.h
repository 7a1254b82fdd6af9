/* `burin carve --resume`: which command line goes on. */
#ifndef BURIN_CLI_RESUME_H
#define BURIN_CLI_RESUME_H

#include "base/options.h"
#include "run/run_left.h"

struct resume {
	struct run_left left;
	char *output; /* absolute, as the next */
	char *moved;  /* where the image is now; NULL: where it was */
	char **words; /* as argv for options_parse: the options of that run, and behind them those
			 that were given now */
	int word_count;
};

/* Finds out what was left in the folder, and goes to the folder from which that run was started.
 * given: the words of this command line; image: the one among them, or NULL. Returns -1 when there
 * is something to go on with, else the exit code, having said why. */
int resume_begin(struct resume *resume, const char *output, char **given, const char *image);
void resume_end(struct resume *resume);

#endif
