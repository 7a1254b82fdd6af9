/* The images that a command line names: files, devices, folders of images, wildcards, lists. */
#ifndef BURIN_CLI_IMAGES_H
#define BURIN_CLI_IMAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "evidence/inner.h"

/* What was named, or found in a folder, and is not carved. */
struct image_not_taken {
	char *path, *reason;
	bool found; /* in a folder, and nothing of it is carved: a person should know */
};

/* Zero-initialise, but for recursive; images_free when done. */
struct images {
	bool recursive; /* folders in folders are searched too */
	char **paths;
	size_t count, capacity;
	bool folders; /* a folder was named */
	struct image_not_taken *not_taken;
	size_t not_taken_count, not_taken_capacity;
};

/* Adds the images that word names: a path; the images in a folder, sorted by name (detected by content,
 * or by extension; only the first segment of a set); or, if nothing has that name, the paths that it
 * matches as a wildcard. A path that does not exist is added too: the run will report it. -EINVAL
 * (EXIT_IO) for a folder without images. */
int images_add(struct images *images, const char *word, struct error *error);
/* Adds what each line of a file names; "-" is stdin. Blanks around a name, empty lines, carriage returns,
 * and lines that begin with # are ignored. -EINVAL for what is not text, before anything is added. */
int images_add_list(struct images *images, const char *list, struct error *error);
/* When all was added: an image that was named twice counts once, and neither a later segment of a set
 * (case.E02, disk.002) whose first one is there too nor a VMDK's file of data counts. They are moved to
 * not_taken. */
void images_finish(struct images *images);
/* Adds what can be opened inside the images after each of them. */
void images_open(struct images *images, const struct inner_wanted *wanted);
/* Logs what was not taken, the first ones by name. */
void images_log(const struct images *images);
/* Frees all; the struct is empty afterwards. */
void images_free(struct images *images);

#endif
