#include "cli/papers_show.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json_value.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/table.h"

static bool is_number_column(const struct paper_table *table, size_t column)
{
	for (size_t i = column; i < table->count; i += table->column_count)
		if (table->cells[i].number)
			return true;
	return false;
}

static void show_table(const struct paper_table *table)
{
	char *align = xcalloc(table->column_count + 1, 1);
	struct table *shown;

	for (size_t i = 0; i < table->column_count; i++)
		align[i] = is_number_column(table, i) ? 'r' : 'l';
	shown = table_new(align);
	for (size_t i = 0; i < table->column_count; i++)
		table_add(shown, "%s", table->heads[i]);
	for (size_t i = 0; i < table->count; i++)
		table_add(shown, "%s", table->cells[i].text);
	if (table->paper)
		printf("\nPaper %u. %s\n\n", table->paper, table->title);
	else
		printf("\n%s\n\n", table->title);
	table_print(shown, stdout);
	for (size_t i = 0; i < table->note_count; i++)
		printf("%s\n", table->notes[i]);
	table_free(shown);
	free(align);
}

static double sum_of(const double seconds[PAPERS])
{
	double sum = 0;

	for (unsigned i = 0; i < PAPERS; i++)
		sum += seconds[i];
	return sum;
}

void papers_show_text(const struct papers_options *options, const struct papers_result *result)
{
	printf("THEN: as published. NOW: here, %u threads, median of %u rounds, seed %llu.\n",
		result->threads, options->rounds, (unsigned long long)options->seed);
	printf("CEILING: the speed of scanning the text once, as a share of the card's memory "
	       "bandwidth.\n");
	if (*result->gpu_why)
		printf("No GPU: %s\n", result->gpu_why);
	else if (result->device_read > 0)
		printf("GPU memory bandwidth for reading, measured now: %.0f GB/s.\n",
			result->device_read / 1e9);
	for (size_t i = 0; i < result->tables.count; i++)
		show_table(result->tables.items[i]);
	printf("\n%.0f seconds\n", sum_of(result->seconds));
}

/* ---- for programs -------------------------------------------------------------------------- */

static json_t *texts_json(char **texts, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_text(texts[i]));
	return list;
}

static json_t *rows_json(const struct paper_table *table)
{
	json_t *rows = json_array();

	for (size_t i = 0; i + table->column_count <= table->count; i += table->column_count) {
		json_t *row = json_array();

		for (size_t k = i; k < i + table->column_count; k++)
			json_array_append_new(row, table->cells[k].number
							   ? json_real(table->cells[k].value)
							   : json_text(table->cells[k].text));
		json_array_append_new(rows, row);
	}
	return rows;
}

/* As typed. */
static json_t *command_json(void)
{
	size_t count = 0;

	while (command_line[count])
		count++;
	return texts_json(command_line, count);
}

void papers_show_json(const struct papers_options *options, const struct papers_result *result)
{
	json_t *tables = json_array(), *seconds = json_array();

	for (unsigned i = 0; i < PAPERS; i++)
		json_array_append_new(seconds, json_real(result->seconds[i]));
	for (size_t i = 0; i < result->tables.count; i++) {
		const struct paper_table *table = result->tables.items[i];

		json_array_append_new(
			tables, json_pack("{s:i, s:o, s:o, s:o, s:o}", "paper", (int)table->paper,
					"title", json_text(table->title), "columns",
					texts_json(table->heads, table->column_count), "rows",
					rows_json(table), "notes",
					texts_json(table->notes, table->note_count)));
	}
	json_print(json_pack("{s:o, s:o, s:i, s:i, s:I, s:f, s:o, s:i, s:o}", "command",
		command_json(), "seconds_of_papers", seconds, "threads", (int)result->threads,
		"rounds", (int)options->rounds, "seed", (json_int_t)options->seed,
		"device_read_bytes_per_second", result->device_read, "no_gpu_because",
		json_text(*result->gpu_why ? result->gpu_why : NULL), "different",
		(int)result->different, "tables", tables));
}
