#include "bench/papers/paper_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void split_heads(struct paper_table *table, const char *heads)
{
	size_t capacity = 0;

	for (const char *end; *heads; heads = *end ? end + 1 : end) {
		end = strchrnul(heads, '|');
		table->heads =
			xgrow(table->heads, &capacity, table->column_count, sizeof(*table->heads));
		table->heads[table->column_count++] = xasprintf("%.*s", (int)(end - heads), heads);
	}
}

struct paper_table *paper_table_new(
	struct paper_tables *tables, unsigned paper, const char *heads, const char *title, ...)
{
	struct paper_table *table = xcalloc(1, sizeof(*table));
	va_list arguments;

	table->paper = paper;
	va_start(arguments, title);
	vsnprintf(table->title, sizeof(table->title), title, arguments);
	va_end(arguments);
	split_heads(table, heads);
	tables->items =
		xgrow(tables->items, &tables->capacity, tables->count, sizeof(*tables->items));
	tables->items[tables->count++] = table;
	return table;
}

static struct paper_cell *add_cell(struct paper_table *table)
{
	table->cells = xgrow(table->cells, &table->capacity, table->count, sizeof(*table->cells));
	table->cells[table->count] = (struct paper_cell){ 0 };
	return &table->cells[table->count++];
}

void paper_table_word(struct paper_table *table, const char *format, ...)
{
	struct paper_cell *cell = add_cell(table);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(cell->text, sizeof(cell->text), format, arguments);
	va_end(arguments);
}

void paper_table_number(struct paper_table *table, double value, int decimals)
{
	struct paper_cell *cell;

	if (!isfinite(value) || value < 0) {
		paper_table_word(table, "-");
		return;
	}
	cell = add_cell(table);
	cell->number = true;
	cell->value = value;
	snprintf(cell->text, sizeof(cell->text), "%.*f", decimals, value);
}

void paper_table_share(struct paper_table *table, double part, double whole)
{
	double share = whole > 0 ? 100 * part / whole : -1;

	paper_table_number(table, share, share < 1 ? 2 : 1);
	if (table->cells[table->count - 1].number)
		strcat(table->cells[table->count - 1].text, " %");
}

void paper_table_note(struct paper_table *table, const char *format, ...)
{
	va_list arguments;
	char *note;

	va_start(arguments, format);
	if (vasprintf(&note, format, arguments) < 0)
		note = NULL;
	va_end(arguments);
	if (!note)
		return;
	table->notes = xgrow(
		table->notes, &table->note_capacity, table->note_count, sizeof(*table->notes));
	table->notes[table->note_count++] = note;
}

static void table_free(struct paper_table *table)
{
	for (size_t i = 0; i < table->column_count; i++)
		free(table->heads[i]);
	for (size_t i = 0; i < table->note_count; i++)
		free(table->notes[i]);
	free(table->heads);
	free(table->notes);
	free(table->cells);
	free(table);
}

void paper_tables_free(struct paper_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++)
		table_free(tables->items[i]);
	free(tables->items);
	*tables = (struct paper_tables){ 0 };
}
