/*
 * Sound deflate streams, unpacked by ISA-L's igzip at more than twice zlib's speed. Most streams
 * that are looked at are sound, so this goes first; but only its "done" counts, and of a stream
 * without a CRC of its own only when what came out has the CRC that it should have: igzip lets
 * codes pass that zlib refuses. Of the rest zlib finds the byte that makes no sense, from the start
 * again.
 */
#ifndef BURIN_CARVERS_COMMON_IGZIP_H
#define BURIN_CARVERS_COMMON_IGZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum igzip_step {
	IGZIP_MORE,
	IGZIP_DONE, /* the stream ended, and its CRC held if it has one */
	IGZIP_BAD,  /* ask zlib */
};

struct inflate_state;

/* A bare stream, or one in gzip's wrapping. NULL when there is no memory for it. */
struct inflate_state *igzip_open(bool gzip);

/* Unpacks from *in, *in_left bytes, to out, *out_left bytes; moves the pointer and lowers the
 * counts. While it fills all of out there may be more to come. When it is done, *in is behind the
 * stream. */
enum igzip_step igzip_run(struct inflate_state *state, const uint8_t **in, size_t *in_left,
	uint8_t *out, size_t *out_left);

/* NULL is fine. */
void igzip_close(struct inflate_state *state);

#endif
