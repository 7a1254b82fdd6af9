/*
 * The reader fills a ring of large slots asynchronously and hands them out in order. Each slot has
 * its own bytes and, behind them, the first `overlap` bytes of what follows, so that a match over a
 * boundary is seen whole. Each byte of the image is read once (but for the overlap behind the end
 * of a range).
 */
#ifndef BURIN_EVIDENCE_READER_H
#define BURIN_EVIDENCE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ranges.h"
#include "evidence/image.h"

enum reader_method { READER_AUTO, READER_URING, READER_THREADS };
enum reader_cache { READER_CACHE_AUTO, READER_DIRECT, READER_BUFFERED };

/* The two as one choice, as people make it: auto, or with io_uring, or with threads, whichever way
 * the bytes take; or past the page cache, or through it, whichever asks for them. */
#define READER_IO_CHOICES "auto|uring|threads|direct|buffered"
enum reader_method reader_io_method(unsigned choice);
enum reader_cache reader_io_cache(unsigned choice);

struct reader_options {
	size_t slot_len; /* own bytes of a slot; 0: 8 MiB. Raised to overlap + 1 when smaller */
	size_t overlap;  /* bytes behind a slot: longest pattern - 1 */
	unsigned slots;  /* at least 2; 0: 4 */
	size_t warm_len; /* bytes behind the slots with the caller that reader_copy shall still have */
	uint64_t offset, length; /* the range to read; length 0: to the end */
	enum reader_method method;
	enum reader_cache cache;
};

struct slot {
	const uint8_t *data;  /* len + tail_len bytes */
	uint64_t offset;      /* of data[0] in the image */
	size_t len, tail_len; /* tail_len < overlap only at the end of the image */
	unsigned index;       /* its place in the ring, from 0 */
	bool hole; /* all of it lies in a hole of a sparse image: zeros, and nothing was read */
};

struct reader;

/* Starts reading. The image stays the caller's and must outlive the reader. */
int reader_open(struct reader **reader, struct image *image, const struct reader_options *options,
	struct error *error);

/* The ring's memory: anonymous, page-aligned; for engines that register it. slot_len: largest len +
 * tail_len; slots: that the caller may have at a time. */
void reader_ring(
	const struct reader *reader, void **memory, size_t *len, size_t *slot_len, unsigned *slots);
/* "io_uring, direct", "threads, buffered": for the report. */
const char *reader_method_name(const struct reader *reader);

/* Waits for the next slot in order. 1: *slot is the caller's until reader_release; 0: the end was
 * reached; a negative errno: the reader broke down. -EAGAIN when all slots are with the caller. */
int reader_next(struct reader *reader, struct slot **slot);
/* True when reader_next would not wait. */
bool reader_ready(struct reader *reader);
/* Gives a slot back, in any order, to be filled again. */
void reader_release(struct reader *reader, struct slot *slot);

/* When reader_next has said 0: goes on with another range behind the last one,
 * Slots that the caller still has stay his. Errors as for reader_open. */
int reader_go_on(struct reader *reader, uint64_t offset, uint64_t length, struct error *error);

/* Copies what the ring holds of the len bytes of the image at offset: from their beginning on, as
 * far as it goes, and waits for what is being read. Returns how many bytes. What could not be read
 * is not among them. From any thread, until reader_close. */
size_t reader_copy(struct reader *reader, uint64_t offset, void *buffer, size_t len);

/* Ranges of the image that could not be read and were filled with zeros, so far. Only between
 * reader_next calls, from the same thread. */
const struct ranges *reader_unreadable(const struct reader *reader);

/* Stops reading, also in the middle. NULL is fine. */
void reader_close(struct reader *reader);

#endif
