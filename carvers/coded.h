/*
 * Huffman-coded picture data that breaks off, described so that anybody can decide, without its carver,
 * whether other bytes may go on with it: for millions of clusters, on a processor or a GPU. Plain data and
 * one function, in integers, for both.
 *
 * The function only refuses what the carver would refuse before the end of the bytes: an unknown code, more
 * than 64 coefficients in a block, a brightness out of range, a marker where none may be, zeros instead of
 * data, after the last block no marker that may follow a scan. Whatever else happens, the bytes may go on with it.
 */
#ifndef BURIN_CARVERS_CODED_H
#define BURIN_CARVERS_CODED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

struct view;

#ifdef __CUDACC__
#define CODED_INLINE static __host__ __device__ __forceinline__
#else
#define CODED_INLINE static inline
#endif

#define CODED_BITS 9     /* codes that are looked up */
#define CODED_BLOCKS 10  /* of an MCU, at most */
#define CODED_TABLES 4   /* at most */
#define CODED_BEFORE 512 /* bytes of a block before the break, at most */
#define CODED_SLACK 512  /* bytes that may be between the last block and the marker after it */

/* Codes of up to CODED_BITS bits: length << 8 | value, 0 for longer ones. Those are compared, as 16 bits
 * from the left, with limit[length], one more than the last code of that length. */
struct coded_table {
	uint16_t fast[1 << CODED_BITS];
	uint32_t limit[17];
	int32_t first[17]; /* index in values that code 0 of this length would have */
	uint8_t values[256];
};

struct coded_block {
	uint8_t dc, ac; /* tables */
	uint8_t component;
};

struct carve_coded {
	bool begins; /* in: describe where the first scan's data begins, whatever the view has of it */
	uint64_t data;        /* out: where that is in the file */
	uint32_t block_count; /* of an MCU */
	uint32_t block;       /* of an MCU, the one that the break is in */
	uint32_t interval;    /* MCUs from one restart marker to the next; 0: there are none */
	uint32_t restarts;    /* restart markers before the break */
	uint64_t mcus;        /* that are not complete: in all... */
	uint64_t mcus_before_restart; /* ...and before the next restart marker */
	struct coded_block blocks[CODED_BLOCKS];
	int32_t dc[4];     /* predictions, of components */
	uint32_t bound[4]; /* of them, above and below 0 */
	uint32_t bits_before;
	bool after_ff; /* the last byte before the break is FF: data if a 00 follows */
	uint8_t before[CODED_BEFORE]; /* that block's bits before the break, without stuffing */
	struct coded_table tables[CODED_TABLES];
};

/* Where the coded data ends that begins at `data`, of the picture that begins at `picture`: known from elsewhere,
 * where all of it was decoded and found valid, to its last byte. A marker is there. 0: that is not known. For
 * carvers; all are offsets in the view. */
uint64_t view_known_end(const struct view *view, uint64_t picture, uint64_t data);

/* What coded data of a file in pieces comes to between two places of the image, for other checks that decode the same bits in the
 * same way: whole MCUs, all valid but for the DC. */
struct coded_stretch {
	uint16_t bytes; /* to the one that has the next bit */
	uint16_t after; /* to the next whole one */
	uint16_t mcus;
	uint8_t bit; /* of that byte, 0: the highest */
	int16_t low[4],
		high[4]; /* how far predictions go up and down from where they were, of components */
	int16_t sum[4];  /* and their change in the end */
};

/* A way of decoding, which the bytes identify, and what is made of them once, for all checks. */
struct coded_coding {
	const void *bytes;
	size_t len, made_len;
	void (*make)(void *made, const void *bytes); /* of zeros; both stay where they are */
};
/* A number for it, and what was made; 0: nothing can be shared. For carvers, as all below. */
uint32_t view_coding(struct view *view, const struct coded_coding *coding, const void **made);
/* Whether it is known what decoding so comes to from a bit of the byte at an offset of the view on. Depends on chance, so the
 * carver does the same in both cases, at the same cost; all bytes up to the next whole one are in the view, follow each other in
 * the image, and could be read. */
bool view_recall(struct view *view, uint32_t coding, uint64_t at, unsigned bit,
	struct coded_stretch *stretch);
/* Notes it. It is not where bytes are from several places. */
void view_note(struct view *view, uint32_t coding, uint64_t at, unsigned bit,
	const struct coded_stretch *stretch);
/* Where a stretch from this offset on had better end, by its place in the image. */
uint64_t view_stretch_end(struct view *view, uint64_t at);
/* Whether the check may do this many more units of work. */
bool view_affords(const struct view *view, uint64_t units);

/* Bits of the data before the break, and then of the bytes after it. */
struct coded_bits {
	uint64_t held; /* the next `count` ones at the top, then zeros */
	int32_t count; /* below 0: more were taken than exist */
	uint32_t before, before_len;
	const uint8_t *at, *start, *end;
	bool ends;             /* no more bits are known... */
	const uint8_t *marker; /* ...as this byte follows an FF; NULL: there is no marker */
};

/* Four bytes, the first one the highest; the place is aligned to 4. */
CODED_INLINE uint32_t coded_word(const uint8_t *at)
{
#ifdef __CUDA_ARCH__
	return __byte_perm(*(const uint32_t *)at, 0, 0x0123);
#else
	return be32(at);
#endif
}

CODED_INLINE bool coded_has_ff(uint32_t word)
{
	return (~word - 0x01010101u) & word & 0x80808080u;
}

/* Makes more bits known, at least 32 if they exist. */
CODED_INLINE void coded_fill(struct coded_bits *b, const struct carve_coded *coded)
{
	while (b->count < 32 && b->before < b->before_len) {
		b->held |= (uint64_t)coded->before[b->before++] << (56 - b->count);
		b->count += 8;
	}
	while (b->count < 32 && !b->ends) {
		uint32_t left = (uint32_t)(b->end - b->at), byte;

		if (left >= 4 && ((uintptr_t)b->at & 3) == 0) {
			uint32_t word = coded_word(b->at);

			if (!coded_has_ff(word)) {
				b->held |= (uint64_t)word << (32 - b->count);
				b->count += 32;
				b->at += 4;
				return;
			}
		}
		byte = left ? *b->at : 0;
		if (byte == 0xff && left >= 2 && b->at[1])
			b->marker = b->at + 1;
		b->ends = !left || (byte == 0xff && left < 2) || b->marker;
		if (b->ends)
			return;
		b->at += byte == 0xff ? 2 : 1;
		b->held |= (uint64_t)byte << (56 - b->count);
		b->count += 8;
	}
}

CODED_INLINE void coded_skip(struct coded_bits *b, uint32_t bits)
{
	b->held <<= bits;
	b->count -= (int32_t)bits;
}

/* The code that the bits at the top begin with: length << 8 | value, 0 if there is none. */
CODED_INLINE uint32_t coded_find(const struct coded_table *table, uint64_t held)
{
	uint32_t entry = table->fast[held >> (64 - CODED_BITS)], code = (uint32_t)(held >> 48);

	if (entry)
		return entry;
	for (uint32_t bits = CODED_BITS + 1; bits <= 16; bits++) {
		int32_t index = table->first[bits] + (int32_t)(code >> (16 - bits));

		if (code < table->limit[bits])
			return bits << 8 | table->values[index & 0xff];
	}
	return 0;
}

/* Whether the next symbol can't be read for want of bytes. After it 31 bits can be taken: at a marker
 * zeros follow, as the carver has it. */
CODED_INLINE bool coded_wants(struct coded_bits *b, const struct carve_coded *coded)
{
	if (b->count < 32)
		coded_fill(b, coded);
	return b->count < 32 && !b->marker;
}

enum coded_answer { CODED_REFUSED, CODED_NEXT, CODED_MAY_FOLLOW };

/* Goes on after the restart marker that has to be next. */
CODED_INLINE enum coded_answer coded_restart(struct coded_bits *b, uint32_t number)
{
	const uint8_t *at = b->at;

	for (; !b->marker; at += *at == 0xff ? 2 : 1) {
		if (b->end - at < 2)
			return CODED_MAY_FOLLOW;
		if (*at == 0xff && at[1])
			b->marker = at + 1;
	}
	while (b->marker < b->end && *b->marker == 0xff)
		b->marker++;
	if (b->marker == b->end)
		return CODED_MAY_FOLLOW;
	if (*b->marker != 0xd0 + (number & 7))
		return CODED_REFUSED;
	b->at = b->marker + 1;
	b->marker = NULL;
	b->held = 0;
	b->count = 0;
	b->ends = false;
	return CODED_NEXT;
}

/* Whether the last 16 bytes before the next one are zeros, and more, as stuffing is not counted. */
CODED_INLINE bool coded_after_zeros(const struct coded_bits *b)
{
	const uint8_t *end = b->at - b->count / 8;

	if (b->before < b->before_len || end - b->start < 24)
		return false;
	for (int i = 1; i <= 24; i++)
		if (end[-i])
			return false;
	return true;
}

/* How many bits were taken, with stuffing. */
CODED_INLINE uint64_t coded_position(const struct coded_bits *b)
{
	return (uint64_t)(b->at - b->start) * 8 + b->before * 8u - (uint64_t)(int64_t)b->count;
}

/* Bytes that are looked at, a few symbols at a time. */
struct coded_run {
	struct coded_bits bits;
	int32_t dc[4]; /* by coded_dc alone */
	uint64_t mcus, mcus_before_restart;
	uint64_t from;     /* where the block begins */
	uint32_t block, k; /* and the coefficient */
	uint32_t restarts;
	uint32_t zeros; /* long blocks in a row that end after zeros */
};

/* A component's prediction after `change`. On a device nothing of a run has an index that is not known when it is
 * compiled: it would be in memory, not in registers. */
CODED_INLINE int32_t coded_dc(struct coded_run *run, uint32_t component, int32_t change)
{
#ifdef __CUDA_ARCH__
	int32_t dc = 0;

#pragma unroll
	for (uint32_t i = 0; i < 4; i++) {
		run->dc[i] += i == component ? change : 0;
		dc = i == component ? run->dc[i] : dc;
	}
	return dc;
#else
	return run->dc[component] += change;
#endif
}

/* There is at least one byte, and bytes are aligned to 4. */
CODED_INLINE void coded_begin(
	struct coded_run *run, const struct carve_coded *coded, const uint8_t *bytes, uint32_t len)
{
	struct coded_bits *b = &run->bits;

	b->held = 0;
	b->count = 0;
	b->before = 0;
	b->before_len = (coded->bits_before + 7) / 8;
	b->at = b->start = bytes;
	b->end = bytes + len;
	b->ends = false;
	b->marker = NULL;
	if (coded->after_ff && *bytes) {
		b->ends = true;
		b->marker = bytes;
		b->before_len--;
	} else if (coded->after_ff) {
		b->at++;
	}
	coded_fill(b, coded);
	coded_skip(b, -coded->bits_before & 7);
	for (int i = 0; i < 4; i++)
		run->dc[i] = coded->dc[i];
	run->mcus = coded->mcus;
	run->mcus_before_restart = coded->mcus_before_restart;
	run->from = coded_position(b);
	run->block = coded->block;
	run->k = 0;
	run->restarts = coded->restarts;
	run->zeros = 0;
}

/* Whether the carver goes on after a scan at a marker with this code: a table or frame, another scan, the end of the picture,
 * application data, a comment. */
CODED_INLINE bool coded_may_end(uint8_t marker)
{
	return (marker >= 0xc0 && marker <= 0xcf && marker != 0xc8) ||
	       (marker >= 0xd9 && marker <= 0xef) || marker == 0xfe;
}

/* After the last MCU: a marker is near. */
CODED_INLINE enum coded_answer coded_end_scan(const struct coded_bits *b)
{
	const uint8_t *marker = b->marker;

	for (const uint8_t *at = b->at; !marker; at++) {
		if (b->end - at < 2)
			return CODED_MAY_FOLLOW;
		if (at - b->at > CODED_SLACK)
			return CODED_REFUSED;
		if (*at == 0xff && at[1])
			marker = at + 1;
	}
	while (marker < b->end && *marker == 0xff)
		marker++;
	return marker == b->end || coded_may_end(*marker) ? CODED_MAY_FOLLOW : CODED_REFUSED;
}

/* After an MCU. */
CODED_INLINE enum coded_answer coded_end_mcu(struct coded_run *run, const struct carve_coded *coded)
{
	if (--run->mcus == 0)
		return coded_end_scan(&run->bits);
	if (--run->mcus_before_restart)
		return CODED_NEXT;
	run->mcus_before_restart = coded->interval;
	for (int i = 0; i < 4; i++)
		run->dc[i] = 0;
	return coded_restart(&run->bits, run->restarts++);
}

/* After a block. */
CODED_INLINE enum coded_answer coded_end_block(
	struct coded_run *run, const struct carve_coded *coded)
{
	enum coded_answer answer = CODED_NEXT;

	if (coded_position(&run->bits) - run->from < 128 || !coded_after_zeros(&run->bits))
		run->zeros = 0;
	else if (++run->zeros == 2)
		return CODED_REFUSED;
	run->k = 0;
	if (++run->block == coded->block_count) {
		run->block = 0;
		answer = coded_end_mcu(run, coded);
	}
	run->from = coded_position(&run->bits);
	return answer;
}

/* Skips coefficients that have a short code, as long as enough bits are known: most of them, and nothing else. */
CODED_INLINE void coded_skip_usual(struct coded_run *run, const struct coded_table *table)
{
	struct coded_bits *b = &run->bits;

	while (run->k < 64 && b->count >= 32) {
		uint32_t entry = table->fast[b->held >> (64 - CODED_BITS)], size = entry & 15;

		if (!size)
			return;
		coded_skip(b, (entry >> 8) + size);
		run->k += (entry >> 4 & 15) + 1;
	}
}

/* Takes a code and the bits that it says follow; k is 64 after the last one of a block. */
CODED_INLINE enum coded_answer coded_take(struct coded_run *run, const struct carve_coded *coded,
	const struct coded_table *tables, const struct coded_block *block)
{
	struct coded_bits *b = &run->bits;
	bool is_dc = !run->k;
	uint32_t entry, code, size;

	if (coded_wants(b, coded))
		return CODED_MAY_FOLLOW;
	entry = coded_find(&tables[is_dc ? block->dc : block->ac], b->held);
	code = entry & 0xff;
	size = code & 15;
	if (!entry || (is_dc ? code > 15 : code && !size && code != 0xf0))
		return CODED_REFUSED;
	if (is_dc && size) {
		uint32_t bound = coded->bound[block->component];
		int32_t value = (int32_t)(b->held << (entry >> 8) >> (64 - size));

		value = value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
		if ((uint32_t)coded_dc(run, block->component, value) + bound > 2 * bound)
			return CODED_REFUSED;
	}
	coded_skip(b, (entry >> 8) + size);
	run->k = is_dc || code ? run->k + (code >> 4) + 1 : 64;
	return CODED_NEXT;
}

/* Goes on by some coefficients, to a block's end at most. tables: coded->tables, or a copy of them. */
CODED_INLINE enum coded_answer coded_go_on(
	struct coded_run *run, const struct carve_coded *coded, const struct coded_table *tables)
{
	const struct coded_block *block = &coded->blocks[run->block];
	enum coded_answer answer = CODED_NEXT;

	if (run->k)
		coded_skip_usual(run, &tables[block->ac]);
	if (run->k < 64)
		answer = coded_take(run, coded, tables, block);
	if (answer != CODED_NEXT || run->k < 64)
		return answer;
	return run->k > 64 || run->bits.count < 0 ? CODED_REFUSED : coded_end_block(run, coded);
}

/* Whether the bytes may follow the break. */
CODED_INLINE bool coded_may_follow(
	const struct carve_coded *coded, const uint8_t *bytes, uint32_t len)
{
	struct coded_run run;
	enum coded_answer answer = CODED_NEXT;

	coded_begin(&run, coded, bytes, len);
	while (answer == CODED_NEXT)
		answer = coded_go_on(&run, coded, coded->tables);
	return answer == CODED_MAY_FOLLOW;
}

#endif
