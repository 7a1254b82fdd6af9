/*
 * Compressed streams of many kinds, decompressed only to learn where they end or become invalid;
 * the start of the output is kept to identify it. Shared by all formats that are, or contain, such
 * a stream.
 */
#ifndef BURIN_CARVERS_COMMON_COMPRESSED_H
#define BURIN_CARVERS_COMMON_COMPRESSED_H

#include <stdbool.h>

#include "carver.h"

enum compressed_format {
	COMPRESSED_GZIP,  /* one member */
	COMPRESSED_BZIP2, /* one stream */
	COMPRESSED_XZ,    /* one stream, without padding */
	COMPRESSED_LZMA,  /* the format before xz */
	COMPRESSED_LZMA2, /* a raw stream, as in 7z */
	COMPRESSED_LZIP,  /* one member */
	COMPRESSED_ZSTD,  /* one frame, or a skippable one */
	COMPRESSED_LZ4,   /* one frame, or a skippable one; not the legacy one */
};

enum compressed_state {
	COMPRESSED_DONE,    /* the stream ended, and its checksums, if any, matched */
	COMPRESSED_BAD,     /* it is invalid from there on */
	COMPRESSED_CUT,     /* it continues */
	COMPRESSED_REFUSED, /* it decompresses to too much, or needs too much memory, or the
			       check's work is spent */
};

#define COMPRESSED_HEAD_LEN 1024

/* What was compressed, by its first bytes. */
enum compressed_content {
	COMPRESSED_OTHER,
	COMPRESSED_TAR,
	COMPRESSED_CPIO,
	COMPRESSED_SVG,
	COMPRESSED_CONTENTS,
};

struct compressed {
	uint64_t end; /* end of the input consumed; the caller may set it before the first feed */
	uint64_t input_len, output_len; /* bytes consumed and produced */
	uint64_t filled_at; /* `end` when the decoder last filled a whole buffer of output */
	uint64_t proven;    /* filled_at once more input was consumed after it: for formats that
			       check a block only after its output */
	size_t head_len;
	uint8_t head[COMPRESSED_HEAD_LEN]; /* the first output */
	struct compressed_decoder *decoder;
};

/* Starts a stream of the view and sets all of *stream. False when out of memory, which the view then
 * knows. */
bool compressed_open(struct compressed *stream, struct view *view, enum compressed_format format);

/* Decompresses [stream->end, limit). COMPRESSED_CUT: all of it was consumed and the stream
 * continues, or the view ends. With COMPRESSED_BAD, stream->end may be before the invalid piece. */
enum compressed_state compressed_feed(struct compressed *stream, uint64_t limit);

void compressed_close(struct compressed *stream);

/* All of that for a stream that starts at `at`. */
enum compressed_state compressed_walk(struct view *view, enum compressed_format format, uint64_t at,
	uint64_t limit, struct compressed *stream);

/* The bits of the checksum over all of the stream at `at` (view_proved); 0: it has none, or may have
 * none. compressed_walk declares them. */
unsigned compressed_checksum_bits(struct view *view, enum compressed_format format, uint64_t at);

enum compressed_content compressed_content(const struct compressed *stream);

#endif
