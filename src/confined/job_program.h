/*
 * A program that burin starts for each job, to parse what an attacker may have written: burin-evidence and burin-filesystems.
 * burin gives it a socket, no environment, and for a walk descriptors of the image to read. It reads its job
 * (evidence/evidence_job.h), confines itself, and only then reads the first byte of the evidence.
 */
#ifndef BURIN_CONFINED_JOB_PROGRAM_H
#define BURIN_CONFINED_JOB_PROGRAM_H

#include "confined/served_work.h"

struct job_program {
	const char *name;
	const struct served_kind *const *kinds; /* that it serves; NULL after the last */
	/* Does a walk, and confines this process, if it is not yet. volume: NULL for EVIDENCE_LIST_VOLUMES. False: burin is
	 * gone. NULL: it makes no walks. */
	bool (*walk)(const struct evidence_job *job, const struct volume *volume);
};

/* Does the job, and ends the process. Returns only where burin did not start it: main's exit code. */
int job_program_run(const struct job_program *program, int argc, char **argv);

#endif
