/* Measuring kernels on text that lies in device memory, and what the device can do at best: for
 * `burin bench`. */
#ifndef BURIN_GPU_BENCH_H
#define BURIN_GPU_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "bench/tally.h"

#ifdef __cplusplus
extern "C" {
#endif

struct error;
struct gpu_bench;
struct gpu_tuning;
struct pattern_set;

/* A text of more bytes is not taken. */
#define GPU_BENCH_TEXT_MAX (((uint64_t)4 << 30) - (1 << 20))

struct gpu_bench_kernel {
	const struct gpu_tuning *tuning; /* in; NULL: the defaults */
	double *seconds; /* out, the caller's: one number a round */
	unsigned rounds;
	struct bench_hits hits; /* part_len in; out: of the last round */
	bool overflow;  /* out: more hits than there was room for, so they can't be compared */
	double compile; /* out: seconds */
	char how[128];  /* out: how it works */
};

/* Errors are negative errnos with the sentence in error. Seconds are by the device's own clock for
 * kernels and reads, after two rounds that don't count. */
struct gpu_bench_tool {
	/* Copies the text to the first of the devices that --gpus means. text stays the caller's
	 * and must outlive the bench; it is written to by nobody. */
	int (*open)(struct gpu_bench **bench, const char *devices, uint8_t *text, size_t text_len,
		struct error *error);
	/* NULL is fine. */
	void (*close)(struct gpu_bench *bench);
	/* Reads the text from device memory and does nothing with it. *len: how much of it, bytes.
	 */
	int (*read)(struct gpu_bench *bench, double *seconds, unsigned rounds, size_t *len,
		struct error *error);
	/* Copies the text from pinned host memory, chunk_len bytes a time, on two streams. */
	int (*copy)(struct gpu_bench *bench, size_t chunk_len, double *seconds, unsigned rounds,
		struct error *error);
	/* Searches the text. -EINVAL: the kernel does not exist or does not take the set. */
	int (*run)(struct gpu_bench *bench, const char *name, const struct pattern_set *set,
		struct gpu_bench_kernel *result, struct error *error);
};

/* NULL in a build without CUDA. */
extern const struct gpu_bench_tool *const gpu_bench_tool;

#ifdef __cplusplus
}
#endif

#endif
