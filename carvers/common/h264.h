/*
 * Slices of H.264 (ITU-T H.264), without pictures: whether the codes of a slice are valid, and end with its last
 * macroblock where its NAL unit ends.
 */
#ifndef BURIN_CARVERS_COMMON_H264_H
#define BURIN_CARVERS_COMMON_H264_H

#include <stdbool.h>
#include <stdint.h>

#include "carver.h"

#define H264_SPS_MAX 2
#define H264_PPS_MAX 8
/* A picture's width and height in macroblocks that a level allows (table A-1). */
#define H264_SIDE_MAX 1056

/* Types of NAL units (table 7-1). */
enum h264_nal {
	H264_NAL_SLICE = 1,
	H264_NAL_PARTITION_A = 2,
	H264_NAL_PARTITION_C = 4,
	H264_NAL_IDR = 5,
	H264_NAL_SPS = 7,
	H264_NAL_PPS = 8,
};

/* What slices need of the parameter sets (7.3.2.1, 7.3.2.2). */
struct h264_sps {
	bool set, followed; /* not followed: its pictures have what is not decoded */
	uint8_t id;
	uint8_t frame_num_bits;
	uint8_t order_type, order_bits;    /* pic_order_cnt_type; of pic_order_cnt_lsb */
	bool order_always_zero;            /* delta_pic_order_always_zero_flag */
	bool frames_only, adaptive_frames; /* frame_mbs_only_flag, mb_adaptive_frame_field_flag */
	bool direct_8x8;                   /* direct_8x8_inference_flag */
	bool any_order;                    /* slices may come in any order */
	uint16_t width, height;            /* macroblocks; height of a frame */
};

struct h264_pps {
	bool set, followed;
	uint8_t id, sps_id;
	bool cabac;         /* entropy_coding_mode_flag; else CAVLC */
	bool frame_order;   /* bottom_field_pic_order_in_frame_present_flag */
	bool weighted;      /* weighted_pred_flag */
	uint8_t weighted_b; /* weighted_bipred_idc */
	bool deblocking;    /* deblocking_filter_control_present_flag */
	bool redundant;     /* redundant_pic_cnt_present_flag */
	bool transform_8x8; /* transform_8x8_mode_flag */
	uint8_t refs[2];    /* num_ref_idx_l0_default_active and that of l1 */
	int8_t qp;          /* 26 + pic_init_qp_minus26 */
};

struct h264_params {
	struct h264_sps sps[H264_SPS_MAX];
	struct h264_pps pps[H264_PPS_MAX];
	bool lost; /* there were more than are kept, or such as are not understood */
};

/* Reads the sequence parameter set in the NAL unit in [at, end) of the view; a unit may be cut after the picture's size. False: it
 * is not one, or not understood. */
bool h264_sps_read(struct view *view, uint64_t at, uint64_t end, struct h264_sps *sps);

/* Takes the parameter set in the NAL unit in [at, end) of the view; another one with its number is forgotten. */
void h264_add(struct h264_params *params, struct view *view, uint64_t at, uint64_t end);

enum h264_outcome {
	H264_VALID,
	H264_INVALID,
	H264_NOT_FOLLOWED, /* it has what is not decoded: nothing is known */
};

/* Of a picture's slices. */
struct h264_picture {
	uint64_t
		next; /* the macroblock that the next slice begins with; where they have no order, their number */
	uint64_t size; /* macroblocks; 0: not known */
};

struct h264_decoder;

/* NULL: no memory. The caller frees it (free). */
struct h264_decoder *h264_decoder_new(void);

/* Decodes the slice in the NAL unit in [at, end) of the view, of type 1 or 5, whose parameter sets are known. It has to begin
 * with picture->next, if its slices have an order, and sets it. *seen is where it was noticed that it is invalid. Counts its
 * work. */
enum h264_outcome h264_slice(struct h264_decoder *decoder, struct view *view,
	const struct h264_params *params, struct h264_picture *picture, uint64_t at, uint64_t end,
	uint64_t *seen);

#endif
