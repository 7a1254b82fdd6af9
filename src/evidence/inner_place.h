/* The message that asks burin-evidence to open an inner image: which volume is meant. */
#ifndef BURIN_EVIDENCE_INNER_PLACE_H
#define BURIN_EVIDENCE_INNER_PLACE_H

#include "evidence/volumes.h"

#define INNER_NAME_LEN 4096
/* In a list of names: there is one, which has none. */
#define INNER_NO_NAME "."

struct inner_place {
	char name[INNER_NAME_LEN]; /* "vg0-root", "2"; "": there is only one */
	struct volume volume;      /* around it, as the list of volumes has it */
};

#endif
