/*
 * Evidence: a disk image, always opened read-only. Backends: raw (a file, split parts, a block
 * device), EWF (E01) and containers (AFF, VMDK, VHD, VHDX). The format is detected from the
 * content, not from the name.
 */
#ifndef BURIN_EVIDENCE_IMAGE_H
#define BURIN_EVIDENCE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct image;
struct ranges;

/* A name and a value from the evidence file's own header: acquisition data. */
struct image_value {
	char *name;  /* "case_number", "examiner_name", "acquiry_date", ... */
	char *value; /* valid UTF-8 without control characters */
};

struct image_info {
	const char *format;   /* "raw", "split raw", "device", "ewf" */
	uint64_t size;        /* bytes of media */
	uint32_t sector_size; /* bytes; 512 where unknown */
	char **paths;         /* every file that belongs to it, in order, as opened */
	size_t path_count;
	char stored_md5[33], stored_sha1[41]; /* lower-case hex; "" when the evidence stores none */
	struct image_value *values;
	size_t value_count;
	char *damage; /* a sentence on what is wrong with the evidence as a whole; NULL: nothing */
};

/* Opens the image of which path is the (first) file. Errors (EXIT_IO) say what is wrong with which
 * file and what to do: no such file, a directory, a pipe, empty, a format that burin does not read
 * (named), a part missing or of another image. On success the caller owns *image. */
int image_open(struct image **image, const char *path, struct error *error);
/* The path of the first file of the set of which path, by its name, is a later one (disk.E02, disk.002);
 * the caller frees it. NULL: it is not, or there is no such file. */
char *image_first_segment(const char *path);
/* From now on, what a ddrescue map does not list as finished counts as unreadable, whatever the
 * image holds there. To be called before anything is read. Errors as for ddrescue_map_read. */
int image_use_ddrescue_map(struct image *image, const char *map_path, struct error *error);
const struct image_info *image_info(const struct image *image);

/* A sentence when a file of the evidence is no longer as it was when it was opened: its size, time of
 * modification or inode. The caller frees it. NULL: no change. */
char *image_changed(const struct image *image);

/* Reads exactly len bytes at offset. Returns 0, or a negative errno with the buffer's content
 * undefined: -EIO for media that can't be read or a file that has become shorter, -EINVAL past the
 * end. Thread-safe. */
int image_read_at(struct image *image, uint64_t offset, void *buffer, size_t len);

/* As image_read_at, but sectors that can't be read are filled with zeros. Returns how many bytes
 * those were (0: all read). */
size_t image_read_around(struct image *image, uint64_t offset, void *buffer, size_t len);
/* The same, and adds what can't be read to bad, as offsets in the image. */
size_t image_read_noting(
	struct image *image, uint64_t offset, void *buffer, size_t len, struct ranges *bad);

/*
 * Reading around many places that can't be read may take a failing disk hours. So it asks this function
 * before each request that follows a failed one, and ends when it returns true: the rest of the buffer
 * is zeros then. image_was_cut returns true from then on, so whoever reads around asks it afterwards,
 * and uses nothing of what was read. Thread-safe functions; to be set before other threads read. What
 * extent_image_open makes of the image afterwards has the same function, and an answer of its own. The images
 * around it ask it, too: whoever serves one may not answer (served.h).
 */
void image_set_interrupted(struct image *image, bool (*interrupted)(void));
bool image_was_cut(const struct image *image);
/* Where only what was being read was not wanted any more: what follows is read, and was not cut. */
void image_forget_cut(struct image *image);

/* Makes image_read_around try copy first, which provides bytes that are in memory anyway: it copies
 * as many of the len bytes at offset as it has, from the first one on, and returns how many, just
 * as image_read_at would read them. copy must be thread-safe, and may be set while other threads
 * read. NULL: stops that; not while other threads read. */
void image_set_cache(struct image *image,
	size_t (*copy)(void *context, uint64_t offset, void *buffer, size_t len), void *context);

/* The descriptor of a ring (evidence/shared_ring.h) with bytes of the image, for processes that are given the
 * image. It stays the caller's; -1: there is none, as before. */
void image_set_ring(struct image *image, int descriptor);

/* Why the bytes at offset can't be read: "chunk 7, in segment 1 (disk.E01): its checksum is wrong";
 * the caller frees it. NULL when they can be read, or no more is known than image_read_at reports.
 * *len: for how many bytes from there on the answer holds. Thread-safe. */
char *image_why(struct image *image, uint64_t offset, uint64_t *len);

/* Where the bytes at offset are in a plain file: fd (the image's, for reading), the offset in it
 * and how many bytes follow there contiguously. -ENOTSUP when the backend has no such files.
 * direct: the descriptor that bypasses the page cache (O_DIRECT); -ENOTSUP when the file system has
 * none. */
int image_extent(struct image *image, uint64_t offset, bool direct, int *fd, uint64_t *fd_offset,
	uint64_t *len);

/* Whether the byte at offset is in a hole of a sparse file, where nothing is stored and zeros are
 * read; *len: for how many bytes that, or its opposite, is known to hold (at least 1). False where
 * the backend, or the file system, reports no holes. */
bool image_hole(struct image *image, uint64_t offset, uint64_t *len);

enum image_relation {
	IMAGE_APART,
	IMAGE_SHARED,
	IMAGE_UNKNOWN, /* sysfs, or the right to ask a device, is missing */
};

/* Whether writing to path would write to the device that is the evidence. path must exist. */
enum image_relation image_shares_device(const struct image *image, const char *path);

/* NULL is fine. */
void image_close(struct image *image);

#endif
