/*
 * The ring: which bytes go into which slot, and handing them out in order.
 *
 *   image    |<------ slot 0 ------>|<------ slot 1 ------>|<------ slot 2 ---
 *   read for |<------- 0 --------------->|<------- 1 -------->|<------- 2 ----
 *
 * What is read for a slot ends behind its overlap, at the next multiple of reader->align. The slot
 * behind it starts inside of that, and gets those bytes from it by way of a small buffer, `carry`,
 * when the slots are handed out, which happens in order: so no byte is read twice, a slot depends
 * on none that is read later, and the reads themselves stay aligned whatever the sizes of slots and
 * patterns are. Slots may be smaller than the alignment; then nothing is read for most of them.
 *
 * A place of the ring keeps its bytes when it is given back, and takes others only when all the
 * rest were given back later: carvers look at what has just passed (reader_warm.c).
 *
 * Reading itself is done in one of two ways: reader_threads.c for what is in the page cache
 * (copying costs processor time, which wants threads) or has to be unpacked, reader_uring.c for
 * direct reads (the device works, nobody has to wait).
 */
#include "evidence/reader_ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/memory.h"

/* Memory that is touched for the first time is dear, in a virtual machine most of all. */
#define DEFAULT_SLOT_LEN (8u << 20)
/* What is unpacked should still be in a cache when carvers come to look at it: slots of an E01 are
 * no larger than its readers need to be kept busy. */
#define PACKED_SLOT_LEN_MAX (16u << 20)
#define PACKED_SLOT_LEN_EACH (1u << 20) /* a reader */
#define DEFAULT_SLOTS 4
/* The largest chunk of an E01: more alignment than this would cost too much memory. */
#define GRANULE_MAX (16u << 20)
#define TELL_MAX 20
/* Places of the ring behind the caller's: more of them, in a ring of small slots, would be of no
 * use. */
#define WARM_MAX 32

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

static size_t default_slot_len(bool packed)
{
	size_t slot_len = (size_t)reader_thread_count() * PACKED_SLOT_LEN_EACH;

	if (!packed || slot_len < DEFAULT_SLOT_LEN)
		return DEFAULT_SLOT_LEN;
	return slot_len < PACKED_SLOT_LEN_MAX ? slot_len : PACKED_SLOT_LEN_MAX;
}

static void set_places(struct reader *reader, const struct reader_options *options)
{
	size_t warm = options->warm_len / reader->slot_len;

	reader->slots = options->slots ? options->slots : DEFAULT_SLOTS;
	if (reader->slots < 2)
		reader->slots = 2;
	reader->places = reader->slots + (unsigned)(warm < WARM_MAX ? warm : WARM_MAX);
}

/* Sizes that the ring has in the end: no slot is larger than the range, or as small as the
 * overlap. */
static int set_sizes(
	struct reader *reader, const struct reader_options *options, struct error *error)
{
	uint32_t granule = reader->image->granule;
	bool packed = granule > DIRECT_ALIGN;
	size_t slot_len = options->slot_len ? options->slot_len : default_slot_len(packed);
	uint64_t range;
	int rc;

	reader->overlap = options->overlap;
	rc = set_range(reader, options, error);
	if (rc)
		return rc;
	range = reader->finish - reader->begin;
	if (slot_len > range)
		slot_len = (size_t)range;
	if (slot_len <= reader->overlap)
		slot_len = reader->overlap + 1;
	reader->slot_len = slot_len;
	set_places(reader, options);
	reader->count = (range + slot_len - 1) / slot_len;
	reader->align = packed && granule <= GRANULE_MAX ? granule : DIRECT_ALIGN;
	/* A chunk that several pieces share would be unpacked by one thread while others wait. */
	reader->piece_len = !packed                      ? PIECE_LEN
			    : granule < PACKED_PIECE_LEN ? PACKED_PIECE_LEN / granule * granule
							 : granule;
	if (slot_len > SIZE_MAX / 8 / reader->places ||
		reader->overlap > SIZE_MAX / 8 / reader->places)
		return error_set(error, EXIT_IO, ENOMEM, "%zu bytes a slot are too many", slot_len);
	reader->stride = (size_t)reader_round_up(
		DIRECT_ALIGN + slot_len + reader->overlap + reader->align, DIRECT_ALIGN);
	return 0;
}

static int make_ring(struct reader *reader, struct error *error)
{
	reader->memory_len = reader->stride * reader->places;
	reader->memory = mmap(NULL, reader->memory_len, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (reader->memory == MAP_FAILED) {
		reader->memory = NULL;
		return error_set(error, EXIT_IO, ENOMEM,
			"no memory for %u slots of %zu bytes: ask for fewer or smaller ones",
			reader->places, reader->slot_len);
	}
	/* Fewer faults while the ring is filled for the first time. Where it is not to be had, so
	 * be it. */
	madvise(reader->memory, reader->memory_len, MADV_HUGEPAGE);
	reader->fills = xcalloc(reader->places, sizeof(*reader->fills));
	reader->order = xcalloc(reader->slots, sizeof(*reader->order));
	reader->carry = xmalloc(reader->overlap + reader->align);
	for (unsigned i = 0; i < reader->places; i++) {
		reader->fills[i].memory = reader->memory + i * reader->stride;
		reader->fills[i].slot.index = i;
		reader->fills[i].zeros = true; /* as new memory is */
	}
	return 0;
}

static int try_way(struct reader *reader, const struct reader_way *way)
{
	int rc;

	reader->extents = reader->direct || way == &reader_uring_way;
	reader->way = way;
	snprintf(reader->name, sizeof(reader->name), "%s, %s", way->name,
		reader->direct ? "direct" : "buffered");
	rc = way->start(reader);
	if (rc)
		reader->way = NULL;
	return rc;
}

/* io_uring where it was asked for, or direct reads profit from it; threads where it is not to be
 * had. */
static int start(struct reader *reader, const struct reader_options *options, struct error *error)
{
	bool plain = reader_plan_files(reader->image, reader->begin);
	int rc = -ENOTSUP;

	reader->direct = plain && reader_plan_direct(reader->image, reader->begin, reader->finish,
					  options->cache);
	if (plain && options->method != READER_THREADS &&
		(options->method == READER_URING || reader->direct))
		rc = try_way(reader, &reader_uring_way);
	if (rc)
		rc = try_way(reader, &reader_threads_way);
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
	pthread_mutex_init(&reader->lock, NULL);
	pthread_cond_init(&reader->done, NULL);
	rc = set_sizes(reader, options, error);
	if (!rc)
		rc = make_ring(reader, error);
	if (!rc) {
		reader_assign(reader);
		rc = start(reader, options, error);
	}
	if (rc) {
		reader_close(reader);
		return rc;
	}
	reader->way->wake(reader);
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

const char *reader_method_name(const struct reader *reader)
{
	return reader->name;
}

/* ---- handing out --------------------------------------------------------------------------- */

static void tell_range(const struct reader *reader, const struct range *range)
{
	uint64_t len;
	char *why = image_why(reader->image, range->offset, &len);

	log_warn("can't read %llu bytes at offset %llu of %s: zeros are taken instead%s%s%s",
		(unsigned long long)range->length, (unsigned long long)range->offset,
		image_info(reader->image)->paths[0], why ? " (" : "", why ? why : "",
		why ? ")" : "");
	free(why);
}

/* Logs the unreadable ranges that end before `upto`: those which no later slot makes longer. Slots
 * come in order, so the list only changes at its end. */
static void tell_unreadable(struct reader *reader, uint64_t upto)
{
	const struct ranges *bad = &reader->unreadable;

	for (; reader->told < bad->count; reader->told++) {
		const struct range *range = &bad->items[reader->told];

		if (range->offset + range->length >= upto)
			return;
		if (reader->told < TELL_MAX)
			tell_range(reader, range);
		else if (reader->told == TELL_MAX)
			log_warn("more places can't be read: all of them stand in the report");
	}
}

/* The place of the ring with the slot that is next; NULL when it has none yet. Under the lock. */
static struct fill *next_fill(struct reader *reader)
{
	return reader->handed < reader->given ? reader->order[reader->handed % reader->slots]
					      : NULL;
}

/* The caller has all the slots that he may have. Under the lock. */
static bool has_all(struct reader *reader)
{
	return reader->handed == reader->given && reader->busy == reader->slots;
}

/* Until the slot that is next is read. Under the lock, which is given up meanwhile. */
static int await_next(struct reader *reader, struct fill **fill)
{
	while (!reader->broken) {
		*fill = next_fill(reader);
		if (*fill && reader_done(*fill))
			return 0;
		if (has_all(reader))
			return -EAGAIN;
		pthread_cond_wait(&reader->done, &reader->lock);
	}
	return reader->broken;
}

/* Puts the bytes that were read for the slot before in front, and keeps those that the next slot
 * needs. */
static void carry_over(struct reader *reader, struct fill *fill)
{
	uint64_t next = reader_slot_start(reader, reader->handed + 1);
	bool carried_hole = fill->from == fill->start || reader->carry_hole;

	if (reader->handed > 0)
		memcpy(reader_byte(fill, fill->start), reader->carry,
			(size_t)(fill->from - fill->start));
	if (reader->handed + 1 < reader->count)
		memcpy(reader->carry, reader_byte(fill, next), (size_t)(fill->end - next));
	fill->zeros &= carried_hole;
	fill->slot.hole = fill->hole && carried_hole;
	reader->carry_hole = fill->slot.hole || (fill->hole && next >= fill->from);
}

static void hand_out(struct reader *reader, struct fill *fill, struct slot **slot)
{
	uint64_t left = reader->finish - fill->start, behind;

	carry_over(reader, fill);
	reader_add(&reader->unreadable, &fill->bad);
	tell_unreadable(reader, fill->end);
	fill->slot.data = reader_byte(fill, fill->start);
	fill->slot.offset = fill->start;
	fill->slot.len = left < reader->slot_len ? (size_t)left : reader->slot_len;
	behind = reader->limit - fill->start - fill->slot.len;
	fill->slot.tail_len = behind < reader->overlap ? (size_t)behind : reader->overlap;
	*slot = &fill->slot;
}

int reader_next(struct reader *reader, struct slot **slot)
{
	struct fill *fill;
	int rc;

	if (reader->handed == reader->count) {
		tell_unreadable(reader, UINT64_MAX);
		return 0;
	}
	pthread_mutex_lock(&reader->lock);
	rc = await_next(reader, &fill);
	pthread_mutex_unlock(&reader->lock);
	if (rc)
		return rc;
	hand_out(reader, fill, slot);
	pthread_mutex_lock(&reader->lock);
	reader->handed++;
	fill->assigned = false;
	fill->held = true;
	pthread_mutex_unlock(&reader->lock);
	return 1;
}

bool reader_ready(struct reader *reader)
{
	struct fill *fill;
	bool ready;

	if (reader->handed == reader->count)
		return true;
	pthread_mutex_lock(&reader->lock);
	fill = next_fill(reader);
	ready = reader->broken || has_all(reader) || (fill && reader_done(fill));
	pthread_mutex_unlock(&reader->lock);
	return ready;
}

void reader_release(struct reader *reader, struct slot *slot)
{
	struct fill *fill = (struct fill *)slot;
	bool more;

	pthread_mutex_lock(&reader->lock);
	fill->held = false;
	fill->released = ++reader->clock;
	reader->busy--;
	more = reader_assign(reader);
	pthread_mutex_unlock(&reader->lock);
	if (more)
		reader->way->wake(reader);
}

int reader_go_on(struct reader *reader, uint64_t offset, uint64_t length, struct error *error)
{
	const struct reader_options options = { .offset = offset, .length = length };
	bool more;
	int rc;

	pthread_mutex_lock(&reader->lock);
	rc = set_range(reader, &options, error);
	if (!rc) {
		reader->count =
			(reader->finish - reader->begin + reader->slot_len - 1) / reader->slot_len;
		reader->handed = reader->asking = reader->given = 0;
		reader->carry_hole = false;
	}
	more = !rc && reader_assign(reader);
	pthread_mutex_unlock(&reader->lock);
	if (more)
		reader->way->wake(reader);
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
	if (reader->way)
		reader->way->stop(reader);
	tell_unreadable(reader, UINT64_MAX);
	for (unsigned i = 0; reader->fills && i < reader->places; i++)
		ranges_free(&reader->fills[i].bad);
	if (reader->memory)
		munmap(reader->memory, reader->memory_len);
	ranges_free(&reader->unreadable);
	pthread_cond_destroy(&reader->done);
	pthread_mutex_destroy(&reader->lock);
	free(reader->fills);
	free(reader->order);
	free(reader->carry);
	free(reader);
}
