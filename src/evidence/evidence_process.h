/* Starts burin-evidence (src/confined), which parses containers and encrypted volumes, or burin-filesystems (src/filesystems),
 * which parses file systems and what libtsk opens. Both are confined (base/confine.h), and beside this program, or in
 * ../libexec/burin. */
#ifndef BURIN_EVIDENCE_EVIDENCE_PROCESS_H
#define BURIN_EVIDENCE_EVIDENCE_PROCESS_H

#include "base/sandbox.h"
#include "evidence/evidence_job.h"

/* Whether there is a burin-filesystems: 0, or a negative errno with error set (EXIT_IO). */
int evidence_process_check(struct error *error);
/* job: without its mode and number of secrets; patience: see sandbox_expect; secrets: give it those of this
 * process. shared: a descriptor for both, or -1. Returns 0, or a negative errno with the reason: -ENOENT when
 * there is no such program. The caller ends *child. */
int evidence_process_start(struct sandbox_child **child, const struct evidence_job *job,
	const struct sandbox_patience *patience, const void *argument, bool secrets, int shared,
	char *reason, size_t reason_len);
/* Gives a process that is done with a walk another one. */
void evidence_process_continue(struct sandbox_child *child, const struct evidence_job *job,
	const struct sandbox_patience *patience, const void *argument);

#endif
