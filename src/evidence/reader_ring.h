/*
 * What reader.c, which knows the ring, shares with the two ways of filling it; nobody else includes
 * this.
 *
 * Slots in the order of the image have numbers 0, 1, ...; each is assigned to a place in the ring
 * (struct fill). What is read afresh for a slot is [from, end): from is behind the overlap of the
 * slot before, so that no byte is read twice, and both are aligned for direct reads. It is cut into
 * pieces, which are read in any order.
 */
#ifndef BURIN_EVIDENCE_READER_RING_H
#define BURIN_EVIDENCE_READER_RING_H

#include <pthread.h>
#include <stdatomic.h>

#include "evidence/backend.h"
#include "evidence/reader.h"

/* Bytes of a piece as a rule. */
#define PIECE_LEN (2u << 20)
/* As a rule, where it has to be unpacked, which takes far longer than a request. */
#define PACKED_PIECE_LEN (1u << 20)
/* What direct reads want offsets, lengths and memory to be multiples of. */
#define DIRECT_ALIGN 4096

struct fill {
	struct slot slot;         /* first, so that a slot is its fill */
	uint8_t *memory;          /* reader->stride bytes, page-aligned */
	uint64_t start;           /* image offset of the slot's own first byte */
	uint64_t from, next, end; /* read afresh; the next byte that was not yet asked for */
	unsigned pending;         /* pieces that are being read */
	bool assigned;            /* to a slot, and not yet handed out */
	bool held;                /* by the caller */
	unsigned pins;            /* who copies from it: it keeps its bytes */
	uint64_t released;        /* when, by the reader's clock; 0: never */
	bool hole;                /* all of [from, end) is one */
	bool zeros;               /* all of memory is zero */
	struct ranges bad;        /* of [from, end) */
};

/* To be read into `to`. fd: where the bytes are to be read from, at fd_offset; -1: through
 * image_read_at. */
struct piece {
	struct fill *fill;
	uint64_t offset; /* in the image */
	size_t len;
	uint8_t *to;
	int fd;
	uint64_t fd_offset;
	bool direct;
	bool hole; /* nothing is to be read: `to` becomes zeros */
};

struct reader_way;

struct reader {
	struct image *image;
	const struct reader_way *way;
	void *way_state;
	bool direct;  /* pieces may have descriptors with O_DIRECT */
	bool extents; /* pieces must have descriptors */
	char name[32];

	uint64_t begin, finish; /* the range */
	uint64_t limit;         /* where the last slot's tail ends */
	size_t slot_len, overlap, align, stride;
	size_t piece_len; /* pieces are cut at multiples of it, which are whole granules */
	unsigned slots;   /* that may be filled for the caller, or be with him, at a time */
	unsigned places;  /* in the ring: these, and those that stay as they were released */
	uint64_t count;   /* of slots in the range */
	uint8_t *memory;
	size_t memory_len;
	struct fill *fills;
	struct fill **order; /* slot number n is in order[n % slots] */
	uint8_t *carry;      /* [start, from) of the slot that is handed out next */
	bool carry_hole;     /* it lies in a hole */

	pthread_mutex_t lock; /* over what follows and all fills, but for memory */
	pthread_cond_t done;  /* a fill is, or one that was pinned is assigned, or it broke down */
	uint64_t handed, asking,
		given; /* numbers: next to hand out; being asked for; next to assign */
	unsigned busy; /* places that are assigned, or with the caller */
	uint64_t clock;
	int broken; /* a negative errno: no more will be read */
	/* [known_from, known_end) lies in a hole, or does not. */
	uint64_t known_from, known_end;
	bool known_hole;

	struct ranges unreadable;
	size_t told; /* how many of them were logged */
	_Atomic bool closing;
};

/* A way of filling the ring. */
struct reader_way {
	const char *name;
	int (*start)(
		struct reader *reader); /* 0, or a negative errno when it is not to be had here */
	void (*wake)(struct reader *reader); /* there are pieces to read */
	void (*stop)(struct reader *reader); /* waits for all pieces in flight; frees way_state */
};

/* How many threads reader_threads_way reads with. */
unsigned reader_thread_count(void);

extern const struct reader_way reader_threads_way, reader_uring_way;

/* How to read this image: true when its bytes lie in files, and whether these are to be read past
 * the page cache. */
bool reader_plan_files(struct image *image, uint64_t offset);
bool reader_plan_direct(
	struct image *image, uint64_t begin, uint64_t finish, enum reader_cache cache);

uint64_t reader_round_up(uint64_t value, uint64_t step);
/* Image offset of the first byte of slot `number`. */
uint64_t reader_slot_start(const struct reader *reader, uint64_t number);
/* The place in memory of the byte at an image offset: the same as there, modulo DIRECT_ALIGN. */
uint8_t *reader_byte(const struct fill *fill, uint64_t offset);
/* Adds all of from to into. */
void reader_add(struct ranges *into, const struct ranges *from);

/* Gives free places of the ring to the next slots, those first that were released the longest ago.
 * True when there is something to read for them. Under the lock. */
bool reader_assign(struct reader *reader);
/* The next piece to read. False when there is none now. Under the lock. */
bool reader_take(struct reader *reader, struct piece *piece);
/* Reads a piece that failed again, around what can't be read, which is added to bad. No lock. */
void reader_recover(struct reader *reader, const struct piece *piece, struct ranges *bad);
/* A piece is in the ring. Frees bad. Under the lock. */
void reader_finish(struct reader *reader, struct piece *piece, struct ranges *bad);
/* No more will be read, because of this. Under the lock. */
void reader_break(struct reader *reader, int rc);
/* All of the fill's pieces are in the ring. Under the lock. */
bool reader_done(const struct fill *fill);

#endif
