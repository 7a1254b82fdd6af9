/* What is in an output folder: names, and contents as hashes. */
#ifndef BURIN_REPORT_FOLDER_H
#define BURIN_REPORT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hashing/hash.h"

/* Zero-initialise; names_free when done. */
struct names {
	char **items;
	size_t count, capacity;
};

void names_add(struct names *names, const char *name);
void names_sort(struct names *names);
/* Of sorted names. */
bool names_hold(const struct names *names, const char *name);
void names_free(struct names *names);

/* Adds the path of everything below the folder dir_fd that is not a folder, sorted; links are not
 * followed, and a folder in too many folders counts as a file. failed is called for each folder that
 * cannot be read. */
void folder_list(int dir_fd, struct names *names,
	void (*failed)(void *context, const char *path, int errnum), void *context);
/* Hashes all of an open file and adds its length to *bytes. Returns 0 or a negative errno. */
int folder_hash(int fd, struct hasher *hasher, uint64_t *bytes);

#endif
