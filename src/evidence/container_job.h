/* The message that asks for a container of a disk. */
#ifndef BURIN_EVIDENCE_CONTAINER_JOB_H
#define BURIN_EVIDENCE_CONTAINER_JOB_H

#include "evidence/container_format.h"

struct container {
	enum container_library library;
	char path[]; /* absolute: libafflib would take some words in front for a protocol */
};

#endif
