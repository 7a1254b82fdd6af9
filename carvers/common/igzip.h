/*
 * Intact deflate streams, inflated by ISA-L's igzip at more than twice zlib's speed. Most streams
 * are intact, so igzip goes first; but only its "done" counts, and for a stream without a CRC of
 * its own only if the output has the expected CRC: igzip accepts codes that zlib rejects. Any other
 * stream is inflated again from its start by zlib, which finds the byte that is invalid.
 */
#ifndef BURIN_CARVERS_COMMON_IGZIP_H
#define BURIN_CARVERS_COMMON_IGZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum igzip_step {
	IGZIP_MORE,
	IGZIP_DONE, /* the stream ended, and its CRC, if any, matched */
	IGZIP_BAD,  /* not conclusive: use zlib */
};

struct inflate_state;

/* For a raw stream, or one with gzip's header and trailer. NULL when out of memory. */
struct inflate_state *igzip_open(bool gzip);

/* Inflates *in_left bytes at *in into *out_left bytes at out; advances the pointer and lowers both
 * counts. As long as it fills all of out there may be more output. When done, *in is just past the
 * stream. */
enum igzip_step igzip_run(struct inflate_state *state, const uint8_t **in, size_t *in_left,
	uint8_t *out, size_t *out_left);

/* NULL is fine. */
void igzip_close(struct inflate_state *state);

#endif
