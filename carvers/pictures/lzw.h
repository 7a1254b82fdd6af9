/* LZW as in GIF and TIFF, decoded only to see whether it is valid. */
#ifndef BURIN_CARVERS_PICTURES_LZW_H
#define BURIN_CARVERS_PICTURES_LZW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LZW_CODES 4096

enum lzw_kind {
	LZW_GIF,
	LZW_TIFF,
};

/* The values, of up to 8 bits. Zero-initialise all but the arrays. */
struct lzw_values {
	uint8_t *bytes;  /* as many as are expected */
	uint16_t *codes; /* as many: which code begins with it, or LZW_CODES */
	uint32_t count;
	uint32_t last_place;        /* of the previous code's string in them */
	uint32_t places[LZW_CODES]; /* and of those that the table defines */
};

struct lzw {
	enum lzw_kind kind;
	int code_size, first_size;
	uint32_t next;             /* the next code that the table will define */
	uint32_t bits, bit_count;  /* bits not used yet */
	uint32_t last_len;         /* the previous code's number of values; 0: none since a clear
                                     code */
	uint64_t left;             /* values still expected */
	bool cleared, ended;       /* a clear code came; the end code came */
	uint32_t lens[LZW_CODES];  /* each code's number of values */
	struct lzw_values *values; /* NULL: they are not wanted */
};

/* Starts decoding `left` values of first_size bits each, 1 to 11. */
void lzw_start(struct lzw *lzw, enum lzw_kind kind, int first_size, uint64_t left);

/* Decodes len bytes. *used is how many of them come before the end of the end code, if that is
 * among them. False: they are invalid from bytes[*used] on. No bytes may follow the end code. */
bool lzw_feed(struct lzw *lzw, const uint8_t *bytes, size_t len, size_t *used);

#endif
