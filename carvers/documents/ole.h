/*
 * Shared by the files of the OLE carver: ole.c reads the header and decides the verdict, ole_fat.c
 * reads the tables and follows chains, ole_directory.c reads the directory and checks that every
 * stream's chain fits, ole_stream.c reads streams, ole_kind.c determines the kind of file,
 * ole_content.c checks streams whose content is a chain of records and reads title and date,
 * ole_visio.c those of Visio, ole_text.c and ole_strings.c check text where proof is asked for, ole_pictures.c
 * pictures, ole_book_pictures.c those of workbooks, ole_embedded.c names the files that streams contain, ole_map.c and ole_places.c find the pieces of a file, ole_pages.c what links them, ole_kin.c other versions, and ole_order.c
 * what is wrong first in one that was put together.
 */
#ifndef BURIN_CARVERS_DOCUMENTS_OLE_H
#define BURIN_CARVERS_DOCUMENTS_OLE_H

#include <stdbool.h>

#include "carver.h"

enum ole_sector {
	OLE_LAST_SECTOR = 0xfffffffa, /* numbers are at most this */
	OLE_TABLE_OF_TABLES = 0xfffffffc,
	OLE_TABLE = 0xfffffffd,
	OLE_END = 0xfffffffe,
	OLE_FREE = 0xffffffff,
};

enum {
	OLE_ENTRY_LEN = 128,
	OLE_STORAGE = 1, /* types of directory entries */
	OLE_STREAM = 2,
	OLE_ROOT = 5,
	OLE_MINI_SHIFT = 6,
};

/* A table of sectors' successors: the FAT, or the mini stream's. */
struct ole_table {
	uint32_t *next;
	uint32_t count;
	uint8_t *seen; /* a bit a sector: a chain contains it */
	uint32_t last; /* the last sector of the chain followed last */
};

struct ole {
	struct view *view;
	struct finding *finding;
	unsigned shift;  /* of the size of sectors */
	uint32_t cutoff; /* smaller streams are in the mini stream */
	uint32_t table_count, first_of_tables, directory_start, mini_table_start;
	struct ole_table fat, mini;
	uint32_t *directory; /* the directory's sectors */
	uint32_t directory_count;
	uint32_t *mini_stream; /* the mini stream's sectors */
	uint32_t mini_stream_count;
	uint64_t small_end; /* of the small streams, in the mini stream */
	uint8_t *checked;   /* a bit a sector: something in it was verified */
	bool short_end;     /* the last sector may end with its stream's data */
	bool end_confirmed; /* the last sector holds a table, which was read */
	bool end_filled;    /* a stream that ends in the last sector is filled up from its end on */
	bool encrypted;     /* the streams' content looks random */
	uint64_t foreign;   /* foreign-looking bytes here, in the last sector; or 0 */
	uint64_t end;       /* after the last sector in use */
	uint64_t valid_end; /* all before is certainly this file's */
	struct ole_pages *pages; /* what is proved is noted there; or NULL */
	bool only_looks;         /* nothing is to be declared of what is found */
	bool cut;                /* something is past the end of the view */
	bool contradiction;      /* the tables are valid: the end is known */
	const char *problem;     /* what is wrong */
	uint64_t problem_at;     /* and where */
};

struct ole_entry {
	uint16_t name[32]; /* ended by a zero */
	uint8_t type;
	uint32_t left, right, child;
	uint8_t class_id[16];
	int64_t modified;
	uint32_t start;
	uint64_t len;
};

static inline uint64_t ole_sector_at(const struct ole *ole, uint32_t sector)
{
	return ((uint64_t)sector + 1) << ole->shift;
}

/* Notes what is wrong, the first time; false. */
bool ole_wrong(struct ole *ole, const char *problem, uint64_t at);

/* The same if FAT and directory are valid, but contradict each other. */
bool ole_contradicts(struct ole *ole, const char *problem, uint64_t at);

/* Notes that all before `end` was confirmed; true. */
bool ole_confirm(struct ole *ole, uint64_t end);

/* Notes that the content of this sector was verified. */
void ole_note_checked(struct ole *ole, uint32_t sector);

/* Whether the content of the file's last sector was verified, or a stream ends in it exactly where identical bytes
 * begin that fill it up. */
bool ole_is_end_proved(const struct ole *ole);

/* Names all sectors up to `end` whose content was not verified (view_unverified). */
void ole_name_unverified(struct ole *ole, uint64_t end);

/* Notes that this sector was confirmed, as a part of a table or of the directory. */
void ole_confirm_sector(struct ole *ole, uint32_t sector);

/* Reads the header, the FAT, the directory and the small streams' table, and checks all chains. False: something is wrong. */
bool ole_open(struct ole *ole);

/* Read the FAT, with the file's end, and the mini FAT; ole_free frees their memory. */
bool ole_read_fat(struct ole *ole);
bool ole_read_mini_fat(struct ole *ole);

/* The FAT is not where it should be. If it was overwritten by compressed or random bytes, the valid
 * part ends where those begin. Not past the header of another such file: so headers side by side do not each
 * lead over all that follows. */
void ole_guess_valid_end(struct ole *ole);

void ole_free(struct ole *ole);

/* Follows the chain from start on through sectors that no other chain contains. list, if not NULL, gets
 * the sectors, for the caller to free, and *count their number. False: the chain breaks. */
bool ole_chain(
	struct ole *ole, struct ole_table *table, uint32_t start, uint32_t **list, uint32_t *count);

/* Reads the directory's chain and the root entry. */
bool ole_read_root(struct ole *ole, struct ole_entry *root);

/* Parses the bytes of an entry; false if it is invalid. */
bool ole_parse_entry(unsigned shift, const uint8_t *p, struct ole_entry *entry);

/* Reads entry number i; false if it is invalid. Free ones have type 0. */
bool ole_read_entry(struct ole *ole, uint32_t i, struct ole_entry *entry);

/* How many entries the directory has room for. */
uint32_t ole_entry_count(const struct ole *ole);

/* Checks all entries and their chains. */
bool ole_check_directory(struct ole *ole);

/* Calls visit for each entry in the root storage, in any order, until it returns false. */
void ole_each_in_root(struct ole *ole, const struct ole_entry *root,
	bool (*visit)(void *context, const struct ole_entry *entry), void *context);

#define OLE_WAITING_MAX 64

/* The entries of a storage, of which `first` is one that leads to the others. */
struct ole_children {
	const struct ole_entry *entries; /* of the directory; type 0: free, or not known */
	uint32_t count, seen;
	uint32_t waiting[OLE_WAITING_MAX], waiting_count;
};

void ole_children_begin(struct ole_children *children, const struct ole_entry *entries,
	uint32_t count, uint32_t first);
/* The next one's number, in any order; OLE_FREE: that was all. Damage can make none endless, but some come twice, and
 * of trees that are deeper than any that programs write not all come. */
uint32_t ole_children_next(struct ole_children *children);

/* The storage's stream with this name; OLE_FREE: none. */
uint32_t ole_find_child(
	const struct ole_entry *entries, uint32_t count, uint32_t first, const char *name);

/* A position in a stream, which only moves forward. Initially all zero except the entry. */
struct ole_position {
	const struct ole_entry *entry;
	uint64_t index;  /* of the sector in the stream */
	uint32_t sector; /* its number */
	bool started;
};

/* Reads len bytes of the stream at offset, which is in the sector read last or after it: false if
 * they are not all there. */
bool ole_read(
	struct ole *ole, struct ole_position *place, uint64_t offset, uint8_t *bytes, size_t len);

/* Where the stream's byte at offset, which is in the sector read last or after it, is in the file; 0
 * if its chain ends before. */
uint64_t ole_file_offset(struct ole *ole, struct ole_position *place, uint64_t offset);

/* The extension for this kind of file. */
const char *ole_kind(struct ole *ole, const struct ole_entry *root);

/* The same without a directory, guessed from the first sector, which often is the main stream's; or
 * NULL. */
const char *ole_guess_kind(struct ole *ole);

/* Checks the main stream of a spreadsheet or presentation; reads title and date. */
void ole_check_content(struct ole *ole, const struct ole_entry *root);

/* The same of one stream alone. */
void ole_check_stream(struct ole *ole, const struct ole_entry *entry);

/* Checks the records of the stream that begins in the first sector, if it is such a main stream, as far as it certainly goes on. */
void ole_check_first_stream(struct ole *ole);

/* Checks the strings in the record at offset `at` of a workbook's stream, which `before` has not passed. */
void ole_check_strings(struct ole *ole, const struct ole_position *before, uint64_t at);

/* Checks the end of Visio's main stream. */
void ole_check_visio(struct ole *ole, const struct ole_entry *entry);

/* That a presentation's last edit is where another stream has it. */
void ole_check_edit(struct ole *ole, const struct ole_entry *root);

/* Checks the text of documents and messages. */
void ole_check_text(struct ole *ole, const struct ole_entry *root);

/* The same of documents alone. */
void ole_check_documents(struct ole *ole, const struct ole_entry *root);

/* Checks a message's stream, if it is one with text or its list of properties. */
void ole_check_property(struct ole *ole, const struct ole_entry *entry);

/* Whether the entry has this name, or one that starts so: in ASCII, in the same case. */
bool ole_named(const struct ole_entry *entry, const char *name);
bool ole_starts_with(const struct ole_entry *entry, const char *start);

/* Whether the entry is the main stream of a workbook. */
static inline bool ole_is_book(const struct ole_entry *entry)
{
	return ole_named(entry, "Workbook") || ole_named(entry, "Book");
}

/* A picture of a drawing: the bytes [from, to) of its stream. */
struct ole_picture {
	uint64_t from, to;
	uint8_t id[16];
	bool is_packed; /* a stream of zlib */
};

/* Bytes that are looked at where the record of a picture begins. */
#define OLE_BLIP_MAX 78

/* Where the picture starts, from the record of a drawing at p, with `left` bytes up to the end of its stream; 0: p is not such a record. */
size_t ole_picture_data_at(const uint8_t *p, uint64_t left, bool *is_packed);

/* Calls found for each picture of drawings, which the position has not passed. */
void ole_each_picture(struct ole *ole,
	void (*found)(void *context, struct ole *ole, const struct ole_position *before,
		const struct ole_picture *picture),
	void *context);

/* Checks the pictures of a workbook, which are in several records. */
void ole_check_book_pictures(struct ole *ole, const struct ole_entry *entry);

/* A check over the bytes [from, to) of a stream, after what the position has passed, agreed: bits as for view_proved. */
void ole_prove(
	struct ole *ole, struct ole_position position, uint64_t from, uint64_t to, unsigned bits);

/* What a digest of a picture counts, and another check of it. */
#define OLE_DIGEST_BITS 64
#define OLE_CHECK_BITS 32

/* Checks the pictures that something verifies. */
void ole_check_pictures(struct ole *ole);

/* Names the files inside streams (view_embedded), once all chains are checked. */
void ole_name_embedded(struct ole *ole);

/* Names the thumbnail at offset `at` of the stream, with this kind of clipboard data. */
void ole_name_thumbnail(
	struct ole *ole, const struct ole_entry *entry, uint64_t at, uint32_t tag, uint32_t format);

/* What is wrong at the first place in the file, *at, where something is not what the header, or tables before it or that agree,
 * show; NULL: nothing is. header: its fields alone. */
const char *ole_first_wrong(const struct ole *header, uint64_t *at);

/* For files in pieces. */
extern const struct carve_map ole_map;
extern const struct carve_places ole_places;
extern const struct carve_pages ole_pages;

/* A check over the file's bytes [from, to) as a whole agreed. Bits as for view_proved. */
void ole_prove_pages(struct ole_pages *pages, uint64_t from, uint64_t to, unsigned bits);

#endif
