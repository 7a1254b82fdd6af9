#include "jpeg_bits.h"

#include <assert.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "walk.h"

/* Makes the bytes at b->at readable, two of them if the view has them. */
static bool ensure_window(struct jpeg_bits *b)
{
	uint64_t offset = b->at - b->window_at;

	if (b->window && offset < b->window_len &&
		(b->window_len - offset >= 2 || b->window[offset] != 0xff))
		return true;
	b->window =
		walk_stream(b->view, b->at, view_size(b->view), b->at - b->start, &b->window_len);
	b->window_at = b->at;
	return b->window && (b->window_len >= 2 || b->window[0] != 0xff);
}

/* Bytes that are copied at once, and a bit set for each of them that is FF: the lowest is right. FF_BITS bits a byte. */
#ifdef __SSE2__
#define COPIED 16
#define FF_BITS 1

static uint64_t find_ff(const uint8_t *bytes)
{
	__m128i word = _mm_loadu_si128((const __m128i *)bytes);

	return (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(word, _mm_set1_epi8(-1)));
}
#else
#define COPIED 8
#define FF_BITS 8

static uint64_t find_ff(const uint8_t *bytes)
{
	uint64_t word = le64(bytes);

	return (~word - 0x0101010101010101u) & word & 0x8080808080808080u;
}
#endif

/* Copies bytes of the window without stuffing until the window or the room ends, or at a marker. A
 * last byte FF is not copied. Returns the end of what was copied. */
static uint8_t *copy(struct jpeg_bits *b, uint8_t *to, const uint8_t *to_end)
{
	const uint8_t *from = b->window + (b->at - b->window_at);
	const uint8_t *end = b->window + b->window_len;

	while (from < end && to < to_end) {
		uint64_t found = 0;

		while (end - from >= COPIED && to_end - to >= COPIED) {
			found = find_ff(from);
			memcpy(to, from, COPIED);
			if (found)
				break;
			from += COPIED;
			to += COPIED;
		}
		if (found) {
			from += (unsigned)__builtin_ctzll(found) / FF_BITS;
			to += (unsigned)__builtin_ctzll(found) / FF_BITS;
		}
		if (from == end || to == to_end)
			break;
		if (*from == 0xff) {
			if (end - from < 2)
				break;
			if (from[1] != 0) {
				b->at_marker = true;
				break;
			}
			from += 2;
			*to++ = 0xff;
		} else {
			*to++ = *from++;
		}
	}
	b->at = b->window_at + (uint64_t)(from - b->window);
	return to;
}

/* Copies some bytes after those that are there. */
static uint8_t *copy_some(struct jpeg_bits *b, uint8_t *to)
{
	const uint8_t *to_end = b->bytes + JPEG_BITS_BEFORE + b->load_len;

	while (!b->at_marker && !b->at_end && to < to_end) {
		if (ensure_window(b))
			to = copy(b, to, to_end);
		else
			b->at_end = true;
	}
	assert(to <= to_end);
	return to;
}

static size_t piece_len(const struct jpeg_bits *b)
{
	uint64_t left = view_size(b->view) - b->loaded;

	return left < JPEG_BITS_PIECE ? (size_t)left : JPEG_BITS_PIECE;
}

/* Copies the next piece, with the last byte of the one before if that is FF and not copied. */
static uint8_t *copy_piece(struct jpeg_bits *b, uint8_t *to)
{
	size_t len = b->loaded < view_size(b->view) ? piece_len(b) : 0;

	b->window = len ? view_peek(b->view, b->loaded, len) : NULL;
	b->at_end = !b->window;
	if (b->at_end)
		return to;
	b->window_at = b->loaded;
	b->window_len = len;
	b->loaded += len;
	if (b->at < b->window_at && b->window[0]) {
		b->at_marker = true;
		return to;
	}
	if (b->at < b->window_at) {
		*to++ = 0xff;
		b->at += 2;
	}
	return copy(b, to, b->bytes + JPEG_BITS_BEFORE + JPEG_BITS_LEN);
}

/* The next whole byte. */
static const uint8_t *next_byte(const struct jpeg_bits *b)
{
	return b->buffer.next - b->buffer.count / 8;
}

/* Sets where jpeg_bits_more has something to do. */
static void set_limit(struct jpeg_bits *b)
{
	bool all = b->at_marker || b->at_end;

	if (b->by_pieces)
		b->buffer.limit = all ? b->end : b->mark - 1;
	else
		b->buffer.limit = all ? b->end : b->end - JPEG_BLOCK_ROOM;
	if (b->stop && b->stop <= b->buffer.limit)
		b->buffer.limit = b->stop - 1;
}

static const uint8_t *walk_on(
	const struct jpeg_bits *b, const uint8_t *byte, uint64_t offset, uint64_t at);
static const uint8_t *walk_back(const struct jpeg_bits *b, uint64_t at);

/* After a piece was copied to `from`, whose first byte is at an offset of the view. */
static void set_marks(struct jpeg_bits *b, const uint8_t *from, uint64_t offset)
{
	b->mark = walk_back(b, b->loaded < JPEG_BITS_AHEAD ? 0 : b->loaded - JPEG_BITS_AHEAD);
	if (!b->stop && b->stop_at <= b->at)
		b->stop = walk_on(b, from, offset, b->stop_at);
}

/* Moves what is left to the front, and copies more bytes after it. */
static void load(struct jpeg_bits *b)
{
	uint8_t *start = b->bytes + JPEG_BITS_BEFORE, *to = start + (b->end - b->buffer.next);
	uint64_t at = b->at;

	memmove(b->bytes, b->buffer.next - JPEG_BITS_BEFORE,
		(size_t)(b->end - b->buffer.next) + JPEG_BITS_BEFORE);
	if (b->stop)
		b->stop = b->stop > b->buffer.next ? start + (b->stop - b->buffer.next) : start;
	b->buffer.next = start;
	b->end = b->by_pieces ? copy_piece(b, to) : copy_some(b, to);
	memset(b->bytes + (b->end - b->bytes), 0, JPEG_BLOCK_ROOM);
	if (!view_work(b->view, (b->at - at) * b->byte_work))
		b->at_end = true;
	if (b->by_pieces)
		set_marks(b, to, at);
	set_limit(b);
}

/* By pieces: whether the next one is wanted. */
static bool wants_piece(const struct jpeg_bits *b)
{
	return !b->at_marker && !b->at_end && next_byte(b) >= b->mark;
}

void jpeg_bits_jump(struct jpeg_bits *b, uint64_t at)
{
	b->buffer.held = 0;
	b->buffer.count = 0;
	b->at = at;
	b->at_marker = b->at_end = false;
	b->buffer.next = b->end = b->bytes + JPEG_BITS_BEFORE;
	/* Anything but zeros, which the decoder does not accept at length. */
	memset(b->bytes, 0xff, JPEG_BITS_BEFORE);
	b->loaded = at / JPEG_BITS_PIECE * JPEG_BITS_PIECE;
	b->stop_at = UINT64_MAX;
	b->stop = NULL;
	do
		load(b);
	while (b->by_pieces && wants_piece(b));
}

void jpeg_bits_open(struct jpeg_bits *b, struct view *view, uint64_t at, unsigned byte_work)
{
	b->view = view;
	b->byte_work = byte_work;
	b->load_len = JPEG_BITS_FIRST;
	b->by_pieces = false;
	b->stop_at = UINT64_MAX;
	b->stop = NULL;
	b->stopped = false;
	b->start = at;
	b->window = NULL;
}

static void more_pieces(struct jpeg_bits *b)
{
	while (wants_piece(b))
		load(b);
	b->stopped = b->stop && next_byte(b) >= b->stop;
}

/* Of the byte at b->buffer.next. */
static void go_to_bit(struct jpeg_bits *b, unsigned bit)
{
	b->buffer.held = 0;
	b->buffer.count = 0;
	if (b->by_pieces)
		more_pieces(b); /* as a refill takes what is not there for zeros */
	jpeg_refill(&b->buffer);
	jpeg_skip(&b->buffer, bit);
	if (b->by_pieces)
		jpeg_bits_more(b);
}

bool jpeg_bits_more(struct jpeg_bits *b)
{
	if (b->buffer.next > b->buffer.limit) {
		if (b->by_pieces)
			more_pieces(b);
		else if (!b->at_marker && !b->at_end)
			load(b);
	}
	return jpeg_bits_left(b) >= 0;
}

void jpeg_bits_fill(struct jpeg_bits *b)
{
	if (!b->at_marker && !b->at_end)
		load(b);
}

void jpeg_bits_find_marker(struct jpeg_bits *b, uint64_t from, uint64_t len)
{
	while (!b->at_marker && !b->at_end && b->at <= from + len) {
		b->buffer.next = b->end;
		load(b);
	}
	b->buffer.held = 0;
	b->buffer.count = 0;
	b->buffer.next = b->end;
	/* What is further away was copied by chance. */
	if (b->at > from + len)
		b->at_marker = b->at_end = false;
}

/* A 1 in each of eight bytes that is not FF. */
static uint64_t find_others(const uint8_t *bytes)
{
	uint64_t rest = ~le64(bytes), low = 0x7f7f7f7f7f7f7f7fu;

	return ((((rest & low) + low) | rest) & ~low) >> 7;
}

/* Words of eight bytes of which the numbers fit in a byte. */
#define WORDS_MAX 31

/* How many of some words' bytes are FF. */
static uint64_t count_ff(const uint8_t *bytes, size_t words)
{
	uint64_t count = words * 8;

	while (words) {
		size_t some = words < WORDS_MAX ? words : WORDS_MAX;
		uint64_t others = 0;

		for (size_t i = 0; i < some; i++, bytes += 8)
			others += find_others(bytes);
		count -= others * 0x0101010101010101u >> 56;
		words -= some;
	}
	return count;
}

/* The offset in the view of a byte in bytes[]. */
static uint64_t offset_of(const struct jpeg_bits *b, const uint8_t *byte)
{
	size_t len = byte < b->end ? (size_t)(b->end - byte) : 0;
	uint64_t at = b->at - len - count_ff(byte, len / 8);

	/* Each byte FF has stuffing after it. */
	for (byte += len / 8 * 8; byte < b->end; byte++)
		at -= *byte == 0xff;
	return at;
}

/* The first byte from one on, whose offset in the view is given, that is at another or after it. */
static const uint8_t *walk_on(
	const struct jpeg_bits *b, const uint8_t *byte, uint64_t offset, uint64_t at)
{
	uint64_t step;

	while (b->end - byte >= 8 && offset < at) {
		step = 8 + count_ff(byte, 1);
		if (step > at - offset)
			break;
		offset += step;
		byte += 8;
	}
	while (byte < b->end && offset < at)
		offset += 1 + (*byte++ == 0xff);
	return byte;
}

/* The first byte from the next whole one on that is at an offset of the view or after it. */
static const uint8_t *walk_back(const struct jpeg_bits *b, uint64_t at)
{
	const uint8_t *byte = b->end, *next = next_byte(b);
	uint64_t offset = b->at, step;

	while (byte - next >= 8 && offset >= at) {
		step = 8 + count_ff(byte - 8, 1);
		if (step > offset - at)
			break;
		offset -= step;
		byte -= 8;
	}
	for (; byte > next; byte--) {
		step = 1 + (byte[-1] == 0xff);
		if (offset < at || step > offset - at)
			break;
		offset -= step;
	}
	return byte;
}

void jpeg_bits_stop(struct jpeg_bits *b, uint64_t next, uint64_t at)
{
	b->stop_at = at;
	b->stop = at <= b->at ? walk_on(b, next_byte(b), next, at) : NULL;
	b->stopped = false;
	set_limit(b);
}

/* Whether all before the place is copied, with the byte that has bits on both sides of it. */
static bool has_place(const struct jpeg_bits *b, struct jpeg_place place)
{
	return place.at + (place.bit != 0) <= b->at;
}

/* A place in between is that of a last byte FF. */
bool jpeg_bits_can_pass(const struct jpeg_bits *b, struct jpeg_place place)
{
	return has_place(b, place) || (place.at >= b->loaded && !b->at_marker && !b->at_end);
}

void jpeg_bits_pass(struct jpeg_bits *b, struct jpeg_place place)
{
	if (has_place(b, place)) {
		b->buffer.next = walk_back(b, place.at);
		go_to_bit(b, place.bit);
		return;
	}
	for (; place.at - b->loaded >= JPEG_BITS_PIECE; b->loaded += JPEG_BITS_PIECE)
		view_pass(b->view, b->loaded, JPEG_BITS_PIECE);
	view_work(b->view, (place.at - b->at) * b->byte_work);
	jpeg_bits_go_on(b, place);
}

uint64_t jpeg_bits_end_of(const struct jpeg_bits *b, struct jpeg_place place)
{
	const uint8_t *byte = b->buffer.next - (b->buffer.count + 7) / 8;

	return !place.bit ? place.at : place.at + 1 + (*byte == 0xff);
}

uint64_t jpeg_bits_offset(const struct jpeg_bits *b)
{
	return offset_of(b, b->buffer.next - b->buffer.count / 8);
}

struct jpeg_place jpeg_bits_place(const struct jpeg_bits *b)
{
	const uint8_t *byte = b->buffer.next - (b->buffer.count + 7) / 8;
	struct jpeg_place place = { offset_of(b, byte), (8 - b->buffer.count % 8) % 8, 0 };

	while (place.zeros < 16 && byte[-1 - place.zeros] == 0)
		place.zeros++;
	return place;
}

void jpeg_bits_go_on(struct jpeg_bits *b, struct jpeg_place place)
{
	jpeg_bits_jump(b, place.at);
	memset(b->bytes + JPEG_BITS_BEFORE - place.zeros, 0, place.zeros);
	go_to_bit(b, place.bit);
}

int jpeg_bits_byte(struct jpeg_bits *b, uint64_t at)
{
	if (!b->window || at < b->window_at || at - b->window_at >= b->window_len) {
		b->window = view_peek(b->view, at, 1);
		b->window_at = at;
		b->window_len = 1;
	}
	return b->window ? b->window[at - b->window_at] : -1;
}
