/*
 * Scalpel reads the image in buffers of 10 MiB that overlap by the longest pattern less one
 * byte. In a buffer it looks for a rule's footers only when the rule has had a header, and the
 * last one is in this buffer or less than the maximum size before it. A footer that is recorded
 * after a header, but too far from it, makes the Chop column YES; a header with no recorded footer
 * after it has NO, though it is cut at the same length. The column is part of the audit that labs
 * compare, so it is reproduced: for every rule the last recorded footer is kept, which is enough to
 * know whether any comes after a header.
 */
#include "carve/scalpel_order.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

#define SCALPEL_BUFFER ((uint64_t)10 * 1024 * 1024)

struct rule_record {
	struct fifo candidates;
	uint64_t last_header; /* offset of the last header; valid when has_header */
	uint64_t
		buffer_footer; /* the last footer in the current buffer; valid when has_buffer_footer */
	uint64_t last_footer; /* the last that Scalpel recorded; valid when has_footer */
	bool has_header, has_buffer_footer, has_footer;
};

struct scalpel_order {
	const struct rules *rules;
	struct rule_record *records;
	uint64_t step; /* from one buffer's start to the next */
	uint64_t buffer_start;
	uint32_t next_rule; /* when the candidates are taken out */
};

static const char *unknown_to_scalpel(const struct rule *rule)
{
	if (rule->carver)
		return "carver";
	if (rule->length.width)
		return "length";
	if (rule->must_count)
		return "must";
	if (rule->header_offset)
		return "header_offset";
	return NULL;
}

int scalpel_order_new(struct scalpel_order **order, const struct rules *rules,
	struct fifo_store *store, struct error *error)
{
	struct scalpel_order *new;

	for (uint32_t r = 0; r < rules->count; r++) {
		const struct rule *rule = &rules->rules[r];
		const char *unknown = unknown_to_scalpel(rule);

		if (unknown)
			return error_set(error, EXIT_USAGE, EINVAL,
				"%s:%u: the rule '%s' uses %s, which Scalpel does not have; "
				"--compat scalpel accepts only what Scalpel's rule files can "
				"express",
				rule->file, rule->line, rule->name, unknown);
	}
	new = xcalloc(1, sizeof(*new));
	new->rules = rules;
	new->records = xcalloc(rules->count, sizeof(*new->records));
	new->step = SCALPEL_BUFFER - (rules->patterns.longest - 1) % SCALPEL_BUFFER;
	for (uint32_t r = 0; r < rules->count; r++)
		fifo_init(&new->records[r].candidates, store, sizeof(struct candidate));
	*order = new;
	return 0;
}

void scalpel_order_free(struct scalpel_order *order)
{
	if (!order)
		return;
	for (uint32_t r = 0; r < order->rules->count; r++)
		fifo_clear(&order->records[r].candidates);
	free(order->records);
	free(order);
}

static void end_buffer(struct scalpel_order *order)
{
	for (uint32_t r = 0; r < order->rules->count; r++) {
		struct rule_record *record = &order->records[r];
		uint64_t max = order->rules->rules[r].max_size;

		if (record->has_buffer_footer && record->has_header &&
			(record->last_header > order->buffer_start ||
				order->buffer_start - record->last_header < max)) {
			record->last_footer = record->buffer_footer;
			record->has_footer = true;
		}
		record->has_buffer_footer = false;
	}
}

static bool uses(const uint32_t *patterns, uint32_t count, uint32_t pattern)
{
	for (uint32_t i = 0; i < count; i++)
		if (patterns[i] == pattern)
			return true;
	return false;
}

void scalpel_order_hit(struct scalpel_order *order, uint64_t offset, uint32_t pattern)
{
	while (offset >= order->buffer_start + order->step) {
		end_buffer(order);
		order->buffer_start += order->step;
	}
	for (uint32_t r = 0; r < order->rules->count; r++) {
		const struct rule *rule = &order->rules->rules[r];
		struct rule_record *record = &order->records[r];

		if (uses(rule->headers, rule->header_count, pattern)) {
			record->last_header = offset;
			record->has_header = true;
		}
		if (uses(rule->footers, rule->footer_count, pattern)) {
			record->buffer_footer = offset;
			record->has_buffer_footer = true;
		}
	}
}

void scalpel_order_add(struct scalpel_order *order, const struct candidate *candidate)
{
	fifo_push(&order->records[candidate->rule].candidates, candidate);
}

bool scalpel_order_next(struct scalpel_order *order, struct candidate *candidate)
{
	if (order->next_rule == 0)
		end_buffer(order);
	for (; order->next_rule < order->rules->count; order->next_rule++) {
		struct rule_record *record = &order->records[order->next_rule];
		const struct candidate *front = fifo_front(&record->candidates);

		if (!front)
			continue;
		*candidate = *front;
		fifo_pop(&record->candidates);
		if (candidate->end == END_MAX_SIZE &&
			order->rules->rules[candidate->rule].footer_count)
			candidate->chop =
				record->has_footer && record->last_footer > candidate->start;
		return true;
	}
	return false;
}

uint64_t scalpel_order_pending(const struct scalpel_order *order)
{
	uint64_t count = 0;

	for (uint32_t r = 0; r < order->rules->count; r++)
		count += order->records[r].candidates.count;
	return count;
}

static void save_candidate(void *context, const void *element)
{
	candidate_save(element, context);
}

void scalpel_order_save(struct scalpel_order *order, struct codec_writer *writer)
{
	codec_put(writer, order->buffer_start / order->step);
	codec_put(writer, order->next_rule);
	for (uint32_t r = 0; r < order->rules->count; r++) {
		struct rule_record *record = &order->records[r];

		codec_put(writer, record->last_header);
		codec_put(writer, record->buffer_footer);
		codec_put(writer, record->last_footer);
		codec_put(writer, record->has_header);
		codec_put(writer, record->has_buffer_footer);
		codec_put(writer, record->has_footer);
		codec_put(writer, record->candidates.count);
		fifo_visit(&record->candidates, save_candidate, writer);
	}
}

static void load_record(
	struct scalpel_order *order, uint32_t r, uint64_t limit, struct codec_reader *reader)
{
	struct rule_record *record = &order->records[r];
	uint64_t count;

	record->last_header = codec_get(reader, limit);
	record->buffer_footer = codec_get(reader, limit);
	record->last_footer = codec_get(reader, limit);
	record->has_header = codec_get_flag(reader);
	record->has_buffer_footer = codec_get_flag(reader);
	record->has_footer = codec_get_flag(reader);
	count = codec_get(reader, UINT64_MAX);
	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		struct candidate candidate = { 0 };

		candidate_load(&candidate, order->rules, limit, reader);
		if (candidate.rule != r)
			codec_fail(reader);
		if (codec_ok(reader))
			fifo_push(&record->candidates, &candidate);
	}
}

void scalpel_order_load(struct scalpel_order *order, uint64_t limit, struct codec_reader *reader)
{
	order->buffer_start = codec_get(reader, limit / order->step) * order->step;
	order->next_rule = (uint32_t)codec_get(reader, order->rules->count);
	for (uint32_t r = 0; r < order->rules->count && codec_ok(reader); r++)
		load_record(order, r, limit, reader);
}
