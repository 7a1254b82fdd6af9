/*
 * The file of a disk image that is kept in blocks: a table says for each where it is in the file, or that it
 * is not there. What the formats have in common, so that each of them is only its head, its table and its
 * compression. All of it parses what an attacker may have written, and runs in burin-evidence
 * (confined/block_container.c); burin reads what is stored as it is (block_image.c).
 */
#ifndef BURIN_EVIDENCE_BLOCK_FILE_H
#define BURIN_EVIDENCE_BLOCK_FILE_H

#include "evidence/backend.h"
#include "evidence/chunk_cache.h"

enum block_kind {
	BLOCK_ZEROS,  /* nothing is stored: zeros are read */
	BLOCK_STORED, /* as it is, at `at` in the file */
	BLOCK_PARENT, /* in the image that this one has the changes to; zeros without one */
	BLOCK_PACKED, /* compressed, with others of the same unit */
	BLOCK_LOST,   /* the table is wrong there: `fault` */
};

enum block_fault {
	BLOCK_PAST_END,
	BLOCK_CONTRADICTS,
	BLOCK_ASTRAY,
	BLOCK_NO_TABLE,
	BLOCK_FAULTS,
};

/* Where the byte at an offset is. */
struct block_place {
	enum block_kind kind;
	enum block_fault fault; /* LOST */
	uint64_t len;           /* for how many bytes from there on this holds, at least 1 */
	uint64_t at;            /* STORED: of the byte; PACKED: of the unit; in the file */
	/* PACKED: the unit's number, its length in the file, which may be too large, and unpacked, at
	 * most unit_len, and the byte's offset in it, which is less. */
	uint64_t unit;
	size_t packed_len, unpacked_len, inside;
};

/* Bytes of the image that are all in one place, or packed in units that follow each other. */
struct block_extent {
	uint64_t offset, len;
	uint64_t at;    /* as above; of the first unit */
	uint32_t kind;  /* enum block_kind */
	uint32_t fault; /* enum block_fault */
};

/* How many are listed at once. */
#define BLOCK_EXTENTS_MAX 4096
/* The longest name of a parent. */
#define BLOCK_NAME_MAX 1023
#define BLOCK_ID_LEN 16

enum block_parent { BLOCK_NO_PARENT, BLOCK_PARENT_NAME, BLOCK_PARENT_RAW, BLOCK_PARENT_ID };

/* What burin is told of the file. The texts follow the file's path. */
struct block_about {
	uint64_t size;     /* of the disk */
	uint64_t unit_len; /* of the largest unit when it is unpacked; 0: nothing is packed */
	uint32_t snapshots;
	uint32_t parent; /* enum block_parent: the image that it has the changes to */
	char name[BLOCK_NAME_MAX +
		  1];             /* PARENT_NAME, and PARENT_RAW: not to be examined for a format */
	uint8_t id[BLOCK_ID_LEN]; /* PARENT_ID */
	char damage[256];         /* "": none */
	char refusal[512];        /* why it can't be opened */
	int refusal_errno;
};

struct block_file;

struct block_format {
	const char *name; /* "qcow2" */
	bool (*probe)(const struct image_ends *ends);
	size_t state_len; /* of the format's struct, which starts with a struct block_file */
	/* Reads the head and the table, and sets `about`. False: block_file_refuse was called. */
	bool (*open)(struct block_file *file, const struct image_ends *ends);
	/* offset is inside the image; *place is zeros, its len the rest of the image. */
	void (*find)(struct block_file *file, uint64_t offset, struct block_place *place);
	/* Unpacks all of the unit, len bytes. NULL: nothing is packed. */
	bool (*unpack)(struct block_file *file, const uint8_t *packed, size_t packed_len,
		uint8_t *to, size_t len);
	void (*free)(struct block_file *file); /* the format's own part; not the struct */
};

struct block_file {
	const struct block_format *format;
	int fd;
	uint64_t len; /* of the file */
	struct block_about about;
	struct chunk_cache *units;
	uint8_t *packed; /* the unit that is being unpacked */
	size_t packed_capacity;
};

/* By number; NULL past the last. */
const struct block_format *block_format_at(size_t number);
/* For people. */
const char *block_fault_text(uint32_t fault);

/* Opens the file as the format. NULL: `about` says why in its refusal. */
struct block_file *block_file_open(
	const struct block_format *format, const char *path, struct block_about *about);
/* Lists the extents from offset, inside the image, on, at most `room`; there is at least one. effort: how many
 * places are looked up at most. */
size_t block_file_list(struct block_file *file, uint64_t offset, size_t effort,
	struct block_extent *extents, size_t room);
/* Reads what is PACKED, and nothing else: 0, or a negative errno. For one thread. */
int block_file_read(struct block_file *file, uint64_t offset, void *buffer, size_t len);
/* NULL is fine. */
void block_file_close(struct block_file *file);

/* ---- for the formats ----------------------------------------------------------------------- */

/* Reads bytes of the file, all of them or none: 0 or a negative errno. */
int block_file_bytes(struct block_file *file, uint64_t offset, void *buffer, size_t len);
/* The same into memory that the caller frees; NULL: not all of it can be read. Takes no memory for what is
 * longer than the file. */
uint8_t *block_file_copy(struct block_file *file, uint64_t offset, size_t len);
/* Says why the file can't be opened, in words that follow its path. Returns false. */
bool block_file_refuse(struct block_file *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* It looks like the format, but is damaged: what. Returns false. */
bool block_file_damaged(struct block_file *file, const char *what);

extern const struct block_format qcow2_format, vdi_format, bgzf_format, zstd_format;

#endif
