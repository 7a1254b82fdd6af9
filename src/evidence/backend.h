/* What an image backend offers to image.c; nobody else includes this. */
#ifndef BURIN_EVIDENCE_BACKEND_H
#define BURIN_EVIDENCE_BACKEND_H

#include <stdatomic.h>

#include "base/ranges.h"
#include "evidence/image.h"

/* Every backend's state starts with this. */
struct image {
	const struct image_backend *backend;
	struct image *outer;    /* that this one was opened out of, and owns; NULL: none */
	char *outer_path;       /* of it, when inner.c opened it */
	struct volumes *list;   /* VOLUMES_LIST of it, once it was asked for (inner.c) */
	struct image_info info; /* freed by image_close */
	/* Bytes: reading fails for whole units of this size, counted from offset 0: a sector, a
	 * chunk of an E01. Nothing smaller is tried after a failure. */
	uint32_t read_unit;
	/* What a ddrescue map says was never read: image.c asks no backend for it. */
	struct ranges unread;
	char *ddrescue_map_path;
	struct file_state *states; /* of info.paths, when they were opened */
	/* image_set_cache; the context is valid while cache is not NULL */
	_Atomic(size_t (*)(void *context, uint64_t offset, void *buffer, size_t len)) cache;
	void *cache_context;
	int shared_ring;           /* image_set_ring; 0: none */
	bool (*interrupted)(void); /* image_set_interrupted; NULL: never */
	_Atomic bool was_cut;
};

#define IMAGE_HEAD_LEN 4096
#define IMAGE_TAIL_LEN 512

/* The first and the last bytes of a file. */
struct image_ends {
	const char *path;
	uint8_t head[IMAGE_HEAD_LEN], tail[IMAGE_TAIL_LEN]; /* zeros past the file's end */
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
	/* As image_hole; NULL: the format has no holes. */
	bool (*hole)(struct image *image, uint64_t offset, uint64_t *len);
	/* As image_why; NULL: it has no reasons to give. */
	char *(*why)(struct image *image, uint64_t offset);
	void (*close)(
		struct image *image); /* frees its own part and the struct, not info's members */
};

extern const struct image_backend raw_backend, ewf_backend, container_backend, block_backend;

/* Reads len bytes at offset, all inside the image, unit by unit where that is necessary: what fails
 * is filled with zeros and reported to failed (each unit by itself, in order). Where it is interrupted
 * (image_set_interrupted) the rest is zeros that are not reported. */
void image_read_units(struct image *image, uint64_t offset, void *buffer, size_t len,
	void (*failed)(void *arg, uint64_t offset, size_t len), void *arg);

/* Reads len bytes at offset where they are not all in one place: read_part reads the first of *len bytes,
 * at least 1, and sets *len to how many. Returns 0, or the first negative errno of read_part. */
int image_read_parts(void *state, uint64_t offset, void *buffer, size_t len,
	int (*read_part)(void *state, uint64_t offset, uint8_t *to, size_t *len));

/* Adds copies of the paths that another image consists of. */
void image_add_paths(struct image_info *info, const struct image_info *other);

/* Reads the file's ends; *ends is zeros before. Returns 0, or a negative errno when the head can't be
 * read. */
int image_read_ends(int fd, struct image_ends *ends);
/* Whether the file has a format: whether it is not raw. */
bool image_has_format(const struct image_ends *ends);

/* Opens a file of the evidence for reading; flags as for open, which include O_RDONLY. Reading does not
 * change its time of access where that is allowed: to its owner and to root. The descriptor, or -1
 * with errno set. */
int image_open_file(const char *path, int flags);

/* Raises the limit on open files, as far as possible, so that count more of them fit. If that is
 * not enough, opening fails. */
void image_allow_descriptors(size_t count);

#endif
