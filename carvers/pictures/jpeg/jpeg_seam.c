#include "jpeg_seam.h"

#include <stdlib.h>
#include <string.h>

/* Rows whose changes are known before a joint's can be judged. */
#define ROWS_MIN 4
/* Measured on ten photographs and drawings with common tables: of the true joints 99 % are no rougher
 * than this, of others 12 %. */
#define FITS 24
#define FITS_BITS 3
#define SAMPLES_MIN 32
/* Where a picture is flat: what at least counts as the usual change of a DC that is multiplied by its
 * quantization (8 times a pixel's). */
#define USUAL_MIN 4

void jpeg_seam_start(struct jpeg_seam *seam, struct jpeg_decoder *d, uint64_t across)
{
	const struct jpeg *jpeg = d->jpeg;
	uint64_t line = 0;

	if (seam->trace)
		return;
	seam->joint = UINT64_MAX;
	seam->across = across;
	for (int i = 0; i < jpeg->in_scan; i++) {
		seam->starts[i] = (uint32_t)line;
		line += across * (jpeg->in_scan == 1 ? 1 : jpeg->scan[i]->h);
	}
	seam->rows_max = jpeg->in_scan == 1 ? jpeg->scan[0]->down : jpeg->mcus_down;
	seam->trace = malloc(JPEG_MCU_BLOCKS * sizeof(*seam->trace));
	seam->above = malloc(line * sizeof(*seam->above));
	seam->bottom = malloc(line * sizeof(*seam->bottom));
	seam->rows = malloc(seam->rows_max * sizeof(*seam->rows));
	seam->row_changes = malloc(line * sizeof(*seam->row_changes));
	seam->joint_changes = malloc(line * sizeof(*seam->joint_changes));
	if (!seam->row_changes || !seam->joint_changes || !seam->trace || !seam->above ||
		!seam->bottom || !seam->rows) {
		seam->no_memory = true;
		view_no_memory(jpeg->view);
		return;
	}
	d->trace = seam->trace;
	d->run = jpeg_fast_trace;
}

/* The first MCU with bits after the joint: where it ends after it. */
static void find_joint(struct jpeg_seam *seam, const struct jpeg_decoder *d, uint64_t mcu)
{
	/* What was copied for the decoder is at most that far ahead. */
	if (seam->joint == UINT64_MAX && d->bits.at >= seam->at &&
		jpeg_bits_offset(&d->bits) > seam->at) {
		seam->joint = mcu;
		seam->joint_row = seam->rows_count;
	}
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Edges in the picture change some blocks of a row much, a joint that does not fit changes all. */
static uint32_t median(uint32_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

static void end_row(struct jpeg_seam *seam)
{
	int32_t *above = seam->above;

	if (seam->row_count)
		seam->rows[seam->rows_count++] = median(seam->row_changes, seam->row_count);
	seam->row_count = 0;
	seam->above = seam->bottom;
	seam->bottom = above;
}

void jpeg_seam_add(struct jpeg_seam *seam, struct jpeg_decoder *d, uint64_t mcu)
{
	const struct jpeg *jpeg = d->jpeg;
	const int32_t *block = seam->trace;
	uint64_t row = mcu / seam->across, column = mcu % seam->across;
	bool joint;

	if (seam->no_memory)
		return;
	d->trace = seam->trace;
	find_joint(seam, d, mcu);
	joint = seam->joint <= mcu && mcu - seam->joint < seam->across;
	for (int i = 0; i < jpeg->in_scan; i++) {
		const struct jpeg_component *c = jpeg->scan[i];
		uint32_t h = jpeg->in_scan == 1 ? 1 : c->h, v = jpeg->in_scan == 1 ? 1 : c->v;
		uint32_t quant = jpeg->dc_quant[c->quant] ? jpeg->dc_quant[c->quant] : 1;
		uint64_t at = seam->starts[i] + column * h;

		for (uint32_t x = 0; x < h; x++) {
			uint32_t change = (uint32_t)abs(block[x] - seam->above[at + x]) * quant;

			if (row && joint)
				seam->joint_changes[seam->joint_count++] = change;
			else if (row)
				seam->row_changes[seam->row_count++] = change;
			seam->bottom[at + x] = block[(v - 1) * h + x];
		}
		block += h * v;
	}
	if (column == seam->across - 1)
		end_row(seam);
}

bool jpeg_seam_finish(struct jpeg_seam *seam, struct carve_joint *joint)
{
	bool known = !seam->no_memory && seam->joint_count && seam->rows_count >= ROWS_MIN;

	if (known) {
		uint32_t usual = USUAL_MIN;
		uint64_t near = seam->joint_row ? seam->joint_row - 1 : 0;

		for (uint64_t i = near; i < near + 3 && i < seam->rows_count; i++)
			usual = seam->rows[i] > usual ? seam->rows[i] : usual;
		if (median(seam->rows, seam->rows_count) > usual)
			usual = seam->rows[seam->rows_count / 2];
		uint32_t change = median(seam->joint_changes, seam->joint_count);

		joint->roughness = change * 16 / usual;
		joint->samples = (uint32_t)seam->joint_count;
		joint->bits =
			joint->roughness <= FITS && joint->samples >= SAMPLES_MIN ? FITS_BITS : 0;
	}
	free(seam->row_changes);
	free(seam->joint_changes);
	free(seam->trace);
	free(seam->above);
	free(seam->bottom);
	free(seam->rows);
	return known;
}
