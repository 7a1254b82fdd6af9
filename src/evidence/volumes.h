/*
 * What an image holds: partitions, file systems, which bytes these have in use, and for which
 * files. The Sleuth Kit's library reads all that, in processes of their own (base/sandbox.h): a
 * hostile image can cost part of this knowledge, which is reported, but never the run.
 *
 * The same image gives the same answers. After volumes_read all functions but volumes_owner only
 * read; volumes_owner is for one thread.
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

struct volumes;

/* Reads what the image holds. interrupted (may be NULL) is called now and then: true ends the
 * reading. Never fails: volumes_problem lists what could not be found out. The caller owns the
 * result, which keeps nothing of the image. */
struct volumes *volumes_read(
	struct image *image, enum volumes_depth depth, bool (*interrupted)(void));

const struct volume *volumes_list(const struct volumes *volumes, size_t *count);
/* The partition table's type: "gpt"; NULL: no table. */
const char *volumes_table(const struct volumes *volumes);
/* Sentences on what could not be read, for the report; NULL after the last. */
const char *volumes_problem(const struct volumes *volumes, size_t index);

/* What is in use by file systems that could be read; NULL when no allocation is known. */
const struct ranges *volumes_in_use(const struct volumes *volumes);
/* True when some of the bytes are in a volume of unknown allocation: encrypted, or of an unknown
 * kind. */
bool volumes_unknown(const struct volumes *volumes, uint64_t offset, uint64_t length);

/* The file that the byte at offset belongs to, "Users/me/a.jpg", possibly a deleted one; raw bytes.
 * NULL: unknown. The text is valid until volumes_free. */
const char *volumes_owner(struct volumes *volumes, uint64_t offset);
/* NULL is fine. */
void volumes_free(struct volumes *volumes);

#endif
