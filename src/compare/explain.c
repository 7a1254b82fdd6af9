/*
 * The reasons are tried from the surest to the vaguest: what was searched, where the tool looks,
 * what hides what; then the rules, which are tried at the offset when the image is at hand
 * (carve/why.h); then what the other side says itself.
 *
 * Hundreds of thousands of files have a few types, so which rules and files match a type is found
 * out once and kept.
 */
#include "compare/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carve/why.h"
#include "compare/covers.h"

/* What this side has for a type of the other side's. */
struct type_match {
	const char *type, *extension;
	bool *rules; /* by rule: whether it is for the type; NULL without rules */
	bool has_rule, has_file;
};

#define TYPES_MAX 256

struct explainer {
	struct compare_side side;
	const char *other;
	struct image *image;
	struct covers hiding; /* files that hide what is inside them */
	struct covers parts;  /* burin's other files, of which files of their type may be parts */
	uint64_t step;        /* all its files start at multiples of this */
	struct check_worker *worker; /* checks for the answers; NULL without rules or image */
	struct why_answer *answers;
	struct type_match types[TYPES_MAX];
	size_t type_count, next_type; /* a full table is filled again from the start */
};

/* ---- what hides what ----------------------------------------------------------------------- */

static bool hides(const struct listing *listing, const struct listed *file)
{
	switch (listing->tool) {
	case TOOL_BURIN:
		return !listing->nested && strcmp(file->status, "complete") == 0;
	case TOOL_PHOTOREC:
	case TOOL_FOREMOST:
		return true;
	default:
		return false;
	}
}

static void add_covers(struct explainer *explainer)
{
	const struct listing *listing = explainer->side.listing;

	for (size_t i = 0; i < listing->count; i++) {
		const struct listed *file = &listing->files[i];

		if (hides(listing, file))
			covers_add(&explainer->hiding, file);
		else if (listing->tool == TOOL_BURIN)
			covers_add(&explainer->parts, file);
	}
	covers_order(&explainer->hiding);
	covers_order(&explainer->parts);
}

/* ---- making -------------------------------------------------------------------------------- */

/* The largest power of two, up to 64 KiB, that divides the offsets of all files; 1 when there are
 * few. */
static uint64_t find_step(const struct listing *listing)
{
	uint64_t bits = (uint64_t)1 << 16;

	for (size_t i = 0; i < listing->count; i++)
		bits |= listing->files[i].offset;
	return listing->count < 4 ? 1 : bits & -bits;
}

struct explainer *explainer_new(
	const struct compare_side *side, struct image *image, const char *other)
{
	struct explainer *explainer = xcalloc(1, sizeof(*explainer));

	explainer->side = *side;
	explainer->image = image;
	explainer->other = other;
	explainer->step = find_step(side->listing);
	if (side->rules)
		explainer->answers = xcalloc(side->rules->count, sizeof(*explainer->answers));
	if (side->rules && image)
		explainer->worker = check_worker_alone(image, side->rules);
	add_covers(explainer);
	return explainer;
}

void explainer_free(struct explainer *explainer)
{
	if (!explainer)
		return;
	for (size_t i = 0; i < explainer->type_count; i++)
		free(explainer->types[i].rules);
	covers_free(&explainer->hiding);
	covers_free(&explainer->parts);
	check_worker_free(explainer->worker);
	free(explainer->answers);
	free(explainer);
}

/* ---- types --------------------------------------------------------------------------------- */

static void fill_type(
	const struct explainer *explainer, const struct listed *file, struct type_match *type)
{
	const struct listing *listing = explainer->side.listing;
	const struct rules *rules = explainer->side.rules;

	free(type->rules);
	*type = (struct type_match){ file->type, file->extension, NULL, false, false };
	if (rules)
		type->rules = xcalloc(rules->count + 1, sizeof(*type->rules));
	for (uint32_t i = 0; rules && i < rules->count; i++)
		type->has_rule |= type->rules[i] = compare_rule_alike(&rules->rules[i], file);
	for (size_t i = 0; i < listing->count && !type->has_file; i++)
		type->has_file = compare_type_alike(&listing->files[i], file);
}

static const struct type_match *find_type(struct explainer *explainer, const struct listed *file)
{
	struct type_match *type = explainer->types;

	for (size_t i = 0; i < explainer->type_count; i++, type++)
		if (strcmp(type->type, file->type) == 0 &&
			strcmp(type->extension, file->extension) == 0)
			return type;
	type = &explainer->types[explainer->next_type];
	explainer->next_type = (explainer->next_type + 1) % TYPES_MAX;
	if (explainer->type_count < TYPES_MAX)
		explainer->type_count++;
	fill_type(explainer, file, type);
	return type;
}

/* ---- a file that is missing ---------------------------------------------------------------- */

static void set_reason(struct compared *row, enum compare_why why, char *text)
{
	free(row->text);
	row->why = why;
	row->text = text;
}

static bool is_out_of_range(
	const struct explainer *explainer, const struct listed *file, struct compared *row)
{
	const struct listing *listing = explainer->side.listing;
	uint64_t offset = file->offset;

	if (listing->image_size && offset >= listing->image_size)
		set_reason(row, COMPARE_OUTSIDE,
			xasprintf("its image ends before that, at %" PRIu64, listing->image_size));
	else if (offset < listing->range_offset ||
		 (listing->range_length && offset - listing->range_offset >= listing->range_length))
		set_reason(row, COMPARE_OUTSIDE,
			xasprintf("that run searched another range, from %" PRIu64,
				listing->range_offset));
	else
		return false;
	return true;
}

static bool is_unaligned(
	const struct explainer *explainer, const struct listed *file, struct compared *row)
{
	const struct listing *listing = explainer->side.listing;
	const char *tool = listing_tool_name(listing->tool);
	uint64_t sector = listing->sector_size;

	if (listing->align && file->offset % listing->align)
		set_reason(row, COMPARE_UNALIGNED,
			xasprintf("that run looked only at multiples of %" PRIu64, listing->align));
	else if (listing->tool == TOOL_PHOTOREC && sector && file->offset % sector)
		set_reason(row, COMPARE_UNALIGNED,
			xasprintf("%s looks only at the starts of sectors of %" PRIu64
				  " bytes, and this is %" PRIu64 " bytes after one",
				tool, sector, file->offset % sector));
	else if (listing->tool == TOOL_PHOTOREC && file->offset % explainer->step)
		set_reason(row, COMPARE_UNALIGNED,
			xasprintf("all files that %s found start at multiples of %" PRIu64
				  ", so it seems to have looked only there",
				tool, explainer->step));
	else
		return false;
	return true;
}

static bool is_hidden(
	const struct explainer *explainer, const struct listed *file, struct compared *row)
{
	const struct listed *over = covers_find(&explainer->hiding, file->offset);

	if (!over)
		return false;
	set_reason(row, COMPARE_HIDDEN,
		xasprintf("inside %s, which it has from %" PRIu64 ", %" PRIu64 " bytes", over->path,
			over->offset, over->length));
	return true;
}

/* Of several rules for the type, the answer of the one that came furthest. */
static const struct why_answer *furthest_answer(
	const struct explainer *explainer, const struct type_match *type)
{
	const struct rules *rules = explainer->side.rules;
	const struct why_answer *best = NULL;

	for (uint32_t i = 0; i < rules->count; i++)
		if (type->rules[i] && (!best || explainer->answers[i].state > best->state))
			best = &explainer->answers[i];
	return best;
}

/* Why a run of burin left out what its rule carves, as far as its report says it. */
static const char *left_out_by(const struct listing *listing, const struct why_answer *answer)
{
	if (listing->strict && answer->outcome.verdict != CARVE_COMPLETE)
		return "that run left out what is not complete (--strict)";
	if (strcmp(listing->space, "unallocated") == 0)
		return "that run searched only what no file system has in use (--unallocated)";
	if (strcmp(listing->space, "allocated") == 0)
		return "that run searched only what file systems have in use (--allocated)";
	if (listing->skip_known)
		return "that run left out known files (--skip-known)";
	return "the report was filtered, or the run had other options";
}

static void explain_answer(const struct explainer *explainer, const struct listed *file,
	const struct why_answer *answer, struct compared *row)
{
	static const enum compare_why whys[] = { COMPARE_NO_HEADER, COMPARE_NO_FOOTER,
		COMPARE_REJECTED, COMPARE_OTHER_RULE, COMPARE_WOULD_CARVE };
	const struct rule *rule = &explainer->side.rules->rules[answer->rule];
	const struct listed *over = covers_find(&explainer->parts, file->offset);

	if (answer->state == WHY_CARVED && over && compare_type_alike(over, file))
		set_reason(row, COMPARE_HIDDEN,
			xasprintf("inside %s, which is %s, and taken for a part of it", over->path,
				over->status));
	else if (answer->state == WHY_CARVED)
		set_reason(row, COMPARE_WOULD_CARVE,
			xasprintf("its rule %s carves it (%s): %s", rule->name, answer->text,
				left_out_by(explainer->side.listing, answer)));
	else if (answer->state == WHY_NO_HEADER)
		set_reason(row, COMPARE_NO_HEADER,
			xasprintf("its rule %s: %s", rule->name,
				*answer->text ? answer->text : "the header does not match"));
	else
		set_reason(row, whys[answer->state],
			xasprintf("its rule %s: %s", rule->name, answer->text));
}

static bool has_no_rule(
	struct explainer *explainer, const struct listed *file, struct compared *row)
{
	const struct rules *rules = explainer->side.rules;

	if (!rules || find_type(explainer, file)->has_rule)
		return false;
	set_reason(row, COMPARE_NO_RULE,
		rules->selection
			? xasprintf("no rule of %s that the run selected (--types %s) is for '%s'",
				  rules->path, rules->selection, file->type)
			: xasprintf("no rule of %s is for '%s'", rules->path, file->type));
	return true;
}

/* Tries the rules at the offset, if the image is at hand. */
static bool rules_explain(
	struct explainer *explainer, const struct listed *file, struct compared *row)
{
	const struct rules *rules = explainer->side.rules;
	const struct listing *listing = explainer->side.listing;
	const struct why_options options = {
		.both = listing->both, .align = listing->align, .worker = explainer->worker
	};
	const struct type_match *type = find_type(explainer, file);
	struct error error = { 0 };
	int status;

	if (!rules || !explainer->image || file->offset >= image_info(explainer->image)->size)
		return false;
	status = why_ask(
		explainer->answers, explainer->image, rules, &options, file->offset, &error);
	if (status)
		set_reason(row, COMPARE_UNKNOWN, xstrdup(error.text));
	else
		explain_answer(explainer, file, furthest_answer(explainer, type), row);
	for (uint32_t i = 0; i < rules->count; i++)
		outcome_free(&explainer->answers[i].outcome);
	return true;
}

static bool has_no_such_type(
	struct explainer *explainer, const struct listed *file, struct compared *row)
{
	if (find_type(explainer, file)->has_file)
		return false;
	set_reason(row, COMPARE_NO_SUCH_TYPE,
		xasprintf("%s has no file like '%s' at all: it may not know the type, or not have "
			  "searched for it",
			listing_tool_name(explainer->side.listing->tool), file->type));
	return true;
}

static bool is_doubtful(
	const struct explainer *explainer, const struct listed *file, struct compared *row)
{
	if (!*file->status || strcmp(file->status, "complete") == 0)
		return false;
	set_reason(row, COMPARE_DOUBTFUL,
		xasprintf("%s calls it %s (%s), and %s may have dropped it for that",
			explainer->other, file->status, file->note,
			listing_tool_name(explainer->side.listing->tool)));
	return true;
}

void explain_missing(struct explainer *explainer, const struct listed *file, struct compared *row)
{
	const struct listing *listing = explainer->side.listing;

	if (is_out_of_range(explainer, file, row) || has_no_rule(explainer, file, row) ||
		is_unaligned(explainer, file, row) || is_hidden(explainer, file, row) ||
		rules_explain(explainer, file, row) || is_doubtful(explainer, file, row) ||
		has_no_such_type(explainer, file, row))
		return;
	if (!listing->ended)
		set_reason(
			row, COMPARE_UNKNOWN, xstrdup("its run, or its report, is not complete"));
	else if (listing->tool == TOOL_BURIN && !explainer->side.rules)
		set_reason(row, COMPARE_UNKNOWN, xstrdup("its rules are not at hand (--config)"));
	else if (listing->tool == TOOL_BURIN)
		set_reason(row, COMPARE_UNKNOWN, xstrdup("the image is not at hand (--image)"));
	else
		set_reason(row, COMPARE_UNKNOWN,
			xasprintf("%s does not say what it dropped",
				listing_tool_name(listing->tool)));
}

/* ---- a file that both have ----------------------------------------------------------------- */

static bool is_verified(const struct listed *file)
{
	return strcmp(file->status, "complete") == 0 &&
	       strncmp(file->note, "end by carver", 13) == 0;
}

static bool is_cut(const struct listed *file)
{
	return file->chopped || strcmp(file->status, "truncated") == 0;
}

static bool is_guess(const struct listed *file)
{
	return strcmp(file->status, "unverified") == 0;
}

/* sure: its side's carver parsed it to its end; other, which is `name`'s: not so. */
static void explain_length(const char *name, const struct listed *sure, const struct listed *other,
	struct compared *row)
{
	uint64_t most = other->length + other->length_off;

	if (other->length > sure->length)
		set_reason(row, COMPARE_TOO_LONG,
			xasprintf("%s's has %" PRIu64 " bytes after the end that the check found",
				name, other->length - sure->length));
	else
		set_reason(row, COMPARE_TOO_SHORT,
			xasprintf("%s's stops %" PRIu64
				  " bytes before the end that the check found",
				name, sure->length - most));
}

/* Scalpel adds a byte to a file that reaches the end of the image. */
static bool passes_the_end(
	const struct listing *listing, const struct listed *file, uint64_t image_size)
{
	return listing->tool == TOOL_SCALPEL && image_size && file->offset <= image_size &&
	       file->length == image_size - file->offset + 1;
}

void explain_difference(const struct listing *a, const struct listing *b, struct compared *row)
{
	const struct listed *x = row->a, *y = row->b;

	if (row->differences == DIFFERS_HASH)
		set_reason(row, COMPARE_UNKNOWN,
			xstrdup("the same offset and length, but different bytes: the images "
				"differ, or one could not be read"));
	else if (passes_the_end(a, x, b->image_size) || passes_the_end(b, y, a->image_size))
		set_reason(row, COMPARE_TOO_LONG,
			xasprintf(
				"%s's has one byte after the end of the image, which Scalpel adds",
				passes_the_end(a, x, b->image_size) ? "A" : "B"));
	else if (is_cut(x) || is_cut(y))
		set_reason(row, COMPARE_CUT,
			is_cut(x) && is_cut(y) ? xasprintf("A: %s; B: %s", x->note, y->note)
					       : xasprintf("%s: %s", is_cut(x) ? "A" : "B",
							 is_cut(x) ? x->note : y->note));
	else if ((row->differences & DIFFERS_LENGTH) && is_verified(x) && !is_verified(y))
		explain_length("B", x, y, row);
	else if ((row->differences & DIFFERS_LENGTH) && is_verified(y) && !is_verified(x))
		explain_length("A", y, x, row);
	else if (row->differences & DIFFERS_PIECES)
		set_reason(row, COMPARE_FRAGMENTS,
			xasprintf("A's is in %zu piece%s, B's in %zu", x->run_count,
				x->run_count == 1 ? "" : "s", y->run_count));
	else if ((row->differences & DIFFERS_LENGTH) && (is_guess(x) || is_guess(y)))
		set_reason(row, COMPARE_DOUBTFUL,
			xasprintf("its end is a guess: %s: %s", is_guess(x) ? "A" : "B",
				is_guess(x) ? x->note : y->note));
	else if (row->differences == DIFFERS_TYPE)
		set_reason(row, COMPARE_OTHER_NAME,
			xasprintf("the same offset and length; A calls it '%s', B '%s'", x->type,
				y->type));
	else
		set_reason(row, COMPARE_UNKNOWN,
			*x->note || *y->note ? xasprintf("A: %s; B: %s", *x->note ? x->note : "-",
						       *y->note ? y->note : "-")
					     : xstrdup(""));
}
