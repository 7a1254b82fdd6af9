/* What the parts of H.264's decoder share: h264_slice.c, h264_macroblock.c, h264_cabac.c and h264_cavlc.c. */
#ifndef BURIN_CARVERS_COMMON_H264_DECODER_H
#define BURIN_CARVERS_COMMON_H264_DECODER_H

#include "cabac.h"
#include "h264.h"
#include "h264_bits.h"

enum h264_slice_kind { H264_P, H264_B, H264_I };

enum h264_mb_kind { H264_SKIPPED, H264_DIRECT, H264_INTER, H264_I_NXN, H264_I_16X16, H264_PCM };

/* What later macroblocks' codes depend on. */
struct h264_mb {
	uint8_t kind;
	uint8_t pattern;     /* coded_block_pattern */
	uint8_t chroma_mode; /* intra_chroma_pred_mode */
	uint8_t dc;          /* bit 0: luma's DC is coded, 1 and 2: chroma's */
	bool is_8x8;         /* transform_size_8x8_flag */
	uint8_t refs[2];     /* bit n: ref_idx of the 8x8 block n is above 0 */
	uint8_t coded[24];   /* of each 4x4 block by row: coefficients, or whether there are any */
	uint8_t mvd[2][16][2];
};

/* How a macroblock, or one of its 8x8 blocks, is predicted: parts and, of each, lists (bit 0, bit 1). */
struct h264_inter {
	uint8_t shape; /* 0: one, 1: 2 of 16x8, 2: 2 of 8x16, 3: 4 of 8x8 */
	uint8_t lists[2];
	bool first_ref; /* of 8x8 blocks: all have ref_idx 0 (P_8x8ref0) */
};

enum h264_block { H264_DC16, H264_AC16, H264_LUMA, H264_CHROMA_DC, H264_CHROMA_AC, H264_8X8 };

struct h264_decoder {
	struct h264_bits bits;
	uint64_t counted; /* to where its work is */
	const struct h264_sps *sps;
	const struct h264_pps *pps;
	enum h264_slice_kind kind;
	unsigned refs[2];
	bool field, invalid;
	unsigned width, column;
	const struct h264_mb *left, *top; /* NULL: not in the slice */
	struct h264_mb *now;
	bool had_delta; /* the macroblock before has a mb_qp_delta that is not 0 */
	/* CABAC */
	struct cabac cabac;
	uint8_t states[H264_CONTEXTS]; /* 2 * pStateIdx + valMPS */
	unsigned cabac_init, qp;
	struct h264_mb row[H264_SIDE_MAX], own;
};

static inline bool h264_is_intra(const struct h264_mb *mb)
{
	return mb->kind >= H264_I_NXN;
}

/* A macroblock's type: its kind, and of H264_INTER how it is predicted, of H264_I_16X16 its pattern. */
struct h264_type {
	enum h264_mb_kind kind;
	struct h264_inter inter;
	uint8_t pattern;
};

/* mb_type and sub_mb_type as numbers (tables 7-11, 7-13, 7-14, 7-17, 7-18). False: there is none. */
bool h264_intra_type(unsigned number, struct h264_type *type);
bool h264_p_type(unsigned number, struct h264_type *type);
bool h264_b_type(unsigned number, struct h264_type *type);

/* The next macroblock, whose neighbours are set. */
void h264_macroblock(struct h264_decoder *d);

/* Each element by both codes. What is not valid sets d->invalid. */
void h264_cabac_open(struct h264_decoder *d);
bool h264_cabac_terminates(struct h264_decoder *d);
/* After the end: whether nothing follows but what ends a NAL unit. */
bool h264_cabac_ends(struct h264_decoder *d);
bool h264_cabac_skip(struct h264_decoder *d);
void h264_cabac_type(struct h264_decoder *d, struct h264_type *type);
unsigned h264_cabac_sub_type(struct h264_decoder *d);
unsigned h264_cabac_ref(struct h264_decoder *d, int list, int x, int y);
void h264_cabac_mvd(struct h264_decoder *d, int list, int x, int y, uint8_t mvd[2]);
void h264_cabac_intra_mode(struct h264_decoder *d);
unsigned h264_cabac_chroma_mode(struct h264_decoder *d);
unsigned h264_cabac_pattern(struct h264_decoder *d);
bool h264_cabac_is_8x8(struct h264_decoder *d);
int h264_cabac_delta(struct h264_decoder *d);
/* index: of the block in d->now->coded, or of chroma. Returns what to store there. */
unsigned h264_cabac_block(struct h264_decoder *d, enum h264_block kind, int index);
/* Skips to the samples of PCM, and begins anew after them. */
void h264_cabac_pcm(struct h264_decoder *d, unsigned len);

void h264_cavlc_type(struct h264_decoder *d, struct h264_type *type);
unsigned h264_cavlc_block(struct h264_decoder *d, enum h264_block kind, int index);

#endif
