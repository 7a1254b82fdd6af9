#ifndef BURIN_GPU_TRANSFER_CUH
#define BURIN_GPU_TRANSFER_CUH

#include "bench/kernel_bench.h"

/* struct gpu_bench_tool's transfer on len bytes of text in the host's memory, the current
 * device. */
int gpu_transfer_run(struct gpu_bench_transfer *result, const struct pattern_set *set,
	uint8_t *text, size_t len, struct error *error);

#endif
