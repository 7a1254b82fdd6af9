/* What the parts of H.265's decoder share: hevc_slice.c, hevc_cabac.c and hevc_residual.c. */
#ifndef BURIN_CARVERS_COMMON_HEVC_DECODER_H
#define BURIN_CARVERS_COMMON_HEVC_DECODER_H

#include "cabac.h"
#include "h264_bits.h"
#include "hevc.h"

/* Contexts of the elements (9.3.4.2). */
enum {
	HEVC_SAO_MERGE = 0,
	HEVC_SAO_TYPE = 1,
	HEVC_SPLIT = 2,
	HEVC_BYPASS = 5,
	HEVC_DELTA = 6,
	HEVC_PART = 8,
	HEVC_PREDICTED = 9, /* prev_intra_luma_pred_flag */
	HEVC_CHROMA_MODE = 10,
	HEVC_SPLIT_TRANSFORM = 11,
	HEVC_CBF_LUMA = 14,
	HEVC_CBF_CHROMA = 16,
	HEVC_SKIP = 20, /* transform_skip_flag */
	HEVC_LAST_X = 22,
	HEVC_LAST_Y = 40,
	HEVC_GROUP = 58,       /* coded_sub_block_flag */
	HEVC_SIGNIFICANT = 62, /* sig_coeff_flag */
	HEVC_GREATER1 = 104,
	HEVC_GREATER2 = 128,
	HEVC_CONTEXTS = 134,
};

/* Units of 4x4 samples in a coding tree block's side, and before them those of the block on the left. */
#define HEVC_UNITS 17
#define HEVC_MODE_DC 1
#define HEVC_ROWS_MAX (HEVC_SIDE_MAX / 16)

struct hevc_decoder {
	struct h264_bits bits;
	uint64_t counted; /* to where its work is */
	const struct hevc_sps *sps;
	const struct hevc_pps *pps;
	uint32_t slice; /* where the slice begins, in coding tree units */
	uint32_t across, down;
	bool luma_offsets, chroma_offsets;
	int qp;
	bool invalid;
	/* CABAC */
	struct cabac cabac;
	uint64_t raw;                  /* the unit's last bits as far as they were read */
	uint8_t states[HEVC_CONTEXTS]; /* 2 * pStateIdx + valMps */
	uint8_t synced[HEVC_CONTEXTS]; /* after a row's second unit */
	uint8_t ended[HEVC_CONTEXTS];  /* after the slice segment before */
	/* Parts, of which each begins anew: the rows, if they do. Offsets in the view */
	uint64_t part;        /* where the last one begins */
	uint64_t data;        /* where the first one does */
	uint32_t part_number; /* counted from 0 */
	uint32_t entry_count;
	uint32_t entries
		[HEVC_ROWS_MAX]; /* where those after the first begin, from the first one on */
	/* The coding tree unit, at x, y */
	uint32_t x, y;
	bool has_left, has_above;                              /* in the slice */
	bool delta_coded;                                      /* IsCuQpDeltaCoded */
	uint8_t left_depth[8], above_depth[HEVC_SIDE_MAX / 8]; /* by 8 samples */
	uint8_t modes[HEVC_UNITS][HEVC_UNITS];                 /* IntraPredModeY, by row */
};

/* A block of coefficients. */
struct hevc_block {
	unsigned size;      /* logarithm: 2 to 5 */
	unsigned component; /* 0: luma */
	unsigned mode;      /* how it is predicted */
	bool bypass;        /* cu_transquant_bypass_flag */
};

/* Begins with the next byte; contexts anew. */
void hevc_cabac_begin(struct hevc_decoder *d);
void hevc_cabac_reset(struct hevc_decoder *d);
unsigned hevc_bin(struct hevc_decoder *d, unsigned context);
unsigned hevc_bypass(struct hevc_decoder *d);
unsigned hevc_bypasses(struct hevc_decoder *d, unsigned count);
bool hevc_terminates(struct hevc_decoder *d);
/* After it terminated: skips bytes as they are, and begins with the next one. What is wrong sets d->invalid. */
void hevc_cabac_pass(struct hevc_decoder *d, unsigned len);
/* After it terminated: begins the next part. */
void hevc_cabac_next_part(struct hevc_decoder *d);
/* Whether nothing follows but what ends a NAL unit. */
bool hevc_cabac_ends(struct hevc_decoder *d);

/* residual_coding (7.3.8.11) */
void hevc_residual(struct hevc_decoder *d, const struct hevc_block *block);

#endif
