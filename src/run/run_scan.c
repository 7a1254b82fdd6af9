/*
 * The conductor's thread does everything that must happen in order: the hits of searched chunks go
 * to the pairing in order of the image, and settled candidates to the carving stage. All that takes
 * time runs elsewhere: reading in the reader's threads, searching, checking and writing in the
 * pool's; or all that in other processes (run/run_cluster.h).
 */
#include "run/run_state.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"

static void pair_hit(struct run *run, uint64_t offset, uint32_t pattern, uint32_t len)
{
	pairing_hit(run->pairing, offset, pattern, len);
	if (run->order)
		scalpel_order_hit(run->order, offset, pattern);
}

/* All hits before position were paired. */
static void reach(struct run *run, uint64_t position, size_t hit_count)
{
	run->summary.hits += hit_count;
	pairing_advance(run->pairing, position);
	run->position = position;
}

/* A finished chunk's hits. */
static int pair_chunk(struct run *run, const struct chunk *chunk)
{
	for (size_t i = 0; i < chunk->hit_count; i++) {
		const struct hit *hit = &chunk->hits[i];
		uint32_t len = 0;

		if (pairing_wants_length(run->pairing, hit->pattern))
			len = run_match_len(run, chunk, hit);
		pair_hit(run, hit->offset, hit->pattern, len);
	}
	reach(run, chunk->offset + chunk->until, chunk->hit_count);
	run_note_unread(run);
	return 0;
}

/* Those that another process has found. */
static int pair_piece(struct run *run, const struct run_piece *piece)
{
	for (size_t i = 0; i < piece->hit_count; i++) {
		const struct run_hit *hit = &piece->hits[i];
		bool wanted = pairing_wants_length(run->pairing, hit->pattern);

		pair_hit(run, hit->offset, hit->pattern, wanted ? hit->len : 0);
	}
	reach(run, piece->until, piece->hit_count);
	for (size_t i = 0; i < piece->unread_count; i++)
		ranges_add(&run->unread, piece->unread[i].offset, piece->unread[i].length);
	for (size_t i = 0; i < piece->outcome_count; i++)
		carving_add_precheck(run->carving, piece->outcomes[i].start,
			piece->outcomes[i].rule, &piece->outcomes[i].outcome);
	return run_hear_map(run, piece->until, piece->classes, piece->classes_len);
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

/* -EAGAIN of the carving stage is no failure: the rest comes later. */
int run_carve_settled(struct run *run, bool all_known)
{
	int status = 0;

	while (!status && !run_caught_signal()) {
		if (!run->has_pending)
			run->has_pending = next_candidate(run, all_known);
		if (!run->has_pending) {
			if (!run->order)
				carving_set_offered_until(
					run->carving, pairing_reached(run->pairing));
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

int run_keep_up(struct run *run, uint64_t position)
{
	uint64_t near = position < run->near_len ? 0 : position - run->near_len;
	int status = run->near_len ? carving_start_checks(run->carving, near) : 0;

	return status ? carving_failed(run, status) : 0;
}

/* Gives what a chunk has settled, up to position, to the carving stage. */
static int carve(struct run *run, uint64_t position)
{
	int status = carving_scanned(run->carving, position);

	if (status)
		return carving_failed(run, status);
	status = run_carve_settled(run, false);
	return status ? status : run_keep_up(run, position);
}

/* Lines of the report reach the disk within about a second, also where nothing more is found. */
static int flush_report(struct run *run)
{
	double now = clock_seconds();

	if (now - run->flushed < 1)
		return 0;
	run->flushed = now;
	return carving_flush(run->carving, &run->error);
}

/* Everything that can be done with what was paired. */
static int settle(struct run *run, uint64_t position)
{
	int status = carve(run, position);

	if (status)
		return status;
	run->summary.scanned = position - run->range_start;
	progress_update(run->progress, run->summary.scanned);
	status = flush_report(run);
	return status ? status : run_pause(run, &run->error);
}

/* The others search. */
static int scan_with_others(struct run *run)
{
	const struct run_cluster *cluster = run->options->cluster;
	struct run_piece piece;
	int status = 0;

	while (!run_caught_signal()) {
		double from = clock_seconds();
		int got = cluster->next(&piece, &run->error);

		run->scan_wait += clock_seconds() - from;
		if (got <= 0 && got != -EAGAIN)
			return got;
		if (got > 0)
			status = pair_piece(run, &piece);
		if (!status)
			status = settle(run, run->position);
		if (status)
			return status;
	}
	return 0;
}

static int finish_carving(struct run *run)
{
	int status;

	pairing_finish(run->pairing);
	status = carving_scanned(run->carving, UINT64_MAX);
	if (!status)
		status = run_carve_settled(run, true);
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
	static const struct run_taker pairing = { .take = pair_chunk, .settle = settle };
	int status = 0;

	if (!run->read_all)
		status = run->options->cluster ? scan_with_others(run) : run_search(run, &pairing);

	if (!status && !run_caught_signal())
		status = finish_carving(run);
	run_finish_hashing(run, status != 0);
	return status;
}
