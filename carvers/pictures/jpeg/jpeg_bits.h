/*
 * Bits of Huffman-coded data, read through a view: bytes FF 00 count as FF, and a marker ends the
 * data. A few kilobytes at a time are copied without their stuffing, so that decoders load eight
 * bytes at once without looking for FF. After the data's end zeros follow, enough for any block, and
 * decoders test only after a block whether its bits existed.
 */
#ifndef BURIN_CARVERS_PICTURES_JPEG_JPEG_BITS_H
#define BURIN_CARVERS_PICTURES_JPEG_JPEG_BITS_H

#include "bytes.h"
#include "jpeg.h"

/* The most bytes that a block can take, and some that are loaded ahead: 64 codes of 16 bits, each
 * with 15 bits more. */
#define JPEG_BLOCK_ROOM 272
/* Bytes kept before the next one. */
#define JPEG_BITS_BEFORE 24
#define JPEG_BITS_LEN 16384
/* Bytes copied at a time at first: a scan may soon turn out to be none. */
#define JPEG_BITS_FIRST 4096
/* By pieces, such a part of the view is copied at a time, which begins at a multiple of as many bytes... */
#define JPEG_BITS_PIECE 4096
/* ...once fewer bytes than these, with their stuffing, are left of the part before. */
#define JPEG_BITS_AHEAD 1024

/* The part that decoders keep in registers. */
struct jpeg_buffer {
	uint64_t held;        /* the next `count` bits at the top; below them bits that follow */
	unsigned count;       /* at most 63 */
	const uint8_t *next;  /* in bytes[]: the first byte that count does not include */
	const uint8_t *limit; /* when next is after it, jpeg_bits_more has to be called */
};

struct jpeg_bits {
	struct jpeg_buffer buffer;
	const uint8_t *end;     /* of what bytes[] has */
	bool at_marker, at_end; /* of the data; at_end: the view or its budget ended */
	struct view *view;
	unsigned byte_work;
	size_t load_len; /* JPEG_BITS_FIRST, or more */
	bool by_pieces; /* what is copied depends on the position alone, not on how it was reached */
	uint64_t loaded;     /* by pieces: where the next one starts */
	const uint8_t *mark; /* by pieces: in bytes[], where that is wanted */
	uint64_t stop_at;    /* by pieces: jpeg_bits_stop */
	const uint8_t *stop; /* in bytes[]; NULL: not copied yet, or there is none */
	bool stopped;        /* the position is there, or after it */
	uint64_t start, at;  /* offsets: where the data starts, and what is copied next */
	const uint8_t *window;
	uint64_t window_at;
	size_t window_len;
	uint8_t bytes[JPEG_BITS_BEFORE + JPEG_BITS_LEN + JPEG_BLOCK_ROOM];
};

/* For data that starts at an offset of the view; jpeg_bits_jump or jpeg_bits_go_on is next. byte_work: units of work
 * (view_work) for a byte, besides the one that its peek counts. */
void jpeg_bits_open(struct jpeg_bits *b, struct view *view, uint64_t at, unsigned byte_work);

/* Goes on with other bytes of the view, in a new byte. After this, and after jpeg_bits_more, a block can be read. */
void jpeg_bits_jump(struct jpeg_bits *b, uint64_t at);

/* A position between two bits. */
struct jpeg_place {
	uint64_t at;   /* the byte that has the next bit */
	uint8_t bit;   /* 0: the highest */
	uint8_t zeros; /* bytes 00 before it, up to 16 */
};

/* Tells the position, and goes on at one. */
struct jpeg_place jpeg_bits_place(const struct jpeg_bits *b);
/* Of the position that was just told: jpeg_bits_offset, which takes longer. */
uint64_t jpeg_bits_end_of(const struct jpeg_bits *b, struct jpeg_place place);
void jpeg_bits_go_on(struct jpeg_bits *b, struct jpeg_place place);

/* By pieces: b->stopped tells, after each block, whether the next whole byte, which is at `next` now, is at this offset of the
 * view or after it; UINT64_MAX: never. */
void jpeg_bits_stop(struct jpeg_bits *b, uint64_t next, uint64_t at);
/* By pieces: whether jpeg_bits_pass can go to a later place, up to which all bits exist. */
bool jpeg_bits_can_pass(const struct jpeg_bits *b, struct jpeg_place place);
/* Goes there as if all before it had been read, at the same cost. */
void jpeg_bits_pass(struct jpeg_bits *b, struct jpeg_place place);

/* Makes room for another block. False when more bits were used than exist. */
bool jpeg_bits_more(struct jpeg_bits *b);

/* Copies more bytes, if there are some, though a block can be read. */
void jpeg_bits_fill(struct jpeg_bits *b);

/* Drops all bits up to the next marker, if one is found that starts at most len bytes after
 * `from`: then b->at_marker, and b->at is its offset. */
void jpeg_bits_find_marker(struct jpeg_bits *b, uint64_t from, uint64_t len);

/* The offset in the view of the next whole byte. */
uint64_t jpeg_bits_offset(const struct jpeg_bits *b);

/* The byte at an offset of the view, or -1. */
int jpeg_bits_byte(struct jpeg_bits *b, uint64_t at);

/* Bits that are left of those that were copied; below 0: more were used than exist. */
static inline int64_t jpeg_bits_left(const struct jpeg_bits *b)
{
	return (b->end - b->buffer.next) * 8 + (int64_t)b->buffer.count;
}

#define JPEG_INLINE static inline __attribute__((always_inline))

/* Makes count at least 56. */
JPEG_INLINE void jpeg_refill(struct jpeg_buffer *buffer)
{
	buffer->held |= be64(buffer->next) >> buffer->count;
	buffer->next += (63 - buffer->count) >> 3;
	buffer->count |= 56;
}

/* Drops n bits, up to 56; refill before. */
JPEG_INLINE void jpeg_skip(struct jpeg_buffer *buffer, unsigned n)
{
	buffer->held <<= n;
	buffer->count -= n;
}

/* The next n bits, up to 16; refill before. */
JPEG_INLINE uint32_t jpeg_take(struct jpeg_buffer *buffer, unsigned n)
{
	uint32_t value = (uint32_t)(buffer->held >> 1 >> (63 - n));

	jpeg_skip(buffer, n);
	return value;
}

/* Drops any number of bits, as long as they are in bytes[]. At least 49 are in the buffer then. */
JPEG_INLINE void jpeg_jump(struct jpeg_buffer *buffer, uint64_t bits)
{
	uint64_t past = bits + 64 - buffer->count; /* from the eighth byte before next on */

	buffer->next += past / 8;
	buffer->next--;
	buffer->held = be64(buffer->next - 7) << past % 8;
	buffer->count = 56 - past % 8;
}

/* Bits taken since the buffer was `start`. */
JPEG_INLINE uint64_t jpeg_taken(const struct jpeg_buffer *buffer, const struct jpeg_buffer *start)
{
	return (uint64_t)(buffer->next - start->next) * 8 + start->count - buffer->count;
}

#endif
