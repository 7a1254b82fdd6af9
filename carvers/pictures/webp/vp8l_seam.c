/*
 * Two things that pixels show, and symbols alone do not (vp8l_follow.c).
 *
 * Rows: what is coded of a pixel fits the row above it. What the row above and the predictor show in one place is compared
 * with what was coded there, and with what was coded for other pixels near it in the same row: in a row that does not belong
 * there each of those would be as likely. How likely each is, is learnt from all rows. So the product of all ratios, of what
 * was coded to the mean of it and the others, is large as rarely as chance has it, whatever was learnt: of random rows
 * it reaches 2^n once in 2^n times. That is looked at on both sides of a joint, as what does not belong to the file may be before
 * it, too, and learnt elsewhere.
 *
 * The cache: libwebp codes no pixel's colours if the cache has them, but their place there. Where the pixels before are not
 * those that it had, the cache has others, and sooner or later what is coded is in it. How soon it would have been, is
 * estimated by the cache as it was some hundred pixels before.
 */
#include "vp8l_seam.h"

#include <stdlib.h>
#include <string.h>

#include "logarithm.h"
#include "seam_bits.h"
#include "vp8l_image.h"

#define PIXELS_MAX (4u << 20) /* of an image that is looked at */
#define SEAM_WORK 8           /* units (view_work) for a pixel */
#define WORK_STEP 8192        /* units after which they are counted */
#define WIDTH_MIN 16
#define ROWS_MIN 4 /* before a joint */
#define JOINTS_MAX 64
#define JOINT_STEP 256 /* bytes in which there is one joint at most */
#define JOINT_LEN 480 /* bytes on both sides of a joint that are looked at: less than any cluster */
#define LEARNT_MAX 262144 /* pixels, of rows all over the image */
#define OTHERS 8          /* pixels that each is compared with, */
#define OTHERS_MIN 4      /* at least so many, */
#define FAR 64            /* and not farther in its row */
#define USED_MIN 16       /* pixels that say anything */
#define COLOURS 3         /* blue, green and red */
#define GREEN 1
#define CLASSES 17   /* of differences */
#define DEVIATIONS 7 /* classes of those between what predicts a pixel and the row above */
#define SIZES 5      /* of what was coded above it */
#define TURNS 3      /* of its sign */
#define CONTEXTS (DEVIATIONS * SIZES * TURNS)
#define RATIO_ONE 4096
#define RATIO_MAX (RATIO_ONE * 64)
#define LOG_ONE 4096
#define MARK_STEP 256  /* bytes between marks */
#define STALE_LEN 512  /* literals after which the cache is kept */
#define STALE_KNOWN 20 /* literals in an older cache that show that the encoder uses its cache */
#define STALE_FEW \
	64 /* of which STALE_SHARE count as a bit; after them it takes more: see RESULTS.md */
#define STALE_SHARE 8
#define STALE_SHARE_MORE 32
#define CACHE_PROOF_MAX 24

/* See RESULTS.md. */
static const struct seam_bits measured[] = { { 5, 9 }, { 7, 10 }, { 10, 14 }, { 15, 16 },
	{ 20, 17 }, { 30, 20 } };

/* How often a residual was of a class, and others that were put in its place; and how much likelier it is. */
struct counts {
	uint32_t own[CLASSES], others[CLASSES], ratio[CLASSES];
};

/* A command, every MARK_STEP bytes or so. */
struct mark {
	uint64_t at, stale; /* its byte, and the literals before it that are stale */
};

/* Where pieces meet. */
struct joint {
	uint64_t at; /* in the file */
	uint64_t begin, here,
		end; /* the first pixels that commands give from JOINT_LEN bytes before it on, from it, and from as
				      many after it; UINT64_MAX: none */
};

/* Pixels whose colours are coded are counted, and those that are stale: the cache had them some time before. */
struct literals {
	uint64_t count, stale;
	bool was_cached; /* the cache had one, */
	uint64_t at;     /* which begins in this byte, */
	uint64_t before; /* after so many stale ones */
	uint32_t now[VP8L_CACHE_MAX], then[VP8L_CACHE_MAX];
};

/* What the row above and the predictor show of a pixel: by how much they differ, and a context. */
struct place {
	int off[COLOURS];
	uint32_t context[COLOURS];
};

struct seam {
	struct vp8l_image image;
	struct joint joints[JOINTS_MAX];
	size_t joint_count;
	uint64_t count;      /* pixels decoded */
	uint32_t *residuals; /* what was coded */
	uint32_t *pixels;    /* what it is with what predicts it */
	uint32_t *predicted;
	uint8_t *coded;  /* whether it was coded as itself: no copy */
	int first, last; /* the colours that the image has, without the last one */
	struct mark *marks;
	size_t mark_count, marks_most;
	struct counts counts[COLOURS][CONTEXTS];
};

/* ---- pixels -------------------------------------------------------------------------------- */

static uint32_t channel(uint32_t pixel, int i)
{
	return pixel >> 8 * i & 255;
}

static uint32_t average(uint32_t a, uint32_t b)
{
	return (((a ^ b) & 0xfefefefeu) >> 1) + (a & b);
}

static uint32_t clamp(int value)
{
	return value < 0 ? 0 : value > 255 ? 255 : (uint32_t)value;
}

static uint32_t add_full(uint32_t left, uint32_t above, uint32_t corner)
{
	uint32_t pixel = 0;

	for (int i = 0; i < 4; i++)
		pixel |= clamp((int)channel(left, i) + (int)channel(above, i) -
				 (int)channel(corner, i))
			 << 8 * i;
	return pixel;
}

static uint32_t add_half(uint32_t mean, uint32_t corner)
{
	uint32_t pixel = 0;

	for (int i = 0; i < 4; i++) {
		int a = (int)channel(mean, i);

		pixel |= clamp(a + (a - (int)channel(corner, i)) / 2) << 8 * i;
	}
	return pixel;
}

static uint32_t choose(uint32_t left, uint32_t above, uint32_t corner)
{
	int to_left = 0, to_above = 0;

	for (int i = 0; i < 4; i++) {
		to_left += abs((int)channel(above, i) - (int)channel(corner, i));
		to_above += abs((int)channel(left, i) - (int)channel(corner, i));
	}
	return to_left < to_above ? left : above;
}

/* RFC 9649, section 4.1. */
static uint32_t predict(uint32_t mode, const uint32_t *p, uint32_t width)
{
	uint32_t left = p[-1];
	const uint32_t *above = p - width;

	switch (mode) {
	case 0:
		return 0xff000000u;
	case 1:
		return left;
	case 2:
		return above[0];
	case 3:
		return above[1];
	case 4:
		return above[-1];
	case 5:
		return average(average(left, above[1]), above[0]);
	case 6:
		return average(left, above[-1]);
	case 7:
		return average(left, above[0]);
	case 8:
		return average(above[-1], above[0]);
	case 9:
		return average(above[0], above[1]);
	case 10:
		return average(average(left, above[-1]), average(above[0], above[1]));
	case 11:
		return choose(left, above[0], above[-1]);
	case 12:
		return add_full(left, above[0], above[-1]);
	case 13:
		return add_half(average(left, above[0]), above[-1]);
	}
	return 0xff000000u;
}

static uint32_t add_pixels(uint32_t a, uint32_t b)
{
	return (((a & 0x00ff00ffu) + (b & 0x00ff00ffu)) & 0x00ff00ffu) |
	       (((a & 0xff00ff00u) + (b & 0xff00ff00u)) & 0xff00ff00u);
}

static const uint32_t *item_at(
	const struct seam *seam, const struct vp8l_transform *transform, uint32_t x, uint32_t y)
{
	uint32_t across = (seam->image.width + (1u << transform->bits) - 1) >> transform->bits;

	return &transform->items[(size_t)(y >> transform->bits) * across + (x >> transform->bits)];
}

static void undo_predictor(struct seam *seam, const struct vp8l_transform *transform)
{
	uint32_t width = seam->image.width;

	for (uint64_t at = 0; at < seam->count; at++) {
		uint32_t x = (uint32_t)(at % width), y = (uint32_t)(at / width);
		uint32_t *p = &seam->pixels[at];

		if (!y)
			seam->predicted[at] = x ? p[-1] : 0xff000000u;
		else if (!x)
			seam->predicted[at] = *(p - width);
		else
			seam->predicted[at] =
				predict(*item_at(seam, transform, x, y) >> 8 & 15, p, width);
		*p = add_pixels(*p, seam->predicted[at]);
	}
}

static uint32_t delta(uint32_t factor, uint32_t colour)
{
	return (uint32_t)((int8_t)factor * (int8_t)colour >> 5);
}

/* RFC 9649, sections 4.2 and 4.3. */
static void undo_colours(struct seam *seam, const struct vp8l_transform *transform)
{
	uint32_t width = seam->image.width;

	for (uint64_t at = 0; at < seam->count; at++) {
		uint32_t p = seam->pixels[at], green = p >> 8, red = p >> 16, blue = p;

		if (transform->type == VP8L_SUBTRACT_GREEN) {
			red += green;
			blue += green;
		} else {
			uint32_t item = *item_at(
				seam, transform, (uint32_t)(at % width), (uint32_t)(at / width));

			red += delta(item, green);
			blue += delta(item >> 8, green) + delta(item >> 16, red);
		}
		seam->pixels[at] = (p & 0xff00ff00u) | (red & 255) << 16 | (blue & 255);
	}
}

static void undo_transforms(struct seam *seam)
{
	size_t len = seam->count * sizeof(*seam->pixels);
	bool is_predicted = false;

	for (uint32_t i = seam->image.transform_count; i--;) {
		const struct vp8l_transform *transform = &seam->image.transforms[i];

		if (transform->type == VP8L_COLOURS)
			break;
		if (transform->type == VP8L_PREDICTOR) {
			memcpy(seam->residuals, seam->pixels, len);
			undo_predictor(seam, transform);
			is_predicted = true;
		} else {
			undo_colours(seam, transform);
		}
	}
	if (!is_predicted)
		memcpy(seam->residuals, seam->pixels, len);
}

/* ---- how likely it goes on ----------------------------------------------------------------- */

static int colour(uint32_t pixel, int i)
{
	return (int)channel(pixel, i);
}

/* The class of a difference modulo 256: the middle one for none. */
static uint32_t signed_class(int difference, uint32_t count)
{
	static const uint8_t firsts[CLASSES / 2] = { 1, 2, 3, 5, 8, 14, 26, 52 };
	int value = (int8_t)difference;
	uint32_t half = count / 2, class = 0;

	while (class < half && abs(value) >= firsts[class])
		class ++;
	return value < 0 ? half - class : half + class;
}

/* The mean of the three above. */
static int mean_above(const struct seam *seam, uint64_t at, int i)
{
	const uint32_t *p = &seam->pixels[at - seam->image.width];

	return (colour(p[-1], i) + 2 * colour(p[0], i) + colour(p[1], i) + 2) / 4;
}

static void find_place(const struct seam *seam, uint64_t at, struct place *place)
{
	const uint32_t *r = &seam->residuals[at - seam->image.width];

	for (int i = 0; i < COLOURS; i++)
		place->off[i] = colour(seam->predicted[at], i) - mean_above(seam, at, i);
	for (int i = 0; i < COLOURS; i++) {
		int apart = i == GREEN ? 0 : place->off[GREEN], size = 0;
		uint32_t class = 0;

		for (int k = -1; k <= 1; k++)
			size += abs((int8_t)colour(r[k], i)) * (k ? 1 : 2);
		while (class + 1 < SIZES && size >= 3 << 2 * class)
			class ++;
		place->context[i] =
			(signed_class(place->off[i] - apart, DEVIATIONS) * SIZES + class) * TURNS +
			signed_class(colour(r[0], i), TURNS);
	}
}

/* The class of a colour that a residual gives here: by how much it is off, red and blue but for what green is. */
static uint32_t class_here(const struct place *place, uint32_t residual, int i)
{
	int off = place->off[i] + colour(residual, i);

	if (i != GREEN)
		off -= place->off[GREEN] + colour(residual, GREEN);
	return signed_class(off, CLASSES);
}

/* What is beside a joint is judged by what is learnt elsewhere. Returns the first pixel from this one on that is not beside one. */
static uint64_t after_joints(const struct seam *seam, uint64_t at)
{
	for (size_t i = 0; i < seam->joint_count; i++) {
		const struct joint *joint = &seam->joints[i];

		if (joint->end != UINT64_MAX && at >= joint->begin &&
			at < joint->end + seam->image.width)
			at = joint->end + seam->image.width;
	}
	return at;
}

static bool is_inside(const struct seam *seam, uint64_t at)
{
	uint32_t x = (uint32_t)(at % seam->image.width);

	return x && x + 1 < seam->image.width;
}

/* The next residuals that are in [from, to) and not far, and may have been here as well. Returns how many there are. */
static uint32_t find_others(
	const struct seam *seam, uint64_t at, uint64_t from, uint64_t to, uint32_t others[OTHERS])
{
	uint32_t count = 0;

	for (uint64_t far = 1; far <= FAR && count < OTHERS; far++) {
		if (at >= from + far && seam->coded[at - far])
			others[count++] = seam->residuals[at - far];
		if (at + far < to && seam->coded[at + far] && count < OTHERS)
			others[count++] = seam->residuals[at + far];
	}
	return count;
}

static void learn(struct seam *seam)
{
	uint64_t width = seam->image.width, step = seam->count / LEARNT_MAX + 1;

	for (uint64_t at = width; (at = after_joints(seam, at)) < seam->count; at++) {
		uint64_t row = at - at % width, end = row + width;
		uint32_t others[OTHERS], count;
		struct place place;

		if (row / width % step) {
			at = end - 1;
			continue;
		}
		if (!seam->coded[at] || !is_inside(seam, at))
			continue;
		count = find_others(seam, at, row, end < seam->count ? end : seam->count, others);
		if (!count)
			continue;
		find_place(seam, at, &place);
		for (int i = seam->first; i < seam->last; i++) {
			struct counts *counts = &seam->counts[i][place.context[i]];

			counts->own[class_here(&place, seam->residuals[at], i)]++;
			counts->others[class_here(&place, others[at % count], i)]++;
		}
	}
}

static void find_ratios(struct seam *seam)
{
	for (int i = seam->first; i < seam->last; i++) {
		for (int context = 0; context < CONTEXTS; context++) {
			struct counts *counts = &seam->counts[i][context];

			for (int class = 0; class < CLASSES; class ++) {
				uint64_t ratio = (2 * (uint64_t)counts->own[class] + 1) *
						 RATIO_ONE /
						 (2 * (uint64_t)counts->others[class] + 1);

				counts->ratio[class] = ratio < 1           ? 1
						       : ratio > RATIO_MAX ? RATIO_MAX
									   : (uint32_t)ratio;
			}
		}
	}
}

/* How much likelier a residual is here than others of its row, by what was learnt. */
static uint64_t ratio_of(const struct seam *seam, const struct place *place, uint32_t residual)
{
	uint64_t product = 1;

	for (int i = seam->first; i < seam->last; i++)
		product *= seam->counts[i][place->context[i]].ratio[class_here(place, residual, i)];
	return product;
}

static int32_t log_of(uint64_t number)
{
	int shift = number >> 31 ? 33 - __builtin_clzll(number) : 0;

	return shift * LOG_ONE + log_4096((uint32_t)(number >> shift) | 1);
}

/* What speaks for the pixel at `at`, one of a row of which those in [from, to) may be in one another's place. */
static int32_t gain_of(const struct seam *seam, uint64_t at, uint64_t from, uint64_t to)
{
	uint32_t others[OTHERS], count;
	uint64_t own, all;
	struct place place;

	if (!seam->coded[at] || !is_inside(seam, at))
		return 0;
	count = find_others(seam, at, from, to, others);
	if (count < OTHERS_MIN)
		return 0;
	find_place(seam, at, &place);
	own = all = ratio_of(seam, &place, seam->residuals[at]);
	for (uint32_t i = 0; i < count; i++)
		all += ratio_of(seam, &place, others[i]);
	return log_of(own) - log_of(all / (count + 1));
}

/* The bits that speak for the pixels in [begin, end). */
static int64_t sum_up(const struct seam *seam, uint64_t begin, uint64_t end)
{
	uint64_t width = seam->image.width;
	int64_t sum = 0;
	int used = 0;

	for (uint64_t at = begin < width ? width : begin; at < end; at++) {
		uint64_t row = at - at % width, next = row + width;
		int32_t gain =
			gain_of(seam, at, row < begin ? begin : row, next < end ? next : end);

		sum += gain;
		used += gain != 0;
	}
	return used < USED_MIN ? 0 : sum / LOG_ONE;
}

/* ---- decoding ------------------------------------------------------------------------------ */

static uint64_t byte_of(const struct vp8l_bits *b)
{
	return (b->at * 8 - b->buffer.count) / 8;
}

static void add_mark(struct seam *seam, struct view *view, uint64_t at, uint64_t stale)
{
	if (seam->mark_count == seam->marks_most) {
		size_t most = seam->marks_most ? 2 * seam->marks_most : 256;
		struct mark *marks = realloc(seam->marks, most * sizeof(*marks));

		if (!marks) {
			view_no_memory(view);
			return;
		}
		seam->marks = marks;
		seam->marks_most = most;
	}
	seam->marks[seam->mark_count++] = (struct mark){ at, stale };
}

/* Finds where pieces meet in the bytes [from, to). */
static void find_joints(struct seam *seam, struct view *view, uint64_t from, uint64_t to)
{
	for (; from < to && seam->joint_count < JOINTS_MAX; from += JOINT_STEP) {
		uint64_t low = from, high = from + JOINT_STEP + 1;

		if (!view_linked(view, low, high, 0))
			continue;
		while (high - low > 2) {
			uint64_t middle = low + (high - low) / 2;

			if (view_linked(view, low, middle + 1, 0))
				high = middle + 1;
			else
				low = middle;
		}
		seam->joints[seam->joint_count++] =
			(struct joint){ low + 1, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	}
}

/* Notes the pixel that the command gives first that begins in this byte. */
static void note_pixel(struct joint *joint, uint64_t byte, uint64_t pixel)
{
	if (byte + JOINT_LEN >= joint->at && joint->begin == UINT64_MAX)
		joint->begin = pixel;
	if (byte >= joint->at && joint->here == UINT64_MAX)
		joint->here = pixel;
	if (byte >= joint->at + JOINT_LEN && joint->end == UINT64_MAX)
		joint->end = pixel;
}

/* Counts the last command, a literal. */
static void count_literal(struct literals *literals, const struct seam *seam, uint64_t at)
{
	const struct vp8l_image *image = &seam->image;
	uint32_t colour = image->pixels[seam->count];

	if (image->was_cached && !literals->was_cached) {
		literals->was_cached = true;
		literals->at = at;
		literals->before = literals->stale;
	}
	literals->stale += literals->then[vp8l_cache_place(image, colour)] == colour;
	if (++literals->count % STALE_LEN)
		return;
	memcpy(literals->then, literals->now, sizeof(literals->then));
	memcpy(literals->now, image->cache, sizeof(literals->now));
}

/* Decodes all of it. literals: NULL, or of an image with a cache. */
static void decode(struct seam *seam, struct vp8l_bits *b, struct literals *literals)
{
	uint64_t count = (uint64_t)seam->image.width * seam->image.height, work = 0;

	while (seam->count < count) {
		uint64_t place = byte_of(b), len;

		for (size_t i = 0; i < seam->joint_count; i++)
			note_pixel(&seam->joints[i], place, seam->count);
		if (!seam->mark_count || place >= seam->marks[seam->mark_count - 1].at + MARK_STEP)
			add_mark(seam, b->view, place, literals ? literals->stale : 0);
		len = vp8l_read_command(b, &seam->image, seam->count, count - seam->count);
		if (!len || b->ended)
			break;
		if (literals && seam->image.is_literal)
			count_literal(literals, seam, place);
		memset(seam->coded + seam->count, !seam->image.is_copied, len);
		seam->count += len;
		work += VP8L_COMMAND_WORK + len;
		if (work >= WORK_STEP && !view_work(b->view, work))
			break;
		work = work < WORK_STEP ? work : 0;
	}
}

static bool allocate(struct seam *seam, struct view *view)
{
	size_t count = (size_t)seam->image.width * seam->image.height;

	seam->residuals = calloc(count + 1, sizeof(*seam->residuals));
	seam->pixels = calloc(count + 1, sizeof(*seam->pixels));
	seam->predicted = calloc(count, sizeof(*seam->predicted));
	seam->coded = calloc(count, 1);
	if (seam->residuals && seam->pixels && seam->predicted && seam->coded)
		return true;
	view_no_memory(view);
	return false;
}

/* Reads what is before the pixels. False: it is invalid, or the image too large. */
static bool begin(struct seam *seam, struct vp8l_bits *b, const struct vp8l_place *place)
{
	bool is_grey;

	seam->image.keeps_transforms = true;
	if (!vp8l_read_head(b, &seam->image, place->width, place->height) ||
		(uint64_t)seam->image.width * seam->image.height > PIXELS_MAX ||
		!allocate(seam, b->view))
		return false;
	is_grey = place->width || seam->image.is_indexed;
	seam->image.pixels = seam->pixels;
	seam->first = is_grey ? GREEN : 0;
	seam->last = is_grey ? GREEN + 1 : COLOURS;
	return true;
}

static void free_seam(struct seam *seam)
{
	vp8l_image_free(&seam->image);
	free(seam->residuals);
	free(seam->pixels);
	free(seam->predicted);
	free(seam->coded);
	free(seam->marks);
	free(seam);
}

/* The bits of stale literals of which the cache has none. */
static unsigned stale_bits(uint64_t count)
{
	uint64_t bits = count < STALE_FEW
				? count / STALE_SHARE
				: STALE_FEW / STALE_SHARE + (count - STALE_FEW) / STALE_SHARE_MORE;

	return (unsigned)(bits < CACHE_PROOF_MAX ? bits : CACHE_PROOF_MAX);
}

/* Declares what literals prove: of a mark, those after it. */
static void prove_by_cache(
	const struct seam *seam, struct view *view, uint64_t begin, uint64_t stale)
{
	unsigned declared = 0;

	for (size_t i = seam->mark_count; i-- && declared < CACHE_PROOF_MAX;) {
		unsigned bits = stale_bits(stale - seam->marks[i].stale);

		if (bits <= declared)
			continue;
		view_proved(view, begin, seam->marks[i].at, bits - declared);
		declared = bits;
	}
}

/* Declares what rows prove of each joint: on both sides of it they fit those above them. If it is elsewhere, others' bytes
 * are on one side. */
static void prove_by_rows(struct seam *seam, struct view *view)
{
	if (!view_work(view, seam->count + (seam->count < LEARNT_MAX ? seam->count : LEARNT_MAX) *
						   SEAM_WORK))
		return;
	undo_transforms(seam);
	learn(seam);
	find_ratios(seam);
	for (size_t i = 0; i < seam->joint_count; i++) {
		const struct joint *joint = &seam->joints[i];
		int64_t before, after;

		if (joint->end == UINT64_MAX || joint->begin / seam->image.width < ROWS_MIN ||
			!view_work(view, (joint->end - joint->begin) * SEAM_WORK))
			continue;
		before = sum_up(seam, joint->begin, joint->here);
		after = sum_up(seam, joint->here, joint->end);
		view_proved(view, joint->at - 1, joint->at + 1,
			seam_bits_of(measured, sizeof(measured) / sizeof(*measured),
				before < after ? before : after));
	}
}

bool vp8l_pixels_agree(
	struct view *view, const struct vp8l_place *place, bool with_rows, uint64_t *at)
{
	struct vp8l_bits b = { .view = view, .at = place->at, .end = place->end };
	struct literals *literals = calloc(1, sizeof(*literals));
	struct seam *seam = calloc(1, sizeof(*seam));
	bool agrees = true;

	if (seam && with_rows)
		find_joints(seam, view, place->at, place->end);
	if (!seam || !literals) {
		view_no_memory(view);
	} else if (begin(seam, &b, place) && (seam->image.cache_bits || seam->joint_count)) {
		decode(seam, &b, seam->image.cache_bits ? literals : NULL);
		agrees = !literals->was_cached || literals->before < STALE_KNOWN;
		if (!literals->was_cached)
			prove_by_cache(seam, view, place->at, literals->stale);
		if (with_rows && agrees && seam->joint_count && seam->image.width >= WIDTH_MIN)
			prove_by_rows(seam, view);
		if (!agrees)
			*at = literals->at;
	}
	free(literals);
	if (seam)
		free_seam(seam);
	return agrees;
}
