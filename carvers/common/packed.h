/*
 * Compressed streams of many kinds, unpacked only to learn where they end or where they stop making
 * sense; the beginning of what comes out is kept to see what it is. Shared by all formats that are,
 * or hold, such a stream.
 */
#ifndef BURIN_CARVERS_COMMON_PACKED_H
#define BURIN_CARVERS_COMMON_PACKED_H

#include <stdbool.h>

#include "carver.h"

enum packed_format {
	PACKED_GZIP,  /* one member */
	PACKED_BZIP2, /* one stream */
	PACKED_XZ,    /* one stream, without padding */
	PACKED_LZMA,  /* the format before xz */
	PACKED_LZMA2, /* a bare stream, as in 7z */
	PACKED_LZIP,  /* one member */
	PACKED_ZSTD,  /* one frame, or a skippable one */
	PACKED_LZ4,   /* one frame, or a skippable one; not the legacy one */
};

enum packed_state {
	PACKED_DONE,   /* the stream ended, and its checksums held if it has any */
	PACKED_BAD,    /* it makes no sense from there on */
	PACKED_CUT,    /* it goes on */
	PACKED_REFUSE, /* it unpacks to more than is bearable, or needs too much memory */
};

#define PACKED_HEAD_LEN 1024

/* What is packed, by its first bytes. */
enum packed_content {
	PACKED_OTHER,
	PACKED_TAR,
	PACKED_CPIO,
	PACKED_SVG,
	PACKED_CONTENTS,
};

struct packed {
	uint64_t end; /* behind the last byte that was taken; the caller may set it before the first
		       */
	uint64_t input_len, output_len; /* bytes that went in and came out */
	uint64_t filled_at; /* packed.end when a whole buffer of output was given last */
	uint64_t proven;    /* filled_at when something was taken after it: for formats that check a
			       block after giving it */
	size_t head_len;
	uint8_t head[PACKED_HEAD_LEN]; /* what came out first */
	struct packed_decoder *decoder;
};

/* Starts on a stream, all of *packed set. False when there is no memory for it. */
bool packed_open(struct packed *packed, enum packed_format format);

/* Unpacks [packed->end, limit): PACKED_CUT when all of it was taken and the stream goes on, or when
 * the view gives no more. When PACKED_BAD, packed->end may stand before the piece that broke. */
enum packed_state packed_feed(struct packed *packed, struct view *view, uint64_t limit);

void packed_close(struct packed *packed);

/* All of that, for a stream that starts at `at`. */
enum packed_state packed_walk(struct view *view, enum packed_format format, uint64_t at,
	uint64_t limit, struct packed *packed);

enum packed_content packed_content(const struct packed *packed);

#endif
