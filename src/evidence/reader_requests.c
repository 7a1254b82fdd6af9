/*
 * Which bytes are read for which slot, and cutting them into requests: what both backends have in
 * common.
 *
 * Holes of sparse images are not read. Requests for them produce zeros, which must be in the ring
 * all the same: engines scan them, patterns may match zeros, and hashes include them. Where all
 * that is to be read for a slot is in a hole, its memory is zeroed only if it has held something
 * else, and the slot says so: a caller that knows what zeros mean to it may skip the slot (run/
 * does). So an empty TB costs some seconds. A hole that is filled, or a file that is cut off,
 * during the run is like any other change of evidence: a slot holds what was there when it was
 * requested.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/reader_ring.h"

/* On a dying disk this much may take minutes; reader_close waits no longer than that. An interrupted
 * run does not wait for it (image_set_interrupted). */
#define RECOVER_LEN 65536

uint64_t reader_round_up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

uint64_t reader_slot_start(const struct reader *reader, uint64_t number)
{
	return reader->begin + number * reader->slot_len;
}

/* Where reading for slot `number` begins, which is where it ends for the slot before. */
static uint64_t read_from(const struct reader *reader, uint64_t number)
{
	uint64_t from;

	if (number == 0)
		return reader->begin;
	if (number == reader->count)
		return reader->limit;
	from = reader_round_up(reader_slot_start(reader, number) + reader->overlap, reader->align);
	return from < reader->limit ? from : reader->limit;
}

uint8_t *reader_byte(const struct ring_entry *entry, uint64_t offset)
{
	return entry->memory + entry->start % DIRECT_ALIGN + (offset - entry->start);
}

/* Skips slots that were requested in full, so that `requesting` is a slot that can't be handed out
 * yet, whose entry in `order` no later slot replaces. */
static void skip_requested(struct reader *reader)
{
	while (reader->requesting < reader->assigned) {
		const struct ring_entry *entry = reader->order[reader->requesting % reader->slots];

		if (entry->next < entry->end)
			return;
		reader->requesting++;
	}
}

/* NULL when there is no free entry that nobody copies from. */
static struct ring_entry *least_recently_released(const struct reader *reader)
{
	struct ring_entry *found = NULL;

	for (unsigned i = 0; i < reader->capacity; i++) {
		struct ring_entry *entry = &reader->entries[i];

		if (!entry->assigned && !entry->holds && !entry->pins &&
			(!found || entry->released < found->released))
			found = entry;
	}
	return found;
}

bool reader_assign_entries(struct reader *reader)
{
	struct ring_entry *entry;

	while (reader->busy < reader->slots && reader->assigned < reader->count &&
		(entry = least_recently_released(reader))) {
		assert(!entry->assigned && !entry->holds && !entry->pins && !entry->pending);
		if (reader->shared)
			shared_ring_withdraw(reader->shared, entry->slot.index);
		entry->assigned = true;
		entry->hole = false;
		entry->start = reader_slot_start(reader, reader->assigned);
		entry->from = entry->next = read_from(reader, reader->assigned);
		entry->end = read_from(reader, reader->assigned + 1);
		ranges_free(&entry->bad);
		reader->busy++;
		reader->order[reader->assigned++ % reader->slots] = entry;
	}
	skip_requested(reader);
	return reader->requesting < reader->assigned;
}

/* Finds a descriptor for a request and shortens the request to what is in one file. Only what is
 * aligned in every respect is read directly; the request ends where that does. */
static void find_descriptor(struct reader *reader, struct ring_request *request)
{
	uint64_t follow;
	size_t aligned_len;
	int fd;

	request->fd = -1;
	if (!reader->extents || image_extent(reader->image, request->offset, false, &request->fd,
					&request->fd_offset, &follow))
		return;
	if (follow < request->len)
		request->len = (size_t)follow;
	aligned_len = request->len / DIRECT_ALIGN * DIRECT_ALIGN;
	if (reader->direct && aligned_len && request->fd_offset % DIRECT_ALIGN == 0 &&
		(uintptr_t)request->to % DIRECT_ALIGN == 0 &&
		!image_extent(
			reader->image, request->offset, true, &fd, &request->fd_offset, &follow)) {
		request->fd = fd;
		request->len = aligned_len;
		request->direct = true;
	}
}

/* Whether all of [offset, offset + len) is in a hole. Bytes are requested in order, so each
 * boundary between holes and data costs one question. */
static bool in_hole(struct reader *reader, uint64_t offset, uint64_t len)
{
	uint64_t known_len;

	if (offset < reader->known_from || offset >= reader->known_end) {
		reader->known_hole = image_hole(reader->image, offset, &known_len);
		reader->known_from = offset;
		reader->known_end = offset + known_len;
	}
	return reader->known_hole && len <= reader->known_end - offset;
}

/* All that is to be read for the entry is in a hole. If it was in one before, its memory is zero
 * already. */
static void request_hole(struct reader *reader, struct ring_request *request)
{
	struct ring_entry *entry = request->entry;

	request->hole = true;
	request->to = entry->memory;
	request->len = entry->zeros ? 0 : reader->stride;
	entry->hole = entry->zeros = true;
	entry->next = entry->end;
}

static void request_part(struct reader *reader, struct ring_request *request, uint64_t left)
{
	struct ring_entry *entry = request->entry;
	size_t request_len = reader->request_len - (size_t)(entry->next % reader->request_len);

	request->len = left < request_len ? (size_t)left : request_len;
	request->to = reader_byte(entry, entry->next);
	request->hole = in_hole(reader, entry->next, request->len);
	if (!request->hole)
		find_descriptor(reader, request);
	entry->zeros = false;
	entry->next += request->len;
}

bool reader_next_request(struct reader *reader, struct ring_request *request)
{
	struct ring_entry *entry = reader->order[reader->requesting % reader->slots];
	uint64_t left;

	if (reader->failure || reader->requesting == reader->assigned)
		return false;
	left = entry->end - entry->next;
	*request = (struct ring_request){ .entry = entry, .offset = entry->next };
	if (entry->next == entry->from && in_hole(reader, entry->from, left))
		request_hole(reader, request);
	else
		request_part(reader, request, left);
	assert(entry->assigned && entry->next <= entry->end);
	entry->pending++;
	skip_requested(reader);
	return true;
}

static void note_bad(void *arg, uint64_t offset, size_t len)
{
	ranges_add(arg, offset, len);
}

void reader_recover(struct reader *reader, const struct ring_request *request, struct ranges *bad)
{
	size_t done = 0;

	while (done < request->len && !atomic_load(&reader->closing)) {
		size_t left = request->len - done,
		       part_len = left < RECOVER_LEN ? left : RECOVER_LEN;

		image_read_units(reader->image, request->offset + done, request->to + done,
			part_len, note_bad, bad);
		done += part_len;
	}
}

void reader_add_ranges(struct ranges *into, const struct ranges *from)
{
	for (size_t i = 0; i < from->count; i++)
		ranges_add(into, from->items[i].offset, from->items[i].length);
}

void reader_finish(struct reader *reader, struct ring_request *request, struct ranges *bad)
{
	assert(request->entry->assigned && request->entry->pending);
	reader_add_ranges(&request->entry->bad, bad);
	ranges_free(bad);
	request->entry->pending--;
	if (image_was_cut(reader->image)) /* before this request was read in full, perhaps */
		reader_fail(reader, -ECANCELED);
	if (!reader_done(request->entry))
		return;
	if (reader->shared && !reader->failure && !request->entry->bad.count)
		shared_ring_publish(reader->shared, request->entry->slot.index,
			request->entry->from, request->entry->end,
			reader_byte(request->entry, request->entry->from));
	pthread_cond_broadcast(&reader->done);
}

void reader_fail(struct reader *reader, int rc)
{
	reader->failure = rc;
	pthread_cond_broadcast(&reader->done);
}

bool reader_done(const struct ring_entry *entry)
{
	return entry->next == entry->end && !entry->pending;
}
