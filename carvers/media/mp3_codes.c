/*
 * A frame's main data begins in frames before, where the last one's ended, or after bytes that fill; its codes end exactly with it,
 * and what they decode to goes on as the sound did. All that was measured over wrong joints (tests/bench/RESULTS.md).
 *
 * Which of a frame's codes may be another file's depends on the side of the joint that its side information is on. If that is
 * before the joint, they are those after it; else those before.
 */
#include "mp3_codes.h"

#include <string.h>

#include "seam_bits.h"

/* Frames whose codes end exactly after which those of one that do not are another file's, */
#define EXACT_FRAMES 8
#define LEARNT_FRAMES 3 /* and after which others prove something */
#define FRAME_MAX 2881
#define ROOM_MAX (LAYER3_BEGIN_MAX + FRAME_MAX)
#define ENDS_MAX 255 /* of one kind, after which older ones count half */

/* That a frame begins where the one over a joint ends, and its main data where that one's does. */
#define NEXT_BITS 3         /* with one bit rate */
#define NEXT_BITS_VARIES 10 /* with others */
#define END_BITS_MAX 8 /* more with one bit rate, by how rare it is that main data ends there */

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Adds the frame's room to that of the frames before. */
static void add_room(struct mp3_codes *codes, const uint8_t *bytes, size_t len)
{
	size_t kept = codes->room_len;

	if (len > sizeof(codes->room)) {
		bytes += len - sizeof(codes->room);
		len = sizeof(codes->room);
	}
	kept = min_size(kept, sizeof(codes->room) - len);
	memmove(codes->room, codes->room + codes->room_len - kept, kept);
	memcpy(codes->room + kept, bytes, len);
	codes->room_len = (uint16_t)(kept + len);
}

/* ---- what is proved ------------------------------------------------------------------------ */

/* A frame's main data, which ends exactly. */
struct main_data {
	const uint8_t *bytes;
	const struct layer3_gain *gains; /* of each */
	size_t len, begin; /* bytes; and how many of room are before the frame's own */
	size_t own;        /* bytes of that */
	uint64_t at;       /* the frame */
};

/* Where the byte is that is `back` bytes before the end of all room so far. False: too long ago. */
static bool place_in_room(const struct mp3_codes *codes, size_t back, uint64_t *at)
{
	for (uint32_t n = 0; n < MP3_ROOMS && n < codes->frames; n++) {
		const struct mp3_room *room = &codes->rooms[(codes->frames - 1 - n) % MP3_ROOMS];

		if (back <= room->len) {
			*at = room->at + room->len - back;
			return true;
		}
		back -= room->len;
	}
	return false;
}

static bool place(
	const struct mp3_codes *codes, const struct main_data *data, size_t n, uint64_t *at)
{
	return place_in_room(codes, data->begin + data->own - n, at);
}

/* Adds what the codes that begin in byte n gain. Bytes that fill repeat, and so do the values that they decode to. */
static void add_gain(struct layer3_gain *sum, const struct main_data *data, size_t n)
{
	struct layer3_gain gain = data->gains[n];
	bool repeats = n && (data->bytes[n] == data->bytes[n - 1] ||
				    (n > 1 && data->bytes[n] == data->bytes[n - 2]));

	sum->bits += repeats && gain.bits > 0 ? 0 : gain.bits;
	sum->sound += repeats && gain.sound > 0 ? 0 : gain.sound;
}

/* What it proves that codes of len bytes have gained so much. */
static unsigned gained_bits(const struct layer3_gain *sum, size_t len)
{
	static const struct seam_bits few[] = { { 2, 5 }, { 4, 7 }, { 8, 9 } };
	static const struct seam_bits some[] = { { 0, 6 }, { 4, 8 }, { 16, 10 } };
	static const struct seam_bits many[] = { { -10, 8 }, { 0, 9 }, { 4, 10 }, { 8, 11 },
		{ 16, 12 } };
	int32_t least = sum->bits < sum->sound ? sum->bits : sum->sound;
	int64_t bits = (least + 16 * LAYER3_BIT) / LAYER3_BIT - 16;

	if (len < 40)
		return seam_bits_of(few, 3, bits);
	return len < 100 ? seam_bits_of(some, 3, bits) : seam_bits_of(many, 5, bits);
}

/* Joints up to the frame's header: its codes before them may be another file's. */
static void declare_before(
	const struct mp3_codes *codes, struct view *view, const struct main_data *data)
{
	size_t count = min_size(data->begin, data->len);
	struct layer3_gain sum = { 0 };
	uint64_t from, to;

	for (size_t n = 1; n <= count; n++) {
		/* The codes of the last byte may end after the joint. */
		if (n > 1)
			add_gain(&sum, data, n - 2);
		to = data->at;
		if (place(codes, data, n - 1, &from) && (n == count || place(codes, data, n, &to)))
			view_proved(view, from, to + 1, gained_bits(&sum, n));
	}
}

/* Joints after its side information: its codes after them may be. */
static void declare_after(
	const struct mp3_codes *codes, struct view *view, const struct main_data *data)
{
	struct layer3_gain sum = { 0 };
	uint64_t at;

	for (size_t n = data->len; n-- > data->begin + 1;) {
		add_gain(&sum, data, n);
		if (place(codes, data, n, &at))
			view_proved(view, at - 1, at + 1, gained_bits(&sum, data->len - n));
	}
}

static void declare_codes(
	const struct mp3_codes *codes, struct view *view, const struct main_data *data)
{
	uint64_t from, last;

	if (codes->exact < LEARNT_FRAMES || codes->varies || !place(codes, data, 0, &from) ||
		!place(codes, data, data->len - 1, &last))
		return;
	if (!view_linked(view, from, (last > data->at ? last : data->at) + 1, 0))
		return;
	declare_before(codes, view, data);
	declare_after(codes, view, data);
}

/* Bits by how seldom as much is left after main data as after the last frame's, which is counted. */
static unsigned end_bits(const struct mp3_codes *codes)
{
	unsigned bits = 0, count;

	if (codes->rest > LAYER3_BEGIN_MAX)
		return 0;
	count = codes->ends[codes->rest] ? codes->ends[codes->rest] : 1;
	while (bits < END_BITS_MAX && count << (bits + 1) <= codes->ended)
		bits++;
	return bits;
}

static void count_end(struct mp3_codes *codes)
{
	if (codes->rest > LAYER3_BEGIN_MAX)
		return;
	codes->ended++;
	if (++codes->ends[codes->rest] < ENDS_MAX)
		return;
	codes->ended = 0;
	for (unsigned i = 0; i <= LAYER3_BEGIN_MAX; i++)
		codes->ended += codes->ends[i] /= 2;
}

/* ---- frames -------------------------------------------------------------------------------- */

/* LAME fills with its name, its version, and bits in turns. */
static bool is_usual_filling(const uint8_t *bytes, size_t len)
{
	if (memcmp(bytes, "LAME", min_size(len, 4)) != 0)
		return false;
	for (size_t i = 4; i < len; i++)
		if ((bytes[i] < ' ' || bytes[i] > '~') && bytes[i] && bytes[i] != 0xaa)
			return false;
	return true;
}

/* Whether the frame's main data, which begins `begin` bytes before the end of all room, goes on after the last one's. */
static bool goes_on(struct mp3_codes *codes, size_t begin)
{
	if (codes->fills || !codes->has_rest)
		return true;
	codes->fills = begin > codes->rest ||
		       (codes->rest <= codes->room_len &&
			       !is_usual_filling(codes->room + codes->room_len - codes->rest,
				       codes->rest - begin));
	return !codes->fills;
}

/* Declares what it proves that the frame begins at `at`, and that its main data, or what fills before it, does where that of the
 * frame before ends. */
static void declare_next(
	const struct mp3_codes *codes, struct view *view, uint64_t at, size_t begin, bool varies)
{
	const struct mp3_room *before = &codes->rooms[(codes->frames - 1) % MP3_ROOMS];
	uint64_t to = at, end;

	if (!codes->frames || codes->exact < LEARNT_FRAMES || codes->varies || codes->fills ||
		!codes->has_rest)
		return;
	view_linked(view, before->at, at, varies ? NEXT_BITS_VARIES : NEXT_BITS);
	if (varies)
		return;
	/* A joint in what fills has the end before it. */
	if (begin < codes->rest)
		to = place_in_room(codes, codes->rest, &end) && end < at ? end + 1 : before->at;
	view_linked(view, before->at, to, end_bits(codes));
}

enum found { FOUND_NOTHING, FOUND_EXACT, FOUND_WRONG };

/* Follows the codes of the frame at `at`, whose room is the last of all. */
static enum found follow(struct mp3_codes *codes, struct view *view, uint64_t at,
	const struct layer3_side *side, const uint8_t *room, size_t own)
{
	uint8_t main[ROOM_MAX];
	struct layer3_gain gains[LAYER3_MAIN_MAX + 1];
	size_t len = layer3_main_len(side);
	const struct main_data data = { main, gains, len, side->begin, own, at };
	unsigned exact = 0, coded = 0;

	codes->has_rest = false;
	if (side->begin > codes->room_len)
		return FOUND_NOTHING;
	memcpy(main, codes->room + codes->room_len - side->begin, side->begin);
	memcpy(main + side->begin, room, own);
	if (len > side->begin + own)
		return FOUND_WRONG;
	memset(gains, 0, (len + 1) * sizeof(*gains));
	if (!layer3_follow(side, main, codes->varies ? NULL : &codes->habits, gains, &exact))
		return FOUND_WRONG;
	for (unsigned i = 0; i < side->part_count; i++)
		coded += side->parts[i].len > side->parts[i].factors;
	if (exact < coded)
		return FOUND_WRONG;
	codes->rest = (uint16_t)(side->begin + own - len);
	codes->has_rest = true;
	count_end(codes);
	if (coded)
		declare_codes(codes, view, &data);
	return coded ? FOUND_EXACT : FOUND_NOTHING;
}

bool mp3_codes_add(struct mp3_codes *codes, struct view *view, uint64_t at, const uint8_t *p,
	size_t len, bool varies)
{
	enum found found = FOUND_WRONG;
	struct layer3_side side;

	if (layer3_read_side(p, len, &side)) {
		size_t own = len - side.room;
		bool is_next = goes_on(codes, side.begin);

		if (is_next)
			declare_next(codes, view, at, side.begin, varies);
		codes->rooms[codes->frames % MP3_ROOMS].at = at + side.room;
		codes->rooms[codes->frames++ % MP3_ROOMS].len = (uint16_t)own;
		found = follow(codes, view, at, &side, p + side.room, own);
		add_room(codes, p + side.room, own);
		if (!is_next && codes->exact >= EXACT_FRAMES)
			found = FOUND_WRONG;
	} else {
		codes->room_len = 0;
		codes->frames = 0;
		codes->has_rest = false;
	}
	if (found == FOUND_EXACT)
		codes->exact += codes->exact < EXACT_FRAMES;
	if (found == FOUND_WRONG && codes->exact < EXACT_FRAMES)
		codes->varies = true;
	return found != FOUND_WRONG || codes->varies;
}
