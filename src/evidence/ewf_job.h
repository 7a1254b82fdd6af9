/*
 * The message that asks burin-evidence for what libewf knows of an E01 (kind "ewf"). In SERVED_NAMES it answers, both
 * for EVIDENCE_SERVE_NAMES and once it serves the set, in lines: a word of these, a blank, and the value.
 */
#ifndef BURIN_EVIDENCE_EWF_JOB_H
#define BURIN_EVIDENCE_EWF_JOB_H

#include <stdint.h>

struct ewf_job {
	uint32_t
		path_count; /* absolute paths, each with its zero; 0: a whole E01 follows (e01_make_stub) */
	uint32_t len; /* bytes that follow */
	char bytes[];
};

#define EWF_VALUE "value" /* NAME TEXT: what was typed in, or the software added */
#define EWF_MD5 "md5"
#define EWF_SHA1 "sha1"
#define EWF_CHUNK_LEN "chunk" /* bytes that are lost together; of a set that is served */
#define EWF_DAMAGED "damaged" /* of a set: libewf found that it is */

#endif
