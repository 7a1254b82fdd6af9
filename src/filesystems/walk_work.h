/* A walk of libtsk over an image, whose bytes it requests from burin, to which it reports what it finds. */
#ifndef BURIN_FILESYSTEMS_WALK_WORK_H
#define BURIN_FILESYSTEMS_WALK_WORK_H

#include "evidence/evidence_job.h"

/* Confines this process, if it is not yet. volume: nothing for EVIDENCE_LIST_VOLUMES. False: burin is gone. */
bool walk_work(const struct evidence_job *job, const struct volume *volume);

#endif
