/*
 * The segment files of an E01 as one set: their order, what they say about the medium, and where
 * the tables of chunks are. Memory: 72 bytes a table, which has 16,375 to 65,534 chunks, so about
 * 1.2 MB for 8 TB in chunks of 32 KiB; the tables themselves stay in the files.
 */
#ifndef BURIN_EVIDENCE_E01_SET_H
#define BURIN_EVIDENCE_E01_SET_H

#include "base/error.h"
#include "evidence/e01_metadata.h"
#include "evidence/e01_sections.h"

#define E01_NO_CHUNK UINT64_MAX

struct e01_segment {
	const char *path;
	int fd;
	uint64_t size;
	unsigned number; /* from its head, from 1 */
	enum e01_ending ending;
	bool damaged;   /* its list of sections */
	bool after_gap; /* segments before it are missing */
};

/* A list of chunks, and its copy in a section "table2". */
struct e01_table {
	uint64_t first;         /* number of its first chunk; E01_NO_CHUNK: unknown */
	uint64_t entries_at[2]; /* offsets in the file of its entries and their copy; 0: missing */
	uint32_t *entries;      /* of a lost table that was rebuilt; else NULL */
	uint64_t base;          /* added to the entries' offsets */
	uint64_t data_start, data_end; /* its chunks are between these */
	uint32_t segment;              /* index */
	uint32_t count;                /* of entries */
	uint32_t overflow;             /* from this entry on, offsets have 32 bits and no flag */
	bool suspect;                  /* neither copy has a valid checksum, or SMART has none */
	bool end_known;                /* the last chunk ends at data_end */
	bool after_gap;                /* tables before this one may be lost */
};

#define E01_METADATA_MAX 16

struct e01_set {
	struct e01_segment *segments; /* in the order of their numbers */
	size_t segment_count;
	struct e01_table *tables; /* in the order of their chunks */
	size_t table_count, table_capacity;
	struct e01_metadata metadata[E01_METADATA_MAX];
	size_t metadata_count;
	bool common;                     /* burin can read it itself; otherwise only libewf may */
	uint32_t chunk_len, sector_size; /* bytes; common sets only, as the next */
	uint64_t size;                   /* bytes of the medium */
	char *damage;                    /* what is wrong with the set, a sentence; NULL: nothing */
};

/*
 * Opens the files at paths, which are in the order of their names and must outlive the set, and
 * walks their sections. Errors (EXIT_IO): a file that can't be read or is not a segment; the first
 * segment is missing; segments of different acquisitions; two with the same number; a last segment
 * that is not the last. Any other loss or damage is not an error but described in set->damage. The
 * caller closes the set, also after an error.
 */
int e01_set_open(struct e01_set *set, char *const *paths, size_t count, struct error *error);
void e01_set_close(struct e01_set *set);

/* The table that has the chunk; NULL when none has. */
const struct e01_table *e01_set_table(const struct e01_set *set, uint64_t chunk);

#endif
