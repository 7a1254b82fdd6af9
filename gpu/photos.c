/*
 * The plan of a batch: where each photograph's data ends, which parts of which tiles it has, and where they
 * go. The device has looked at the bytes; what is here looks at its summaries, and at bytes only where a
 * photograph begins.
 */
#include "gpu/photos.h"

#include <string.h>

struct photo_tile photo_summarise(const uint8_t *text, uint32_t text_len, uint32_t at, uint32_t len)
{
	struct photo_tile tile = { PHOTO_NO_MARKER, 0 };

	for (uint32_t i = 0; i < len; i++) {
		if (i && text[at + i] == 0 && text[at + i - 1] == 0xff)
			tile.stuffed++;
		if (text[at + i] == 0xff && at + i + 1 < text_len && text[at + i + 1]) {
			tile.marker = (uint16_t)i;
			break;
		}
	}
	return tile;
}

/* A photograph while it is followed from tile to tile. */
struct walk {
	struct photo_plan *plan;
	uint32_t photo, to;
	bool after_ff;
};

/* The tile's summary for its bytes from `from` on. */
static struct photo_tile tile_from(const struct photo_text *text, uint32_t tile, uint32_t from)
{
	uint32_t at = tile * PHOTO_TILE, len = text->len - at;

	len = len < PHOTO_TILE ? len : PHOTO_TILE;
	if (from == at)
		return text->tiles[tile];
	struct photo_tile found = photo_summarise(text->bytes, text->len, from, len - (from - at));
	return found;
}

/* Adds what the photograph has of a tile, from `from` on. PHOTO_ADDED: it ends there, at *end. PHOTO_CUT: it
 * goes on. */
static enum photo_fit add_piece(struct walk *walk, const struct photo_text *text, uint32_t tile,
	uint32_t from, uint32_t *end)
{
	struct photo_plan *plan = walk->plan;
	struct photo_tile found = tile_from(text, tile, from);
	uint32_t tile_end = (tile + 1) * PHOTO_TILE, len;

	if (walk->after_ff && text->bytes[from]) /* a marker between two texts */
		return PHOTO_LEFT;
	tile_end = tile_end < text->len ? tile_end : text->len;
	len = found.marker == PHOTO_NO_MARKER ? tile_end - from : found.marker;
	if (plan->piece_count == plan->pieces_max || len > plan->moved_max - walk->to)
		return PHOTO_LEFT;
	if (len) {
		plan->pieces[plan->piece_count++] = (struct photo_piece){ text->device + from, len,
			walk->to, walk->photo, walk->after_ff };
		walk->to += len - found.stuffed - walk->after_ff;
		walk->after_ff = text->bytes[from + len - 1] == 0xff;
	}
	*end = from + len;
	return found.marker == PHOTO_NO_MARKER ? PHOTO_CUT : PHOTO_ADDED;
}

static enum photo_fit follow(struct walk *walk, const struct photo_text *texts, unsigned text_count,
	uint64_t data, uint64_t *end)
{
	for (unsigned i = 0; i < text_count; i++) {
		const struct photo_text *text = &texts[i];
		uint32_t from, at = 0;

		if (data - text->offset >= text->len && data >= text->offset)
			continue;
		from = data > text->offset ? (uint32_t)(data - text->offset) : 0;
		for (uint32_t tile = from / PHOTO_TILE; from < text->len; tile++) {
			enum photo_fit fit = add_piece(walk, text, tile, from, &at);

			if (fit != PHOTO_CUT) {
				*end = text->offset + at;
				return fit;
			}
			from = at;
		}
	}
	return PHOTO_CUT;
}

static uint32_t divide_up(uint32_t number, uint32_t by)
{
	return (number + by - 1) / by;
}

static enum photo_fit add_photo(struct photo_plan *plan, uint32_t len, uint32_t blocks)
{
	struct photo *photo = &plan->photos[plan->photo_count];
	uint32_t subs = divide_up(len * 8, PHOTO_SUB_BITS), runs = divide_up(subs, PHOTO_SUBS);

	if (runs > plan->runs_max - plan->run_count)
		return PHOTO_LEFT;
	*photo = (struct photo){ plan->moved_len, len * 8, plan->sub_count, subs, plan->run_count,
		runs, blocks };
	for (uint32_t i = 0; i < runs; i++)
		plan->runs[plan->run_count++] =
			(struct photo_run){ plan->photo_count, i * PHOTO_SUBS };
	plan->photo_count++;
	plan->sub_count += subs;
	plan->moved_len = (plan->moved_len + len + PHOTO_BLOCK_ROOM + 15) & ~15u;
	return PHOTO_ADDED;
}

/* What is decoded here: sequential data of up to three components without restart markers. */
static bool is_suited(const struct carve_coded *coded)
{
	for (uint32_t i = 0; i < coded->block_count; i++)
		if (coded->blocks[i].component >= PHOTO_COMPONENTS)
			return false;
	return coded->block_count && !coded->interval &&
	       coded->mcus <= UINT32_MAX / coded->block_count;
}

enum photo_fit photo_plan_add(struct photo_plan *plan, const struct photo_text *texts,
	unsigned text_count, uint64_t data, const struct carve_coded *coded, uint64_t *end)
{
	uint32_t pieces = plan->piece_count;
	struct walk walk = { plan, plan->photo_count, plan->moved_len, false };
	enum photo_fit fit;

	if (!is_suited(coded) || plan->photo_count == plan->photos_max || data < texts[0].offset ||
		plan->moved_max - plan->moved_len < 2 * PHOTO_BLOCK_ROOM)
		return PHOTO_LEFT;
	plan->moved_max -= 2 * PHOTO_BLOCK_ROOM;
	fit = follow(&walk, texts, text_count, data, end);
	plan->moved_max += 2 * PHOTO_BLOCK_ROOM;
	if (fit == PHOTO_ADDED && walk.to - plan->moved_len < plan->len_min)
		fit = PHOTO_LEFT;
	if (fit == PHOTO_ADDED)
		fit = add_photo(plan, walk.to - plan->moved_len,
			(uint32_t)coded->mcus * coded->block_count);
	if (fit != PHOTO_ADDED)
		plan->piece_count = pieces;
	return fit;
}
