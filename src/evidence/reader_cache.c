/*
 * Bytes from the ring for code that looks at single places: carvers and the writers of files. They
 * look at what was just scanned, and a little after it. Direct reads leave nothing in the page
 * cache, so that each look would cost a request of its own, and what was decompressed would have to
 * be decompressed again.
 *
 * A thread that copies from an entry pins it, which keeps it from being reused; the copying itself
 * needs no lock. An entry provides what was read for it, [from, end): the bytes before that are
 * written when it is handed out, and the entry before has them. A thread that wants what is being
 * read waits for it: a request of its own would not be faster.
 */
#include <assert.h>
#include <string.h>

#include "evidence/reader_ring.h"

/* The entry with the byte, whether it is read or not. Under the lock. */
static struct ring_entry *find(struct reader *reader, uint64_t offset)
{
	for (unsigned i = 0; i < reader->capacity; i++) {
		struct ring_entry *entry = &reader->entries[i];

		if (entry->from <= offset && offset < entry->end)
			return entry;
	}
	return NULL;
}

/* The entry with the byte, pinned; NULL when there is none, or when some of *len bytes there can't
 * be read. Lowers *len to what the entry has. */
static struct ring_entry *pin(struct reader *reader, uint64_t offset, size_t *len)
{
	struct ring_entry *entry;

	pthread_mutex_lock(&reader->lock);
	while ((entry = find(reader, offset)) && !reader_done(entry) && !reader->failure)
		pthread_cond_wait(&reader->done, &reader->lock);
	if (entry && entry->end - offset < *len)
		*len = (size_t)(entry->end - offset);
	if (entry && (reader->failure || !reader_done(entry) ||
			     ranges_overlap(&entry->bad, offset, *len)))
		entry = NULL;
	if (entry)
		entry->pins++;
	pthread_mutex_unlock(&reader->lock);
	return entry;
}

/* The reader may have been waiting for the entry. */
static void unpin(struct reader *reader, struct ring_entry *entry)
{
	uint64_t assigned;

	pthread_mutex_lock(&reader->lock);
	assert(entry->pins);
	assigned = reader->assigned;
	if (!--entry->pins)
		reader_assign_entries(reader);
	assigned = reader->assigned - assigned;
	if (assigned)
		pthread_cond_broadcast(&reader->done);
	pthread_mutex_unlock(&reader->lock);
	if (assigned)
		reader->backend->wake(reader);
}

size_t reader_copy(struct reader *reader, uint64_t offset, void *buffer, size_t len)
{
	size_t done = 0;

	while (done < len) {
		size_t part_len = len - done;
		struct ring_entry *entry = pin(reader, offset + done, &part_len);

		if (!entry)
			break;
		memcpy((uint8_t *)buffer + done, reader_byte(entry, offset + done), part_len);
		unpin(reader, entry);
		done += part_len;
	}
	return done;
}
