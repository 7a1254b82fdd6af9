/*
 * Image file directories, the tables that TIFF is made of and that EXIF and MPF borrow: the same
 * code for both byte orders and for BigTIFF's wider fields. Each function reads only the directory
 * that the caller asks for.
 */
#ifndef BURIN_CARVERS_COMMON_TIFF_IFD_H
#define BURIN_CARVERS_COMMON_TIFF_IFD_H

#include <stdbool.h>

#include "carver.h"

#define TIFF_MAGIC 42
#define TIFF_MAGIC_BIG 43

struct tiff {
	struct view *view;
	uint64_t base, len; /* its bytes in the view: [base, base + len); its offsets count from
			       base */
	bool big_endian;
	bool wide;          /* BigTIFF */
	uint16_t magic;     /* from its head: 42, or what some cameras write instead */
	uint64_t first_ifd; /* from its head */
};

struct tiff_ifd {
	uint64_t at, end; /* of the whole directory */
	uint64_t next;    /* the directory that follows, 0: none */
	uint64_t count;   /* of entries */
};

struct tiff_entry {
	uint16_t tag, type;
	uint64_t count;
	uint64_t data; /* offset from base of its values, those inside the entry included */
	uint64_t len;  /* bytes of its values; 0 for an unknown type, or if they overflow 64 bits */
	bool apart;    /* the values are outside the directory */
};

/* The four bytes at p as a number, in the byte order of the file. */
uint32_t tiff_u32(const struct tiff *tiff, const uint8_t *p);

/* Read the head at base. False when there is none. The first accepts plain TIFF only, as EXIF and
 * MPF have it; the second also BigTIFF and any other magic number. */
bool tiff_open(struct tiff *tiff, struct view *view, uint64_t base, uint64_t len);
bool tiff_open_any(struct tiff *tiff, struct view *view, uint64_t base, uint64_t len);

/* The bytes [offset, offset + len) from base, or NULL when they are not all inside it. */
const uint8_t *tiff_peek(const struct tiff *tiff, uint64_t offset, size_t len);

/* Reads the directory at offset `at`, but not its entries. False when it is not all readable, has no
 * entries, or more than any program writes. */
bool tiff_read_ifd(const struct tiff *tiff, uint64_t at, struct tiff_ifd *ifd);

/* Reads entry `index` of it, below ifd->count. False when it is not readable. */
bool tiff_read_entry(const struct tiff *tiff, const struct tiff_ifd *ifd, uint64_t index,
	struct tiff_entry *entry);

/* Reads number `index` of an entry's values. False when there is none, or it is not an integer. */
bool tiff_read_value(
	const struct tiff *tiff, const struct tiff_entry *entry, uint64_t index, uint64_t *value);

/* Finds a tag in the directory at offset ifd. False when it has none. */
bool tiff_find(const struct tiff *tiff, uint64_t ifd, uint16_t tag, struct tiff_entry *entry);

#endif
