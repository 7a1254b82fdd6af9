/*
 * Hashing the evidence in the pass that searches it. A slot of the ring is held by the engine, by
 * the hashing threads (hashing/media_hash.h) and by the map (run/run_map.c), and goes back to the reader
 * when all are done with it.
 *
 * Where nobody asked for it, and the evidence stores a hash, the threads take only what time the
 * processors have to spare. When they fall behind the search all the same, hashing would cost time:
 * they are stopped, and the report says so.
 */
#include "run/run_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"

#define ENDED_EARLY \
	"the run ended before all of the evidence was read, so it was not compared with its hash"
#define BEFORE_LEN ((size_t)4 << 20)

static uint32_t stored_kinds(const struct image_info *image)
{
	return (*image->stored_md5 ? HASH_MD5 : 0u) | (*image->stored_sha1 ? HASH_SHA1 : 0u);
}

static void say(struct run *run, enum evidence_state state, const char *sentence)
{
	run->summary.evidence.state = state;
	snprintf(run->summary.evidence.sentence, sizeof(run->summary.evidence.sentence), "%s",
		sentence);
}

/* What is to be computed; 0 and the reason said where nothing is. */
static uint32_t wanted_kinds(struct run *run)
{
	const struct run_options *options = run->options;
	const struct image_info *image = image_info(run->evidence);
	uint32_t stored = stored_kinds(image);

	say(run, EVIDENCE_NOT_HASHED, "not hashed; the option verify asks for it");
	if (options->verify == RUN_VERIFY_NONE || (options->verify == RUN_VERIFY_SPARE && !stored))
		return 0;
	if (run->image != run->evidence || options->offset || run->range_end < image->size) {
		say(run, EVIDENCE_PARTIAL,
			"only a part of the evidence was read, so it was not hashed");
		return 0;
	}
	if (options->cluster && options->verify == RUN_VERIFY_SPARE) {
		say(run, EVIDENCE_NOT_HASHED,
			"not compared with the hash that it stores: several processes read it, "
			"each "
			"a part; the option verify asks for it");
		return 0;
	}
	if (options->verify == RUN_VERIFY_KINDS)
		return options->verify_mask;
	return stored ? stored : HASH_SHA256;
}

static bool stop_hashing(struct run *run)
{
	return run_caught_signal() || atomic_load(&run->hash_stop);
}

/* Reads what lies before an offset, for no other purpose. False when it had to stop. */
static bool hash_until(struct run *run, uint64_t until)
{
	uint8_t *pieces = until ? xmalloc(2 * BEFORE_LEN) : NULL;
	uint64_t at = 0;

	while (at < until && !stop_hashing(run)) {
		uint8_t *piece = pieces + run->hashed_before % 2 * BEFORE_LEN;
		uint64_t left = until - at;
		size_t len = left < BEFORE_LEN ? (size_t)left : BEFORE_LEN;

		image_read_around(run->evidence, at, piece, len);
		media_hash_add(run->hash, piece, len);
		at += len;
		if (run->hashed_before++) /* the piece before goes back */
			media_hash_await(run->hash, run->hashed_before - 2);
	}
	if (run->hashed_before)
		media_hash_await(run->hash, run->hashed_before - 1);
	free(pieces);
	return at == until;
}

/* Where others search, nobody reads all of the image in order: it is read once more. */
static void *hash_aside(void *arg)
{
	struct run *run = arg;

	run->hashed_all = hash_until(run, image_info(run->evidence)->size);
	return NULL;
}

static int start_aside(struct run *run)
{
	run->hash_aside = true;
	if (thread_start(&run->hash_thread, hash_aside, run) == 0)
		return 0;
	run->hash_aside = false;
	return error_set(
		&run->error, EXIT_IO, EAGAIN, "cannot start a thread to hash the evidence");
}

int run_start_hashing(struct run *run)
{
	bool spare = run->options->verify == RUN_VERIFY_SPARE;
	uint32_t mask = wanted_kinds(run);

	if (!mask)
		return 0;
	if (spare && run->position) {
		say(run, EVIDENCE_NOT_HASHED,
			"not compared with the hash that it stores, because the run was resumed; "
			"the "
			"option verify asks for it");
		return 0;
	}
	run->hash = media_hash_new(mask, run->flight_count ? run->flight_count : 2, spare);
	if (!run->hash)
		return error_set(
			&run->error, EXIT_IO, EAGAIN, "cannot start a thread to hash the evidence");
	if (run->options->cluster)
		return start_aside(run);
	/* A run that is resumed reads once more what was read before: no library saves the state of
	 * a hash. */
	hash_until(run, run->position);
	if (run_caught_signal()) { /* perhaps before all of it */
		media_hash_free(run->hash);
		run->hash = NULL;
		say(run, EVIDENCE_PARTIAL, ENDED_EARLY);
	}
	return 0;
}

void run_hash_slot(struct run *run, const struct reader_slot *slot)
{
	if (run->hash)
		media_hash_add(run->hash, slot->data, slot->len);
}

static void give_up(struct run *run)
{
	media_hash_free(run->hash);
	run->hash = NULL;
	say(run, EVIDENCE_NOT_HASHED,
		"not compared with the hash that it stores: hashing would have slowed the run "
		"down; "
		"the option verify asks for it");
}

void run_release_slots(struct run *run)
{
	uint64_t free_until = run->consumed, mapped;

	if (run->hash) {
		uint64_t hashed = media_hash_done(run->hash) - run->hashed_before;

		if (hashed < free_until)
			free_until = hashed;
		/* Behind by half the ring: the reader would soon wait. */
		if (run->options->verify == RUN_VERIFY_SPARE &&
			run->consumed - free_until > run->flight_count / 2) {
			give_up(run);
			free_until = run->consumed;
		}
	}
	mapped = run_mapped(run, 0);
	if (mapped < free_until)
		free_until = mapped;
	for (; run->released < free_until; run->released++)
		reader_release(run->reader, run_flight(run, run->released)->slot);
}

void run_await_hashing(struct run *run)
{
	double from = clock_seconds();

	if (run->hash && run->released < run->consumed)
		media_hash_await(run->hash, run->hashed_before + run->released);
	run->hash_wait += clock_seconds() - from;
	if (run->released < run->consumed)
		run_mapped(run, run->released + 1);
	run_release_slots(run);
}

/* failed: the run ends early. Returns whether all of the evidence was hashed. */
static bool end_aside(struct run *run, bool failed)
{
	atomic_store(&run->hash_stop, failed);
	pthread_join(run->hash_thread, NULL);
	return run->hashed_all;
}

void run_finish_hashing(struct run *run, bool failed)
{
	struct hashes hashes;
	double from = clock_seconds();
	bool whole = run->read_all && run->consumed == run->submitted;

	if (!run->hash)
		return;
	if (run->hash_aside)
		whole = end_aside(run, failed);
	if (whole) {
		media_hash_finish(run->hash, &hashes);
		evidence_compare(&run->summary.evidence, image_info(run->evidence), &hashes,
			ranges_bytes(&run->unread));
	} else {
		say(run, EVIDENCE_PARTIAL, ENDED_EARLY);
	}
	media_hash_free(run->hash);
	run->hash = NULL;
	run->hash_wait += clock_seconds() - from;
}
