/*
 * The section of layers and masks: first the layer info, with its own length (0 when there are no
 * layers): their number (negative: the merged picture's transparency comes first), a record for
 * each, then the pixels of each channel of each layer, in order. After the layer info: the global
 * mask, and blocks of '8BIM' or '8B64', a key, a length and data; those with keys Lr16 and Lr32 are the layer info of
 * deeper pictures. What follows the layer info is only checked where a file is put together.
 *
 *	record:  rectangle (4 times 4 bytes), number of channels, for each its id (2) and its
 *	         length (4, PSB: 8); '8BIM', blend mode, 4 bytes, length of the rest: length and
 *	         rectangle of a mask
 *	channel: compression (2 bytes), then rows
 */
#include "psd.h"

#include <string.h>

#include "bytes.h"

#define RECT_LEN 16
#define CHANNELS_MAX 60
#define LAYERS_MAX 8192
#define COMPRESSION_MAX 3
#define BLOCK_LEN 12

static uint64_t channel_len(const struct psd *psd)
{
	return psd->large ? 10 : 6;
}

struct layer {
	uint64_t entries; /* of its channels */
	uint64_t next;    /* record */
	uint32_t rows, width;
	uint32_t mask_rows, mask_width; /* 0: not known */
	uint32_t channels;
};

static enum psd_step read_record(struct psd *psd, uint64_t at, uint64_t end, struct layer *layer)
{
	const uint8_t *p = view_peek(psd->view, at, RECT_LEN + 2);
	uint64_t tail;

	*layer = (struct layer){ 0 };
	if (!p)
		return PSD_CUT;
	layer->rows = be32(p + 8) - be32(p);
	layer->width = be32(p + 12) - be32(p + 4);
	layer->channels = be16(p + RECT_LEN);
	layer->entries = at + RECT_LEN + 2;
	if (layer->channels > CHANNELS_MAX)
		return psd_broken(psd, at, "a layer with too many channels");
	tail = layer->entries + layer->channels * channel_len(psd);
	p = view_peek(psd->view, tail, 16);
	if (!p)
		return PSD_CUT;
	if (memcmp(p, "8BIM", 4) != 0)
		return psd_broken(psd, at, "no layer");
	layer->next = tail + 16 + be32(p + 12);
	if (layer->next > end)
		return psd_broken(psd, tail, "a layer longer than its section");
	p = psd->in_pieces ? view_peek(psd->view, tail + 16, 4 + RECT_LEN) : NULL;
	if (p && be32(p) >= RECT_LEN) {
		layer->mask_rows = be32(p + 12) - be32(p + 4);
		layer->mask_width = be32(p + 16) - be32(p + 8);
	}
	return PSD_ON;
}

/* Where the rows of one compressed channel begin: their lengths have to add up to its own. *known: whether
 * they do. */
static enum psd_step check_table(struct psd *psd, uint64_t len, uint32_t rows, bool *known)
{
	int count_len = (int)psd_count_len(psd);
	uint64_t sum = 2 + (uint64_t)rows * (uint64_t)count_len, start = psd->at, one;

	*known = false;
	if (sum > len)
		return PSD_ON; /* a mask, which has a size of its own */
	psd->at += 2;
	for (uint32_t i = 0; i < rows; i++) {
		if (!psd_read(psd, count_len, &one))
			return PSD_CUT;
		sum += one;
	}
	*known = sum == len;
	return sum == len ? PSD_ON
			  : psd_broken(psd, start, "a channel of another length than its rows");
}

/* Checks the rows of a channel whose compression is at psd->at, where that is known to be right. */
static enum psd_step check_content(
	struct psd *psd, const struct layer *layer, uint16_t id, uint64_t len, uint64_t compression)
{
	/* Masks, below -1, have rows of their own. */
	bool is_mask = id >= 0x8000 && id != 0xffff, known;
	uint32_t rows = is_mask ? layer->mask_rows : layer->rows;
	uint32_t width = is_mask ? layer->mask_width : layer->width;
	uint64_t start = psd->at;
	enum psd_step step;

	if (compression == 1 && (!is_mask || psd->in_pieces)) {
		step = check_table(psd, len, rows, &known);
		if (is_mask && step == PSD_BROKEN)
			return PSD_ON;
		if (step != PSD_ON || !known || !psd->in_pieces)
			return step;
		psd->place.stage = PSD_CHANNEL_ROWS;
		psd->place.rows = (struct psd_rows){ .known = psd->place.checked,
			.table = start + 2,
			.count = rows,
			.len = psd_row_len(psd, width) };
		return psd_check_rows(psd);
	}
	if (compression >= 2 && psd->in_pieces && len > 2) {
		psd->at += 2;
		return psd_check_deflated(psd, start + len);
	}
	return PSD_ON;
}

/* The channel was followed to its end, or to where that could be. */
static enum psd_step end_channel(struct psd *psd, enum psd_step step)
{
	/* The channel's own length leads to the next one. */
	if (step == PSD_BROKEN && !psd->in_pieces) {
		if (!psd->odd) {
			psd->odd = psd->problem;
			psd->odd_at = psd->at;
			psd->odd_valid_end = psd->valid_end;
		}
		step = PSD_ON;
	}
	if (step != PSD_ON)
		return step;
	if (psd->at < psd->place.channel_end)
		psd->place.checked = psd->place.channel_end;
	psd->at = psd->place.channel_end;
	psd->place.channel++;
	psd->place.stage = PSD_CHANNELS;
	if (psd->at <= view_size(psd->view))
		psd->valid_end = psd->at;
	psd_save(psd);
	return psd->at > view_size(psd->view) ? PSD_CUT : PSD_ON;
}

static enum psd_step check_channel(struct psd *psd, const struct layer *layer, const uint8_t *entry)
{
	uint16_t id = be16(entry);
	uint64_t len = psd->large ? be64(entry + 2) : be32(entry + 2), start = psd->at, compression;
	enum psd_step step = PSD_ON;

	if (len > psd->place.info_end - start)
		return psd_broken(psd, start, "a channel longer than its section");
	psd->place.channel_end = start + len;
	view_unverified(psd->view, start + 2, start + len);
	if (len >= 2) {
		if (!psd_read(psd, 2, &compression))
			return PSD_CUT;
		psd->at = start;
		if (compression > COMPRESSION_MAX)
			return psd_broken(psd, start, "a channel with an unknown compression");
		step = check_content(psd, layer, id, len, compression);
		if (len == 2)
			psd->at = psd->place.channel_end;
	}
	return end_channel(psd, step);
}

/* Skips the channels of all layers from psd->place on; psd->at is at the next one's pixels. */
static enum psd_step skip_channels(struct psd *psd)
{
	struct psd_place *place = &psd->place;

	for (; place->layer < place->layers; place->layer++, place->channel = 0) {
		struct layer layer;
		enum psd_step step = read_record(psd, place->record, place->info_end, &layer);

		while (step == PSD_ON && place->channel < layer.channels) {
			const uint8_t *p = view_peek(psd->view,
				layer.entries + place->channel * channel_len(psd),
				(size_t)channel_len(psd));

			step = p ? check_channel(psd, &layer, p) : PSD_CUT;
		}
		if (step != PSD_ON)
			return step;
		place->record = layer.next;
	}
	return PSD_ON;
}

/* Reads the records of the layers, up to psd->place.info_end. */
static enum psd_step read_records(struct psd *psd)
{
	uint64_t value;
	struct layer layer;
	enum psd_step step = PSD_ON;

	if (!psd_read(psd, 2, &value))
		return PSD_CUT;
	psd->place.layers = value < 0x8000 ? (uint32_t)value : 0x10000 - (uint32_t)value;
	if (psd->place.layers > LAYERS_MAX)
		return psd_broken(psd, psd->at, "too many layers");
	psd->place.record = psd->at;
	psd->place.layer = psd->place.channel = 0;
	psd->place.stage = PSD_CHANNELS;
	for (uint32_t i = 0; i < psd->place.layers && step == PSD_ON; i++) {
		step = read_record(psd, psd->at, psd->place.info_end, &layer);
		if (step == PSD_ON)
			psd->at = layer.next;
		if (step == PSD_ON && psd->at <= view_size(psd->view))
			psd->valid_end = psd->at;
	}
	/* Nothing verifies most of a record. */
	psd->place.checked = psd->at;
	return step;
}

static bool is_deep_info(const uint8_t *key)
{
	return memcmp(key, "Lr16", 4) == 0 || memcmp(key, "Lr32", 4) == 0;
}

/* Whether the length of a block with this key has 8 bytes in a PSB. */
static bool has_long_len(const uint8_t *key)
{
	static const char keys[][5] = { "LMsk", "Lr16", "Lr32", "Layr", "Mt16", "Mt32", "Mtrn",
		"Alph", "FMsk", "lnk2", "FEid", "FXid", "PxSD", "cinf" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (memcmp(key, keys[i], 4) == 0)
			return true;
	return false;
}

static bool is_block(const uint8_t *p)
{
	return memcmp(p, "8BIM", 4) == 0 || memcmp(p, "8B64", 4) == 0;
}

/* After the channels of all layers: to where the layer info ends. */
static void leave_channels(struct psd *psd)
{
	if (psd->at < psd->place.info_end)
		psd->place.checked = psd->place.info_end;
	psd->at = psd->place.info_end;
}

/* Skips the blocks after the layers; those of 4 bytes each may be padded to a multiple of 4. */
static enum psd_step skip_blocks(struct psd *psd)
{
	uint64_t end = psd->place.section_end, len;
	enum psd_step step;

	while (end - psd->at >= BLOCK_LEN) {
		const uint8_t *p = view_peek(psd->view, psd->at, BLOCK_LEN + 4);
		uint8_t key[4];
		int len_len;

		if (!p)
			return PSD_CUT;
		for (int pad = 0; pad < 4 && !is_block(p); pad++, p++)
			psd->at++;
		/* Lengths of some blocks in a PSB are not known. */
		if (!is_block(p))
			return psd->large ? PSD_ON : psd_broken(psd, psd->at, "no block");
		memcpy(key, p + 4, sizeof(key));
		len_len = psd->large && (has_long_len(key) || p[2] == '6') ? 8 : 4;
		psd->valid_end = psd->at;
		psd->at += 8;
		if (!psd_read(psd, len_len, &len))
			return PSD_CUT;
		if (psd->at > end || len > end - psd->at)
			return psd_broken(psd, psd->at, "a block longer than its section");
		if (is_deep_info(key) && len >= 2) {
			psd->place.info = psd->at - (uint64_t)len_len;
			psd->place.info_end = psd->at + len;
			psd->place.is_deep = true;
			step = read_records(psd);
			if (step == PSD_ON)
				step = skip_channels(psd);
			if (step != PSD_ON)
				return step;
			leave_channels(psd);
		} else {
			psd->at += len;
			psd->place.checked = psd->at;
		}
	}
	return PSD_ON;
}

/* Skips what follows the layers in their section. */
static enum psd_step skip_rest(struct psd *psd)
{
	uint64_t len;

	if (!psd->in_pieces || psd->place.section_end - psd->at < 4)
		return PSD_ON;
	if (!psd_read(psd, 4, &len))
		return PSD_CUT;
	if (len > psd->place.section_end - psd->at)
		return psd_broken(psd, psd->at, "a mask longer than its section");
	psd->at += len;
	psd->place.checked = psd->at;
	return skip_blocks(psd);
}

/* The channels of a layer info were skipped: goes on after it. */
static enum psd_step leave_info(struct psd *psd)
{
	if (!psd->in_pieces)
		return PSD_ON;
	leave_channels(psd);
	return psd->place.is_deep ? skip_blocks(psd) : skip_rest(psd);
}

enum psd_step psd_skip_layers(struct psd *psd)
{
	uint64_t len, end = psd->place.section_end;
	enum psd_step step;

	if (!psd_read(psd, psd->large ? 8 : 4, &len))
		return PSD_CUT;
	if (!len)
		return skip_rest(psd);
	if (len > end - psd->at || len < 2)
		return psd_broken(psd, psd->at, "an impossible length of layers");
	psd->place.info_end = psd->at + len;
	step = read_records(psd);
	if (step == PSD_ON)
		step = skip_channels(psd);
	return step == PSD_ON ? leave_info(psd) : step;
}

enum psd_step psd_go_on(struct psd *psd)
{
	enum psd_step step = PSD_ON;

	if (psd->place.stage == PSD_CHANNEL_ROWS)
		step = end_channel(psd, psd_check_rows(psd));
	if (step == PSD_ON)
		step = skip_channels(psd);
	return step == PSD_ON ? leave_info(psd) : step;
}
