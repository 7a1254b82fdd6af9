#include "scan/gpu_kernels.h"

#include <stddef.h>

const struct gpu_kernel_info gpu_kernel_list[] = {
#define ROW(variable, name, comparison, summary) { name, summary, comparison },
#include "gpu/kernel_rows.h"
	{ NULL, NULL, false },
};
