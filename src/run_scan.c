/*
 * The conductor's thread does everything that must happen in order: it takes slots from the reader, hands them to the engine, gives the hits of
 * finished chunks to the pairing in order of the image, and settled candidates to the carving stage. All that takes time
 * runs elsewhere: reading in the reader's threads, searching, checking and writing in the pool's.
 *
 * Chunks in flight form a ring of as many places as the reader has slots. Chunks may finish in any order and are consumed in order. One whose
 * hits did not fit is consumed as far as it got and submitted again from there, while those behind it wait.
 */
#include "run_state.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Engines look at bytes alone, so where one found nothing in zeros, nobody finds anything in as many
 * of them elsewhere: only the first slot of its size that lies in a hole is searched. */
static bool is_barren(const struct run *run, const struct slot *slot)
{
	return slot->hole && slot->len == run->barren_len && slot->tail_len == run->barren_tail_len;
}

static void note_barren(struct run *run, const struct flight *flight)
{
	const struct chunk *chunk = &flight->chunk;

	if (!flight->slot->hole || chunk->from || chunk->until < chunk->len || chunk->hit_count)
		return;
	run->barren_len = chunk->len;
	run->barren_tail_len = chunk->tail_len;
}

static int pass_over(struct flight *flight)
{
	flight->chunk.until = flight->chunk.len;
	flight->chunk.hit_count = 0;
	flight->chunk.status = 0;
	flight->finished = true;
	return 0;
}

static int submit_slot(struct run *run, struct slot *slot)
{
	struct flight *flight = run_flight(run, run->submitted++);

	flight->slot = slot;
	flight->chunk.data = slot->data;
	flight->chunk.offset = slot->offset;
	flight->chunk.len = slot->len;
	flight->chunk.tail_len = slot->tail_len;
	flight->chunk.from = 0;
	run_hash_slot(run, slot);
	return is_barren(run, slot) ? pass_over(flight) : run_submit(run, flight);
}

/* The engine had no room for the last slot; perhaps it has now. */
static int offer_again(struct run *run)
{
	int status = run->refused ? run_submit(run, run_flight(run, run->submitted - 1)) : 0;

	run->refused = status == -EAGAIN;
	return run->refused ? 0 : status;
}

/* Takes the next slot from the reader and gives it to the engine. */
static int feed_slot(struct run *run)
{
	double from = run_clock();
	struct slot *slot;
	int status = reader_next(run->reader, &slot);

	run->read_wait += run_clock() - from;
	if (status < 0)
		return error_set(&run->error, EXIT_IO, -status, "the reader of %s broke down: %s",
			run->record.image_path, strerror(-status));
	if (status == 0) {
		run->read_all = true;
		return 0;
	}
	status = submit_slot(run, slot);
	run->refused = status == -EAGAIN;
	return run->refused ? 0 : status;
}

/* Hands read slots to the engine; waits for one only when the engine has nothing to do. */
static int feed(struct run *run)
{
	int status = offer_again(run);

	while (!status && !run->read_all && !run->refused &&
		run->submitted - run->released < run->flight_count) {
		if (run->submitted > run->consumed && !reader_ready(run->reader))
			return 0;
		status = feed_slot(run);
	}
	if (status && !run->error.code)
		error_set(&run->error, EXIT_IO, -status, "the engine %s refused a chunk: %s",
			run->engine->name, strerror(-status));
	return status;
}

static uint32_t match_len(const struct run *run, const struct chunk *chunk, const struct hit *hit)
{
	const struct pattern *pattern = &run->options->rules->patterns.patterns[hit->pattern];
	size_t at = (size_t)(hit->offset - chunk->offset);

	if (!pattern->regex)
		return pattern->len;
	return (uint32_t)pattern_match_len(pattern, chunk->data + at,
		chunk->len + chunk->tail_len - at);
}

static void pair_hits(struct run *run, const struct chunk *chunk)
{
	for (size_t i = 0; i < chunk->hit_count; i++) {
		const struct hit *hit = &chunk->hits[i];
		uint32_t len = 0;

		if (pairing_wants_length(run->pairing, hit->pattern))
			len = match_len(run, chunk, hit);
		pairing_hit(run->pairing, hit->offset, hit->pattern, len);
		if (run->order)
			scalpel_order_hit(run->order, hit->offset, hit->pattern);
	}
	run->summary.hits += chunk->hit_count;
	pairing_advance(run->pairing, chunk->offset + chunk->until);
}

/* The next candidate for the carving stage. With Scalpel's order only when all are known. */
static bool next_candidate(struct run *run, bool all_known)
{
	if (!run->order)
		return pairing_next(run->pairing, &run->pending);
	while (pairing_next(run->pairing, &run->pending))
		scalpel_order_add(run->order, &run->pending);
	return all_known && scalpel_order_next(run->order, &run->pending);
}

static int carving_failed(struct run *run, int status)
{
	run->error = *carving_error(run->carving);
	return status;
}

/* Gives settled candidates to the carving stage. -EAGAIN is no failure: the rest comes later. */
static int carve_settled(struct run *run, bool all_known)
{
	int status = 0;

	while (!status && !run_caught_signal()) {
		if (!run->has_pending)
			run->has_pending = next_candidate(run, all_known);
		if (!run->has_pending) {
			if (!run->order)
				carving_offered_until(run->carving, pairing_reached(run->pairing));
			break;
		}
		status = carving_offer(run->carving, &run->pending);
		if (!status)
			run->has_pending = false;
	}
	if (status == -EAGAIN)
		status = 0;
	if (status)
		return carving_failed(run, status);
	return fifo_store_status(run->store, &run->error);
}

/* Lines of the report reach the disk within about a second, also where nothing more is found. */
static int flush_report(struct run *run)
{
	double now = run_clock();

	if (now - run->flushed < 1)
		return 0;
	run->flushed = now;
	return carving_flush(run->carving, &run->error);
}

/* Uses a finished chunk's hits, and takes the next step with it. */
static int consume(struct run *run, struct flight *flight)
{
	struct chunk *chunk = &flight->chunk;
	uint64_t position;
	int status;

	if (chunk->status)
		return run_replace_engine(run, chunk->status);
	pair_hits(run, chunk);
	position = run->position = chunk->offset + chunk->until;
	run_note_unread(run);
	if (chunk->until < chunk->len) {
		chunk->from = chunk->until;
		status = run_submit_again(run, flight);
		if (status)
			return status;
	} else {
		note_barren(run, flight);
		run->consumed++;
		run_release_slots(run);
	}
	status = carve_settled(run, false);
	if (status)
		return status;
	status = carving_scanned(run->carving, position);
	if (status)
		return carving_failed(run, status);
	run->summary.scanned = position - run->range_start;
	progress_update(run->progress, run->summary.scanned);
	status = flush_report(run);
	return status ? status : run_pause(run, &run->error);
}

static int scan_all(struct run *run)
{
	int status = 0;

	while (!status && !run_caught_signal()) {
		struct flight *flight;

		run_release_slots(run);
		status = feed(run);
		if (status)
			break;
		if (run->submitted == run->consumed) {
			if (run->read_all)
				break;
			run_await_hashing(run); /* the hashing threads have the whole ring */
			continue;
		}
		flight = run_flight(run, run->consumed);
		status = run_await(run, flight);
		if (status)
			return error_set(&run->error, EXIT_IO, -status,
				"the engine %s lost a chunk: %s", run->engine->name, strerror(-status));
		status = consume(run, flight);
	}
	return status;
}

static int finish_carving(struct run *run)
{
	int status;

	pairing_finish(run->pairing);
	status = carving_scanned(run->carving, UINT64_MAX);
	if (!status)
		status = carve_settled(run, true);
	if (status)
		return run->error.code ? status : carving_failed(run, status);
	if (run->has_pending && !run_caught_signal())
		return error_set(&run->error, EXIT_IO, EAGAIN,
			"a fault in burin: it could not decide on what starts at byte %" PRIu64
			" and behind",
			run->pending.start);
	if (run_caught_signal())
		return 0;
	status = carving_finish(run->carving);
	return status ? carving_failed(run, status) : 0;
}

int run_scan(struct run *run)
{
	int status = run->read_all ? 0 : scan_all(run);

	if (!status && !run_caught_signal())
		status = finish_carving(run);
	run_finish_hashing(run);
	return status;
}
