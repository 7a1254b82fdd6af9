/*
 * report.jsonl, schema 1: tests/report.schema.json defines what each field means. A record is
 * built, written and freed, so the report costs no memory. Everything that engine, threads, host or
 * time could change is in the first and the last record; file records contain none of it.
 */
#include "report/jsonl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/version.h"
#include "content_map/map_bin.h"
#include "report/report.h"
#include "report/volumes_json.h"

struct jsonl {
	FILE *stream;
};

/* ---- values -------------------------------------------------------------------------------- */

static json_t *text_array(char *const *texts, size_t count)
{
	json_t *array = jsonl_array();

	for (size_t i = 0; i < count; i++)
		jsonl_append(array, json_text(texts[i]));
	return array;
}

static json_t *range_array(const struct range *ranges, size_t count)
{
	json_t *array = jsonl_array();

	for (size_t i = 0; i < count; i++) {
		json_t *pair = jsonl_array();

		jsonl_append(pair, jsonl_number(ranges[i].offset));
		jsonl_append(pair, jsonl_number(ranges[i].length));
		jsonl_append(array, pair);
	}
	return array;
}

/* Only those that exist. */
static json_t *hash_object(const char *md5, const char *sha1, const char *sha256)
{
	json_t *object = jsonl_object();

	if (*md5)
		jsonl_put(object, "md5", json_string(md5));
	if (*sha1)
		jsonl_put(object, "sha1", json_string(sha1));
	if (*sha256)
		jsonl_put(object, "sha256", json_string(sha256));
	return object;
}

/* ---- the run ------------------------------------------------------------------------------- */

static json_t *image_object(const struct run_record *run)
{
	const struct image_info *image = run->image;
	json_t *object = jsonl_object(), *acquisition = jsonl_object();
	char *absolute = realpath(run->image_path, NULL);

	for (size_t i = 0; i < image->value_count; i++)
		jsonl_put(acquisition, image->values[i].name, json_text(image->values[i].value));
	jsonl_put(object, "path", json_text(run->image_path));
	jsonl_put(object, "absolute", json_text(absolute));
	free(absolute);
	jsonl_put(object, "paths", text_array(image->paths, image->path_count));
	jsonl_put(object, "format", json_text(image->format));
	jsonl_put(object, "size", jsonl_number(image->size));
	jsonl_put(object, "sector_size", jsonl_number(image->sector_size));
	jsonl_put(object, "hashes", jsonl_object());
	jsonl_put(object, "stored_hashes", hash_object(image->stored_md5, image->stored_sha1, ""));
	jsonl_put(object, "acquisition", acquisition);
	return object;
}

static json_t *case_object(const struct case_record *about)
{
	json_t *object = jsonl_object();

	jsonl_put(object, "number", json_text(about->number));
	jsonl_put(object, "examiner", json_text(about->examiner));
	jsonl_put(object, "note", json_text(about->note));
	return object;
}

static json_t *rules_object(const struct rules *rules)
{
	json_t *object = jsonl_object();

	jsonl_put(object, "path", json_text(rules->path));
	jsonl_put(object, "sha256", json_text(rules->sha256));
	jsonl_put(object, "count", jsonl_number(rules->count));
	jsonl_put(object, "types", json_text(rules->selection));
	jsonl_put(object, "format", json_text(rules_format_name(rules->format)));
	jsonl_put(object, "files", text_array(rules->files, rules->file_count));
	return object;
}

static json_t *plugin_array(const struct plugin_record *plugin)
{
	json_t *array = json_array();

	for (; plugin && plugin->path; plugin++) {
		json_t *object = jsonl_object();

		jsonl_put(object, "path", json_text(plugin->path));
		jsonl_put(object, "sha256", json_text(plugin->hashes.sha256));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *engine_object(const struct run_record *run)
{
	json_t *object = jsonl_object();

	jsonl_put(object, "name", json_text(run->engine));
	jsonl_put(object, "kernel", json_text(run->kernel));
	jsonl_put(object, "reason", json_text(run->engine_reason));
	jsonl_put(object, "reader", json_text(run->reader));
	jsonl_put(object, "threads", jsonl_number(run->threads));
	jsonl_put(object, "chunk_size", jsonl_number(run->chunk_size));
	return object;
}

/* "unfinished" is the longest of the words. */
static void jsonl_headline(char *text, const struct summary_record *summary)
{
	const char *state = summary ? evidence_state_name(summary->evidence.state) : "unfinished";

	sprintf(text, "\"evidence\":\"%s\"%*s", state, (int)(10 - strlen(state)), "");
}

/* The object's fields come after those at fixed places. */
static int write_run(FILE *stream, json_t *object)
{
	char headline[REPORT_HEADLINE_LEN + 1];
	char *fields = json_dumps(object, JSON_COMPACT);

	json_decref(object);
	if (!fields)
		return -ENOMEM;
	jsonl_headline(headline, NULL);
	fprintf(stream, "{\"record\":\"run\",\"schema\":1,%s,%s\n", headline, fields + 1);
	free(fields);
	return 0;
}

static json_t *sandbox_object(const struct run_record *run)
{
	json_t *object = jsonl_object();

	jsonl_put(object, "limits", json_boolean(run->confined.limits));
	jsonl_put(object, "landlock", json_integer(run->confined.landlock));
	jsonl_put(object, "seccomp", json_boolean(run->confined.seccomp));
	jsonl_put(object, "checks", json_boolean(run->checks_confined));
	return object;
}

static int jsonl_open(void **state, FILE *stream, const struct run_record *run)
{
	struct jsonl *jsonl = xcalloc(1, sizeof(*jsonl));
	json_t *object = jsonl_object();
	struct utsname system = { 0 };
	size_t count = 0;

	*state = jsonl;
	jsonl->stream = stream;
	while (run->arguments && run->arguments[count])
		count++;
	uname(&system);
	jsonl_put(object, "burin", json_string(burin_version));
	jsonl_put(object, "commit", *burin_commit ? json_string(burin_commit) : json_null());
	jsonl_put(object, "libraries", json_string(burin_libraries));
	jsonl_put(object, "command", text_array(run->arguments, count));
	jsonl_put(object, "host", json_text(system.nodename));
	jsonl_put(object, "started", json_time(run->started));
	jsonl_put(object, "output", json_text(run->output_dir));
	if (run->about.number || run->about.examiner || run->about.note)
		jsonl_put(object, "case", case_object(&run->about));
	jsonl_put(object, "image", image_object(run));
	if (run->volumes)
		volumes_json(object, run->volumes);
	if (run->plugins && run->plugins->path)
		jsonl_put(object, "plugins", plugin_array(run->plugins));
	jsonl_put(object, "rules", rules_object(run->rules));
	jsonl_put(object, "engine", engine_object(run));
	jsonl_put(object, "sandbox", sandbox_object(run));
	jsonl_put(object, "options", options_json(run->option_rows, run->options));
	return write_run(stream, object);
}

/* ---- files, and the summary ---------------------------------------------------------------- */

static void jsonl_line(
	const void *state, const struct file_record *file, uint64_t number, struct strbuf *line)
{
	(void)state;
	(void)number;
	jsonl_line_file(line, "record", NULL, file);
}

/* A name from outside becomes a key: cleaned like any text. */
static void put_named(json_t *object, const char *name, json_t *value)
{
	char *clean = text_clean_copy(name);

	jsonl_put(object, clean, value);
	free(clean);
}

static json_t *type_object(const struct tallies *types)
{
	json_t *object = jsonl_object();

	for (size_t i = 0; i < types->count; i++) {
		json_t *sums = jsonl_object();

		jsonl_put(sums, "files", jsonl_number(types->items[i].count));
		jsonl_put(sums, "bytes", jsonl_number(types->items[i].bytes));
		put_named(object, types->items[i].name, sums);
	}
	return object;
}

static json_t *check_object(const struct tallies *checks)
{
	json_t *object = jsonl_object();

	for (size_t i = 0; i < checks->count; i++) {
		json_t *sums = jsonl_object();

		jsonl_put(sums, "count", jsonl_number(checks->items[i].count));
		jsonl_put(sums, "work", jsonl_number(checks->items[i].bytes));
		put_named(object, checks->items[i].name, sums);
	}
	return object;
}

static json_t *count_object(const struct tallies *tallies)
{
	json_t *object = jsonl_object();

	for (size_t i = 0; i < tallies->count; i++)
		put_named(object, tallies->items[i].name, jsonl_number(tallies->items[i].count));
	return object;
}

static json_t *rank_object(const struct rank_record *rank)
{
	json_t *object = jsonl_object();

	jsonl_put(object, "host", json_text(rank->host));
	jsonl_put(object, "bytes", jsonl_number(rank->bytes));
	jsonl_put(object, "start", json_real(rank->start));
	jsonl_put(object, "search", json_real(rank->search));
	jsonl_put(object, "read_wait", json_real(rank->read_wait));
	jsonl_put(object, "scan_wait", json_real(rank->scan_wait));
	jsonl_put(object, "unit_wait", json_real(rank->unit_wait));
	jsonl_put(object, "send_wait", json_real(rank->send_wait));
	jsonl_put(object, "jobs", jsonl_number(rank->jobs));
	jsonl_put(object, "jobs_wait", json_real(rank->jobs_wait));
	return object;
}

static json_t *rank_array(const struct summary_record *summary)
{
	json_t *array = jsonl_array();

	for (unsigned i = 0; i < summary->rank_count; i++)
		jsonl_append(array, rank_object(&summary->ranks[i]));
	return array;
}

static json_t *seconds_object(const struct summary_record *summary)
{
	json_t *object = jsonl_object();

	jsonl_put(object, "total", json_real(summary->seconds_total));
	jsonl_put(object, "start", json_real(summary->seconds_start));
	jsonl_put(object, "read_wait", json_real(summary->seconds_read_wait));
	jsonl_put(object, "scan_wait", json_real(summary->seconds_scan_wait));
	jsonl_put(object, "carve_wait", json_real(summary->seconds_carve_wait));
	if (summary->rank_count)
		jsonl_put(object, "ranks", rank_array(summary));
	return object;
}

static json_t *engine_array(const struct summary_record *summary)
{
	json_t *array = jsonl_array();

	for (size_t i = 0; i < summary->engine_count; i++) {
		const struct engine_share *share = &summary->engines[i];
		json_t *object = jsonl_object();

		jsonl_put(object, "name", json_text(share->name));
		jsonl_put(object, "kernel", json_text(share->kernel));
		jsonl_put(object, "bytes", jsonl_number(share->bytes));
		if (*share->why)
			jsonl_put(object, "why", json_text(share->why));
		jsonl_append(array, object);
	}
	return array;
}

static json_t *evidence_object(const struct evidence_record *evidence)
{
	const struct hashes *hashes = &evidence->hashes;
	json_t *object = jsonl_object();

	jsonl_put(object, "state", json_string(evidence_state_name(evidence->state)));
	jsonl_put(object, "hashes", hash_object(hashes->md5, hashes->sha1, hashes->sha256));
	jsonl_put(object, "sentence", json_text(evidence->sentence));
	return object;
}

static json_t *content_object(const struct content_sums *content)
{
	json_t *object = jsonl_object(), *bytes = jsonl_object();

	for (unsigned i = 0; i < CONTENT_CLASSES; i++)
		jsonl_put(bytes, content_class_name(i), jsonl_number(content->bytes[i]));
	jsonl_put(object, "map", json_string(MAP_BIN_NAME));
	jsonl_put(object, "block_size", jsonl_number(content->block_len));
	jsonl_put(object, "bytes", bytes);
	return object;
}

static json_t *damage_array(const struct damages *damages)
{
	json_t *array = jsonl_array();

	for (size_t i = 0; i < damages->count; i++) {
		json_t *object = jsonl_object();

		jsonl_put(object, "offset", jsonl_number(damages->items[i].offset));
		jsonl_put(object, "length", jsonl_number(damages->items[i].length));
		jsonl_put(object, "why", json_text(damages->items[i].why));
		jsonl_append(array, object);
	}
	return array;
}

static json_t *caution_array(const struct summary_record *summary)
{
	json_t *array = json_array();

	for (size_t i = 0; summary->cautions[i]; i++)
		jsonl_append(array, json_text(summary->cautions[i]));
	return array;
}

static json_t *problem_array(const struct summary_record *summary)
{
	const size_t max = sizeof(summary->problems) / sizeof(summary->problems[0]);
	json_t *array = jsonl_array();

	for (size_t i = 0; i < max && summary->problems[i]; i++)
		jsonl_append(array, json_text(summary->problems[i]));
	return array;
}

static json_t *resumption_array(const struct summary_record *summary)
{
	json_t *array = jsonl_array();

	for (size_t i = 0; i < summary->resumed_count; i++) {
		json_t *object = jsonl_object();

		jsonl_put(object, "at", json_time(summary->resumed[i].at));
		jsonl_put(object, "position", jsonl_number(summary->resumed[i].position));
		jsonl_append(array, object);
	}
	return array;
}

static int jsonl_close(void *state, const struct summary_record *summary)
{
	const struct ranges *unreadable = summary->unreadable;
	json_t *object = jsonl_object();
	struct jsonl *jsonl = state;
	int status;

	jsonl_put(object, "record", json_string("summary"));
	jsonl_put(object, "files", jsonl_number(summary->files));
	jsonl_put(object, "bytes", jsonl_number(summary->bytes));
	jsonl_put(object, "evidence", evidence_object(&summary->evidence));
	if (summary->content.block_len)
		jsonl_put(object, "content", content_object(&summary->content));
	jsonl_put(object, "by_type", type_object(&summary->by_type));
	jsonl_put(object, "by_kind", type_object(&summary->by_kind));
	if (summary->sets || summary->known || summary->alert) {
		jsonl_put(object, "known", jsonl_number(summary->known));
		jsonl_put(object, "alert", jsonl_number(summary->alert));
	}
	jsonl_put(object, "rejected", count_object(&summary->rejected));
	jsonl_put(object, "skipped", count_object(&summary->skipped));
	jsonl_put(object, "checks", check_object(&summary->checks));
	jsonl_put(object, "hits", jsonl_number(summary->hits));
	jsonl_put(object, "scanned", jsonl_number(summary->scanned));
	jsonl_put(object, "unreadable",
		range_array(
			unreadable ? unreadable->items : NULL, unreadable ? unreadable->count : 0));
	jsonl_put(object, "damage", damage_array(&summary->damage));
	jsonl_put(object, "problems", problem_array(summary));
	if (summary->cautions[0])
		jsonl_put(object, "cautions", caution_array(summary));
	jsonl_put(object, "seconds", seconds_object(summary));
	if (summary->engine_count)
		jsonl_put(object, "engines", engine_array(summary));
	jsonl_put(object, "finished", json_time(summary->finished));
	if (summary->resumed_count)
		jsonl_put(object, "resumed", resumption_array(summary));
	jsonl_put(object, "signal", jsonl_number((uint64_t)summary->signal));
	jsonl_put(object, "exit", jsonl_number((uint64_t)summary->exit));
	status = jsonl_write(jsonl->stream, object);
	free(jsonl);
	return status;
}

const struct reporter jsonl_reporter = { "report.jsonl", jsonl_headline, jsonl_open, jsonl_line,
	jsonl_close, true };
