/*
 * What the parts of the ZIP carver share: zip.c walks the members and decides on the verdict,
 * zip_data.c finds where a member's data ends, zip_directory.c reads what follows the members,
 * zip_kind.c determines the file's format from its members,
 * zip_entries.c checks archives by their directory whose members do not follow each other,
 * zip_map.c finds an archive's pieces by its directory.
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
	ZIP_END64_LEN = 56,
	ZIP_LOCATOR64_LEN = 20,
	ZIP_ENCRYPTED = 1 << 0, /* flags of a member */
	ZIP_STREAMED = 1 << 3,  /* a descriptor after the data has the sizes */
	ZIP_STORED = 0,         /* methods */
	ZIP_DEFLATED = 8,
};

/* What the CRC of a member, or a directory that agrees with all members, is worth (view_proved). */
#define ZIP_CRC_BITS 32

/* A member, by its local header. */
struct zip_member {
	/* [at, data) is the header, [data, data + data_len) the data; a descriptor may follow it. */
	uint64_t at, data, end;
	uint16_t flags, method, name_len;
	uint32_t name_crc;
	uint32_t crc, date; /* date: DOS date and time, comparable */
	uint64_t data_len, content_len;
	bool folder;     /* by its name */
	bool wide;       /* sizes come from a ZIP64 field */
	bool wrong_crc;  /* data with another CRC or length */
	bool proved;     /* its data has its CRC */
	bool unread;     /* some of its data could not be read, and so was not compared */
	bool assembled;  /* of a file that is put together: */
	uint64_t bad_at; /* where its deflated data is invalid; 0: nowhere */
};

enum zip_found {
	ZIP_FOUND,
	ZIP_CUT,    /* the view ends */
	ZIP_BROKEN, /* invalid */
};

/* The most bytes to decompress of an archive, to find ends and to compare CRCs: small files can be made that decompress for hours. */
#define ZIP_OUTPUT_MAX ((uint64_t)128 << 20)

/* Sets member->end, and for a streamed member the fields of its descriptor. Decompresses data to at
 * most *output_left bytes, and subtracts them there; beyond that the data is only searched for a
 * descriptor. */
enum zip_found zip_find_end(struct view *view, struct zip_member *member, uint64_t *output_left);

/* The next local header or directory entry after bytes that could not be read, of which the first is in
 * [from, to). False: there are no such bytes, or no record follows closely. */
bool zip_find_record(struct view *view, uint64_t from, uint64_t to, uint64_t *at);

struct deflate_codes;

/* Walks the codes of a member's deflated data, up to limit if that is not 0. True: they are invalid, or not the file's
 * own, from *valid on. Saves states, if the view wants them. */
bool zip_walk_codes(struct view *view, const struct zip_member *member, uint64_t limit,
	struct deflate_codes *codes, uint64_t *valid);
/* Where the data ends at most, as the header has it; 0: that has no length. */
uint64_t zip_data_limit(const struct zip_member *member);

/* Where the data of a member becomes invalid, at most limit (inside the view): its end if it
 * decompresses to bytes with its CRC. */
uint64_t zip_valid_end(struct view *view, const struct zip_member *member, uint64_t limit);

/* Decompresses a member's content into size bytes, from at most the first 64 KiB of its data.
 * Returns how many bytes it wrote. */
size_t zip_content(
	struct view *view, const struct zip_member *member, uint8_t *content, size_t size);

/* The format that the members make up, added one by one. All zero at first. */
struct zip_kind {
	uint32_t seen;
	/* The extension for the type in a member `mimetype` or `[Content_Types].xml`. */
	const char *declared;
	bool described; /* the following were searched for */
	char title[128];
	size_t title_len;
	int64_t time;
};

/* Adds the member with its name, which zip_kind_add takes as bytes. */
void zip_add_kind(struct view *view, struct zip_kind *kind, const struct zip_member *member);
void zip_kind_add(struct zip_kind *kind, struct view *view, const struct zip_member *member,
	const uint8_t *name);
/* "zip" for any other archive. */
const char *zip_kind_extension(const struct zip_kind *kind);

/* What members and directory must agree on: a sum over offsets, sizes, CRCs and names, independent
 * of their order. */
struct zip_sum {
	uint64_t count, digest;
};

/* Adds a member. */
void zip_sum_add(struct zip_sum *sum, const struct zip_member *member);

/* Whether the same members were added to both, in any order. */
bool zip_sum_equal(const struct zip_sum *a, const struct zip_sum *b);

/* The records after the members. */
struct zip_directory {
	uint64_t at;            /* of its first entry; set by the caller */
	struct zip_sum members; /* those before it; set by the caller */
	uint64_t end; /* after the end record's comment; when cut or invalid: after what is valid */
	uint64_t comment;   /* where that comment starts, when found */
	struct zip_sum sum; /* of its entries, with offsets from the view's start */
	int64_t shift; /* how many bytes before the view the archive starts, by its own offsets */
	uint64_t earlier; /* how many members are before the view */
	bool lost;        /* some entries could not be read: nothing can be compared with members */
	const char *problem; /* what is invalid; when found: what does not fit, or NULL */
};

/* Reads the directory at directory->at. */
enum zip_found zip_read_directory(struct view *view, struct zip_directory *directory);

/* Reads the directory's entry at `at`, which must be one; *next is after it. False: the view ends. */
bool zip_read_entry(struct view *view, uint64_t at, struct zip_member *member, uint64_t *next);

/* Reads the local header at member->at; *problem: what is wrong with it. */
enum zip_found zip_read_header(struct view *view, struct zip_member *member, const char **problem);

/* Finds a directory, at or after `from`, of an archive that starts where the view does. */
bool zip_find_directory(struct view *view, uint64_t from, struct zip_directory *directory);

/* Whether each of the directory's entries names a member that is intact. Names the bytes that belong
 * to none as unverified; *outside: how many these are. Adds the members to kind, and the latest date
 * to *newest. */
bool zip_check_entries(struct view *view, const struct zip_directory *directory,
	struct zip_kind *kind, uint32_t *newest, uint64_t *outside);

/* Whether [at, end), inside the view, can be an archive's comment. */
bool zip_comment_valid(struct view *view, uint64_t at, uint64_t end);

/* Reads sizes from a ZIP64 field in [at, at + len), a header's extra fields; offset is NULL for a
 * local header. */
void zip_read_extra(
	struct view *view, uint64_t at, size_t len, struct zip_member *member, uint64_t *offset);

/* The ZIP carver's check of an archive that begins at `start`, with its first member: its directory may count offsets
 * from there, or from the view's start. The finding is on all from the view's start. */
enum verdict zip_check_from(struct view *view, uint64_t start, struct finding *finding);

/* For archives in pieces. */
extern const struct carve_map zip_map;

#endif
