#include "mount/mount.h"

#include <errno.h>

#ifdef HAVE_FUSE

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "evidence/image_extents.h"

#define ATTRIBUTE "user.burin."
/* Nothing changes: the kernel may keep what it knows. */
#define CACHE_SECONDS 86400.0

struct mounted {
	const struct files *files;
	struct image *image;
	bool zeros;
};

static const struct mounted *mounted_of(fuse_req_t request)
{
	return fuse_req_userdata(request);
}

/* Nodes are inodes: the root, node 0, is FUSE_ROOT_ID. */
static uint32_t node_of(fuse_ino_t inode)
{
	return (uint32_t)(inode - FUSE_ROOT_ID);
}

/* NULL for a folder. */
static const struct mounted_file *file_of(const struct mounted *mounted, fuse_ino_t inode)
{
	uint32_t index = tree_file(mounted->files->tree, node_of(inode));

	return index == TREE_NONE ? NULL : &mounted->files->items[index];
}

static struct timespec time_of(int64_t seconds)
{
	return (struct timespec){ .tv_sec = (time_t)seconds };
}

static struct stat stat_of(const struct mounted *mounted, fuse_ino_t inode)
{
	const struct mounted_file *file = file_of(mounted, inode);
	struct stat info = { .st_ino = inode, .st_uid = getuid(), .st_gid = getgid() };

	info.st_mode = file ? S_IFREG | 0444 : S_IFDIR | 0555;
	info.st_nlink = file ? 1 : 2;
	if (!file)
		return info;
	info.st_size = (off_t)file->length;
	info.st_blocks = (blkcnt_t)(file->length / 512 + (file->length % 512 != 0));
	info.st_mtim = time_of(file->times[FS_MODIFIED]);
	info.st_atim = time_of(file->times[FS_ACCESSED]);
	info.st_ctim = time_of(file->times[FS_CHANGED]);
	return info;
}

static struct fuse_entry_param entry_of(const struct mounted *mounted, uint32_t node)
{
	fuse_ino_t inode = node + FUSE_ROOT_ID;

	return (struct fuse_entry_param){ .ino = inode,
		.attr = stat_of(mounted, inode),
		.attr_timeout = CACHE_SECONDS,
		.entry_timeout = CACHE_SECONDS };
}

static void op_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
	const struct mounted *mounted = mounted_of(request);
	uint32_t node = tree_child(mounted->files->tree, node_of(parent), name);
	struct fuse_entry_param entry;

	if (node == TREE_NONE) {
		fuse_reply_err(request, ENOENT);
		return;
	}
	entry = entry_of(mounted, node);
	fuse_reply_entry(request, &entry);
}

static void op_getattr(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *handle)
{
	struct stat info = stat_of(mounted_of(request), inode);

	(void)handle;
	fuse_reply_attr(request, &info, CACHE_SECONDS);
}

/* The entry at an offset in a folder: 0 and 1 are its dots, 2 its first node, 2 + N what follows node N.
 * False when there are no more. */
static bool entry_at(const struct tree *tree, uint32_t folder, off_t offset, const char **name,
	uint32_t *node, off_t *next)
{
	if (offset < 2) {
		*name = offset ? ".." : ".";
		*node = folder;
		*next = offset + 1;
		return true;
	}
	*node = offset == 2 ? tree_first(tree, folder) : tree_next(tree, (uint32_t)(offset - 2));
	if (*node == TREE_NONE)
		return false;
	*name = tree_name(tree, *node);
	*next = (off_t)*node + 2;
	return true;
}

static void read_folder(fuse_req_t request, fuse_ino_t inode, size_t len, off_t offset, bool plus)
{
	const struct mounted *mounted = mounted_of(request);
	char *buffer = xmalloc(len);
	size_t used = 0, entry_len;
	const char *name;
	uint32_t node;
	off_t next;

	while (entry_at(mounted->files->tree, node_of(inode), offset, &name, &node, &next)) {
		struct fuse_entry_param entry = entry_of(mounted, node);

		entry_len = plus ? fuse_add_direntry_plus(
					   request, buffer + used, len - used, name, &entry, next)
				 : fuse_add_direntry(request, buffer + used, len - used, name,
					   &entry.attr, next);
		if (entry_len > len - used)
			break;
		used += entry_len;
		offset = next;
	}
	fuse_reply_buf(request, buffer, used);
	free(buffer);
}

static void op_readdir(fuse_req_t request, fuse_ino_t inode, size_t len, off_t offset,
	struct fuse_file_info *handle)
{
	(void)handle;
	read_folder(request, inode, len, offset, false);
}

static void op_readdirplus(fuse_req_t request, fuse_ino_t inode, size_t len, off_t offset,
	struct fuse_file_info *handle)
{
	(void)handle;
	read_folder(request, inode, len, offset, true);
}

static void op_open(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *handle)
{
	if ((handle->flags & O_ACCMODE) != O_RDONLY) {
		fuse_reply_err(request, EROFS);
		return;
	}
	(void)inode;
	handle->keep_cache = 1;
	fuse_reply_open(request, handle);
}

static void op_read(fuse_req_t request, fuse_ino_t inode, size_t len, off_t offset,
	struct fuse_file_info *handle)
{
	const struct mounted *mounted = mounted_of(request);
	const struct mounted_file *file = file_of(mounted, inode);
	char *buffer = xmalloc(len);
	int count = image_read_extents(mounted->image, file->runs, file->run_count,
		(uint64_t)offset, buffer, len, mounted->zeros);

	(void)handle;
	if (count < 0)
		fuse_reply_err(request, -count);
	else
		fuse_reply_buf(request, buffer, (size_t)count);
	free(buffer);
}

/* As getxattr(2) and listxattr(2) want it: len 0 asks for the length. */
static void reply_attribute(fuse_req_t request, const char *value, size_t value_len, size_t len)
{
	if (!len)
		fuse_reply_xattr(request, value_len);
	else if (value_len > len)
		fuse_reply_err(request, ERANGE);
	else
		fuse_reply_buf(request, value, value_len);
}

static void op_getxattr(fuse_req_t request, fuse_ino_t inode, const char *name, size_t len)
{
	const struct mounted_file *file = file_of(mounted_of(request), inode);
	size_t prefix = strlen(ATTRIBUTE);
	const char *at = file && strncmp(name, ATTRIBUTE, prefix) == 0 ? file->facts : NULL;

	while (at && at < file->facts + file->facts_len) {
		const char *value = at + strlen(at) + 1;

		if (strcmp(at, name + prefix) == 0) {
			reply_attribute(request, value, strlen(value), len);
			return;
		}
		at = value + strlen(value) + 1;
	}
	fuse_reply_err(request, ENODATA);
}

static void op_listxattr(fuse_req_t request, fuse_ino_t inode, size_t len)
{
	const struct mounted_file *file = file_of(mounted_of(request), inode);
	struct strbuf names = { 0 };

	for (const char *at = file ? file->facts : NULL;
		at && at < file->facts + file->facts_len;) {
		strbuf_text(&names, ATTRIBUTE);
		strbuf_bytes(&names, at, strlen(at) + 1);
		at += strlen(at) + 1;
		at += strlen(at) + 1;
	}
	reply_attribute(request, names.bytes, names.len, len);
	strbuf_free(&names);
}

static void op_statfs(fuse_req_t request, fuse_ino_t inode)
{
	const struct files *files = mounted_of(request)->files;
	const struct statvfs info = { .f_bsize = 4096,
		.f_frsize = 4096,
		.f_blocks = files->bytes / 4096,
		.f_files = files->count,
		.f_namemax = 255,
		.f_flag = ST_RDONLY };

	(void)inode;
	fuse_reply_statfs(request, &info);
}

static void op_init(void *mounted, struct fuse_conn_info *connection)
{
	(void)mounted;
	/* Always with attributes: asking for each of 100,000 files takes long. */
	connection->want &= ~(unsigned)FUSE_CAP_READDIRPLUS_AUTO;
}

static const struct fuse_lowlevel_ops operations = { .init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.open = op_open,
	.read = op_read,
	.getxattr = op_getxattr,
	.listxattr = op_listxattr,
	.statfs = op_statfs };

/* The source's commas would end the option. */
static char *make_option(const char *source)
{
	char *option = xasprintf("ro,nosuid,nodev,noexec,subtype=burin,fsname=%s", source);
	char *name = strstr(option, "fsname=");

	for (; *name; name++)
		if (*name == ',' || *name == '\\')
			*name = '_';
	return option;
}

static int serve(struct fuse_session *session, const char *mount_point,
	void (*ready)(void *context), void *context, struct error *error)
{
	if (fuse_set_signal_handlers(session))
		return error_set(error, EXIT_IO, EIO, "signals cannot be handled");
	if (fuse_session_mount(session, mount_point)) {
		fuse_remove_signal_handlers(session);
		return error_set(error, EXIT_IO, EIO,
			"cannot mount at '%.500s': it must be an empty folder of yours, and "
			"/dev/fuse and "
			"fusermount3 must be there",
			mount_point);
	}
	ready(context);
	fuse_session_loop_mt(session, NULL);
	fuse_session_unmount(session);
	fuse_remove_signal_handlers(session);
	return 0;
}

int mount_serve(const struct files *files, struct image *image, const char *mount_point,
	const struct mount_options *options, void (*ready)(void *context), void *context,
	struct error *error)
{
	struct mounted mounted = { files, image, options->zeros };
	char *option = make_option(options->source);
	char name[] = "burin", flag[] = "-o", *argv[] = { name, flag, option, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	struct fuse_session *session =
		fuse_session_new(&args, &operations, sizeof(operations), &mounted);
	int status;

	if (session)
		status = serve(session, mount_point, ready, context, error);
	else
		status = error_set(error, EXIT_IO, EIO, "libfuse3 cannot be started");
	if (session)
		fuse_session_destroy(session);
	fuse_opt_free_args(&args);
	free(option);
	return status;
}

#else

int mount_serve(const struct files *files, struct image *image, const char *mount_point,
	const struct mount_options *options, void (*ready)(void *context), void *context,
	struct error *error)
{
	(void)files, (void)image, (void)mount_point, (void)options, (void)ready, (void)context;
	return error_set(error, EXIT_USAGE, ENOSYS,
		"this burin was built without libfuse3 (Debian: libfuse3-dev), so it cannot mount");
}

#endif
