/*
 * ONNX models (onnx.proto), which are a message of Protocol Buffers.
 *
 *	field: number and type (3 bits), as a number of 7 bits a byte; a number (type 0), or a length and bytes (type 2)
 *	model: 1 version, 2 program, 3 its version, 4 domain, 5 version of the model, 6 text, 7 graph, 8 operators (each a
 *	       domain, a version), 14 facts (key, value), 20 training, 25 functions
 *
 * The fields 1, 2 come first, and the graph, mostly all of the file, has a length. What follows it is walked, field by
 * field. Nothing verifies the graph's tensors, and the file ends where no field follows, so it is unverified; its graph's fields
 * have to fill it.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "cursor.h"
#include "title.h"
#include "walk.h"

#define LENGTH_MAX (UINT64_C(1) << 40)
#define SMALL_MAX 65536 /* of a field after the graph */

enum { VERSION = 1, PROGRAM = 2, GRAPH = 7, OPERATORS = 8, FACTS = 14, NUMBERS_MAX = 25 };
enum { TYPE_NUMBER = 0, TYPE_WIDE = 1, TYPE_BYTES = 2, TYPE_NARROW = 5 };

struct field {
	uint64_t number, data, end;
	unsigned type;
};

static bool read_field(struct cursor *cursor, struct field *field)
{
	uint64_t len = 0;

	if (!cursor_varint(cursor, &field->number))
		return false;
	field->type = (unsigned)field->number & 7;
	field->number >>= 3;
	field->data = cursor->at;
	if (field->type == TYPE_NUMBER) {
		if (!cursor_varint(cursor, &len))
			return false;
		field->end = cursor->at;
		return field->number;
	}
	if (field->type == TYPE_BYTES ? !cursor_varint(cursor, &len)
				      : field->type != TYPE_WIDE && field->type != TYPE_NARROW)
		return false;
	field->data = cursor->at;
	len = field->type == TYPE_WIDE ? 8 : field->type == TYPE_NARROW ? 4 : len;
	field->end = field->data + len;
	return field->number && len <= LENGTH_MAX;
}

/* Whether a model has this field. */
static bool is_model_field(const struct field *field)
{
	static const uint8_t numbers[] = { 1, 5 };

	if (field->number > NUMBERS_MAX || (field->number > 8 && field->number != 14 &&
						   field->number != 20 && field->number != 25))
		return false;
	for (size_t i = 0; i < sizeof(numbers); i++)
		if (field->number == numbers[i])
			return field->type == TYPE_NUMBER;
	return field->type == TYPE_BYTES;
}

/* Where the graph's fields in [at, end) end. */
static uint64_t walk_graph(struct view *view, uint64_t at, uint64_t end)
{
	struct cursor cursor = { .view = view, .at = at };
	struct field field;

	while (cursor.at < end && view_work(view, 8) && read_field(&cursor, &field) &&
		field.type == TYPE_BYTES && field.number <= 16 && field.end <= end)
		at = cursor.at = field.end;
	return at;
}

/* Whether a field after the graph is one: operators or a fact, whose own fields fill it. */
static bool follows_graph(struct view *view, const struct field *field)
{
	struct cursor cursor = { .view = view, .at = field->data };
	struct field part = { 0 };

	if ((field->number != OPERATORS && field->number != FACTS) ||
		field->end - field->data > SMALL_MAX)
		return false;
	while (cursor.at < field->end && read_field(&cursor, &part) && part.number <= 2 &&
		part.end <= field->end)
		cursor.at = part.end;
	return part.number && cursor.at == field->end;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct cursor cursor = { .view = view };
	uint64_t size = view_size(view), end = 0, graph_end = 0, last = 0;
	struct field field;

	while (read_field(&cursor, &field) && is_model_field(&field) && field.number >= last &&
		(!graph_end || follows_graph(view, &field))) {
		if (!last && field.number != VERSION)
			break;
		last = field.number;
		if (field.number == GRAPH) {
			uint64_t at =
				walk_graph(view, field.data, field.end < size ? field.end : size);

			if (at < field.end && at < size) {
				finding->length = at > field.data ? at : 0;
				return verdict_because(
					at > field.data ? CARVE_TRUNCATED : CARVE_REJECT, finding,
					"no field of the graph at %" PRIu64, at);
			}
			graph_end = field.end;
		}
		if (field.end > size) {
			if (graph_end)
				return walk_cut(view, finding, field.end, size);
			break;
		}
		if (field.number == PROGRAM && !*finding->title) {
			const uint8_t *p = view_peek(view, field.data,
				field.end - field.data < 64 ? field.end - field.data : 64);

			if (p)
				finding_set_title(finding, p,
					field.end - field.data < 64 ? field.end - field.data : 64);
		}
		end = cursor.at = field.end;
		cursor_forget(&cursor);
	}
	if (!graph_end)
		return verdict_because(CARVE_REJECT, finding, "no graph before %" PRIu64, end);
	return walk_uncounted(view, finding, 0, end, 0, "field");
}

const struct carver onnx_carver = {
	.name = "onnx",
	.summary = "ONNX models, by their fields",
	.check = check,
};
