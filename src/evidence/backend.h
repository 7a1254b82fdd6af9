/* What an image backend offers to image.c; nobody else includes this. */
#ifndef BURIN_EVIDENCE_BACKEND_H
#define BURIN_EVIDENCE_BACKEND_H

#include <stdatomic.h>

#include "base/ranges.h"
#include "evidence/image.h"

/* Every backend's state starts with this. */
struct image {
	const struct image_backend *backend;
	struct image_info info; /* freed by image_close */
	/* Bytes: what can't be read fails in pieces of this size, counted from offset 0: a sector,
	 * a chunk of an E01. Nothing smaller is tried after a failure. */
	uint32_t granule;
	/* What a map says was never read (image_use_map): image.c asks no backend for it. */
	struct ranges unread;
	char *map_path;
	/* image_set_warm; the context is good while warm is not NULL */
	_Atomic(size_t (*)(void *context, uint64_t offset, void *buffer, size_t len)) warm;
	void *warm_context;
};

#define IMAGE_HEAD_LEN 4096
#define IMAGE_TAIL_LEN 512

/* What a file begins and ends with. */
struct image_ends {
	uint8_t head[IMAGE_HEAD_LEN], tail[IMAGE_TAIL_LEN]; /* zeros behind what there is */
	size_t head_len, tail_len; /* tail_len: 0 for a shorter file, and for a device */
	bool headless;             /* the head can't be read */
};

struct image_backend {
	const char *name;
	/* True when the file's ends say that it is this backend's format. */
	bool (*probe)(const struct image_ends *ends);
	int (*open)(struct image **image, const char *path, const struct image_ends *ends,
		struct error *error);
	int (*read_at)(struct image *image, uint64_t offset, void *buffer, size_t len);
	/* NULL: -ENOTSUP */
	int (*extent)(struct image *image, uint64_t offset, bool direct, int *fd,
		uint64_t *fd_offset, uint64_t *len);
	/* As image_hole; NULL: there are none. */
	bool (*hole)(struct image *image, uint64_t offset, uint64_t *len);
	/* As image_why; NULL: it knows no more. */
	char *(*why)(struct image *image, uint64_t offset);
	void (*close)(
		struct image *image); /* frees its own part and the struct, not info's members */
};

extern const struct image_backend raw_backend, ewf_backend, container_backend;

/* Reads len bytes at offset, all inside the image, granule by granule where it must be: what fails
 * is filled with zeros and told to failed (adjacent pieces each by themselves, in order). */
void image_read_pieces(struct image *image, uint64_t offset, void *buffer, size_t len,
	void (*failed)(void *arg, uint64_t offset, size_t len), void *arg);

/* Raises the limit on open files, as far as it goes, so that count more of them fit. Should that
 * not suffice, opening fails. */
void image_allow_descriptors(size_t count);

#endif
