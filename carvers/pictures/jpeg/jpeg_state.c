/*
 * States of a check in the midst of a scan, from which other checks go on with other bytes.
 *
 * What a refinement scan's bits mean depends on the coefficients that earlier scans found. Of these a state has
 * only those of the blocks that come next, as many as fit into it: bytes that are not this picture's are nearly
 * always refused within them. And no state has what later scans would need. Where a check needs
 * more it starts from the beginning.
 */
#include <string.h>

#include "jpeg_decoder.h"

/* Bytes from a state with coefficients to the next one. */
#define LARGE_APART 1024

struct saved {
	uint64_t data; /* where the scan's data starts */
	struct jpeg_place place;
	uint64_t mcu;
	uint64_t interval_at;
	uint64_t extra_at;
	int32_t dc[JPEG_COMPONENTS];
	int32_t zero_blocks;
	uint32_t eob_run;
	uint32_t scan;   /* its number, from 1; the ends of those before it follow... */
	uint32_t blocks; /* ...and the history of so many blocks, from the MCU on */
};

#define SAVED_MAX (CARVE_STATE_MAX / sizeof(uint64_t))

_Static_assert(sizeof(struct saved) % sizeof(uint64_t) == 0, "words follow");
_Static_assert(sizeof(struct saved) / sizeof(uint64_t) + JPEG_SCAN_ENDS < SAVED_MAX / 2, "a state");

static bool has_history(const struct jpeg *jpeg)
{
	return jpeg->sof == JPEG_SOF2 && jpeg->spectral_first;
}

static bool is_refinement(const struct jpeg *jpeg)
{
	return has_history(jpeg) && jpeg->approx_high;
}

/* The history of an MCU, in a scan of one component. */
static uint64_t *history_of(const struct jpeg *jpeg, uint64_t mcu)
{
	const struct jpeg_component *c = jpeg->scan[0];

	return c->history + mcu / c->across * c->stride + mcu % c->across;
}

void jpeg_state_save(struct jpeg_decoder *d, uint64_t mcu, uint64_t count)
{
	struct jpeg *jpeg = d->jpeg;
	struct saved saved = { .data = d->data,
		.place = jpeg_bits_place(&d->bits),
		.mcu = mcu,
		.interval_at = d->interval_at,
		.extra_at = jpeg->extra_at,
		.zero_blocks = d->zero_blocks,
		.eob_run = d->eob_run,
		.scan = (uint32_t)jpeg->scan_count };
	struct carve_state state = { .offset = jpeg_bits_end_of(&d->bits, saved.place) };
	uint64_t words[SAVED_MAX];
	size_t len = sizeof(saved) / sizeof(*words);

	if (!saved.scan || saved.scan > JPEG_SCAN_ENDS ||
		(is_refinement(jpeg) && state.offset < jpeg->saved_at + LARGE_APART))
		return;
	jpeg->saved_at = state.offset;
	memcpy(saved.dc, d->dc, sizeof(saved.dc));
	memcpy(words + len, jpeg->scan_ends, (saved.scan - 1) * sizeof(*words));
	len += saved.scan - 1;
	for (; is_refinement(jpeg) && mcu < count && len < SAVED_MAX; mcu++, saved.blocks++)
		words[len++] = *history_of(jpeg, mcu);
	memcpy(words, &saved, sizeof(saved));
	state.len = len * sizeof(*words);
	state.data = words;
	view_save(jpeg->view, &state);
}

/* The state that the check goes on from, and what follows it. NULL: there is none. */
static const uint8_t *resumed(const struct jpeg *jpeg, struct saved *saved)
{
	if (!jpeg->resume || jpeg->resume->len < sizeof(*saved))
		return NULL;
	memcpy(saved, jpeg->resume->data, sizeof(*saved));
	return (const uint8_t *)jpeg->resume->data + sizeof(*saved);
}

bool jpeg_state_passes(struct jpeg *jpeg)
{
	struct saved saved;
	const uint8_t *ends = resumed(jpeg, &saved);

	if (!ends || (uint32_t)jpeg->scan_count >= saved.scan)
		return false;
	memcpy(&jpeg->at, ends + (size_t)(jpeg->scan_count - 1) * sizeof(jpeg->at),
		sizeof(jpeg->at));
	jpeg->extra_at = saved.extra_at;
	return true;
}

uint64_t jpeg_state_load(struct jpeg_decoder *d, uint64_t count, uint64_t *until)
{
	struct jpeg *jpeg = d->jpeg;
	struct saved saved;
	const uint8_t *words = resumed(jpeg, &saved);

	*until = UINT64_MAX;
	if (!words || saved.scan != (uint32_t)jpeg->scan_count || saved.data != d->data) {
		jpeg_bits_jump(&d->bits, d->data);
		return 0;
	}
	words += (size_t)(saved.scan - 1) * sizeof(uint64_t);
	memcpy(d->dc, saved.dc, sizeof(d->dc));
	d->zero_blocks = saved.zero_blocks;
	d->eob_run = saved.eob_run;
	d->interval_at = saved.interval_at;
	d->began_at = saved.place.at;
	jpeg->extra_at = saved.extra_at;
	jpeg_bits_go_on(&d->bits, saved.place);
	if (is_refinement(jpeg))
		*until = saved.mcu + saved.blocks;
	else if (jpeg->sof == JPEG_SOF2 && (saved.scan > 1 || has_history(jpeg)))
		*until = count;
	for (uint32_t i = 0; i < saved.blocks; i++)
		memcpy(history_of(jpeg, saved.mcu + i), words + i * sizeof(uint64_t),
			sizeof(uint64_t));
	return saved.mcu;
}
