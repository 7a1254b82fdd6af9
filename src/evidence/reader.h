/*
 * The reader fills a ring of large slots asynchronously and hands them out in order. Each slot has
 * its own bytes followed by the first `overlap` bytes of what comes next, so that a match across a
 * boundary is seen whole. Each byte of the image is read once (except the overlap after the end of
 * a range).
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

/* Both in one option, as --io offers them: automatic; io_uring or threads, with or without the page
 * cache; direct or buffered, by either method. */
#define READER_IO_CHOICES "auto|uring|threads|direct|buffered"
enum reader_method reader_io_method(unsigned choice);
enum reader_cache reader_io_cache(unsigned choice);

struct reader_options {
	size_t slot_len; /* own bytes of a slot; 0: 8 MiB. Raised to overlap + 1 when smaller */
	size_t overlap;  /* bytes after a slot's own: longest pattern - 1 */
	unsigned slots;  /* at least 2; 0: 4 */
	/* Bytes of released slots that reader_copy can still use, unless they are in the page cache. */
	size_t cache_len;
	uint64_t offset, length; /* the range to read; length 0: to the end */
	enum reader_method method;
	enum reader_cache cache; /* the page cache */
	/* Other processes are to read the ring (evidence/shared_ring.h), unless its bytes are in the page cache. */
	bool shared;
};

struct reader_slot {
	const uint8_t *data;  /* len + tail_len bytes */
	uint64_t offset;      /* of data[0] in the image */
	size_t len, tail_len; /* tail_len < overlap only at the end of the image */
	unsigned index;       /* of its entry in the ring, from 0 */
	bool hole; /* all of it is in a hole of a sparse image: zeros, and nothing was read */
};

struct reader;

/* Starts reading. The image stays the caller's and must outlive the reader. Returns 0 or a negative
 * errno with error set. */
int reader_open(struct reader **reader, struct image *image, const struct reader_options *options,
	struct error *error);

/* The ring's memory, anonymous and page-aligned, for engines that register it. slot_len: largest
 * len + tail_len; slots: how many the caller may hold at a time. */
void reader_ring(
	const struct reader *reader, void **memory, size_t *len, size_t *slot_len, unsigned *slots);
/* Whether its bytes would have to be read from the disk or decompressed again: they are not in the page cache, where
 * threads read them without waiting for each other. */
bool reader_saves_reading(const struct reader *reader);
/* The descriptor by which other processes read it, which stays the reader's; -1: they can't. */
int reader_descriptor(const struct reader *reader);
/* "io_uring, direct", "threads, buffered": for the report. */
const char *reader_method_name(const struct reader *reader);

/* Waits for the next slot in order. 1: the caller holds *slot until reader_release; 0: the end was
 * reached; a negative errno: reading failed altogether. -EAGAIN when all slots are held. */
int reader_next(struct reader *reader, struct reader_slot **slot);
/* True when reader_next would not wait. */
bool reader_ready(struct reader *reader);
/* Holds a slot that is held already once more, for another user of its bytes. Thread-safe, as
 * reader_release. */
void reader_hold(struct reader *reader, struct reader_slot *slot);
/* Ends one hold. After the last one, in any order of slots, the slot is filled again. */
void reader_release(struct reader *reader, struct reader_slot *slot);

/* After reader_next returned 0: continues with a range after the previous one. Slots still
 * held stay valid. Errors as for reader_open. */
int reader_continue(struct reader *reader, uint64_t offset, uint64_t length, struct error *error);

/* Copies what the ring holds of the len bytes of the image at offset, from the first one on, and
 * waits for what is being read. Returns how many bytes it copied; it stops before the first that
 * could not be read. From any thread, until reader_close. */
size_t reader_copy(struct reader *reader, uint64_t offset, void *buffer, size_t len);

/* Ranges of the image that could not be read so far and were filled with zeros. Only between
 * reader_next calls, from the same thread. */
const struct ranges *reader_unreadable(const struct reader *reader);

/* Stops reading, even in the middle. NULL is fine. */
void reader_close(struct reader *reader);

#endif
