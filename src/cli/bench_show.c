#include "cli/bench_show.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json_value.h"
#include "base/size.h"
#include "base/version.h"
#include "cli/table.h"
#include "rules/rules.h"

/* ---- for people ---------------------------------------------------------------------------- */

static void print_ceilings(const struct bench_result *result)
{
	struct table *table = table_new("lr");
	char speed[24];

	for (unsigned i = 0; i < BENCH_BOUNDS; i++) {
		if (result->ceilings[i].speed <= 0)
			continue;
		table_add(table, "ceiling: %s", bench_bound_name(i));
		table_add(table, "%s", bench_speed_print(result->ceilings[i].speed, speed));
	}
	table_print(table, stdout);
	table_free(table);
}

static double row_speed(const struct bench_row *row)
{
	return bench_speed(row->bytes, row->seconds.median);
}

static void add_speed(struct table *table, const struct bench_row *row, double ceiling)
{
	char text[24];
	double spread = row->seconds.most - row->seconds.least;

	if (!row->seconds.count) {
		for (unsigned i = 0; i < 3; i++)
			table_add(table, "-");
		return;
	}
	table_add(table, "%s", bench_speed_print(row_speed(row), text));
	table_add(table, "%s", bench_share_print(spread, row->seconds.median, text));
	table_add(table, "%s", bench_share_print(row_speed(row), ceiling, text));
}

static const char *verdict_name(enum bench_verdict verdict)
{
	static const char *const names[] = { "not run", "equal", "DIFFERENT" };

	return names[verdict];
}

static void add_row(
	struct table *table, const struct bench_result *result, const struct bench_row *row)
{
	table_add(table, "%s", bench_mode_name(row->mode));
	table_add(table, "%s", row->engine);
	table_add(table, "%s", row->kernel ? row->kernel : "-");
	add_speed(table, row, result->ceilings[row->bound].speed);
	table_add(table, "%" PRIu64, row->found.count);
	table_add(table, "%s", verdict_name(row->verdict));
	table_add(table, "%s", *row->why ? row->why : row->how);
}

static void print_rows(const struct bench_result *result)
{
	static const char *const heads[] = { "MODE", "ENGINE", "KERNEL", "SPEED", "SPREAD",
		"CEILING", "FOUND", "COMPARED", "HOW" };
	struct table *table = table_new("lllrrrrll");

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		table_add(table, "%s", heads[i]);
	for (size_t i = 0; i < result->count; i++)
		add_row(table, result, &result->rows[i]);
	table_print(table, stdout);
	table_free(table);
}

/* The time of whole runs, by stage. */
static void print_stages(const struct bench_result *result)
{
	static const char *const heads[] = { "SECONDS", "ENGINE", "IN ALL", "START", "FOR READER",
		"FOR ENGINE", "FOR CARVERS", "REST" };
	struct table *table = table_new("llrrrrrr");
	bool any = false;

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		table_add(table, "%s", heads[i]);
	for (size_t i = 0; i < result->count; i++) {
		const struct run_sums *sums = &result->rows[i].sums;

		if (!result->rows[i].seconds.count || result->rows[i].mode != BENCH_WHOLE)
			continue;
		any = true;
		table_add(table, "end-to-end");
		table_add(table, "%s", result->rows[i].engine);
		table_add(table, "%.3f", sums->total);
		table_add(table, "%.3f", sums->start);
		table_add(table, "%.3f", sums->read_wait);
		table_add(table, "%.3f", sums->scan_wait);
		table_add(table, "%.3f", sums->carve_wait);
		table_add(table, "%.3f",
			sums->total - sums->start - sums->read_wait - sums->scan_wait -
				sums->carve_wait);
	}
	if (any) {
		printf("\n");
		table_print(table, stdout);
	}
	table_free(table);
}

void bench_show_table(const struct bench_options *options, const struct bench_result *result)
{
	char text_len[16], part_len[16], chunk_len[16];

	printf("%s, %s in memory; %" PRIu32
	       " patterns; chunks of %s; %u threads; median of %u rounds\n"
	       "hits compared with the engine reference in the first %s, and with the CPU engine "
	       "in all of it\n\n",
		options->data ? options->data : "random bytes",
		size_print(result->text_len, text_len), options->set->count,
		size_print(options->chunk_size, chunk_len), result->threads, options->rounds,
		size_print(result->part_len, part_len));
	print_ceilings(result);
	printf("\n");
	print_rows(result);
	print_stages(result);
}

/* ---- for programs -------------------------------------------------------------------------- */

static json_t *optional_real(double value)
{
	return value > 0 ? json_real(value) : json_null();
}

static json_t *ceilings_json(const struct bench_result *result)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < BENCH_BOUNDS; i++) {
		const struct bench_ceiling *ceiling = &result->ceilings[i];

		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o}", "name", json_text(bench_bound_name(i)),
				      "bytes_per_second", optional_real(ceiling->speed), "reason",
				      json_text(*ceiling->why ? ceiling->why : NULL)));
	}
	return list;
}

static json_t *seconds_json(const struct bench_stats *seconds)
{
	if (!seconds->count)
		return json_null();
	return json_pack("{s:f, s:f, s:f, s:i}", "median", seconds->median, "least", seconds->least,
		"most", seconds->most, "rounds", (int)seconds->count);
}

static json_t *stages_json(const struct run_sums *sums)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:I, s:I}", "total", sums->total, "start",
		sums->start, "read_wait", sums->read_wait, "scan_wait", sums->scan_wait,
		"carve_wait", sums->carve_wait, "files", (json_int_t)sums->files, "hits",
		(json_int_t)sums->hits);
}

static json_t *row_json(const struct bench_result *result, const struct bench_row *row)
{
	double ceiling = result->ceilings[row->bound].speed, speed = row_speed(row);
	json_t *object = json_object();
	char sum[17];

	snprintf(sum, sizeof(sum), "%016" PRIx64, row->found.sum);
	json_object_set_new(object, "mode", json_text(bench_mode_name(row->mode)));
	json_object_set_new(object, "engine", json_text(row->engine));
	json_object_set_new(object, "kernel", json_text(row->kernel));
	json_object_set_new(object, "how", json_text(*row->how ? row->how : NULL));
	json_object_set_new(object, "compared", json_text(verdict_name(row->verdict)));
	json_object_set_new(object, "reason", json_text(*row->why ? row->why : NULL));
	json_object_set_new(object, "bytes", json_integer((json_int_t)row->bytes));
	json_object_set_new(object, "bytes_per_second", optional_real(speed));
	json_object_set_new(object, "seconds", seconds_json(&row->seconds));
	json_object_set_new(object, "ceiling", json_text(bench_bound_name(row->bound)));
	json_object_set_new(object, "of_ceiling", optional_real(ceiling > 0 ? speed / ceiling : 0));
	json_object_set_new(object, "found", json_integer((json_int_t)row->found.count));
	json_object_set_new(object, "checksum", json_text(sum));
	if (row->mode == BENCH_RESIDENT)
		json_object_set_new(object, "compile_seconds", json_real(row->compile));
	if (row->mode == BENCH_WHOLE && row->seconds.count)
		json_object_set_new(object, "stages", stages_json(&row->sums));
	return object;
}

void bench_show_json(const struct bench_options *options, const struct bench_result *result)
{
	json_t *object = json_object(), *rows = json_array();

	for (size_t i = 0; i < result->count; i++)
		json_array_append_new(rows, row_json(result, &result->rows[i]));
	json_object_set_new(object, "burin", json_text(burin_version));
	json_object_set_new(object, "data", json_text(options->data));
	json_object_set_new(object, "seed", json_integer((json_int_t)options->seed));
	json_object_set_new(object, "bytes", json_integer((json_int_t)result->text_len));
	json_object_set_new(
		object, "compared_with_reference", json_integer((json_int_t)result->part_len));
	json_object_set_new(object, "patterns", json_integer(options->set->count));
	json_object_set_new(object, "chunk_size", json_integer((json_int_t)options->chunk_size));
	json_object_set_new(object, "threads", json_integer(result->threads));
	json_object_set_new(object, "ceilings", ceilings_json(result));
	json_object_set_new(object, "rows", rows);
	json_print(object);
}
