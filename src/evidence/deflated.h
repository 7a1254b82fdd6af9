/* Decompresses deflate streams that are small enough to be in memory whole. */
#ifndef BURIN_EVIDENCE_DEFLATED_H
#define BURIN_EVIDENCE_DEFLATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum inflate_format { INFLATE_RAW, INFLATE_ZLIB, INFLATE_GZIP };

/* *len: what it gave. Bytes after the stream are ignored. False: it is invalid, longer than `room`, or there is no memory. */
bool inflate_whole(enum inflate_format format, const uint8_t *packed, size_t packed_len,
	uint8_t *to, size_t room, size_t *len);

#endif
