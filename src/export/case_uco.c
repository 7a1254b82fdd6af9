/*
 * CASE and UCO, the ontologies in which forensic tools exchange what they found, as JSON-LD: a run is an action
 * with a tool, on an image, whose results are files; relationships say where in the image each lies.
 *
 * A node is a line, so that millions of files need no memory. Each has a UUID that is made of what it is
 * about (RFC 9562, version 5): the same reports give the same graph, and graphs of several runs can be joined.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "export/exporter.h"
#include "hashing/hash.h"

static const char context[] =
	"{\"@context\":{"
	"\"case-investigation\":\"https://ontology.caseontology.org/case/investigation/\","
	"\"uco-action\":\"https://ontology.unifiedcyberontology.org/uco/action/\","
	"\"uco-core\":\"https://ontology.unifiedcyberontology.org/uco/core/\","
	"\"uco-identity\":\"https://ontology.unifiedcyberontology.org/uco/identity/\","
	"\"uco-observable\":\"https://ontology.unifiedcyberontology.org/uco/observable/\","
	"\"uco-tool\":\"https://ontology.unifiedcyberontology.org/uco/tool/\","
	"\"uco-types\":\"https://ontology.unifiedcyberontology.org/uco/types/\","
	"\"xsd\":\"http://www.w3.org/2001/XMLSchema#\","
	"\"uco-action:startTime\":{\"@type\":\"xsd:dateTime\"},"
	"\"uco-action:endTime\":{\"@type\":\"xsd:dateTime\"},"
	"\"uco-action:instrument\":{\"@type\":\"@id\"},"
	"\"uco-action:object\":{\"@type\":\"@id\"},"
	"\"uco-action:performer\":{\"@type\":\"@id\"},"
	"\"uco-action:result\":{\"@type\":\"@id\"},"
	"\"uco-core:object\":{\"@type\":\"@id\"},"
	"\"uco-core:source\":{\"@type\":\"@id\"},"
	"\"uco-core:target\":{\"@type\":\"@id\"},"
	"\"uco-observable:accessedTime\":{\"@type\":\"xsd:dateTime\"},"
	"\"uco-observable:metadataChangeTime\":{\"@type\":\"xsd:dateTime\"},"
	"\"uco-observable:modifiedTime\":{\"@type\":\"xsd:dateTime\"},"
	"\"uco-observable:observableCreatedTime\":{\"@type\":\"xsd:dateTime\"},"
	"\"uco-types:hashValue\":{\"@type\":\"xsd:hexBinary\"}},\n"
	"\"@graph\":[\n";

/* ---- JSON ---------------------------------------------------------------------------------- */

/* The comma before a member or an element. */
static void add_comma(struct strbuf *line)
{
	if (line->len && !strchr("{[:,", line->bytes[line->len - 1]))
		strbuf_text(line, ",");
}

static void add_name(struct strbuf *line, const char *name)
{
	add_comma(line);
	strbuf_print(line, "\"%s\":", name);
}

/* text: NULL or "" for none. */
static void add_text(struct strbuf *line, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	add_name(line, name);
	strbuf_json(line, text);
}

static void add_number(struct strbuf *line, const char *name, uint64_t number)
{
	add_name(line, name);
	strbuf_number(line, number);
}

/* seconds: 0 for none. */
static void add_time(struct strbuf *line, const char *name, int64_t seconds)
{
	char text[TEXT_TIME_LEN];

	if (seconds && text_time(seconds, text))
		add_text(line, name, text);
}

/* The UUID of what the words say, within this run. */
static void add_id(struct text_export *graph, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_id(struct text_export *graph, const char *name, const char *format, ...)
{
	/* The namespace is burin's own, drawn at random. */
	static const uint8_t space[] = { 0x5a, 0x0e, 0x2f, 0x83, 0x61, 0x9b, 0x4c, 0x7d, 0x9e, 0x14,
		0xb7, 0x40, 0xd2, 0x36, 0xc8, 0xf5 };
	struct hasher *hasher = hasher_new(HASH_SHA1);
	struct hashes hashes = { 0 };
	char words[64];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	hasher_update(hasher, space, sizeof(space));
	hasher_update(hasher, graph->key.bytes, graph->key.len);
	hasher_update(hasher, words, (size_t)len);
	hasher_finish(hasher, &hashes);
	hasher_free(hasher);
	/* The digits of the version and of the variant are not the hash's. */
	hashes.sha1[12] = '5';
	hashes.sha1[16] = "89ab"[hashes.sha1[16] & 3];
	if (name)
		add_name(&graph->line, name);
	else
		add_comma(&graph->line);
	strbuf_print(&graph->line, "\"urn:uuid:%.8s-%.4s-%.4s-%.4s-%.12s\"", hashes.sha1,
		hashes.sha1 + 8, hashes.sha1 + 12, hashes.sha1 + 16, hashes.sha1 + 20);
}

/* Begins an object: `{"@id":...,"@type":...`. */
#define begin_object(graph, type, ...) \
	do { \
		add_comma(&(graph)->line); \
		strbuf_text(&(graph)->line, "{"); \
		add_id(graph, "@id", __VA_ARGS__); \
		add_text(&(graph)->line, "@type", type); \
	} while (0)

static void end_node(struct text_export *graph)
{
	strbuf_text(&graph->line, "},\n");
	strbuf_write(&graph->line, graph->stream);
}

/* ---- a run --------------------------------------------------------------------------------- */

static const char *text_at(const json_t *record, const char *outer, const char *name)
{
	const char *text = json_string_value(
		json_object_get(outer ? json_object_get(record, outer) : record, name));

	return text ? text : "";
}

static int64_t time_at(const json_t *record, const char *name)
{
	int64_t seconds;

	return text_time_parse(text_at(record, NULL, name), &seconds) ? seconds : 0;
}

/* Nodes of one file are told from those of others by numbers, of one run by these. */
static void find_key(struct text_export *graph, const json_t *record)
{
	graph->number = 0;
	graph->key.len = 0;
	strbuf_print(&graph->key, "%s\n%s\n%s\n", text_at(record, NULL, "started"),
		text_at(record, "image", "absolute"), text_at(record, NULL, "output"));
}

static void add_hash(struct text_export *graph, const char *method, const char *value,
	const char *of, uint64_t number)
{
	if (!*value)
		return;
	begin_object(graph, "uco-types:Hash", "%s %" PRIu64 " %s", of, number, method);
	add_text(&graph->line, "uco-types:hashMethod", method);
	add_text(&graph->line, "uco-types:hashValue", value);
	strbuf_text(&graph->line, "}");
}

static void add_hashes(
	struct text_export *graph, const struct hashes *hashes, const char *of, uint64_t number)
{
	if (!*hashes->md5 && !*hashes->sha1 && !*hashes->sha256)
		return;
	add_name(&graph->line, "uco-observable:hash");
	strbuf_text(&graph->line, "[");
	add_hash(graph, "MD5", hashes->md5, of, number);
	add_hash(graph, "SHA1", hashes->sha1, of, number);
	add_hash(graph, "SHA256", hashes->sha256, of, number);
	strbuf_text(&graph->line, "]");
}

static void add_tool(struct text_export *graph, const struct report_reader_run *run)
{
	begin_object(graph, "uco-tool:AnalyticTool", "tool");
	add_text(&graph->line, "uco-core:name", "burin");
	add_text(&graph->line, "uco-tool:toolType", "file carver");
	add_text(&graph->line, "uco-tool:version", run->burin);
	end_node(graph);
}

static void add_image(struct text_export *graph, const struct report_reader_run *run)
{
	const char *path = *run->image_absolute ? run->image_absolute : run->image_path;
	struct hashes stored = { 0 };

	strcpy(stored.md5, run->stored_md5);
	strcpy(stored.sha1, run->stored_sha1);
	begin_object(graph, "uco-observable:Image", "image");
	add_name(&graph->line, "uco-core:hasFacet");
	strbuf_text(&graph->line, "[");
	begin_object(graph, "uco-observable:FileFacet", "image file");
	add_text(&graph->line, "uco-observable:fileName", text_file_name(path));
	add_text(&graph->line, "uco-observable:filePath", path);
	strbuf_text(&graph->line, "}");
	begin_object(graph, "uco-observable:ImageFacet", "image kind");
	add_text(&graph->line, "uco-observable:imageType", run->image_format);
	strbuf_text(&graph->line, "}");
	begin_object(graph, "uco-observable:ContentDataFacet", "image content");
	add_number(&graph->line, "uco-observable:sizeInBytes", run->image_size);
	add_hashes(graph, &stored, "image", 0);
	strbuf_text(&graph->line, "}]");
	end_node(graph);
}

static int case_run(
	void *state, const char *folder, const struct report_reader *report, struct error *error)
{
	struct text_export *graph = state;
	const json_t *record = report_reader_run_record(report);
	const char *examiner = text_at(record, "case", "examiner");

	(void)folder, (void)error;
	strbuf_text(&graph->line, graph->begun ? ",\n" : context);
	graph->begun = true;
	strbuf_write(&graph->line, graph->stream);
	find_key(graph, record);
	add_tool(graph, report_reader_run(report));
	add_image(graph, report_reader_run(report));
	if (*examiner) {
		begin_object(graph, "uco-identity:Person", "examiner");
		add_text(&graph->line, "uco-core:name", examiner);
		end_node(graph);
	}
	return 0;
}

/* The action, whose end and results are known now. */
static int case_run_end(void *state, const struct report_reader *report, struct error *error)
{
	struct text_export *graph = state;
	const json_t *record = report_reader_run_record(report);
	const json_t *summary = report_reader_summary_record(report);

	(void)error;
	begin_object(graph, "case-investigation:InvestigativeAction", "action");
	add_text(&graph->line, "uco-core:name", "carved");
	add_time(&graph->line, "uco-action:startTime", time_at(record, "started"));
	add_time(&graph->line, "uco-action:endTime", time_at(summary, "finished"));
	add_id(graph, "uco-action:instrument", "tool");
	add_id(graph, "uco-action:object", "image");
	if (*text_at(record, "case", "examiner"))
		add_id(graph, "uco-action:performer", "examiner");
	add_name(&graph->line, "uco-action:result");
	strbuf_text(&graph->line, "[");
	for (uint64_t number = 0; number < graph->number; number++) {
		add_id(graph, NULL, "file %" PRIu64, number);
		strbuf_write(&graph->line, graph->stream);
		strbuf_text(&graph->line, number + 1 < graph->number ? "," : "");
	}
	strbuf_text(&graph->line, "]");
	end_node(graph);
	begin_object(graph, "case-investigation:Investigation", "investigation");
	add_text(&graph->line, "uco-core:name", text_at(record, "case", "number"));
	add_text(&graph->line, "uco-core:description", text_at(record, "case", "note"));
	add_name(&graph->line, "uco-core:object");
	strbuf_text(&graph->line, "[");
	add_id(graph, NULL, "image");
	add_id(graph, NULL, "action");
	strbuf_text(&graph->line, "]}");
	strbuf_write(&graph->line, graph->stream);
	return 0;
}

/* ---- files --------------------------------------------------------------------------------- */

static void add_file_facet(struct text_export *graph, const struct file_record *file)
{
	static const char *const names[FS_TIME_COUNT] = {
		[FS_ACCESSED] = "uco-observable:accessedTime",
		[FS_MODIFIED] = "uco-observable:modifiedTime",
		[FS_CHANGED] = "uco-observable:metadataChangeTime",
		[FS_CREATED] = "uco-observable:observableCreatedTime",
	};
	struct strbuf *line = &graph->line;

	begin_object(graph, "uco-observable:FileFacet", "facet %" PRIu64, graph->number);
	add_text(line, "uco-observable:extension", file->extension);
	add_text(line, "uco-observable:allocationStatus", file_space_name(file->space));
	if (file_record_is_original(file)) {
		add_text(line, "uco-observable:fileName", text_file_name(file->fs_path));
		add_text(line, "uco-observable:filePath", file->fs_path);
		add_number(line, "uco-observable:sizeInBytes", file->fs.size);
		for (enum fs_time time = 0; time < FS_TIME_COUNT; time++)
			add_time(line, names[time], file->fs.times[time]);
	}
	strbuf_text(line, "}");
}

static void add_recovered_facet(struct text_export *graph, const struct file_record *file)
{
	static const char *const content[] = {
		[FILE_COMPLETE] = "recovered",
		[FILE_TRUNCATED] = "partially recovered",
		[FILE_UNVERIFIED] = "unknown",
	};
	const char *name = file_record_is_original(file) ? "recovered" : "unknown";

	begin_object(
		graph, "uco-observable:RecoveredObjectFacet", "recovered %" PRIu64, graph->number);
	add_text(&graph->line, "uco-observable:contentRecoveredStatus", content[file->status]);
	add_text(&graph->line, "uco-observable:metadataRecoveredStatus", name);
	add_text(&graph->line, "uco-observable:nameRecoveredStatus", name);
	strbuf_text(&graph->line, "}");
}

/* What no facet has a place for, for people. */
static void add_description(struct strbuf *line, const struct file_record *file)
{
	struct strbuf text = { 0 };
	char time[TEXT_TIME_LEN];

	strbuf_print(&text, "%s, %s", file->kind, file_status_name(file->status));
	if (*file->reason)
		strbuf_print(&text, " (%s)", file->reason);
	if (*file->title)
		strbuf_print(&text, "; title: %s", file->title);
	if (file->time && text_time(file->time, time))
		strbuf_print(&text, "; time stored in the file: %s", time);
	if (file->fs_path && !file_record_is_original(file))
		strbuf_print(&text, "; begins in: %s", file->fs_path);
	add_text(line, "uco-core:description", text.bytes);
	strbuf_free(&text);
}

static void add_extent(struct text_export *graph, const struct file_record *file, uint32_t index)
{
	begin_object(graph, "uco-observable:ObservableRelationship", "place %" PRIu64 " %u",
		graph->number, index);
	add_id(graph, "uco-core:source", "file %" PRIu64, graph->number);
	add_id(graph, "uco-core:target", "image");
	add_text(&graph->line, "uco-core:kindOfRelationship", "Contained_Within");
	strbuf_text(&graph->line, ",\"uco-core:isDirectional\":true,\"uco-core:hasFacet\":[");
	begin_object(graph, "uco-observable:DataRangeFacet", "range %" PRIu64 " %u", graph->number,
		index);
	add_number(&graph->line, "uco-observable:rangeOffset", file->runs[index].offset);
	add_number(&graph->line, "uco-observable:rangeSize", file->runs[index].length);
	strbuf_text(&graph->line, "}");
	if (file->run_count > 1) {
		begin_object(graph, "uco-observable:FragmentFacet", "fragment %" PRIu64 " %u",
			graph->number, index);
		add_number(&graph->line, "uco-observable:fragmentIndex", index);
		add_number(&graph->line, "uco-observable:totalFragments", file->run_count);
		strbuf_text(&graph->line, "}");
	}
	strbuf_text(&graph->line, "]");
	end_node(graph);
}

static int case_file(void *state, const struct file_record *file, struct error *error)
{
	struct text_export *graph = state;

	(void)error;
	begin_object(graph, "uco-observable:File", "file %" PRIu64, graph->number);
	add_text(&graph->line, "uco-core:name", file->path);
	add_description(&graph->line, file);
	add_name(&graph->line, "uco-core:hasFacet");
	strbuf_text(&graph->line, "[");
	add_file_facet(graph, file);
	begin_object(graph, "uco-observable:ContentDataFacet", "content %" PRIu64, graph->number);
	add_number(&graph->line, "uco-observable:sizeInBytes", file->length);
	add_hashes(graph, &file->hashes, "hash", graph->number);
	strbuf_text(&graph->line, "}");
	add_recovered_facet(graph, file);
	strbuf_text(&graph->line, "]");
	end_node(graph);
	for (uint32_t i = 0; i < file->run_count; i++)
		add_extent(graph, file, i);
	graph->number++;
	return 0;
}

static void case_end(struct text_export *graph)
{
	strbuf_text(&graph->line, "\n]}\n");
	strbuf_write(&graph->line, graph->stream);
}

const struct exporter case_exporter = {
	.run = case_run, .file = case_file, .run_end = case_run_end, .end = case_end
};
