/* Whether a device is built on the evidence: from a sysfs of files, and loop devices that answer. */
#include <criterion/criterion.h>
#include <errno.h>
#include <sys/sysmacros.h>

#include "evidence/device_stack.h"
#include "temp.h"

TestSuite(device_stack, .init = temp_make, .fini = temp_remove);

#define DISK makedev(8, 0)
#define PARTITION makedev(8, 1)
#define OTHER_PARTITION makedev(8, 2)
#define OTHER_DISK makedev(8, 16)
#define MAPPED makedev(253, 0)
#define LOOP makedev(7, 3)
#define LOOP_ON_LOOP makedev(7, 4)
#define LOOP_PARTITION makedev(259, 9)

static struct stat evidence;

/* What the loop devices answer. */
static struct loop_answer {
	dev_t device;
	int status;
	struct loop_file file;
} answers[4];

static int loop_file(dev_t device, struct loop_file *file)
{
	for (unsigned i = 0; i < 4; i++)
		if (answers[i].device == device) {
			*file = answers[i].file;
			return answers[i].status;
		}
	return major(device) == 7 ? EACCES : ENOTTY;
}

static void be_file(const char *name)
{
	temp_write(name, "evidence", 8);
	cr_assert_eq(stat(temp_at(name), &evidence), 0);
}

static void be_device(dev_t device)
{
	evidence = (struct stat){ .st_mode = S_IFBLK, .st_dev = makedev(0, 5), .st_rdev = device };
}

/* Makes the folder and those it is in. */
static void make_folder(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s", name);
	for (char *slash = path; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(temp_at(path), 0755);
	}
	cr_assert(mkdir(temp_at(path), 0755) == 0 || errno == EEXIST);
}

static void add_device(dev_t device)
{
	char name[256];

	snprintf(name, sizeof(name), "sys/%u:%u/slaves", major(device), minor(device));
	make_folder(name);
}

static void add_attribute(dev_t device, const char *name, const char *value)
{
	char path[256], folder[256], *copy = strdup(value);

	snprintf(path, sizeof(path), "sys/%u:%u/%s", major(device), minor(device), name);
	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	make_folder(folder);
	temp_write(path, copy, strlen(copy));
	free(copy);
}

/* In the real sysfs a partition's folder is in its disk's, which "../dev" leads to. */
static void add_partition(dev_t partition, const char *disk)
{
	char link[256], target[256];

	snprintf(target, sizeof(target), "disks/%s/part", disk);
	make_folder(target);
	snprintf(target, sizeof(target), "disks/%s/part/partition", disk);
	temp_write(target, "1\n", 2);
	snprintf(target, sizeof(target), "disks/%s/dev", disk);
	temp_write(target, disk, strlen(disk));
	snprintf(link, sizeof(link), "sys/%u:%u", major(partition), minor(partition));
	snprintf(target, sizeof(target), "../disks/%s/part", disk);
	make_folder("sys");
	cr_assert_eq(symlink(target, temp_at(link)), 0);
}

static enum image_relation relation_to(dev_t device)
{
	const struct device_sources sources = { temp_at("sys"), temp_at("mounts"), loop_file };

	return device_relation(device, &evidence, &sources);
}

Test(device_stack, disks_and_their_partitions)
{
	add_device(DISK);
	add_device(OTHER_DISK);
	add_partition(PARTITION, "8:0");
	add_partition(OTHER_PARTITION, "8:0");
	be_device(DISK);
	cr_expect_eq(relation_to(DISK), IMAGE_SHARED);
	cr_expect_eq(relation_to(PARTITION), IMAGE_SHARED);
	cr_expect_eq(relation_to(OTHER_DISK), IMAGE_APART);
	be_device(PARTITION);
	cr_expect_eq(relation_to(DISK), IMAGE_SHARED);
	cr_expect_eq(relation_to(OTHER_PARTITION), IMAGE_APART);
}

Test(device_stack, devices_built_on_others)
{
	add_device(DISK);
	add_device(OTHER_DISK);
	add_device(MAPPED);
	add_attribute(MAPPED, "slaves/sda/dev", "8:0\n");
	be_device(DISK);
	cr_expect_eq(relation_to(MAPPED), IMAGE_SHARED);
	be_device(OTHER_DISK);
	cr_expect_eq(relation_to(MAPPED), IMAGE_APART);
	add_attribute(MAPPED, "slaves/loop3/dev", "7:3\n");
	cr_expect_eq(relation_to(MAPPED), IMAGE_UNKNOWN, "a loop device that cannot be asked");
}

/* As a person without rights sees it. */
Test(device_stack, loop_devices_that_only_sysfs_knows)
{
	be_file("image");
	temp_write("other", "", 0);
	add_device(LOOP);
	cr_expect_eq(relation_to(LOOP), IMAGE_APART, "without a file");
	add_attribute(LOOP, "loop/backing_file", temp_at("image"));
	cr_expect_eq(relation_to(LOOP), IMAGE_SHARED);
	add_attribute(LOOP, "loop/backing_file", temp_at("other"));
	cr_expect_eq(relation_to(LOOP), IMAGE_APART, "beside the evidence");
	add_attribute(LOOP, "loop/backing_file", "/a/name/outside/of/this/container");
	cr_expect_eq(relation_to(LOOP), IMAGE_UNKNOWN);
}

/* As root in a container without /sys sees it. */
Test(device_stack, loop_devices_that_answer)
{
	be_file("image");
	answers[0] = (struct loop_answer){ LOOP, 0, { evidence.st_dev, evidence.st_ino, 0 } };
	cr_expect_eq(relation_to(LOOP), IMAGE_SHARED);
	answers[1] = (struct loop_answer){ LOOP_ON_LOOP, 0, { LOOP, 12, 0 } };
	cr_expect_eq(relation_to(LOOP_ON_LOOP), IMAGE_SHARED, "a file on that");
	answers[2] = (struct loop_answer){ LOOP_PARTITION, 0, { makedev(0, 5), 1, LOOP } };
	cr_expect_eq(relation_to(LOOP_PARTITION), IMAGE_SHARED, "that itself");
	answers[0].file.inode++;
	cr_expect_eq(relation_to(LOOP), IMAGE_APART);
	cr_expect_eq(relation_to(LOOP_ON_LOOP), IMAGE_APART);
	answers[0].file.file_system = DISK;
	cr_expect_eq(relation_to(LOOP), IMAGE_UNKNOWN, "a disk that may be anything");
	answers[0].status = EACCES;
	cr_expect_eq(relation_to(LOOP), IMAGE_UNKNOWN);
	/* Sysfs knows it by a name that is of another file here. */
	add_attribute(LOOP, "loop/backing_file", temp_at("image"));
	answers[0] = (struct loop_answer){ LOOP, 0, { evidence.st_dev, evidence.st_ino + 1, 0 } };
	cr_expect_eq(relation_to(LOOP), IMAGE_APART);
}

Test(device_stack, loops_of_devices_end)
{
	be_file("image");
	answers[0] = (struct loop_answer){ LOOP, 0, { LOOP_ON_LOOP, 1, 0 } };
	answers[1] = (struct loop_answer){ LOOP_ON_LOOP, 0, { LOOP, 1, 0 } };
	cr_expect_eq(relation_to(LOOP), IMAGE_UNKNOWN);
}

Test(device_stack, without_sysfs)
{
	be_file("image");
	cr_expect_eq(relation_to(evidence.st_dev), IMAGE_APART, "the file's own file system");
	cr_expect_eq(relation_to(makedev(0, 77)), IMAGE_APART, "memory or network");
	evidence.st_dev = PARTITION;
	cr_expect_eq(relation_to(PARTITION), IMAGE_APART);
	cr_expect_eq(relation_to(OTHER_DISK), IMAGE_UNKNOWN);
	be_device(DISK);
	cr_expect_eq(relation_to(DISK), IMAGE_SHARED);
	cr_expect_eq(relation_to(PARTITION), IMAGE_UNKNOWN);
}
