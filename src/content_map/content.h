/*
 * What kind of bytes a block of an image holds, estimated from a sample of them: how often each
 * value occurs, and for code which values follow each other. A guess, for seeing at a glance where
 * something may be; no decision of the carver depends on it.
 */
#ifndef BURIN_CONTENT_MAP_CONTENT_H
#define BURIN_CONTENT_MAP_CONTENT_H

#include <stddef.h>
#include <stdint.h>

/* The numbers are in map.bin (content_map/map_bin.h): none ever changes its meaning. */
enum content_class {
	CONTENT_NOT_READ,   /* no byte of it was searched */
	CONTENT_UNREADABLE, /* some of it could not be read */
	CONTENT_ZERO,       /* every byte that was read is zero */
	CONTENT_TEXT,       /* ASCII, UTF-8, or Latin letters in UTF-16 */
	CONTENT_COMPRESSED, /* looks random: compressed or encrypted */
	CONTENT_CODE,       /* instructions of x86, x86-64, ARM or AArch64 */
	CONTENT_OTHER,
	CONTENT_CLASSES
};

/* Bytes of the evidence's blocks by class, as in map.bin. */
struct content_sums {
	uint64_t block_len; /* bytes; 0: there is no content map */
	uint64_t bytes[CONTENT_CLASSES];
};

/* "not_read", "unreadable", "zero", "text", "packed", "code", "other"; NULL for other numbers */
const char *content_class_name(unsigned number);

/* A sample is at most this many snippets of this many bytes. */
#define CONTENT_SNIPPET_LEN 64
#define CONTENT_SNIPPETS 64
#define CONTENT_SAMPLE_LEN (CONTENT_SNIPPETS * CONTENT_SNIPPET_LEN)

/* The class of a block that is not all zero. sample: snippets one after another, len of 1 to
 * CONTENT_SAMPLE_LEN bytes. entropy: of its bytes, in 1/32 bits a byte, 0 to 255. The same on every
 * machine. Thread-safe. */
enum content_class content_classify(const uint8_t *sample, size_t len, uint8_t *entropy);

#endif
