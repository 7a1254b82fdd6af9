/*
 * The kernels' algorithms on the CPU: the same tables, and each worker does for its piece of the text
 * what one thread does on the device. An engine made of such an algorithm is one row.
 */
#ifndef BURIN_GPU_PAPERS_CPU_SEQUENTIAL_H
#define BURIN_GPU_PAPERS_CPU_SEQUENTIAL_H

#include "gpu/gpu_text.h"
#include "scan/matcher.h"

struct gpu_program;
struct gpu_tuning;

struct sequential {
	/* As in struct gpu_kernel (gpu/kernel.h). */
	int (*compile)(struct gpu_program **program, const struct pattern_set *set,
		const struct gpu_tuning *tuning, struct error *error);
	void (*free)(struct gpu_program *program);
	void (*describe)(const struct gpu_program *program, char *text, size_t len);
	/* Finds all matches that start in [text->from, text->to), in any order; nothing past
	 * text->len may be read. It may end when hits->count is beyond hits->capacity. */
	void (*search)(const struct gpu_program *program, const struct gpu_text *text,
		const struct gpu_hits *hits);
};

/* What a matcher is made of; its compile is
 *     return sequential_compile(database, &nfa, set, error);
 * Regexes are searched by what their matches begin with, and those without enough certain bytes are
 * tried at every byte: no set is refused for them. */
int sequential_compile(void **database, const struct sequential *algorithm,
	const struct pattern_set *set, struct error *error);
void sequential_free(void *database);
void *sequential_scratch_new(const void *database);
void sequential_scratch_free(void *scratch);
int sequential_find(const void *database, void *scratch, const uint8_t *text, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *sink);
const char *sequential_kernel(const void *database);
/* A matcher's members, but its name and compile. */
#define SEQUENTIAL_MATCHER \
	.free = sequential_free, .scratch_new = sequential_scratch_new, \
	.scratch_free = sequential_scratch_free, .find = sequential_find, \
	.kernel = sequential_kernel

/* Works on every machine. */
int sequential_probe(char *reason, size_t len);

#endif
