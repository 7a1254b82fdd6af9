/* What burin and burin-evidence say to each other of an image in blocks, but for the messages of all images that
 * are served (evidence_job.h). When it is open, SERVED_READ reads what is packed, and SERVED_LIST, with the
 * effort as its length, lists extents: the data is as many struct block_extent as fit. */
#ifndef BURIN_EVIDENCE_BLOCK_JOB_H
#define BURIN_EVIDENCE_BLOCK_JOB_H

#include "evidence/block_file.h"

struct block_job {
	uint32_t format; /* block_format_at */
	char path[];
};

#endif
