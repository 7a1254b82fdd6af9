/*
 * What the parts of the TIFF carver share: tiff.c decides the verdict, tiff_walk.c goes from
 * directory to directory, tiff_data.c from strip to strip, tiff_coded.c checks what is in them.
 */
#ifndef BURIN_CARVERS_PICTURES_TIFF_H
#define BURIN_CARVERS_PICTURES_TIFF_H

#include "stretches.h"
#include "tiff_ifd.h"

enum tiff_compression {
	TIFF_PLAIN = 1,
	TIFF_LZW = 5,
	TIFF_OLD_JPEG = 6,
	TIFF_JPEG = 7,
	TIFF_DEFLATE = 8,
	TIFF_OLD_DEFLATE = 32946,
	TIFF_PACKBITS = 32773,
	TIFF_NIKON = 34713,
	TIFF_SONY = 32767,
	TIFF_PENTAX = 65535,
	TIFF_SAMSUNG = 32769,
	TIFF_SAMSUNG_2 = 32770,
	TIFF_DNG_LOSSY = 34892,
};

/* Tags of what pixels and strips are. */
enum tiff_tag {
	TIFF_TAG_WIDTH = 256,
	TIFF_TAG_BITS = 258,
	TIFF_TAG_COMPRESSION = 259,
	TIFF_TAG_STRIPS = 273,
	TIFF_TAG_SAMPLES = 277,
	TIFF_TAG_STRIP_LENS = 279,
	TIFF_TAG_PLANAR = 284,
	TIFF_TAG_TILE_WIDTH = 322,
};

#define TIFF_SUBFILES 4096
/* Stretches that are kept; of a file with more, the gaps are not known. */
#define TIFF_STRETCHES ((size_t)1 << 16)

/* A directory's fields about its picture. */
struct tiff_page {
	uint64_t width, height;
	uint64_t rows;       /* of a strip, or of a tile */
	uint64_t tile_width; /* 0: strips */
	uint64_t bits, samples, compression, photometric, planar;
	uint64_t fill_order;             /* TIFF_REVERSED, or as usual */
	struct tiff_entry offsets, lens; /* of strips or tiles; count 0: missing */
	uint64_t jpeg, jpeg_len;
	uint64_t tables, tables_end; /* the JPEG tables of all strips, 0: each has its own */
	uint64_t raw;                /* offset of Panasonic's raw data, 0: none */
	bool sensor;                 /* samples straight from a sensor */
};

#define TIFF_REVERSED 2 /* the first bit of a coded byte is the lowest */

#define TIFF_OVERLAPS "strips that overlap"

struct tiff_walk {
	struct tiff tiff;
	uint64_t size;             /* of the view */
	uint64_t end;              /* end of all that offsets lead to so far */
	uint64_t confirmed;        /* how much of it is confirmed */
	uint64_t value, value_end; /* the last of the values outside directories */
	bool value_is_text;
	uint64_t covered;            /* bytes that offsets lead to */
	struct stretches stretches;  /* where those are; owned */
	uint64_t bad;                /* the first invalid byte; UINT64_MAX: none */
	const char *problem;         /* what is wrong there */
	const char *odd;             /* a reason for doubt, or NULL */
	uint64_t read;               /* bytes of directories: a hostile file has them overlap */
	uint64_t to_check;           /* bytes of strips that may still be read: TIFF_OVERLAPS */
	uint64_t to_unpack;          /* bytes that may still be decompressed from them */
	uint64_t unchecked;          /* bytes of strips in an unknown code, or of noise */
	uint64_t plain, plain_end;   /* consecutive uncompressed strips */
	uint64_t row_len, pixel_len; /* of the last of them */
	uint64_t *subfiles;          /* directories that tags point to; owned */
	size_t subfile_count, subfile_room;
	bool resources_named;   /* those of the first entry */
	int pages;              /* directories with a picture */
	bool first_has_picture; /* the first directory has one, or points to one */
	bool raw;               /* samples straight from a sensor */
	bool dng;
	char make[8];
};

/* Walks all directories and what they point to. False: the first one is invalid. tiff_walk_free in
 * either case. */
bool tiff_walk(struct tiff_walk *walk, struct view *view);
void tiff_walk_free(struct tiff_walk *walk);

/* Whether bytes of the directory at `at`, or closely after it, could not be read. */
bool tiff_unread_ifd(struct tiff_walk *walk, uint64_t at);

/* Names the bytes before the file's end that no offset leads to as unverified. */
void tiff_name_gaps(struct tiff_walk *walk);

/* Notes that [offset, offset + len) belongs to the file. */
void tiff_claim(struct tiff_walk *walk, uint64_t offset, uint64_t len);
/* Notes that everything before `end` is confirmed. */
void tiff_confirm(struct tiff_walk *walk, uint64_t end);
/* Checks whether stored bytes continue as they began, and notes the result. */
void tiff_check_stored(
	struct tiff_walk *walk, uint64_t start, uint64_t end, uint64_t row_len, uint64_t pixel_len);
/* Notes that the file is invalid from `at` on. */
void tiff_note_bad(struct tiff_walk *walk, uint64_t at, const char *problem);

/* Claims a page's strips or tiles and checks them. */
void tiff_check_data(struct tiff_walk *walk, const struct tiff_page *page);
/* Call after the last page. */
void tiff_finish_data(struct tiff_walk *walk);

/* Checks one of a page's strips, which has to decompress to `want` bytes (0: unknown). */
void tiff_check_coded(struct tiff_walk *walk, const struct tiff_page *page, uint64_t at,
	uint64_t len, uint64_t want);
/* The same for a JPEG that a page has beside its strips. */
void tiff_check_jpeg(struct tiff_walk *walk, uint64_t at, uint64_t len);

/* For files in pieces (tiff_map.c). */
extern const struct carve_map tiff_map;

/* As a carver's stored: tiff_stored.c. */
bool tiff_describe(struct view *view, struct carve_stored *stored);

#endif
