/* A JPEG 2000 codestream, by itself (j2k.c) or in a box (jp2.c). */
#ifndef BURIN_CARVERS_PICTURES_J2K_H
#define BURIN_CARVERS_PICTURES_J2K_H

#include <stdbool.h>

#include "carver.h"

struct j2k {
	struct view *view;
	uint64_t limit;     /* where what holds it ends */
	uint64_t end;       /* behind EOC, once j2k_walk gave true */
	uint64_t sound;     /* when it broke: behind what makes sense */
	uint64_t broken_at; /* where that was seen */
	const char *problem;
	const char *odd;           /* what the main header contradicts itself in, or NULL */
	bool cut;                  /* the bytes end, or what holds it, before the codestream does */
	unsigned parts;            /* tile-parts that were begun */
	uint32_t tiles;            /* that the picture has */
	bool coding, quantization; /* COD and QCD were there */
};

/* Walks the codestream at `at`. False: it breaks, or is none (parts is 0). */
bool j2k_walk(struct j2k *j2k, struct view *view, uint64_t at, uint64_t limit);

#endif
