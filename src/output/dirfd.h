/* Paths below a folder, resolved without following a single symbolic link, so that nothing leads
 * out of the folder. */
#ifndef BURIN_OUTPUT_DIRFD_H
#define BURIN_OUTPUT_DIRFD_H

#include <stdbool.h>

/* True for a relative path of plain components: none is "", "." or "..", none is over 255 bytes or
 * has control characters, and the path has at most 4,095 bytes. */
bool dirfd_path_is_plain(const char *path);

/* Opens path (plain) below dir_fd, which must be a folder. flags: as for open(2), O_NOFOLLOW and
 * O_CLOEXEC are added; a new file gets mode 0666, a new folder 0777, less the umask. make: creates
 * missing folders on the way. Thread-safe. Returns a descriptor or a negative errno: -EINVAL for a
 * path that is not plain, -ELOOP or -ENOTDIR for a symbolic link. */
int dirfd_open(int dir_fd, const char *path, int flags, bool make);

/* Opens the folder that holds path (plain), as dirfd_open does, only for access to what is in it.
 * *base: path's last component. Returns a descriptor or a negative errno. */
int dirfd_parent(int dir_fd, const char *path, bool make, const char **base);

/* Gives a file of the folder another name (one component each), which must be free. Returns 0 or a
 * negative errno: -EEXIST when it is not. */
int dirfd_rename(int dir_fd, const char *from, const char *to);

/* Removes a file. Returns 0 or a negative errno. */
int dirfd_unlink(int dir_fd, const char *path);

#endif
