/*
 * Items of H.265 (ISO/IEC 14496-15, 8.3): the item's 'hvcC' has the parameter sets, its bytes are the slices of a picture, which
 * are decoded (hevc.h). For files that are put together of pieces; it takes longer than a scan may.
 *
 * A slice that ends right proves that its bytes belong together. Other clusters of the same picture, of others by the same
 * program, and the ends of others' slices, in place of a slice's own from a joint on, were tried 197,000 times
 * (tests/bench/RESULTS.md): none passed, but of those of which only the slice's last 32 bytes were read 1 in 29,000.
 */
#include "bmff_media.h"

#include "bytes.h"

#define HEAD_LEN 2 /* of a NAL unit */
#define SETS_AT 22 /* in 'hvcC': the number of kinds of parameter sets */
#define KINDS_MAX 16
#define SETS_MAX 64
#define PROVED_MIN 128 /* bytes of a slice; a shorter one proves too little */
#define PROVED_BITS 14
#define TAIL_LEN 32 /* its last bytes, of which other ones are noticed less often */
#define TAIL_BITS 8

bool bmff_hevc_open(struct view *view, const struct bmff_box *box, struct hevc_params *params)
{
	uint64_t at = box->data + SETS_AT;
	const uint8_t *p = at < box->end ? view_peek(view, at, 1) : NULL;
	unsigned kinds = p ? *p : 0, sets = 0;

	*params = (struct hevc_params){ 0 };
	at++;
	for (unsigned i = 0; i < kinds && i < KINDS_MAX; i++) {
		unsigned count;

		p = box->end - at >= 3 ? view_peek(view, at, 3) : NULL;
		if (!p)
			return false;
		count = be16(p + 1);
		at += 3;
		for (; count && sets < SETS_MAX; count--, sets++) {
			uint64_t len;

			p = box->end - at >= 2 ? view_peek(view, at, 2) : NULL;
			if (!p)
				return false;
			len = be16(p);
			at += 2;
			if (len > box->end - at)
				return false;
			hevc_add(params, view, at, at + len);
			at += len;
		}
	}
	return params->sps[0].set && params->pps[0].set;
}

static void declare_slice(struct view *view, uint64_t at, uint64_t end)
{
	uint64_t tail = end - TAIL_LEN;

	if (end - at < PROVED_MIN)
		return;
	view_proved(view, at, tail, PROVED_BITS);
	view_proved(view, tail - 1, end, TAIL_BITS);
}

/* What is known of an item's NAL units so far. */
struct units {
	struct hevc_picture picture;
	bool has_slice, followed;
};

/* False: it is invalid. */
static bool check_unit(struct view *view, struct hevc_decoder *decoder, struct hevc_params *params,
	struct units *units, uint64_t at, uint64_t end, uint64_t *valid)
{
	const uint8_t *p = view_peek(view, at, 1);
	unsigned type = p ? *p >> 1 & 63 : HEVC_NAL_SLICES;

	if (type >= HEVC_NAL_SLICES) {
		hevc_add(params, view, at, end);
		return true;
	}
	units->has_slice = true;
	switch (hevc_slice(decoder, view, params, &units->picture, at, end, valid)) {
	case HEVC_VALID:
		declare_slice(view, at, end);
		return true;
	case HEVC_INVALID:
		return false;
	case HEVC_NOT_FOLLOWED:
		units->followed = false;
		break;
	}
	return true;
}

enum hevc_outcome bmff_hevc(struct view *view, struct hevc_decoder *decoder,
	struct hevc_params *params, unsigned nal_len, uint64_t offset, uint64_t len,
	uint64_t *valid)
{
	uint64_t at = offset, end = offset + len, part = 0;
	struct units units = { .followed = true };

	*valid = offset;
	while (end - at > nal_len) {
		const uint8_t *p = view_peek(view, at, nal_len);
		uint64_t unit = 0;

		for (unsigned i = 0; p && i < nal_len; i++)
			unit = unit << 8 | p[i];
		if (!p)
			return HEVC_NOT_FOLLOWED;
		at += nal_len;
		if (unit < HEAD_LEN || unit > end - at)
			return HEVC_INVALID;
		*valid = at + HEAD_LEN;
		if (!check_unit(view, decoder, params, &units, at, at + unit, &part)) {
			*valid = part > *valid ? part : *valid;
			return HEVC_INVALID;
		}
		at += unit;
		if (!units.followed)
			return HEVC_NOT_FOLLOWED;
		*valid = at;
	}
	if (!units.has_slice)
		return HEVC_NOT_FOLLOWED;
	return at == end && units.picture.next == units.picture.size ? HEVC_VALID : HEVC_INVALID;
}
