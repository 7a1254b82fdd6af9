/*
 * Files of frames that are made of blocks, each with its length in front: what Zstandard and LZ4
 * have in common. Skippable frames, the same in both, may stand between the others.
 */
#ifndef BURIN_CARVERS_ARCHIVES_PACKED_FRAMES_H
#define BURIN_CARVERS_ARCHIVES_PACKED_FRAMES_H

#include "compressed.h"

struct packed_frame {
	uint64_t at, blocks; /* its start, and its first block's */
	uint32_t block_max;  /* bytes that a block holds at most */
	uint8_t block_extra; /* bytes of a checksum behind each block */
	uint8_t end_extra;   /* ... behind the last one */
	bool dictionary;     /* can't be unpacked without */
	bool unproved;       /* neither size nor checksum would show that contents are others */
};

struct packed_block {
	uint64_t data, end; /* data behind the block's header; end behind its checksum */
	bool last;
	bool coded; /* what unpacks without complaint is no accident */
};

struct packed_frames {
	enum compressed_format format;
	const char *what; /* for people: "LZ4" */
	/* Reads the header of the frame at frame->at: false when there is none. */
	bool (*read_frame)(struct view *view, struct packed_frame *frame);
	/* Reads the header of the block at `at`: false when it is none, or can't be seen. */
	bool (*read_block)(struct view *view, const struct packed_frame *frame, uint64_t at,
		struct packed_block *block);
	const char *extensions[COMPRESSED_CONTENTS];
};

/* The carvers' check. */
enum verdict packed_frames_check(
	struct view *view, struct finding *finding, const struct packed_frames *frames);

#endif
