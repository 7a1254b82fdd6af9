/*
 * Searching: slots go from the reader to the engine, and the hits of finished chunks, in order of
 * the image, to whoever takes them (struct run_taker): the pairing, or the process that does it for
 * many (run/run_help.c).
 *
 * Chunks in flight form a ring of as many places as the reader has slots. Chunks may finish in any
 * order and are consumed in order. One whose hits did not fit is consumed as far as it got and
 * submitted again from there, while those behind it wait.
 */
#include "run/run_state.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"

/* Engines look at bytes alone, so where one found nothing in zeros, nobody finds anything in as
 * many of them elsewhere: only the first slot of its size that lies in a hole is searched. */
static bool is_barren(const struct run *run, const struct reader_slot *slot)
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

static int submit_slot(struct run *run, struct reader_slot *slot)
{
	struct flight *flight = run_flight(run, run->submitted++);

	flight->slot = slot;
	flight->chunk.data = slot->data;
	flight->chunk.offset = slot->offset;
	flight->chunk.len = slot->len;
	flight->chunk.tail_len = slot->tail_len;
	flight->chunk.from = 0;
	run_hash_slot(run, slot);
	run_map_slot(run, slot);
	return is_barren(run, slot) ? pass_over(flight) : run_submit(run, flight);
}

/* The engine had no room for the last slot; perhaps it has now. */
static int offer_again(struct run *run)
{
	int status = run->refused ? run_submit(run, run_flight(run, run->submitted - 1)) : 0;

	run->refused = status == -EAGAIN;
	return run->refused ? 0 : status;
}

/* The reader has come to its range's end. -ENODATA: whether there is another is known later. */
static int go_on(struct run *run)
{
	enum run_more more = RUN_MORE_NONE;
	struct range range;

	if (run->taker->more)
		more = run->taker->more(run, run->submitted == run->consumed, &range);
	if (more == RUN_MORE_LATER)
		return -ENODATA;
	if (more == RUN_MORE_RANGE)
		return reader_continue(run->reader, range.offset, range.length, &run->error);
	run->read_all = true;
	return 0;
}

/* Takes the next slot from the reader and gives it to the engine. */
static int feed_slot(struct run *run)
{
	double from = clock_seconds();
	struct reader_slot *slot;
	int status = reader_next(run->reader, &slot);

	run->read_wait += clock_seconds() - from;
	if (status < 0)
		return error_set(&run->error, EXIT_IO, -status, "the reader of %s broke down: %s",
			run->record.image_path, strerror(-status));
	if (status == 0)
		return go_on(run);
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
	if (status == -ENODATA)
		return 0;
	if (status && !run->error.code)
		error_set(&run->error, EXIT_IO, -status, "the engine %s refused a chunk: %s",
			run->engine->name, strerror(-status));
	return status;
}

uint32_t run_match_len(const struct run *run, const struct chunk *chunk, const struct hit *hit)
{
	const struct pattern *pattern = &run->options->rules->patterns.patterns[hit->pattern];
	size_t at = (size_t)(hit->offset - chunk->offset);

	if (!pattern->regex)
		return pattern->len;
	return (uint32_t)pattern_match_len(
		pattern, chunk->data + at, chunk->len + chunk->tail_len - at);
}

/* Uses a finished chunk's hits, and takes the next step with it. */
static int consume(struct run *run, struct flight *flight)
{
	struct chunk *chunk = &flight->chunk;
	uint64_t position = chunk->offset + chunk->until;
	int status;

	if (chunk->status)
		return run_replace_engine(run, chunk->status);
	status = run->taker->take(run, chunk);
	if (status)
		return status;
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
	return run->taker->settle ? run->taker->settle(run, position) : 0;
}

int run_search(struct run *run, const struct run_taker *taker)
{
	int status = 0;

	run->taker = taker;
	while (!status && !run_caught_signal()) {
		struct flight *flight;

		run_release_slots(run);
		status = feed(run);
		if (status)
			break;
		if (run->submitted == run->consumed) {
			if (run->read_all)
				break;
			run_await_hashing(
				run); /* the hashing threads or the map have the whole ring */
			continue;
		}
		flight = run_flight(run, run->consumed);
		status = run_await(run, flight);
		if (status)
			return error_set(&run->error, EXIT_IO, -status,
				"the engine %s lost a chunk: %s", run->engine->name,
				strerror(-status));
		status = consume(run, flight);
	}
	return status;
}
