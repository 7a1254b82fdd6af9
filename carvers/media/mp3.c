/*
 * MPEG audio, layers I to III (ISO/IEC 11172-3, 13818-3, and Fraunhofer's "MPEG-2.5").
 *
 *	file:  perhaps ID3v2 tags, frames, perhaps tags (tags.h)
 *	frame: header of four bytes, perhaps a CRC, side information, data
 *
 * A frame's header has 11 bits of synchronisation; version, layer, bit rate and sample rate in it
 * give the frame's length, which leads to the next. Version, layer, sample rate and whether there
 * is one channel stay the same through a file, the bit rate need not. The first frame may tell how
 * many there are (mp3_info.c), and LAME's a CRC of them all: then the end is known, and less than
 * that is a truncated file. Otherwise the file ends where no frame follows: known if a tag stands
 * there, else a guess. A tag within the last frame was written behind sound that had been cut.
 *
 * Behind ID3v2 other sound may follow: ADTS, FLAC, TrueAudio, Monkey's Audio. Their walks start
 * there.
 *
 * Without a tag in front two bytes are all that is fixed, so a dozen frames have to follow each
 * other. Each frame is named as a part: what starts at one is the rest of the same sound.
 */
#include "mp3.h"

#include <inttypes.h>
#include <string.h>

#include "adts.h"
#include "ape.h"
#include "bytes.h"
#include "flac.h"
#include "audio_tags.h"
#include "tta.h"
#include "walk.h"

/* Frames that make sound without a tag in front; with notes in the first frame. */
#define BARE_FRAMES 12
#define NOTED_FRAMES 3
/* Zeros that some writers leave between tag and sound. */
#define PADDING_MAX 65536

struct mp3 {
	struct view *view;
	struct finding *finding;
	uint64_t first; /* the first frame */
	uint64_t at;    /* behind the last */
	uint64_t last;  /* the last frame */
	struct mp3_frame shape;
	struct mp3_info info;
	uint32_t count; /* frames, not counting one with notes */
	bool noted;
	bool tagged; /* ID3v2 in front */
	bool cut;    /* the view ends within the next frame */
	uint16_t crc;
};

/* Reads a frame's header of four bytes: false when it is none. Free format is not taken: nothing in
 * its header tells a length. */
static bool read_header(const uint8_t *p, struct mp3_frame *frame)
{
	static const uint16_t rates[3] = { 44100, 48000, 32000 };
	/* In kbit/s: MPEG-1 layers I, II, III; the others' layer I, and II and III. */
	static const uint16_t bits[5][15] = {
		{ 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448 },
		{ 0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384 },
		{ 0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320 },
		{ 0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256 },
		{ 0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160 },
	};
	unsigned version = p[1] >> 3 & 3, layer = p[1] >> 1 & 3, bit_rate = p[2] >> 4;
	uint32_t rate, kilobits, padding = p[2] >> 1 & 1;

	if (p[0] != 0xff || (p[1] & 0xe0) != 0xe0 || version == 1 || layer == 0 || bit_rate == 0 ||
		bit_rate == 15 || (p[2] >> 2 & 3) == 3 || (p[3] & 3) == 2)
		return false;
	frame->layer = 4 - layer;
	frame->version = version == 3 ? 1 : version == 2 ? 2 : 3;
	frame->rate = p[2] >> 2 & 3;
	frame->mono = p[3] >> 6 == 3;
	rate = rates[frame->rate] >> (frame->version - 1);
	kilobits = bits[frame->version == 1 ? frame->layer - 1
			: frame->layer == 1 ? 3
					    : 4][bit_rate];
	if (frame->layer == 1)
		frame->len = (12000 * kilobits / rate + padding) * 4;
	else if (frame->layer == 3 && frame->version != 1)
		frame->len = 72000 * kilobits / rate + padding;
	else
		frame->len = 144000 * kilobits / rate + padding;
	return true;
}

static bool same_sound(const struct mp3_frame *a, const struct mp3_frame *b)
{
	return a->layer == b->layer && a->version == b->version && a->rate == b->rate &&
	       a->mono == b->mono;
}

/* Whether a frame like the others stands at mp3->at. */
static bool next_frame(struct mp3 *mp3, struct mp3_frame *frame)
{
	const uint8_t *p = view_peek(mp3->view, mp3->at, 4);

	return p && read_header(p, frame) && same_sound(frame, &mp3->shape);
}

/* Whether all the frames were passed that the first one announced. A count may be one too low,
 * when it counts the sound and the first frame is some. */
static bool all_passed(const struct mp3 *mp3)
{
	const struct mp3_info *info = &mp3->info;

	if (!info->frame_count || mp3->count < info->frame_count)
		return false;
	return mp3->count > info->frame_count || mp3->at - mp3->first >= info->byte_count;
}

/* Passes frame after frame. */
static void pass_frames(struct mp3 *mp3)
{
	struct mp3_frame frame;
	struct mp3_info info;
	const uint8_t *p;

	while (!all_passed(mp3) && next_frame(mp3, &frame)) {
		if (frame.len > view_size(mp3->view) - mp3->at) {
			mp3->cut = true;
			return;
		}
		/* Another file's first frame. */
		if (mp3->count && mp3_read_info(mp3->view, mp3->at, &frame, &info))
			return;
		p = view_peek(mp3->view, mp3->at, frame.len);
		if (!p)
			return;
		if (mp3->info.has_crc)
			mp3->crc = mp3_crc(mp3->crc, p, frame.len);
		if (mp3->at)
			view_part(mp3->view, mp3->at);
		mp3->last = mp3->at;
		mp3->at += frame.len;
		mp3->count++;
	}
}

/* Behind an ID3v1 tag that stands within the last frame, or 0. */
static uint64_t behind_cut_frame(struct mp3 *mp3)
{
	uint64_t at = mp3->cut ? mp3->at : mp3->last;
	uint64_t end = mp3->cut ? view_size(mp3->view) : mp3->at;
	const uint8_t *p = view_peek(mp3->view, at, (size_t)(end - at)), *tag;
	uint64_t offset, behind;

	tag = p && mp3->count ? memmem(p, (size_t)(end - at), "TAG", 3) : NULL;
	if (!tag)
		return 0;
	offset = at + (uint64_t)(tag - p);
	behind = audio_tags_end(mp3->view, offset, mp3->finding);
	return behind > offset ? behind : 0;
}

/* The verdict when the first frame told how many follow. */
static enum verdict counted(struct mp3 *mp3)
{
	struct finding *finding = mp3->finding;
	uint32_t count = mp3->info.frame_count;

	if (mp3->count < count) {
		finding->length = behind_cut_frame(mp3);
		if (finding->length)
			return verdict_because(CARVE_TRUNCATED, finding,
				"a tag stands within the %" PRIu32 "th of %" PRIu32 " frames",
				mp3->count + mp3->cut, count);
		if (mp3->cut)
			return walk_cut(mp3->view, finding, view_size(mp3->view) + 1,
				view_ends_with_image(mp3->view) ? view_size(mp3->view) : mp3->at);
		/* The last frame may be cut: nothing stands behind it that says otherwise. */
		finding->length = mp3->count ? mp3->last : mp3->at;
		return verdict_because(CARVE_TRUNCATED, finding,
			"no frame starts at %" PRIu64 ", the %" PRIu32 "th of %" PRIu32, mp3->at,
			mp3->count + 1, count);
	}
	finding->length = audio_tags_end(mp3->view, mp3->at, finding);
	if (mp3->info.has_crc && mp3->crc != mp3->info.crc)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the frames before %" PRIu64 " have another CRC than LAME's tag says",
			mp3->at);
	return CARVE_COMPLETE;
}

static enum verdict judge(struct mp3 *mp3)
{
	struct finding *finding = mp3->finding;

	finding->extension = mp3->shape.layer == 3 ? NULL : mp3->shape.layer == 2 ? "mp2" : "mp1";
	if (mp3->info.frame_count)
		return counted(mp3);
	finding->length = audio_tags_end(mp3->view, mp3->at, finding);
	if (finding->length > mp3->at)
		return CARVE_COMPLETE;
	finding->length = behind_cut_frame(mp3);
	if (finding->length)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"a tag stands within the last frame, the %" PRIu32 "th",
			mp3->count + mp3->cut);
	if (mp3->cut && view_ends_with_image(mp3->view))
		return walk_cut(mp3->view, finding, view_size(mp3->view) + 1, view_size(mp3->view));
	finding->length = mp3->at;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"no frame starts at %" PRIu64 ", and nothing says how many there are", mp3->at);
}

/* Opens the frames at mp3->first: false when there are none. */
static bool open_frames(struct mp3 *mp3)
{
	const uint8_t *p = view_peek(mp3->view, mp3->first, 4);

	if (!p || !read_header(p, &mp3->shape))
		return false;
	mp3->at = mp3->last = mp3->first;
	mp3->noted = mp3_read_info(mp3->view, mp3->first, &mp3->shape, &mp3->info);
	if (mp3->noted && mp3->shape.len <= view_size(mp3->view) - mp3->first)
		mp3->at += mp3->shape.len;
	pass_frames(mp3);
	return true;
}

static enum verdict check_frames(struct mp3 *mp3)
{
	uint32_t needed = mp3->tagged ? 1 : mp3->noted ? NOTED_FRAMES : BARE_FRAMES;

	if (mp3->info.has_crc)
		needed = 0;
	else if (mp3->info.frame_count && mp3->info.frame_count < needed)
		needed = mp3->info.frame_count;
	if (mp3->count < needed || mp3->at == mp3->first)
		return verdict_because(CARVE_REJECT, mp3->finding,
			"no frame starts at %" PRIu64 ", behind %" PRIu32 " others", mp3->at,
			mp3->count);
	return judge(mp3);
}

/* Behind zeros at `at`. */
static uint64_t behind_zeros(struct view *view, uint64_t at)
{
	uint64_t size = view_size(view);
	uint64_t end = at < size && size - at > PADDING_MAX ? at + PADDING_MAX : size;
	const uint8_t *p;

	for (; at < end; at++) {
		p = view_peek(view, at, 1);
		if (!p || *p)
			break;
	}
	return at;
}

/* The sound behind a tag, whatever it is. CARVE_REJECT: none that is known. */
static enum verdict check_sound(struct mp3 *mp3, uint64_t at)
{
	struct view *view = mp3->view;
	const uint8_t *p = view_peek(view, at, 4);
	enum verdict verdict;

	if (!p)
		return CARVE_REJECT;
	if (memcmp(p, "fLaC", 4) == 0)
		return flac_check(view, at, mp3->finding);
	if (memcmp(p, "TTA1", 4) == 0)
		return tta_check(view, at, mp3->finding);
	if (memcmp(p, "MAC ", 4) == 0)
		return ape_check(view, at, mp3->finding);
	if (adts_is_header(p)) {
		verdict = adts_check(view, at, true, mp3->finding);
		if (verdict != CARVE_REJECT)
			return verdict;
	}
	mp3->first = behind_zeros(view, at);
	return open_frames(mp3) ? check_frames(mp3) : CARVE_REJECT;
}

static enum verdict check_tagged(struct mp3 *mp3, struct id3v2 *tag)
{
	uint64_t size = view_size(mp3->view), end = tag->end;
	struct finding *finding = mp3->finding;
	unsigned frame_count = tag->frame_count;
	uint64_t sound = tag->sound;
	enum verdict verdict;

	/* Careless writers put a second tag behind the first. */
	for (int tags = 1; tags < 4 && end <= size; tags++) {
		if (!id3v2_read(mp3->view, end, size, tag, finding) || !tag->frame_count)
			break;
		view_part(mp3->view, end);
		frame_count += tag->frame_count;
		sound = tag->sound;
		end = tag->end;
	}
	mp3->tagged = true;
	verdict = end <= size ? check_sound(mp3, end) : CARVE_REJECT;
	if (verdict != CARVE_REJECT)
		return verdict;
	finding->extension = NULL;
	finding->length = 0;
	if (!frame_count)
		return verdict_because(CARVE_REJECT, finding,
			"a tag without frames, and no sound at %" PRIu64, end);
	if (end > size)
		return walk_cut(
			mp3->view, finding, end, view_ends_with_image(mp3->view) ? size : sound);
	finding->length = end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "a tag, but no sound at %" PRIu64 " behind it", end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mp3 mp3 = { .view = view, .finding = finding };
	struct id3v2 tag;

	if (id3v2_read(view, 0, view_size(view), &tag, finding))
		return check_tagged(&mp3, &tag);
	if (!open_frames(&mp3))
		return verdict_because(
			CARVE_REJECT, finding, "neither a tag nor a frame of MPEG audio at 0");
	return check_frames(&mp3);
}

const struct carver mp3_carver = {
	.name = "mp3",
	.summary = "MP3 and other MPEG audio, by its frames and tags; other sound behind ID3v2",
	.check = check,
};
