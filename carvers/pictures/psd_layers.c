/*
 * The section of layers and masks: first the layer info, with its own length (0 when there are no
 * layers): their number (negative: the merged picture's transparency comes first), a record for
 * each, then the pixels of each channel of each layer, in order. After the layer info: the global
 * mask, and blocks of '8BIM' or '8B64', a key, a length and data. What follows the layer info is
 * not checked.
 *
 *	record:  rectangle (4 times 4 bytes), number of channels, for each its id (2) and its
 *	         length (4, PSB: 8); '8BIM', blend mode, 4 bytes, length of the rest
 *	channel: compression (2 bytes), then rows
 */
#include "psd.h"

#include <string.h>

#include "bytes.h"

#define RECT_LEN 16
#define CHANNELS_MAX 60
#define LAYERS_MAX 8192
#define COMPRESSION_MAX 3

static uint64_t channel_len(const struct psd *psd)
{
	return psd->large ? 10 : 6;
}

/* Moves *at from a record that was read to the next; sets *rows to the layer's height, *count to
 * its channels. */
static enum psd_step skip_record(
	struct psd *psd, uint64_t *at, uint64_t end, uint32_t *rows, uint32_t *count)
{
	const uint8_t *p = view_peek(psd->view, *at, RECT_LEN + 2);
	uint64_t tail;

	if (!p)
		return PSD_CUT;
	*rows = be32(p + 8) - be32(p);
	*count = be16(p + RECT_LEN);
	if (*count > CHANNELS_MAX)
		return psd_broken(psd, *at, "a layer with too many channels");
	tail = *at + RECT_LEN + 2 + *count * channel_len(psd);
	p = view_peek(psd->view, tail, 16);
	if (!p)
		return PSD_CUT;
	if (memcmp(p, "8BIM", 4) != 0)
		return psd_broken(psd, *at, "no layer");
	*at = tail + 16 + be32(p + 12);
	return *at <= end ? PSD_ON : psd_broken(psd, tail, "a layer longer than its section");
}

/* Checks the rows of one compressed channel: their lengths have to add up to its own. */
static enum psd_step check_rows(struct psd *psd, uint64_t len, uint32_t rows)
{
	int count_len = psd->large ? 4 : 2;
	uint64_t sum = 2 + (uint64_t)rows * (uint64_t)count_len, start = psd->at, one;

	if (sum > len)
		return PSD_ON; /* a mask, which has a size of its own */
	psd->at += 2;
	for (uint32_t i = 0; i < rows; i++) {
		if (!psd_read(psd, count_len, &one))
			return PSD_CUT;
		sum += one;
	}
	return sum == len ? PSD_ON
			  : psd_broken(psd, start, "a channel of another length than its rows");
}

static enum psd_step check_channel(
	struct psd *psd, const uint8_t *entry, uint32_t rows, uint64_t end)
{
	uint16_t id = be16(entry);
	uint64_t len = psd->large ? be64(entry + 2) : be32(entry + 2), start = psd->at, compression;
	enum psd_step step = PSD_ON;

	if (len > end - start)
		return psd_broken(psd, start, "a channel longer than its section");
	/* Masks, below -1, have rows of their own. */
	if (len >= 2) {
		if (!psd_read(psd, 2, &compression))
			return PSD_CUT;
		psd->at = start;
		if (compression > COMPRESSION_MAX)
			return psd_broken(psd, start, "a channel with an unknown compression");
		if (compression == 1 && (id < 0x8000 || id == 0xffff))
			step = check_rows(psd, len, rows);
	}
	/* The channel's own length leads to the next one. */
	if (step == PSD_BROKEN && !psd->odd) {
		psd->odd = psd->problem;
		psd->odd_at = psd->at;
		psd->odd_valid_end = psd->valid_end;
	}
	if (step == PSD_BROKEN)
		step = PSD_ON;
	psd->at = start + len;
	view_unverified(psd->view, start + 2, psd->at);
	if (step == PSD_ON && psd->at <= view_size(psd->view))
		psd->valid_end = psd->at;
	return step == PSD_ON && psd->at > view_size(psd->view) ? PSD_CUT : step;
}

/* Skips the channels of all layers, whose records start at `record`; psd->at is at the first one's
 * pixels. */
static enum psd_step skip_channels(struct psd *psd, uint64_t record, uint32_t layers, uint64_t end)
{
	for (uint32_t i = 0; i < layers; i++) {
		uint64_t entries = record + RECT_LEN + 2;
		uint32_t rows = 0, count = 0;
		enum psd_step step = skip_record(psd, &record, end, &rows, &count);

		for (uint32_t j = 0; j < count && step == PSD_ON; j++) {
			const uint8_t *p = view_peek(psd->view, entries + j * channel_len(psd),
				(size_t)channel_len(psd));

			step = p ? check_channel(psd, p, rows, end) : PSD_CUT;
		}
		if (step != PSD_ON)
			return step;
	}
	return PSD_ON;
}

enum psd_step psd_skip_layers(struct psd *psd, uint64_t end)
{
	uint64_t len, value, record;
	uint32_t layers, rows, count;
	enum psd_step step = PSD_ON;

	if (!psd_read(psd, psd->large ? 8 : 4, &len))
		return PSD_CUT;
	if (!len)
		return PSD_ON;
	if (len > end - psd->at || len < 2)
		return psd_broken(psd, psd->at, "an impossible length of layers");
	end = psd->at + len;
	if (!psd_read(psd, 2, &value))
		return PSD_CUT;
	layers = value < 0x8000 ? (uint32_t)value : 0x10000 - (uint32_t)value;
	if (layers > LAYERS_MAX)
		return psd_broken(psd, psd->at, "too many layers");
	record = psd->at;
	for (uint32_t i = 0; i < layers && step == PSD_ON; i++) {
		step = skip_record(psd, &psd->at, end, &rows, &count);
		if (step == PSD_ON && psd->at <= view_size(psd->view))
			psd->valid_end = psd->at;
	}
	return step == PSD_ON ? skip_channels(psd, record, layers, end) : step;
}
