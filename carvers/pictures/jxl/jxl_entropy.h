/* The entropy coding of JPEG XL: integers in contexts, by ANS or prefix codes, with LZ77. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_ENTROPY_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_ENTROPY_H

#include "jxl_bits.h"

/* How a number is composed of a token and the bits after it. */
struct jxl_hybrid {
	uint8_t split, high, low;
};

struct jxl_cluster;

struct jxl_code {
	bool lz77, prefix;
	uint32_t min_symbol, min_len; /* of LZ77 */
	struct jxl_hybrid lengths;
	unsigned alpha; /* bits of a token */
	size_t context_count;
	uint8_t *map; /* each context's cluster */
	unsigned cluster_count;
	struct jxl_cluster *clusters;
	/* State of the numbers being read. */
	uint32_t state;
	uint32_t *window;
	uint32_t width; /* of the picture that distances refer to, or 0 */
	uint32_t copy_count;
	uint64_t copy_at, done;
};

/* Reads the cluster of each of `count` contexts, and the number of clusters. */
bool jxl_map_read(struct jxl_bits *bits, uint8_t *map, size_t count, unsigned *cluster_count);

/* Reads the code of numbers in context_count contexts (0: one, without LZ77). False: it is invalid,
 * or out of memory. jxl_code_free in either case. */
bool jxl_code_read(struct jxl_bits *bits, size_t context_count, struct jxl_code *code);

/* Starts reading numbers; may be called again. False: out of memory. */
bool jxl_code_begin(struct jxl_bits *bits, struct jxl_code *code, uint32_t width);

/* Reads the next number. context: less than the code's context_count. */
uint32_t jxl_code_next(struct jxl_bits *bits, struct jxl_code *code, size_t context);

/* After the last number: notes an error unless the coder is in the state in which all encoders
 * start. */
void jxl_code_end(struct jxl_bits *bits, struct jxl_code *code);

void jxl_code_free(struct jxl_code *code);

#endif
