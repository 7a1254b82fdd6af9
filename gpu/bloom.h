/*
 * A Bloom filter over windows of four or eight bytes at every position, for dictionaries that are
 * too large for the paired-gram filter: what one thread does (for device and host), and making its
 * tables. bloom.cu explains it.
 */
#ifndef BURIN_GPU_BLOOM_H
#define BURIN_GPU_BLOOM_H

#include "gpu/confirm.h"

#define BLOOM_TABLE_LEN (128 * 1024)
#define BLOOM_WORDS (BLOOM_TABLE_LEN / 4)

struct bloom_tables {
	const uint32_t *filter; /* BLOOM_WORDS words */
	uint32_t window_len;    /* 4 or 8 */
	uint32_t reach;         /* the most bytes from a pattern's start to its window's */
	struct confirm confirm; /* by the first four bytes of the window, all in bucket 0 */
};

/* Hash of a window: its first four bytes, and the next four or 0. */
GPU_INLINE uint32_t bloom_hash(uint32_t first, uint32_t second)
{
	uint32_t hash = first * 0x9e3779b1u + second * 0x85ebca77u;
	return hash ^ hash >> 15;
}

GPU_INLINE uint32_t bloom_rotate(uint32_t word, uint32_t by)
{
#ifdef __CUDA_ARCH__
	return __funnelshift_r(word, word, by);
#else
	return word >> (by & 31) | word << (-by & 31);
#endif
}

/* Which word of the filter a hash belongs to, in bytes, and (in bit 0 of the result) whether its
 * three bits are set there. */
GPU_INLINE uint32_t bloom_offset(uint32_t hash)
{
	return hash >> 15 & (BLOOM_TABLE_LEN - 4);
}

GPU_INLINE uint32_t bloom_test(uint32_t word, uint32_t hash)
{
	return bloom_rotate(word, hash) & bloom_rotate(word, hash >> 5) &
	       bloom_rotate(word, hash >> 10) & 1;
}

/* Four bytes from offset j (0 .. 3) of two neighbouring words. */
GPU_INLINE uint32_t bloom_window(uint32_t low, uint32_t high, uint32_t j)
{
#ifdef __CUDA_ARCH__
	return __funnelshift_r(low, high, 8 * j);
#else
	return j ? low >> 8 * j | high << (32 - 8 * j) : low;
#endif
}

/* Looks up the 16 windows that begin in words[0 .. 4); two more words follow. One bit for each that
 * may be a pattern's. */
GPU_INLINE uint32_t bloom_filter(const void *filter, bool eight, const uint32_t words[6])
{
	uint32_t found = 0;
	GPU_UNROLL
	for (int i = 0; i < 16; i++) {
		uint32_t first = bloom_window(words[i / 4], words[i / 4 + 1], i % 4);
		uint32_t second =
			eight ? bloom_window(words[i / 4 + 1], words[i / 4 + 2], i % 4) : 0;
		uint32_t hash = bloom_hash(first, second);
		uint32_t word = *(const uint32_t *)((const uint8_t *)filter + bloom_offset(hash));
		found |= bloom_test(word, hash) << i;
	}
	return found;
}

/* Confirms a candidate: the window that begins at `at`. */
GPU_INLINE void bloom_confirm(const struct bloom_tables *tables, uint32_t at,
	const struct gpu_text *text, const struct gpu_hits *hits)
{
	confirm_window(&tables->confirm, 0, at, gpu_text_read(text->bytes, at), text, hits);
}

#ifdef __CUDACC__
extern "C" {
#endif
struct gpu_program;
struct gpu_tuning;
struct pattern_set;
struct error;

/* The functions of the kernel row (gpu/kernel.h). */
int bloom_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error);
void bloom_free(struct gpu_program *program);
double bloom_cost(const struct gpu_program *program);
void bloom_describe(const struct gpu_program *program, char *text, size_t len);
/* The tables in host memory. */
const struct bloom_tables *bloom_tables(const struct gpu_program *program);
#ifdef __CUDACC__
}
#endif

#endif
