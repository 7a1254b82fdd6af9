/* The names of the kernels, for builds with and without CUDA. */
#ifndef BURIN_GPU_LIST_H
#define BURIN_GPU_LIST_H

struct gpu_kernel_info {
	const char *name, *summary;
};

/* Ended by a row without a name; in the order of the table in kernels.cu. */
extern const struct gpu_kernel_info gpu_kernel_list[];

#endif
