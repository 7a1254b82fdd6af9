/* What the GPU does with a photograph (gpu/photos.cu), by the same functions, one thread after the other. */
#ifndef BURIN_TESTS_PHOTOS_CASE_H
#define BURIN_TESTS_PHOTOS_CASE_H

#include <stdlib.h>
#include <string.h>

#include "gpu/photos.h"

/* A text whose device is the host. The caller frees its tiles. */
static __attribute__((unused)) struct photo_text photo_text_on_host(
	const uint8_t *bytes, uint32_t len, uint32_t text_len, uint64_t offset)
{
	uint32_t count = (len + PHOTO_TILE - 1) / PHOTO_TILE;
	struct photo_tile *tiles = calloc(count + 1, sizeof(*tiles));

	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = i * PHOTO_TILE, left = len - at;

		tiles[i] =
			photo_summarise(bytes, text_len, at, left < PHOTO_TILE ? left : PHOTO_TILE);
	}
	return (struct photo_text){ offset, len, bytes, bytes, tiles };
}

/* Moves the plan's pieces. Whether there were zeros in a row. */
static __attribute__((unused)) bool photo_move_on_host(
	const struct photo_plan *plan, uint8_t *moved)
{
	bool zeros = false;

	for (uint32_t i = 0; i < plan->piece_count; i++) {
		const struct photo_piece *piece = &plan->pieces[i];
		uint8_t before = piece->after_ff ? 0xff : 0, *to = moved + piece->to;
		unsigned in_row = 0;

		for (uint32_t at = 0; at < piece->len; at++) {
			uint8_t byte = piece->from[at];

			if (byte || before != 0xff)
				*to++ = byte;
			in_row = byte ? 0 : in_row + 1;
			zeros |= in_row == 6;
			before = byte;
		}
	}
	return zeros;
}

static __attribute__((unused)) bool photo_judge_on_host(
	const struct photo *photo, const struct carve_coded *coded, const uint8_t *moved)
{
	struct photo_part before = { 0 }, part;
	uint32_t place = 0, sub = 0, *guessed = calloc(photo->subs, sizeof(*guessed));
	bool good = false;

	/* First all from a guess, and then from where the one before ends, as long as that differs. */
	for (uint32_t i = 0; i < photo->subs; i++)
		photo_decode_sub(photo, coded, coded->tables, moved, i, &guessed[i], &part);
	for (; sub < photo->subs; sub++) {
		uint32_t end = place;

		photo_decode_sub(photo, coded, coded->tables, moved, sub, &end, &part);
		if (place == 0 && end != guessed[sub])
			abort(); /* the same start, and another end */
		if (before.blocks + part.blocks >= photo->blocks) {
			good = photo_ends(photo, coded, moved, sub, place, &before);
			break;
		}
		photo_add(&before, &part);
		place = end;
	}
	free(guessed);
	return good;
}

/* Where the data ends, if all of it is valid; else 0. *cut: it goes on after the texts. */
static __attribute__((unused)) uint64_t photo_decode_on_host(const struct photo_text *texts,
	unsigned count, uint64_t data, const struct carve_coded *coded, bool *cut)
{
	struct photo photo;
	struct photo_run *runs;
	struct photo_plan plan = { .photos = &photo, .photos_max = 1 };
	uint8_t *moved;
	uint64_t end = 0;
	enum photo_fit fit;

	for (unsigned i = 0; i < count; i++)
		plan.moved_max += texts[i].len;
	plan.moved_max += 1024;
	plan.runs_max = plan.moved_max / PHOTO_SUB_BITS + 2;
	plan.pieces_max = plan.moved_max / PHOTO_TILE + 4;
	plan.runs = runs = calloc(plan.runs_max, sizeof(*plan.runs));
	plan.pieces = calloc(plan.pieces_max, sizeof(*plan.pieces));
	moved = aligned_alloc(16, (plan.moved_max + 31) & ~15u);
	memset(moved, 0x5a, plan.moved_max);
	fit = photo_plan_add(&plan, texts, count, data, coded, &end);
	*cut = fit == PHOTO_CUT;
	if (fit != PHOTO_ADDED || photo_move_on_host(&plan, moved) ||
		!photo_judge_on_host(&photo, coded, moved))
		end = 0;
	free(moved);
	free(runs);
	free(plan.pieces);
	return end;
}

#endif
