/* The names of the kernels, for builds with and without CUDA. */
#ifndef BURIN_GPU_KERNEL_LIST_H
#define BURIN_GPU_KERNEL_LIST_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_kernel_info {
	const char *name, *summary;
	bool comparison; /* from a paper, to be compared with: auto never takes it */
};

/* Ended by a row without a name; in the order of the table in kernels.cu. */
extern const struct gpu_kernel_info gpu_kernel_list[];

/* Whether this is a build with CUDA, which has them. */
extern const bool gpu_kernels_built;

#ifdef __cplusplus
}
#endif

#endif
