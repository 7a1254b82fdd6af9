/*
 * Whether a picture goes on where two pieces of its file meet: if they do not belong together its
 * brightness and colours change there. The average of each block (DC) is compared with that of the
 * block above it, over the width of the picture from the joint on, and the change with that of the
 * picture's other rows.
 */
#ifndef BURIN_CARVERS_PICTURES_JPEG_JPEG_SEAM_H
#define BURIN_CARVERS_PICTURES_JPEG_JPEG_SEAM_H

#include "jpeg_decoder.h"

struct jpeg_seam {
	uint64_t at;    /* the joint's offset in the view */
	uint64_t joint; /* the first MCU that has bits after it; UINT64_MAX: not yet */
	uint64_t across;
	bool no_memory;
	int32_t *trace;  /* of an MCU */
	int32_t *above;  /* DC of the last line of blocks of the row of MCUs above, by component */
	int32_t *bottom; /* the same of this row */
	uint32_t starts[JPEG_COMPONENTS]; /* a component's place in a line */
	uint32_t *row_changes, *joint_changes;
	size_t row_count, joint_count;
	uint32_t *rows; /* the usual change of each row */
	uint64_t rows_count, rows_max;
	uint64_t joint_row;
};

/* Called by the decoder for the scan, and after each MCU. */
void jpeg_seam_start(struct jpeg_seam *seam, struct jpeg_decoder *d, uint64_t across);
void jpeg_seam_add(struct jpeg_seam *seam, struct jpeg_decoder *d, uint64_t mcu);

/* After the walk. False: nothing can be compared. Frees what the seam owns. */
bool jpeg_seam_finish(struct jpeg_seam *seam, struct carve_joint *joint);

#endif
