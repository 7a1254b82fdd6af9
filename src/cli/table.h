/* Tables for people; each column is as wide as its widest cell. */
#ifndef BURIN_CLI_TABLE_H
#define BURIN_CLI_TABLE_H

#include <stdio.h>

struct table;

/* align: one character per column, 'l' or 'r'; must outlive the table. */
struct table *table_new(const char *align);
/* Adds the next cell, row by row. Copies and cleans the text (base/text.h). */
void table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the complete rows. */
void table_print(const struct table *table, FILE *stream);
/* NULL is fine. */
void table_free(struct table *table);

#endif
