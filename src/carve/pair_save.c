/* The pairing's state in a checkpoint: its heap, its queues, and what it keeps for each rule. */
#include "carve/pair_state.h"

#include "base/memory.h"

/* No image is larger: offsets and lengths must have room to be added. */
#define MOST_OFFSET ((uint64_t)INT64_MAX)

static void save_header(void *context, const void *element)
{
	const struct header *header = element;

	state_put(context, header->start);
	state_put(context, header->rule);
	state_put(context, header->pattern);
}

static void put_footer(struct state_writer *writer, const struct footer *footer)
{
	state_put(writer, footer->offset);
	state_put(writer, footer->len);
}

static void save_footer(void *context, const void *element)
{
	put_footer(context, element);
}

static void save_rule(struct rule_state *state, struct state_writer *writer)
{
	state_put(writer, state->header_since);
	state_put(writer, state->has_best);
	put_footer(writer, &state->best);
	state_put(writer, state->has_last);
	state_put(writer, state->last_start);
	state_put(writer, state->footers.count);
	fifo_visit(&state->footers, save_footer, writer);
}

void pairing_save(struct pairing *pairing, struct state_writer *writer)
{
	state_put(writer, pairing->settled);
	state_put(writer, pairing->finished);
	state_put(writer, pairing->heap_count);
	for (size_t i = 0; i < pairing->heap_count; i++) {
		const struct event *event = &pairing->heap[i];

		state_put(writer, event->position);
		state_put(writer, event->rule);
		state_put(writer, event->pattern);
		state_put(writer, event->len);
		state_put(writer, event->header);
	}
	state_put(writer, pairing->headers.count);
	fifo_visit(&pairing->headers, save_header, writer);
	for (uint32_t r = 0; r < pairing->rules->count; r++)
		save_rule(&pairing->states[r], writer);
}

static uint32_t get_rule(const struct rules *rules, struct state_reader *reader)
{
	return (uint32_t)state_get(reader, rules->count - 1);
}

static uint32_t get_pattern(const struct rules *rules, struct state_reader *reader)
{
	return (uint32_t)state_get(reader, rules->patterns.count - 1);
}

/* The heap was one when it was saved, and stays one in the same order. */
static void load_heap(struct pairing *pairing, struct state_reader *reader)
{
	uint64_t count = state_get(reader, UINT64_MAX);

	for (uint64_t i = 0; i < count && state_ok(reader); i++) {
		struct event event = { .position = state_get(reader, MOST_OFFSET) };

		event.rule = get_rule(pairing->rules, reader);
		event.pattern = get_pattern(pairing->rules, reader);
		event.len = (uint32_t)state_get(reader, UINT32_MAX);
		event.header = state_get_flag(reader);
		if (!state_ok(reader))
			break;
		pairing->heap = xgrow(pairing->heap, &pairing->heap_capacity, pairing->heap_count,
			sizeof(*pairing->heap));
		pairing->heap[pairing->heap_count++] = event;
	}
}

static void load_headers(struct pairing *pairing, struct state_reader *reader)
{
	uint64_t count = state_get(reader, UINT64_MAX);

	for (uint64_t i = 0; i < count && state_ok(reader); i++) {
		struct header header = { .start = state_get(
						 reader, pairing->options.range_end - 1) };

		header.rule = get_rule(pairing->rules, reader);
		header.pattern = get_pattern(pairing->rules, reader);
		if (!state_ok(reader))
			break;
		pairing->states[header.rule].open++;
		fifo_push(&pairing->headers, &header);
	}
}

static struct footer get_footer(struct state_reader *reader)
{
	struct footer footer = { .offset = state_get(reader, MOST_OFFSET) };

	footer.len = (uint32_t)state_get(reader, UINT32_MAX);
	return footer;
}

static void load_rule(struct rule_state *state, struct state_reader *reader)
{
	uint64_t count;

	state->header_since = state_get_flag(reader);
	state->has_best = state_get_flag(reader);
	state->best = get_footer(reader);
	state->has_last = state_get_flag(reader);
	state->last_start = state_get(reader, MOST_OFFSET);
	count = state_get(reader, UINT64_MAX);
	for (uint64_t i = 0; i < count && state_ok(reader); i++) {
		struct footer footer = get_footer(reader);

		if (state_ok(reader))
			fifo_push(&state->footers, &footer);
	}
}

void pairing_load(struct pairing *pairing, struct state_reader *reader)
{
	pairing->settled = state_get(reader, UINT64_MAX);
	pairing->finished = state_get_flag(reader);
	load_heap(pairing, reader);
	load_headers(pairing, reader);
	for (uint32_t r = 0; r < pairing->rules->count && state_ok(reader); r++)
		load_rule(&pairing->states[r], reader);
}

void candidate_save(const struct candidate *candidate, struct state_writer *writer)
{
	state_put(writer, candidate->start);
	state_put(writer, candidate->length);
	state_put(writer, candidate->rule);
	state_put(writer, candidate->pattern);
	state_put(writer, candidate->end);
	state_put(writer, candidate->chop);
}

void candidate_load(struct candidate *candidate, const struct rules *rules, uint64_t limit,
	struct state_reader *reader)
{
	candidate->start = state_get(reader, limit - 1);
	candidate->length = state_get(reader, UINT64_MAX);
	candidate->rule = get_rule(rules, reader);
	candidate->pattern = get_pattern(rules, reader);
	candidate->end = (enum file_end)state_get(reader, END_IMAGE);
	candidate->chop = state_get_flag(reader);
}
