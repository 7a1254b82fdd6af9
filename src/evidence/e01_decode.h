/* Decompresses and checks the chunks of an E01, in several threads; for e01_chunks.c. */
#ifndef BURIN_EVIDENCE_E01_DECODE_H
#define BURIN_EVIDENCE_E01_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a chunk is not available. */
enum e01_fault {
	E01_GOOD,
	E01_MISSING, /* no table lists it */
	E01_ENTRY,   /* its entry in the table is damaged */
	E01_BEYOND,  /* it is past the file's end */
	E01_READ,
	E01_CORRUPT, /* it can't be inflated, or not to the right length */
	E01_SUM,
};

/* What a thread needs to decompress: room for stored bytes, and libdeflate's state. */
struct e01_scratch {
	struct e01_scratch *next;
	struct libdeflate_decompressor *inflater;
	uint8_t *stored, *plain; /* stored_len bytes; a chunk */
};

struct e01_decoder;

/* chunk_len: bytes of a chunk; stored_len: bytes of stored chunks that a thread has room for. */
struct e01_decoder *e01_decoder_new(size_t chunk_len, size_t stored_len);
/* NULL is fine. */
void e01_decoder_free(struct e01_decoder *decoder);

/* Waits while the memory meant for all of them is in use. NULL: no memory. Thread-safe, as is the
 * next. */
struct e01_scratch *e01_scratch_acquire(struct e01_decoder *decoder);
void e01_scratch_release(struct e01_decoder *decoder, struct e01_scratch *scratch);

/* Decodes a chunk of which the medium has plain_len bytes, at most chunk_len. bytes: as in the
 * file; more may follow the chunk, but not with `exact`. compressed: otherwise stored with a
 * checksum, which is verified. Thread-safe, with a scratch for each thread. */
enum e01_fault e01_decode(struct e01_decoder *decoder, struct e01_scratch *scratch, bool compressed,
	const uint8_t *bytes, size_t len, bool exact, uint8_t *to, size_t plain_len);

#endif
