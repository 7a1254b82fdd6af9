/*
 * What an image holds: partitions, file systems, which bytes these have in use, and for which
 * files. The Sleuth Kit's library reads all that, in processes of their own (base/sandbox.h): what a
 * hostile image makes it do costs a part of this knowledge, and that is said, never the run.
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
	uint64_t offset, length; /* bytes, in the image; of a file system as long as it says, within
				    the image */
	uint64_t block_size;     /* bytes; 0: no file system is known */
	uint64_t pool_block;     /* where libtsk finds a VOLUME_POOLED */
	uint32_t kind;           /* enum volume_kind */
	uint32_t type;           /* libtsk's number of the file system; 0: none is known */
	bool encrypted, mapped;  /* mapped: what it has in use is known */
	char description[128];   /* the partition table's words; raw bytes, as all texts here */
	char file_system[32];    /* "ntfs", "LUKS"; "" for what nobody knows */
	char label[128], id[40];
	char note[256]; /* a sentence on what is wrong or odd; "" */
};

enum volumes_depth {
	VOLUMES_OFF,
	VOLUMES_LIST, /* partitions and file systems */
	VOLUMES_MAP,  /* and what they have in use, and for which files */
};

/* The words of --file-systems, in that order. */
#define VOLUMES_DEPTH_CHOICES "off|list|map"

struct volumes;

/* Reads what the image holds. interrupted (may be NULL) is asked now and then: true ends the
 * reading. Never fails: what could not be found out is told by volumes_problem. The caller owns the
 * result, which keeps nothing of the image. */
struct volumes *volumes_read(
	struct image *image, enum volumes_depth depth, bool (*interrupted)(void));

const struct volume *volumes_list(const struct volumes *volumes, size_t *count);
/* The partition table's kind: "gpt"; NULL for none. */
const char *volumes_table(const struct volumes *volumes);
/* Sentences on what could not be read, as they must stand in the report; NULL behind the last. */
const char *volumes_problem(const struct volumes *volumes, size_t index);

/* What is in use by file systems that could be read. NULL when there is none of which that is
 * known. */
const struct ranges *volumes_in_use(const struct volumes *volumes);
/* True when nothing is known of some of the bytes: an encrypted volume, an unknown one. */
bool volumes_unknown(const struct volumes *volumes, uint64_t offset, uint64_t length);

/* The file that the byte at offset belongs to, "Users/me/a.jpg", also a deleted one; raw bytes.
 * NULL: none is known. The text is good until volumes_free. */
const char *volumes_owner(struct volumes *volumes, uint64_t offset);
/* NULL is fine. */
void volumes_free(struct volumes *volumes);

#endif
