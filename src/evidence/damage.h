/* Why parts of the evidence could not be read, place by place, for the reports. */
#ifndef BURIN_EVIDENCE_DAMAGE_H
#define BURIN_EVIDENCE_DAMAGE_H

#include "base/ranges.h"
#include "evidence/image.h"

/* More places than this are only listed as unreadable. */
#define DAMAGE_MAX 1000

struct damage {
	uint64_t offset, length; /* bytes of the image */
	char *why; /* a clause: "chunk 7, in segment 1 (disk.E01): its checksum is wrong" */
};

/* Zero-initialise; damages_free when done. */
struct damages {
	struct damage *items;
	size_t count, capacity;
};

/* Asks the image about the unreadable ranges, in order, until there are DAMAGE_MAX answers. */
void damages_collect(struct damages *damages, struct image *image, const struct ranges *unreadable);
void damages_free(struct damages *damages);

#endif
