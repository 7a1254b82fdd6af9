/* Columns of text for people, as wide as what stands in them. */
#ifndef BURIN_CLI_TABLE_H
#define BURIN_CLI_TABLE_H

#include <stdio.h>

struct table;

/* align: a character a column, 'l' or 'r'. */
struct table *table_new(const char *align);
/* Adds the next cell, in the order of reading; text is copied, cleaned
 * (base/text.h). */
void table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the rows that are complete. */
void table_print(const struct table *table, FILE *stream);
/* NULL is fine. */
void table_free(struct table *table);

#endif
