/*
 * Describes the place in a sequential scan where the view ends (coded.h), or where the scan begins: what is
 * known before it of the block in which it is, the predictions, and the tables of the scan.
 */
#include "coded.h"

#include <string.h>

#include "jpeg_decoder.h"

_Static_assert(CODED_BITS == JPEG_ONE_BITS, "tables are copied");

/* The number of a table in what is described, which is copied there. -1: there are too many. */
static int add_table(struct jpeg_decoder *d, const struct jpeg_one *one, unsigned *count,
	const struct jpeg_one *known[CODED_TABLES])
{
	struct coded_table *table = &d->jpeg->coded->tables[*count];

	for (unsigned i = 0; i < *count; i++)
		if (known[i] == one)
			return (int)i;
	if (*count == CODED_TABLES)
		return -1;
	memcpy(table->fast, one->fast, sizeof(table->fast));
	memcpy(table->limit, one->limit, sizeof(table->limit));
	memcpy(table->first, one->first, sizeof(table->first));
	memcpy(table->values, one->values, sizeof(table->values));
	known[*count] = one;
	return (int)(*count)++;
}

static bool add_blocks(struct jpeg_decoder *d)
{
	struct jpeg *jpeg = d->jpeg;
	struct carve_coded *coded = jpeg->coded;
	const struct jpeg_one *known[CODED_TABLES];
	unsigned count = 0;

	for (int i = 0; i < d->block_count && i < CODED_BLOCKS; i++) {
		const struct jpeg_block *block = &d->blocks[i];
		const struct jpeg_component *component = block->component;
		int dc = add_table(d, &d->tables->one[0][component->dc_table], &count, known);
		int ac = add_table(d, block->one, &count, known);

		if (dc < 0 || ac < 0)
			return false;
		coded->blocks[i] = (struct coded_block){ (uint8_t)dc, (uint8_t)ac,
			(uint8_t)(component - jpeg->components) };
		coded->bound[component - jpeg->components] = block->bound;
	}
	return d->block_count <= CODED_BLOCKS;
}

/* Copies the bits that the block has before the view's end. */
static bool add_bits(struct jpeg_decoder *d)
{
	struct carve_coded *coded = d->jpeg->coded;
	struct jpeg_place place = jpeg_bits_place(&d->bits);
	uint64_t end = view_size(d->jpeg->view);
	const uint8_t *bytes;
	uint32_t len = 0;

	if (end - place.at > CODED_BEFORE)
		return false;
	bytes = view_peek(d->jpeg->view, place.at, (size_t)(end - place.at));
	for (uint64_t i = 0; bytes && i < end - place.at; i++) {
		coded->before[len++] = bytes[i];
		if (bytes[i] == 0xff && i + 1 < end - place.at)
			i++;
		else
			coded->after_ff = bytes[i] == 0xff;
	}
	coded->bits_before = len * 8 - (len ? place.bit : 0);
	return bytes || end == place.at;
}

void jpeg_describe(struct jpeg_decoder *d, unsigned block, uint64_t mcus, uint64_t mcu)
{
	struct carve_coded *coded = d->jpeg->coded;
	uint32_t interval = d->jpeg->restart_interval;
	bool begins = coded->begins;

	memset(coded, 0, sizeof(*coded));
	if (!add_blocks(d) || (!begins && !add_bits(d)))
		return;
	coded->begins = begins;
	coded->data = d->data;
	coded->block = block;
	coded->interval = interval;
	coded->restarts = interval ? (uint32_t)(mcu / interval) : 0;
	coded->mcus = mcus;
	coded->mcus_before_restart = interval ? interval - mcu % interval : UINT64_MAX;
	for (int i = 0; i < JPEG_COMPONENTS; i++)
		coded->dc[i] = d->dc[i];
	coded->block_count = (uint32_t)d->block_count;
}
