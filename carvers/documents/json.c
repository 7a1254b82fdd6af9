/*
 * JSON (RFC 8259), and lines of JSON (NDJSON): sessions, bookmarks, exports of messages and places, models.
 *
 *	value:  object, array, text between quotes, number, true, false, null
 *	object: '{', texts each with a colon and a value, separated by commas, '}'
 *	array:  '[', values separated by commas, ']'
 *
 * The document is an object or an array of them; its last bracket proves the end, and line ends after it belong to
 * it. When another object follows on the next line, it does, too. Source code is full of small objects: a document
 * has a few names, and no control characters. The first names show the kind; glTF's may begin many others, and its asset be
 * the last.
 *
 * Keystores of Ethereum's programs (Web3 Secret Storage; EIP-2335) are objects with an encrypted key: "crypto" or "Crypto" has
 * "cipher" and "kdf". A carver of their own looks for these names, for such objects begin like many others.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "cursor.h"
#include "title.h"
#include "walk.h"

#define DEPTH_MAX 512
#define NAMES_MIN 4
#define FIRST_NAMES 24

/* What the first names of the outermost object say. */
static const struct {
	const char *name, *extension;
} kinds[] = { { "asset", "gltf" }, { "nbformat", "ipynb" }, { "cells", "ipynb" },
	{ "FeatureCollection", "geojson" }, { "log", "har" } };

/* glTF's names (glTF 2.0, 5.17): any may be the first, but a document without an asset is of another kind. */
static const char *const gltf_names[] = { "scene", "scenes", "nodes", "meshes", "buffers",
	"bufferViews", "extensionsUsed" };

struct json {
	struct cursor cursor;
	struct finding *finding;
	uint64_t names, valid_end; /* after the last name or value */
	unsigned depth;
	bool like_gltf, has_asset;
	bool in_crypto, has_cipher,
		has_kdf; /* of a keystore; the first: in an object of that name */
	bool at_address; /* the next value is a keystore's address */
	bool array[DEPTH_MAX];
};

/* Reads a text; keeps its first bytes, ended by a zero. */
static bool read_text(struct cursor *cursor, char *kept, size_t room)
{
	size_t len = 0;
	int byte;

	if (cursor_next(cursor) != '"')
		return false;
	while ((byte = cursor_next(cursor)) != '"') {
		if (byte < ' ' || byte == 0x7f)
			return false;
		if (byte == '\\') {
			byte = cursor_next(cursor);
			if (byte <= 0 || !strchr("\"\\/bfnrtu", byte))
				return false;
		}
		if (len + 1 < room)
			kept[len++] = (char)byte;
	}
	if (room)
		kept[len] = 0;
	return true;
}

static bool read_word(struct cursor *cursor)
{
	static const char *const words[] = { "true", "false", "null" };
	unsigned digits = 0;
	int byte;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (cursor_at_text(cursor, words[i])) {
			cursor->at += strlen(words[i]);
			return true;
		}
	if (cursor_peek(cursor) == '-')
		cursor->at++;
	while ((byte = cursor_peek(cursor)) > 0 && (isdigit(byte) || strchr(".eE+-", byte))) {
		digits += isdigit(byte) != 0;
		cursor->at++;
	}
	return digits > 0;
}

/* A name of the outermost object, or a text in it, may show the kind. */
static void note_kind(struct json *json, const char *text)
{
	if (json->depth != 1 || json->finding->extension ||
		(json->names > FIRST_NAMES && !json->like_gltf))
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(text, kinds[i].name) == 0)
			json->finding->extension = kinds[i].extension;
}

/* A name of the outermost object, or of the object in it that has the encrypted key, may be a keystore's. */
static void note_keystore(struct json *json, const char *name)
{
	if (json->depth == 1) {
		json->in_crypto = strcmp(name, "crypto") == 0 || strcmp(name, "Crypto") == 0;
		json->at_address = strcmp(name, "address") == 0;
	} else if (json->depth == 2 && json->in_crypto) {
		json->has_cipher = json->has_cipher || strcmp(name, "cipher") == 0;
		json->has_kdf = json->has_kdf || strcmp(name, "kdf") == 0;
	}
}

/* Reads a name and the colon after it. */
static bool read_name(struct json *json)
{
	char name[32];

	if (cursor_skip_blanks(&json->cursor) != '"' ||
		!read_text(&json->cursor, name, sizeof(name)) ||
		cursor_skip_blanks(&json->cursor) != ':')
		return false;
	json->valid_end = ++json->cursor.at;
	for (size_t i = 0; !json->names && i < sizeof(gltf_names) / sizeof(*gltf_names); i++)
		json->like_gltf = json->like_gltf || strcmp(name, gltf_names[i]) == 0;
	json->names++;
	json->has_asset = json->has_asset || (json->depth == 1 && strcmp(name, "asset") == 0);
	note_kind(json, name);
	note_keystore(json, name);
	return true;
}

/* Reads what a value begins with: all of it, or its bracket. */
static bool begin_value(struct json *json)
{
	int byte = cursor_skip_blanks(&json->cursor);
	char text[48];

	if (byte == '{' || byte == '[') {
		if (json->depth == DEPTH_MAX)
			return false;
		json->array[json->depth++] = byte == '[';
		json->cursor.at++;
		return true;
	}
	if (byte != '"')
		return read_word(&json->cursor);
	if (!read_text(&json->cursor, text, sizeof(text)))
		return false;
	note_kind(json, text);
	if (json->at_address && json->depth == 1)
		finding_set_title(json->finding, (const uint8_t *)text, strlen(text));
	return true;
}

/* Walks from the first bracket to the last. False: the text is no longer JSON at the cursor. */
static bool walk(struct json *json)
{
	bool open = true; /* nothing in the innermost bracket yet */

	json->depth = 0;
	if (!begin_value(json))
		return false;
	while (json->depth) {
		bool array = json->array[json->depth - 1];
		int byte = cursor_skip_blanks(&json->cursor);
		unsigned depth;

		if (byte == (array ? ']' : '}')) {
			json->depth--;
			json->cursor.at++;
			json->valid_end = json->cursor.at;
			open = false;
			continue;
		}
		if (!open) {
			if (byte != ',')
				return false;
			json->cursor.at++;
		}
		depth = json->depth;
		if ((!array && !read_name(json)) || !begin_value(json))
			return false;
		open = json->depth > depth;
		if (!open)
			json->valid_end = json->cursor.at;
	}
	return true;
}

/* Moves the cursor past the line ends at it. */
static int skip_line_ends(struct cursor *cursor)
{
	int byte;

	while ((byte = cursor_peek(cursor)) == '\n' || byte == '\r')
		cursor->at++;
	return byte;
}

/* The verdict on a document that breaks off at the cursor. */
static enum verdict judge_broken(struct json *json)
{
	struct view *view = json->cursor.view;

	json->finding->length = json->valid_end;
	if (json->cursor.at >= view_size(view))
		return walk_cut(view, json->finding, view_size(view) + 1, json->valid_end);
	return verdict_because(
		CARVE_TRUNCATED, json->finding, "no JSON at %" PRIu64, json->cursor.at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct json json = { .cursor = { .view = view }, .finding = finding };
	uint64_t names = 0, end = 0;
	int first = cursor_peek(&json.cursor), byte = first;

	if (first != '{' && first != '[')
		return verdict_because(CARVE_REJECT, finding, "no bracket at 0");
	view_fill_unreadable(view, ' ');
	while ((byte == '{' || !end) && walk(&json)) {
		end = json.cursor.at;
		names = json.names;
		byte = skip_line_ends(&json.cursor);
		finding->length = json.cursor.at;
		if (json.cursor.at == end || first == '[')
			break;
		if (byte == '{')
			view_part(view, json.cursor.at);
	}
	if (json.like_gltf && !json.has_asset) {
		*finding = (struct finding){ 0 };
		return verdict_because(
			CARVE_REJECT, finding, "no asset before %" PRIu64, json.cursor.at);
	}
	if (json.names < NAMES_MIN) {
		*finding = (struct finding){ 0 };
		return verdict_because(CARVE_REJECT, finding, "only %" PRIu64 " names", json.names);
	}
	if (end && names == json.names)
		return CARVE_COMPLETE;
	return judge_broken(&json);
}

static enum verdict check_keystore(struct view *view, struct finding *finding)
{
	struct json json = { .cursor = { .view = view }, .finding = finding };
	bool whole;

	if (cursor_peek(&json.cursor) != '{')
		return verdict_because(CARVE_REJECT, finding, "no bracket at 0");
	view_fill_unreadable(view, ' ');
	whole = walk(&json);
	finding->extension = NULL;
	if (!json.has_cipher || !json.has_kdf) {
		*finding = (struct finding){ 0 };
		return verdict_because(
			CARVE_REJECT, finding, "no encrypted key before %" PRIu64, json.cursor.at);
	}
	if (!whole)
		return judge_broken(&json);
	skip_line_ends(&json.cursor);
	finding->length = json.cursor.at;
	return CARVE_COMPLETE;
}

const struct carver json_carver = {
	.name = "json",
	.summary = "JSON and lines of JSON, by their brackets",
	.check = check,
	.quick = true,
};

const struct carver ethereum_carver = {
	.name = "ethereum",
	.summary = "keystores of Ethereum's programs: JSON with an encrypted key",
	.check = check_keystore,
	.quick = true,
};
