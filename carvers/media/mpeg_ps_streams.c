/*
 * What goes on from packet to packet of a program stream (ISO/IEC 13818-1, 2.4.3.6; ISO/IEC 11172-1, 2.4.3.3):
 *
 *	packet: 00 00 01, a stream's id, length; MPEG-1: stuffing, a buffer's size, times;
 *	        MPEG-2: flags, how many bytes of head follow; data
 *	sound:  frames of MPEG audio, each with a length by its head, and of one sampling rate
 *	video:  slices of a picture from top to bottom, and pictures that are numbered in their group, in the order in which they
 *	        are shown
 *
 * Encoders differ in how slices divide a picture, and some leave out pictures. So of video only that counts which was always so
 * before, and often.
 */
#include "mpeg_ps_streams.h"

#include <string.h>

#include "bytes.h"
#include "walk.h"

#define STUFFING_MAX 16
#define OFTEN 24 /* slices in order */
#define SOME 6   /* pictures */

enum { PICTURE = 0, SLICE_LAST = 0xaf, SEQUENCE = 0xb3, SEQUENCE_END = 0xb7, GROUP = 0xb8 };

/* Where the data of the packet begin; `end` if it has none. */
static uint64_t data_start(struct view *view, uint64_t at, uint64_t end)
{
	size_t room = STUFFING_MAX + 24, len = end - at < room ? (size_t)(end - at) : room, in = 6;
	const uint8_t *p = view_peek(view, at, len);

	if (!p || len < 9)
		return end;
	if ((p[6] & 0xc0) == 0x80) {
		in = 9 + p[8];
		return in < end - at ? at + in : end;
	}
	while (in < 6 + STUFFING_MAX && in < len && p[in] == 0xff)
		in++;
	if (in + 2 < len && p[in] >> 6 == 1)
		in += 2;
	if (in < len)
		in += p[in] >> 4 == 2 ? 5 : p[in] >> 4 == 3 ? 10 : 1;
	return in < end - at ? at + in : end;
}

/* ---- sound --------------------------------------------------------------------------------- */

/* The length of a frame of MPEG audio by its head; 0: it is none. */
static uint32_t frame_len(const uint8_t *p)
{
	static const uint16_t rates[2][3][14] = {
		{ { 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448 },
			{ 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384 },
			{ 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320 } },
		{ { 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256 },
			{ 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160 },
			{ 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160 } },
	};
	static const uint16_t samples_per_second[3] = { 44100, 48000, 32000 };
	bool half = !(p[1] & 8);
	unsigned layer = 4 - (p[1] >> 1 & 3), rate = p[2] >> 4, hz = p[2] >> 2 & 3;
	uint32_t bits, padding = p[2] >> 1 & 1;

	if (p[0] != 0xff || p[1] >> 4 != 15 || layer > 3 || rate - 1 >= 14 || hz == 3)
		return 0;
	bits = rates[half][layer - 1][rate - 1] * 1000u;
	hz = samples_per_second[hz] >> half;
	if (layer == 1)
		return (12 * bits / hz + padding) * 4;
	return (layer == 3 && half ? 72 : 144) * bits / hz + padding;
}

static uint8_t kind_of(const uint8_t *head)
{
	return (uint8_t)((head[1] & 14) << 4 | (head[2] & 12));
}

/* Where the first frame begins of which the next one follows in the same bytes; len: nowhere. */
static size_t first_frame(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i + 4 <= len; i++) {
		uint32_t next = frame_len(p + i);

		if (next && next + 4 <= len - i && frame_len(p + i + next) &&
			kind_of(p + i) == kind_of(p + i + next))
			return i;
	}
	return len;
}

static bool follow_sound(struct mpeg_ps_sound *sound, const uint8_t *p, size_t len)
{
	size_t at = 0;

	if (!sound->found) {
		at = first_frame(p, len);
		if (at == len)
			return true;
		sound->found = true;
		sound->kind = kind_of(p + at);
	}
	while (at < len) {
		if (sound->left) {
			size_t some = sound->left < len - at ? sound->left : len - at;

			sound->left -= (uint32_t)some;
			at += some;
			continue;
		}
		sound->head[sound->count++] = p[at++];
		if (sound->count < 4)
			continue;
		sound->count = 0;
		sound->left = frame_len(sound->head);
		if (sound->left < 4 || kind_of(sound->head) != sound->kind)
			return false;
		sound->left -= 4;
		sound->frames++;
	}
	return true;
}

/* ---- video --------------------------------------------------------------------------------- */

/* Counts what was as expected, or that something was not. False: that was always so before, and often. */
static bool expect(bool is_so, uint32_t *count, bool *odd, uint32_t often)
{
	bool wrong = !is_so && !*odd && *count >= often;

	*count += is_so;
	*odd |= !is_so;
	return !wrong;
}

static bool end_picture(struct mpeg_ps_video *video)
{
	bool fits = true;

	if (video->in_picture && video->rows)
		fits = expect(
			video->row == video->rows, &video->ended_alike, &video->odd_end, SOME);
	if (video->in_picture)
		video->rows = video->row;
	video->in_picture = false;
	return fits;
}

/* All pictures of the group that are shown before the last one that others refer to should have been there. */
static bool check_numbers(struct mpeg_ps_video *video)
{
	return !video->counted || !video->pictures ||
	       expect(video->pictures == video->newest + 1, &video->numbered, &video->odd_number,
		       SOME);
}

static bool begin_group(struct mpeg_ps_video *video)
{
	bool fits = end_picture(video) && check_numbers(video);

	video->counted = true;
	video->pictures = 0;
	return fits;
}

/* head: the two bytes after the start code. */
static bool begin_picture(struct mpeg_ps_video *video, unsigned head)
{
	uint16_t number = (uint16_t)(head >> 6);
	bool is_reference = (head >> 3 & 7) != 3,
	     is_second = video->pictures && number == video->last;

	video->in_picture = true;
	video->row = 0;
	if (is_second)
		return true;
	if (is_reference && !check_numbers(video))
		return false;
	if (is_reference)
		video->newest = number;
	video->last = number;
	video->pictures++;
	return true;
}

static bool begin_slice(struct mpeg_ps_video *video, uint8_t row)
{
	uint8_t before = video->row;

	if (!video->in_picture)
		return true;
	video->row = row;
	return row >= before &&
	       expect(row == before + 1 || row == before, &video->in_step, &video->odd_step, OFTEN);
}

static bool follow_video(struct mpeg_ps_video *video, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		uint8_t code = p[i];

		video->word = video->word << 8 | code;
		if (video->skip && --video->skip == 0 &&
			!begin_picture(video, video->word & 0xffff))
			return false;
		if (video->word >> 8 != 1)
			continue;
		if (code == PICTURE && !end_picture(video))
			return false;
		if (code == PICTURE)
			video->skip = 2;
		if ((code == GROUP || code == SEQUENCE_END) && !begin_group(video))
			return false;
		if (code == SEQUENCE && !end_picture(video))
			return false;
		if (code > PICTURE && code <= SLICE_LAST && !begin_slice(video, code))
			return false;
	}
	return true;
}

/* ---- packets ------------------------------------------------------------------------------- */

static struct mpeg_ps_sound *find_sound(struct mpeg_ps_streams *streams, uint8_t id)
{
	for (unsigned i = 0; i < streams->sound_count; i++)
		if (streams->sounds[i].id == id)
			return &streams->sounds[i];
	if (streams->sound_count == MPEG_PS_STREAMS)
		return NULL;
	streams->sounds[streams->sound_count].id = id;
	return &streams->sounds[streams->sound_count++];
}

static struct mpeg_ps_video *find_video(struct mpeg_ps_streams *streams, uint8_t id)
{
	for (unsigned i = 0; i < streams->video_count; i++)
		if (streams->videos[i].id == id)
			return &streams->videos[i];
	if (streams->video_count == MPEG_PS_STREAMS)
		return NULL;
	streams->videos[streams->video_count].id = id;
	streams->videos[streams->video_count].word = UINT32_MAX;
	return &streams->videos[streams->video_count++];
}

bool mpeg_ps_follow(struct view *view, struct mpeg_ps_streams *streams, uint64_t at, uint64_t end)
{
	const uint8_t *p = view_peek(view, at, 4);
	uint8_t id = p ? p[3] : 0;
	struct mpeg_ps_sound *sound = id >> 5 == 6 ? find_sound(streams, id) : NULL;
	struct mpeg_ps_video *video = id >> 4 == 14 ? find_video(streams, id) : NULL;
	size_t len;

	if (!sound && !video)
		return true;
	for (at = data_start(view, at, end); at < end; at += len) {
		p = walk_window(view, at, end, &len);
		if (!p || !view_work(view, len))
			return true;
		if (sound ? !follow_sound(sound, p, len) : !follow_video(video, p, len))
			return false;
	}
	return true;
}

bool mpeg_ps_end_together(const struct mpeg_ps_streams *streams)
{
	bool fits = false;

	for (unsigned i = 0; i < streams->sound_count; i++) {
		const struct mpeg_ps_sound *sound = &streams->sounds[i];

		if (sound->left || sound->count)
			return false;
		fits |= sound->frames >= OFTEN;
	}
	for (unsigned i = 0; i < streams->video_count; i++)
		fits &= streams->videos[i].row == streams->videos[i].rows;
	return fits;
}
