/*
 * Files of frames that are made of blocks, each preceded by its length: what Zstandard and LZ4 have
 * in common. Skippable frames, the same in both, may precede and follow the others.
 */
#ifndef BURIN_CARVERS_ARCHIVES_BLOCK_FRAMES_H
#define BURIN_CARVERS_ARCHIVES_BLOCK_FRAMES_H

#include "compressed.h"

struct block_frame {
	uint64_t at, blocks; /* its start, and its first block's */
	uint32_t block_max;  /* maximum bytes in a block */
	uint8_t block_extra; /* bytes of a checksum after each block */
	uint8_t end_extra;   /* ... after the last one */
	bool dictionary;     /* cannot be decompressed without it */
	bool unproven;       /* neither size nor checksum would show foreign contents */
};

struct frame_block {
	uint64_t data, end; /* data is after the block's header; end after its checksum */
	bool last;
	bool coded; /* decompressing without an error is not a coincidence */
};

struct block_frames {
	enum compressed_format format;
	const char *what; /* for people: "LZ4" */
	/* Reads the header of the frame at frame->at: false when there is none. */
	bool (*read_frame)(struct view *view, struct block_frame *frame);
	/* Reads the header of the block at `at`: false when it is not a header, or not readable. */
	bool (*read_block)(struct view *view, const struct block_frame *frame, uint64_t at,
		struct frame_block *block);
	const char *extensions[COMPRESSED_CONTENTS];
};

/* The carvers' check. */
enum verdict block_frames_check(
	struct view *view, struct finding *finding, const struct block_frames *frames);

#endif
