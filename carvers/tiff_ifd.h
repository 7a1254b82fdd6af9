/*
 * Image file directories, the tables that TIFF is made of and that EXIF and MPF borrow: one code
 * for both byte orders. Nothing here follows more than the one directory that it is asked for.
 */
#ifndef BURIN_TIFF_IFD_H
#define BURIN_TIFF_IFD_H

#include <stdbool.h>

#include "carver.h"

struct tiff {
	struct view *view;
	uint64_t base, len; /* the view's bytes [base, base + len) hold it; all its offsets count
			       from base */
	bool big_endian;
	uint32_t first_ifd; /* from its head */
};

struct tiff_entry {
	uint16_t tag, type;
	uint32_t count;
	uint32_t data; /* offset from base of its values, those of up to 4 bytes included */
	uint32_t len;  /* bytes of its values, 0 for an unknown type or more than 4 GiB */
};

uint16_t tiff_u16(const struct tiff *tiff, const uint8_t *p);
uint32_t tiff_u32(const struct tiff *tiff, const uint8_t *p);

/* Reads the head at base: false when there is none. */
bool tiff_open(struct tiff *tiff, struct view *view, uint64_t base, uint64_t len);

/* The bytes [offset, offset + len) from base, or NULL when they are not all inside it. */
const uint8_t *tiff_peek(const struct tiff *tiff, uint64_t offset, size_t len);

/* Finds a tag in the directory at offset ifd. False when it is not there, or only behind the first
 * 1,000 entries. */
bool tiff_find(const struct tiff *tiff, uint32_t ifd, uint16_t tag, struct tiff_entry *entry);

#endif
