/* LZW as GIF and TIFF have it, followed only to see whether it makes sense. */
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

struct lzw {
	enum lzw_kind kind;
	int code_size, first_size;
	uint32_t next;            /* the code that the table gets next */
	uint32_t bits, bit_count; /* bits that are not used yet */
	uint32_t last_len;        /* values of the code before; 0: there was none since a clear */
	uint64_t left;            /* values that may still come out */
	bool cleared, ended;      /* there was a code that clears; the end code was seen */
	uint32_t lens[LZW_CODES]; /* values that each code stands for */
};

/* Starts on data of `left` values of first_size bits each, 1 to 11. */
void lzw_start(struct lzw *lzw, enum lzw_kind kind, int first_size, uint64_t left);

/* Takes len bytes; *used of them up to the end code, if it is there. False: they make no sense from
 * bytes[*used] on. After the end code there may be none. */
bool lzw_feed(struct lzw *lzw, const uint8_t *bytes, size_t len, size_t *used);

#endif
