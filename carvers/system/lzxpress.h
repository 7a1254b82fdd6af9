/* LZXPRESS Huffman ([MS-XCA] 2.2): unpacked to learn where it ends. No free library has it. */
#ifndef BURIN_CARVERS_SYSTEM_LZXPRESS_H
#define BURIN_CARVERS_SYSTEM_LZXPRESS_H

#include <stdbool.h>

#include "carver.h"

enum lzxpress_state {
	LZXPRESS_DONE,
	LZXPRESS_UNMARKED, /* all is there, but for the mark of the end */
	LZXPRESS_BAD,      /* makes no sense */
	LZXPRESS_CUT,      /* the view ends before the stream does */
};

/* Unpacks a stream at `at` that gives output_len bytes; the first head_len of them go to head.
 * *end: behind the stream, or behind the last sound piece (64 KiB of output each), or, in the first
 * one, where it broke. Memory it takes: about 200 KiB. */
enum lzxpress_state lzxpress_walk(struct view *view, uint64_t at, uint64_t output_len,
	uint8_t *head, size_t head_len, uint64_t *end);

#endif
