/*
 * Queues that may grow beyond memory. All queues of a run share one store: what does not fit
 * into its memory goes to a temporary file, and is read back when its turn comes. Elements have a
 * fixed size. One thread.
 */
#ifndef BURIN_CARVE_FIFO_H
#define BURIN_CARVE_FIFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct fifo_store;

/* memory_limit: bytes of queued elements that are kept in memory, roughly. create: makes the
 * temporary file when it is first needed and returns a descriptor that the store closes, or a
 * negative errno. */
struct fifo_store *fifo_store_new(
	size_t memory_limit, int (*create)(void *context, struct error *), void *context);
/* 0, or the negative errno of the first read or write of the file that failed, with error set:
 * elements are lost from then on, and the run must end. */
int fifo_store_status(const struct fifo_store *store, struct error *error);
/* Bytes that the file has grown to. */
uint64_t fifo_store_spilled(const struct fifo_store *store);
/* After all its queues were cleared. NULL is fine. */
void fifo_store_free(struct fifo_store *store);

struct fifo {
	struct fifo_store *store;
	size_t element_len; /* bytes */
	uint64_t count;     /* elements queued */
	struct fifo_block *first, *last;
	uint32_t first_index,
		last_index; /* elements taken from the first block; put into the last */
};

/* Sets up an empty queue; it takes no memory until something is pushed. */
void fifo_init(struct fifo *fifo, struct fifo_store *store, size_t element_len);
void fifo_push(struct fifo *fifo, const void *element);
/* The oldest element, valid until the next call; NULL when empty or when the store failed. */
void *fifo_front(struct fifo *fifo);
/* Removes the oldest. The queue must not be empty. */
void fifo_pop(struct fifo *fifo);
/* Calls visit for all elements in place, the oldest first. Stops when the store fails. */
void fifo_visit(
	struct fifo *fifo, void (*visit)(void *context, const void *element), void *context);
void fifo_clear(struct fifo *fifo);

#endif
