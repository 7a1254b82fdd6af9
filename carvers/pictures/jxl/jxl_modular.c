/*
 * Decoding samples of the modular mode (ISO/IEC 18181-1, Annex H). For each sample, properties of
 * the samples around it that are decoded already lead through the tree to a leaf: the context in
 * which the sample is coded, and the predictor; the coded value is the difference. All samples have
 * to be decoded to find the end of the code, where ANS has to be in its final state.
 */
#include "jxl_modular.h"

#include <stdlib.h>
#include <string.h>

#include "jxl_weighted.h"

/* The most samples kept at a time. */
#define SAMPLES_MAX (1u << 23)
/* Units of work (view_work) for a sample, for predicting it by its neighbours' errors, for each
 * earlier channel that is looked at; a step in the tree is one. And after how many samples they are
 * counted. */
#define SAMPLE_WORK 5
#define WEIGHTED_WORK 8
#define EARLIER_WORK 2
#define SAMPLES_STEP 4096
/* And for a channel, besides one for each before it. */
#define CHANNEL_WORK 64
#define OWN_PROPERTIES 16
#define PROPERTIES 256
#define BY_CHANNEL 4
#define PREDICTOR_WEIGHTED 6
#define PROPERTY_WEIGHTED 15

struct decoder {
	struct jxl_bits *bits;
	struct jxl_channels *channels;
	struct jxl_tree *tree;
	struct jxl_weighted weighted;
	uint64_t *work; /* how much may still be done */
	uint64_t steps; /* in trees, not counted as work yet */
	bool uses_weighted;
	unsigned property_count; /* that the tree uses */
	const struct jxl_channel *earlier[PROPERTIES / BY_CHANNEL];
	unsigned earlier_count;
	int32_t properties[PROPERTIES];
};

static int32_t wrap(int64_t value)
{
	return (int32_t)(uint32_t)(uint64_t)value;
}

static void load_neighbours(
	const struct jxl_channel *channel, uint32_t x, uint32_t y, struct jxl_around *around)
{
	const int32_t *here = channel->samples + (size_t)y * channel->width + x;
	const int32_t *above = here - (y ? channel->width : 0);

	around->w = x ? here[-1] : y ? above[0] : 0;
	around->n = y ? above[0] : around->w;
	around->nw = x && y ? above[-1] : around->w;
	around->ne = y && x + 1 < channel->width ? above[1] : around->n;
	around->nee = y && x + 2 < channel->width ? above[2] : around->ne;
	around->ww = x > 1 ? here[-2] : around->w;
	around->nn = y > 1 ? above[-(ptrdiff_t)channel->width] : around->n;
}

/* n + w - nw, clamped to the range of n and w. */
static int64_t gradient(int64_t n, int64_t w, int64_t nw)
{
	int64_t low = n < w ? n : w, high = n < w ? w : n;

	return nw < low ? high : nw > high ? low : n + w - nw;
}

static int64_t select_one(int64_t w, int64_t n, int64_t nw)
{
	return llabs(n - nw) < llabs(w - nw) ? w : n;
}

static int64_t predict(unsigned predictor, const struct jxl_around *a, int64_t weighted)
{
	switch (predictor) {
	case 1:
		return a->w;
	case 2:
		return a->n;
	case 3:
		return (a->w + a->n) / 2;
	case 4:
		return select_one(a->w, a->n, a->nw);
	case 5:
		return gradient(a->n, a->w, a->nw);
	case PREDICTOR_WEIGHTED:
		return weighted;
	case 7:
		return a->ne;
	case 8:
		return a->nw;
	case 9:
		return a->ww;
	case 10:
		return (a->w + a->nw) / 2;
	case 11:
		return (a->nw + a->n) / 2;
	case 12:
		return (a->n + a->ne) / 2;
	case 13:
		return (6 * a->n - 2 * a->nn + 7 * a->w + a->ww + a->nee + 3 * a->ne + 8) / 16;
	}
	return 0;
}

/* Properties 2 to 14; the ones before do not change within a channel. */
static void set_own(int32_t *p, const struct jxl_around *a, uint32_t x, uint32_t y)
{
	int32_t before = x ? p[9] : 0;

	p[2] = (int32_t)y;
	p[3] = (int32_t)x;
	p[4] = wrap(llabs(a->n));
	p[5] = wrap(llabs(a->w));
	p[6] = wrap(a->n);
	p[7] = wrap(a->w);
	p[8] = wrap(a->w - before);
	p[9] = wrap(a->w + a->n - a->nw);
	p[10] = wrap(a->w - a->nw);
	p[11] = wrap(a->nw - a->n);
	p[12] = wrap(a->n - a->ne);
	p[13] = wrap(a->n - a->nn);
	p[14] = wrap(a->w - a->ww);
}

/* Four properties from each earlier channel of the same size. */
static void set_earlier(struct decoder *decoder, uint32_t x, uint32_t y)
{
	int32_t *p = decoder->properties + OWN_PROPERTIES;

	for (unsigned i = 0; i < decoder->earlier_count; i++, p += BY_CHANNEL) {
		const struct jxl_channel *channel = decoder->earlier[i];
		const int32_t *here = channel->samples + (size_t)y * channel->width + x;
		int64_t w = x ? here[-1] : 0, n = y ? here[-(ptrdiff_t)channel->width] : w;
		int64_t nw = x && y ? here[-(ptrdiff_t)channel->width - 1] : w;
		int64_t off = here[0] - gradient(n, w, nw);

		p[0] = wrap(llabs((int64_t)here[0]));
		p[1] = here[0];
		p[2] = wrap(llabs(off));
		p[3] = wrap(off);
	}
}

static const struct jxl_node *find_leaf(struct decoder *decoder)
{
	const struct jxl_node *nodes = decoder->tree->nodes, *node = nodes;

	for (; node->property >= 0; decoder->steps++)
		node = &nodes[node->left +
			      (decoder->properties[node->property] <= node->split ? 1 : 0)];
	return node;
}

static void find_earlier(struct decoder *decoder, uint32_t index)
{
	const struct jxl_channel *own = &decoder->channels->list[index];
	unsigned earlier_max =
		decoder->property_count > OWN_PROPERTIES
			? (decoder->property_count - OWN_PROPERTIES + BY_CHANNEL - 1) / BY_CHANNEL
			: 0;

	memset(decoder->properties, 0, sizeof(decoder->properties));
	decoder->earlier_count = 0;
	for (uint32_t i = index; i-- > 0 && decoder->earlier_count < earlier_max;) {
		const struct jxl_channel *channel = &decoder->channels->list[i];

		if (channel->width == own->width && channel->height == own->height &&
			channel->shift_x == own->shift_x && channel->shift_y == own->shift_y)
			decoder->earlier[decoder->earlier_count++] = channel;
	}
}

static void read_sample(
	struct decoder *decoder, const struct jxl_channel *channel, uint32_t x, uint32_t y)
{
	int32_t *sample = channel->samples + (size_t)y * channel->width + x;
	const struct jxl_node *leaf;
	struct jxl_around around;
	int64_t weighted = 0;
	int32_t coded;

	load_neighbours(channel, x, y, &around);
	set_own(decoder->properties, &around, x, y);
	if (decoder->uses_weighted)
		weighted = jxl_weighted_predict(
			&decoder->weighted, x, y, &around, &decoder->properties[PROPERTY_WEIGHTED]);
	if (decoder->earlier_count)
		set_earlier(decoder, x, y);
	leaf = find_leaf(decoder);
	coded = jxl_signed(jxl_code_next(decoder->bits, &decoder->tree->code, leaf->left));
	*sample = wrap((int64_t)coded * leaf->multiplier + leaf->split +
		       predict(leaf->predictor, &around, weighted));
	if (decoder->uses_weighted)
		jxl_weighted_learn(&decoder->weighted, x, y, *sample);
}

/* False: enough was done. */
static bool count_work(struct decoder *decoder, uint32_t samples)
{
	uint64_t each = SAMPLE_WORK + decoder->earlier_count * EARLIER_WORK +
			(decoder->uses_weighted ? WEIGHTED_WORK : 0);
	uint64_t units = samples * each + decoder->steps;

	decoder->steps = 0;
	*decoder->work -= *decoder->work < units ? *decoder->work : units;
	return view_work(decoder->bits->view, units) && *decoder->work;
}

static enum jxl_outcome read_channel(struct decoder *decoder, uint32_t index, uint32_t stream)
{
	struct jxl_channel *channel = &decoder->channels->list[index];
	uint32_t samples = 0;

	find_earlier(decoder, index);
	decoder->steps += CHANNEL_WORK + index;
	decoder->properties[0] = (int32_t)index;
	decoder->properties[1] = (int32_t)stream;
	if (decoder->uses_weighted && !jxl_weighted_begin(&decoder->weighted, channel->width)) {
		view_no_memory(decoder->bits->view);
		return JXL_UNKNOWN;
	}
	for (uint32_t y = 0; y < channel->height; y++)
		for (uint32_t x = 0; x < channel->width; x++) {
			read_sample(decoder, channel, x, y);
			samples++;
			if (!jxl_bits_ok(decoder->bits)) {
				count_work(decoder, samples);
				return JXL_BROKEN;
			}
			if (samples == SAMPLES_STEP) {
				if (!count_work(decoder, samples))
					return JXL_UNKNOWN;
				samples = 0;
			}
		}
	return count_work(decoder, samples) ? JXL_VALID : JXL_UNKNOWN;
}

static void walk_tree(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->tree->count; i++) {
		const struct jxl_node *node = &decoder->tree->nodes[i];

		if (node->property >= (int)decoder->property_count)
			decoder->property_count = (unsigned)node->property + 1;
		if (node->property == PROPERTY_WEIGHTED ||
			(node->property < 0 && node->predictor == PREDICTOR_WEIGHTED))
			decoder->uses_weighted = true;
	}
}

/* Determines how many of the channels are coded here, and allocates their samples. */
static enum jxl_outcome make_room(struct view *view, struct jxl_channels *channels,
	uint32_t side_max, uint32_t *count, uint32_t *width)
{
	uint64_t total = 0;

	*width = 0;
	for (*count = 0; *count < channels->count; ++*count) {
		const struct jxl_channel *channel = &channels->list[*count];

		if (*count >= channels->meta_count && channel->width && channel->height &&
			(channel->width > side_max || channel->height > side_max))
			break;
		if (channel->width > *width && channel->height)
			*width = channel->width;
		total += (uint64_t)channel->width * channel->height;
		if (total > SAMPLES_MAX)
			return JXL_UNKNOWN;
	}
	for (uint32_t i = 0; i < *count; i++) {
		struct jxl_channel *channel = &channels->list[i];
		size_t len = (size_t)channel->width * channel->height;

		channel->samples = len ? calloc(len, sizeof(*channel->samples)) : NULL;
		if (len && !channel->samples) {
			view_no_memory(view);
			return JXL_UNKNOWN;
		}
	}
	return JXL_VALID;
}

static enum jxl_outcome read_channels(
	struct decoder *decoder, uint32_t count, uint32_t width, uint32_t stream)
{
	enum jxl_outcome outcome = JXL_VALID;

	walk_tree(decoder);
	if (!jxl_code_begin(decoder->bits, &decoder->tree->code, width))
		return JXL_UNKNOWN;
	for (uint32_t i = 0; i < count && outcome == JXL_VALID; i++)
		if (decoder->channels->list[i].samples)
			outcome = read_channel(decoder, i, stream);
	jxl_weighted_free(&decoder->weighted);
	if (outcome != JXL_VALID)
		return outcome;
	jxl_code_end(decoder->bits, &decoder->tree->code);
	return jxl_bits_ok(decoder->bits) ? JXL_VALID : JXL_BROKEN;
}

void jxl_channels_add(struct jxl_channels *channels, uint32_t width, uint32_t height, int shift)
{
	struct jxl_channel *channel = &channels->list[channels->count++];

	memset(channel, 0, sizeof(*channel));
	channel->width = width;
	channel->height = height;
	channel->shift_x = channel->shift_y = (int8_t)shift;
}

enum jxl_outcome jxl_modular_read(struct jxl_bits *bits, struct jxl_channels *channels,
	uint32_t side_max, uint32_t stream, struct jxl_tree *global, uint64_t *work)
{
	struct decoder decoder = {
		.bits = bits, .channels = channels, .work = work, .tree = global
	};
	struct jxl_tree own = { 0 };
	enum jxl_outcome outcome;
	uint32_t count, width;
	bool use_global;

	if (channels->count == 0)
		return JXL_VALID;
	use_global = jxl_bits_bool(bits);
	jxl_weighted_read(bits, &decoder.weighted);
	outcome = jxl_transforms_read(bits, channels);
	if (outcome == JXL_VALID)
		outcome = make_room(bits->view, channels, side_max, &count, &width);
	if (outcome == JXL_VALID && width) {
		if (!use_global) {
			decoder.tree = &own;
			if (!jxl_tree_read(bits, &own))
				outcome = JXL_BROKEN;
			*work -= *work < own.count ? *work : own.count;
		} else if (!global->nodes) {
			outcome = JXL_BROKEN;
		}
		if (outcome == JXL_VALID)
			outcome = read_channels(&decoder, count, width, stream);
	}
	jxl_tree_free(&own);
	for (uint32_t i = 0; i < channels->count; i++) {
		free(channels->list[i].samples);
		channels->list[i].samples = NULL;
	}
	return outcome;
}
