#include "run/candidates.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "carve/fifo.h"
#include "carve/held_hits.h"
#include "carve/pair.h"
#include "carve/scalpel_order.h"
#include "run/signals.h"

/* Bytes of queued candidates that stay in memory. */
#define MEMORY_LEN ((size_t)64 * 1024 * 1024)
/* The most candidates that are held back (carving_holds). */
#define HELD_MAX ((uint64_t)1 << 20)

struct candidates {
	struct candidates_options options;
	struct fifo_store *store;
	struct pairing *pairing;
	bool *want_lengths;          /* by pattern */
	struct held_hits *held_hits; /* NULL: hits are paired at once */
	struct scalpel_order *order; /* NULL without --compat scalpel */
	bool finished;               /* all hits were given */
	bool has_next;
	bool held;             /* that is for the best */
	struct candidate next; /* the carving stage could not take it yet */
	bool has_early;
	struct candidate early; /* the same of one that may be checked early */
};

static struct pairing_options pairing_options(const struct candidates_options *given)
{
	const struct run_options *options = given->options;
	const struct scope *scope = given->scope;

	return (struct pairing_options){
		/* Foremost carves max_size bytes where a forward rule finds no footer. */
		.both = options->both || options->rules->format == RULES_FOREMOST,
		.align = options->align,
		.scalpel = options->scalpel,
		.precheck = given->precheck,
		.range_start = given->begin > scope->begin ? given->begin : scope->begin,
		.range_end = scope->end,
		.to_evidence = scope_evidence_offset,
		.context = scope,
	};
}

int candidates_new(
	struct candidates **result, const struct candidates_options *options, struct error *error)
{
	const struct pairing_options pairing = pairing_options(options);
	const struct rules *rules = options->options->rules;
	struct candidates *candidates = xcalloc(1, sizeof(*candidates));
	int status = 0;

	candidates->options = *options;
	candidates->store = fifo_store_new(options->create_spill ? MEMORY_LEN : SIZE_MAX,
		options->create_spill, options->context);
	candidates->pairing = pairing_new(
		rules, &pairing, candidates->store, options->rejected, options->skipped);
	candidates->want_lengths =
		xcalloc(rules->patterns.count + 1, sizeof(*candidates->want_lengths));
	for (uint32_t i = 0; i < rules->patterns.count; i++)
		candidates->want_lengths[i] = pairing_wants_length(candidates->pairing, i);
	if (options->options->scalpel && !options->precheck)
		status = scalpel_order_new(&candidates->order, rules, candidates->store, error);
	if (!options->options->scalpel && !options->precheck && rules_have_carver(rules))
		candidates->held_hits = held_hits_new(rules, candidates->pairing);
	if (status)
		candidates_free(candidates);
	else
		*result = candidates;
	return status;
}

void candidates_hit(struct candidates *candidates, uint64_t offset, uint32_t pattern, uint32_t len)
{
	candidates_checked_hit(candidates, offset, pattern, len, 0, 0);
}

void candidates_checked_hit(struct candidates *candidates, uint64_t offset, uint32_t pattern,
	uint32_t len, uint32_t rule, uint32_t rejection)
{
	if (candidates->held_hits)
		held_hits_add(candidates->held_hits, offset, pattern, len, rule, rejection);
	else
		pairing_checked_hit(candidates->pairing, offset, pattern, len, rule, rejection);
	if (candidates->order)
		scalpel_order_hit(candidates->order, offset, pattern);
}

const bool *candidates_want_lengths(const struct candidates *candidates)
{
	return candidates->want_lengths;
}

void candidates_advance(struct candidates *candidates, uint64_t position)
{
	if (candidates->held_hits)
		held_hits_advance(candidates->held_hits, position);
	else
		pairing_advance(candidates->pairing, position);
}

void candidates_finish(struct candidates *candidates)
{
	if (candidates->held_hits)
		held_hits_finish(candidates->held_hits);
	else
		pairing_finish(candidates->pairing);
	candidates->finished = true;
}

/* In Scalpel's order the first candidate is known only when all are. */
static bool take_next(struct candidates *candidates)
{
	if (candidates->held_hits) {
		while (!pairing_next(candidates->pairing, &candidates->next))
			if (!held_hits_pair(candidates->held_hits))
				return false;
		return true;
	}
	if (!candidates->order)
		return pairing_next(candidates->pairing, &candidates->next);
	while (pairing_next(candidates->pairing, &candidates->next))
		scalpel_order_add(candidates->order, &candidates->next);
	return candidates->finished && scalpel_order_next(candidates->order, &candidates->next);
}

static void offer_early(struct candidates *candidates, struct carving *carving)
{
	while (candidates->has_early || (candidates->has_early = held_hits_next_early(
						 candidates->held_hits, &candidates->early))) {
		if (!carving_offer_early(carving, &candidates->early))
			return;
		candidates->has_early = false;
	}
}

/* What is hidden already is only counted. */
static void skip_hidden(struct candidates *candidates, struct carving *carving)
{
	uint64_t until = carving_hidden_until(carving);
	uint64_t count = pairing_skip(candidates->pairing, until);

	carving_skip_hidden(carving, until, count + held_hits_skip(candidates->held_hits, until));
}

static bool is_held(const struct candidates *candidates, struct carving *carving)
{
	return candidates->held_hits && !candidates->finished &&
	       held_hits_count(candidates->held_hits) < HELD_MAX &&
	       carving_holds(carving, &candidates->next);
}

int candidates_offer(struct candidates *candidates, struct carving *carving, struct error *error)
{
	int status = 0;

	candidates->held = false;
	if (candidates->held_hits)
		offer_early(candidates, carving);
	while (!status && !signals_caught()) {
		if (!candidates->has_next && candidates->held_hits)
			skip_hidden(candidates, carving);
		if (!candidates->has_next)
			candidates->has_next = take_next(candidates);
		if (!candidates->has_next) {
			if (!candidates->order)
				carving_set_offered_until(carving, candidates_reached(candidates));
			break;
		}
		if (is_held(candidates, carving)) {
			candidates->held = true;
			break;
		}
		status = carving_offer(carving, &candidates->next);
		if (!status)
			candidates->has_next = false;
	}
	if (status && status != -EAGAIN) {
		*error = *carving_error(carving);
		return status;
	}
	return fifo_store_status(candidates->store, error);
}

const struct candidate *candidates_refused(const struct candidates *candidates)
{
	return candidates->has_next && !candidates->held ? &candidates->next : NULL;
}

uint64_t candidates_reached(const struct candidates *candidates)
{
	return pairing_reached(candidates->pairing);
}

uint64_t candidates_waiting(const struct candidates *candidates)
{
	uint64_t count = candidates->has_next;

	if (candidates->held_hits)
		held_hits_pair_all(candidates->held_hits);
	count += pairing_pending(candidates->pairing);
	if (candidates->order)
		count += scalpel_order_pending(candidates->order);
	return count;
}

void candidates_save(struct candidates *candidates, struct codec_writer *writer)
{
	if (candidates->held_hits)
		held_hits_pair_all(candidates->held_hits);
	pairing_save(candidates->pairing, writer);
	if (candidates->order)
		scalpel_order_save(candidates->order, writer);
	codec_put(writer, candidates->has_next);
	if (candidates->has_next)
		candidate_save(&candidates->next, writer);
	codec_writer_fail(writer, fifo_store_status(candidates->store, NULL));
}

int candidates_load(struct candidates *candidates, struct codec_reader *reader, struct error *error)
{
	uint64_t size = image_info(candidates->options.scope->image)->size;

	pairing_load(candidates->pairing, reader);
	if (candidates->order)
		scalpel_order_load(candidates->order, size, reader);
	candidates->has_next = codec_get_flag(reader);
	if (candidates->has_next)
		candidate_load(&candidates->next, candidates->options.options->rules, size, reader);
	return fifo_store_status(candidates->store, error);
}

void candidates_free(struct candidates *candidates)
{
	if (!candidates)
		return;
	scalpel_order_free(candidates->order);
	held_hits_free(candidates->held_hits);
	free(candidates->want_lengths);
	pairing_free(candidates->pairing);
	fifo_store_free(candidates->store);
	free(candidates);
}
