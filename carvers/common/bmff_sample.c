/*
 * Samples that are neither NAL units nor OBUs. Each coding has something that its samples start
 * with, and some audio codings something that they end with:
 *
 *	AAC (ISO/IEC 14496-3, 4.4.2.1): elements with ids of 3 bits, the last being 111, then zeros
 *		up to a whole byte; ALAC too, with 12 zero bits in its first element
 *	AMR (3GPP TS 26.101, 26.201; RFC 4867): the frame's type determines its length
 *	JPEG: SOI and EOI
 *	MPEG-4 video, H.263, ProRes, PNG, AC-3, MP3, FLAC, TrueHD, DV: start codes
 *
 * That is weak evidence for a single sample, but for a start code. So the whole track counts: if its first samples all
 * pass, and then several in a row fail, its data ends there.
 */
#include "bmff_media.h"

#include <string.h>

#include "bytes.h"

#define SURE 4        /* samples that have to pass before a failure means anything */
#define FAILED 2      /* failures in a row that end the data */
#define RETURNED 12   /* valid samples in a row after which the first ones were foreign */
#define LEARN_COUNT 8 /* samples of AAC whose first elements predict those of later samples */

#define KIND_AAC 0x40
#define KIND_MPEG4 0x20
#define ESDS_SEARCH_LEN 1024

/* What the 'esds' box anywhere in a sample entry says (ISO/IEC 14496-1, 7.2.6.5). */
struct description {
	uint8_t object_type; /* 0: none */
	uint64_t from, to;   /* of the decoder's own configuration (7.2.6.7); may be empty */
};

/* What is after the object type at `at` of the p that begins at `base`. */
static void find_configuration(
	const uint8_t *p, size_t len, size_t at, uint64_t base, struct description *found)
{
	size_t size = 0;

	at += 13;
	if (at + 2 > len || p[at++] != 5)
		return;
	for (int i = 0; i < 4 && at < len; i++) {
		size = size << 7 | (p[at] & 0x7f);
		if (!(p[at++] & 0x80))
			break;
	}
	found->from = base + at;
	found->to = found->from + (size < len - at ? size : len - at);
}

static struct description describe(struct view *view, const struct bmff_box *entry)
{
	uint64_t left = entry->end - entry->data;
	size_t len = left < ESDS_SEARCH_LEN ? (size_t)left : ESDS_SEARCH_LEN, at;
	const uint8_t *p = entry->type ? view_peek(view, entry->data, len) : NULL;
	const uint8_t *esds = p && len > 4 ? memmem(p, len, "esds", 4) : NULL;
	struct description found = { 0 };

	if (!esds)
		return found;
	at = (size_t)(esds - p) + 8;
	for (int tag = 3; tag <= 4; tag++) {
		if (at + 8 > len || p[at++] != tag)
			return found;
		for (int i = 0; i < 3 && p[at] & 0x80; i++)
			at++;
		at++;
		if (tag == 4) {
			found.object_type = p[at];
			find_configuration(p, len, at, entry->data, &found);
			return found;
		}
		/* An id of 2 bytes, and flags that could announce more fields. */
		if (at + 3 >= len || p[at + 2] & 0xe0)
			return found;
		at += 3;
	}
	return found;
}

void bmff_stream_open(struct view *view, const struct bmff_track *track, struct bmff_stream *stream)
{
	struct description found;
	const uint8_t *p;

	*stream = (struct bmff_stream){ .type = track->coding };
	if (track->coding != BMFF('m', 'p', '4', 'a'))
		return;
	found = describe(view, &track->entry);
	stream->kind = found.object_type;
	p = found.to > found.from ? view_peek(view, found.from, (size_t)(found.to - found.from))
				  : NULL;
	if (p)
		aac_config_read(p, (size_t)(found.to - found.from), &stream->aac);
}

bool bmff_mpeg4_open(struct view *view, const struct bmff_track *track, struct mpeg4_stream *stream)
{
	struct description found = { 0 };

	if (track->coding == BMFF('m', 'p', '4', 'v'))
		found = describe(view, &track->entry);
	if (found.object_type != KIND_MPEG4)
		return false;
	*stream = (struct mpeg4_stream){ 0 };
	mpeg4_read_headers(view, &stream->video, found.from, found.to);
	return true;
}

struct start {
	char type[5];
	uint8_t at, len, bytes[4], mask[4];
};

static const struct start starts[] = {
	{ "mp4v", 0, 3, { 0, 0, 1 }, { 0xff, 0xff, 0xff } },
	{ "s263", 0, 3, { 0, 0, 0x80 }, { 0xff, 0xff, 0xfc } },
	{ "h263", 0, 3, { 0, 0, 0x80 }, { 0xff, 0xff, 0xfc } },
	{ "apch", 4, 4, { 'i', 'c', 'p', 'f' }, { 0xff, 0xff, 0xff, 0xff } },
	{ "apcn", 4, 4, { 'i', 'c', 'p', 'f' }, { 0xff, 0xff, 0xff, 0xff } },
	{ "apcs", 4, 4, { 'i', 'c', 'p', 'f' }, { 0xff, 0xff, 0xff, 0xff } },
	{ "apco", 4, 4, { 'i', 'c', 'p', 'f' }, { 0xff, 0xff, 0xff, 0xff } },
	{ "ap4h", 4, 4, { 'i', 'c', 'p', 'f' }, { 0xff, 0xff, 0xff, 0xff } },
	{ "ap4x", 4, 4, { 'i', 'c', 'p', 'f' }, { 0xff, 0xff, 0xff, 0xff } },
	{ "png ", 0, 4, { 0x89, 'P', 'N', 'G' }, { 0xff, 0xff, 0xff, 0xff } },
	{ "mjp2", 4, 4, { 'j', 'p', '2', 'c' }, { 0xff, 0xff, 0xff, 0xff } },
	{ "ac-3", 0, 2, { 0x0b, 0x77 }, { 0xff, 0xff } },
	{ "ec-3", 0, 2, { 0x0b, 0x77 }, { 0xff, 0xff } },
	{ "mlpa", 4, 4, { 0xf8, 0x72, 0x6f, 0xba }, { 0xff, 0xff, 0xff, 0xff } },
	{ "fLaC", 0, 2, { 0xff, 0xf8 }, { 0xff, 0xfe } },
	{ ".mp3", 0, 2, { 0xff, 0xe0 }, { 0xff, 0xe0 } },
	{ "ms\0U", 0, 2, { 0xff, 0xe0 }, { 0xff, 0xe0 } },
	{ "dvc ", 0, 3, { 0x1f, 0x07, 0 }, { 0xff, 0xf7, 0xff } },
	{ "dvcp", 0, 3, { 0x1f, 0x07, 0 }, { 0xff, 0xf7, 0xff } },
	{ "dvpp", 0, 3, { 0x1f, 0x07, 0 }, { 0xff, 0xf7, 0xff } },
};

static bool has_start(const struct start *start, struct view *view, uint64_t offset, uint64_t len)
{
	const uint8_t *p = len >= (uint64_t)start->at + start->len
				   ? view_peek(view, offset + start->at, start->len)
				   : NULL;

	for (size_t i = 0; p && i < start->len; i++)
		if ((p[i] & start->mask[i]) != start->bytes[i])
			return false;
	return p != NULL;
}

/* Whether it ends with three one bits and fewer than 8 zero bits after them. */
static bool ends_with_id(struct view *view, uint64_t offset, uint64_t len)
{
	const uint8_t *p = len >= 2 ? view_peek(view, offset + len - 2, 2) : NULL;
	unsigned last = p ? be16(p) : 0;

	for (int zeros = 0; last && zeros < 8; zeros++, last >>= 1)
		if (last & 1)
			return (last & 7) == 7;
	return false;
}

/* An element that no earlier sample started with is unlikely, except for fill and data (6, 4). */
static bool is_aac(struct view *view, struct bmff_stream *stream, uint64_t offset, uint64_t len)
{
	const uint8_t *p = len >= 2 ? view_peek(view, offset, 1) : NULL;
	unsigned id = p ? p[0] >> 5 : 7;

	if (id == 7 || id == 2 || (!stream->ragged && !ends_with_id(view, offset, len)))
		return false;
	if (stream->passed < LEARN_COUNT)
		stream->ids |= (uint8_t)(1 << id);
	return id == 6 || id == 4 || stream->ids >> id & 1;
}

/* What was measured of frames of 64 bytes or more (11,364 of 94 files), if other sound takes the place of a part of
 * them: with their last 16 bytes, or more, one in 75 is still valid; with all, one in 4,500. Of the frames of a file one in
 * 95 has the length of another one (23 in the worst of 53 files). */
#define FRAME_MIN 64
#define TAIL_LEN 16
#define TAIL_BITS 5
#define FRAME_BITS 10
#define MORE_BITS 4
#define RAGGED_BITS 3 /* fewer, if any bits are after the last id */
#define FOLLOW_WORK 4 /* units to follow a byte's codes */

/* A frame is valid: a joint in it is the less likely wrong, and one before it too if no other follows. */
static void declare_frame(struct view *view, const struct bmff_stream *stream,
	struct sample_chain *chain, uint64_t offset, uint64_t len)
{
	struct sample_link link = { offset, offset + 1, offset + len };
	unsigned less = stream->ragged ? RAGGED_BITS : 0;

	if (len < FRAME_MIN)
		return;
	sample_chain_add(chain, view, &link, FRAME_BITS - less, MORE_BITS);
	view_proved(view, offset + 1, link.to - TAIL_LEN, TAIL_BITS - less);
}

static bool is_followed(const struct bmff_stream *stream)
{
	return stream->is_followed && stream->aac.object;
}

/* Whether frames of the track are known to have codes that end where they do. */
static bool is_sure(const struct bmff_stream *stream)
{
	return stream->followed >= SURE && !stream->doubted;
}

/* Whether the codes of a frame of AAC are valid and end where it does; true, too, if that is not known. */
static bool has_codes(struct view *view, struct bmff_stream *stream, uint64_t offset, uint64_t len)
{
	const uint8_t *p = len <= VIEW_MAX_PEEK && view_work(view, FOLLOW_WORK * len)
				   ? view_peek(view, offset, (size_t)len)
				   : NULL;
	size_t at;

	return !p || aac_frame_follow(p, (size_t)len, &stream->aac, &at);
}

/* Some encoders leave bits after the last id as they are: one of the first frames has codes that end there. */
static bool is_ragged(struct view *view, struct bmff_stream *stream, uint64_t offset, uint64_t len)
{
	return is_followed(stream) && !stream->ragged && !stream->failed &&
	       stream->passed < LEARN_COUNT && len >= FRAME_MIN &&
	       !ends_with_id(view, offset, len) && has_codes(view, stream, offset, len);
}

/* Whether a frame of AAC can be the track's, by its codes. An encoder's first ones may not be valid; if many later ones are,
 * those were other data: they are the first invalid ones then. */
static bool follow_aac(struct view *view, struct bmff_stream *stream, struct sample_chain *chain,
	uint64_t offset, uint64_t len)
{
	if (has_codes(view, stream, offset, len)) {
		declare_frame(view, stream, chain, offset, len);
		stream->followed++;
		return !stream->doubted || stream->followed < RETURNED;
	}
	if (is_sure(stream))
		return false;
	if (!stream->doubted)
		stream->doubted_at = offset;
	stream->interrupted |= stream->followed;
	stream->doubted = true;
	stream->followed = 0;
	return true;
}

static bool is_alac(struct view *view, uint64_t offset, uint64_t len)
{
	const uint8_t *p = len >= 4 ? view_peek(view, offset, 3) : NULL;

	return p && p[0] >> 5 <= 4 && !(p[0] & 1) && !p[1] && !(p[2] & 0xe0) &&
	       ends_with_id(view, offset, len);
}

/* Whether a sample, or a run of samples, is a sequence of frames. */
static bool is_amr(struct view *view, bool wide, uint64_t offset, uint64_t len)
{
	static const uint8_t narrow_lens[16] = { 13, 14, 16, 18, 20, 21, 27, 32, 6, 0, 0, 0, 0, 0,
		0, 1 };
	static const uint8_t wide_lens[16] = { 18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 0, 0, 0, 0, 1,
		1 };

	for (uint64_t at = 0; at < len;) {
		const uint8_t *p = view_peek(view, offset + at, 1);
		uint8_t frame_len;

		if (!p || p[0] & 0x83)
			return false;
		frame_len = (wide ? wide_lens : narrow_lens)[p[0] >> 3 & 15];
		if (!frame_len || frame_len > len - at)
			return false;
		at += frame_len;
	}
	return true;
}

enum outcome { UNKNOWN, INVALID, PLAUSIBLE, STARTED, COMPLETE };

/* Of a sample that has the start: most are so long that hardly any other data has them. */
static enum outcome outcome_of(const struct start *start)
{
	return start->len > 2 ? STARTED : PLAUSIBLE;
}

static enum outcome check_sample(struct view *view, struct bmff_stream *stream,
	struct sample_chain *chain, uint64_t offset, uint64_t len)
{
	bool wide = stream->type == BMFF('s', 'a', 'w', 'b');

	if (wide || stream->type == BMFF('s', 'a', 'm', 'r'))
		return is_amr(view, wide, offset, len) ? COMPLETE : INVALID;
	if (stream->type == BMFF('m', 'p', '4', 'a') &&
		(!stream->kind || stream->kind == KIND_AAC ||
			(stream->kind >= 0x66 && stream->kind <= 0x68))) {
		stream->ragged |= is_ragged(view, stream, offset, len);
		return is_aac(view, stream, offset, len) &&
				       (!is_followed(stream) ||
					       follow_aac(view, stream, chain, offset, len))
			       ? COMPLETE
			       : INVALID;
	}
	if (stream->type == BMFF('a', 'l', 'a', 'c'))
		return is_alac(view, offset, len) ? COMPLETE : INVALID;
	if (bmff_is_jpeg(stream->type))
		return bmff_has_jpeg_ends(view, offset, offset + len) ? COMPLETE : INVALID;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (stream->type == be32((const uint8_t *)starts[i].type))
			return has_start(&starts[i], view, offset, len) ? outcome_of(&starts[i])
									: INVALID;
	return UNKNOWN;
}

/* How many samples without a start code say as much. */
static unsigned weight_of(enum outcome outcome)
{
	return outcome == STARTED ? SURE : 1;
}

/* Whether the track's coding applies, though its first samples did not follow it: these are invalid then. */
static bool has_returned(struct bmff_stream *stream, enum outcome outcome, uint64_t *broken)
{
	stream->returned = outcome == INVALID ? 0 : stream->returned + weight_of(outcome);
	*broken = stream->failed_at;
	return stream->returned >= RETURNED;
}

bool bmff_stream_check(struct view *view, struct bmff_stream *stream, struct sample_chain *chain,
	uint64_t offset, uint64_t len, uint64_t *confirmed, uint64_t *broken)
{
	uint32_t type = stream->type;
	enum outcome outcome;
	bool has_doubt;

	/* Where a file is put together its first samples may be foreign. */
	if (!type && stream->goes_on)
		stream->type = stream->given_up;
	outcome = check_sample(view, stream, chain, offset, len);
	stream->type = type;
	has_doubt = stream->doubted && stream->followed >= RETURNED;
	*confirmed = offset;
	if (outcome == UNKNOWN)
		return true;
	if (!stream->type) {
		/* Some of its frames have codes that end where they do. */
		stream->interrupted |= stream->followed;
		return !has_returned(stream, outcome, broken);
	}
	if (outcome == INVALID) {
		if (!stream->failed++)
			stream->failed_at = has_doubt ? stream->doubted_at : offset;
		/* Its first samples do not follow their coding: this check does not apply to the
		 * track. */
		if (stream->passed < SURE) {
			stream->given_up = stream->type;
			stream->type = 0;
		}
		*broken = stream->failed_at;
		return stream->passed < SURE ||
		       stream->failed < (has_doubt || is_sure(stream) ? 1 : FAILED);
	}
	stream->passed += weight_of(outcome);
	stream->failed = 0;
	*confirmed = outcome == COMPLETE         ? offset + len
		     : offset + 4 < offset + len ? offset + 4
						 : offset + len;
	return true;
}
