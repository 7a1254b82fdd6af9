/*
 * FLAC (RFC 9639).
 *
 *	stream: 'fLaC', metadata blocks, frames
 *	block:  last-block flag and type, length (3 bytes), data; the first one is STREAMINFO, which
 *	        has depth and number of samples
 *
 * Every frame is read to its end (flac_frame.c), has a CRC of its header and one of itself, and
 * carries its number, or that of its first sample. The stream ends after the number of samples in
 * STREAMINFO; without that number it ends where no frame follows, which is a guess. The valid part
 * ends before a frame that is cut or has a wrong CRC. Tags may follow (audio_tags.h), and confirm
 * the end. After bytes that can't be read the walk goes on at the next intact frame, whose number shows
 * what was lost. Where proof is asked for, the samples are decoded, and their MD5 compared with that in STREAMINFO: it
 * shows that the frames are this file's, too.
 *
 * A title and a date come from the block with Vorbis comments.
 */
#include "flac.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "embedded.h"
#include "flac_frame.h"
#include "audio_tags.h"
#include "md5.h"
#include "walk.h"

struct flac {
	struct view *view;
	struct finding *finding;
	uint64_t at; /* validated up to here */
	uint64_t frame_count, sample_count;
	uint64_t first;         /* the first frame's number */
	uint64_t all_samples;   /* 0: not stated */
	uint64_t longest_frame; /* bytes */
	uint64_t overwritten;   /* where PADDING is not zeros; 0: nowhere */
	unsigned depth, block_count;
	unsigned frame_samples;           /* of each frame but the last, if their number is fixed */
	const struct carve_state *resume; /* NULL: from the first frame */
	uint8_t md5[MD5_LEN];             /* of the samples; all zeros: not stated */
	uint64_t zeros;                   /* where zeros begin that lead to the frames */
	bool differs;                     /* the samples' MD5 is another */
	size_t head_len; /* of the header at `at`, of a frame that is not intact; 0: there is none */
};

/* Where a walk goes on. */
struct saved {
	uint64_t frames; /* where they begin */
	uint64_t at, last, first, frame_count, sample_count;
};

/* See view_proved: a frame's CRC-16; the next header's sync code, CRC-8 and number; the MD5. */
enum { CRC_BITS = 16, HEADER_BITS = 30, MD5_BITS = 128 };

enum block_type { STREAMINFO = 0, PADDING = 1, VORBIS_COMMENT = 4, PICTURE = 6, INVALID = 127 };

/* What is wrong with STREAMINFO, which comes first, or NULL. */
static const char *read_streaminfo(struct flac *flac, uint64_t at)
{
	const uint8_t *p = view_peek(flac->view, at, 42);
	unsigned shortest, longest;
	uint64_t fields;

	if (!p || memcmp(p, "fLaC", 4) != 0)
		return "no FLAC signature";
	if (p[4] & 0x7f || (be32(p + 4) & 0xffffff) != 34)
		return "STREAMINFO does not come first";
	shortest = be16(p + 8);
	longest = be16(p + 10);
	fields = be64(p + 18);
	flac->depth = (fields >> 36 & 31) + 1;
	flac->all_samples = fields & 0xfffffffff;
	/* At most the uncompressed samples, if the encoder does not state it. */
	flac->longest_frame = be32(p + 14) & 0xffffff;
	if (!flac->longest_frame)
		flac->longest_frame = (uint64_t)longest * 8 * 4 + 1024;
	if (longest < 16 || shortest > longest || flac->depth < 4)
		return "STREAMINFO has impossible fields";
	flac->frame_samples = longest;
	memcpy(flac->md5, p + 26, MD5_LEN);
	flac->at = flac->zeros = at + 42;
	return NULL;
}

static void read_comments(struct flac *flac, uint64_t data, uint32_t len)
{
	size_t look = len < VIEW_MAX_PEEK ? len : VIEW_MAX_PEEK;
	const uint8_t *p = view_peek(flac->view, data, look);

	if (p)
		vorbis_comments_read(p, look, flac->finding);
}

/* Padding is zeros: elsewhere the file was overwritten. */
static void check_padding(struct flac *flac, uint64_t at, uint64_t end)
{
	const uint8_t *p;
	size_t len;

	for (; at < end && !flac->overwritten; at += len) {
		p = walk_window(flac->view, at, end, &len);
		if (!p)
			return;
		for (size_t i = 0; i < len && !flac->overwritten; i++)
			if (p[i])
				flac->overwritten = at + i;
	}
}

/* Whether a block of metadata of a known kind begins at `at`; after the last block, a frame. */
static bool goes_on(const struct flac *flac, uint64_t at, bool last)
{
	const uint8_t *p = view_peek(flac->view, at, 4);

	return p && (last ? p[0] == 0xff && (p[1] & 0xfe) == 0xf8 : (p[0] & 0x7f) <= PICTURE);
}

/* Moves past the metadata after STREAMINFO. False if it breaks off. */
static bool skip_metadata(struct flac *flac, bool last)
{
	while (!last) {
		const uint8_t *p = view_peek(flac->view, flac->at, 4);
		unsigned type;
		uint64_t end, after;
		uint32_t len;

		if (!p)
			return false;
		last = p[0] & 0x80;
		type = p[0] & 0x7f;
		len = be32(p) & 0xffffff;
		end = flac->at + 4 + len;
		/* The first one, of which there is one: zeros of another file in PADDING would seem to be empty ones. */
		if (type == STREAMINFO && !len)
			return false;
		/* Other kinds are reserved, and readers skip them. */
		if (type > PICTURE && (type == INVALID || !goes_on(flac, end, last)))
			return false;
		if (end > view_size(flac->view)) {
			if (type == PADDING && view_thorough(flac->view))
				check_padding(flac, flac->at + 4, view_size(flac->view));
			return false;
		}
		if (walk_unread(flac->view, flac->at, flac->at + 4, &after))
			return false;
		if (type == VORBIS_COMMENT)
			read_comments(flac, flac->at + 4, len);
		if (type == PICTURE)
			embedded_find(flac->view, flac->at + 4, end, EMBEDDED_SEARCH_LEN);
		if (type == PADDING)
			check_padding(flac, flac->at + 4, end);
		flac->zeros = type == PADDING && !flac->overwritten ? flac->at + 4 : end;
		flac->at = end;
		flac->block_count++;
	}
	return true;
}

/* What the frames before this one hold, if it comes after lost ones: false if its number is impossible. */
static bool count_lost(struct flac *flac, const struct flac_frame *frame)
{
	uint64_t before = frame->number - flac->first;
	uint64_t samples = frame->counts_samples ? before : before * flac->frame_samples;

	if (frame->number < flac->first || before > UINT32_MAX || samples < flac->sample_count ||
		(flac->all_samples && samples >= flac->all_samples))
		return false;
	flac->sample_count = samples;
	flac->frame_count = before;
	return true;
}

/* Moves from a frame, or a block of metadata, in which bytes can't be read to the next intact frame. */
static bool skip_unread(struct flac *flac)
{
	uint64_t at, end;
	struct flac_frame frame;

	if (!walk_unread(flac->view, flac->at, flac->at + flac->longest_frame, &at))
		return false;
	for (end = at + 2 * flac->longest_frame; walk_find(flac->view, &at, end, 0xff); at++)
		if (flac_frame_read(flac->view, at, flac->depth, &frame, NULL) == FLAC_INTACT &&
			count_lost(flac, &frame)) {
			view_unverified(flac->view, flac->at, at);
			flac->at = at;
			return true;
		}
	return false;
}

/* last: the last frame, at which the next one's number is checked. */
static void save_state(const struct flac *flac, uint64_t frames, uint64_t last)
{
	struct saved saved = { .frames = frames,
		.at = flac->at,
		.last = last,
		.first = flac->first,
		.frame_count = flac->frame_count,
		.sample_count = flac->sample_count };
	struct carve_state state = { .offset = flac->at, .len = sizeof(saved), .data = &saved };

	view_save(flac->view, &state);
}

/* Returns the last frame's offset. */
static uint64_t load_state(struct flac *flac)
{
	struct saved saved;

	if (!flac->resume || flac->resume->len != sizeof(saved))
		return 0;
	memcpy(&saved, flac->resume->data, sizeof(saved));
	if (saved.frames != flac->at)
		return 0;
	flac->at = saved.at;
	flac->first = saved.first;
	flac->frame_count = saved.frame_count;
	flac->sample_count = saved.sample_count;
	return saved.last;
}

/* The MD5 of samples: those of all channels in turn, in as many bytes each as they need, the lowest first. */
struct samples_sum {
	struct md5 md5;
	struct flac_samples samples; /* of one frame */
	uint8_t *bytes;
	size_t capacity;
	bool valid; /* all frames were added */
};

static void add_samples(struct flac *flac, struct samples_sum *sum)
{
	const struct flac_samples *samples = &sum->samples;
	size_t depth_len = (flac->depth + 7) / 8, len = 0;
	size_t all = (size_t)samples->count * samples->channels * depth_len;

	if (!samples->valid || !sum->valid) {
		sum->valid = false;
		return;
	}
	if (all > sum->capacity) {
		free(sum->bytes);
		sum->bytes = malloc(all);
		sum->capacity = sum->bytes ? all : 0;
	}
	if (!sum->bytes) {
		view_no_memory(flac->view);
		sum->valid = false;
		return;
	}
	for (uint32_t i = 0; i < samples->count; i++)
		for (unsigned c = 0; c < samples->channels; c++)
			for (size_t b = 0; b < depth_len; b++)
				sum->bytes[len++] =
					(uint8_t)(samples->values[(size_t)c * samples->count + i] >>
						  8 * b);
	md5_add(&sum->md5, sum->bytes, len);
}

/* All frames were read. Zeros before them are what they must be. */
static void end_sum(struct flac *flac, struct samples_sum *sum)
{
	uint8_t digest[MD5_LEN];

	if (!sum->valid || !flac->all_samples || flac->sample_count != flac->all_samples)
		return;
	md5_end(&sum->md5, digest);
	flac->differs = memcmp(digest, flac->md5, MD5_LEN) != 0;
	if (!flac->differs)
		view_proved(flac->view, flac->zeros, flac->at, MD5_BITS);
}

/* Reads the frame at flac->at. */
static enum flac_state read_frame(
	struct flac *flac, struct flac_frame *frame, struct flac_samples *samples)
{
	uint64_t left = flac->all_samples - flac->sample_count;

	if (view_is_trial(flac->view) && flac->all_samples && left > flac->frame_samples)
		return flac_frame_skip(
			flac->view, flac->at, flac->depth, flac->longest_frame, frame);
	return flac_frame_read(flac->view, flac->at, flac->depth, frame, samples);
}

/* Whether a frame's header is the next one's. */
static bool is_in_order(const struct flac *flac, const struct flac_frame *frame)
{
	return !flac->frame_count ||
	       frame->number - flac->first ==
		       (frame->counts_samples ? flac->sample_count : flac->frame_count);
}

/* sum: NULL, or of the samples. */
static enum flac_state read_frames(struct flac *flac, struct samples_sum *sum)
{
	bool saves = view_wants_states(flac->view);
	uint64_t frames = flac->at, last = load_state(flac);
	enum flac_state state = FLAC_INTACT;
	struct flac_frame frame;

	while (!flac->all_samples || flac->sample_count < flac->all_samples) {
		state = read_frame(flac, &frame, sum ? &sum->samples : NULL);
		if (state != FLAC_INTACT && skip_unread(flac)) {
			last = flac->at;
			if (sum)
				sum->valid = false;
			continue;
		}
		if (state == FLAC_NONE || (state == FLAC_CUT && !frame.head_len))
			break;
		if (!flac->frame_count)
			flac->first = frame.number;
		if (!is_in_order(flac, &frame))
			return FLAC_NONE;
		/* Where a frame ends the next one's header, with its number in order; and its CRC. */
		if (flac->frame_count)
			view_proved(flac->view, last, flac->at + 1, HEADER_BITS);
		if (state != FLAC_INTACT) {
			flac->head_len = frame.head_len;
			break;
		}
		view_proved(flac->view, flac->at, frame.end, CRC_BITS);
		if (sum)
			add_samples(flac, sum);
		last = flac->at;
		flac->at = frame.end;
		flac->sample_count += frame.sample_count;
		flac->frame_count++;
		if (saves)
			save_state(flac, frames, last);
	}
	return state;
}

static enum flac_state skip_frames(struct flac *flac)
{
	static const uint8_t none[MD5_LEN];
	struct samples_sum sum = { .valid = true };
	enum flac_state state;

	if (flac->resume || !view_thorough(flac->view) || view_is_trial(flac->view) ||
		memcmp(flac->md5, none, MD5_LEN) == 0)
		return read_frames(flac, NULL);
	md5_start(&sum.md5);
	state = read_frames(flac, &sum);
	end_sum(flac, &sum);
	flac_samples_free(&sum.samples);
	free(sum.bytes);
	return state;
}

static enum verdict overwritten(struct flac *flac)
{
	flac->finding->length = flac->overwritten;
	return verdict_because(CARVE_TRUNCATED, flac->finding,
		"padding that is not zeros at %" PRIu64, flac->overwritten);
}

static enum verdict judge_end(struct flac *flac, enum flac_state state)
{
	struct finding *finding = flac->finding;
	bool at_end = view_ends_with_image(flac->view);
	uint64_t size = view_size(flac->view);

	finding->length = flac->at;
	if (view_is_trial(flac->view))
		finding->length += flac->head_len;
	if (flac->overwritten && view_thorough(flac->view))
		return overwritten(flac);
	if (flac->differs)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the MD5 of the samples up to %" PRIu64 " is wrong", flac->at);
	if (flac->all_samples && flac->sample_count >= flac->all_samples) {
		finding->length = audio_tags_end(flac->view, flac->at, finding);
		return CARVE_COMPLETE;
	}
	if (!flac->frame_count && !flac->block_count) {
		finding->length = 0;
		return verdict_because(CARVE_REJECT, finding,
			"neither metadata nor a frame at %" PRIu64, flac->at);
	}
	if (!flac->frame_count && flac->overwritten)
		finding->length = flac->overwritten;
	if (state == FLAC_CUT && size > flac->at && size - flac->at <= flac->longest_frame)
		return walk_cut(flac->view, finding, size + 1,
			at_end ? walk_before_fill(flac->view, flac->at, size) : flac->at);
	if (state != FLAC_NONE)
		return verdict_because(
			CARVE_TRUNCATED, finding, "corrupt frame at %" PRIu64, flac->at);
	if (flac->all_samples || !flac->frame_count)
		return verdict_because(CARVE_TRUNCATED, finding,
			"no frame at %" PRIu64 " after %" PRIu64 " of %" PRIu64 " samples",
			flac->at, flac->sample_count, flac->all_samples);
	finding->length = audio_tags_end(flac->view, flac->at, finding);
	if (finding->length > flac->at)
		return CARVE_COMPLETE;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"no frame at %" PRIu64 ", and the number of samples is not stored", flac->at);
}

enum verdict flac_check(
	struct view *view, uint64_t at, const struct carve_state *from, struct finding *finding)
{
	struct flac flac = { .view = view, .finding = finding, .resume = from };
	const char *problem = read_streaminfo(&flac, at);
	const uint8_t *p;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64, problem, at);
	finding->extension = "flac";
	p = view_peek(view, at + 4, 1);
	if (!p || (!skip_metadata(&flac, *p & 0x80) && !skip_unread(&flac))) {
		bool cut = flac.at < view_size(view) && view_ends_with_image(view);

		if (flac.overwritten && view_thorough(view))
			return overwritten(&flac);
		finding->length = flac.at;
		p = view_peek(view, flac.at, 4);
		if (flac.block_count && cut && p && be32(p) && (p[0] & 0x7f) <= PICTURE)
			return walk_cut(view, finding, view_size(view) + 1, view_size(view));
		finding->length = flac.block_count ? flac.at : 0;
		return verdict_because(flac.block_count ? CARVE_TRUNCATED : CARVE_REJECT, finding,
			"no metadata block at %" PRIu64, flac.at);
	}
	return judge_end(&flac, skip_frames(&flac));
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return flac_check(view, 0, NULL, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	return flac_check(view, 0, state, finding);
}

const struct carver flac_carver = {
	.name = "flac",
	.summary = "FLAC audio, by its frames and their CRCs",
	.check = check,
	.resume = resume,
};
