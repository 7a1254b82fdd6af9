/*
 * A slot is a device buffer with a stream of its own: a chunk's text goes in, is searched, and its
 * hits come out, while other slots do the same at another stage. The host side of one piece of
 * work; scan_cuda.cu deals the chunks to slots.
 */
#ifndef BURIN_GPU_SLOT_CUH
#define BURIN_GPU_SLOT_CUH

#include "gpu/kernel.h"

extern "C" {
#include "scan/scan.h"
}

/* Hits that come back without being asked for: sorted on the device by one block, and written to
 * host memory. */
#define SLOT_SHIPPED 4096

/* A GPU, with what its slots share. They use it one at a time. */
struct gpu_device {
	int id;
	void *tables;     /* of the kernel */
	uint64_t *sorted; /* key_capacity keys: result of a sort, device memory */
	void *sort_space; /* device memory */
	size_t sort_space_len;
	uint64_t *fetched; /* key_capacity keys, pinned host memory */
	uint32_t key_capacity;
};

struct slot {
	struct gpu_device *device;
	const struct gpu_kernel *kernel;   /* NULL: there is nothing to search for */
	const struct pattern_set *regexes; /* the patterns, if some are regexes; else NULL */
	uint32_t longest;                  /* of the patterns, at least 1 */
	cudaStream_t stream;
	uint8_t *text; /* device memory, text_capacity + GPU_TEXT_PAD */
	size_t text_capacity;
	struct gpu_hits hits;              /* device memory, device->key_capacity keys */
	unsigned long long *shipped_count; /* pinned host memory, written by the device */
	uint64_t *shipped;                 /* likewise, SLOT_SHIPPED keys */
	uint8_t *bounce; /* pinned host memory for chunks outside the registered ring, or NULL */

	struct chunk *chunk; /* at work on this; NULL: free */
	cudaError_t error;   /* the first since submission */
	uint32_t len, to;  /* of the chunk from its `from` on: bytes with the tail, wanted starts */
	uint32_t copied;   /* bytes of it that are on the device or on their way */
	uint32_t searched; /* starts before this are searched by the launch of the submission */
};

/* The current device must be slot->device->id for all of these. */

/* device->id and ->tables are the caller's. */
cudaError_t gpu_device_open(struct gpu_device *device, uint32_t key_capacity);
void gpu_device_close(struct gpu_device *device);

/* device, kernel, regexes, longest and text_capacity are set by the caller. */
cudaError_t slot_open(struct slot *slot, bool with_bounce);
void slot_close(struct slot *slot);

/* Starts the work on a chunk. pinned: its data can be copied from directly. density: the hits a
 * byte that are to be expected, so that no more text is copied than can be answered. Errors are
 * kept for slot_finish. */
void slot_start(struct slot *slot, struct chunk *chunk, bool pinned, double density);

/* Waits, fills in the chunk's results and frees the slot. Returns the hits a byte. */
double slot_finish(struct slot *slot, bool pinned);

#endif
