/* What the engine and the device for files in pieces do with src/scan/kept_text.h. */
#ifndef BURIN_GPU_TEXT_STORE_CUH
#define BURIN_GPU_TEXT_STORE_CUH

#include <cuda_runtime.h>

#include "scan/kept_text.h"

/* Bytes of a GPU that nothing is kept in. */
#define KEPT_MEMORY_LEFT ((size_t)1 << 30)

/* Puts on the stream the copy of a text that is on the current GPU: the image's from `offset` on. What there is no
 * memory for is not kept. */
void kept_text_add(struct kept_text *kept, uint64_t offset, const uint8_t *text, size_t len,
	cudaStream_t stream);
/* The GPU failed: nothing is kept any more. */
void kept_text_forget(struct kept_text *kept);
/* Puts on the stream of the current GPU copies to `to`, one after the other: of the first `len` bytes of each of
 * `count` clusters, which are `size` bytes each, from `offset` in the image on. False: some of them are not kept. */
bool kept_text_copy(const struct kept_text *kept, uint64_t offset, uint64_t size, size_t len,
	size_t count, uint8_t *to, cudaStream_t stream, cudaError_t *failed);

/* Where bytes of the image are on a GPU, and on which one. NULL: they are not kept, or not one after the other. */
const uint8_t *kept_text_at(const struct kept_text *kept, uint64_t offset, uint64_t len, int *gpu);

#endif
