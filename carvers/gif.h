/* LZW as GIF has it, followed only to see whether it makes sense. */
#ifndef BURIN_GIF_H
#define BURIN_GIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GIF_CODES 4096

struct gif_lzw {
	int code_size, first_size;
	uint32_t next;            /* the code that the table gets next */
	uint32_t bits, bit_count; /* bits that are not used yet */
	uint32_t last_len;        /* pixels of the code before; 0: there was none since a clear */
	uint64_t left;            /* pixels that the picture still wants */
	bool cleared, ended;      /* the first code was a clear; the end code was seen */
	uint32_t lens[GIF_CODES]; /* pixels that each code stands for */
};

/* Starts on a picture of so many pixels; code_size as in the file, 1 to 11. */
void gif_lzw_start(struct gif_lzw *lzw, int code_size, uint64_t pixels);

/* Takes len bytes; false: they make no sense from bytes[*used] on. Bytes that come in one
 * piece with the end code are passed over; after it there may be none. */
bool gif_lzw_feed(struct gif_lzw *lzw, const uint8_t *bytes, size_t len, size_t *used);

#endif
