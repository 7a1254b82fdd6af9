#include "cli/batch_summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_value.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/table.h"

bool batch_summary_owns(const char *name)
{
	return strcmp(name, "batch.txt") == 0 || strcmp(name, "batch.json") == 0;
}

static struct table *make_table(const struct batch_summary *batch)
{
	static const char *const heads[] = { "EXIT", "FILES", "BYTES", "OF", "SECONDS", "EVIDENCE",
		"IMAGE", "PROBLEM" };
	struct table *table = table_new("rrrrrlll");
	char bytes[16], size[16];

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		table_add(table, "%s", heads[i]);
	for (size_t i = 0; i < batch->count; i++) {
		const struct batch_item *item = &batch->items[i];
		const struct run_sums *sums = &item->sums;

		if (item->begun)
			table_add(table, "%d", item->exit);
		else
			table_add(table, "-");
		table_add(table, "%" PRIu64, sums->files);
		table_add(table, "%s", size_print(sums->bytes, bytes));
		table_add(table, "%s", size_print(sums->image_size, size));
		table_add(table, "%.1f", sums->total);
		table_add(table, "%s", evidence_state_name(sums->evidence));
		table_add(table, "%s", item->image);
		table_add(table, "%s", item->begun ? sums->problem : "not started");
	}
	return table;
}

static json_t *item_object(const struct batch_item *item)
{
	const struct run_sums *sums = &item->sums;
	json_t *object = json_object();

	json_object_set_new(object, "image", json_text(item->image));
	json_object_set_new(object, "folder", json_text(item->folder));
	json_object_set_new(object, "exit", item->begun ? json_integer(item->exit) : json_null());
	json_object_set_new(object, "size", json_integer((json_int_t)sums->image_size));
	json_object_set_new(object, "scanned", json_integer((json_int_t)sums->scanned));
	json_object_set_new(object, "files", json_integer((json_int_t)sums->files));
	json_object_set_new(object, "bytes", json_integer((json_int_t)sums->bytes));
	json_object_set_new(object, "evidence", json_string(evidence_state_name(sums->evidence)));
	json_object_set_new(object, "seconds", json_real(sums->total));
	json_object_set_new(
		object, "problem", *sums->problem ? json_text(sums->problem) : json_null());
	return object;
}

/* What a person or a script must look at to know that no image was overlooked. */
static json_t *not_taken_array(const struct images *images)
{
	json_t *array = json_array();

	for (size_t i = 0; i < images->not_taken_count; i++) {
		json_t *object = json_object();

		json_object_set_new(object, "path", json_text(images->not_taken[i].path));
		json_object_set_new(object, "reason", json_text(images->not_taken[i].reason));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *make_json(const struct batch_summary *batch)
{
	json_t *object = json_object(), *images = json_array();

	for (size_t i = 0; i < batch->count; i++)
		json_array_append_new(images, item_object(&batch->items[i]));
	json_object_set_new(object, "schema", json_integer(1));
	json_object_set_new(object, "burin", json_string(burin_version));
	json_object_set_new(object, "started", json_time(batch->started));
	json_object_set_new(object, "finished", json_time(time(NULL)));
	json_object_set_new(object, "exit", json_integer(batch->exit));
	json_object_set_new(object, "images", images);
	json_object_set_new(object, "not_taken", not_taken_array(batch->images));
	return object;
}

/* Opens OUT/batch.EXTENSION; or batch-2, -3 ... if another batch left its own. On failure logs the reason
 * and returns NULL. */
static FILE *create(const char *output, const char *extension, bool replace)
{
	char *path = xasprintf("%s/batch.%s", output, extension);
	FILE *stream;

	if (replace)
		unlink(path);
	for (unsigned number = 2; !(stream = fopen(path, "wxe")) && errno == EEXIST; number++) {
		free(path);
		path = xasprintf("%s/batch-%u.%s", output, number, extension);
	}
	if (!stream)
		log_error("cannot write %s: %s", path, strerror(errno));
	free(path);
	return stream;
}

/* Returns EXIT_IO when the summary could not be written completely. */
static int finish(FILE *stream, const char *output)
{
	bool failed = ferror(stream) != 0;

	if (fclose(stream))
		failed = true;
	if (failed)
		log_error("cannot write the batch's summary to %s: the disk is full or was removed",
			output);
	return failed ? EXIT_IO : EXIT_CLEAN;
}

int batch_summary_write(const struct batch_summary *batch, const char *output)
{
	struct table *table = make_table(batch);
	json_t *object = make_json(batch);
	FILE *text, *json;
	int failed;

	mkdir(output, 0777); /* it exists unless every run failed before creating it */
	text = create(output, "txt", batch->resumed);
	json = create(output, "json", batch->resumed);
	failed = text && json ? EXIT_CLEAN : EXIT_IO;

	if (text) {
		table_print(table, text);
		failed |= finish(text, output);
	}
	if (json) {
		json_dumpf(object, json, JSON_INDENT(1));
		fputc('\n', json);
		failed |= finish(json, output);
	}
	if (!batch->quiet)
		table_print(table, stderr);
	json_decref(object);
	table_free(table);
	return failed > batch->exit ? failed : batch->exit;
}
