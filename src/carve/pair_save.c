/* The pairing's state in a checkpoint: its heap, its queues, and what it keeps for each rule. */
#include "carve/pair_state.h"

#include "base/memory.h"

/* No image is larger: offsets and lengths must have room to be added. */
#define MOST_OFFSET ((uint64_t)INT64_MAX)

static void save_header(void *context, const void *element)
{
	const struct header *header = element;

	codec_put(context, header->start);
	codec_put(context, header->rule);
	codec_put(context, header->pattern);
}

static void put_footer(struct codec_writer *writer, const struct footer *footer)
{
	codec_put(writer, footer->offset);
	codec_put(writer, footer->len);
}

static void save_footer(void *context, const void *element)
{
	put_footer(context, element);
}

static void save_rule(struct rule_state *state, struct codec_writer *writer)
{
	codec_put(writer, state->header_since);
	codec_put(writer, state->has_best);
	put_footer(writer, &state->best);
	codec_put(writer, state->has_last);
	codec_put(writer, state->last_start);
	codec_put(writer, state->footers.count);
	fifo_visit(&state->footers, save_footer, writer);
}

void pairing_save(struct pairing *pairing, struct codec_writer *writer)
{
	codec_put(writer, pairing->settled);
	codec_put(writer, pairing->finished);
	codec_put(writer, pairing->heap_count);
	for (size_t i = 0; i < pairing->heap_count; i++) {
		const struct event *event = &pairing->heap[i];

		codec_put(writer, event->position);
		codec_put(writer, event->rule);
		codec_put(writer, event->pattern);
		codec_put(writer, event->len);
		codec_put(writer, event->header);
	}
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

/* The heap was one when it was saved, and stays one in the same order. */
static void load_heap(struct pairing *pairing, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT64_MAX);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		struct event event = { .position = codec_get(reader, MOST_OFFSET) };

		event.rule = get_rule(pairing->rules, reader);
		event.pattern = get_pattern(pairing->rules, reader);
		event.len = (uint32_t)codec_get(reader, UINT32_MAX);
		event.header = codec_get_flag(reader);
		if (!codec_ok(reader))
			break;
		pairing->heap = xgrow(pairing->heap, &pairing->heap_capacity, pairing->heap_count,
			sizeof(*pairing->heap));
		pairing->heap[pairing->heap_count++] = event;
	}
}

static void load_headers(struct pairing *pairing, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT64_MAX);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		struct header header = { .start = codec_get(
						 reader, pairing->options.range_end - 1) };

		header.rule = get_rule(pairing->rules, reader);
		header.pattern = get_pattern(pairing->rules, reader);
		if (!codec_ok(reader))
			break;
		pairing->states[header.rule].open++;
		fifo_push(&pairing->headers, &header);
	}
}

static struct footer get_footer(struct codec_reader *reader)
{
	struct footer footer = { .offset = codec_get(reader, MOST_OFFSET) };

	footer.len = (uint32_t)codec_get(reader, UINT32_MAX);
	return footer;
}

static void load_rule(struct rule_state *state, struct codec_reader *reader)
{
	uint64_t count;

	state->header_since = codec_get_flag(reader);
	state->has_best = codec_get_flag(reader);
	state->best = get_footer(reader);
	state->has_last = codec_get_flag(reader);
	state->last_start = codec_get(reader, MOST_OFFSET);
	count = codec_get(reader, UINT64_MAX);
	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		struct footer footer = get_footer(reader);

		if (codec_ok(reader))
			fifo_push(&state->footers, &footer);
	}
}

void pairing_load(struct pairing *pairing, struct codec_reader *reader)
{
	pairing->settled = codec_get(reader, UINT64_MAX);
	pairing->finished = codec_get_flag(reader);
	load_heap(pairing, reader);
	load_headers(pairing, reader);
	for (uint32_t r = 0; r < pairing->rules->count && codec_ok(reader); r++)
		load_rule(&pairing->states[r], reader);
}

void candidate_save(const struct candidate *candidate, struct codec_writer *writer)
{
	codec_put(writer, candidate->start);
	codec_put(writer, candidate->length);
	codec_put(writer, candidate->rule);
	codec_put(writer, candidate->pattern);
	codec_put(writer, candidate->end);
	codec_put(writer, candidate->chop);
}

void candidate_load(struct candidate *candidate, const struct rules *rules, uint64_t limit,
	struct codec_reader *reader)
{
	candidate->start = codec_get(reader, limit - 1);
	candidate->length = codec_get(reader, UINT64_MAX);
	candidate->rule = get_rule(rules, reader);
	candidate->pattern = get_pattern(rules, reader);
	candidate->end = (enum file_end)codec_get(reader, END_IMAGE);
	candidate->chop = codec_get_flag(reader);
}
