/* Collecting the tables of a set while its sections are walked; for e01_set.c. */
#ifndef BURIN_EVIDENCE_E01_TABLES_H
#define BURIN_EVIDENCE_E01_TABLES_H

#include "evidence/e01_set.h"

/* One of the two lists of the same chunks. */
struct e01_copy {
	struct e01_section section;
	bool there, head_good, sum_good; /* checksums */
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
	struct e01_copy copies[2];  /* of the table that is not yet complete */
	bool gap;                   /* something may be lost behind the last table */
	bool smart;             /* chunks are in the section of their table, which has no copy */
	size_t suspects, spare; /* tables without a good copy, with one good copy of two */
	size_t rebuilt;         /* chunks whose table was lost, and that were found without it */
};

/* Takes note of a section; of other types than "sectors" and the tables too. */
void e01_collect(struct e01_collector *collector, const struct e01_section *section);
/* The segment's sections are all told. */
void e01_collect_end(struct e01_collector *collector);
/* Gives the tables the numbers of their chunks and drops those of which they can't be known.
 * chunks: of the medium. Returns how many chunks the tables list that remain. */
uint64_t e01_number_tables(struct e01_collector *collector, uint64_t chunks);

#endif
