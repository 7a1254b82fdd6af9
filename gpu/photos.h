/*
 * Decoding the Huffman codes of whole photographs, many at a time and in parallel within each: what one
 * thread does (for device and host), and the plan of a batch. photos.cu explains it.
 */
#ifndef BURIN_GPU_PHOTOS_H
#define BURIN_GPU_PHOTOS_H

#include "carvers/coded.h"
#include "gpu/gpu_text.h"

#define PHOTO_TILE 4096u     /* bytes of a text that are summarised, and moved, together */
#define PHOTO_SUB_BITS 1024u /* of a subsequence, which a thread decodes */
#define PHOTO_SUBS 128u      /* of a block of threads */
#define PHOTO_COMPONENTS 3   /* more are left to the carver */
#define PHOTO_BLOCK_ROOM 64u /* bytes after a photograph's that are read and mean nothing */
#define PHOTO_NO_MARKER 0xffffu

/* Of a tile: the first FF before another byte than 00, and how many bytes 00 before it follow an FF in the
 * tile. */
struct photo_tile {
	uint16_t marker;
	uint16_t stuffed;
};

/* A part of a photograph's data inside a tile, to be moved without its stuffing. */
struct photo_piece {
	const uint8_t *from; /* on the device */
	uint32_t len;
	uint32_t to; /* in the moved data */
	uint32_t photo;
	bool after_ff; /* the byte before it is an FF of the data */
};

struct photo {
	uint32_t start;           /* of its data in all moved data: a multiple of 16 */
	uint32_t bits;            /* of it */
	uint32_t first_sub, subs; /* subsequences */
	uint32_t first_run, runs; /* of subsequences, each for a block of threads */
	uint32_t blocks;          /* that it must have */
};

struct photo_run {
	uint32_t photo;
	uint32_t first; /* subsequence, of the photograph */
};

/* Where a subsequence ends: bits past its end, block of the MCU, coefficient (0: a block begins). */
GPU_INLINE uint32_t photo_place(uint32_t over, uint32_t block, uint32_t k)
{
	return over << 16 | block << 8 | k;
}

/* What a stretch of subsequences has: blocks, and of each component's prediction the change, and its least
 * and greatest value on the way. */
struct photo_part {
	uint64_t blocks;
	int64_t sum[PHOTO_COMPONENTS], least[PHOTO_COMPONENTS], most[PHOTO_COMPONENTS];
	bool bad;
};

/* Adds the stretch that follows. */
GPU_INLINE void photo_add(struct photo_part *part, const struct photo_part *next)
{
	part->bad |= next->bad;
	part->blocks += next->blocks;
	GPU_UNROLL
	for (int i = 0; i < PHOTO_COMPONENTS; i++) {
		int64_t least = part->sum[i] + next->least[i], most = part->sum[i] + next->most[i];

		part->least[i] = least < part->least[i] ? least : part->least[i];
		part->most[i] = most > part->most[i] ? most : part->most[i];
		part->sum[i] += next->sum[i];
	}
}

/* Bits of moved data, of which there are always enough to read. */
struct photo_bits {
	uint64_t held; /* the next `count` ones at the top */
	uint32_t count;
	const uint8_t *next; /* aligned to 4 */
};

GPU_INLINE void photo_fill(struct photo_bits *b)
{
	if (b->count < 32) {
		b->held |= (uint64_t)coded_word(b->next) << (32 - b->count);
		b->next += 4;
		b->count += 32;
	}
}

GPU_INLINE void photo_skip(struct photo_bits *b, uint32_t bits)
{
	b->held <<= bits;
	b->count -= bits;
}

/* Takes a code: its value, or -1 and a bit, to go on. At least 32 bits are held. */
GPU_INLINE int photo_take(const struct coded_table *table, struct photo_bits *b)
{
	uint32_t entry = coded_find(table, b->held);

	photo_skip(b, entry ? entry >> 8 : 1);
	return entry ? (int)(entry & 0xff) : -1;
}

/* Decodes [from, to) of the bits, from a place in it, but no more blocks than `most`. Returns where it
 * ended, in bits; *place is that place, and *part what was there. */
GPU_INLINE uint32_t photo_decode(const struct carve_coded *coded, const struct coded_table *tables,
	const uint8_t *bytes, uint32_t from, uint32_t to, uint32_t *place, uint32_t most_blocks,
	struct photo_part *part)
{
	uint32_t at = from + (*place >> 16), block = *place >> 8 & 0xff, k = *place & 0xff;
	struct photo_bits b = { 0, 0, bytes + at / 32 * 4 };
	int32_t sum[PHOTO_COMPONENTS] = { 0 }, least[PHOTO_COMPONENTS] = { 0 };
	int32_t most[PHOTO_COMPONENTS] = { 0 };
	uint32_t blocks = 0;
	bool bad = false;

	photo_fill(&b);
	photo_skip(&b, at % 32);
	while (at < to && blocks < most_blocks) {
		const struct coded_block *now = &coded->blocks[block];
		uint32_t before;
		int code;

		photo_fill(&b);
		before = b.count;
		code = photo_take(&tables[k ? now->ac : now->dc], &b);
		if (k == 0) {
			uint32_t size = (uint32_t)code & 15;

			bad |= code < 0 || code > 15;
			if (size) {
				int32_t value = (int32_t)(b.held >> (64 - size));

				photo_skip(&b, size);
				value = value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
				GPU_UNROLL
				for (int i = 0; i < PHOTO_COMPONENTS; i++) {
					sum[i] += i == now->component ? value : 0;
					least[i] = sum[i] < least[i] ? sum[i] : least[i];
					most[i] = sum[i] > most[i] ? sum[i] : most[i];
				}
			}
			k = 1;
		} else if (code == 0) {
			k = 64;
		} else {
			bad |= code < 0 || ((code & 15) == 0 && code != 0xf0);
			photo_skip(&b, (uint32_t)code & 15);
			k += ((uint32_t)code >> 4 & 15) + 1;
			bad |= k > 64;
		}
		at += before - b.count;
		if (k >= 64) {
			k = 0;
			blocks++;
			block = block + 1 == coded->block_count ? 0 : block + 1;
		}
	}
	*place = photo_place(at < to ? 0 : at - to, block, k);
	part->blocks = blocks;
	part->bad = bad;
	GPU_UNROLL
	for (int i = 0; i < PHOTO_COMPONENTS; i++) {
		part->sum[i] = sum[i];
		part->least[i] = least[i];
		part->most[i] = most[i];
	}
	return at;
}

/* Decodes a photograph's subsequence. place: where the one before ended, and then where this one does. */
GPU_INLINE void photo_decode_sub(const struct photo *photo, const struct carve_coded *coded,
	const struct coded_table *tables, const uint8_t *moved, uint32_t sub, uint32_t *place,
	struct photo_part *part)
{
	uint32_t from = sub * PHOTO_SUB_BITS, left = photo->bits - from;

	photo_decode(coded, tables, moved + photo->start, from,
		from + (left < PHOTO_SUB_BITS ? left : PHOTO_SUB_BITS), place, UINT32_MAX, part);
}

/* Whether all predictions in a stretch from the start are in bounds, and all codes known. */
GPU_INLINE bool photo_is_good(const struct carve_coded *coded, const struct photo_part *part)
{
	bool good = !part->bad;

	GPU_UNROLL
	for (int i = 0; i < PHOTO_COMPONENTS; i++)
		good &= part->least[i] >= -(int64_t)coded->bound[i] &&
			part->most[i] <= (int64_t)coded->bound[i];
	return good;
}

/* The end: the subsequences before `sub`, at whose end the place is, have the part, and the last of the
 * photograph's blocks is in `sub`. Whether that block ends in the last byte, and all is good. */
GPU_INLINE bool photo_ends(const struct photo *photo, const struct carve_coded *coded,
	const uint8_t *moved, uint32_t sub, uint32_t place, struct photo_part *before)
{
	struct photo_part last;
	uint32_t from = sub * PHOTO_SUB_BITS, left = photo->bits - from, at;

	at = photo_decode(coded, coded->tables, moved + photo->start, from,
		from + (left < PHOTO_SUB_BITS ? left : PHOTO_SUB_BITS), &place,
		(uint32_t)(photo->blocks - before->blocks), &last);
	photo_add(before, &last);
	return before->blocks == photo->blocks && at <= photo->bits && photo->bits - at < 8 &&
	       photo_is_good(coded, before);
}

#ifndef __CUDACC__
/* Summarises a tile of a text, as the device does: `len` bytes from `at` on, of `text_len`. */
struct photo_tile photo_summarise(
	const uint8_t *text, uint32_t text_len, uint32_t at, uint32_t len);
#endif

#ifdef __CUDACC__
extern "C" {
#endif
/* ---- the plan, on the host ---- */

/* A text on the device, that of a chunk. Texts of a plan follow each other in the image. */
struct photo_text {
	uint64_t offset;      /* in the image */
	uint32_t len;         /* of which there are tiles */
	const uint8_t *bytes; /* on the host */
	const uint8_t *device;
	const struct photo_tile *tiles;
};

enum photo_fit {
	PHOTO_ADDED,
	PHOTO_CUT,  /* its data goes on after the last text */
	PHOTO_LEFT, /* the plan has no room, or it is not worth it */
};

struct photo_plan {
	struct photo *photos;
	struct photo_run *runs;
	struct photo_piece *pieces;
	uint32_t photo_count, run_count, piece_count, sub_count;
	uint32_t moved_len;
	uint32_t photos_max, runs_max, pieces_max, moved_max;
	uint32_t len_min; /* coded bytes; photographs with fewer are left */
};

/* Adds a photograph whose data begins at `data` in the image. *end: where its marker is. */
enum photo_fit photo_plan_add(struct photo_plan *plan, const struct photo_text *texts,
	unsigned text_count, uint64_t data, const struct carve_coded *coded, uint64_t *end);
#ifdef __CUDACC__
}
#endif

#endif
