/*
 * Deflate streams, unpacked only to learn where they end or where they stop making sense; what
 * comes out is looked at and thrown away. Shared by all formats that hold such streams.
 */
#ifndef BURIN_CARVERS_COMMON_INFLATED_H
#define BURIN_CARVERS_COMMON_INFLATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

enum inflated_state {
	INFLATED_MORE, /* all sound so far, and not at its end */
	INFLATED_DONE, /* the stream ended, and its checksum held if it has one */
	INFLATED_BAD,  /* this is no deflate stream (any more), or `look` refused what came out */
};

struct inflated {
	/* Sees what comes out, piece by piece; false: it makes no sense. May be NULL. */
	bool (*look)(void *context, const uint8_t *bytes, size_t len);
	void *context;
	uint64_t output_len; /* bytes that came out so far */
	uint32_t crc;        /* their CRC-32 */
	z_stream stream;
	struct inflate_state *quick; /* inflated_open_quick: in place of zlib's */
};

/* The wrapping around a stream, as in zlib's windowBits. */
#define INFLATED_RAW (-15)
#define INFLATED_ZLIB 15
#define INFLATED_GZIP 31

/* Starts on a zeroed struct whose look and context are set. False when there is no memory for
 * it. */
bool inflated_open(struct inflated *inflated, int wrapping);

/* The same for a stream without wrapping that is likely to be sound: faster, but only DONE with the
 * CRC that it should have counts. Else it must be unpacked from its start, with inflated_open. */
bool inflated_open_quick(struct inflated *inflated);

/* Unpacks len bytes more; *used (may be NULL): how many of them the stream took, fewer than len
 * only when DONE or BAD. */
enum inflated_state inflated_feed(
	struct inflated *inflated, const uint8_t *bytes, size_t len, size_t *used);

void inflated_close(struct inflated *inflated);

#endif
