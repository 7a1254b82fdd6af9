/* What burin-filesystems reports about an image's volumes and their files: to volumes.c and file_map.c. */
#ifndef BURIN_EVIDENCE_WALK_MESSAGES_H
#define BURIN_EVIDENCE_WALK_MESSAGES_H

#include <stdint.h>

#include "evidence/volumes.h"

/* What is reported, and what its bytes are. Texts are raw bytes without a zero. */
enum walk_message {
	WALK_TABLE,  /* a text: the partition table's type */
	WALK_VOLUME, /* a struct volume */
	WALK_IN_USE, /* struct range's: bytes of the image that the file system uses, rising */
	WALK_FREE,   /* struct range's: bytes among these that are free: unused file records */
	WALK_SLACK,  /* struct range's: bytes among these that hold nothing: ends of file records */
	WALK_FOLDER, /* a text, "Users/me/": the folder of the files that follow */
	WALK_FILE,   /* a struct walk_file, then the name */
	WALK_RUNS,   /* struct walk_run's: where the last file's bytes are, in file order */
	WALK_PROBLEM, /* a text: why something is missing */
};

/* The largest number of ranges or runs in one message. */
#define WALK_RANGES_MAX 1024

/* One stream of a file. */
struct walk_file {
	uint64_t inode;
	uint64_t size, valid; /* bytes; valid: from the start, that were ever written */
	uint32_t times[FS_TIME_COUNT];
	uint32_t type, id; /* of the attribute */
	uint32_t flags;    /* enum fs_flag */
	uint32_t reserved;
};

struct walk_run {
	uint64_t offset, length; /* bytes, in the image */
	uint64_t at;             /* offset in the file, or WALK_RECORD */
};

/* The run is the file's record, in which its bytes may be. */
#define WALK_RECORD UINT64_MAX

/* Streams that are compressed or have holes are in a row, in which each begins at a multiple of this. */
#define WALK_STREAM_ALIGN 4096

#endif
