/*
 * Slices of H.265 pictures that are coded alone (ITU-T H.265), without pictures: whether the codes of a slice are valid, and end
 * with its last coding tree unit where its NAL unit ends.
 */
#ifndef BURIN_CARVERS_COMMON_HEVC_H
#define BURIN_CARVERS_COMMON_HEVC_H

#include <stdbool.h>
#include <stdint.h>

#include "carver.h"

#define HEVC_SETS_MAX 4
/* A picture's width and height. */
#define HEVC_SIDE_MAX 16384

/* Types of NAL units (table 7-1). */
enum hevc_nal {
	HEVC_NAL_SLICES = 32, /* those below are of slices */
	HEVC_NAL_SPS = 33,
	HEVC_NAL_PPS = 34,
};

/* What slices need of the parameter sets (7.3.2.2, 7.3.2.3). */
struct hevc_sps {
	bool set, followed; /* not followed: its pictures have what is not decoded */
	uint8_t id;
	uint8_t chroma; /* chroma_format_idc */
	uint8_t luma_bits, chroma_bits;
	uint16_t width, height;
	uint8_t order_bits;           /* of slice_pic_order_cnt_lsb */
	uint8_t min_block, max_block; /* logarithms: of coding blocks, */
	uint8_t min_transform, max_transform;
	uint8_t depth; /* max_transform_hierarchy_depth_intra */
	bool offsets;  /* sample_adaptive_offset_enabled_flag */
	bool pcm;
	uint8_t pcm_luma_bits, pcm_chroma_bits, min_pcm, max_pcm;
};

struct hevc_pps {
	bool set, followed;
	uint8_t id, sps_id;
	bool dependent;             /* dependent_slice_segments_enabled_flag */
	bool output;                /* output_flag_present_flag */
	uint8_t extra;              /* num_extra_slice_header_bits */
	bool hides_signs;           /* sign_data_hiding_enabled_flag */
	bool skips_transform;       /* transform_skip_enabled_flag */
	bool deltas;                /* cu_qp_delta_enabled_flag */
	uint8_t delta_depth;        /* diff_cu_qp_delta_depth */
	bool chroma_deltas;         /* pps_slice_chroma_qp_offsets_present_flag */
	bool bypasses;              /* transquant_bypass_enabled_flag */
	bool syncs;                 /* entropy_coding_sync_enabled_flag */
	bool filters_across;        /* pps_loop_filter_across_slices_enabled_flag */
	bool overrides, filter_off; /* of deblocking: what slices may have, and the usual */
	bool extends;               /* slice_segment_header_extension_present_flag */
	int8_t qp;                  /* 26 + init_qp_minus26 */
};

struct hevc_params {
	struct hevc_sps sps[HEVC_SETS_MAX];
	struct hevc_pps pps[HEVC_SETS_MAX];
};

/* Takes the parameter set in the NAL unit in [at, end) of the view, if it is one; another one with its number is forgotten. */
void hevc_add(struct hevc_params *params, struct view *view, uint64_t at, uint64_t end);

enum hevc_outcome {
	HEVC_VALID,
	HEVC_INVALID,
	HEVC_NOT_FOLLOWED, /* it has what is not decoded: nothing is known */
};

/* Of a picture's slices. */
struct hevc_picture {
	uint32_t next, size; /* coding tree units: the next slice's first, and all; 0: not known */
};

struct hevc_decoder;

/* NULL: no memory. The caller frees it (free). */
struct hevc_decoder *hevc_decoder_new(void);

/* Decodes the slice in the NAL unit in [at, end) of the view, whose parameter sets are known. It has to begin with picture->next,
 * and sets it. *valid is up to where it is valid: where the part begins, of a slice of several, that is not. Counts its work. */
enum hevc_outcome hevc_slice(struct hevc_decoder *decoder, struct view *view,
	const struct hevc_params *params, struct hevc_picture *picture, uint64_t at, uint64_t end,
	uint64_t *valid);

#endif
