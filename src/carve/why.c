#include "carve/why.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carve/decide.h"
#include "carve/pair.h"
#include "carve/record_builder.h"
#include "report/record.h"

#define WINDOW_LEN ((size_t)1 << 20) /* of the image, in which footers are looked for */
#define STORE_LEN ((size_t)16 << 20)

struct query {
	struct image *image;
	const struct rules *rules;
	const struct why_options *options;
	uint64_t start;
	struct view *view;
	uint8_t *window;
};

const char *why_state_name(enum why_state state)
{
	static const char *const names[] = { "no header", "no candidate", "rejected",
		"another type starts here", "carved" };

	return names[state];
}

/* ---- the header ---------------------------------------------------------------------------- */

/* How many bytes agree, from the first on; pattern->len: the header matches. */
static uint32_t count_equal(const struct pattern *pattern, const uint8_t *text, size_t len)
{
	uint32_t agree = 0;

	if (pattern->regex)
		return pattern_match_len(pattern, text, len) ? pattern->len : 0;
	while (agree < pattern->len && agree < len &&
		!((text[agree] ^ pattern->bytes[agree]) & pattern->mask[agree]))
		agree++;
	return agree;
}

static void explain_no_header(struct why_answer *answer, const struct pattern *pattern,
	uint32_t agree, const uint8_t *text, size_t len)
{
	if (agree >= len)
		snprintf(answer->text, sizeof(answer->text),
			"the image ends inside the header %.100s", pattern->text);
	else if (pattern->regex)
		snprintf(answer->text, sizeof(answer->text),
			"the header %.100s does not match at offset %" PRIu64, pattern->text,
			answer->at);
	else
		snprintf(answer->text, sizeof(answer->text),
			"the header %.100s: expected %02X at offset %" PRIu64 ", found %02X",
			pattern->text, pattern->bytes[agree], answer->at, text[agree]);
}

/* Finds the header that matches there, or the one that agrees longest. */
static bool find_header(const struct query *query, struct why_answer *answer)
{
	const struct rule *rule = &query->rules->rules[answer->rule];
	const struct pattern_set *set = &query->rules->patterns;
	uint64_t size = image_info(query->image)->size;
	uint64_t at = query->start + rule->header_offset, left = at < size ? size - at : 0;
	size_t len = left < WINDOW_LEN ? (size_t)left : WINDOW_LEN;
	uint32_t best = 0;

	if (len > set->longest)
		len = set->longest;
	image_read_around(query->image, left ? at : 0, query->window, len);
	answer->pattern = rule->headers[0];
	for (uint32_t i = 0; i < rule->header_count; i++) {
		const struct pattern *pattern = &set->patterns[rule->headers[i]];
		uint32_t agree = count_equal(pattern, query->window, len);

		if (agree > best) {
			best = agree;
			answer->pattern = rule->headers[i];
		}
		if (agree == pattern->len)
			return true;
	}
	answer->at = at + best;
	explain_no_header(answer, &set->patterns[answer->pattern], best, query->window, len);
	return false;
}

/* ---- the candidate ------------------------------------------------------------------------- */

static void pair_window(struct pairing *pairing, const struct query *query, const struct rule *rule,
	uint64_t offset, size_t own, size_t len)
{
	const struct pattern_set *set = &query->rules->patterns;
	uint32_t count = rule->footer_count ? rule->footer_count : rule->header_count;
	const uint32_t *footers = rule->footer_count ? rule->footers : rule->headers;

	for (size_t at = 0; at < own; at++)
		for (uint32_t i = 0; i < count; i++) {
			size_t match = pattern_match_len(
				&set->patterns[footers[i]], query->window + at, len - at);

			if (match && (rule->footer_count ||
					     offset + at > query->start + rule->header_offset))
				pairing_hit(pairing, offset + at, footers[i], (uint32_t)match);
		}
}

/* Pairs the header with what follows, as a run would, and returns the candidate that starts
 * there. */
static bool find_candidate(const struct query *query, const struct why_answer *answer,
	struct pairing *pairing, struct candidate *candidate)
{
	const struct rule *rule = &query->rules->rules[answer->rule];
	const struct pattern *header = &query->rules->patterns.patterns[answer->pattern];
	uint64_t size = image_info(query->image)->size, at = query->start + rule->header_offset;
	uint64_t end = size - query->start > rule->max_size ? query->start + rule->max_size : size;
	size_t overlap = query->rules->patterns.longest;

	pairing_hit(pairing, at, answer->pattern, header->len);
	if (!pairing_needs_footer(rule, false)) {
		pairing_advance(pairing, at + 1);
		return pairing_next(pairing, candidate);
	}
	while (at < size) {
		uint64_t left = size - at;
		size_t len = left < WINDOW_LEN ? (size_t)left : WINDOW_LEN;
		size_t own = len == left ? len : len - overlap;

		image_read_around(query->image, at, query->window, len);
		pair_window(pairing, query, rule, at, own, len);
		at += own;
		pairing_advance(pairing, at);
		if (at > end + overlap)
			break;
		if (pairing_next(pairing, candidate))
			return true;
	}
	pairing_finish(pairing);
	while (pairing_next(pairing, candidate))
		if (candidate->rule == answer->rule && candidate->start == query->start)
			return true;
	return false;
}

/* One header waits for one footer: the queues never outgrow the memory. */
static int no_spill(void *context, struct error *error)
{
	(void)context;
	return error_set(error, EXIT_IO, ENOBUFS, "too many footers to be kept in memory");
}

static bool pair_header(
	const struct query *query, struct why_answer *answer, struct candidate *candidate)
{
	const struct pairing_options options = { .both = query->options->both,
		.align = query->options->align,
		.range_start = query->start,
		.range_end = query->start + 1 };
	/* One rule alone, since another rule's header may be this one's footer. */
	struct rules alone = *query->rules;
	struct tallies rejected = { 0 }, skipped = { 0 };
	struct fifo_store *store = fifo_store_new(STORE_LEN, no_spill, NULL);
	struct query one = *query;
	struct why_answer first = *answer;
	struct pairing *pairing;
	bool found;

	alone.rules += answer->rule;
	alone.count = 1;
	one.rules = &alone;
	first.rule = 0;
	pairing = pairing_new(&alone, &options, store, &rejected, &skipped);
	found = find_candidate(&one, &first, pairing, candidate);
	candidate->rule = answer->rule;
	if (!found)
		snprintf(answer->text, sizeof(answer->text), "%s",
			skipped.count    ? skipped.items[0].name
			: rejected.count ? rejected.items[0].name
					 : "no footer follows within max_size");
	pairing_free(pairing);
	fifo_store_free(store);
	tallies_free(&rejected);
	tallies_free(&skipped);
	return found;
}

/* ---- the decision -------------------------------------------------------------------------- */

/* Reads the whole file, as a run that writes it does. */
static void find_unreadable(const struct query *query, struct file_record *record)
{
	struct ranges bad = { 0 };

	for (uint64_t done = 0; done < record->length;) {
		uint64_t left = record->length - done;
		size_t len = left < WINDOW_LEN ? (size_t)left : WINDOW_LEN;

		record->unreadable += image_read_noting(query->image, query->start + done,
			query->window, len, bad.count ? NULL : &bad);
		done += len;
	}
	if (bad.count)
		record->unreadable_at = bad.items[0].offset;
	ranges_free(&bad);
}

static void explain_outcome(const struct query *query, struct why_answer *answer)
{
	const struct outcome *outcome = &answer->outcome;
	static const enum file_status statuses[] = { [CARVE_COMPLETE] = FILE_COMPLETE,
		[CARVE_TRUNCATED] = FILE_TRUNCATED,
		[CARVE_UNVERIFIED] = FILE_UNVERIFIED };
	struct file_record record = { .length = outcome->length };

	snprintf(record.reason, sizeof(record.reason), "%s", outcome->finding.why);
	if (outcome->verdict == CARVE_REJECT) {
		snprintf(answer->text, sizeof(answer->text), "%s", record.reason);
		return;
	}
	record.status = statuses[outcome->verdict];
	find_unreadable(query, &record);
	record_note_unreadable(&record);
	snprintf(answer->text, sizeof(answer->text), "%s, %" PRIu64 " bytes, end by %s%s%s",
		file_status_name(record.status), outcome->length, file_end_name(outcome->end),
		*record.reason ? ": " : "", record.reason);
}

static void decide_all(const struct query *query, struct why_answer *answers,
	struct decision *decisions, size_t count)
{
	const struct decide_options options = { .nested = false };
	struct tallies rejected = { 0 }, skipped = { 0 };
	struct decider *decider = decider_new(query->rules, &options, &rejected, &skipped);

	if (count)
		decide_group(decider, decisions, count);
	for (size_t i = 0; i < count; i++) {
		struct why_answer *answer = &answers[decisions[i].candidate->rule];

		answer->state = answer->outcome.verdict == CARVE_REJECT ? WHY_REJECTED
				: decisions[i].keep                     ? WHY_CARVED
									: WHY_BEATEN;
		explain_outcome(query, answer);
	}
	decider_free(decider);
	tallies_free(&rejected);
	tallies_free(&skipped);
}

static bool go_on(void *context, size_t index, uint64_t reached)
{
	(void)context;
	(void)index;
	(void)reached;
	return true;
}

static void take_outcome(void *context, size_t index, struct outcome *outcome, uint64_t waited)
{
	struct outcome *taken = context;

	(void)index;
	(void)waited;
	if (outcome)
		*taken = *outcome;
}

static int check(const struct query *query, const struct candidate *candidate,
	struct outcome *outcome, struct error *error)
{
	const struct rule *rule = &query->rules->rules[candidate->rule];
	const struct check_listener listener = { outcome, go_on, take_outcome, NULL };
	const struct check_request request = {
		.candidate = candidate, .work_max = UINT64_MAX, .force = true
	};

	/* As in a run, nothing else parses. */
	if (query->options->worker && rule->carver)
		return check_worker_check(query->options->worker, &request, 1, 0, &listener, error);
	check_candidate(query->view, query->image, rule, candidate, UINT64_MAX, outcome);
	return 0;
}

static int try_all(const struct query *query, struct why_answer *answers, struct error *error)
{
	uint32_t count = query->rules->count;
	struct candidate *candidates = xcalloc(count, sizeof(*candidates));
	struct decision *decisions = xcalloc(count, sizeof(*decisions));
	size_t decided = 0;
	int status = 0;

	for (uint32_t i = 0; i < count && !status; i++) {
		struct why_answer *answer = &answers[i];

		*answer = (struct why_answer){ .rule = i };
		if (query->options->only && query->options->only != &query->rules->rules[i])
			continue;
		if (!find_header(query, answer))
			continue;
		answer->state = WHY_NO_CANDIDATE;
		if (!pair_header(query, answer, &candidates[i]))
			continue;
		status = check(query, &candidates[i], &answer->outcome, error);
		decisions[decided++] = (struct decision){ .candidate = &candidates[i],
			.outcome = &answer->outcome };
	}
	if (!status)
		decide_all(query, answers, decisions, decided);
	free(decisions);
	free(candidates);
	return status;
}

int why_ask(struct why_answer *answers, struct image *image, const struct rules *rules,
	const struct why_options *options, uint64_t start, struct error *error)
{
	struct query query = { image, rules, options, start, NULL, NULL };
	uint8_t byte;
	int status;

	if (start >= image_info(image)->size)
		return error_set(error, EXIT_USAGE, EINVAL,
			"the image ends at %" PRIu64 ", before %" PRIu64, image_info(image)->size,
			start);
	if (image_read_at(image, start, &byte, 1))
		return error_set(error, EXIT_IO, EIO,
			"the image can't be read at %" PRIu64 "; a run sees zeros there", start);
	query.view = view_new();
	query.window = xmalloc(WINDOW_LEN + rules->patterns.longest);
	status = try_all(&query, answers, error);
	free(query.window);
	view_free(query.view);
	return status;
}
