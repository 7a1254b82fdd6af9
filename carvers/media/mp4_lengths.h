/* What the lengths of samples that were decoded prove of the tables that have them. */
#ifndef BURIN_CARVERS_MEDIA_MP4_LENGTHS_H
#define BURIN_CARVERS_MEDIA_MP4_LENGTHS_H

#include "bmff.h"

/* A sample, or a run of samples of one size. */
struct mp4_sample {
	uint64_t offset, len;
	uint32_t number; /* in the order of the tables */
	uint8_t track;
	bool is_decoded; /* to its end, with codes that are followed */
	bool is_read;    /* that, or it is too short to prove anything so */
};

/* A track's table of its samples' lengths, 4 bytes each. */
struct mp4_table {
	uint64_t at;    /* 0: there is none */
	uint32_t first; /* the number of the track's first sample */
};

/* All samples were checked, and none is invalid: declares it (view_proved). They are in the order of the file; tables: of each
 * track. */
void mp4_lengths_declare(struct view *view, const struct bmff_box *moov,
	const struct mp4_sample *samples, size_t count, const struct mp4_table *tables);

#endif
