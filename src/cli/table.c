#include "cli/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

struct table {
	const char *align;
	size_t columns;
	size_t *widths; /* of each column */
	char **cells;
	size_t count, capacity;
};

struct table *table_new(const char *align)
{
	struct table *table = xcalloc(1, sizeof(*table));

	table->align = align;
	table->columns = strlen(align);
	table->widths = xcalloc(table->columns, sizeof(*table->widths));
	return table;
}

void table_add(struct table *table, const char *format, ...)
{
	size_t column = table->count % table->columns;
	char raw[512], text[512];
	va_list args;
	size_t len;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	text_clean(raw, text, sizeof(text));
	len = strlen(text);
	if (len > table->widths[column])
		table->widths[column] = len;
	table->cells = xgrow(table->cells, &table->capacity, table->count, sizeof(*table->cells));
	table->cells[table->count++] = xstrdup(text);
}

static void print_cell(const struct table *table, size_t index, FILE *stream)
{
	size_t column = index % table->columns;
	int width = (int)table->widths[column];
	bool last = column == table->columns - 1;

	if (table->align[column] == 'r')
		fprintf(stream, "%*s", width, table->cells[index]);
	else if (last) /* no blanks after the last column */
		fputs(table->cells[index], stream);
	else
		fprintf(stream, "%-*s", width, table->cells[index]);
	fputs(last ? "\n" : "  ", stream);
}

void table_print(const struct table *table, FILE *stream)
{
	size_t complete = table->count - table->count % table->columns;

	for (size_t i = 0; i < complete; i++)
		print_cell(table, i, stream);
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table->widths);
	free(table);
}
