/*
 * What an image holds: partitions, file systems, which bytes these have in use, and for which
 * files. The Sleuth Kit's library reads all that, in processes of their own (base/sandbox.h): a
 * hostile image can cost part of this knowledge, which is reported, but never the run.
 *
 * The same image gives the same answers. All functions but volumes_read, volumes_add_path and volumes_free
 * may be called by any thread, and wait until what they are asked for is known, unless they say otherwise.
 */
#ifndef BURIN_EVIDENCE_VOLUMES_H
#define BURIN_EVIDENCE_VOLUMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ranges.h"
#include "evidence/image.h"

enum volume_kind {
	VOLUME_PARTITION, /* an entry of a partition table */
	VOLUME_WHOLE,     /* a file system without a partition table */
	VOLUME_POOLED,    /* a volume of an APFS container, whose blocks it shares with others */
	VOLUME_STREAMS,   /* a row of streams: files, and nothing else */
};

struct volume {
	uint64_t offset, length; /* bytes, in the image */
	uint64_t block_size;     /* bytes; 0: no known file system */
	uint64_t pool_block;     /* where libtsk finds a VOLUME_POOLED */
	uint32_t kind;           /* enum volume_kind */
	uint32_t type;           /* libtsk's number of the file system; 0: unknown */
	bool encrypted, mapped;  /* mapped: its allocation is known */
	char description[128];   /* from the partition table; raw bytes, as all texts here */
	char file_system[32];    /* "ntfs", "LUKS"; "" if unknown */
	char label[128], id[40];
	char note[256]; /* a sentence on what is wrong or odd; or "" */
};

enum volumes_depth {
	VOLUMES_OFF,
	VOLUMES_LIST, /* partitions and file systems */
	VOLUMES_MAP,  /* and their allocation, and their files */
};

/* The choices of --file-systems, in that order. */
#define VOLUMES_DEPTH_CHOICES "off|list|map"

enum fs_flag {
	FS_DELETED = 1,
	FS_RESIDENT = 2,   /* its bytes are in its file record */
	FS_COMPRESSED = 4, /* by the file system, as the next: runs do not hold the file's bytes */
	FS_ENCRYPTED = 8,
	FS_SPARSE = 16,
	FS_GUESSED = 32,      /* of a deleted file: only where it began is recorded */
	FS_METADATA = 64,     /* a stream that is not the file's content */
	FS_REALLOCATED = 128, /* deleted, and other files have taken over blocks of it since */
	FS_FLAG_COUNT = 8,
};
/* "deleted", of FS_DELETED; one flag. */
const char *fs_flag_name(unsigned flag);

enum fs_time { FS_MODIFIED, FS_ACCESSED, FS_CHANGED, FS_CREATED, FS_TIME_COUNT };
/* "modified" */
const char *fs_time_name(enum fs_time time);

/* A file (one of its streams) of an image's file system. */
struct fs_file {
	uint32_t index; /* among all */
	uint32_t type, id;
	unsigned flags;       /* enum fs_flag */
	const char *path;     /* "Users/me/a.jpg", "Users/me/a.jpg:stream"; raw bytes, valid until
			     volumes_free */
	uint64_t volume;      /* where its volume starts in the image */
	uint64_t inode;       /* or the number of its record */
	uint64_t size, valid; /* bytes; valid: from the start, that were ever written */
	uint64_t offset;      /* in the file, of the byte that was looked up */
	bool has_offset; /* false: the byte is in the file's record, or the next is not known */
	/* Seconds since 1970 UTC; 0: not known. FAT's are local time, taken as UTC. */
	uint32_t times[FS_TIME_COUNT];
};

struct volumes;

/* Reads what the image holds: its volumes at once, what VOLUMES_MAP adds in a thread of its own, which reads
 * the image until volumes_free. interrupted (may be NULL) is called now and then, by any thread: true ends
 * the reading. Never fails: volumes_problem lists what could not be found out. The caller owns the
 * result. */
struct volumes *volumes_read(
	struct image *image, enum volumes_depth depth, bool (*interrupted)(void));
/* Whether all was read. Does not wait. */
bool volumes_known(const struct volumes *volumes);
/* Waits until the reading is over, or has ended early. */
void volumes_wait(const struct volumes *volumes);
/* The same, for 0.1 s at most: whether it is over. */
bool volumes_wait_briefly(const struct volumes *volumes);
/* Ends the reading soon: nobody needs the rest. NULL is fine. */
void volumes_cancel(struct volumes *volumes);

/* Does not wait, as the next: notes, and which are mapped, only stay as they are after volumes_wait. */
const struct volume *volumes_list(const struct volumes *volumes, size_t *count);
/* The partition table's type: "gpt"; NULL: no table. */
const char *volumes_table(const struct volumes *volumes);
/* Sentences on what could not be read, for the report; NULL after the last. */
const char *volumes_problem(const struct volumes *volumes, size_t index);

/* What is in use by file systems that could be read; NULL when no allocation is known. */
const struct ranges *volumes_in_use(const struct volumes *volumes);
/* Parts of that which belong to a file, but hold nothing of it: from its end to the end of its last
 * block, and the unused ends of file records. */
const struct ranges *volumes_slack(const struct volumes *volumes);
/* Free file records: parts of blocks that are in use. */
const struct ranges *volumes_free_records(const struct volumes *volumes);
/* True when some of the bytes are in a volume of unknown allocation: encrypted, or of an unknown
 * kind. */
bool volumes_unknown(const struct volumes *volumes, uint64_t offset, uint64_t length);

/* The file that the byte at offset belongs to, in its content, its slack or its record; a deleted
 * one only if no other claims the byte, and that which starts there before others. False:
 * unknown. */
bool volumes_find(const struct volumes *volumes, uint64_t offset, struct fs_file *file);
/* Completes a result of volumes_find. One thread at a time. */
void volumes_add_path(struct volumes *volumes, struct fs_file *file);
/* Where the bytes of a file are from file->offset (which must be known) to the end of what was
 * written, or to the first part that is nowhere: *count extents in file order, which the caller
 * frees; NULL: none, or they do not hold the file's bytes (compressed). */
struct range *volumes_extents(
	const struct volumes *volumes, const struct fs_file *file, size_t *count);
/* Whether FS_REALLOCATED applies, which volumes_find does not look at. */
bool volumes_is_reallocated(const struct volumes *volumes, const struct fs_file *file);
/* Adds, to bytes of the image that changed, the rest of the files that have some of them. */
void volumes_complete(const struct volumes *volumes, struct ranges *changed);
/* NULL is fine. */
void volumes_free(struct volumes *volumes);

#endif
