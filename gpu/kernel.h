/*
 * The kernel contract. A kernel family searches text in device memory and leaves its hits there;
 * scan_cuda.cu moves the text in and the hits out and knows nothing of tables. A family's tables
 * for the patterns are compiled once on the host (C code, tested without a GPU) and then loaded onto
 * each device.
 */
#ifndef BURIN_GPU_KERNEL_H
#define BURIN_GPU_KERNEL_H

#include "gpu/gpu_text.h"

#ifdef __CUDACC__
#include <cuda_runtime.h>
extern "C" {
#endif

#include "base/error.h"
#include "scan/gpu_options.h"
#include "patterns/pattern_set.h"

/* A family's tables for one pattern set; each family has its own struct. Immutable and shared by
 * devices. */
struct gpu_program;

#ifdef __CUDACC__
/* What an array in a paper's own form holds. */
enum gpu_form_kind {
	GPU_FORM_ALL,     /* every match */
	GPU_FORM_LONGEST, /* of the matches that start at one place, the longest, and of
			      those the pattern with the least number */
	GPU_FORM_COUNT,   /* how many there are */
};

/*
 * The output as the paper publishes it: an array over the text or over the threads instead of a
 * list of hits, to be measured and to be checked against the hits. Nothing is confirmed, so most take
 * only sets of which every pattern is a keyword of its own (patterns/keywords.h).
 */
struct gpu_form {
	const char *what; /* "a state for each byte" */
	enum gpu_form_kind kind;
	/* Whether the form takes the set. NULL: any. */
	bool (*takes)(const struct gpu_program *program);
	/* Bytes of the array in device memory, which is aligned to 256. */
	size_t (*len)(const void *tables, const struct gpu_text *text);
	/* Fills the array: all of the paper's kernel, and nothing else. */
	cudaError_t (*launch)(
		const void *tables, const struct gpu_text *text, void *array, cudaStream_t stream);
	/* Adds the array's matches to the hits; GPU_FORM_COUNT: to their count alone. */
	cudaError_t (*expand)(const void *tables, const struct gpu_text *text, const void *array,
		const struct gpu_hits *hits, cudaStream_t stream);
};
#endif

struct gpu_kernel {
	const char *name; /* as in gpu/kernel_rows.h */
	/* Compiles the set on the host. The set must outlive the program; the tuning, which may be
	 * NULL, need not. -EINVAL: the set does not suit this kernel, and error says why, as a clause after
	 * "gpu: "; -ENOMEM: the tables would be too large. */
	int (*compile)(struct gpu_program **program, const struct pattern_set *set,
		const struct gpu_tuning *tuning, struct error *error);
	void (*free)(struct gpu_program *program);
	/* Expected time on one multiprocessor, clock cycles for 512 bytes, on the built-in model of
	 * disk content; `auto` takes the least. NULL: a kernel for comparison, which `auto` never
	 * takes. */
	double (*cost)(const struct gpu_program *program);
	/* Describes how it works in a few words ("gram, 11-bit tables x 32"). */
	void (*describe)(const struct gpu_program *program, char *text, size_t len);
#ifdef __CUDACC__
	/* Copies the tables to the current device. *tables: the family's own struct; unload needs
	 * the same device to be current. */
	cudaError_t (*load)(void **tables, const struct gpu_program *program);
	void (*unload)(void *tables);
	/* Starts the search; text and hits point to device memory. The stream must have zeroed the
	 * count. */
	cudaError_t (*launch)(const void *tables, const struct gpu_text *text,
		const struct gpu_hits *hits, cudaStream_t stream);
	const struct gpu_form *form; /* NULL: none */
#endif
};

#ifdef __CUDACC__
#define ROW(variable, name, comparison, summary) extern const struct gpu_kernel variable;
#include "gpu/kernel_rows.h"

/* All rows of gpu/kernel_rows.h, ended by NULL. */
extern const struct gpu_kernel *const gpu_kernels[];

/* Compiles the set for the kernel called name, or, for NULL, for the one with the least expected
 * cost among those that take it and have one. choice (len bytes): what was picked, and for NULL why
 * ("bloom, ...; gram would cost 5.1 times as much"). */
int gpu_kernel_pick(const struct gpu_kernel **kernel, struct gpu_program **program,
	const char *name, const struct pattern_set *set, const struct gpu_tuning *tuning,
	char *choice, size_t len, struct error *error);

/* Whether the kernel has a form of its paper's that takes the set; -EINVAL: it has not, and error says
 * why. */
int gpu_form_check(
	const struct gpu_kernel *kernel, const struct gpu_program *program, struct error *error);
}
#endif

#endif
