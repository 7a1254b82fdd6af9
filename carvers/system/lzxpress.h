/* LZXPRESS Huffman ([MS-XCA] 2.2): decompressed to learn where it ends. No free library has it. */
#ifndef BURIN_CARVERS_SYSTEM_LZXPRESS_H
#define BURIN_CARVERS_SYSTEM_LZXPRESS_H

#include <stdbool.h>

#include "carver.h"

enum lzxpress_state {
	LZXPRESS_DONE,
	LZXPRESS_UNMARKED, /* complete, but without the end mark */
	LZXPRESS_BAD,      /* invalid */
	LZXPRESS_CUT,      /* the view ends before the stream does */
};

/* Decompresses a stream at `at` with output_len bytes of output; the first head_len of them go to
 * head. *end: the end of the stream, or of the last valid piece (64 KiB of output each), or, in the
 * first one, where it became invalid. It allocates about 200 KiB. */
enum lzxpress_state lzxpress_walk(struct view *view, uint64_t at, uint64_t output_len,
	uint8_t *head, size_t head_len, uint64_t *end);

#endif
