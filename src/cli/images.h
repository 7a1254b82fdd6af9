/* The images that a command line names: files, devices, folders of images, wildcards, lists. */
#ifndef BURIN_CLI_IMAGES_H
#define BURIN_CLI_IMAGES_H

#include <stddef.h>

#include "base/error.h"

/* Zero-initialise; images_free when done. */
struct images {
	char **paths;
	size_t count, capacity;
};

/* Adds the images that word names: a path; the images in a folder, sorted by name (detected by
 * extension; only the first segment of a set; not in subfolders); or, if nothing has that name, the
 * paths that it matches as a wildcard. A path that does not exist is added too: the run will report
 * it. What is left in a folder is said. -EINVAL (EXIT_IO) for a folder without images. */
int images_add(struct images *images, const char *word, struct error *error);
/* Adds what each line of a file names. Empty lines, and carriage returns at the end of lines, are
 * ignored. */
int images_add_list(struct images *images, const char *list, struct error *error);
/* When all was added: an image that was named twice counts once, and a later segment of a set
 * (case.E02, disk.002) whose first one is there too does not count. Both are said. */
void images_finish(struct images *images);
/* Frees the paths; the struct is empty afterwards. */
void images_free(struct images *images);

#endif
