/*
 * Would writing to a path change the evidence? The path's file system is on a device, which may be
 * the evidence itself, a partition of it, the disk of which the evidence is a partition, or
 * something built on any of these (LVM, RAID, LUKS: its "slaves" in sysfs; a loop device: its
 * backing file). Sysfs knows all of this, but for loop devices whose file has another name here, as
 * in a container; these are asked themselves. A device without an entry in sysfs, as where that is
 * not mounted, may be built on anything.
 */
#include "evidence/device_stack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/memory.h"
#include "evidence/backend.h"

/* Deeper stacks than loop devices on LUKS on LVM on RAID do not occur. */
#define DEPTH_MAX 8
/* Majors of loop devices, and of those of their partitions that have no number among these. */
#define MAJOR_LOOP 7
#define MAJOR_EXTENDED 259

/* What a question is about. */
struct stack {
	const struct device_sources *sources;
	const struct stat *evidence;
};

/* ---- sysfs --------------------------------------------------------------------------------- */

static char *sysfs_path(const struct stack *stack, dev_t device, const char *name)
{
	return xasprintf("%s/%u:%u/%s", stack->sources->sysfs, major(device), minor(device), name);
}

static bool in_sysfs(const struct stack *stack, dev_t device)
{
	char *path = sysfs_path(stack, device, "");
	bool found = access(path, F_OK) == 0;

	free(path);
	return found;
}

/* The first line of the device's attribute, without its end. */
static bool read_attribute(
	const struct stack *stack, dev_t device, const char *name, char *line, size_t len)
{
	char *path = sysfs_path(stack, device, name);
	FILE *file = fopen(path, "re");
	bool good = file && fgets(line, (int)len, file);

	if (good)
		line[strcspn(line, "\n")] = 0;
	if (file)
		fclose(file);
	free(path);
	return good;
}

static bool parse_device(const char *text, dev_t *device)
{
	unsigned first, second;

	if (sscanf(text, "%u:%u", &first, &second) != 2)
		return false;
	*device = makedev(first, second);
	return true;
}

/* The disk that a partition is on; the device itself when it is not a partition. */
static dev_t whole_disk(const struct stack *stack, dev_t device)
{
	char text[32];
	dev_t disk;

	if (read_attribute(stack, device, "partition", text, sizeof(text)) &&
		read_attribute(stack, device, "../dev", text, sizeof(text)) &&
		parse_device(text, &disk))
		return disk;
	return device;
}

/* Whether one is the other, or a partition of it. Two partitions of one disk are unrelated. */
static bool same_or_part(const struct stack *stack, dev_t a, dev_t b)
{
	return a == b || whole_disk(stack, a) == b || whole_disk(stack, b) == a;
}

/*
 * File systems with devices of their own making (btrfs) have no entry in sysfs, but the device's
 * name in the list of mounts: "36 35 0:31 / /mnt rw - btrfs /dev/sda1 rw".
 */
static dev_t device_of_mount(const struct stack *stack, dev_t device)
{
	FILE *mounts = fopen(stack->sources->mounts, "re");
	char *line = NULL, name[256];
	size_t line_len = 0;
	unsigned first, second;

	while (mounts && getline(&line, &line_len, mounts) > 0) {
		const char *source = strstr(line, " - ");
		struct stat st;

		if (sscanf(line, "%*u %*u %u:%u", &first, &second) == 2 && source &&
			makedev(first, second) == device &&
			sscanf(source, " - %*s %255s", name) == 1 && !stat(name, &st) &&
			S_ISBLK(st.st_mode)) {
			device = st.st_rdev;
			break;
		}
	}
	free(line);
	if (mounts)
		fclose(mounts);
	return device;
}

/* ---- loop devices -------------------------------------------------------------------------- */

/* A descriptor of the device, or a negative errno. */
static int open_device(dev_t device)
{
	char *name = major(device) == MAJOR_LOOP
			     ? xasprintf("/dev/loop%u", minor(device))
			     : xasprintf("/dev/block/%u:%u", major(device), minor(device));
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int status = fd < 0 ? -errno : 0;
	struct stat st;

	free(name);
	if (status)
		return status;
	if (!fstat(fd, &st) && S_ISBLK(st.st_mode) && st.st_rdev == device)
		return fd;
	close(fd);
	return -ENOENT;
}

static int ask_loop_device(dev_t device, struct loop_file *file)
{
	struct loop_info64 info;
	int fd = open_device(device), status = 0;

	if (fd < 0)
		return -fd;
	if (ioctl(fd, LOOP_GET_STATUS64, &info))
		status = errno;
	else
		*file = (struct loop_file){ (dev_t)info.lo_device, (ino_t)info.lo_inode,
			(dev_t)info.lo_rdevice };
	close(fd);
	return status;
}

/* The same, by the name that sysfs gives. */
static int find_loop_file(const struct stack *stack, dev_t device, struct loop_file *file)
{
	char name[PATH_MAX];
	struct stat st;

	if (!in_sysfs(stack, device))
		return ENODEV;
	if (!read_attribute(stack, device, "loop/backing_file", name, sizeof(name)))
		return ENXIO;
	if (stat(name, &st))
		return errno;
	*file = (struct loop_file){ st.st_dev, st.st_ino, S_ISBLK(st.st_mode) ? st.st_rdev : 0 };
	return 0;
}

static enum image_relation relation(const struct stack *stack, dev_t device, int depth);

/* A loop device rests on its backing file: on the evidence when that is the file, and on the file's
 * device. False when the device is not one that has a file. */
static bool loop_relation(
	const struct stack *stack, dev_t device, int depth, enum image_relation *result)
{
	struct loop_file file;
	int status;

	if (major(device) != MAJOR_LOOP && major(device) != MAJOR_EXTENDED)
		return false;
	status = stack->sources->loop_file(device, &file);
	if (status && status != ENXIO && status != ENOTTY)
		status = find_loop_file(stack, device, &file);
	if (status == ENXIO || status == ENOTTY)
		return false;
	if (status)
		*result = IMAGE_UNKNOWN;
	else if (file.file_system == stack->evidence->st_dev &&
		 file.inode == stack->evidence->st_ino)
		*result = IMAGE_SHARED;
	else
		*result = relation(stack, file.device ? file.device : file.file_system, depth - 1);
	return true;
}

/* ---- stacks -------------------------------------------------------------------------------- */

static enum image_relation slaves_relation(const struct stack *stack, dev_t device, int depth)
{
	char *path = sysfs_path(stack, device, "slaves");
	DIR *dir = opendir(path);
	enum image_relation result = IMAGE_APART;
	struct dirent *entry;

	while (dir && result != IMAGE_SHARED && (entry = readdir(dir))) {
		char *name = xasprintf("slaves/%s/dev", entry->d_name), text[32];
		enum image_relation one = IMAGE_APART;
		dev_t slave;

		if (entry->d_name[0] != '.' &&
			read_attribute(stack, device, name, text, sizeof(text)) &&
			parse_device(text, &slave))
			one = relation(stack, slave, depth - 1);
		if (one != IMAGE_APART)
			result = one;
		free(name);
	}
	if (dir)
		closedir(dir);
	free(path);
	return result;
}

static enum image_relation relation(const struct stack *stack, dev_t device, int depth)
{
	const struct stat *evidence = stack->evidence;
	enum image_relation result;
	dev_t disk;

	/* A file system is not built on a file in it. */
	if (S_ISREG(evidence->st_mode) && device == evidence->st_dev)
		return IMAGE_APART;
	if (major(device) == 0)
		device = device_of_mount(stack, device);
	if (major(device) == 0) /* memory, or another machine's */
		return IMAGE_APART;
	if (S_ISBLK(evidence->st_mode) && same_or_part(stack, device, evidence->st_rdev))
		return IMAGE_SHARED;
	if (depth == 0)
		return IMAGE_UNKNOWN;
	disk = whole_disk(stack, device);
	if (loop_relation(stack, disk, depth, &result))
		return result;
	return in_sysfs(stack, disk) ? slaves_relation(stack, disk, depth) : IMAGE_UNKNOWN;
}

enum image_relation device_relation(
	dev_t device, const struct stat *evidence, const struct device_sources *sources)
{
	const struct stack stack = { sources, evidence };

	return relation(&stack, device, DEPTH_MAX);
}

enum image_relation image_shares_device(const struct image *image, const char *path)
{
	static const struct device_sources sources = {
		.sysfs = "/sys/dev/block",
		.mounts = "/proc/self/mountinfo",
		.loop_file = ask_loop_device,
	};
	enum image_relation result = IMAGE_APART, one;
	struct stat target, evidence;

	if (stat(path, &target))
		return IMAGE_APART;
	for (size_t i = 0; i < image->info.path_count && result != IMAGE_SHARED; i++) {
		if (stat(image->info.paths[i], &evidence))
			continue;
		one = device_relation(S_ISBLK(target.st_mode) ? target.st_rdev : target.st_dev,
			&evidence, &sources);
		if (one != IMAGE_APART)
			result = one;
	}
	return result;
}
