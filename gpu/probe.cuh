/* Which GPUs there are and whether they will do. */
#ifndef BURIN_GPU_PROBE_CUH
#define BURIN_GPU_PROBE_CUH

#include <stddef.h>

#define GPU_DEVICES_MAX 64

/* 0 when device 0 can be used; otherwise a negative errno, and in reason (len bytes) why not. */
int gpu_probe(char *reason, size_t len);

/* Reads what --gpus says (see gpu/options.h; NULL: the first) into ids. Returns how many, or a
 * negative errno with the reason, a clause, in reason. */
int gpu_devices(int ids[GPU_DEVICES_MAX], const char *wanted, char *reason, size_t len);

#endif
