/* The chunks of a PNG, whose bytes come in any parts: length, type, data, and a CRC-32 of type and data. */
#ifndef BURIN_CARVERS_COMMON_PNG_CHUNKS_H
#define BURIN_CARVERS_COMMON_PNG_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PNG_SIGNATURE_LEN 8
#define PNG_CHUNK_MIN 12 /* bytes of a chunk without data */

struct png_chunks {
	uint64_t at, end;  /* of the bytes: those up to `at` were fed; no chunk goes past `end` */
	uint64_t chunk_at; /* where the chunk begins, of which a part was fed or which ended last */
	bool is_last;      /* it is the picture's last one, IEND */
	uint8_t head[8];   /* its length and type */
	uint8_t stored[4];
	uint32_t crc;
	bool is_over; /* the chunk: the next byte begins another one */
};

enum png_step { PNG_MORE, PNG_CHUNK, PNG_BAD_LENGTH, PNG_BAD_CRC };

bool png_is_signature(const uint8_t p[PNG_SIGNATURE_LEN]);

/* The first chunk begins at `at`. */
static inline struct png_chunks png_chunks_begin(uint64_t at, uint64_t end)
{
	return (struct png_chunks){ .at = at, .chunk_at = at, .end = end };
}

/* Goes through the next len bytes up to the end of a chunk that is valid, or to where one is not; *used of them. PNG_MORE: they were all
 * used. */
enum png_step png_chunks_feed(
	struct png_chunks *chunks, const uint8_t *bytes, size_t len, size_t *used);

#endif
