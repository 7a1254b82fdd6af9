/*
 * A GPU slot is a device buffer with a stream of its own: a chunk's text goes in, is searched, and
 * its hits come out, while other slots are at another stage. scan_cuda.cu gives the chunks to
 * slots.
 */
#ifndef BURIN_GPU_SLOT_CUH
#define BURIN_GPU_SLOT_CUH

#include "gpu/kernel.h"
#include "gpu/photos.cuh"

extern "C" {
#include "scan/scan.h"
}

/* Up to this many hits come back without a request: one block sorts them on the device and writes
 * them to host memory. */
#define SLOT_SHIPPED 4096

/* A GPU, and what its slots share, using it one at a time. */
struct gpu_device {
	int id;
	void *tables;     /* of the kernel */
	uint64_t *sorted; /* key_capacity keys: result of a sort, device memory */
	void *sort_space; /* device memory */
	size_t sort_space_len;
	uint64_t *fetched; /* key_capacity keys, pinned host memory */
	uint32_t key_capacity;
	struct photo_decoder *photos; /* NULL: nothing is decoded */
	struct kept_text *kept_text;  /* NULL: texts are not kept */
};

struct gpu_slot {
	struct gpu_device *device;
	const struct gpu_kernel *kernel;   /* NULL: there is nothing to search for */
	const struct pattern_set *regexes; /* the patterns, if any is a regex; else NULL */
	uint32_t longest;                  /* of the patterns, at least 1 */
	cudaStream_t stream;
	uint8_t *text; /* device memory, text_capacity + GPU_TEXT_PAD */
	size_t text_capacity;
	struct gpu_hits hits;              /* device memory, device->key_capacity keys */
	unsigned long long *shipped_count; /* pinned host memory, written by the device */
	uint64_t *shipped;                 /* likewise, SLOT_SHIPPED keys */
	uint8_t *bounce; /* pinned host memory for chunks outside the registered ring, or NULL */

	struct photo_tile *tiles;     /* device memory, a summary of each tile; NULL: not wanted */
	struct photo_tile *tiles_got; /* pinned host memory, written by the device */
	struct photo_text kept; /* the text, until the slot is used again; len 0: there is none */

	struct chunk *chunk; /* being searched; NULL: the slot is free */
	cudaError_t error;   /* the first since submission */
	uint32_t len, to;  /* of the chunk from its `from` on: bytes with the tail, wanted starts */
	uint32_t copied;   /* bytes of it that were copied, or are being copied */
	uint32_t searched; /* starts before this were launched with the submission */
};

/* The current device must be slot->device->id for all of these. */

/* The caller sets device->id and ->tables. */
cudaError_t gpu_device_open(struct gpu_device *device, uint32_t key_capacity);
void gpu_device_close(struct gpu_device *device);

/* device, kernel, regexes, longest and text_capacity are set by the caller. */
cudaError_t gpu_slot_open(struct gpu_slot *slot, bool with_bounce, bool with_tiles);
void gpu_slot_close(struct gpu_slot *slot);

/* Starts the work on a chunk. pinned: its data can be copied from directly. density: the
 * expected hits a byte, so that no more text is copied than can be answered. Errors are kept for
 * gpu_slot_finish. */
void gpu_slot_start(struct gpu_slot *slot, struct chunk *chunk, bool pinned, double density);

/* Waits, fills in the chunk's results and frees the slot. Returns the hits a byte. */
double gpu_slot_finish(struct gpu_slot *slot, bool pinned);

#endif
