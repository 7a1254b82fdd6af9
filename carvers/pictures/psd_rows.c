/*
 * Rows that PackBits compressed (Apple Technical Note TN1023): a byte n below 128 is followed by n + 1 bytes as they are, one
 * above by a byte that is repeated 257 - n times. A table before the rows has the length of each, which has to decompress to
 * exactly as much as the picture is wide. Bytes of other rows rarely do: how rarely was measured (RESULTS.md).
 */
#include "psd.h"

#include <string.h>

#include "bytes.h"

#define WINDOW_LEN 4096
#define ROW_BITS 4         /* that a row proves (view_proved)... */
#define LIKE 16            /* ...unless one of these last rows before it has its length */
#define LENS 512           /* of rows that are read at once */
#define ROWS_NEAR 8        /* in which a joint is pinned that is not the only one */
#define STATE_SPACING 1024 /* bytes from one state to the next, or a few more */

uint64_t psd_count_len(const struct psd *psd)
{
	return psd->large ? 4 : 2;
}

void psd_save(struct psd *psd)
{
	const struct carve_state state = {
		.offset = psd->at, .len = sizeof(psd->place), .data = &psd->place
	};

	if (!view_wants_states(psd->view) || psd->at < psd->saved_at + STATE_SPACING ||
		psd->at > view_size(psd->view))
		return;
	psd->saved_at = psd->at;
	view_save(psd->view, &state);
}

void psd_load(struct psd *psd, const struct carve_state *state)
{
	memcpy(&psd->place, state->data, sizeof(psd->place));
	psd->at = psd->valid_end = psd->saved_at = state->offset;
}

/* How many bytes the compressed row [at, at + len) decompresses to; UINT64_MAX when it does not end
 * there. */
static uint64_t uncompressed_len(struct psd *psd, uint64_t at, uint64_t len)
{
	uint64_t end = at + len, out = 0, from = at;
	const uint8_t *p = NULL;
	size_t have = 0;

	while (at < end) {
		uint8_t code;

		if (at - from >= have) {
			from = at;
			have = end - at < WINDOW_LEN ? (size_t)(end - at) : WINDOW_LEN;
			p = view_peek(psd->view, at, have);
			if (!p)
				return UINT64_MAX;
		}
		code = p[at - from];
		if (code < 128) {
			out += code + 1u;
			at += code + 2u;
		} else {
			out += code > 128 ? 257u - code : 0;
			at += code > 128 ? 2 : 1;
		}
	}
	return at == end ? out : UINT64_MAX;
}

/* Declares that the row [at, end) fits. If only one joint is among bytes all of which are checked, or after the table begins,
 * the row shows that the piece after it belongs there; near: where some row before it begins. Where bytes are not checked it would show
 * that, too, but not where the joint is. */
static void prove(struct psd *psd, uint64_t near, uint64_t at, uint64_t end)
{
	const struct psd_rows *rows = &psd->place.rows;
	struct view *view = psd->view;

	if (!view_linked(view, rows->known, end, ROW_BITS) &&
		!view_linked(view, rows->table, end, ROW_BITS) &&
		!view_linked(view, near, end, ROW_BITS))
		view_proved(view, at, end, ROW_BITS);
}

/* Lengths of rows, copied: the view reads ahead where it is asked, and rows are elsewhere. */
struct lens {
	uint64_t from;
	size_t count;
	uint32_t items[LENS];
};

static bool find_len(struct psd *psd, struct lens *lens, uint64_t number, uint64_t *len)
{
	const struct psd_rows *rows = &psd->place.rows;
	size_t count_len = (size_t)psd_count_len(psd);

	if (number - lens->from >= lens->count) {
		uint64_t left = rows->count - number;
		size_t count = left < LENS ? (size_t)left : LENS;
		const uint8_t *p =
			view_peek(psd->view, rows->table + number * count_len, count * count_len);

		lens->count = 0;
		if (!p)
			return false;
		lens->from = number;
		lens->count = count;
		for (size_t i = 0; i < count; i++)
			lens->items[i] = psd->large ? be32(p + 4 * i) : be16(p + 2 * i);
	}
	*len = lens->items[number - lens->from];
	return true;
}

enum psd_step psd_check_rows(struct psd *psd)
{
	struct psd_rows *rows = &psd->place.rows;
	uint64_t before[LIKE] = { 0 }, starts[ROWS_NEAR] = { 0 }, first = rows->next;
	struct lens lens = { 0 };

	for (; rows->next < rows->count; rows->next++) {
		uint64_t number = rows->next - first, *start = &starts[number % ROWS_NEAR];
		uint64_t len, at = psd->at;
		bool is_like = false;

		psd_save(psd);
		if (!find_len(psd, &lens, rows->next, &len) || at + len > view_size(psd->view))
			return PSD_CUT;
		if (uncompressed_len(psd, at, len) != rows->len)
			return psd_broken(
				psd, at, "a row of another length than the picture is wide");
		for (int i = 0; i < LIKE; i++)
			is_like |= before[i] == len;
		if (!is_like && psd->in_pieces)
			prove(psd, number < ROWS_NEAR ? rows->table : *start, at, at + len);
		before[number % LIKE] = len;
		*start = at;
		psd->at += len;
		psd->valid_end = psd->at;
	}
	return PSD_ON;
}
