/*
 * A group's candidates are tested in this order:
 * 1. Hidden: it starts strictly inside a file that was kept as COMPLETE. Rules with and without
 *    carvers alike.
 * 2. A part: an earlier candidate of its rule read through it as one of its own parts (view_part).
 *    Its check would only reach the same end again, and from each of ten thousand members that
 *    would take hours; so it is not checked.
 * 3. Rejected by its check.
 * 4. Contained: a TRUNCATED file that is wholly inside an earlier TRUNCATED one of its own rule.
 *    An archive that lost its end would otherwise be carved again from each of its members, a
 *    thousand members making five hundred times its size; no byte is lost by leaving these out.
 *    A truncated file hides nothing else: what is complete inside it is kept.
 * 5. Beaten at its own start: a COMPLETE file beats everything else there; otherwise the first rule
 *    with a carver beats later ones with a carver. Rules without carvers are independent of each
 *    other, as in Scalpel.
 * 6. Embedded: an earlier file that was kept, though it is not complete, named this place as that
 *    of a file inside it (view_embedded). It is kept all the same if it is COMPLETE and ends after
 *    that one: otherwise something would be lost.
 * 7. Left out for `strict` or a quota. Such a file still hides what is inside it, as an embedded
 *    one does: a quota limits what is written, not what is true.
 */
#include "carve/decide.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carve/parts.h"
#include "report/record.h"

struct quota_use {
	uint64_t files, bytes;
};

struct decided_type {
	struct quota_use quota;
	uint64_t truncated_until; /* the furthest end of its truncated files so far */
	struct parts parts;
};

struct decider {
	const struct rules *rules;
	struct decide_options options;
	struct tallies *rejected, *skipped;
	uint64_t hidden_until;
	struct parts embedded;   /* in files that were kept, or embedded themselves */
	uint64_t embedded_until; /* the furthest end of those files */
	struct quota_use total;
	struct decided_type *types; /* one a rule */
	bool quota_reached;
};

struct decider *decider_new(const struct rules *rules, const struct decide_options *options,
	struct tallies *rejected, struct tallies *skipped)
{
	struct decider *decider = xcalloc(1, sizeof(*decider));

	decider->rules = rules;
	decider->options = *options;
	decider->rejected = rejected;
	decider->skipped = skipped;
	decider->types = xcalloc(rules->count, sizeof(*decider->types));
	return decider;
}

void decider_free(struct decider *decider)
{
	if (!decider)
		return;
	for (uint32_t i = 0; i < decider->rules->count; i++)
		parts_free(&decider->types[i].parts);
	parts_free(&decider->embedded);
	free(decider->types);
	free(decider);
}

uint64_t decider_hidden_until(const struct decider *decider)
{
	return decider->options.nested ? 0 : decider->hidden_until;
}

void decider_hide(struct decider *decider, uint64_t until)
{
	if (until > decider->hidden_until)
		decider->hidden_until = until;
}

static void tally_hidden(struct decider *decider)
{
	tally_add(decider->skipped, "inside a complete file", 0);
}

bool decider_skip_hidden(struct decider *decider, const struct candidate *candidate)
{
	if (candidate->start >= decider_hidden_until(decider))
		return false;
	tally_hidden(decider);
	return true;
}

bool decider_quota_reached(const struct decider *decider)
{
	return decider->quota_reached;
}

bool decider_is_part(const struct decider *decider, const struct candidate *candidate)
{
	return parts_has(&decider->types[candidate->rule].parts, candidate->start);
}

static const struct rule *rule_of(const struct decider *decider, const struct decision *decision)
{
	return &decider->rules->rules[decision->candidate->rule];
}

static uint64_t end_of(const struct decision *decision)
{
	return decision->candidate->start + decision->outcome->length;
}

static bool is_contained(const struct decider *decider, const struct decision *decision)
{
	return !decider->options.nested && decision->outcome->verdict == CARVE_TRUNCATED &&
	       end_of(decision) <= decider->types[decision->candidate->rule].truncated_until;
}

static bool is_embedded(const struct decider *decider, const struct decision *decision)
{
	return !decider->options.nested &&
	       parts_has(&decider->embedded, decision->candidate->start) &&
	       (decision->outcome->verdict != CARVE_COMPLETE ||
		       end_of(decision) <= decider->embedded_until);
}

static void note_parts(struct parts *parts, uint64_t start, const uint64_t *offsets, size_t count)
{
	parts_forget_before(parts, start);
	for (size_t i = 0; i < count; i++)
		parts_add(parts, offsets[i]);
}

/* From now on what this file named is embedded. */
static void note_embedded(struct decider *decider, const struct decision *decision)
{
	const struct outcome *outcome = decision->outcome;

	if (!outcome->embedded_count)
		return;
	note_parts(&decider->embedded, decision->candidate->start, outcome->embedded,
		outcome->embedded_count);
	if (end_of(decision) > decider->embedded_until)
		decider->embedded_until = end_of(decision);
}

/* From now on truncated files inside these are contained, and what starts at the parts that they
 * named is not checked. */
static void note_inside(struct decider *decider, const struct decision *decisions, size_t count,
	const struct decision *winner)
{
	for (size_t i = 0; i < count; i++) {
		struct decided_type *type = &decider->types[decisions[i].candidate->rule];

		if (decider_is_part(decider, decisions[i].candidate))
			continue;
		/* It hides all that is inside it anyway. */
		if (&decisions[i] == winner && winner->outcome->verdict == CARVE_COMPLETE &&
			!decider->options.nested)
			continue;
		note_parts(&type->parts, decisions[i].candidate->start, decisions[i].outcome->parts,
			decisions[i].outcome->part_count);
		if (decisions[i].outcome->verdict == CARVE_TRUNCATED &&
			rule_of(decider, &decisions[i])->carver &&
			end_of(&decisions[i]) > type->truncated_until)
			type->truncated_until = end_of(&decisions[i]);
	}
}

/* The decision that wins this start among those with carvers; NULL when all are rejected. */
static const struct decision *find_winner(
	const struct decider *decider, const struct decision *decisions, size_t count)
{
	const struct decision *winner = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct decision *decision = &decisions[i];

		if (!rule_of(decider, decision)->carver ||
			decider_is_part(decider, decision->candidate) ||
			decision->outcome->verdict == CARVE_REJECT ||
			is_contained(decider, decision))
			continue;
		if (decision->outcome->verdict == CARVE_COMPLETE)
			return decision;
		if (!winner)
			winner = decision;
	}
	return winner;
}

static bool fits_quota(
	const struct quota_use *used, uint64_t length, uint64_t max_files, uint64_t max_bytes)
{
	if (max_files && used->files >= max_files)
		return false;
	return !max_bytes || (length <= max_bytes && used->bytes <= max_bytes - length);
}

static bool take_quota(struct decider *decider, const struct decision *decision)
{
	const struct decide_options *options = &decider->options;
	struct quota_use *type = &decider->types[decision->candidate->rule].quota;
	uint64_t length = decision->outcome->length;

	if (!fits_quota(&decider->total, length, options->max_files, options->max_bytes) ||
		!fits_quota(type, length, options->max_files_type, options->max_bytes_type)) {
		decider->quota_reached = true;
		return false;
	}
	decider->total.files++;
	decider->total.bytes += length;
	type->files++;
	type->bytes += length;
	return true;
}

/* Why a file is left out, for the tally of skipped files; NULL when it is kept. */
static const char *reason_to_skip(
	struct decider *decider, const struct decision *decision, const struct decision *winner)
{
	const struct outcome *outcome = decision->outcome;
	bool beaten =
		winner && decision != winner &&
		(winner->outcome->verdict == CARVE_COMPLETE || rule_of(decider, decision)->carver);

	if (beaten)
		return "another type starts here";
	if (is_embedded(decider, decision)) {
		note_embedded(decider, decision);
		return "a part of an earlier file";
	}
	if (decider->options.strict && outcome->verdict != CARVE_COMPLETE)
		return "not complete (--strict)";
	if (!take_quota(decider, decision))
		return "quota";
	return NULL;
}

/* Bytes at the start of a reason, "expected 48 45 41 44", that are the rule's and stay as they are;
 * 0: none. */
static size_t expected_len(const char *why)
{
	static const char start[] = "expected ";
	size_t len = sizeof(start) - 1;

	if (strncmp(why, start, len) != 0)
		return 0;
	len += strspn(why + len, "0123456789ABCDEF?/ .");
	return strncmp(why + len, "at offset ", 10) == 0 ? len : 0;
}

/* Counts a rejection under its type and reason. So that reasons stay few, numbers are replaced by N
 * and what was found instead of something expected is left out. */
static void tally_rejection(struct decider *decider, const struct decision *decision)
{
	const char *why = decision->outcome->finding.why, *end = strstr(why, ", found ");
	const char *variable = why + expected_len(why);
	char key[192];
	size_t len =
		(size_t)snprintf(key, sizeof(key) / 2, "%s: ", rule_of(decider, decision)->name);

	if (len >= sizeof(key) / 2)
		len = sizeof(key) / 2 - 1;
	for (; *why && why != end && len < sizeof(key) - 1; why++) {
		if (why < variable || !isdigit((unsigned char)*why))
			key[len++] = *why;
		else if (key[len - 1] != 'N')
			key[len++] = 'N';
	}
	key[len] = '\0';
	tally_add(decider->rejected, key, 0);
}

void decide_group(struct decider *decider, struct decision *decisions, size_t count)
{
	uint64_t start = decisions[0].candidate->start;
	bool hidden = start < decider_hidden_until(decider);
	const struct decision *winner = hidden ? NULL : find_winner(decider, decisions, count);

	assert(count);
	for (size_t i = 0; i < count; i++) {
		struct decision *decision = &decisions[i];
		const char *why = NULL;

		decision->keep = false;
		if (hidden) {
			tally_hidden(decider);
		} else if (decider_is_part(decider, decision->candidate)) {
			why = "a part of an earlier file of its type";
		} else if (decision->outcome->verdict == CARVE_REJECT) {
			tally_rejection(decider, decision);
		} else if (is_contained(decider, decision)) {
			why = "inside a truncated file of its type";
		} else {
			why = reason_to_skip(decider, decision, winner);
			decision->keep = !why;
			if (decision->keep)
				note_embedded(decider, decision);
		}
		if (why)
			tally_add(decider->skipped, why, 0);
	}
	if (!hidden)
		note_inside(decider, decisions, count, winner);
	if (winner && winner->outcome->verdict == CARVE_COMPLETE &&
		start + winner->outcome->length > decider->hidden_until)
		decider->hidden_until = start + winner->outcome->length;
}

static void save_quota(const struct quota_use *quota, struct codec_writer *writer)
{
	codec_put(writer, quota->files);
	codec_put(writer, quota->bytes);
}

void decider_save(const struct decider *decider, struct codec_writer *writer)
{
	codec_put(writer, decider->hidden_until);
	codec_put(writer, decider->quota_reached);
	save_quota(&decider->total, writer);
	codec_put(writer, decider->embedded_until);
	parts_save(&decider->embedded, writer);
	for (uint32_t i = 0; i < decider->rules->count; i++) {
		save_quota(&decider->types[i].quota, writer);
		codec_put(writer, decider->types[i].truncated_until);
		parts_save(&decider->types[i].parts, writer);
	}
}

static void load_quota(struct quota_use *quota, struct codec_reader *reader)
{
	quota->files = codec_get(reader, UINT64_MAX);
	quota->bytes = codec_get(reader, UINT64_MAX);
}

void decider_load(struct decider *decider, uint64_t limit, struct codec_reader *reader)
{
	decider->hidden_until = codec_get(reader, limit);
	decider->quota_reached = codec_get_flag(reader);
	load_quota(&decider->total, reader);
	decider->embedded_until = codec_get(reader, limit);
	parts_load(&decider->embedded, limit, reader);
	for (uint32_t i = 0; i < decider->rules->count && codec_ok(reader); i++) {
		load_quota(&decider->types[i].quota, reader);
		decider->types[i].truncated_until = codec_get(reader, limit);
		parts_load(&decider->types[i].parts, limit, reader);
	}
}
