#ifndef BURIN_GPU_TRANSFER_CUH
#define BURIN_GPU_TRANSFER_CUH

#include "scan/gpu_bench.h"

/* Page-locked memory for the arrays that come back, kept from one run to the next: to lock it takes
 * longer than a run. */
struct gpu_transfer_back {
	uint8_t *bytes; /* NULL at first; cudaFreeHost in the end */
	size_t len;
};

/* The transfer of struct gpu_bench_tool on len bytes of text in page-locked memory, with the current
 * device. */
int gpu_transfer_run(struct gpu_bench_transfer *result, const struct pattern_set *set,
	uint8_t *text, size_t len, struct gpu_transfer_back *back, struct error *error);

#endif
