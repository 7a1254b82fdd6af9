/*
 * The paired-gram filter: what one thread does (for device and host), and making its tables.
 * gram.cu explains it.
 */
#ifndef BURIN_GPU_GRAM_H
#define BURIN_GPU_GRAM_H

#include "gpu/confirm.h"

#define GRAM_TABLE_LEN (128 * 1024)

/* Where a gram's entry is in the table: bits of a product, and below them the lane's copy.
 * multiplier is even, so that the low gram of a word needs no masking. */
struct gram_hash {
	uint32_t multiplier;
	uint32_t mask;   /* of the address */
	uint32_t copies; /* 1, 2, 4 .. 32: lanes with different (lane & copies - 1) use banks of
			    their own */
};

struct gram_tables {
	const uint16_t *filter; /* GRAM_TABLE_LEN bytes */
	struct gram_hash hash;
	uint32_t reach; /* the most bytes from a pattern's start to its window's */
	struct confirm confirm;
};

GPU_INLINE uint32_t gram_lane_bits(struct gram_hash hash, uint32_t lane)
{
	return (lane & (hash.copies - 1)) << 2;
}

/* The entry of a gram (higher bits of gram are ignored). Low byte: the buckets of which it can be the
 * first half; high byte: the second. */
GPU_INLINE uint32_t gram_entry(
	const void *filter, struct gram_hash hash, uint32_t lane_bits, uint32_t gram)
{
	uint32_t address = (gram * hash.multiplier & hash.mask) | lane_bits;
	return *(const uint16_t *)((const uint8_t *)filter + address);
}

/* The entries of the eight grams of 16 bytes. */
GPU_INLINE void gram_lookup(const void *filter, struct gram_hash hash, uint32_t lane_bits,
	const uint32_t words[4], uint32_t entries[8])
{
	GPU_UNROLL
	for (int i = 0; i < 4; i++) {
		entries[2 * i] = gram_entry(filter, hash, lane_bits, words[i]);
		entries[2 * i + 1] = gram_entry(filter, hash, lane_bits, words[i] >> 16);
	}
}

/* The buckets of the windows that begin at each of the eight grams, a byte each; next: the entry of
 * the gram after. */
GPU_INLINE void gram_combine(const uint32_t entries[8], uint32_t next, uint32_t buckets[2])
{
	GPU_UNROLL
	for (int i = 0; i < 2; i++) {
		const uint32_t *e = entries + 4 * i;
		uint32_t after = i ? next : entries[4];
#ifdef __CUDA_ARCH__
		uint32_t first = __byte_perm(
			__byte_perm(e[0], e[1], 0x0040), __byte_perm(e[2], e[3], 0x0040), 0x5410);
		uint32_t second = __byte_perm(
			__byte_perm(e[1], e[2], 0x0051), __byte_perm(e[3], after, 0x0051), 0x5410);
#else
		uint32_t first = (e[0] & 0xff) | (e[1] & 0xff) << 8 | (e[2] & 0xff) << 16 |
				 (e[3] & 0xff) << 24;
		uint32_t second = e[1] >> 8 | e[2] >> 8 << 8 | e[3] >> 8 << 16 | after >> 8 << 24;
#endif
		buckets[i] = first & second;
	}
}

/* One bit for each byte that is not zero. */
GPU_INLINE uint32_t gram_nonzero(uint32_t bytes)
{
	uint32_t high = (((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | bytes) & 0x80808080u;
	return (high >> 7) * 0x10204080u >> 28;
}

/* Confirms a candidate: the window that begins at the gram at `at` (even). */
GPU_INLINE void gram_confirm(const struct gram_tables *tables, const void *filter,
	uint32_t lane_bits, uint32_t at, const struct gpu_text *text, const struct gpu_hits *hits)
{
	uint32_t value = gpu_text_read(text->bytes, at);
	uint32_t buckets = gram_entry(filter, tables->hash, lane_bits, value) &
			   gram_entry(filter, tables->hash, lane_bits, value >> 16) >> 8;
	for (; buckets; buckets &= buckets - 1)
		confirm_window(&tables->confirm, gpu_lowest_bit(buckets), at, value, text, hits);
}

#ifdef __CUDACC__
extern "C" {
#endif
struct gpu_program;
struct gpu_tuning;
struct pattern_set;
struct error;

/* The functions of the kernel row (gpu/kernel.h). */
int gram_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error);
void gram_free(struct gpu_program *program);
double gram_cost(const struct gpu_program *program);
void gram_describe(const struct gpu_program *program, char *text, size_t len);
/* The tables in host memory. */
const struct gram_tables *gram_tables(const struct gpu_program *program);
#ifdef __CUDACC__
}
#endif

#endif
