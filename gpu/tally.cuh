#ifndef BURIN_GPU_TALLY_CUH
#define BURIN_GPU_TALLY_CUH

#include <cuda_runtime.h>

#include "scan/hit_tally.h"
#include "gpu/gpu_text.h"

/* Adds count hits in device memory, whose places count from `offset` of the text, to the result's
 * part and all. Waits for the device. */
cudaError_t gpu_tally(
	const uint64_t *keys, size_t count, uint64_t offset, struct hit_tallies *result);

#endif
