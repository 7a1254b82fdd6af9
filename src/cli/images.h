/* Which images the words of a command line mean: files, devices, folders of images, patterns,
 * lists. */
#ifndef BURIN_CLI_IMAGES_H
#define BURIN_CLI_IMAGES_H

#include <stddef.h>

#include "base/error.h"

/* Zero-initialise; images_free when done. */
struct images {
	char **paths;
	size_t count, capacity;
};

/* Adds what word means: an image's path; the images in a folder, in order of their names (told by
 * their extensions; of a set the first segment; not in the folders below); or, where nothing has
 * that name, the paths that it matches as a shell pattern. A path that does not exist is added, for
 * the run to say so. -EINVAL (EXIT_IO) for a folder without images. */
int images_add(struct images *images, const char *word, struct error *error);
/* Adds what each line of a file means; empty lines are passed over, and returns at their ends. */
int images_add_list(struct images *images, const char *list, struct error *error);
/* NULL is no images. */
void images_free(struct images *images);

#endif
