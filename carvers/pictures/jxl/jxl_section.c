/*
 * Sections of a frame (ISO/IEC 18181-1, Annex G). The first starts with what all others need. In a
 * modular frame the picture follows there, or the small part of it; the rest is divided into
 * groups, one in each section. Each section's modular part can be decoded by itself, and its end
 * shows whether it is valid: the last one is decoded, which confirms the frame's last bytes.
 * Coefficients (VarDCT) are not decoded.
 */
#include "jxl_section.h"

#include <string.h>

#include "jxl_global.h"
#include "jxl_lf.h"

#define QUANT_TABLES 17
/* Channels halved three times or more are in the sections of LF groups. */
#define LF_SHIFT 3
/* That a section ends where it should counts as evidence of at most a byte. */
#define END_PROOF_MAX 8

struct part {
	const struct jxl_frame *frame;
	struct jxl_tree tree;
	struct jxl_channels channels; /* the channels of the frame, after its transforms */
	uint64_t *work;
};

static uint32_t div_up(uint32_t value, uint32_t by)
{
	return value / by + (value % by != 0);
}

/* Lists the channels of a frame: colour in modular mode, and the others. */
static void list_channels(
	struct jxl_channels *channels, const struct jxl_image *image, const struct jxl_frame *frame)
{
	unsigned colour_count = image->grey && !image->xyb && !frame->ycbcr ? 1 : 3;
	uint32_t lf = 1u << 3 * frame->lf_level;

	channels->count = channels->meta_count = 0;
	for (unsigned i = 0; frame->modular && i < colour_count; i++)
		jxl_channels_add(channels, frame->width, frame->height, 0);
	for (uint32_t i = 0; i < image->extra_count; i++) {
		uint32_t by = frame->extra_upsampling[i];

		jxl_channels_add(channels, div_up(div_up(frame->full_width, lf), by),
			div_up(div_up(frame->full_height, lf), by),
			(int)jxl_bit_len(by) - (int)jxl_bit_len(frame->upsampling));
	}
}

/* Whether the next bit is at the section's end: only zeros up to the next byte may remain. */
static bool ends_section(struct jxl_bits *bits, struct jxl_checked *checked)
{
	unsigned len = jxl_bit_len((uint32_t)(bits->limit - bits->start));

	jxl_bits_align(bits);
	if (!jxl_bits_ok(bits) || jxl_bits_at(bits) != bits->limit)
		return false;
	checked->proof += len < END_PROOF_MAX ? len : END_PROOF_MAX;
	return true;
}

/* Adds the part of a channel that is in a group, of groups with sides of group_len. */
static void add_group(struct jxl_channels *group, const struct jxl_channel *channel,
	uint32_t group_x, uint32_t group_y, uint32_t group_len)
{
	uint64_t x = ((uint64_t)group_x * group_len) >> channel->shift_x;
	uint64_t y = ((uint64_t)group_y * group_len) >> channel->shift_y;
	uint32_t width = group_len >> channel->shift_x, height = group_len >> channel->shift_y;
	struct jxl_channel *place = &group->list[group->count];

	if (x >= channel->width || y >= channel->height)
		return;
	*place = *channel;
	place->width = channel->width - x < width ? (uint32_t)(channel->width - x) : width;
	place->height = channel->height - y < height ? (uint32_t)(channel->height - y) : height;
	if (place->width && place->height)
		group->count++;
}

/* Lists the channels of section `index`, and its number among the streams. False: it has none. */
static bool list_group(
	const struct part *part, uint64_t index, struct jxl_channels *group, uint32_t *stream)
{
	const struct jxl_frame *frame = part->frame;
	const struct jxl_channels *all = &part->channels;
	uint64_t lf_count = frame->lf_group_count, number;
	bool lf = index <= lf_count;
	uint32_t group_len = frame->group_len << (lf ? LF_SHIFT : 0), columns, i;

	if (index == 0 || index == lf_count + 1)
		return false;
	number = lf ? index - 1 : index - lf_count - 2;
	*stream = (uint32_t)(lf ? 1 + lf_count + number : 1 + 3 * lf_count + QUANT_TABLES + number);
	columns = div_up(frame->width, group_len);
	group->count = group->meta_count = 0;
	for (i = all->meta_count; i < all->count; i++)
		if (all->list[i].width > frame->group_len || all->list[i].height > frame->group_len)
			break;
	for (; i < all->count; i++) {
		const struct jxl_channel *channel = &all->list[i];
		int8_t shift =
			channel->shift_x < channel->shift_y ? channel->shift_x : channel->shift_y;

		if (channel->shift_x >= 0 && channel->shift_y >= 0 && lf == (shift >= LF_SHIFT))
			add_group(group, channel, (uint32_t)(number % columns),
				(uint32_t)(number / columns), group_len);
	}
	return group->count > 0;
}

static void check_last(struct part *part, struct view *view, struct jxl_checked *checked)
{
	const struct jxl_frame *frame = part->frame;
	struct jxl_channels group;
	struct jxl_bits bits;
	enum jxl_outcome outcome;
	uint32_t stream;

	if (frame->permuted || frame->pass_count != 1 ||
		!list_group(part, frame->last_one, &group, &stream))
		return;
	jxl_bits_begin(&bits, view, frame->last_at, frame->end);
	outcome = jxl_modular_read(&bits, &group, UINT32_MAX, stream, &part->tree, part->work);
	checked->broken = outcome == JXL_BROKEN;
	checked->broken_at = checked->valid_end = frame->last_at;
	if (outcome != JXL_VALID)
		return;
	checked->confirmed_to_end = ends_section(&bits, checked);
	checked->proof += bits.proof;
}

/* Charges what was decoded besides samples at the same cost. */
static void charge_work(struct part *part, const struct jxl_bits *bits)
{
	*part->work -= *part->work < bits->numbers ? *part->work : bits->numbers;
}

/* Checks the first section as far as it can be read. */
static enum jxl_outcome check_first(struct part *part, struct jxl_bits *bits,
	const struct jxl_image *image, struct jxl_checked *checked)
{
	const struct jxl_frame *frame = part->frame;

	if (!jxl_global_read(bits, image, frame, &part->tree))
		return JXL_BROKEN;
	checked->begun = true;
	charge_work(part, bits);
	checked->valid_end = jxl_bits_at(bits);
	/* Subsampled chroma channels are not known to occur in modular frames. */
	if (frame->modular && (frame->chroma[0] || frame->chroma[1] || frame->chroma[2]))
		return JXL_UNKNOWN;
	list_channels(&part->channels, image, frame);
	return jxl_modular_read(
		bits, &part->channels, frame->group_len, 0, &part->tree, part->work);
}

/* Checks the first LF group of a frame with coefficients: in the first section, or in its own. */
static enum jxl_outcome check_lf(
	struct part *part, struct view *view, struct jxl_bits *bits, uint64_t limit)
{
	const struct jxl_frame *frame = part->frame;
	struct jxl_channels more;
	uint32_t stream;
	bool has = list_group(part, 1, &more, &stream);

	if (frame->section_count > 1) {
		if (frame->second_at + frame->second_len > limit)
			return JXL_UNKNOWN;
		jxl_bits_begin(bits, view, frame->second_at, frame->second_at + frame->second_len);
	}
	return jxl_lf_read(bits, frame, has ? &more : NULL, &part->tree, part->work);
}

void jxl_sections_check(struct view *view, const struct jxl_image *image,
	const struct jxl_frame *frame, uint64_t limit, uint64_t *work, struct jxl_checked *checked)
{
	struct part part = { .frame = frame, .work = work };
	uint64_t limit_of_first = limit;
	enum jxl_outcome outcome;
	struct jxl_bits bits;

	memset(checked, 0, sizeof(*checked));
	if (!*work)
		return;
	if (limit > frame->first_at + frame->first_len)
		limit_of_first = frame->first_at + frame->first_len;
	jxl_bits_begin(&bits, view, frame->first_at, limit_of_first);
	outcome = check_first(&part, &bits, image, checked);
	if (outcome == JXL_BROKEN && bits.cut && !bits.wrong && frame->end > limit)
		outcome = JXL_UNKNOWN;
	checked->broken = outcome == JXL_BROKEN;
	checked->broken_at = frame->first_at;
	if (outcome == JXL_VALID && frame->modular && frame->section_count == 1)
		checked->confirmed_to_end = ends_section(&bits, checked);
	else if (outcome == JXL_VALID && frame->modular && frame->end <= limit)
		check_last(&part, view, checked);
	checked->proof += bits.proof;
	if (outcome == JXL_VALID && !frame->modular) {
		bits.proof = 0;
		outcome = check_lf(&part, view, &bits, limit);
		checked->broken =
			outcome == JXL_BROKEN && !(bits.cut && !bits.wrong && frame->end > limit);
		checked->broken_at = frame->section_count > 1 ? frame->second_at : frame->first_at;
		if (frame->section_count > 1)
			checked->valid_end = frame->second_at;
		if (outcome == JXL_VALID && frame->section_count > 1)
			ends_section(&bits, checked);
		checked->proof += bits.proof;
	}
	jxl_tree_free(&part.tree);
}
