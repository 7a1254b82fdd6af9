/* Tables of `burin bench --papers`: titles, columns, cells that are numbers or words, remarks. */
#ifndef BURIN_BENCH_PAPERS_PAPER_TABLE_H
#define BURIN_BENCH_PAPERS_PAPER_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct paper_cell {
	char text[56];
	double value; /* of a number */
	bool number;
};

struct paper_table {
	unsigned paper; /* 1 to 5; 0: all together */
	char title[160];
	char **heads;
	size_t column_count;
	struct paper_cell *cells; /* row by row */
	size_t count, capacity;
	char **notes;
	size_t note_count, note_capacity;
};

struct paper_tables {
	struct paper_table **items;
	size_t count, capacity;
};

/* heads: separated by '|'. */
struct paper_table *paper_table_new(struct paper_tables *tables, unsigned paper, const char *heads,
	const char *title, ...) __attribute__((format(printf, 4, 5)));
/* The next cell, in the order of reading. */
void paper_table_word(struct paper_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A number with this many decimals. Below 0 or not finite: no number, "-". */
void paper_table_number(struct paper_table *table, double value, int decimals);
/* A share of the whole, in per cent. */
void paper_table_share(struct paper_table *table, double part, double whole);
/* A sentence below the table. */
void paper_table_note(struct paper_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void paper_tables_free(struct paper_tables *tables);

#endif
