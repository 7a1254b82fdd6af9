/* Where the content of two pieces changes over: for joints that no check shows. */
#ifndef BURIN_ASSEMBLE_SEAM_H
#define BURIN_ASSEMBLE_SEAM_H

#include "assemble/workbench.h"

/* A file whose bytes up to `least` are at offset + before in the image, and from `most` on at offset +
 * after. In between the joint is at some multiple of `grid` from least. */
struct seam {
	uint64_t least, most, grid;
	uint64_t before, after; /* modulo 2^64 */
	uint64_t length;        /* of the file, about */
};

/* Finds the joint for which what is in between is most like what is around. False: others are nearly
 * as good, or the work is spent. */
bool seam_find(struct workbench *bench, const struct seam *seam, uint64_t *at);

#endif
