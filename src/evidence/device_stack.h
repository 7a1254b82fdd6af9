/* Whether a device is, or is built on, a file or device: for image_shares_device alone. */
#ifndef BURIN_EVIDENCE_DEVICE_STACK_H
#define BURIN_EVIDENCE_DEVICE_STACK_H

#include <sys/stat.h>
#include <sys/types.h>

#include "evidence/image.h"

/* The file that a loop device shows. */
struct loop_file {
	dev_t file_system; /* that it is on */
	ino_t inode;
	dev_t device; /* when it is a block device: which; else 0 */
};

/* Where the answers come from; a test has its own. */
struct device_sources {
	const char *sysfs;  /* /sys/dev/block, with a folder MAJOR:MINOR for each device */
	const char *mounts; /* /proc/self/mountinfo */
	/* Asks the device itself. 0; ENXIO: it shows no file; ENOTTY: it is not a loop device; another
	 * errno: it cannot be asked. */
	int (*loop_file)(dev_t device, struct loop_file *file);
};

/* evidence: of a file or a block device. */
enum image_relation device_relation(
	dev_t device, const struct stat *evidence, const struct device_sources *sources);

#endif
