/* What burin-evidence is told about a container of a disk that it is to open. */
#ifndef BURIN_EVIDENCE_CONTAINER_JOB_H
#define BURIN_EVIDENCE_CONTAINER_JOB_H

#include "evidence/container_format.h"

struct container {
	enum container_library library;
	char path[]; /* absolute: libafflib would take some words in front for a protocol */
};

#endif
