/*
 * Whether a picture goes on where two pieces of its file meet: if they do not belong together its
 * brightness and colours change there. Each block's upper edge is compared with the lower edge of the
 * block above it, over the width of the picture from the joint on, and the difference with those between
 * the picture's other blocks: neighbours, and blocks that are none.
 */
#ifndef BURIN_CARVERS_PICTURES_JPEG_JPEG_SEAM_H
#define BURIN_CARVERS_PICTURES_JPEG_JPEG_SEAM_H

#include "jpeg_decoder.h"

/* Horizontal frequencies of an edge that are compared; higher ones are noise. */
#define JPEG_SEAM_FREQUENCIES 4
/* Differences are counted by their energy's logarithm, in halves. */
#define JPEG_SEAM_CLASSES 80

/* The edge of a block as a row of pixels: its cosine transform. */
struct jpeg_edge {
	int32_t at[JPEG_SEAM_FREQUENCIES];
};

/* How often differences had an energy, by how many of both edges have detail. */
struct jpeg_seam_counts {
	uint32_t neighbours[3][JPEG_SEAM_CLASSES], others[3][JPEG_SEAM_CLASSES];
	uint32_t joint[3][JPEG_SEAM_CLASSES];
};

struct jpeg_seam {
	uint64_t at,
		end; /* the joint's offset in the view, and that of the next one, or UINT64_MAX */
	uint64_t joint;         /* the first MCU that has bits after it; UINT64_MAX: not yet */
	uint64_t next;          /* the first that has bits after the next joint; UINT64_MAX: none */
	uint64_t across, count; /* MCUs of a row, and those that were added */
	bool no_memory;
	int32_t *coefficients; /* of an MCU, zigzag */
	struct jpeg_edge *
		above; /* lower edges of the last line of blocks of the row of MCUs above, by component */
	struct jpeg_edge *bottom;             /* the same of this row */
	struct jpeg_edge *top;                /* upper edges of this row's first line */
	uint32_t starts[JPEG_COMPONENTS + 1]; /* a component's place in a line */
	uint32_t compared;                    /* blocks after the joint */
	struct jpeg_seam_counts counts[2];    /* brightness, colours */
};

/* Called by the decoder for the scan, and after each MCU. */
void jpeg_seam_start(struct jpeg_seam *seam, struct jpeg_decoder *d, uint64_t across);
void jpeg_seam_add(struct jpeg_seam *seam, struct jpeg_decoder *d, uint64_t mcu);

/* After the walk: the bits (struct carver). Frees what the seam owns. */
unsigned jpeg_seam_finish(struct jpeg_seam *seam);

#endif
