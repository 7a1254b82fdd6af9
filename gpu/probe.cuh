/* Which GPUs this machine has and whether they can be used; the message when one fails. */
#ifndef BURIN_GPU_PROBE_CUH
#define BURIN_GPU_PROBE_CUH

#include <stddef.h>

#include <cuda_runtime.h>

#include "scan/gpu_options.h"

extern "C" {
#include "base/error.h"
}

/* 0 when device 0 can be used; otherwise a negative errno, and in reason (len bytes) why not. */
int gpu_probe(char *reason, size_t len);

/* The devices that --gpus means (see scan/gpu_options.h; NULL: the first), into ids. Returns how many,
 * or a negative errno with the reason as a clause in reason. */
int gpu_devices(int ids[GPU_DEVICES_MAX], const char *wanted, char *reason, size_t len);

/* Sets the error for CUDA's answer and clears its sticky error. doing: "loading the tables".
 * Returns a negative errno. */
int gpu_failed(struct error *error, cudaError_t failed, const char *doing);

#endif
