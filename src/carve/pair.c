/*
 * Two steps put the hits into order and settle them.
 *
 * 1. A hit of a pattern stands for events of all rules that use the pattern: a header at
 *    (hit - header_offset), a footer at the hit. Since header offsets differ, events are sorted
 *    once more, by position, in a heap that holds no more than the largest header offset's worth
 *    of image.
 * 2. Sorted headers go into one queue for all rules, footers into a queue a rule. The header at
 *    the front is settled as soon as its rule's footers tell, or the scan has passed its largest
 *    size. Only the front is ever looked at, so candidates come out in order, and everything
 *    behind waits in queues that may lie on disk.
 *
 * The decisions are Scalpel's (H: file start, F: footer's first byte, fl: its length, max:
 * max_size); only footers with F > H count:
 *   FORWARD  the first F, if F + fl - H <= max; otherwise none (with `both`: max bytes)
 *   NEXT     the first F, if F - H <= max, without the footer's bytes; otherwise max bytes
 *   REVERSE  the last F with F - H <= max, with the footer's bytes, so up to max + fl; otherwise
 *            none
 * A rule without footers, or with a carver or a length field, gives every header with max bytes.
 *
 * Footer queues stay small: FORWARD and NEXT need only the first footer behind each header, so a
 * footer with no header since the last one is dropped; REVERSE needs the last in range, found by
 * walking the queue once, since the ranges' ends rise with the headers.
 */
#include "carve/pair_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carve/check.h"

static bool rule_pairs(const struct pairing *pairing, const struct rule *rule)
{
	if (!rule->footer_count)
		return false;
	return pairing->options.scalpel || (!rule->carver && !rule->length.width);
}

static bool is_wanted(const struct pairing *pairing, const struct rule *rule)
{
	return !pairing->options.precheck || (check_needed(rule) && !rule_pairs(pairing, rule));
}

/* Counts (users NULL) or lists the users of every pattern. */
static void visit_users(struct pairing *pairing, bool list)
{
	const struct rules *rules = pairing->rules;

	for (uint32_t r = 0; r < rules->count; r++) {
		const struct rule *rule = &rules->rules[r];
		uint32_t footer_count = rule_pairs(pairing, rule) ? rule->footer_count : 0;

		if (!is_wanted(pairing, rule))
			continue;
		for (uint32_t i = 0; i < rule->header_count + footer_count; i++) {
			bool header = i < rule->header_count;
			uint32_t pattern =
				header ? rule->headers[i] : rule->footers[i - rule->header_count];
			struct users *users = &pairing->patterns[pattern];

			if (list)
				pairing->users[users->first + users->count] =
					(struct user){ r, header };
			users->count++;
		}
	}
}

static void index_users(struct pairing *pairing)
{
	uint32_t count = pairing->rules->patterns.count, first = 0;

	pairing->patterns = xcalloc(count, sizeof(*pairing->patterns));
	visit_users(pairing, false);
	for (uint32_t p = 0; p < count; p++) {
		pairing->patterns[p].first = first;
		first += pairing->patterns[p].count;
		pairing->patterns[p].count = 0;
	}
	pairing->users = xcalloc(first, sizeof(*pairing->users));
	visit_users(pairing, true);
}

struct pairing *pairing_new(const struct rules *rules, const struct pairing_options *options,
	struct fifo_store *store, struct tallies *rejected, struct tallies *skipped)
{
	struct pairing *pairing = xcalloc(1, sizeof(*pairing));

	pairing->rules = rules;
	pairing->options = *options;
	pairing->rejected = rejected;
	pairing->skipped = skipped;
	pairing->states = xcalloc(rules->count, sizeof(*pairing->states));
	for (uint32_t r = 0; r < rules->count; r++) {
		fifo_init(&pairing->states[r].footers, store, sizeof(struct footer));
		if (rules->rules[r].header_offset > pairing->delay)
			pairing->delay = rules->rules[r].header_offset;
	}
	fifo_init(&pairing->headers, store, sizeof(struct header));
	index_users(pairing);
	return pairing;
}

void pairing_free(struct pairing *pairing)
{
	if (!pairing)
		return;
	for (uint32_t r = 0; r < pairing->rules->count; r++)
		fifo_clear(&pairing->states[r].footers);
	fifo_clear(&pairing->headers);
	free(pairing->states);
	free(pairing->patterns);
	free(pairing->users);
	free(pairing->heap);
	free(pairing);
}

bool pairing_wants_length(const struct pairing *pairing, uint32_t pattern)
{
	const struct users *users = &pairing->patterns[pattern];

	for (uint32_t i = 0; i < users->count; i++)
		if (!pairing->users[users->first + i].header)
			return true;
	return false;
}

/* ---- step 1: events in order of position ------------------------------------------------------ */

static bool event_before(const struct event *a, const struct event *b)
{
	if (a->position != b->position)
		return a->position < b->position;
	if (a->header != b->header)
		return !a->header;
	if (a->rule != b->rule)
		return a->rule < b->rule;
	return a->pattern < b->pattern;
}

static void heap_push(struct pairing *pairing, const struct event *event)
{
	size_t i = pairing->heap_count;

	pairing->heap = xgrow(pairing->heap, &pairing->heap_capacity, i, sizeof(*pairing->heap));
	pairing->heap_count++;
	while (i > 0 && event_before(event, &pairing->heap[(i - 1) / 2])) {
		pairing->heap[i] = pairing->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	pairing->heap[i] = *event;
}

static struct event heap_pop(struct pairing *pairing)
{
	struct event *heap = pairing->heap, top = heap[0];
	struct event last = heap[--pairing->heap_count];
	size_t count = pairing->heap_count, i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= count)
			break;
		if (child + 1 < count && event_before(&heap[child + 1], &heap[child]))
			child++;
		if (!event_before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	if (count)
		heap[i] = last;
	return top;
}

static bool aligned(const struct pairing_options *options, uint64_t start, uint64_t align)
{
	if (align <= 1)
		return true;
	return (options->to_evidence ? options->to_evidence(options->context, start) : start) %
		       align ==
	       0;
}

static void queue_header(struct pairing *pairing, const struct event *event)
{
	struct rule_state *state = &pairing->states[event->rule];
	struct header header = { event->position, event->rule, event->pattern };
	const struct pairing_options *options = &pairing->options;

	if (event->position < options->range_start ||
		(options->range_end && event->position >= options->range_end)) {
		tally_add(pairing->skipped, "starts outside the range", 0);
		return;
	}
	if (!aligned(options, event->position, options->align) ||
		!aligned(options, event->position, pairing->rules->rules[event->rule].align)) {
		tally_add(pairing->skipped, "not aligned", 0);
		return;
	}
	if (state->has_last && state->last_start == event->position)
		return;
	state->has_last = true;
	state->last_start = event->position;
	state->open++;
	state->header_since = true;
	fifo_push(&pairing->headers, &header);
}

static void queue_footer(struct pairing *pairing, const struct event *event)
{
	struct rule_state *state = &pairing->states[event->rule];
	struct footer footer = { event->position, event->len, 0 };

	if (!state->open)
		return;
	if (pairing->rules->rules[event->rule].pair != PAIR_REVERSE && !state->header_since)
		return;
	state->header_since = false;
	fifo_push(&state->footers, &footer);
}

static void release_until(struct pairing *pairing, uint64_t position)
{
	while (pairing->heap_count && pairing->heap[0].position < position) {
		struct event event = heap_pop(pairing);

		if (event.header)
			queue_header(pairing, &event);
		else
			queue_footer(pairing, &event);
	}
	pairing->settled = position;
}

void pairing_advance(struct pairing *pairing, uint64_t position)
{
	if (position > pairing->delay)
		release_until(pairing, position - pairing->delay);
}

void pairing_hit(struct pairing *pairing, uint64_t offset, uint32_t pattern, uint32_t match_len)
{
	const struct users *users = &pairing->patterns[pattern];

	/* Keeps the heap small, however many hits a chunk has. */
	pairing_advance(pairing, offset);
	for (uint32_t i = 0; i < users->count; i++) {
		const struct user *user = &pairing->users[users->first + i];
		const struct rule *rule = &pairing->rules->rules[user->rule];
		struct event event = { offset, user->rule, pattern, match_len, user->header };

		if (user->header && offset < rule->header_offset) {
			tally_add(pairing->skipped, "starts before the image", 0);
			continue;
		}
		if (user->header)
			event.position = offset - rule->header_offset;
		heap_push(pairing, &event);
	}
}

void pairing_finish(struct pairing *pairing)
{
	release_until(pairing, UINT64_MAX);
	pairing->finished = true;
}

/* ---- step 2: settling the front --------------------------------------------------------------- */

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* True when every footer up to H + max is known. */
static bool passed(const struct pairing *pairing, const struct header *header)
{
	const struct rule *rule = &pairing->rules->rules[header->rule];

	return pairing->finished || pairing->settled > add_capped(header->start, rule->max_size);
}

/* The first footer behind the start, dropping those that no later header can use either. */
static const struct footer *first_footer(struct rule_state *state, uint64_t start)
{
	const struct footer *footer;

	while ((footer = fifo_front(&state->footers)) && footer->offset <= start)
		fifo_pop(&state->footers);
	return footer;
}

/* The furthest footer in (start, start + max]. */
static const struct footer *last_footer(struct rule_state *state, uint64_t start, uint64_t max)
{
	const struct footer *footer;

	while ((footer = fifo_front(&state->footers)) && footer->offset <= add_capped(start, max)) {
		state->best = *footer;
		state->has_best = true;
		fifo_pop(&state->footers);
	}
	return state->has_best && state->best.offset > start ? &state->best : NULL;
}

enum settling { WAIT, DROP, KEEP };

static enum settling settle_forward(struct pairing *pairing, const struct rule *rule,
	const struct header *header, struct candidate *candidate)
{
	const struct footer *footer = first_footer(&pairing->states[header->rule], header->start);

	if (!footer && !passed(pairing, header))
		return WAIT;
	if (footer && footer->offset + footer->len - header->start <= rule->max_size) {
		candidate->length =
			footer->offset - header->start + (rule->include_footer ? footer->len : 0);
		candidate->end = END_FOOTER;
		candidate->chop = false;
		return KEEP;
	}
	return pairing->options.both ? KEEP : DROP;
}

static enum settling settle_next(struct pairing *pairing, const struct rule *rule,
	const struct header *header, struct candidate *candidate)
{
	const struct footer *footer = first_footer(&pairing->states[header->rule], header->start);

	if (!footer && !passed(pairing, header))
		return WAIT;
	if (footer && footer->offset - header->start <= rule->max_size) {
		candidate->length =
			footer->offset - header->start + (rule->include_footer ? footer->len : 0);
		candidate->end = END_NEXT;
		candidate->chop = false;
	}
	return KEEP;
}

static enum settling settle_reverse(struct pairing *pairing, const struct rule *rule,
	const struct header *header, struct candidate *candidate)
{
	const struct footer *footer;

	if (!passed(pairing, header))
		return WAIT;
	footer = last_footer(&pairing->states[header->rule], header->start, rule->max_size);
	if (!footer)
		return DROP;
	candidate->length =
		footer->offset - header->start + (rule->include_footer ? footer->len : 0);
	candidate->end = END_FOOTER;
	candidate->chop = false;
	return KEEP;
}

static enum settling settle(
	struct pairing *pairing, const struct header *header, struct candidate *candidate)
{
	const struct rule *rule = &pairing->rules->rules[header->rule];

	*candidate = (struct candidate){ .start = header->start,
		.length = rule->max_size,
		.rule = header->rule,
		.pattern = header->pattern,
		.end = END_MAX_SIZE,
		.chop = true };
	if (!rule_pairs(pairing, rule))
		return KEEP;
	switch (rule->pair) {
	case PAIR_FORWARD:
		return settle_forward(pairing, rule, header, candidate);
	case PAIR_NEXT:
		return settle_next(pairing, rule, header, candidate);
	case PAIR_REVERSE:
		return settle_reverse(pairing, rule, header, candidate);
	}
	return DROP;
}

bool pairing_next(struct pairing *pairing, struct candidate *candidate)
{
	struct header *front;

	while ((front = fifo_front(&pairing->headers))) {
		struct header header = *front;
		const struct rule *rule = &pairing->rules->rules[header.rule];
		enum settling settling = settle(pairing, &header, candidate);

		if (settling == WAIT)
			return false;
		fifo_pop(&pairing->headers);
		if (--pairing->states[header.rule].open == 0)
			fifo_clear(&pairing->states[header.rule].footers);
		if (settling == KEEP && candidate->length >= rule->min_size)
			return true;
		tally_add(pairing->rejected,
			settling == DROP ? "no footer within max_size" : "shorter than min_size",
			0);
	}
	return false;
}

uint64_t pairing_reached(struct pairing *pairing)
{
	const struct header *front = fifo_front(&pairing->headers);

	return front ? front->start : pairing->settled;
}

uint64_t pairing_pending(const struct pairing *pairing)
{
	return pairing->headers.count + pairing->heap_count;
}
