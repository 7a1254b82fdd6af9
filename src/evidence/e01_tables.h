/* Collects the tables of a set while its sections are walked; for e01_set.c. */
#ifndef BURIN_EVIDENCE_E01_TABLES_H
#define BURIN_EVIDENCE_E01_TABLES_H

#include "evidence/e01_set.h"

/* One of the two lists of the same chunks. */
struct e01_copy {
	struct e01_section section;
	bool exists, head_valid, sum_valid; /* each has a valid checksum */
	uint32_t count, overflow;
	uint64_t base;
	uint64_t entries_at;
};

struct e01_collector {
	struct e01_set *set;
	uint32_t segment;           /* being walked */
	struct e01_section sectors; /* the last one in it; no type: none yet */
	bool has_table;             /* that section */
	uint32_t chunk_len;         /* 0: not known yet */
	struct e01_copy copies[2];  /* of the table that is not complete yet */
	bool gap;                   /* tables may be lost after the last one */
	bool smart;             /* chunks are in the section of their table, which has no copy */
	size_t suspects, spare; /* tables without a valid copy, and with one valid copy of two */
	size_t rebuilt;         /* chunks found although their table was lost */
};

/* Takes note of a section, of whatever type. */
void e01_collect(struct e01_collector *collector, const struct e01_section *section);
/* To be called after the segment's last section. */
void e01_collect_end(struct e01_collector *collector);
/* Gives the tables the numbers of their chunks and drops those whose numbers can't be determined.
 * chunks: of the medium. Returns how many chunks the remaining tables list. */
uint64_t e01_number_tables(struct e01_collector *collector, uint64_t chunks);

#endif
