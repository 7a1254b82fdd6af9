/*
 * Where the user did not ask for hashing and the evidence stores a hash, the threads use only the
 * processors' spare time. When they fall behind the search all the same, hashing would slow the run
 * down: they are stopped, and the report says so.
 *
 * The searching thread releases the slots, not the hashing threads: these may run at idle priority,
 * and must not hold the reader's lock when they lose the processor.
 */
#include "run/evidence_hash.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"
#include "hashing/media_hash.h"
#include "run/signals.h"

#define ENDED_EARLY \
	"the run ended before all of the evidence was read, so it was not compared with its hash"
/* Bytes that are read at a time where no slots are given. */
#define READ_LEN ((size_t)4 << 20)
/* Of slots that a run which ends early has hashed before its last checkpoint: a fraction of a second. */
#define WAIT_LEN ((uint64_t)64 << 20)
/* How many parts the thread that reads all of the evidence may be ahead of the search, and its hashes still be known. */
#define PARTS_AHEAD 1024

struct evidence_hash {
	struct media_hash *threads; /* NULL: hashing was given up */
	struct evidence_record *record;
	struct image *evidence;
	const struct scope *scope;
	struct problems *problems;
	bool spare;

	const struct evidence_beginning *beginning; /* that a run found which is resumed */
	char *changed;                              /* in words; NULL: it has not */
	bool unread;                                /* not all of it could be read */

	struct reader *reader;
	struct reader_slot **slots; /* that are held: number n is slots[n % capacity] */
	unsigned capacity;
	uint64_t given, released; /* slots */
	uint64_t read_before;     /* parts of the evidence that the threads got before the slots */

	bool aside; /* a thread of its own reads all of the evidence */
	pthread_t thread;
	bool read_all;    /* the thread did */
	atomic_bool stop; /* the thread must */
};

static void set_verdict(
	struct evidence_record *record, enum evidence_state state, const char *sentence)
{
	record->state = state;
	snprintf(record->sentence, sizeof(record->sentence), "%s", sentence);
}

/* What is to be computed; 0, and the reason in the record, where nothing is. */
static uint32_t wanted_kinds(const struct evidence_hash_options *given)
{
	const struct run_options *options = given->options;
	const struct scope *scope = given->scope;
	const struct image_info *image = image_info(scope->evidence);
	uint32_t stored =
		(*image->stored_md5 ? HASH_MD5 : 0u) | (*image->stored_sha1 ? HASH_SHA1 : 0u);
	bool spare = options->verify == RUN_VERIFY_SPARE;

	set_verdict(given->record, EVIDENCE_NOT_HASHED, "not hashed (use the option verify)");
	if (options->verify == RUN_VERIFY_NONE || (spare && !stored))
		return 0;
	if (scope->image != scope->evidence || options->offset || scope->end < image->size) {
		set_verdict(given->record, EVIDENCE_PARTIAL,
			"only a part of the evidence was read, so it was not hashed");
		return 0;
	}
	if (options->cluster && spare) {
		set_verdict(given->record, EVIDENCE_NOT_HASHED,
			"not compared with its stored hash: several processes read it, "
			"each a part (use the option verify)");
		return 0;
	}
	if (spare && given->position) {
		set_verdict(given->record, EVIDENCE_NOT_HASHED,
			"not compared with its stored hash, because the run was resumed "
			"(use the option verify)");
		return 0;
	}
	if (options->verify == RUN_VERIFY_KINDS)
		return options->verify_mask;
	return stored ? stored : HASH_SHA256;
}

/* After its last byte was given to the threads. */
static void compare_beginning(struct evidence_hash *hash)
{
	const struct evidence_beginning *was = hash->beginning;
	struct hashes hashes;

	media_hash_await(hash->threads, hash->read_before);
	if (media_hash_beginning(hash->threads, was->len, &hashes) == was->len &&
		hashes_differ(&hashes, &was->hashes))
		hash->changed =
			xasprintf("the first %" PRIu64 " bytes of the evidence have changed since "
				  "they were searched: their hash differs",
				was->len);
}

/* Reads what lies before an offset, for the hash alone. False when it had to stop. */
static bool hash_until(struct evidence_hash *hash, uint64_t until)
{
	uint8_t *buffers = until ? xmalloc(2 * READ_LEN) : NULL;
	uint64_t at = 0;

	while (at < until && !signals_caught() && !atomic_load(&hash->stop)) {
		uint8_t *buffer = buffers + hash->read_before % 2 * READ_LEN;
		uint64_t compared = hash->beginning->len;
		uint64_t left = (at < compared && compared < until ? compared : until) - at;
		size_t len = left < READ_LEN ? (size_t)left : READ_LEN;

		hash->unread |= image_read_around(hash->evidence, at, buffer, len) && at < compared;
		if (image_was_cut(hash->evidence))
			break;
		media_hash_add(hash->threads, buffer, len);
		at += len;
		if (at == compared)
			compare_beginning(hash);
		if (hash->read_before++) /* the other buffer becomes free */
			media_hash_await(hash->threads, hash->read_before - 2);
	}
	if (hash->read_before)
		media_hash_await(hash->threads, hash->read_before - 1);
	free(buffers);
	return at == until;
}

static void *read_aside(void *arg)
{
	struct evidence_hash *hash = arg;

	hash->read_all = hash_until(hash, image_info(hash->evidence)->size);
	return NULL;
}

static void release_slots(struct evidence_hash *hash, uint64_t until)
{
	for (; hash->released < until; hash->released++)
		reader_release(hash->reader, hash->slots[hash->released % hash->capacity]);
}

static void stop_threads(struct evidence_hash *hash)
{
	media_hash_free(hash->threads);
	hash->threads = NULL;
	release_slots(hash, hash->given);
}

static void free_hash(struct evidence_hash *hash)
{
	stop_threads(hash);
	free(hash->slots);
	free(hash->changed);
	free(hash);
}

/* Whether bytes of the beginning could not be read, now or then: they may differ each time. */
static bool is_unread(const struct evidence_hash *hash)
{
	return hash->unread || ranges_bytes(&hash->scope->unread);
}

static void tell_change(struct evidence_hash *hash)
{
	if (hash->changed)
		problems_add(hash->problems, xstrdup(hash->changed));
}

static int cannot_start(struct error *error)
{
	return error_set(error, EXIT_IO, EAGAIN, "cannot start a thread to hash the evidence");
}

int evidence_hash_start(struct evidence_hash **result, const struct evidence_hash_options *options,
	struct error *error)
{
	uint32_t mask = wanted_kinds(options);
	struct evidence_hash *hash;

	*result = NULL;
	if (!mask)
		return 0;
	hash = xcalloc(1, sizeof(*hash));
	hash->record = options->record;
	hash->scope = options->scope;
	hash->evidence = options->scope->evidence;
	hash->beginning = options->beginning;
	hash->problems = options->problems;
	hash->spare = options->options->verify == RUN_VERIFY_SPARE;
	hash->reader = options->reader;
	hash->capacity = options->slots ? options->slots : PARTS_AHEAD;
	hash->slots = xcalloc(hash->capacity, sizeof(struct reader_slot *));
	hash->threads = media_hash_new(mask, hash->capacity, hash->spare);
	hash->aside = options->options->cluster != NULL;
	if (!hash->threads || (hash->aside && thread_start(&hash->thread, read_aside, hash))) {
		free_hash(hash);
		return cannot_start(error);
	}
	*result = hash;
	if (hash->aside)
		return 0;
	/* A run that is resumed reads once more what was read before: no library saves the state of
	 * a hash. */
	hash_until(hash, options->position);
	if (hash->changed && !is_unread(hash)) {
		error_set(error, EXIT_USAGE, ESTALE, "the run can't be resumed: %s", hash->changed);
		free_hash(hash);
		*result = NULL;
		return -ESTALE;
	}
	tell_change(hash);
	if (signals_caught()) { /* perhaps before all of it */
		set_verdict(hash->record, EVIDENCE_PARTIAL, ENDED_EARLY);
		stop_threads(hash);
	}
	return 0;
}

void evidence_hash_give(struct evidence_hash *hash, struct reader_slot *slot)
{
	if (!hash || !hash->threads)
		return;
	reader_hold(hash->reader, slot);
	hash->slots[hash->given++ % hash->capacity] = slot;
	media_hash_add(hash->threads, slot->data, slot->len);
}

void evidence_hash_release(struct evidence_hash *hash, uint64_t searched)
{
	if (!hash || !hash->threads || !hash->reader)
		return;
	release_slots(hash, media_hash_done(hash->threads) - hash->read_before);
	/* Half the ring late: the reader would soon have to wait. */
	if (hash->spare && searched > hash->released + hash->capacity / 2) {
		set_verdict(hash->record, EVIDENCE_NOT_HASHED,
			"not compared with its stored hash: hashing would have slowed the "
			"run down (use the option verify)");
		stop_threads(hash);
	}
}

void evidence_hash_wait(struct evidence_hash *hash)
{
	if (hash && hash->threads && hash->released < hash->given)
		media_hash_await(hash->threads, hash->read_before + hash->released);
}

/* Until the threads are done with the slots before `until`. */
static void wait_for_slots(struct evidence_hash *hash, uint64_t until)
{
	uint64_t bytes = 0, number = hash->released;

	for (; number < hash->given; number++) {
		const struct reader_slot *slot = hash->slots[number % hash->capacity];

		if (slot->offset + slot->len > until)
			break;
		bytes += slot->len;
	}
	if (bytes && bytes <= WAIT_LEN)
		media_hash_await(hash->threads, hash->read_before + number - 1);
}

void evidence_hash_beginning(
	struct evidence_hash *hash, uint64_t until, bool wait, struct evidence_beginning *beginning)
{
	struct evidence_beginning found;

	if (!hash || !hash->threads)
		return;
	if (wait && !hash->spare && !hash->aside)
		wait_for_slots(hash, until);
	found.len = media_hash_beginning(hash->threads, until, &found.hashes);
	if (found.len > beginning->len)
		*beginning = found;
}

void evidence_hash_finish(struct evidence_hash *hash, bool whole, bool failed)
{
	if (!hash)
		return;
	if (hash->aside) {
		atomic_store(&hash->stop, failed);
		pthread_join(hash->thread, NULL);
		whole = hash->read_all;
		tell_change(hash);
	}
	if (hash->threads && whole) {
		struct hashes hashes;

		media_hash_finish(hash->threads, &hashes);
		evidence_compare(hash->record, image_info(hash->evidence)->stored_md5,
			image_info(hash->evidence)->stored_sha1, &hashes,
			ranges_bytes(&hash->scope->unread));
	} else if (hash->threads) {
		set_verdict(hash->record, EVIDENCE_PARTIAL, ENDED_EARLY);
	}
	free_hash(hash);
}
