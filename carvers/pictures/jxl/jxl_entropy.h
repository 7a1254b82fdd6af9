/* The entropy coding of JPEG XL: whole numbers in contexts, by ANS or prefix codes, with LZ77. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_ENTROPY_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_ENTROPY_H

#include "jxl_bits.h"

/* How a number is made of a token and bits behind it. */
struct jxl_hybrid {
	uint8_t split, high, low;
};

struct jxl_cluster;

struct jxl_code {
	bool lz77, prefix;
	uint32_t least_symbol, least_len; /* of LZ77 */
	struct jxl_hybrid lengths;
	unsigned alpha; /* bits of a token */
	size_t context_count;
	uint8_t *map; /* of each context the cluster */
	unsigned cluster_count;
	struct jxl_cluster *clusters;
	/* of the numbers that are being read */
	uint32_t state;
	uint32_t *window;
	uint32_t width; /* of the picture that the distances are meant for, or 0 */
	uint32_t copy_count;
	uint64_t copy_at, done;
};

/* Reads which cluster each of so many contexts belongs to, and how many clusters there are. */
bool jxl_map_read(struct jxl_bits *bits, uint8_t *map, size_t count, unsigned *cluster_count);

/* Reads what the code of numbers in so many contexts is (0: one, without LZ77). False: it makes no
 * sense, or there is no memory. jxl_code_free in either case. */
bool jxl_code_read(struct jxl_bits *bits, size_t context_count, struct jxl_code *code);

/* Begins to read numbers; may be done again. False: no memory. */
bool jxl_code_begin(struct jxl_bits *bits, struct jxl_code *code, uint32_t width);

uint32_t jxl_code_next(struct jxl_bits *bits, struct jxl_code *code, size_t context);

/* Behind the last number: something is wrong unless the coder is where all begin. */
void jxl_code_end(struct jxl_bits *bits, struct jxl_code *code);

void jxl_code_free(struct jxl_code *code);

#endif
