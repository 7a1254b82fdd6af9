/*
 * glTF models in binary form (Khronos, glTF 2.0, 4.4; KHR_binary_glTF for version 1).
 *
 *	header:  'glTF', version, length of the file (little-endian); version 1: length of the JSON, 0
 *	chunk:   length, kind ('JSON', 'BIN' 00, others), data; version 1 has the JSON and the rest
 *
 * The chunks have to fill the length. Nothing verifies what is in the last one: buffers and pictures.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "embedded.h"
#include "stored.h"
#include "walk.h"

#define HEAD_LEN 12
#define CHUNK_HEAD_LEN 8

static enum verdict check_chunks(
	struct view *view, struct finding *finding, uint64_t end, uint64_t json_end)
{
	uint64_t at = json_end, data = json_end, size = view_size(view);

	while (at < end && at < size) {
		const uint8_t *p =
			end - at < CHUNK_HEAD_LEN ? NULL : view_peek(view, at, CHUNK_HEAD_LEN);

		data = at + CHUNK_HEAD_LEN;
		if (end > size && size - at < CHUNK_HEAD_LEN)
			break;
		if (!p || le32(p) > end - data) {
			finding->length = at;
			return verdict_because(
				CARVE_TRUNCATED, finding, "no chunk at %" PRIu64, at);
		}
		at = data + le32(p);
		embedded_find_all(view, data, at);
	}
	return stored_check_coded(view, finding, data < end ? data : end, end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 21);
	uint64_t end = p ? le32(p + 8) : 0, json_end = p ? UINT64_C(20) + le32(p + 12) : 0;

	if (!p || memcmp(p, "glTF", 4) != 0 || json_end > end || p[20] != '{')
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	/* The JSON is a glTF of its own. */
	if (le32(p + 4) == 2 && memcmp(p + 16, "JSON", 4) == 0) {
		view_embedded(view, 20);
		return check_chunks(view, finding, end, json_end);
	}
	if (le32(p + 4) != 1 || le32(p + 16))
		return verdict_because(CARVE_REJECT, finding, "no chunk of JSON at 12");
	view_embedded(view, 20);
	/* Assimp leaves the zeros between the JSON and the rest, which begins at a multiple of 4, out of its length. */
	if (json_end % 4 && walk_zeros(view, json_end, json_end + 4 - json_end % 4))
		end += 4 - json_end % 4;
	embedded_find_all(view, json_end, end);
	return stored_check_coded(view, finding, json_end, end);
}

const struct carver glb_carver = {
	.name = "glb",
	.summary = "glTF models in binary form, by their chunks",
	.check = check,
};
