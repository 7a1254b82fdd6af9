#ifndef BURIN_GPU_TRANSFER_CUH
#define BURIN_GPU_TRANSFER_CUH

#include "scan/gpu_bench.h"

/* The transfer of struct gpu_bench_tool on len bytes of text in host memory, with the current
 * device. */
int gpu_transfer_run(struct gpu_bench_transfer *result, const struct pattern_set *set,
	uint8_t *text, size_t len, struct error *error);

#endif
