/* What a 7z archive's header says about its streams. */
#ifndef BURIN_CARVERS_ARCHIVES_SEVENZIP_INFO_H
#define BURIN_CARVERS_ARCHIVES_SEVENZIP_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carver.h"

#define SEVENZIP_CODERS 4

/* The numbers that open the header's parts. */
enum sevenzip_id {
	SEVENZIP_END = 0,
	SEVENZIP_HEADER = 1,
	SEVENZIP_PROPERTIES = 2,
	SEVENZIP_MAIN_STREAMS = 4,
	SEVENZIP_PACK_INFO = 6,
	SEVENZIP_UNPACK_INFO = 7,
	SEVENZIP_SUBSTREAMS = 8,
	SEVENZIP_SIZES = 9,
	SEVENZIP_CRCS = 10,
	SEVENZIP_FOLDERS = 11,
	SEVENZIP_UNPACK_SIZES = 12,
	SEVENZIP_COUNTS = 13,
	SEVENZIP_ENCODED_HEADER = 23,
};

struct sevenzip_coder {
	uint64_t method, unpacked_len;
	unsigned output;           /* its place among the folder's outputs */
	const uint8_t *properties; /* inside the header */
	size_t properties_len;
};

#define SEVENZIP_INPUTS 4

/* One of the inputs of a coder that joins streams (BCJ2). */
struct sevenzip_input {
	struct sevenzip_coder coder; /* that gives it */
	bool is_coded;               /* else it is a packed stream as it is */
	size_t packed;               /* which of the folder's packed streams */
};

/* Streams that were packed together: by coders one after another, the one that gives the content first. */
struct sevenzip_folder {
	struct sevenzip_coder coders[SEVENZIP_CODERS];
	unsigned coder_count; /* 0: a coder has several inputs, or they are too many */
	bool is_joined;       /* then: by BCJ2, from these */
	struct sevenzip_input inputs[SEVENZIP_INPUTS];
	unsigned output_count; /* of all coders */
	unsigned main_output;  /* of them, the one that gives the content */
	size_t packed_count;   /* packed streams, from `packed` on */
	size_t packed, parts, part_count;
	uint64_t content_len;
	uint32_t crc;
	bool has_crc;
};

/* A packed stream, or a part of a folder's content. */
struct sevenzip_stream {
	uint64_t len;
	uint32_t crc;
	bool has_crc;
};

struct sevenzip_info {
	uint64_t
		packed_at; /* where the packed streams start, counted from after the start header */
	struct sevenzip_stream *packed, *parts;
	struct sevenzip_folder *folders;
	size_t packed_count, part_count, folder_count;
};

/* Reads the header of len bytes, which *info then points into: encoded or not. False: it is damaged, or has
 * what this does not know. Either way sevenzip_info_free frees *info. *encoded: it only describes where the
 * packed header is. */
bool sevenzip_info_read(struct sevenzip_info *info, const uint8_t *header, size_t len,
	bool *encoded, bool *no_memory);

void sevenzip_info_free(struct sevenzip_info *info);

/* Reads one of the header's numbers; *p is then after it. False, and *p is end: it is cut off. */
bool sevenzip_read_number(const uint8_t **p, const uint8_t *end, uint64_t *number);

/* For archives in pieces (sevenzip_map.c). */
extern const struct carve_map sevenzip_map;

#endif
