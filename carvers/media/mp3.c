/*
 * MPEG audio, layers I to III (ISO/IEC 11172-3, 13818-3, and Fraunhofer's "MPEG-2.5").
 *
 *	file:  perhaps ID3v2 tags, frames, perhaps tags (audio_tags.h)
 *	frame: header of four bytes, perhaps a CRC, side information, data
 *
 * A frame's header has 11 bits of synchronisation; version, layer, bit rate and sample rate in it
 * give the frame's length, which leads to the next. Version, layer, sample rate and whether there
 * is one channel stay the same throughout a file, the bit rate need not. The first frame may state
 * their number (mp3_info.c), and LAME's a CRC of them all: then the end is known, and a file with
 * fewer frames is truncated. Otherwise the file ends where no frame follows: known if a tag starts
 * there, else a guess. A tag within the last frame was appended to audio that had been cut. Where a frame's
 * header can't be read the walk goes on at the next one that another follows. ID3v2's padding is zeros (ID3v2.4.0, 3.3): a
 * cluster of something else in it is another file's, and one of zeros more moves the audio by sectors.
 *
 * Other audio may follow ID3v2: ADTS, FLAC, TrueAudio, Monkey's Audio. Their walks start there.
 *
 * Without a tag in front only two bytes are fixed, so a dozen frames have to follow each other.
 * Each frame is named as a part: what starts at one is the rest of the same audio.
 */
#include "mp3.h"

#include <inttypes.h>
#include <string.h>

#include "adts.h"
#include "ape.h"
#include "bytes.h"
#include "crc16_arc.h"
#include "flac.h"
#include "mp3_codes.h"
#include "overwrite.h"
#include "audio_tags.h"
#include "tta.h"
#include "turning.h"
#include "walk.h"

/* Frames needed without a tag in front; with an info frame. */
#define BARE_FRAMES 12
#define INFO_FRAMES 3
/* Frames of one bit rate after which none of another is expected, where pieces are put together. */
#define STEADY_FRAMES 100
#define TAGS_MAX 4 /* in front, one after the other */
/* Zeros that some writers leave between tag and audio. */
#define PADDING_MAX 65536
/* The longest and the shortest frame: MPEG-2 layer II with 160 kbit/s; MPEG-2.5 layer III with 8. */
#define FRAME_MAX 2881
#define FRAME_MIN 24
#define CRC_BITS \
	15 /* of LAME's CRC: its polynomial's factor x + 1 misses clusters in another order */

#define CODES_WORK 8 /* units to follow a byte's codes */

struct mp3 {
	struct view *view;
	struct finding *finding;
	uint64_t first; /* the first frame */
	uint64_t at;    /* after the last */
	uint64_t last;  /* the last frame */
	struct mp3_frame shape;
	struct mp3_info info;
	uint32_t count; /* frames, the info frame not counted */
	uint64_t lost;  /* bytes between frames that can't be read */
	bool has_info;
	bool tagged;        /* ID3v2 in front */
	bool cut;           /* the view ends within the next frame */
	bool varies;        /* the frames' bit rate */
	uint32_t usual_len; /* the first frame's, the info frame not counted */
	uint8_t usual_flags;
	uint16_t crc;
	struct mp3_codes codes;
	const struct carve_state *resume; /* NULL: from the start */
};

/* Where a walk goes on. */
struct saved {
	uint64_t first, at, last, lost;
	uint32_t count, usual_len;
	uint8_t usual_flags;
	uint16_t crc;
	bool varies;
	struct mp3_codes codes;
};

/* Reads a frame's header of four bytes: false if it is invalid. Free format is not accepted: its
 * header gives no length. */
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
	frame->flags = (uint8_t)((p[1] & 1) << 5 | (p[2] & 1) << 4 | (p[3] & 15));
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

static bool is_same_audio(const struct mp3_frame *a, const struct mp3_frame *b)
{
	return a->layer == b->layer && a->version == b->version && a->rate == b->rate &&
	       a->mono == b->mono;
}

/* Reads the frame at mp3->at: false unless it is like the others. */
static bool read_next_frame(struct mp3 *mp3, struct mp3_frame *frame)
{
	const uint8_t *p = view_peek(mp3->view, mp3->at, 4);

	return p && read_header(p, frame) && is_same_audio(frame, &mp3->shape);
}

/* Whether all frames that the first one announced were read. The count may be one too low, if the
 * info frame holds audio and is counted. */
static bool is_all_read(const struct mp3 *mp3)
{
	const struct mp3_info *info = &mp3->info;

	if (mp3->lost && info->byte_count)
		return mp3->at - mp3->first >= info->byte_count;
	if (!info->frame_count || mp3->count < info->frame_count)
		return false;
	return mp3->count > info->frame_count || mp3->at - mp3->first >= info->byte_count;
}

/* Whether the frame at `at` is followed by another, by a tag, or by the end that the first one stated. */
static bool is_followed(struct mp3 *mp3, uint64_t at, const struct mp3_frame *frame)
{
	uint64_t end = at + frame->len;
	const uint8_t *p = view_peek(mp3->view, end, 4);
	struct finding ignored = { 0 };
	struct mp3_frame next;

	return (p && read_header(p, &next) && is_same_audio(frame, &next)) ||
	       audio_tags_end(mp3->view, end, &ignored) > end ||
	       (mp3->info.byte_count && end - mp3->first == mp3->info.byte_count);
}

/* Moves from a frame whose header can't be read to the next. The first one gives the audio's shape. */
static bool skip_unread(struct mp3 *mp3, struct mp3_frame *frame)
{
	struct mp3_frame next;
	uint64_t at, end;

	if (!walk_unread(mp3->view, mp3->at, mp3->at + 4, &at))
		return false;
	for (end = at + FRAME_MAX; walk_find(mp3->view, &at, end, 0xff); at++) {
		const uint8_t *p = view_peek(mp3->view, at, 4);

		if (!p || !read_header(p, &next) ||
			(mp3->shape.len && !is_same_audio(&next, &mp3->shape)) ||
			!is_followed(mp3, at, &next))
			continue;
		*frame = next;
		view_unverified(mp3->view, mp3->at, at);
		mp3->lost += at - mp3->at;
		mp3->at = at;
		return true;
	}
	return false;
}

/* Whether pieces are put together: then others' frames may follow the file's own. */
static bool is_assembled(const struct mp3 *mp3)
{
	return mp3->resume || view_thorough(mp3->view);
}

/* Notes the bit rate of the next frame. False: it is another file's, as all before had one and the same, or other flags. */
static bool is_usual(struct mp3 *mp3, const struct mp3_frame *frame)
{
	uint32_t padding = frame->layer == 1 ? 4 : 1;
	bool same;

	if (!mp3->count) {
		mp3->usual_len = frame->len;
		mp3->usual_flags = frame->flags;
	}
	if (frame->flags != mp3->usual_flags && is_assembled(mp3))
		return false;
	same = frame->len <= mp3->usual_len + padding && mp3->usual_len <= frame->len + padding;
	if (!same && !mp3->varies && mp3->count >= STEADY_FRAMES && is_assembled(mp3))
		return false;
	mp3->varies |= !same;
	return true;
}

static void save_state(const struct mp3 *mp3)
{
	struct saved saved = { .first = mp3->first,
		.at = mp3->at,
		.last = mp3->last,
		.lost = mp3->lost,
		.count = mp3->count,
		.usual_len = mp3->usual_len,
		.usual_flags = mp3->usual_flags,
		.crc = mp3->crc,
		.varies = mp3->varies,
		.codes = mp3->codes };
	struct carve_state state = { .offset = mp3->at, .len = sizeof(saved), .data = &saved };

	view_save(mp3->view, &state);
}

static void load_state(struct mp3 *mp3)
{
	struct saved saved;

	if (!mp3->resume || mp3->resume->len != sizeof(saved))
		return;
	memcpy(&saved, mp3->resume->data, sizeof(saved));
	if (saved.first != mp3->first)
		return;
	mp3->at = saved.at;
	mp3->last = saved.last;
	mp3->lost = saved.lost;
	mp3->count = saved.count;
	mp3->usual_len = saved.usual_len;
	mp3->usual_flags = saved.usual_flags;
	mp3->crc = saved.crc;
	mp3->varies = saved.varies;
	mp3->codes = saved.codes;
}

/* Whether codes are followed: where it matters that a cluster is another file's. */
static bool follows_codes(const struct mp3 *mp3)
{
	return mp3->shape.layer == 3 &&
	       (is_assembled(mp3) || view_is_trial(mp3->view) || view_wants_states(mp3->view));
}

/* Walks frame after frame. */
static void walk_frames(struct mp3 *mp3)
{
	bool saves = view_wants_states(mp3->view), follows = follows_codes(mp3);
	struct mp3_frame frame;
	struct mp3_info info;
	const uint8_t *p;

	load_state(mp3);
	while (!is_all_read(mp3) && (read_next_frame(mp3, &frame) || skip_unread(mp3, &frame))) {
		if (frame.len > view_size(mp3->view) - mp3->at) {
			mp3->cut = true;
			return;
		}
		/* Another file's first frame, or one later. */
		if ((mp3->count && mp3_read_info(mp3->view, mp3->at, &frame, &info)) ||
			!is_usual(mp3, &frame))
			return;
		p = view_peek(mp3->view, mp3->at, frame.len);
		if (!p || (follows && !view_work(mp3->view, CODES_WORK * (uint64_t)frame.len)))
			return;
		if (follows && !mp3_codes_add(&mp3->codes, mp3->view, mp3->at, p, frame.len,
				       mp3->varies)) {
			mp3->last = mp3->at; /* it begins well */
			return;
		}
		if (mp3->info.has_crc)
			mp3->crc = crc16_arc(mp3->crc, p, frame.len);
		if (mp3->at)
			view_part(mp3->view, mp3->at);
		mp3->last = mp3->at;
		mp3->at += frame.len;
		mp3->count++;
		if (saves)
			save_state(mp3);
	}
}

/* The end of an ID3v1 tag within the last frame, or 0. */
static uint64_t tag_end_in_last_frame(struct mp3 *mp3)
{
	uint64_t at = mp3->cut ? mp3->at : mp3->last;
	uint64_t end = mp3->cut ? view_size(mp3->view) : mp3->at;
	const uint8_t *p = view_peek(mp3->view, at, (size_t)(end - at)), *tag;
	uint64_t offset, tag_end;

	tag = p && mp3->count ? memmem(p, (size_t)(end - at), "TAG", 3) : NULL;
	if (!tag)
		return 0;
	offset = at + (uint64_t)(tag - p);
	tag_end = audio_tags_end(mp3->view, offset, mp3->finding);
	return tag_end > offset ? tag_end : 0;
}

/* Some writers do not count the first frame. */
static bool is_of_stated_size(const struct mp3 *mp3)
{
	uint64_t len = mp3->at - mp3->first;

	return mp3->lost || len == mp3->info.byte_count ||
	       len - mp3->shape.len == mp3->info.byte_count;
}

/* The verdict if the first frame stated the number of frames. */
static enum verdict judge_counted(struct mp3 *mp3)
{
	struct finding *finding = mp3->finding;
	uint32_t count = mp3->info.frame_count;

	/* Some writers count the first frame, too. */
	if (mp3->count + 1 == count && mp3->at - mp3->first == mp3->info.byte_count)
		count--;
	if (mp3->count + mp3->lost / FRAME_MIN < count) {
		finding->length = tag_end_in_last_frame(mp3);
		if (finding->length)
			return verdict_because(CARVE_TRUNCATED, finding,
				"a tag starts within frame %" PRIu32 " of %" PRIu32,
				mp3->count + mp3->cut, count);
		if (mp3->cut)
			return walk_cut(mp3->view, finding, view_size(mp3->view) + 1,
				view_ends_with_image(mp3->view) ? view_size(mp3->view) : mp3->at);
		/* The last frame may be cut: nothing after it confirms it. */
		finding->length = mp3->count ? mp3->last : mp3->at;
		return verdict_because(CARVE_TRUNCATED, finding,
			"no frame at %" PRIu64 ", where frame %" PRIu32 " of %" PRIu32 " should be",
			mp3->at, mp3->count + 1, count);
	}
	if (is_assembled(mp3) && mp3->info.byte_count && !is_of_stated_size(mp3)) {
		finding->length = mp3->last;
		return verdict_because(CARVE_TRUNCATED, finding,
			"%" PRIu32 " frames end at %" PRIu64 ", but should have %" PRIu32 " bytes",
			mp3->count, mp3->at, mp3->info.byte_count);
	}
	finding->length = audio_tags_end(mp3->view, mp3->at, finding);
	if (mp3->info.has_crc && mp3->crc != mp3->info.crc)
		return verdict_because(walk_over_wrong(mp3->view), finding,
			"the CRC of the frames before %" PRIu64 " differs from LAME's tag",
			mp3->at);
	if (mp3->info.has_crc)
		view_proved(mp3->view, mp3->first + mp3->shape.len, mp3->at, CRC_BITS);
	if (!mp3->info.has_crc && finding->length == mp3->at &&
		!(is_assembled(mp3) && mp3->info.byte_count))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last frame, at %" PRIu64 ", cannot be verified", mp3->last);
	return CARVE_COMPLETE;
}

static enum verdict judge_end(struct mp3 *mp3)
{
	struct finding *finding = mp3->finding;
	const char *what;
	uint64_t at;

	finding->extension = mp3->shape.layer == 3 ? NULL : mp3->shape.layer == 2 ? "mp2" : "mp1";
	if (mp3->info.frame_count)
		return judge_counted(mp3);
	finding->length = audio_tags_end(mp3->view, mp3->at, finding);
	if (finding->length > mp3->at)
		return CARVE_COMPLETE;
	finding->length = tag_end_in_last_frame(mp3);
	if (finding->length)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"a tag starts within the last frame, number %" PRIu32,
			mp3->count + mp3->cut);
	if (mp3->cut && view_ends_with_image(mp3->view))
		return walk_cut(mp3->view, finding, view_size(mp3->view) + 1, view_size(mp3->view));
	finding->length = mp3->at;
	if (overwrite_find(mp3->view, mp3->last, mp3->at, 1, &at, &what) == OVERWRITE_CERTAIN) {
		finding->length = at;
		return verdict_because(CARVE_TRUNCATED, finding,
			"%s instead of the last frame's data at %" PRIu64, what, at);
	}
	return turning_uncounted(mp3->view, finding, mp3->last, mp3->at, "frame");
}

/* Walks the frames from mp3->first: false if there are none. */
static bool open_frames(struct mp3 *mp3)
{
	const uint8_t *p = view_peek(mp3->view, mp3->first, 4);

	mp3->at = mp3->first;
	if ((!p || !read_header(p, &mp3->shape)) && !skip_unread(mp3, &mp3->shape))
		return false;
	mp3->last = mp3->at;
	mp3->has_info = mp3_read_info(mp3->view, mp3->at, &mp3->shape, &mp3->info);
	if (mp3->has_info && mp3->shape.len <= view_size(mp3->view) - mp3->at) {
		if (mp3->at)
			view_part(mp3->view, mp3->at);
		mp3->at += mp3->shape.len;
	}
	walk_frames(mp3);
	return true;
}

static enum verdict check_frames(struct mp3 *mp3)
{
	uint32_t needed = mp3->tagged ? 1 : mp3->has_info ? INFO_FRAMES : BARE_FRAMES;

	if (mp3->info.has_crc)
		needed = 0;
	else if (mp3->info.frame_count && mp3->info.frame_count < needed)
		needed = mp3->info.frame_count;
	if (mp3->count + mp3->lost / mp3->shape.len < needed || mp3->at == mp3->first)
		return verdict_because(CARVE_REJECT, mp3->finding,
			"no frame at %" PRIu64 " after %" PRIu32 " others", mp3->at, mp3->count);
	return judge_end(mp3);
}

/* The end of the zeros at `at`. */
static uint64_t zeros_end(struct view *view, uint64_t at)
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

/* Checks the audio after a tag, whatever its format. CARVE_REJECT: unknown. */
static enum verdict check_audio(struct mp3 *mp3, uint64_t at)
{
	struct view *view = mp3->view;
	const uint8_t *p = view_peek(view, at, 4);
	enum verdict verdict;
	uint64_t after;

	if (!p)
		return CARVE_REJECT;
	if (memcmp(p, "fLaC", 4) == 0)
		return flac_check(view, at, mp3->resume, mp3->finding);
	if (memcmp(p, "TTA1", 4) == 0)
		return tta_check(view, at, mp3->finding);
	if (memcmp(p, "MAC ", 4) == 0)
		return ape_check(view, at, mp3->finding);
	if (adts_is_header(p)) {
		verdict = adts_check(view, at, true, mp3->finding);
		if (verdict != CARVE_REJECT)
			return verdict;
	}
	mp3->first = walk_unread(view, at, at + 4, &after) ? at : zeros_end(view, at);
	return open_frames(mp3) ? check_frames(mp3) : CARVE_REJECT;
}

/* Whether the tag's padding is zeros. *foreign is else the sector, or the padding's start, from which on it is not. */
static bool is_padded(struct view *view, const struct id3v2 *tag, uint64_t *foreign)
{
	uint64_t at = tag->valid_end, next;

	for (; at < tag->padding_end; at = next) {
		next = (at / SECTOR + 1) * SECTOR;
		if (next > tag->padding_end)
			next = tag->padding_end;
		*foreign = at;
		if (!walk_zeros(view, at, next))
			return false;
	}
	return true;
}

/* The verdict on a file whose audio is complete, by what is between the frames of its tags and the audio. */
static enum verdict judge_padding(
	const struct mp3 *mp3, const struct id3v2 *tags, unsigned tag_count)
{
	enum verdict wrong = walk_over_wrong(mp3->view);
	uint64_t end = tags[tag_count - 1].end, foreign;
	struct finding *finding = mp3->finding;

	for (unsigned i = 0; i < tag_count; i++) {
		if (is_padded(mp3->view, &tags[i], &foreign))
			continue;
		if (wrong == CARVE_TRUNCATED)
			finding->length = foreign;
		return verdict_because(wrong, finding,
			"not only zeros follow a tag's frames at %" PRIu64, foreign);
	}
	if (mp3->first <= end || (mp3->first - end) % SECTOR)
		return CARVE_COMPLETE;
	if (wrong == CARVE_TRUNCATED)
		finding->length = end;
	return verdict_because(
		wrong, finding, "sectors of zeros between tag and audio, at %" PRIu64, end);
}

static enum verdict check_tagged(struct mp3 *mp3, struct id3v2 tags[TAGS_MAX])
{
	uint64_t size = view_size(mp3->view), end = tags[0].end;
	struct finding *finding = mp3->finding;
	unsigned frame_count = tags[0].frame_count, count = 1;
	enum verdict verdict;

	/* Careless writers put a second tag after the first. */
	for (; count < TAGS_MAX && end <= size; count++) {
		if (!id3v2_read(mp3->view, end, size, &tags[count], finding) ||
			!tags[count].frame_count)
			break;
		view_part(mp3->view, end);
		frame_count += tags[count].frame_count;
		end = tags[count].end;
	}
	mp3->tagged = true;
	verdict = end <= size ? check_audio(mp3, end) : CARVE_REJECT;
	if (verdict == CARVE_COMPLETE)
		return judge_padding(mp3, tags, count);
	if (verdict != CARVE_REJECT)
		return verdict;
	finding->extension = NULL;
	finding->length = 0;
	if (!frame_count)
		return verdict_because(CARVE_REJECT, finding,
			"a tag without frames, and no audio at %" PRIu64, end);
	if (end > size)
		return walk_cut(mp3->view, finding, end,
			view_ends_with_image(mp3->view) ? size : tags[count - 1].valid_end);
	finding->length = end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "no audio at %" PRIu64 " after the tag", end);
}

static enum verdict check_from(
	struct view *view, const struct carve_state *from, struct finding *finding)
{
	struct mp3 mp3 = { .view = view, .finding = finding, .resume = from };
	struct id3v2 tags[TAGS_MAX];

	if (id3v2_read(view, 0, view_size(view), &tags[0], finding))
		return check_tagged(&mp3, tags);
	if (!open_frames(&mp3))
		return verdict_because(
			CARVE_REJECT, finding, "neither a tag nor a frame of MPEG audio at 0");
	return check_frames(&mp3);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return check_from(view, NULL, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	return check_from(view, state, finding);
}

const struct carver mp3_carver = {
	.name = "mp3",
	.summary = "MP3 and other MPEG audio, by its frames and tags; other audio after ID3v2",
	.check = check,
	.resume = resume,
	.quick = true,
	.lasts = true,
};
