/*
 * A queue is a list of blocks. Elements are put into the last block and taken from the first;
 * both are in memory. When memory is short, a block that has just become full and is not the
 * first goes to the file, into a hole that an earlier block left or at the end; its entry in the
 * list records where. It is read back when it becomes the first.
 */
#include "carve/fifo.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

#define BLOCK_LEN ((size_t)16384)
#define NOWHERE UINT64_MAX

struct fifo_block {
	struct fifo_block *next;
	uint8_t *bytes; /* BLOCK_LEN, or NULL while in the file */
	uint64_t place; /* number of the block in the file, or NOWHERE */
};

struct fifo_store {
	size_t limit, used; /* blocks that may be, and are, in memory */
	int (*create)(void *context, struct error *error);
	void *context;
	int fd;               /* -1 until the first spill */
	uint64_t file_blocks; /* blocks that the file has room for */
	uint64_t *holes;      /* places that are free again */
	size_t hole_count, hole_capacity;
	int status;
	struct error error;
};

struct fifo_store *fifo_store_new(
	size_t memory_limit, int (*create)(void *context, struct error *), void *context)
{
	struct fifo_store *store = xcalloc(1, sizeof(*store));

	store->limit = memory_limit / BLOCK_LEN;
	store->create = create;
	store->context = context;
	store->fd = -1;
	return store;
}

int fifo_store_status(const struct fifo_store *store, struct error *error)
{
	if (store->status && error)
		*error = store->error;
	return store->status;
}

uint64_t fifo_store_spilled(const struct fifo_store *store)
{
	return store->file_blocks * BLOCK_LEN;
}

void fifo_store_free(struct fifo_store *store)
{
	if (!store)
		return;
	if (store->fd >= 0)
		close(store->fd);
	free(store->holes);
	free(store);
}

static bool store_fail(struct fifo_store *store, int status, const char *doing)
{
	bool full = status == -ENOSPC || status == -EDQUOT || status == -EFBIG;

	store->status = status;
	error_set(&store->error, EXIT_IO, -status,
		"cannot %s the temporary file for pending hits in the output folder: %s%s", doing,
		strerror(-status), full ? "; choose a folder with more room with -o" : "");
	return false;
}

static bool store_ready(struct fifo_store *store)
{
	int fd;

	if (store->status)
		return false;
	if (store->fd >= 0)
		return true;
	fd = store->create(store->context, &store->error);
	if (fd < 0)
		store->status = fd;
	else
		store->fd = fd;
	return fd >= 0;
}

static bool transfer_block(struct fifo_store *store, struct fifo_block *block, bool out)
{
	uint64_t at = block->place * BLOCK_LEN;
	int status = out ? file_write_at(store->fd, block->bytes, BLOCK_LEN, at)
			 : file_read_all_at(store->fd, block->bytes, BLOCK_LEN, at);

	return !status || store_fail(store, status, out ? "write" : "read");
}

static void block_release(struct fifo_store *store, struct fifo_block *block)
{
	assert(store->used);
	free(block->bytes);
	block->bytes = NULL;
	store->used--;
}

static void spill(struct fifo_store *store, struct fifo_block *block)
{
	assert(block->bytes && block->place == NOWHERE);
	if (!store_ready(store))
		return;
	block->place = store->hole_count ? store->holes[--store->hole_count] : store->file_blocks++;
	if (transfer_block(store, block, true))
		block_release(store, block);
}

static void unspill(struct fifo_store *store, struct fifo_block *block)
{
	assert(!block->bytes && block->place < store->file_blocks);
	block->bytes = xcalloc(1, BLOCK_LEN);
	store->used++;
	if (!transfer_block(store, block, false))
		return;
	store->holes = xgrow(
		store->holes, &store->hole_capacity, store->hole_count, sizeof(*store->holes));
	store->holes[store->hole_count++] = block->place;
	block->place = NOWHERE;
}

void fifo_init(struct fifo *fifo, struct fifo_store *store, size_t element_len)
{
	assert(element_len && element_len <= BLOCK_LEN);
	*fifo = (struct fifo){ .store = store, .element_len = element_len };
}

static uint32_t per_block(const struct fifo *fifo)
{
	return (uint32_t)(BLOCK_LEN / fifo->element_len);
}

static void append_block(struct fifo *fifo)
{
	struct fifo_block *block = xcalloc(1, sizeof(*block));
	struct fifo_block *full = fifo->last;

	block->bytes = xmalloc(BLOCK_LEN);
	block->place = NOWHERE;
	fifo->store->used++;
	fifo->last_index = 0;
	fifo->last = block;
	if (!full) {
		fifo->first = block;
		fifo->first_index = 0;
		return;
	}
	full->next = block;
	if (full != fifo->first && fifo->store->used > fifo->store->limit)
		spill(fifo->store, full);
}

void fifo_push(struct fifo *fifo, const void *element)
{
	if (fifo->store->status)
		return;
	if (!fifo->last || fifo->last_index == per_block(fifo))
		append_block(fifo);
	assert(fifo->last->bytes && fifo->last_index < per_block(fifo));
	memcpy(fifo->last->bytes + fifo->last_index++ * fifo->element_len, element,
		fifo->element_len);
	fifo->count++;
}

static void drop_first(struct fifo *fifo)
{
	struct fifo_block *block = fifo->first;

	fifo->first = block->next;
	fifo->first_index = 0;
	if (!fifo->first)
		fifo->last = NULL;
	if (block->bytes)
		block_release(fifo->store, block);
	free(block);
}

void *fifo_front(struct fifo *fifo)
{
	if (!fifo->count || fifo->store->status)
		return NULL;
	if (!fifo->first->bytes) {
		unspill(fifo->store, fifo->first);
		if (fifo->store->status)
			return NULL;
	}
	assert(fifo->first != fifo->last || fifo->first_index < fifo->last_index);
	return fifo->first->bytes + fifo->first_index * fifo->element_len;
}

void fifo_pop(struct fifo *fifo)
{
	assert(fifo->count && fifo->first);
	fifo->count--;
	fifo->first_index++;
	if (!fifo->count || fifo->first_index == per_block(fifo))
		drop_first(fifo);
}

/* The block's bytes: its own, or read into copy. */
static const uint8_t *block_bytes(
	struct fifo_store *store, const struct fifo_block *block, uint8_t *copy)
{
	struct fifo_block reading = { .bytes = copy, .place = block->place };

	if (block->bytes)
		return block->bytes;
	return transfer_block(store, &reading, false) ? copy : NULL;
}

void fifo_visit(struct fifo *fifo, void (*visit)(void *context, const void *element), void *context)
{
	uint8_t *copy = fifo->count ? xmalloc(BLOCK_LEN) : NULL;

	for (const struct fifo_block *block = fifo->first; block; block = block->next) {
		uint32_t from = block == fifo->first ? fifo->first_index : 0;
		uint32_t until = block == fifo->last ? fifo->last_index : per_block(fifo);
		const uint8_t *bytes = block_bytes(fifo->store, block, copy);

		for (uint32_t i = from; bytes && i < until; i++)
			visit(context, bytes + i * fifo->element_len);
		if (!bytes)
			break;
	}
	free(copy);
}

void fifo_clear(struct fifo *fifo)
{
	while (fifo->first)
		drop_first(fifo);
	fifo->count = 0;
}
