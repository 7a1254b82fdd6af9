/* Measuring kernels on text that is in device memory, and what the device can do at best. gpu/
 * implements it (gpu/kernel_bench.cu), and `burin bench` calls it. */
#ifndef BURIN_SCAN_GPU_BENCH_H
#define BURIN_SCAN_GPU_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "scan/hit_tally.h"

#ifdef __cplusplus
extern "C" {
#endif

struct error;
struct gpu_bench;
struct gpu_tuning;
struct pattern_set;

/* The longest text, bytes. */
#define GPU_BENCH_TEXT_MAX (((uint64_t)4 << 30) - (1 << 20))
/* Bytes after the text that kernels may read. */
#define GPU_BENCH_TEXT_PAD 8192

/* Which matches a kernel's output holds. */
enum gpu_bench_found {
	GPU_FOUND_ALL,
	GPU_FOUND_LONGEST, /* of those that start at one place, the longest, the first of equal ones */
	GPU_FOUND_COUNT, /* their number: hits.all.count, and nothing else of hits */
};

struct gpu_bench_kernel {
	const struct gpu_tuning *tuning; /* in; NULL: the defaults */
	size_t len;                      /* in: search only this much of the text, bytes; 0: all */
	bool form;       /* in: the output of the kernel's paper in place of a list of hits; all
			    patterns must be exact strings then */
	bool zero_copy;  /* in: the text stays in host memory, and the kernel fetches it from
			    there */
	double *seconds; /* out, the caller's: one number a round */
	unsigned rounds; /* in and out: fewer when they take long */
	struct hit_tallies hits; /* part_len in; out: of the last round */
	bool overflow;  /* out: more hits than there was room for, so they can't be compared */
	double compile; /* out: seconds */
	char how[128];  /* out: how it works */
	enum gpu_bench_found found; /* out: what hits holds */
	size_t form_len;            /* out: bytes of the paper's array; 0: none */
};

/* Copies of the text between the host's memory and the device's, on two streams. */
struct gpu_bench_copy {
	size_t len;       /* in: of the text, bytes; 0: all */
	size_t chunk_len; /* in: bytes of one copy */
	bool pageable;    /* in: the host's memory as malloc gives it, else page-locked */
	bool to_host;     /* in: back to the host, else to the device */
	double *seconds;  /* out, the caller's: of each round, by the host's clock */
	unsigned rounds;  /* in: at least 1 */
};

/* How segments of a text go through the device: strategies A and B of Zha and Sahni
 * (bench/papers/theory.h). */
enum gpu_strategy {
	GPU_STRATEGY_A,      /* all segments are resident */
	GPU_STRATEGY_B,      /* two buffers in turn, and a barrier after each segment */
	GPU_STRATEGY_HYBRID, /* `buffers` buffers in turn; a segment waits only for what it needs */
};

/* Text from the host's memory to the device, through a kernel's paper's form, and the array back to
 * the host. */
struct gpu_bench_transfer {
	const char *kernel;              /* in */
	const struct gpu_tuning *tuning; /* in; NULL: the defaults */
	enum gpu_strategy strategy;      /* in */
	unsigned buffers;                /* in: of the hybrid; at least 1 */
	bool two_channels;               /* in: copies to and from the device may overlap */
	unsigned segments, rounds;       /* in: at least 1; a short text has fewer segments */
	size_t len;                      /* in: of the text, bytes; 0: all */
	double *seconds;                 /* out, the caller's: of each round, by the host's clock */
	double t_w, t_p, t_r; /* out: seconds of a segment's three steps, each alone: medians */
	size_t device_len;    /* out: bytes of the device's memory for text and arrays */
	enum gpu_bench_found found; /* out: what hits holds */
	struct hit_tallies hits;    /* out: by the arrays that came back to the host */
};

/* Errors are negative errnos with the sentence in error. Seconds are by the device's own clock for
 * kernels and reads, after two rounds that don't count. */
struct gpu_bench_tool {
	/* Copies the text to the first of the devices that --gpus names. The caller owns text,
	 * which must outlive the bench, and after which GPU_BENCH_TEXT_PAD bytes are readable. */
	int (*open)(struct gpu_bench **bench, const char *devices, uint8_t *text, size_t text_len,
		struct error *error);
	/* NULL is fine. */
	void (*close)(struct gpu_bench *bench);
	/* Reads the text from device memory and does nothing with it. *len: the bytes
	 * read. */
	int (*read)(struct gpu_bench *bench, double *seconds, unsigned rounds, size_t *len,
		struct error *error);
	int (*copy)(
		struct gpu_bench *bench, const struct gpu_bench_copy *copy, struct error *error);
	/* Searches the text. -EINVAL: the kernel does not exist or does not take the set. */
	int (*run)(struct gpu_bench *bench, const char *name, const struct pattern_set *set,
		struct gpu_bench_kernel *result, struct error *error);
	/* -EINVAL: the kernel does not exist, has no form that shows matches, or does not take the
	 * set; -ENOMEM: strategy A has no room. */
	int (*transfer)(struct gpu_bench *bench, const struct pattern_set *set,
		struct gpu_bench_transfer *result, struct error *error);
};

/* NULL in a build without CUDA. */
extern const struct gpu_bench_tool *const gpu_bench_tool;

#ifdef __cplusplus
}
#endif

#endif
