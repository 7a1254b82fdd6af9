/*
 * Two steps: the hits become headers and footers in order of position, and headers become
 * candidates.
 *
 * 1. A hit of a pattern is a mark of every rule that uses the pattern: a header at
 *    (hit - header_offset), or a footer at the hit. Most are at the hit itself: these form a line
 *    that is in order already. The others are sorted by position in a heap. Both hold no more than
 *    the largest header offset's worth of image, and the next mark is at the front of one of them.
 * 2. Sorted headers go into one queue for all rules, footers into one queue a rule. The header at
 *    the front can be decided as soon as its rule's footers decide it, or the scan has passed its
 *    largest size. Only the front is ever looked at, so candidates come out in order, and
 *    everything after it waits in queues that may lie on disk.
 *
 * The decisions are Scalpel's (H: file start, F: footer's first byte, fl: its length, max:
 * max_size); only footers with F > H count:
 *   FORWARD  the first F, if F + fl - H <= max; otherwise none (with `both`: max bytes)
 *   NEXT     the first F, if F - H <= max, without the footer's bytes; otherwise max bytes
 *   REVERSE  the last F with F - H <= max, with the footer's bytes, so up to max + fl; otherwise
 *            none
 * A rule without footers, or with a carver or a length field, gives every header with max bytes.
 *
 * Footer queues stay small: FORWARD and NEXT need only the first footer after each header, so a
 * footer with no header since the last one is dropped; REVERSE needs the last one in range, found
 * by walking the queue once, since the ranges' ends rise with the headers.
 */
#include "carve/pair.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carve/check.h"
#include "report/record.h"

/* No image is larger: offsets and lengths can be added without overflow. */
#define OFFSET_MAX ((uint64_t)INT64_MAX)

/* A hit as one rule sees it. */
struct mark {
	uint64_t position;
	uint32_t rule;
	uint32_t pattern;
	uint32_t len; /* footers: bytes of the match; headers: the candidate's rejection */
	bool header;
};

struct queued_header {
	uint64_t start;
	uint32_t rule, pattern;
	uint32_t rejection, unused;
};

struct queued_footer {
	uint64_t offset;
	uint32_t len, unused;
};

struct pair_state {
	struct fifo footers;
	uint64_t open;     /* headers queued and not decided */
	bool header_since; /* a header came after the last footer that was queued */
	bool has_best;     /* REVERSE: best is the furthest footer passed so far */
	struct queued_footer best;
	uint64_t last_start; /* of the last header that was queued, for alternatives that match at
				one place */
	bool has_last;
};

/* The rules that use a pattern: uses[first .. first + count). */
struct pattern_uses {
	uint32_t first, count;
};

struct pairing {
	const struct rules *rules;
	struct pairing_options options;
	struct tallies *rejected, *skipped;
	struct pair_state *states; /* by rule */
	struct pattern_uses *patterns;
	struct pattern_use *uses;
	struct mark *heap;
	size_t heap_count, heap_capacity;
	struct mark *line; /* [line_first, line_end) of line_capacity */
	size_t line_first, line_end, line_capacity;
	uint64_t delay;  /* the largest header_offset, bytes */
	uint64_t sorted; /* all marks before this position are in the queues */
	bool finished;
	struct fifo headers;
};

bool pairing_needs_footer(const struct rule *rule, bool scalpel)
{
	return rule->footer_count && (scalpel || (!rule->carver && !rule->length.width));
}

static bool rule_pairs(const struct pairing *pairing, const struct rule *rule)
{
	return pairing_needs_footer(rule, pairing->options.scalpel);
}

static bool is_used(const struct pairing *pairing, const struct rule *rule)
{
	return !pairing->options.precheck || (check_needed(rule) && !rule_pairs(pairing, rule));
}

/* Counts the uses of every pattern, or fills in the list of them. */
static void visit_uses(struct pairing *pairing, bool list)
{
	const struct rules *rules = pairing->rules;

	for (uint32_t r = 0; r < rules->count; r++) {
		const struct rule *rule = &rules->rules[r];
		uint32_t footer_count = rule_pairs(pairing, rule) ? rule->footer_count : 0;

		if (!is_used(pairing, rule))
			continue;
		for (uint32_t i = 0; i < rule->header_count + footer_count; i++) {
			bool header = i < rule->header_count;
			uint32_t pattern =
				header ? rule->headers[i] : rule->footers[i - rule->header_count];
			struct pattern_uses *uses = &pairing->patterns[pattern];

			if (list)
				pairing->uses[uses->first + uses->count] =
					(struct pattern_use){ r, header };
			uses->count++;
		}
	}
}

static void index_uses(struct pairing *pairing)
{
	uint32_t count = pairing->rules->patterns.count, first = 0;

	pairing->patterns = xcalloc(count, sizeof(*pairing->patterns));
	visit_uses(pairing, false);
	for (uint32_t p = 0; p < count; p++) {
		pairing->patterns[p].first = first;
		first += pairing->patterns[p].count;
		pairing->patterns[p].count = 0;
	}
	pairing->uses = xcalloc(first, sizeof(*pairing->uses));
	visit_uses(pairing, true);
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
		fifo_init(&pairing->states[r].footers, store, sizeof(struct queued_footer));
		if (rules->rules[r].header_offset > pairing->delay)
			pairing->delay = rules->rules[r].header_offset;
	}
	fifo_init(&pairing->headers, store, sizeof(struct queued_header));
	index_uses(pairing);
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
	free(pairing->uses);
	free(pairing->heap);
	free(pairing->line);
	free(pairing);
}

bool pairing_wants_length(const struct pairing *pairing, uint32_t pattern)
{
	const struct pattern_uses *uses = &pairing->patterns[pattern];

	for (uint32_t i = 0; i < uses->count; i++)
		if (!pairing->uses[uses->first + i].header)
			return true;
	return false;
}

/* ---- step 1: marks in order of position ---------------------------------------------------- */

static bool mark_before(const struct mark *a, const struct mark *b)
{
	if (a->position != b->position)
		return a->position < b->position;
	if (a->header != b->header)
		return !a->header;
	if (a->rule != b->rule)
		return a->rule < b->rule;
	return a->pattern < b->pattern;
}

static void heap_push(struct pairing *pairing, const struct mark *mark)
{
	size_t i = pairing->heap_count;

	pairing->heap = xgrow(pairing->heap, &pairing->heap_capacity, i, sizeof(*pairing->heap));
	pairing->heap_count++;
	while (i > 0 && mark_before(mark, &pairing->heap[(i - 1) / 2])) {
		pairing->heap[i] = pairing->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	pairing->heap[i] = *mark;
}

static struct mark heap_pop(struct pairing *pairing)
{
	struct mark *heap = pairing->heap, top = heap[0];
	struct mark last = heap[--pairing->heap_count];
	size_t count = pairing->heap_count, i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= count)
			break;
		if (child + 1 < count && mark_before(&heap[child + 1], &heap[child]))
			child++;
		if (!mark_before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	if (count)
		heap[i] = last;
	return top;
}

/* Adds a mark at the last hit, whose position is not before that of any other. */
static void line_push(struct pairing *pairing, const struct mark *mark)
{
	struct mark *line;
	size_t i;

	if (pairing->line_end == pairing->line_capacity &&
		pairing->line_first > pairing->line_end / 2) {
		pairing->line_end -= pairing->line_first;
		memcpy(pairing->line, pairing->line + pairing->line_first,
			pairing->line_end * sizeof(*pairing->line));
		pairing->line_first = 0;
	}
	pairing->line = xgrow(
		pairing->line, &pairing->line_capacity, pairing->line_end, sizeof(*pairing->line));
	line = pairing->line;
	for (i = pairing->line_end++; i > pairing->line_first && mark_before(mark, &line[i - 1]);
		i--)
		line[i] = line[i - 1];
	line[i] = *mark;
}

static size_t marks_pending(const struct pairing *pairing)
{
	return pairing->heap_count + pairing->line_end - pairing->line_first;
}

/* Takes the first mark of all, if it is before the position. */
static bool pop_mark(struct pairing *pairing, uint64_t position, struct mark *mark)
{
	const struct mark *first = pairing->heap_count ? pairing->heap : NULL;
	bool in_line = pairing->line_first < pairing->line_end &&
		       (!first || mark_before(&pairing->line[pairing->line_first], first));

	if (in_line)
		first = &pairing->line[pairing->line_first];
	if (!first || first->position >= position)
		return false;
	if (!in_line) {
		*mark = heap_pop(pairing);
		return true;
	}
	*mark = *first;
	if (++pairing->line_first == pairing->line_end)
		pairing->line_first = pairing->line_end = 0;
	return true;
}

static bool aligned(const struct pairing_options *options, uint64_t start, uint64_t align)
{
	if (align <= 1)
		return true;
	return (options->to_evidence ? options->to_evidence(options->context, start) : start) %
		       align ==
	       0;
}

bool pairing_in_range(const struct pairing *pairing, uint64_t start)
{
	const struct pairing_options *options = &pairing->options;

	return start >= options->range_start && (!options->range_end || start < options->range_end);
}

static bool is_aligned(const struct pairing *pairing, uint32_t rule, uint64_t start)
{
	return aligned(&pairing->options, start, pairing->options.align) &&
	       aligned(&pairing->options, start, pairing->rules->rules[rule].align);
}

/* False: another alternative of its rule matched there before. */
static bool note_start(struct pair_state *state, uint64_t start)
{
	if (state->has_last && state->last_start == start)
		return false;
	state->has_last = true;
	state->last_start = start;
	return true;
}

static void queue_header(struct pairing *pairing, const struct mark *mark)
{
	struct pair_state *state = &pairing->states[mark->rule];
	struct queued_header header = { mark->position, mark->rule, mark->pattern, mark->len, 0 };

	if (!pairing_in_range(pairing, mark->position)) {
		tally_add(pairing->skipped, "starts outside the range", 0);
		return;
	}
	if (!is_aligned(pairing, mark->rule, mark->position)) {
		tally_add(pairing->skipped, "not aligned", 0);
		return;
	}
	if (!note_start(state, mark->position))
		return;
	state->open++;
	state->header_since = true;
	fifo_push(&pairing->headers, &header);
}

static void queue_footer(struct pairing *pairing, const struct mark *mark)
{
	struct pair_state *state = &pairing->states[mark->rule];
	struct queued_footer footer = { mark->position, mark->len, 0 };

	if (!state->open)
		return;
	if (pairing->rules->rules[mark->rule].pair != PAIR_REVERSE && !state->header_since)
		return;
	state->header_since = false;
	fifo_push(&state->footers, &footer);
}

static void release_until(struct pairing *pairing, uint64_t position)
{
	struct mark mark;

	while (pop_mark(pairing, position, &mark)) {
		if (mark.header)
			queue_header(pairing, &mark);
		else
			queue_footer(pairing, &mark);
	}
	pairing->sorted = position;
}

void pairing_advance(struct pairing *pairing, uint64_t position)
{
	if (position > pairing->delay)
		release_until(pairing, position - pairing->delay);
}

void pairing_hit(struct pairing *pairing, uint64_t offset, uint32_t pattern, uint32_t match_len)
{
	pairing_checked_hit(pairing, offset, pattern, match_len, 0, 0);
}

void pairing_checked_hit(struct pairing *pairing, uint64_t offset, uint32_t pattern,
	uint32_t match_len, uint32_t rule_checked, uint32_t rejection)
{
	const struct pattern_uses *uses = &pairing->patterns[pattern];

	/* Keeps the heap small, however many hits a chunk has. */
	pairing_advance(pairing, offset);
	for (uint32_t i = 0; i < uses->count; i++) {
		const struct pattern_use *use = &pairing->uses[uses->first + i];
		const struct rule *rule = &pairing->rules->rules[use->rule];
		struct mark mark = { offset, use->rule, pattern, match_len, use->header };

		if (use->header && offset < rule->header_offset) {
			tally_add(pairing->skipped, "starts before the image", 0);
			continue;
		}
		if (use->header) {
			mark.position = offset - rule->header_offset;
			mark.len = use->rule == rule_checked ? rejection : 0;
		}
		if (mark.position == offset)
			line_push(pairing, &mark);
		else
			heap_push(pairing, &mark);
	}
}

void pairing_finish(struct pairing *pairing)
{
	release_until(pairing, UINT64_MAX);
	pairing->finished = true;
}

/* ---- step 2: deciding the front ------------------------------------------------------------ */

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* True when every footer up to H + max is known. */
static bool range_is_known(const struct pairing *pairing, const struct queued_header *header)
{
	const struct rule *rule = &pairing->rules->rules[header->rule];

	return pairing->finished || pairing->sorted > add_capped(header->start, rule->max_size);
}

/* The first footer after the start. Drops earlier ones, which no later header can use either. */
static const struct queued_footer *first_footer(struct pair_state *state, uint64_t start)
{
	const struct queued_footer *footer;

	while ((footer = fifo_front(&state->footers)) && footer->offset <= start)
		fifo_pop(&state->footers);
	return footer;
}

/* The furthest footer in (start, start + max]. */
static const struct queued_footer *last_footer(
	struct pair_state *state, uint64_t start, uint64_t max)
{
	const struct queued_footer *footer;

	while ((footer = fifo_front(&state->footers)) && footer->offset <= add_capped(start, max)) {
		state->best = *footer;
		state->has_best = true;
		fifo_pop(&state->footers);
	}
	return state->has_best && state->best.offset > start ? &state->best : NULL;
}

enum pair_result { PAIR_WAIT, PAIR_DROP, PAIR_KEEP };

static enum pair_result pair_forward(struct pairing *pairing, const struct rule *rule,
	const struct queued_header *header, struct candidate *candidate)
{
	const struct queued_footer *footer =
		first_footer(&pairing->states[header->rule], header->start);

	if (!footer && !range_is_known(pairing, header))
		return PAIR_WAIT;
	if (footer && footer->offset + footer->len - header->start <= rule->max_size) {
		candidate->length =
			footer->offset - header->start + (rule->include_footer ? footer->len : 0);
		candidate->end = END_FOOTER;
		candidate->chop = false;
		return PAIR_KEEP;
	}
	return pairing->options.both ? PAIR_KEEP : PAIR_DROP;
}

static enum pair_result pair_next(struct pairing *pairing, const struct rule *rule,
	const struct queued_header *header, struct candidate *candidate)
{
	const struct queued_footer *footer =
		first_footer(&pairing->states[header->rule], header->start);

	if (!footer && !range_is_known(pairing, header))
		return PAIR_WAIT;
	if (footer && footer->offset - header->start <= rule->max_size) {
		candidate->length =
			footer->offset - header->start + (rule->include_footer ? footer->len : 0);
		candidate->end = END_NEXT;
		candidate->chop = false;
	}
	return PAIR_KEEP;
}

static enum pair_result pair_reverse(struct pairing *pairing, const struct rule *rule,
	const struct queued_header *header, struct candidate *candidate)
{
	const struct queued_footer *footer;

	if (!range_is_known(pairing, header))
		return PAIR_WAIT;
	footer = last_footer(&pairing->states[header->rule], header->start, rule->max_size);
	if (!footer)
		return PAIR_DROP;
	candidate->length =
		footer->offset - header->start + (rule->include_footer ? footer->len : 0);
	candidate->end = END_FOOTER;
	candidate->chop = false;
	return PAIR_KEEP;
}

static enum pair_result pair_header(
	struct pairing *pairing, const struct queued_header *header, struct candidate *candidate)
{
	const struct rule *rule = &pairing->rules->rules[header->rule];

	*candidate = candidate_of_header(rule, header->rule, header->pattern, header->start);
	candidate->rejection = header->rejection;
	if (!rule_pairs(pairing, rule))
		return PAIR_KEEP;
	switch (rule->pair) {
	case PAIR_FORWARD:
		return pair_forward(pairing, rule, header, candidate);
	case PAIR_NEXT:
		return pair_next(pairing, rule, header, candidate);
	case PAIR_REVERSE:
		return pair_reverse(pairing, rule, header, candidate);
	}
	return PAIR_DROP;
}

static void pop_header(struct pairing *pairing, uint32_t rule)
{
	struct pair_state *state = &pairing->states[rule];

	fifo_pop(&pairing->headers);
	assert(state->open);
	if (--state->open == 0)
		fifo_clear(&state->footers);
}

bool pairing_next(struct pairing *pairing, struct candidate *candidate)
{
	struct queued_header *front;

	while ((front = fifo_front(&pairing->headers))) {
		struct queued_header header = *front;
		const struct rule *rule = &pairing->rules->rules[header.rule];
		enum pair_result result = pair_header(pairing, &header, candidate);

		if (result == PAIR_WAIT)
			return false;
		pop_header(pairing, header.rule);
		if (result == PAIR_KEEP && candidate->length >= rule->min_size)
			return true;
		tally_add(pairing->rejected,
			result == PAIR_DROP ? "no footer within max_size" : "shorter than min_size",
			0);
	}
	return false;
}

/* Every header is a candidate. */
static bool keeps_all(const struct pairing *pairing, uint32_t number)
{
	const struct rule *rule = &pairing->rules->rules[number];

	return !rule_pairs(pairing, rule) && rule->max_size >= rule->min_size;
}

uint64_t pairing_skip(struct pairing *pairing, uint64_t position)
{
	const struct queued_header *front;
	uint64_t count = 0;

	while ((front = fifo_front(&pairing->headers)) && front->start < position &&
		keeps_all(pairing, front->rule)) {
		pop_header(pairing, front->rule);
		count++;
	}
	return count;
}

/* ---- hits that are never given ------------------------------------------------------------- */

const struct pattern_use *pairing_uses(
	const struct pairing *pairing, uint32_t pattern, uint32_t *count)
{
	*count = pairing->patterns[pattern].count;
	return &pairing->uses[pairing->patterns[pattern].first];
}

bool pairing_is_plain(const struct pairing *pairing, uint32_t rule)
{
	return keeps_all(pairing, rule) && !pairing->rules->rules[rule].header_offset &&
	       pairing->rules->rules[rule].align <= 1 && pairing->options.align <= 1;
}

bool pairing_takes(const struct pairing *pairing, uint32_t rule, uint64_t start)
{
	return keeps_all(pairing, rule) && pairing_in_range(pairing, start) &&
	       is_aligned(pairing, rule, start);
}

uint32_t pairing_forget(struct pairing *pairing, uint64_t offset, uint32_t pattern)
{
	uint32_t count, made = 0;
	const struct pattern_use *uses = pairing_uses(pairing, pattern, &count);

	for (uint32_t i = 0; i < count; i++) {
		if (!pairing_in_range(pairing, offset))
			tally_add(pairing->skipped, "starts outside the range", 0);
		else
			made += note_start(&pairing->states[uses[i].rule], offset);
	}
	return made;
}

uint64_t pairing_reached(struct pairing *pairing)
{
	const struct queued_header *front = fifo_front(&pairing->headers);

	return front ? front->start : pairing->sorted;
}

uint64_t pairing_pending(const struct pairing *pairing)
{
	return pairing->headers.count + marks_pending(pairing);
}

/* ---- checkpoints --------------------------------------------------------------------------- */

static void save_header(void *context, const void *element)
{
	const struct queued_header *header = element;

	codec_put(context, header->start);
	codec_put(context, header->rule);
	codec_put(context, header->pattern);
}

static void put_footer(struct codec_writer *writer, const struct queued_footer *footer)
{
	codec_put(writer, footer->offset);
	codec_put(writer, footer->len);
}

static void save_footer(void *context, const void *element)
{
	put_footer(context, element);
}

static void save_rule(struct pair_state *state, struct codec_writer *writer)
{
	codec_put(writer, state->header_since);
	codec_put(writer, state->has_best);
	put_footer(writer, &state->best);
	codec_put(writer, state->has_last);
	codec_put(writer, state->last_start);
	codec_put(writer, state->footers.count);
	fifo_visit(&state->footers, save_footer, writer);
}

/* Rejections are this process's: the checks will be made again. */
static void save_mark(const struct mark *mark, struct codec_writer *writer)
{
	codec_put(writer, mark->position);
	codec_put(writer, mark->rule);
	codec_put(writer, mark->pattern);
	codec_put(writer, mark->header ? 0 : mark->len);
	codec_put(writer, mark->header);
}

void pairing_save(struct pairing *pairing, struct codec_writer *writer)
{
	codec_put(writer, pairing->sorted);
	codec_put(writer, pairing->finished);
	codec_put(writer, marks_pending(pairing));
	for (size_t i = 0; i < pairing->heap_count; i++)
		save_mark(&pairing->heap[i], writer);
	for (size_t i = pairing->line_first; i < pairing->line_end; i++)
		save_mark(&pairing->line[i], writer);
	codec_put(writer, pairing->headers.count);
	fifo_visit(&pairing->headers, save_header, writer);
	for (uint32_t r = 0; r < pairing->rules->count; r++)
		save_rule(&pairing->states[r], writer);
}

static uint32_t get_rule(const struct rules *rules, struct codec_reader *reader)
{
	return (uint32_t)codec_get(reader, rules->count - 1);
}

static uint32_t get_pattern(const struct rules *rules, struct codec_reader *reader)
{
	return (uint32_t)codec_get(reader, rules->patterns.count - 1);
}

static void load_marks(struct pairing *pairing, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT64_MAX);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		struct mark mark = { .position = codec_get(reader, OFFSET_MAX) };

		mark.rule = get_rule(pairing->rules, reader);
		mark.pattern = get_pattern(pairing->rules, reader);
		mark.len = (uint32_t)codec_get(reader, UINT32_MAX);
		mark.header = codec_get_flag(reader);
		if (mark.header)
			mark.len = 0;
		if (!codec_ok(reader))
			break;
		heap_push(pairing, &mark);
	}
}

static void load_headers(struct pairing *pairing, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT64_MAX);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		struct queued_header header = { .start = codec_get(
							reader, pairing->options.range_end - 1) };

		header.rule = get_rule(pairing->rules, reader);
		header.pattern = get_pattern(pairing->rules, reader);
		if (!codec_ok(reader))
			break;
		pairing->states[header.rule].open++;
		fifo_push(&pairing->headers, &header);
	}
}

static struct queued_footer get_footer(struct codec_reader *reader)
{
	struct queued_footer footer = { .offset = codec_get(reader, OFFSET_MAX) };

	footer.len = (uint32_t)codec_get(reader, UINT32_MAX);
	return footer;
}

static void load_rule(struct pair_state *state, struct codec_reader *reader)
{
	uint64_t count;

	state->header_since = codec_get_flag(reader);
	state->has_best = codec_get_flag(reader);
	state->best = get_footer(reader);
	state->has_last = codec_get_flag(reader);
	state->last_start = codec_get(reader, OFFSET_MAX);
	count = codec_get(reader, UINT64_MAX);
	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		struct queued_footer footer = get_footer(reader);

		if (codec_ok(reader))
			fifo_push(&state->footers, &footer);
	}
}

void pairing_load(struct pairing *pairing, struct codec_reader *reader)
{
	pairing->sorted = codec_get(reader, UINT64_MAX);
	pairing->finished = codec_get_flag(reader);
	load_marks(pairing, reader);
	load_headers(pairing, reader);
	for (uint32_t r = 0; r < pairing->rules->count && codec_ok(reader); r++)
		load_rule(&pairing->states[r], reader);
}
