/*
 * What the two decoders of Huffman-coded scans share. jpeg_huffman.c has the plain one, symbol by
 * symbol, which says what is wrong with a block. jpeg_fast.c decodes whole rows and knows nothing of
 * errors: at a block that it can't decode it goes back and leaves that block to the plain one.
 */
#ifndef BURIN_CARVERS_PICTURES_JPEG_JPEG_DECODER_H
#define BURIN_CARVERS_PICTURES_JPEG_JPEG_DECODER_H

#include "jpeg_lanes.h"

/* A block of each MCU. */
struct jpeg_block {
	const uint16_t *dc;
	const uint16_t *ac;
	const struct jpeg_one *one; /* of ac */
	struct jpeg_component *component;
	int32_t *prediction;
	uint32_t number; /* of the component, and of the prediction in jpeg_decoder.dc */
	uint32_t bound;  /* of the prediction, above and below 0 */
};

struct jpeg_tables {
	struct jpeg_one one[2][4]; /* DC, AC */
	uint16_t dc_lookup[4][1 << JPEG_ONE_BITS];
	struct jpeg_many many[4]; /* of sequential scans */
};

/* Bits of the lookup tables of large scans. */
#define JPEG_LARGE_BITS JPEG_LANE_BITS

/* What a check makes for itself. */
struct jpeg_own {
	struct jpeg_tables tables;
	struct jpeg_bands bands;
	struct jpeg_refined refined; /* both of progressive scans */
	struct jpeg_lanes lanes;
};

struct jpeg_decoder {
	struct jpeg *jpeg;
	const char *problem; /* why the scan failed; NULL when the view ended */
	uint64_t valid_end;  /* then: how far it is valid, about */
	bool used_up;        /* then: bits were missing */
	bool (*block)(struct jpeg_decoder *, struct jpeg_component *, uint64_t *history);
	bool (*run)(struct jpeg_decoder *, uint64_t *history, uint64_t mcus);
	int32_t dc[JPEG_COMPONENTS]; /* predictions, in order of jpeg->components */
	uint32_t eob_run;            /* progressive: blocks that end at once */
	int zero_blocks;             /* long ones in a row */
	bool met_zeros;              /* there was one */
	unsigned block_work;
	uint64_t data, interval_at; /* where the data of the scan and of the interval start */
	uint64_t began_at;          /* where decoding did */
	int32_t *trace;        /* the DC of each block that jpeg_fast_trace decodes goes there */
	int32_t *coefficients; /* NULL, or where a sequential block's AC go, 64 for a block */
	uint64_t left;         /* the MCUs that it did not decode, the invalid one among them */

	unsigned lookup_bits; /* of many, or of bands */
	bool large;           /* as many as are of use */
	bool wants_lanes;     /* the scan is sequential, and nothing but its verdict is wanted */
	bool wants_stretches; /* the same, and the check goes on from a state */
	int block_count;
	struct jpeg_block blocks[JPEG_MCU_BLOCKS];
	struct jpeg_bits bits;
	const struct jpeg_tables *tables; /* of own, or those of all trials with the coding */
	uint32_t coding;                  /* of trials; 0: none */
	struct jpeg_own *own;             /* NULL: none are needed */
};

/* Decodes a block, and sees whether it can be one. False: d->problem and valid_end are set. */
bool jpeg_decode_block(struct jpeg_decoder *d, struct jpeg_component *c, uint64_t *history);

/* After a block that took `bits` bits: whether those existed, and were not zeros as of data that was
 * wiped. */
bool jpeg_accept_block(struct jpeg_decoder *d, uint64_t bits);

/* Counts the work of decoding MCUs. False: it is too much. */
bool jpeg_count_work(struct jpeg_decoder *d, uint64_t mcus);

/* Sets d->tables, and the blocks' of single symbols. */
void jpeg_use_tables(struct jpeg_decoder *d, const struct jpeg_tables *tables);

/* Builds the lookup tables for a scan, small ones or large ones. */
void jpeg_fast_prepare(struct jpeg_decoder *d, bool large);

/* Sets d->run, which decodes MCUs of a row; history: that of the first one, or NULL. False as with
 * jpeg_decode_block. */
void jpeg_fast_choose(struct jpeg_decoder *d);

/* The view ends in this block of an MCU, of which and of those after it there are `mcus`: describes that
 * as d->jpeg->coded, where it can be. The block's bits begin at d->bits. Or, as coded->begins wants, the same of
 * the first block. */
void jpeg_describe(struct jpeg_decoder *d, unsigned block, uint64_t mcus, uint64_t mcu);

/* Saves the check's state before an MCU, of `count` of the scan, and before the restart marker that it may have. */
void jpeg_state_save(struct jpeg_decoder *d, uint64_t mcu, uint64_t count);
/* Returns the MCU, of `count`, from which decoding goes on, with d->bits there: 0 without a state of this scan. At the MCU
 * *until what the state has ends, and only a check from the beginning can tell more. */
uint64_t jpeg_state_load(struct jpeg_decoder *d, uint64_t count, uint64_t *until);

/* A d->run for sequential scans that fills d->trace, ends with the MCU that sets d->bits.stopped, and sets d->left. */
bool jpeg_fast_trace(struct jpeg_decoder *d, uint64_t *history, uint64_t mcus);

/* Finds d->coding, and uses the tables that are made for all trials with it, large ones. False: there are none. */
bool jpeg_stretches_prepare(struct jpeg_decoder *d);
/* Decodes all these MCUs, as d->wants_stretches says: those that another check has decoded are not decoded again. Counts the
 * work itself. */
bool jpeg_stretches_run(struct jpeg_decoder *d, uint64_t mcus);

#endif
