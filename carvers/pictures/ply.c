/*
 * Polygon files, PLY: points and surfaces, as scanners and 3D programs write them (Greg Turk, The PLY Polygon File Format).
 *
 *	header: lines: "ply"; "format ascii 1.0", "format binary_little_endian 1.0" or big; comments; of each kind of element
 *	        "element NAME NUMBER" and lines "property TYPE NAME" or "property list TYPE TYPE NAME" (a number and as many
 *	        values); "end_header"
 *	then    the elements in that order, their properties one after another: as numbers in text, an element a line, or binary
 *
 * Text is checked number by number. Of binary elements only lists are: those of a face have at least one value, which refers to
 * a vertex. A binary file is complete if it ends with faces whose references prove them, and unverified otherwise.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "lines.h"
#include "stored.h"
#include "title.h"
#include "walk.h"

#define ELEMENTS_MAX 16
#define PROPERTIES_MAX 64
#define LINES_MAX 512 /* of the header */
#define COUNT_MAX (UINT64_C(1) << 40)
#define LIST_MAX 65536      /* values of a list */
#define PROOF_LEN 4         /* bytes of a reference that proves itself, */
#define PROOF_MAX 0x1000000 /* and the most vertices that leave one of these zero */

struct property {
	uint8_t len, count_len; /* of a value; of a list's number of values, 0: it is not a list */
	bool real;
	bool refers; /* to vertices */
};

struct element {
	uint64_t count;
	unsigned property_count;
	struct property properties[PROPERTIES_MAX];
};

struct ply {
	struct view *view;
	struct finding *finding;
	bool text, big_endian;
	unsigned element_count;
	struct element elements[ELEMENTS_MAX];
	uint64_t vertices; /* 0: none came yet */
	uint64_t data;
};

/* ---- the header ---------------------------------------------------------------------------- */

/* The next word of the line from *at on; *len is 0 at its end. */
static const char *next_word(const struct line *line, size_t *at, size_t *len)
{
	size_t start;

	while (*at < line->len && (line->bytes[*at] == ' ' || line->bytes[*at] == '\t'))
		++*at;
	start = *at;
	while (*at < line->len && line->bytes[*at] != ' ' && line->bytes[*at] != '\t')
		++*at;
	*len = *at - start;
	return (const char *)line->bytes + start;
}

static bool is_word(const char *word, size_t len, const char *text)
{
	return len == strlen(text) && memcmp(word, text, len) == 0;
}

/* The length of a type's values; 0: it is not a type. */
static uint8_t type_len(const char *word, size_t len, bool *real)
{
	static const struct {
		const char *name;
		uint8_t len;
	} types[] = { { "char", 1 }, { "uchar", 1 }, { "short", 2 }, { "ushort", 2 }, { "int", 4 },
		{ "uint", 4 }, { "int8", 1 }, { "uint8", 1 }, { "int16", 2 }, { "uint16", 2 },
		{ "int32", 4 }, { "uint32", 4 }, { "float", 4 }, { "float32", 4 }, { "double", 8 },
		{ "float64", 8 } };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (is_word(word, len, types[i].name)) {
			*real = i >= 12;
			return types[i].len;
		}
	return 0;
}

static bool read_property(struct ply *ply, const struct line *line, size_t at)
{
	struct element *element =
		ply->element_count ? &ply->elements[ply->element_count - 1] : NULL;
	struct property property = { 0 };
	size_t len;
	const char *word = next_word(line, &at, &len);
	bool real = false;

	if (!element || element->property_count == PROPERTIES_MAX)
		return false;
	if (is_word(word, len, "list")) {
		word = next_word(line, &at, &len);
		property.count_len = type_len(word, len, &real);
		if (!property.count_len || real)
			return false;
		word = next_word(line, &at, &len);
	}
	property.len = type_len(word, len, &property.real);
	word = next_word(line, &at, &len);
	property.refers =
		property.count_len && !property.real &&
		(is_word(word, len, "vertex_index") || is_word(word, len, "vertex_indices"));
	element->properties[element->property_count++] = property;
	return property.len && len;
}

static bool read_element(struct ply *ply, const struct line *line, size_t at)
{
	struct element *element = &ply->elements[ply->element_count];
	size_t len;
	const char *word = next_word(line, &at, &len);
	bool vertex = is_word(word, len, "vertex");

	if (!len || ply->element_count == ELEMENTS_MAX)
		return false;
	*element = (struct element){ 0 };
	word = next_word(line, &at, &len);
	for (size_t i = 0; i < len; i++) {
		if (word[i] < '0' || word[i] > '9' || element->count > COUNT_MAX)
			return false;
		element->count = element->count * 10 + (uint64_t)(word[i] - '0');
	}
	if (vertex)
		ply->vertices = element->count;
	ply->element_count++;
	return len && element->count <= COUNT_MAX;
}

static bool read_format(struct ply *ply, const struct line *line, size_t at)
{
	size_t len;
	const char *word = next_word(line, &at, &len);

	ply->text = is_word(word, len, "ascii");
	ply->big_endian = is_word(word, len, "binary_big_endian");
	if (!ply->text && !ply->big_endian && !is_word(word, len, "binary_little_endian"))
		return false;
	word = next_word(line, &at, &len);
	return is_word(word, len, "1.0");
}

/* Reads the header. False: *at is the line that is not one of it. */
static bool read_header(struct ply *ply, uint64_t *at)
{
	struct line line;

	for (int i = 0;
		i < LINES_MAX && line_read(ply->view, *at, &line) && line.ended && !line.broken;
		i++) {
		size_t in_line = 0, len;
		const char *word = next_word(&line, &in_line, &len);
		bool valid;

		if (i < 2)
			valid = i ? is_word(word, len, "format") && read_format(ply, &line, in_line)
				  : is_word(word, len, "ply");
		else if (is_word(word, len, "element"))
			valid = read_element(ply, &line, in_line);
		else if (is_word(word, len, "property"))
			valid = read_property(ply, &line, in_line);
		else if (is_word(word, len, "end_header")) {
			ply->data = line.next;
			return ply->element_count;
		} else {
			valid = is_word(word, len, "comment") || is_word(word, len, "obj_info");
			if (valid && !ply->finding->title[0])
				finding_set_title_latin1(
					ply->finding, line.bytes + in_line, line.len - in_line);
		}
		if (!valid)
			return false;
		*at = line.next;
	}
	return false;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* Reads the next number of the line. False: there is none. *whole: its value if it is a whole one, else UINT64_MAX. */
static bool next_number(const struct line *line, size_t *at, uint64_t *whole)
{
	size_t len;
	const char *word = next_word(line, at, &len);

	*whole = 0;
	for (size_t i = 0; i < len; i++) {
		if (!word[i] || !strchr("0123456789+-.eEnNaAiIfFdD", word[i]))
			return false;
		if (word[i] < '0' || word[i] > '9' || *whole > COUNT_MAX)
			*whole = UINT64_MAX;
		else if (*whole != UINT64_MAX)
			*whole = *whole * 10 + (uint64_t)(word[i] - '0');
	}
	return len;
}

/* Whether the line has the numbers of an element, and nothing more. */
static bool is_text_element(
	const struct ply *ply, const struct element *element, const struct line *line)
{
	size_t at = 0, len;
	uint64_t value, count;

	for (unsigned i = 0; i < element->property_count; i++) {
		const struct property *property = &element->properties[i];

		count = 1;
		if (property->count_len && (!next_number(line, &at, &count) || count > LIST_MAX))
			return false;
		while (count--)
			if (!next_number(line, &at, &value) ||
				(property->refers && value >= ply->vertices))
				return false;
	}
	next_word(line, &at, &len);
	return !len;
}

static enum verdict check_text(struct ply *ply)
{
	struct finding *finding = ply->finding;
	uint64_t at = ply->data;
	struct line line;

	view_fill_unreadable(ply->view, ' ');
	finding->length = at;
	for (unsigned e = 0; e < ply->element_count; e++)
		for (uint64_t i = 0; i < ply->elements[e].count; i++) {
			bool last = e + 1 == ply->element_count && i + 1 == ply->elements[e].count;

			if (!line_read(ply->view, at, &line))
				return at >= view_size(ply->view)
					       ? walk_cut(ply->view, finding, at + 1, at)
					       : verdict_because(CARVE_TRUNCATED, finding,
							 "no text at %" PRIu64, at);
			if (line.broken || !line.ended)
				line.len = (size_t)(line.text_end - line.at);
			if (!is_text_element(ply, &ply->elements[e], &line) ||
				(!line.ended && !last)) {
				if (line.text_end >= view_size(ply->view))
					return walk_cut(
						ply->view, finding, view_size(ply->view) + 1, at);
				return verdict_because(CARVE_TRUNCATED, finding,
					"no element's numbers at %" PRIu64, at);
			}
			finding->length = at = line.ended ? line.next : line.text_end;
			if (!line.ended)
				return verdict_because(
					CARVE_UNVERIFIED, finding, "no line end at %" PRIu64, at);
		}
	return CARVE_COMPLETE;
}

/* ---- binary -------------------------------------------------------------------------------- */

static uint64_t value_of(const struct ply *ply, const uint8_t *p, unsigned len)
{
	return len == 1   ? *p
	       : len == 2 ? ordered16(ply->big_endian, p)
			  : ordered32(ply->big_endian, p);
}

/* The length of an element without lists; 0: it has one. */
static uint64_t fixed_len(const struct element *element)
{
	uint64_t len = 0;

	for (unsigned i = 0; i < element->property_count; i++) {
		if (element->properties[i].count_len)
			return 0;
		len += element->properties[i].len;
	}
	return len;
}

enum step { STEP_DONE, STEP_CUT, STEP_WRONG };

/* Moves past the list at *at. *proved: its values prove themselves. */
static enum step skip_list(
	const struct ply *ply, const struct property *property, uint64_t *at, bool *proved)
{
	const uint8_t *p = view_peek(ply->view, *at, property->count_len);
	uint64_t count = p ? value_of(ply, p, property->count_len) : 0, len = count * property->len;

	if (!p)
		return STEP_CUT;
	if (count > LIST_MAX || (property->refers && (!count || len > VIEW_MAX_PEEK)))
		return STEP_WRONG;
	*at += property->count_len;
	if (len > view_size(ply->view) - *at)
		return STEP_CUT;
	*proved = false;
	p = property->refers ? view_peek(ply->view, *at, (size_t)len) : NULL;
	if (property->refers && !p)
		return STEP_CUT;
	for (uint64_t i = 0; p && i < count; i++) {
		if (value_of(ply, p + i * property->len, property->len) >= ply->vertices)
			return STEP_WRONG;
		*proved = i > 0 && property->len >= PROOF_LEN && ply->vertices <= PROOF_MAX;
	}
	*at += len;
	return STEP_DONE;
}

static enum step skip_element(
	const struct ply *ply, const struct element *element, uint64_t *at, bool *proved)
{
	uint64_t size = view_size(ply->view), start = *at;

	for (unsigned i = 0; i < element->property_count; i++) {
		const struct property *property = &element->properties[i];
		enum step step = STEP_DONE;

		if (property->count_len)
			step = skip_list(ply, property, at, proved);
		else if (property->len > size - *at)
			step = STEP_CUT;
		else
			*at += property->len;
		if (step != STEP_DONE) {
			*at = start;
			return step;
		}
	}
	return STEP_DONE;
}

/* The verdict where no element with a list is, at `at`; intact: some came before it, so that those without lists are. */
static enum verdict broken(struct ply *ply, uint64_t at, bool intact)
{
	struct finding *finding = ply->finding;

	if (!intact && stored_check_data(ply->view, finding, ply->data, at) == CARVE_TRUNCATED)
		return CARVE_TRUNCATED;
	finding->length = at;
	return verdict_because(CARVE_TRUNCATED, finding, "no element at %" PRIu64, at);
}

static enum verdict check_binary(struct ply *ply)
{
	struct finding *finding = ply->finding;
	uint64_t at = ply->data, size = view_size(ply->view), lists = 0;
	bool proved = false;

	for (unsigned e = 0; e < ply->element_count; e++) {
		const struct element *element = &ply->elements[e];
		uint64_t len = fixed_len(element), end = at + element->count * len;

		if (len && end > size)
			return stored_check_data(ply->view, finding, ply->data, end);
		if (len) {
			view_unverified(ply->view, at, end);
			at = end;
			proved = proved && !element->count;
		}
		for (uint64_t i = 0; !len && element->property_count && i < element->count; i++) {
			enum step step = skip_element(ply, element, &at, &proved);

			if (step == STEP_CUT)
				return walk_cut(ply->view, finding, size + 1, at);
			if (step == STEP_WRONG)
				return broken(ply, at, lists > 0);
			lists++;
		}
	}
	finding->length = at;
	return proved ? CARVE_COMPLETE : stored_check_data(ply->view, finding, ply->data, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct ply ply = { .view = view, .finding = finding };
	uint64_t at = 0;

	if (!read_header(&ply, &at)) {
		finding->title[0] = 0;
		return verdict_because(
			CARVE_REJECT, finding, "no line of the header at %" PRIu64, at);
	}
	return ply.text ? check_text(&ply) : check_binary(&ply);
}

const struct carver ply_carver = {
	.name = "ply",
	.summary = "PLY polygon files, by their elements",
	.check = check,
};
