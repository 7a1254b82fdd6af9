#include "report/volumes_json.h"

#include "report/jsonl.h"

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = { [VOLUME_PARTITION] = "partition",
		[VOLUME_WHOLE] = "whole",
		[VOLUME_POOLED] = "pooled",
		[VOLUME_STREAMS] = "streams" };

	return names[kind];
}

/* null if unknown. */
static json_t *text_or_null(const char *text)
{
	return json_text(*text ? text : NULL);
}

static json_t *volume_object(const struct volume *volume)
{
	json_t *object = jsonl_object();

	jsonl_put(object, "offset", jsonl_number(volume->offset));
	jsonl_put(object, "length", jsonl_number(volume->length));
	jsonl_put(object, "kind", json_string(kind_name(volume->kind)));
	jsonl_put(object, "description", json_text(volume->description));
	jsonl_put(object, "file_system", text_or_null(volume->file_system));
	jsonl_put(object, "block_size",
		volume->block_size ? jsonl_number(volume->block_size) : json_null());
	jsonl_put(object, "label", text_or_null(volume->label));
	jsonl_put(object, "id", text_or_null(volume->id));
	jsonl_put(object, "encrypted", json_boolean(volume->encrypted));
	jsonl_put(object, "mapped", json_boolean(volume->mapped));
	jsonl_put(object, "note", json_text(volume->note));
	return object;
}

void volumes_json(json_t *object, const struct volumes *volumes)
{
	json_t *array = json_array();
	const struct volume *items;
	size_t count;

	volumes_wait(volumes);
	items = volumes_list(volumes, &count);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, volume_object(&items[i]));
	jsonl_put(object, "partition_table", json_text(volumes_table(volumes)));
	jsonl_put(object, "volumes", array);
}
