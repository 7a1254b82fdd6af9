/*
 * A disk image in one file that is kept in blocks: a table says for each where it is in the file, or
 * that it is not there. What the formats have in common, so that each of them is only its head, its
 * table and its compression. For backends alone.
 */
#ifndef BURIN_EVIDENCE_BLOCK_IMAGE_H
#define BURIN_EVIDENCE_BLOCK_IMAGE_H

#include "evidence/backend.h"
#include "evidence/chunk_cache.h"

enum block_kind {
	BLOCK_ZEROS,  /* nothing is stored: zeros are read */
	BLOCK_STORED, /* as it is, at `at` in the file */
	BLOCK_PARENT, /* in the image that this one has the changes to; zeros without one */
	BLOCK_PACKED, /* compressed, with others of the same unit */
	BLOCK_LOST,   /* the table is wrong there: `why` */
};

/* Where the byte at an offset is. */
struct block_place {
	enum block_kind kind;
	uint64_t len; /* for how many bytes from there on this holds, at least 1 */
	uint64_t at;  /* STORED: of the byte; PACKED: of the unit; in the file */
	/* PACKED: the unit's number, its length in the file, which may be too large, and unpacked, at
	 * most unit_len, and the byte's offset in it, which is less. */
	uint64_t unit;
	size_t packed_len, unpacked_len, inside;
	const char *why;
};

struct block_image {
	struct image image; /* first */
	int fd;
	uint64_t file_len;
	struct image *parent; /* NULL: none */
	size_t unit_len;      /* block_image_packs */
	struct chunk_cache *units;
	/* offset is inside the image. Thread-safe. */
	void (*find)(struct block_image *block, uint64_t offset, struct block_place *place);
	/* Unpacks all of the unit, len bytes. Thread-safe. */
	bool (*unpack)(struct block_image *block, const uint8_t *packed, size_t packed_len,
		uint8_t *to, size_t len);
	void (*free)(struct block_image *block); /* the format's own part; not the struct */
};

/* Opens the file for the format, whose struct starts with block, which is zeros. The info has the path
 * then. Returns 0 or a negative errno with error set; the caller calls block_image_close either way. */
int block_image_open(struct block_image *block, const struct image_backend *backend,
	const char *path, struct error *error);
/* Reads bytes of the file, all of them or none: 0 or a negative errno. */
int block_image_file(struct block_image *block, uint64_t offset, void *buffer, size_t len);
/* The same into memory that the caller frees; NULL: not all of it can be read. Takes no memory for what is
 * longer than the file. */
uint8_t *block_image_copy(struct block_image *block, uint64_t offset, size_t len);
/* Sets error: the file looks like the format, but can't be read as such. Returns -EIO. */
int block_image_damaged(const struct block_image *block, const char *what, struct error *error);
/* Opens the image of the file `name`, which the format says it has the changes to, and adds its paths
 * to the info. Only that file is opened, next to the image or where a relative name leads below its
 * folder: the name comes from the evidence. raw: it is not to be examined for a format. */
int block_image_open_parent(
	struct block_image *block, const char *name, bool raw, struct error *error);

/* The same for a file that the format has found. */
int block_image_take_parent(
	struct block_image *block, const char *parent, bool raw, struct error *error);
/* Allows BLOCK_PACKED, in units that are at most unit_len long when they are unpacked. */
void block_image_packs(struct block_image *block, size_t unit_len);

/* For the backend. */
int block_image_read_at(struct image *image, uint64_t offset, void *buffer, size_t len);
bool block_image_hole(struct image *image, uint64_t offset, uint64_t *len);
char *block_image_why(struct image *image, uint64_t offset);
void block_image_close(struct image *image);

#endif
