/* Reads and writes of files that go on after a signal or a short count, to the last byte. */
#ifndef BURIN_BASE_FILE_H
#define BURIN_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads len bytes at offset, or what there is before the file's end. Returns how many, or a
 * negative errno. */
ssize_t file_read_at(int fd, void *buffer, size_t len, uint64_t offset);
/* Reads all of len bytes at offset: 0, -EIO when the file is shorter, or another negative errno. */
int file_read_all_at(int fd, void *buffer, size_t len, uint64_t offset);

/* Both write all of len bytes: 0 or a negative errno. */
int file_write(int fd, const void *bytes, size_t len);
int file_write_at(int fd, const void *bytes, size_t len, uint64_t offset);

#endif
