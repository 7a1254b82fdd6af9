/* The names of the GPU engine's kernels, in builds with and without CUDA; gpu/ has them. */
#ifndef BURIN_SCAN_GPU_KERNELS_H
#define BURIN_SCAN_GPU_KERNELS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_kernel_info {
	const char *name, *summary;
	bool comparison; /* to be compared with: auto never takes it, and
			    `burin list kernels` shows it with --all */
};

/* Ended by a row without a name; in the order of gpu/kernel_rows.h. */
extern const struct gpu_kernel_info gpu_kernel_list[];

/* Whether this is a build with CUDA, which has them. */
extern const bool gpu_kernels_built;

#ifdef __cplusplus
}
#endif

#endif
