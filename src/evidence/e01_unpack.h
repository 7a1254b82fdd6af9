/* Unpacking the chunks of an E01, in several threads; for e01_chunks.c. */
#ifndef BURIN_EVIDENCE_E01_UNPACK_H
#define BURIN_EVIDENCE_E01_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a chunk can't be had. */
enum e01_fault {
	E01_GOOD,
	E01_MISSING, /* no table lists it */
	E01_ENTRY,   /* its entry in the table is damaged */
	E01_BEYOND,  /* it lies behind the file's end */
	E01_READ,
	E01_PACKED, /* it can't be inflated, or to the wrong length */
	E01_SUM,
};

/* What a thread needs to unpack: room for packed bytes, and libdeflate's state. */
struct e01_scratch {
	struct e01_scratch *next;
	struct libdeflate_decompressor *inflater;
	uint8_t *packed, *plain; /* packed_len bytes; a chunk */
};

struct e01_unpacker;

/* chunk_len: bytes of a chunk; packed_len: bytes of packed ones that a thread has room for. */
struct e01_unpacker *e01_unpacker_new(size_t chunk_len, size_t packed_len);
/* NULL is fine. */
void e01_unpacker_free(struct e01_unpacker *unpacker);

/* Waits while as many are taken as memory is meant for. NULL: no memory. Thread-safe, as the
 * next. */
struct e01_scratch *e01_scratch_take(struct e01_unpacker *unpacker);
void e01_scratch_give(struct e01_unpacker *unpacker, struct e01_scratch *scratch);

/* Unpacks a chunk of which the medium has plain_len bytes, at most chunk_len. bytes: as in the
 * file, perhaps with more behind them, but with `exact` just the chunk's. compressed: or stored
 * with a checksum. Its checksum is checked. Thread-safe, with a scratch for each. */
enum e01_fault e01_unpack(struct e01_unpacker *unpacker, struct e01_scratch *scratch,
	bool compressed, const uint8_t *bytes, size_t len, bool exact, uint8_t *to,
	size_t plain_len);

#endif
