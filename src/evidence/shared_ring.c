/*
 * Nobody waits for anybody: each row has a version, which is odd while it says nothing, and who has copied
 * bytes looks whether the version is still the same. If not, the bytes may be others, and are read elsewhere.
 */
#include "evidence/shared_ring.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define PAGE_LEN 4096

struct row {
	_Atomic uint64_t version, from, end, at; /* at: from the memory's begin */
};

/* At the begin of the descriptor's memory. */
struct head {
	uint64_t rows, head_len;
	struct row row[];
};

struct shared_ring {
	int fd; /* -1: of another process */
	size_t len;
	struct head *head;
	uint8_t *memory; /* after the head */
};

static void store(_Atomic uint64_t *to, uint64_t value)
{
	atomic_store_explicit(to, value, memory_order_relaxed);
}

static uint64_t load(const _Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_relaxed);
}

/* ---- the reader's -------------------------------------------------------------------------- */

static struct head *map_memory(int fd, size_t len, int protection)
{
	void *memory = mmap(NULL, len, protection, MAP_SHARED | MAP_NORESERVE, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

struct shared_ring *shared_ring_new(unsigned rows, size_t len)
{
	struct shared_ring *ring = xcalloc(1, sizeof(*ring));
	size_t head_len = sizeof(struct head) + rows * sizeof(struct row);

	head_len = (head_len + PAGE_LEN - 1) / PAGE_LEN * PAGE_LEN;
	ring->len = head_len + len;
	ring->fd = memfd_create("burin-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ring->fd >= 0 && !ftruncate(ring->fd, (off_t)ring->len))
		ring->head = map_memory(ring->fd, ring->len, PROT_READ | PROT_WRITE);
	/* This mapping can still be written, and there will be no other that can. */
	if (!ring->head ||
		fcntl(ring->fd, F_ADD_SEALS,
			F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)) {
		shared_ring_free(ring);
		return NULL;
	}
	*ring->head = (struct head){ .rows = rows, .head_len = head_len };
	for (unsigned i = 0; i < rows; i++)
		store(&ring->head->row[i].version, 1);
	ring->memory = (uint8_t *)ring->head + head_len;
	return ring;
}

uint8_t *shared_ring_memory(const struct shared_ring *ring)
{
	return ring->memory;
}

int shared_ring_descriptor(const struct shared_ring *ring)
{
	return ring->fd;
}

void shared_ring_publish(
	struct shared_ring *ring, unsigned row, uint64_t from, uint64_t end, const uint8_t *at)
{
	struct row *published = &ring->head->row[row];

	store(&published->from, from);
	store(&published->end, end);
	store(&published->at, (uint64_t)(at - ring->memory));
	atomic_store_explicit(
		&published->version, load(&published->version) + 1, memory_order_release);
}

void shared_ring_withdraw(struct shared_ring *ring, unsigned row)
{
	struct row *withdrawn = &ring->head->row[row];

	if (load(&withdrawn->version) % 2)
		return;
	store(&withdrawn->version, load(&withdrawn->version) + 1);
	atomic_thread_fence(memory_order_seq_cst);
}

void shared_ring_free(struct shared_ring *ring)
{
	if (!ring)
		return;
	if (ring->head)
		munmap(ring->head, ring->len);
	if (ring->fd >= 0)
		close(ring->fd);
	free(ring);
}

/* ---- another process's --------------------------------------------------------------------- */

struct shared_ring *shared_ring_open(int descriptor)
{
	struct shared_ring *ring;
	struct head *head;
	struct stat info;

	if (fstat(descriptor, &info) ||
		!(head = map_memory(descriptor, (size_t)info.st_size, PROT_READ)))
		return NULL;
	ring = xcalloc(1, sizeof(*ring));
	*ring = (struct shared_ring){ .fd = -1,
		.len = (size_t)info.st_size,
		.head = head,
		.memory = (uint8_t *)head + head->head_len };
	return ring;
}

/* Whether all that was read before is of the version. */
static bool is_still(const struct row *row, uint64_t version)
{
	atomic_thread_fence(memory_order_acquire);
	return load(&row->version) == version;
}

/* Returns how many of the bytes the row has, from the first one on. */
static size_t copy_from_row(const struct shared_ring *ring, const struct row *row, uint64_t offset,
	void *buffer, size_t len)
{
	uint64_t version = atomic_load_explicit(&row->version, memory_order_acquire);
	uint64_t from = load(&row->from), end = load(&row->end), at = load(&row->at);

	if (version % 2 || offset < from || offset >= end || !is_still(row, version))
		return 0;
	if (end - offset < len)
		len = (size_t)(end - offset);
	memcpy(buffer, ring->memory + at + (offset - from), len);
	return is_still(row, version) ? len : 0;
}

size_t shared_ring_copy(void *context, uint64_t offset, void *buffer, size_t len)
{
	const struct shared_ring *ring = context;
	size_t done = 0, got;

	do {
		got = 0;
		for (uint64_t i = 0; i < ring->head->rows && !got && done < len; i++)
			got = copy_from_row(ring, &ring->head->row[i], offset + done,
				(uint8_t *)buffer + done, len - done);
		done += got;
	} while (got && done < len);
	return done;
}
