/*
 * The ring: which bytes go into which slot, and handing slots out in order.
 *
 *   image    |<------ slot 0 ------>|<------ slot 1 ------>|<------ slot 2 ---
 *   read for |<------- 0 --------------->|<------- 1 -------->|<------- 2 ----
 *
 * What is read for a slot ends after its overlap, at the next multiple of reader->align. The
 * following slot starts inside of that, and gets those bytes through a small buffer, `carry`, when
 * the slots are handed out, which happens in order. So no byte is read twice, no slot depends on
 * one that is read later, and the reads themselves stay aligned whatever the sizes of slots and
 * patterns are. Slots may be smaller than the alignment; then nothing is read for most of them.
 *
 * An entry keeps its bytes when it is released, and is reused only after all others were released
 * later: carvers look at what was just scanned (reader_cache.c).
 *
 * There are two backends: reader_threads.c for what is in the page cache (copying costs processor
 * time, which wants threads) or has to be decompressed, reader_uring.c for direct reads (the device
 * works, nobody has to wait).
 */
#include "evidence/reader_ring.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"

/* The first touch of memory is expensive, most of all in a virtual machine. */
#define DEFAULT_SLOT_LEN (8u << 20)
/* Decompressed bytes should still be in a processor cache when carvers look at them: slots of an
 * E01 are no larger than its reading threads need to stay busy. */
#define COMPRESSED_SLOT_LEN_MAX (16u << 20)
#define COMPRESSED_SLOT_LEN_EACH (1u << 20) /* a reader */
#define DEFAULT_SLOTS 4
/* The largest chunk of an E01: aligning to more than this would cost too much memory. */
#define READ_UNIT_MAX (16u << 20)
#define LOGGED_MAX 20
/* Released entries that stay readable: more of them, in a ring of small slots, would be of no use.
 */
#define CACHE_SLOTS_MAX 32

/* ---- opening ------------------------------------------------------------------------------- */

static int set_range(
	struct reader *reader, const struct reader_options *options, struct error *error)
{
	uint64_t size = image_info(reader->image)->size;
	const char *path = image_info(reader->image)->paths[0];
	uint64_t left;

	if (options->offset >= size)
		return error_set(error, EXIT_USAGE, EINVAL,
			"the range starts at byte %llu, but %s has only %llu bytes",
			(unsigned long long)options->offset, path, (unsigned long long)size);
	left = size - options->offset;
	reader->begin = options->offset;
	reader->finish = reader->begin +
			 (options->length && options->length < left ? options->length : left);
	reader->limit =
		size - reader->finish < reader->overlap ? size : reader->finish + reader->overlap;
	return 0;
}

static size_t default_slot_len(bool compressed)
{
	size_t slot_len = (size_t)reader_thread_count() * COMPRESSED_SLOT_LEN_EACH;

	if (!compressed || slot_len < DEFAULT_SLOT_LEN)
		return DEFAULT_SLOT_LEN;
	return slot_len < COMPRESSED_SLOT_LEN_MAX ? slot_len : COMPRESSED_SLOT_LEN_MAX;
}

/* What is read past the page cache, or decompressed, others would have to read from the disk, or to ask for.
 * All else they read themselves: memory that is shared has small pages, each of which takes a fault. */
bool reader_saves_reading(const struct reader *reader)
{
	return reader->direct || !reader->plain;
}

static void plan_reads(struct reader *reader, enum reader_cache cache)
{
	reader->plain = reader_plan_files(reader->image, reader->begin);
	reader->direct = reader->plain &&
			 reader_plan_direct(reader->image, reader->begin, reader->finish, cache);
}

static void set_capacity(struct reader *reader, const struct reader_options *options)
{
	size_t cached = reader_saves_reading(reader) ? options->cache_len / reader->slot_len : 0;

	reader->slots = options->slots ? options->slots : DEFAULT_SLOTS;
	if (reader->slots < 2)
		reader->slots = 2;
	reader->capacity =
		reader->slots + (unsigned)(cached < CACHE_SLOTS_MAX ? cached : CACHE_SLOTS_MAX);
}

/* The ring's final sizes: no slot is larger than the range, or as small as the overlap. */
static int set_sizes(
	struct reader *reader, const struct reader_options *options, struct error *error)
{
	uint32_t read_unit = reader->image->read_unit;
	bool compressed = read_unit > DIRECT_ALIGN;
	size_t slot_len = options->slot_len ? options->slot_len : default_slot_len(compressed);
	uint64_t range;
	int rc;

	reader->overlap = options->overlap;
	rc = set_range(reader, options, error);
	if (rc)
		return rc;
	plan_reads(reader, options->cache);
	range = reader->finish - reader->begin;
	if (slot_len > range)
		slot_len = (size_t)range;
	if (slot_len <= reader->overlap)
		slot_len = reader->overlap + 1;
	reader->slot_len = slot_len;
	set_capacity(reader, options);
	reader->count = (range + slot_len - 1) / slot_len;
	reader->align = compressed && read_unit <= READ_UNIT_MAX ? read_unit : DIRECT_ALIGN;
	/* A chunk that several requests share would be decompressed by one thread while others
	 * wait. */
	reader->request_len = !compressed ? REQUEST_LEN
			      : read_unit < COMPRESSED_REQUEST_LEN
				      ? COMPRESSED_REQUEST_LEN / read_unit * read_unit
				      : read_unit;
	if (slot_len > SIZE_MAX / 8 / reader->capacity ||
		reader->overlap > SIZE_MAX / 8 / reader->capacity)
		return error_set(error, EXIT_IO, ENOMEM, "%zu bytes a slot are too many", slot_len);
	reader->stride = (size_t)reader_round_up(
		DIRECT_ALIGN + slot_len + reader->overlap + reader->align, DIRECT_ALIGN);
	return 0;
}

static void allocate_memory(struct reader *reader, bool shared)
{
	void *memory;

	if (shared && reader_saves_reading(reader) &&
		(reader->shared = shared_ring_new(reader->capacity, reader->memory_len))) {
		reader->memory = shared_ring_memory(reader->shared);
		return;
	}
	memory = mmap(NULL, reader->memory_len, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	reader->memory = memory == MAP_FAILED ? NULL : memory;
}

static int make_ring(struct reader *reader, bool shared, struct error *error)
{
	reader->memory_len = reader->stride * reader->capacity;
	allocate_memory(reader, shared);
	if (!reader->memory)
		return error_set(error, EXIT_IO, ENOMEM,
			"no memory for %u slots of %zu bytes: ask for fewer or smaller ones",
			reader->capacity, reader->slot_len);
	/* Fewer faults while the ring is filled for the first time. Where it is not to be had, so
	 * be it. */
	madvise(reader->memory, reader->memory_len, MADV_HUGEPAGE);
	reader->entries = xcalloc(reader->capacity, sizeof(*reader->entries));
	reader->order = xcalloc(reader->slots, sizeof(*reader->order));
	reader->carry = xmalloc(reader->overlap + reader->align);
	for (unsigned i = 0; i < reader->capacity; i++) {
		reader->entries[i].memory = reader->memory + i * reader->stride;
		reader->entries[i].slot.index = i;
		reader->entries[i].zeros = true; /* as new memory is */
	}
	return 0;
}

static int try_backend(struct reader *reader, const struct reader_backend *backend)
{
	int rc;

	reader->extents = reader->direct || backend == &reader_uring_backend;
	reader->backend = backend;
	snprintf(reader->name, sizeof(reader->name), "%s, %s", backend->name,
		reader->direct ? "direct" : "buffered");
	rc = backend->start(reader);
	if (rc)
		reader->backend = NULL;
	return rc;
}

/* io_uring where it was asked for, or where direct reads profit from it; threads where it is not
 * available, and for what other programs serve: when one of the parts of a long read fails there, Linux 6.18 reports to
 * io_uring that all bytes were read, and leaves in the slot what it had before. */
static int start_backend(
	struct reader *reader, const struct reader_options *options, struct error *error)
{
	int rc = -ENOTSUP;

	if (reader->plain && options->method != READER_THREADS &&
		(options->method == READER_URING || reader->direct) &&
		!reader_plan_is_served(reader->image))
		rc = try_backend(reader, &reader_uring_backend);
	if (rc)
		rc = try_backend(reader, &reader_threads_backend);
	if (rc)
		return error_set(error, EXIT_IO, -rc, "no thread could be started to read %s: %s",
			image_info(reader->image)->paths[0], strerror(-rc));
	return 0;
}

int reader_open(struct reader **result, struct image *image, const struct reader_options *options,
	struct error *error)
{
	struct reader *reader = xcalloc(1, sizeof(*reader));
	int rc;

	reader->image = image;
	thread_lock_init(&reader->lock);
	pthread_cond_init(&reader->done, NULL);
	rc = set_sizes(reader, options, error);
	if (!rc)
		rc = make_ring(reader, options->shared, error);
	if (!rc) {
		reader_assign_entries(reader);
		rc = start_backend(reader, options, error);
	}
	if (rc) {
		reader_close(reader);
		return rc;
	}
	reader->backend->wake(reader);
	*result = reader;
	return 0;
}

void reader_ring(
	const struct reader *reader, void **memory, size_t *len, size_t *slot_len, unsigned *slots)
{
	*memory = reader->memory;
	*len = reader->memory_len;
	*slot_len = reader->slot_len + reader->overlap;
	*slots = reader->slots;
}

int reader_descriptor(const struct reader *reader)
{
	return reader->shared ? shared_ring_descriptor(reader->shared) : -1;
}

const char *reader_method_name(const struct reader *reader)
{
	return reader->name;
}

/* ---- handing out --------------------------------------------------------------------------- */

static void log_range(const struct reader *reader, const struct range *range)
{
	uint64_t len;
	char *why = image_why(reader->image, range->offset, &len);

	log_warn("can't read %llu bytes at offset %llu of %s: zeros are used instead%s%s%s",
		(unsigned long long)range->length, (unsigned long long)range->offset,
		image_info(reader->image)->paths[0], why ? " (" : "", why ? why : "",
		why ? ")" : "");
	free(why);
}

/* Logs the unreadable ranges that end before `upto`, which no later slot can extend. Slots come in
 * order, so the list only changes at its end. */
static void log_unreadable(struct reader *reader, uint64_t upto)
{
	const struct ranges *bad = &reader->unreadable;

	for (; reader->logged < bad->count; reader->logged++) {
		const struct range *range = &bad->items[reader->logged];

		if (range->offset + range->length >= upto)
			return;
		if (reader->logged < LOGGED_MAX)
			log_range(reader, range);
		else if (reader->logged == LOGGED_MAX)
			log_warn("more places can't be read; the report lists all of them");
	}
}

/* The entry of the next slot; NULL when it has none yet. Under the lock. */
static struct ring_entry *next_entry(struct reader *reader)
{
	assert(reader->handed_out <= reader->assigned && reader->assigned <= reader->count);
	return reader->handed_out < reader->assigned
		       ? reader->order[reader->handed_out % reader->slots]
		       : NULL;
}

/* The caller holds as many slots as it may. Under the lock. */
static bool caller_has_all_slots(struct reader *reader)
{
	return reader->handed_out == reader->assigned && reader->busy == reader->slots;
}

/* Waits until the next slot is read. Under the lock, which is released meanwhile. */
static int await_next(struct reader *reader, struct ring_entry **entry)
{
	while (!reader->failure) {
		*entry = next_entry(reader);
		if (*entry && reader_done(*entry))
			return 0;
		if (caller_has_all_slots(reader))
			return -EAGAIN;
		pthread_cond_wait(&reader->done, &reader->lock);
	}
	return reader->failure;
}

/* Copies the bytes that were read for the slot before to the front, and keeps those that the next
 * slot needs. */
static void carry_over(struct reader *reader, struct ring_entry *entry)
{
	uint64_t next = reader_slot_start(reader, reader->handed_out + 1);
	bool carried_hole = entry->from == entry->start || reader->carry_hole;

	if (reader->handed_out > 0)
		memcpy(reader_byte(entry, entry->start), reader->carry,
			(size_t)(entry->from - entry->start));
	if (reader->handed_out + 1 < reader->count)
		memcpy(reader->carry, reader_byte(entry, next), (size_t)(entry->end - next));
	entry->zeros &= carried_hole;
	entry->slot.hole = entry->hole && carried_hole;
	reader->carry_hole = entry->slot.hole || (entry->hole && next >= entry->from);
}

static void hand_out(struct reader *reader, struct ring_entry *entry, struct reader_slot **slot)
{
	uint64_t left = reader->finish - entry->start, rest;

	carry_over(reader, entry);
	reader_add_ranges(&reader->unreadable, &entry->bad);
	log_unreadable(reader, entry->end);
	entry->slot.data = reader_byte(entry, entry->start);
	entry->slot.offset = entry->start;
	entry->slot.len = left < reader->slot_len ? (size_t)left : reader->slot_len;
	rest = reader->limit - entry->start - entry->slot.len;
	entry->slot.tail_len = rest < reader->overlap ? (size_t)rest : reader->overlap;
	*slot = &entry->slot;
}

int reader_next(struct reader *reader, struct reader_slot **slot)
{
	struct ring_entry *entry;
	int rc;

	if (reader->handed_out == reader->count) {
		log_unreadable(reader, UINT64_MAX);
		return 0;
	}
	pthread_mutex_lock(&reader->lock);
	rc = await_next(reader, &entry);
	pthread_mutex_unlock(&reader->lock);
	if (rc)
		return rc;
	hand_out(reader, entry, slot);
	pthread_mutex_lock(&reader->lock);
	assert(entry->assigned && !entry->holds && !entry->pending);
	assert(reader->handed_out < reader->requesting && reader->requesting <= reader->assigned);
	reader->handed_out++;
	entry->assigned = false;
	entry->holds = 1;
	pthread_mutex_unlock(&reader->lock);
	return 1;
}

bool reader_ready(struct reader *reader)
{
	struct ring_entry *entry;
	bool ready;

	if (reader->handed_out == reader->count)
		return true;
	pthread_mutex_lock(&reader->lock);
	entry = next_entry(reader);
	ready = reader->failure || caller_has_all_slots(reader) || (entry && reader_done(entry));
	pthread_mutex_unlock(&reader->lock);
	return ready;
}

void reader_hold(struct reader *reader, struct reader_slot *slot)
{
	struct ring_entry *entry = (struct ring_entry *)slot;

	pthread_mutex_lock(&reader->lock);
	assert(entry == &reader->entries[slot->index] && entry->holds);
	entry->holds++;
	pthread_mutex_unlock(&reader->lock);
}

void reader_release(struct reader *reader, struct reader_slot *slot)
{
	struct ring_entry *entry = (struct ring_entry *)slot;
	bool more = false;

	pthread_mutex_lock(&reader->lock);
	assert(entry == &reader->entries[slot->index] && entry->holds && reader->busy);
	if (--entry->holds == 0) {
		entry->released = ++reader->clock;
		reader->busy--;
		more = reader_assign_entries(reader);
	}
	pthread_mutex_unlock(&reader->lock);
	if (more)
		reader->backend->wake(reader);
}

int reader_continue(struct reader *reader, uint64_t offset, uint64_t length, struct error *error)
{
	const struct reader_options options = { .offset = offset, .length = length };
	bool more;
	int rc;

	pthread_mutex_lock(&reader->lock);
	rc = set_range(reader, &options, error);
	if (!rc) {
		reader->count =
			(reader->finish - reader->begin + reader->slot_len - 1) / reader->slot_len;
		reader->handed_out = reader->requesting = reader->assigned = 0;
		reader->carry_hole = false;
	}
	more = !rc && reader_assign_entries(reader);
	pthread_mutex_unlock(&reader->lock);
	if (more)
		reader->backend->wake(reader);
	return rc;
}

const struct ranges *reader_unreadable(const struct reader *reader)
{
	return &reader->unreadable;
}

void reader_close(struct reader *reader)
{
	if (!reader)
		return;
	atomic_store(&reader->closing, true);
	if (reader->backend)
		reader->backend->stop(reader);
	log_unreadable(reader, UINT64_MAX);
	for (unsigned i = 0; reader->entries && i < reader->capacity; i++)
		ranges_free(&reader->entries[i].bad);
	if (reader->shared)
		shared_ring_free(reader->shared);
	else if (reader->memory)
		munmap(reader->memory, reader->memory_len);
	ranges_free(&reader->unreadable);
	pthread_cond_destroy(&reader->done);
	pthread_mutex_destroy(&reader->lock);
	free(reader->entries);
	free(reader->order);
	free(reader->carry);
	free(reader);
}
