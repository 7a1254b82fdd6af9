/*
 * The reasons are tried from the surest to the vaguest: what was searched, where the tool looks,
 * what hides what; then the rules, which are asked at the place when the image is at hand
 * (carve/why.h); then what the other side says itself.
 *
 * Whether rules or files are alike in type is asked for hundreds of thousands of files of a few
 * types, so the answers are kept by type.
 */
#include "compare/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carve/why.h"
#include "compare/covers.h"

/* What this side has for a type of the other's. */
struct kind {
	const char *type, *extension;
	bool *rules; /* which of the rules are for it; NULL without rules */
	bool has_rule, has_file;
};

#define KINDS_MOST 256

struct explainer {
	struct compare_side side;
	struct image *image;
	struct covers hiding; /* of files that hide what lies inside them */
	struct covers parts;  /* of burin's others, in which files of their type may be parts */
	uint64_t step;        /* all its files begin at multiples of this */
	struct why_answer *answers;
	struct kind kinds[KINDS_MOST];
	size_t kind_count, next_kind; /* a full table is filled again from the start */
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

/* The largest power of two that divides where all files begin, up to 64 KiB; 1 when there are
 * few. */
static uint64_t find_step(const struct listing *listing)
{
	uint64_t bits = (uint64_t)1 << 16;

	for (size_t i = 0; i < listing->count; i++)
		bits |= listing->files[i].offset;
	return listing->count < 4 ? 1 : bits & -bits;
}

struct explainer *explainer_new(const struct compare_side *side, struct image *image)
{
	struct explainer *explainer = xcalloc(1, sizeof(*explainer));

	explainer->side = *side;
	explainer->image = image;
	explainer->step = find_step(side->listing);
	if (side->rules)
		explainer->answers = xcalloc(side->rules->count, sizeof(*explainer->answers));
	add_covers(explainer);
	return explainer;
}

void explainer_free(struct explainer *explainer)
{
	if (!explainer)
		return;
	for (size_t i = 0; i < explainer->kind_count; i++)
		free(explainer->kinds[i].rules);
	covers_free(&explainer->hiding);
	covers_free(&explainer->parts);
	free(explainer->answers);
	free(explainer);
}

/* ---- types --------------------------------------------------------------------------------- */

static void fill_kind(
	const struct explainer *explainer, const struct listed *file, struct kind *kind)
{
	const struct listing *listing = explainer->side.listing;
	const struct rules *rules = explainer->side.rules;

	free(kind->rules);
	*kind = (struct kind){ file->type, file->extension, NULL, false, false };
	if (rules)
		kind->rules = xcalloc(rules->count + 1, sizeof(*kind->rules));
	for (uint32_t i = 0; rules && i < rules->count; i++)
		kind->has_rule |= kind->rules[i] = compare_rule_alike(&rules->rules[i], file);
	for (size_t i = 0; i < listing->count && !kind->has_file; i++)
		kind->has_file = compare_type_alike(&listing->files[i], file);
}

static const struct kind *kind_of(struct explainer *explainer, const struct listed *file)
{
	struct kind *kind = explainer->kinds;

	for (size_t i = 0; i < explainer->kind_count; i++, kind++)
		if (strcmp(kind->type, file->type) == 0 &&
			strcmp(kind->extension, file->extension) == 0)
			return kind;
	kind = &explainer->kinds[explainer->next_kind];
	explainer->next_kind = (explainer->next_kind + 1) % KINDS_MOST;
	if (explainer->kind_count < KINDS_MOST)
		explainer->kind_count++;
	fill_kind(explainer, file, kind);
	return kind;
}

/* ---- a file that is missing ---------------------------------------------------------------- */

static void say(struct compared *row, enum compare_why why, char *text)
{
	free(row->text);
	row->why = why;
	row->text = text;
}

static bool out_of_range(
	const struct explainer *explainer, const struct listed *file, struct compared *row)
{
	const struct listing *listing = explainer->side.listing;
	uint64_t offset = file->offset;

	if (listing->image_size && offset >= listing->image_size)
		say(row, COMPARE_OUTSIDE,
			xasprintf("its image ends before, at %" PRIu64, listing->image_size));
	else if (offset < listing->range_offset ||
		 (listing->range_length && offset - listing->range_offset >= listing->range_length))
		say(row, COMPARE_OUTSIDE,
			xasprintf("that run was asked for another range, from %" PRIu64,
				listing->range_offset));
	else
		return false;
	return true;
}

static bool unaligned(
	const struct explainer *explainer, const struct listed *file, struct compared *row)
{
	const struct listing *listing = explainer->side.listing;
	const char *tool = listing_tool_name(listing->tool);
	uint64_t sector = listing->sector_size;

	if (listing->align && file->offset % listing->align)
		say(row, COMPARE_UNALIGNED,
			xasprintf("that run was told to look at multiples of %" PRIu64 " only",
				listing->align));
	else if (listing->tool == TOOL_PHOTOREC && sector && file->offset % sector)
		say(row, COMPARE_UNALIGNED,
			xasprintf("%s looks at the starts of sectors of %" PRIu64
				  " bytes only, and "
				  "this is %" PRIu64 " bytes behind one",
				tool, sector, file->offset % sector));
	else if (listing->tool == TOOL_PHOTOREC && file->offset % explainer->step)
		say(row, COMPARE_UNALIGNED,
			xasprintf("all that %s found begins at multiples of %" PRIu64
				  ", so it looked there only, it seems",
				tool, explainer->step));
	else
		return false;
	return true;
}

static bool hidden(
	const struct explainer *explainer, const struct listed *file, struct compared *row)
{
	const struct listed *over = covers_find(&explainer->hiding, file->offset);

	if (!over)
		return false;
	say(row, COMPARE_HIDDEN,
		xasprintf("inside %s, which it has from %" PRIu64 ", %" PRIu64 " bytes", over->path,
			over->offset, over->length));
	return true;
}

/* Of several rules that may stand for the type, the one that came furthest. */
static const struct why_answer *furthest_answer(
	const struct explainer *explainer, const struct kind *kind)
{
	const struct rules *rules = explainer->side.rules;
	const struct why_answer *best = NULL;

	for (uint32_t i = 0; i < rules->count; i++)
		if (kind->rules[i] && (!best || explainer->answers[i].state > best->state))
			best = &explainer->answers[i];
	return best;
}

/* The image was asked. */
static void say_answer(const struct explainer *explainer, const struct listed *file,
	const struct why_answer *answer, struct compared *row)
{
	static const enum compare_why whys[] = { COMPARE_NO_HEADER, COMPARE_NO_FOOTER,
		COMPARE_REJECTED, COMPARE_OTHER_RULE, COMPARE_WOULD_CARVE };
	const struct rule *rule = &explainer->side.rules->rules[answer->rule];
	const struct listed *over = covers_find(&explainer->parts, file->offset);

	if (answer->state == WHY_CARVED && over && compare_type_alike(over, file))
		say(row, COMPARE_HIDDEN,
			xasprintf("inside %s, which is %s: taken for a part of it", over->path,
				over->status));
	else if (answer->state == WHY_CARVED)
		say(row, COMPARE_WOULD_CARVE,
			xasprintf("its rule %s carves it (%s): the report was filtered, or the run "
				  "had other options",
				rule->name, answer->text));
	else if (answer->state == WHY_ELSEWHERE)
		say(row, COMPARE_NO_HEADER,
			xasprintf("its rule %s: the header does not stand there%s%s", rule->name,
				*answer->text ? ": " : "", answer->text));
	else
		say(row, whys[answer->state],
			xasprintf("its rule %s: %s", rule->name, answer->text));
}

static bool no_rule(struct explainer *explainer, const struct listed *file, struct compared *row)
{
	const struct rules *rules = explainer->side.rules;

	if (!rules || kind_of(explainer, file)->has_rule)
		return false;
	say(row, COMPARE_NO_RULE, xasprintf("no rule of %s is for '%s'", rules->path, file->type));
	return true;
}

/* The image is asked, where it is at hand. */
static bool by_rules(struct explainer *explainer, const struct listed *file, struct compared *row)
{
	const struct rules *rules = explainer->side.rules;
	const struct listing *listing = explainer->side.listing;
	const struct why_options options = { listing->both, listing->align };
	const struct kind *kind = kind_of(explainer, file);
	struct error error = { 0 };

	if (!rules || !explainer->image || file->offset >= image_info(explainer->image)->size)
		return false;
	if (why_ask(explainer->answers, explainer->image, rules, &options, file->offset, &error)) {
		say(row, COMPARE_NOT_TOLD, xstrdup(error.text));
		return true;
	}
	say_answer(explainer, file, furthest_answer(explainer, kind), row);
	for (uint32_t i = 0; i < rules->count; i++)
		outcome_free(&explainer->answers[i].outcome);
	return true;
}

static bool no_such_type(
	struct explainer *explainer, const struct listed *file, struct compared *row)
{
	if (kind_of(explainer, file)->has_file)
		return false;
	say(row, COMPARE_NO_SUCH_TYPE,
		xasprintf("%s has no file like '%s' at all: it may not know the type, or not have "
			  "been asked for it",
			listing_tool_name(explainer->side.listing->tool), file->type));
	return true;
}

static bool doubtful(
	const struct explainer *explainer, const struct listed *file, struct compared *row)
{
	if (!*file->status || strcmp(file->status, "complete") == 0)
		return false;
	say(row, COMPARE_DOUBTFUL,
		xasprintf("the other side calls it %s (%s), and %s may have dropped it for that",
			file->status, file->note,
			listing_tool_name(explainer->side.listing->tool)));
	return true;
}

void explain_missing(struct explainer *explainer, const struct listed *file, struct compared *row)
{
	const struct listing *listing = explainer->side.listing;

	if (out_of_range(explainer, file, row) || no_rule(explainer, file, row) ||
		unaligned(explainer, file, row) || hidden(explainer, file, row) ||
		by_rules(explainer, file, row) || doubtful(explainer, file, row) ||
		no_such_type(explainer, file, row))
		return;
	if (!listing->ended)
		say(row, COMPARE_NOT_TOLD,
			xstrdup("its run, or its report, did not come to an end"));
	else if (listing->tool == TOOL_BURIN && !explainer->side.rules)
		say(row, COMPARE_NOT_TOLD, xstrdup("its rules are not at hand (--config)"));
	else if (listing->tool == TOOL_BURIN)
		say(row, COMPARE_NOT_TOLD, xstrdup("the image is not at hand (--image)"));
	else
		say(row, COMPARE_NOT_TOLD,
			xasprintf("%s does not say what it dropped",
				listing_tool_name(listing->tool)));
}

/* ---- a file that both have ----------------------------------------------------------------- */

static bool is_walked(const struct listed *file)
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

/* sure was walked to its end by its side's carver, other was not. */
static void say_length(const struct listing *listing, const struct listed *sure,
	const struct listed *other, struct compared *row)
{
	uint64_t most = other->length + other->length_off;

	if (other->length > sure->length)
		say(row, COMPARE_TOO_LONG,
			xasprintf("%s's has %" PRIu64 " more behind the end that burin walked to",
				listing_tool_name(listing->tool), other->length - sure->length));
	else
		say(row, COMPARE_TOO_SHORT,
			xasprintf("%s's stops %" PRIu64
				  " bytes before the end that burin walked to",
				listing_tool_name(listing->tool), sure->length - most));
}

void explain_difference(const struct listing *a, const struct listing *b, struct compared *row)
{
	const struct listed *x = row->a, *y = row->b;

	if (row->differences == DIFFERS_HASH)
		say(row, COMPARE_NOT_TOLD,
			xstrdup("the same place and length, but other bytes: the images differ, or "
				"could not be read alike"));
	else if (is_cut(x) || is_cut(y))
		say(row, COMPARE_CUT,
			is_cut(x) && is_cut(y) ? xasprintf("A: %s; B: %s", x->note, y->note)
					       : xasprintf("%s: %s", is_cut(x) ? "A" : "B",
							 is_cut(x) ? x->note : y->note));
	else if ((row->differences & DIFFERS_LENGTH) && is_walked(x) && !is_walked(y))
		say_length(b, x, y, row);
	else if ((row->differences & DIFFERS_LENGTH) && is_walked(y) && !is_walked(x))
		say_length(a, y, x, row);
	else if (row->differences & DIFFERS_PIECES)
		say(row, COMPARE_FRAGMENTS,
			xasprintf("A's is in %zu piece%s, B's in %zu", x->run_count,
				x->run_count == 1 ? "" : "s", y->run_count));
	else if ((row->differences & DIFFERS_LENGTH) && (is_guess(x) || is_guess(y)))
		say(row, COMPARE_DOUBTFUL,
			xasprintf("where it ends can't be seen: %s: %s", is_guess(x) ? "A" : "B",
				is_guess(x) ? x->note : y->note));
	else if (row->differences == DIFFERS_TYPE)
		say(row, COMPARE_OTHER_NAME,
			xasprintf("the same place and length; A calls it '%s', B '%s'", x->type,
				y->type));
	else
		say(row, COMPARE_NOT_TOLD,
			*x->note || *y->note ? xasprintf("A: %s; B: %s", *x->note ? x->note : "-",
						       *y->note ? y->note : "-")
					     : xstrdup(""));
}
