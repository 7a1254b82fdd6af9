/*
 * The memory of the reader's ring, which other processes may read while the reader fills it. Rows say what
 * is where. One process writes; the others have the descriptor, by which the memory can be mapped for reading
 * only.
 */
#ifndef BURIN_EVIDENCE_SHARED_RING_H
#define BURIN_EVIDENCE_SHARED_RING_H

#include <stddef.h>
#include <stdint.h>

struct shared_ring;

/* len bytes of zeros, page-aligned, whose parts `rows` rows describe. NULL: it is not to be had. */
struct shared_ring *shared_ring_new(unsigned rows, size_t len);
uint8_t *shared_ring_memory(const struct shared_ring *ring);
/* It stays the ring's. */
int shared_ring_descriptor(const struct shared_ring *ring);
/* From now on the row says that [from, end) of the image is at `at`, inside the memory. */
void shared_ring_publish(
	struct shared_ring *ring, unsigned row, uint64_t from, uint64_t end, const uint8_t *at);
/* Before the row's bytes change. */
void shared_ring_withdraw(struct shared_ring *ring, unsigned row);

/* In another process. NULL: it can't be mapped. */
struct shared_ring *shared_ring_open(int descriptor);
/* For image_set_cache, in another process. */
size_t shared_ring_copy(void *ring, uint64_t offset, void *buffer, size_t len);

/* The memory goes when nobody has it any more. NULL is fine. */
void shared_ring_free(struct shared_ring *ring);

#endif
