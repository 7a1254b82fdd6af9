/*
 * What reader.c, which knows the ring, shares with its two backends; nobody else includes this.
 *
 * Slots in the order of the image have numbers 0, 1, ...; each is assigned to an entry of the ring.
 * What is read for a slot is [from, end): from is the end of the overlap of the slot before, so
 * that no byte is read twice, and both are aligned for direct reads. It is cut into requests, which
 * finish in any order.
 */
#ifndef BURIN_EVIDENCE_READER_RING_H
#define BURIN_EVIDENCE_READER_RING_H

#include <pthread.h>
#include <stdatomic.h>

#include "evidence/backend.h"
#include "evidence/reader.h"
#include "evidence/shared_ring.h"

/* Usual bytes of a request. */
#define REQUEST_LEN (2u << 20)
/* The same where the bytes have to be decompressed, which takes far longer than a request. */
#define COMPRESSED_REQUEST_LEN (1u << 20)
/* Direct reads need offsets, lengths and memory that are multiples of this. */
#define DIRECT_ALIGN 4096

/* Free, or assigned to a slot that is being read, or held by the caller. */
struct ring_entry {
	struct reader_slot slot;  /* first, so that a slot's pointer is its entry's */
	uint8_t *memory;          /* reader->stride bytes, page-aligned */
	uint64_t start;           /* image offset of the slot's own first byte */
	uint64_t from, next, end; /* what is read for it; next: first byte not requested yet */
	unsigned pending;         /* requests that are being read */
	bool assigned;            /* to a slot that was not handed out yet */
	unsigned holds;           /* users of the slot that was handed out */
	unsigned pins;     /* threads that copy from it; it keeps its bytes while there are any */
	uint64_t released; /* when, by the reader's clock; 0: never */
	bool hole;         /* all of [from, end) is one */
	bool zeros;        /* all of memory is zero */
	struct ranges bad; /* unreadable parts of [from, end) */
};

/* One read into `to`, from fd at fd_offset; fd -1: through image_read_at. */
struct ring_request {
	struct ring_entry *entry;
	uint64_t offset; /* in the image */
	size_t len;
	uint8_t *to;
	int fd;
	uint64_t fd_offset;
	bool direct;
	bool hole; /* nothing is read: `to` becomes zeros */
};

struct reader_backend;

struct reader {
	struct image *image;
	const struct reader_backend *backend;
	void *backend_state;
	bool plain;   /* the image's bytes are in plain files */
	bool direct;  /* requests may have descriptors with O_DIRECT */
	bool extents; /* requests need descriptors */
	char name[32];

	uint64_t begin, finish; /* the range */
	uint64_t limit;         /* where the last slot's tail ends */
	size_t slot_len, overlap, align, stride;
	size_t request_len; /* requests are cut at multiples of it, which are whole read units */
	unsigned slots;     /* that may be assigned or held at a time */
	unsigned capacity;  /* entries in the ring: slots, and released ones that stay readable */
	uint64_t count;     /* of slots in the range */
	uint8_t *memory;
	size_t memory_len;
	struct shared_ring *shared; /* has the memory; NULL: it is this process's alone */
	struct ring_entry *entries;
	struct ring_entry **order; /* slot number n is in order[n % slots] */
	uint8_t *carry;            /* [start, from) of the slot that is handed out next */
	bool carry_hole;           /* carry is from a hole */

	pthread_mutex_t lock; /* over what follows and all entries except their memory */
	pthread_cond_t done;  /* an entry was read, a pinned one was assigned, or reading failed */
	/* Slot numbers, handed_out <= requesting <= assigned <= count: the next to hand out; the
	 * first not requested in full; the next to assign. */
	uint64_t handed_out, requesting, assigned;
	unsigned busy; /* entries that are assigned or held */
	uint64_t clock;
	int failure; /* a negative errno: no more will be read; 0: none */
	/* Whether [known_from, known_end) is in a hole. */
	uint64_t known_from, known_end;
	bool known_hole;

	struct ranges unreadable;
	size_t logged; /* of unreadable */
	_Atomic bool closing;
};

/* A way of filling the ring. */
struct reader_backend {
	const char *name;
	/* 0, or a negative errno when it is not available here. */
	int (*start)(struct reader *reader);
	/* There are requests to read. */
	void (*wake)(struct reader *reader);
	/* Waits for all requests in flight; frees backend_state. */
	void (*stop)(struct reader *reader);
};

/* How many threads reader_threads_backend reads with. */
unsigned reader_thread_count(void);

extern const struct reader_backend reader_threads_backend, reader_uring_backend;

/* How to read this image: true when its bytes are in plain files, whether other programs serve one of these, and whether
 * to read them past the page cache. */
bool reader_plan_files(struct image *image, uint64_t offset);
bool reader_plan_is_served(const struct image *image);
bool reader_plan_direct(
	struct image *image, uint64_t begin, uint64_t finish, enum reader_cache cache);

uint64_t reader_round_up(uint64_t value, uint64_t step);
/* Image offset of the first byte of slot `number`. */
uint64_t reader_slot_start(const struct reader *reader, uint64_t number);
/* Where the byte at an image offset is in memory: at the same address modulo DIRECT_ALIGN. */
uint8_t *reader_byte(const struct ring_entry *entry, uint64_t offset);
/* Adds all of from to into. */
void reader_add_ranges(struct ranges *into, const struct ranges *from);

/* Assigns free entries to the next slots, the least recently released entry first. True when there
 * is something to read for them. Under the lock. */
bool reader_assign_entries(struct reader *reader);
/* The next request to read. False when there is none now. Under the lock. */
bool reader_next_request(struct reader *reader, struct ring_request *request);
/* Repeats a request that failed, around what can't be read, which is added to bad. No lock. */
void reader_recover(struct reader *reader, const struct ring_request *request, struct ranges *bad);
/* A request was read. Frees bad. Under the lock. */
void reader_finish(struct reader *reader, struct ring_request *request, struct ranges *bad);
/* Reading ends with this negative errno. Under the lock. */
void reader_fail(struct reader *reader, int rc);
/* All that was to be read for the entry is in its memory. Under the lock. */
bool reader_done(const struct ring_entry *entry);

#endif
