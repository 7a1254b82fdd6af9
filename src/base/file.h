/* Reads and writes that continue after a signal or a short count until all bytes are done. */
#ifndef BURIN_BASE_FILE_H
#define BURIN_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads len bytes at offset, fewer only at the end of the file. Returns how many, or a negative
 * errno. */
ssize_t file_read_at(int fd, void *buffer, size_t len, uint64_t offset);
/* Reads all of len bytes at offset: 0, -EIO when the file is shorter, or another negative errno. */
int file_read_all_at(int fd, void *buffer, size_t len, uint64_t offset);

/* Whether another program serves the file (FUSE), which is open, or has this path. */
bool file_is_served(int fd);
bool file_path_is_served(const char *path);

/* Both write all of len bytes: 0 or a negative errno. */
int file_write(int fd, const void *bytes, size_t len);
int file_write_at(int fd, const void *bytes, size_t len, uint64_t offset);

#endif
