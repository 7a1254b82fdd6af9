/*
 * What the parts of the ZIP carver share: zip.c walks the members and judges, zip_data.c finds
 * where a member's data ends, zip_directory.c reads what stands behind the members, zip_kind.c
 * names the file that the members make up.
 */
#ifndef BURIN_CARVERS_ARCHIVES_ZIP_H
#define BURIN_CARVERS_ARCHIVES_ZIP_H

#include <stdbool.h>

#include "carver.h"

enum zip_signature {
	ZIP_LOCAL = 0x04034b50,
	ZIP_DESCRIPTOR = 0x08074b50,
	ZIP_CENTRAL = 0x02014b50,
	ZIP_EXTRA_DATA = 0x08064b50,
	ZIP_SIGNATURE = 0x05054b50,
	ZIP_END64 = 0x06064b50,
	ZIP_LOCATOR64 = 0x07064b50,
	ZIP_END = 0x06054b50,
};

enum {
	ZIP_LOCAL_LEN = 30,
	ZIP_CENTRAL_LEN = 46,
	ZIP_END_LEN = 22,
	ZIP_ENCRYPTED = 1 << 0, /* flags of a member */
	ZIP_STREAMED = 1 << 3,  /* a descriptor behind the data has the sizes */
	ZIP_STORED = 0,         /* methods */
	ZIP_DEFLATED = 8,
};

/* A member, by its local header. */
struct zip_member {
	uint64_t at, data,
		end; /* [at, data) header, [data, data + packed_len) data, descriptor, then end */
	uint16_t flags, method, name_len;
	uint32_t name_crc;
	uint32_t crc, date; /* date: DOS date and time, comparable */
	uint64_t packed_len, unpacked_len;
	bool folder; /* by its name */
	bool wide;   /* sizes come from a ZIP64 field */
	bool wrong;  /* stored data without the CRC that it should have */
};

enum zip_found {
	ZIP_FOUND,
	ZIP_CUT,    /* the view ended */
	ZIP_BROKEN, /* it makes no sense */
};

/* Bytes that are unpacked at most to find ends: small files can be made that unpack for hours. */
#define ZIP_OUTPUT_MAX ((uint64_t)128 << 20)

/* Sets member->end, and for a streamed member what its descriptor says. Data is unpacked for it to
 * at most *output_left bytes, which are taken from there; beyond, it is only searched. */
enum zip_found zip_find_end(struct view *view, struct zip_member *member, uint64_t *output_left);

/* How far the data of a member is sound, at most limit (inside the view): its end where it unpacks
 * to what its CRC says. */
uint64_t zip_sound_end(struct view *view, const struct zip_member *member, uint64_t limit);

/* The content of a member, unpacked, as much of it as fits into size bytes and the 64 KiB from its
 * start on hold. How much that is. */
size_t zip_content(
	struct view *view, const struct zip_member *member, uint8_t *content, size_t size);

/* What kind of archive the members make, seen one by one. All zero at first. */
struct zip_kind {
	uint32_t seen;
	const char *declared; /* the extension of what a member `mimetype` or `[Content_Types].xml`
				 says */
	bool described;       /* the following were looked for */
	char title[128];
	size_t title_len;
	int64_t time;
};

void zip_kind_see(struct zip_kind *kind, struct view *view, const struct zip_member *member,
	const uint8_t *name);
/* "zip" when it is nothing else. */
const char *zip_kind_extension(const struct zip_kind *kind);

/* What members and directory have to agree on: a sum over place, sizes, CRCs and names, in whatever
 * order they come. */
struct zip_sum {
	uint64_t count, digest;
};

/* Adds a member. */
void zip_sum_add(struct zip_sum *sum, const struct zip_member *member);

bool zip_sum_equal(const struct zip_sum *a, const struct zip_sum *b);

/* What the records behind the members say. */
struct zip_directory {
	uint64_t at; /* of its first entry; members: what was found before it. Both are the caller's
		      */
	struct zip_sum members;
	uint64_t
		end; /* behind the end record's comment; when cut or broken: behind what is sound */
	struct zip_sum sum;  /* of its entries, with places that count from the view's start */
	int64_t shift;       /* bytes that the archive starts before the view, by its own offsets */
	uint64_t earlier;    /* members that stand there */
	const char *problem; /* what is broken; when found: what does not fit, or NULL */
};

/* Reads the directory at directory->at. */
enum zip_found zip_read_directory(struct view *view, struct zip_directory *directory);

/* Takes sizes from a ZIP64 field in [at, at + len), a header's extra fields; *offset is NULL for a
 * local header. */
void zip_read_extra(
	struct view *view, uint64_t at, size_t len, struct zip_member *member, uint64_t *offset);

#endif
