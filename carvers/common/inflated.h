/*
 * Deflate streams, inflated only to learn where they end or become invalid; the output is inspected
 * and dropped. Shared by all formats that contain such streams.
 */
#ifndef BURIN_CARVERS_COMMON_INFLATED_H
#define BURIN_CARVERS_COMMON_INFLATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "carver.h"

enum inflated_state {
	INFLATED_MORE, /* valid so far, and not at its end */
	INFLATED_DONE, /* the stream ended, and its checksum, if any, matched */
	INFLATED_BAD,  /* not a deflate stream (any more), or `inspect` rejected the output */
};

struct inflated {
	/* Gets the output, piece by piece; false: it is invalid. May be NULL. */
	bool (*inspect)(void *context, const uint8_t *bytes, size_t len);
	void *context;
	struct view *view;   /* of inflated_open: where the work is counted */
	uint64_t output_len; /* bytes of output so far */
	uint32_t crc;        /* their CRC-32 */
	z_stream stream;
	struct inflate_state *quick; /* of inflated_open_quick, instead of zlib's */
};

/* The format around a stream, as in zlib's windowBits. */
#define INFLATED_RAW (-15)
#define INFLATED_ZLIB 15
#define INFLATED_GZIP 31

/* Starts a stream of the view. The struct is zero but for inspect and context. False when out of
 * memory, which the view then knows. */
bool inflated_open(struct inflated *inflated, struct view *view, int wrapping);

/* The same for a raw stream that is likely to be intact: faster, but only DONE with the expected
 * CRC counts. Otherwise inflate it again from its start, with inflated_open. */
bool inflated_open_quick(struct inflated *inflated, struct view *view);

/* Inflates len more bytes. *used (may be NULL) is how many of them the stream consumed: fewer than
 * len only with DONE or BAD. */
enum inflated_state inflated_feed(
	struct inflated *inflated, const uint8_t *bytes, size_t len, size_t *used);

void inflated_close(struct inflated *inflated);

/* Opens a stream, inflates it from *at on, at most to `end`, and closes it; *at is then where it ended or became
 * invalid. MORE, too, if the budget or memory is spent. */
enum inflated_state inflated_walk(
	struct inflated *inflated, struct view *view, int wrapping, uint64_t *at, uint64_t end);

#endif
