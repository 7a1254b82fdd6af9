/* A report as a file system, read-only: its files are read from the evidence, nothing is copied. */
#ifndef BURIN_MOUNT_MOUNT_H
#define BURIN_MOUNT_MOUNT_H

#include "mount/files.h"

struct mount_options {
	const char *source; /* what `mount` shows as the device */
	bool zeros;         /* what can't be read is zeros; else reading it fails (EIO) */
};

/* Mounts the files at a folder and serves them, with several threads, until somebody unmounts it or a
 * signal (SIGINT, SIGTERM, SIGHUP) does. ready is called when the folder is mounted. Returns 0, or a
 * negative errno with error set; -ENOSYS (EXIT_USAGE) where burin was built without libfuse3. */
int mount_serve(const struct files *files, struct image *image, const char *mount_point,
	const struct mount_options *options, void (*ready)(void *context), void *context,
	struct error *error);

#endif
