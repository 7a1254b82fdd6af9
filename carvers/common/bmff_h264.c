/*
 * Samples of H.264 (ISO/IEC 14496-15, 5.3): the sample entry's 'avcC' has the parameter sets, each sample the slices of a
 * picture, which are decoded (h264.h). For files that are put together of pieces; it takes longer than a scan may.
 *
 * A slice that ends right proves that its bytes belong together. Other clusters of the same film, of other encodes of it
 * and of other films, in place of a film's own from a joint on, were tried 2.7 million times (tests/bench/RESULTS.md): 1 in
 * 680,000 passed, but of those of which only the slice's last 32 bytes were read 1 in 2,900. Where the other slice ends at the same place,
 * as it may where all samples have one length, 1 in 2,300 passed: the caller knows that.
 */
#include "bmff_media.h"

#include "bytes.h"

#define PROVED_MIN 128 /* bytes of a slice; a shorter one proves too little */
#define TAIL_LEN 32    /* its last bytes, of which other ones are noticed less often: */
#define TAIL_BITS 8    /* they prove no more */
#define OTHER_MAX \
	32 /* bytes of other units after a sample's first slice of which nothing more is said */

/* Adds the parameter sets of one kind, whose number is at *at, a byte masked. False: they do not fit in. */
static bool add_sets(
	struct view *view, uint64_t *at, uint64_t end, uint8_t mask, struct h264_params *params)
{
	const uint8_t *p = *at < end ? view_peek(view, *at, 1) : NULL;
	unsigned count = p ? *p & mask : 0;

	if (!p)
		return false;
	for (*at += 1; count; count--) {
		uint64_t len;

		p = end - *at >= 2 ? view_peek(view, *at, 2) : NULL;
		if (!p)
			return false;
		len = be16(p);
		*at += 2;
		if (len > end - *at)
			return false;
		h264_add(params, view, *at, *at + len);
		*at += len;
	}
	return true;
}

bool bmff_h264_open(struct view *view, const struct bmff_track *track, struct h264_params *params)
{
	struct bmff_box box;
	uint64_t at;

	*params = (struct h264_params){ 0 };
	if (track->coding != BMFF('a', 'v', 'c', '1') && track->coding != BMFF('a', 'v', 'c', '3'))
		return false;
	if (!bmff_find(view, track->entry.data + BMFF_VISUAL_LEN, track->entry.end,
		    BMFF('a', 'v', 'c', 'C'), &box))
		return false;
	at = box.data + 5;
	return add_sets(view, &at, box.end, 31, params) &&
	       add_sets(view, &at, box.end, 255, params) && params->sps[0].set &&
	       params->pps[0].set;
}

/* What is known of a sample's NAL units so far. */
struct units {
	struct h264_picture picture;
	unsigned bits;  /* that a slice proves */
	uint64_t first; /* slice; 0: none */
	bool followed;  /* all of them */
	uint64_t
		other; /* bytes of units after it that are not decoded, and of slices that prove too little */
};

static void declare_slice(struct view *view, uint64_t at, uint64_t end, unsigned bits)
{
	uint64_t tail = end - TAIL_LEN;

	view_proved(view, at, tail, bits);
	view_proved(view, tail - 1, end, bits < TAIL_BITS ? bits : TAIL_BITS);
}

/* False: it is invalid. */
static bool check_unit(struct view *view, struct h264_decoder *decoder, struct h264_params *params,
	struct units *units, uint64_t at, uint64_t end, uint64_t *broken)
{
	const uint8_t *p = view_peek(view, at, 1);
	unsigned type = p ? *p & 31 : 0;

	if (type == H264_NAL_SPS || type == H264_NAL_PPS)
		h264_add(params, view, at, end);
	if (type >= H264_NAL_PARTITION_A && type <= H264_NAL_PARTITION_C)
		units->followed = false;
	if (type != H264_NAL_SLICE && type != H264_NAL_IDR) {
		if (units->first)
			units->other += end - at;
		return true;
	}
	if (!units->first)
		units->first = at;
	switch (h264_slice(decoder, view, params, &units->picture, at, end, broken)) {
	case H264_VALID:
		if (end - at >= PROVED_MIN)
			declare_slice(view, at, end, units->bits);
		else
			units->other += end - at;
		break;
	case H264_INVALID:
		return false;
	case H264_NOT_FOLLOWED:
		units->followed = false;
		break;
	}
	return true;
}

bool bmff_h264(struct view *view, struct h264_decoder *decoder, struct h264_params *params,
	unsigned nal_len, uint64_t offset, uint64_t len, unsigned bits,
	struct bmff_h264_sample *sample, uint64_t *broken)
{
	uint64_t at = offset, end = offset + len;
	struct units units = { .followed = true, .bits = bits };
	bool is_picture;

	*sample = (struct bmff_h264_sample){ 0 };
	while (end - at > nal_len) {
		const uint8_t *p = view_peek(view, at, nal_len);
		uint64_t unit = 0;

		for (unsigned i = 0; p && i < nal_len; i++)
			unit = unit << 8 | p[i];
		at += nal_len;
		if (!p || !unit || unit > end - at)
			return true;
		if (!check_unit(view, decoder, params, &units, at, at + unit, broken))
			return false;
		at += unit;
	}
	*broken = end;
	is_picture = units.picture.next == units.picture.size;
	sample->first = units.first;
	sample->valid = units.first && units.followed && is_picture;
	sample->whole = sample->valid && units.other <= OTHER_MAX;
	return !units.first || !units.followed || is_picture;
}
