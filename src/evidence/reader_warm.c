/*
 * Bytes out of the ring for those who look at single places: carvers, and the writers of files.
 * They look at what has just been searched, and behind it. Direct reads leave nothing in the page
 * cache, so that each look would cost a request of its own, and what has been unpacked would have
 * to be unpacked again.
 *
 * Who copies from a place pins it, which keeps it from being filled anew; the copying itself needs
 * no lock. A place gives what was read for it, [from, end): what stands before is written when it
 * is handed out, and the place before has it. Those who want what is being read wait for it: it
 * will not be faster by a request of their own, and all of it comes without their doing.
 */
#include <string.h>

#include "evidence/reader_ring.h"

/* The place with the byte, whether it is read or not. Under the lock. */
static struct fill *find(struct reader *reader, uint64_t offset)
{
	for (unsigned i = 0; i < reader->places; i++) {
		struct fill *fill = &reader->fills[i];

		if (fill->from <= offset && offset < fill->end)
			return fill;
	}
	return NULL;
}

/* The place with the byte, pinned; NULL when there is none, or not all is good of *len bytes there,
 * which is lowered to what it has. */
static struct fill *pin(struct reader *reader, uint64_t offset, size_t *len)
{
	struct fill *fill;

	pthread_mutex_lock(&reader->lock);
	while ((fill = find(reader, offset)) && !reader_done(fill) && !reader->broken)
		pthread_cond_wait(&reader->done, &reader->lock);
	if (fill && fill->end - offset < *len)
		*len = (size_t)(fill->end - offset);
	if (fill && (!reader_done(fill) || ranges_overlap(&fill->bad, offset, *len)))
		fill = NULL;
	if (fill)
		fill->pins++;
	pthread_mutex_unlock(&reader->lock);
	return fill;
}

/* The reader may have had to wait for the place. */
static void unpin(struct reader *reader, struct fill *fill)
{
	uint64_t given;

	pthread_mutex_lock(&reader->lock);
	given = reader->given;
	if (!--fill->pins)
		reader_assign(reader);
	given = reader->given - given;
	if (given)
		pthread_cond_broadcast(&reader->done);
	pthread_mutex_unlock(&reader->lock);
	if (given)
		reader->way->wake(reader);
}

size_t reader_copy(struct reader *reader, uint64_t offset, void *buffer, size_t len)
{
	size_t done = 0;

	while (done < len) {
		size_t part_len = len - done;
		struct fill *fill = pin(reader, offset + done, &part_len);

		if (!fill)
			break;
		memcpy((uint8_t *)buffer + done, reader_byte(fill, offset + done), part_len);
		unpin(reader, fill);
		done += part_len;
	}
	return done;
}
