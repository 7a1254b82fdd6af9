#include "cli/assemble_show.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json_value.h"

static double rate(const struct bench_assemble_row *row)
{
	return row->seconds.median > 0 ? (double)row->count / row->seconds.median : 0;
}

bool assemble_show_table(const struct bench_assemble *result)
{
	bool equal = true;

	printf("%-34s %-6s %16s %12s %14s %10s  %s\n", "search", "device", "tried", "seconds",
		"10^9 a second", "found", "compared");
	for (unsigned i = 0; i < result->count; i++) {
		const struct bench_assemble_row *row = &result->rows[i];

		printf("%-34s %-6s %16" PRIu64 " %12.6f %14.4f %10" PRIu64 "  %s\n", row->what,
			row->device, row->count, row->seconds.median, rate(row) / 1e9, row->found,
			row->is_equal ? "equal" : "DIFFERENT");
		equal &= row->is_equal;
	}
	printf("cpu: %u threads; %" PRIu64 " clusters of 4096 bytes", result->threads,
		result->clusters);
	if (*result->why_no_gpu)
		printf("; no GPU: %s\n", result->why_no_gpu);
	else
		printf(", whose first bytes were copied to the GPU in %.3f s\n",
			result->keep_seconds);
	return equal;
}

static json_t *row_json(const struct bench_assemble_row *row)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:b}", "search", row->what,
		"device", row->device, "unit", row->unit, "tried", (json_int_t)row->count, "found",
		(json_int_t)row->found, "seconds", row->seconds.median, "seconds_least",
		row->seconds.least, "seconds_most", row->seconds.most, "per_second", rate(row),
		"equal", row->is_equal);
}

bool assemble_show_json(const struct bench_assemble *result)
{
	json_t *rows = json_array();
	bool equal = true;

	for (unsigned i = 0; i < result->count; i++) {
		json_array_append_new(rows, row_json(&result->rows[i]));
		equal &= result->rows[i].is_equal;
	}
	json_print(json_pack("{s:i, s:I, s:f, s:o, s:o}", "threads", (int)result->threads,
		"clusters", (json_int_t)result->clusters, "keep_seconds", result->keep_seconds,
		"no_gpu", json_text(*result->why_no_gpu ? result->why_no_gpu : NULL), "rows",
		rows));
	return equal;
}
