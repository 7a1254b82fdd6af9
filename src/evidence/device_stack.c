/*
 * Would writing to a path change the device that is the evidence? The path's file system is on a
 * device, which may be the evidence itself, a partition of it, the disk of which the evidence is a
 * partition, or something built on any of these (LVM, RAID, LUKS: its "slaves" in sysfs; a loop
 * device: its backing file). Sysfs knows all of this; devices that it does not connect are taken to
 * be unrelated.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/memory.h"
#include "evidence/backend.h"

/* Deeper stacks than loop devices on LUKS on LVM on RAID do not occur. */
#define DEPTH_MAX 8

/* The first line of /sys/dev/block/MAJOR:MINOR/name, without its end. */
static bool read_attribute(dev_t device, const char *name, char *line, size_t len)
{
	char *path = xasprintf("/sys/dev/block/%u:%u/%s", major(device), minor(device), name);
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
static dev_t whole_disk(dev_t device)
{
	char text[32];
	dev_t disk;

	if (read_attribute(device, "partition", text, sizeof(text)) &&
		read_attribute(device, "../dev", text, sizeof(text)) && parse_device(text, &disk))
		return disk;
	return device;
}

/* Whether one is the other, or a partition of it. Two partitions of one disk are unrelated. */
static bool same_or_part(dev_t a, dev_t b)
{
	return a == b || whole_disk(a) == b || whole_disk(b) == a;
}

/*
 * File systems with devices of their own making (btrfs) have no entry in sysfs, but the device's
 * name in the list of mounts: "36 35 0:31 / /mnt rw - btrfs /dev/sda1 rw".
 */
static dev_t device_of_mount(dev_t device)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
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

static bool rests_on(dev_t device, const struct stat *evidence, int depth);

/* A loop device rests on its backing file: on the evidence when that is the file, and on the file's
 * device. */
static bool loop_rests_on(dev_t device, const struct stat *evidence, int depth)
{
	char name[PATH_MAX];
	struct stat st;

	if (!read_attribute(device, "loop/backing_file", name, sizeof(name)) || stat(name, &st))
		return false;
	if (st.st_dev == evidence->st_dev && st.st_ino == evidence->st_ino)
		return true;
	return rests_on(S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev, evidence, depth - 1);
}

static bool slaves_rest_on(dev_t device, const struct stat *evidence, int depth)
{
	char *path = xasprintf("/sys/dev/block/%u:%u/slaves", major(device), minor(device));
	DIR *dir = opendir(path);
	bool found = false;
	struct dirent *entry;

	while (dir && !found && (entry = readdir(dir))) {
		char *name = xasprintf("slaves/%s/dev", entry->d_name), text[32];
		dev_t slave;

		if (entry->d_name[0] != '.' && read_attribute(device, name, text, sizeof(text)) &&
			parse_device(text, &slave))
			found = rests_on(slave, evidence, depth - 1);
		free(name);
	}
	if (dir)
		closedir(dir);
	free(path);
	return found;
}

static bool rests_on(dev_t device, const struct stat *evidence, int depth)
{
	if (depth == 0)
		return false;
	if (major(device) == 0)
		device = device_of_mount(device);
	if (S_ISBLK(evidence->st_mode) && same_or_part(device, evidence->st_rdev))
		return true;
	if (loop_rests_on(whole_disk(device), evidence, depth))
		return true;
	return slaves_rest_on(whole_disk(device), evidence, depth);
}

bool image_shares_device(const struct image *image, const char *path)
{
	struct stat target, evidence;

	if (stat(path, &target))
		return false;
	for (size_t i = 0; i < image->info.path_count; i++) {
		if (stat(image->info.paths[i], &evidence))
			continue;
		if (rests_on(S_ISBLK(target.st_mode) ? target.st_rdev : target.st_dev, &evidence,
			    DEPTH_MAX))
			return true;
	}
	return false;
}
