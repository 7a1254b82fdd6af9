/* A JPEG 2000 codestream, alone (j2k.c) or in a box (jp2.c). */
#ifndef BURIN_CARVERS_PICTURES_J2K_H
#define BURIN_CARVERS_PICTURES_J2K_H

#include <stdbool.h>

#include "carver.h"

struct j2k {
	struct view *view;
	uint64_t limit;     /* end of its container */
	uint64_t end;       /* after EOC, if j2k_walk returned true */
	uint64_t valid_end; /* else: how far it is valid */
	uint64_t broken_at; /* and where it is broken */
	const char *problem;
	const char *odd;           /* what in the main header contradicts itself, or NULL */
	bool cut;                  /* the bytes, or its container, end before the codestream does */
	unsigned parts;            /* tile-parts started */
	uint32_t tiles;            /* tiles of the picture */
	bool coding, quantization; /* has COD and QCD */
};

/* Walks the codestream at `at`. False: it is broken, or not a codestream (parts is 0). */
bool j2k_walk(struct j2k *j2k, struct view *view, uint64_t at, uint64_t limit);

#endif
