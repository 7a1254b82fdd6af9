/*
 * Text repeats itself: words, tags, ends of lines. Where a joint is right, strings of several lengths that have bytes of both
 * sides are also elsewhere in the text. How many of them are is compared with as many places of the text itself, each
 * with the bytes before one place and those after another: as often as these have as many strings elsewhere, a wrong
 * joint has. So where the text is one of blanks or of few characters, nothing is shown.
 */
#include "text_joint.h"

#include <stdlib.h>

#include "walk.h"

#define SIDE ((uint64_t)32 << 10) /* bytes on either side that are learnt */
#define APART 16                  /* and those nearest to the joint, which are not */
#define LEAST 1024                /* bytes without which nothing is shown */
#define LENGTHS 3
#define PAIRS 1023 /* places that are put together */
#define SLOTS_BITS 19
#define SLOTS ((size_t)1 << SLOTS_BITS)
#define WORK 4 /* units for a byte that is learnt */
#define JUDGE_WORK (PAIRS * 2 * APART)
#define KNOWN_MAX (3 + 2 * 5 + 3 * 8) /* strings with bytes of both sides, as they count */

static const unsigned lengths[LENGTHS] = { 4, 6, 9 };

struct model {
	uint8_t *bytes; /* before the joint, then after it */
	size_t before, after;
	uint8_t *seen;               /* a bit for each hash of a string */
	uint8_t bits[KNOWN_MAX + 1]; /* by how many strings are known */
};

static uint32_t hash(const uint8_t *bytes, unsigned len)
{
	uint64_t value = len;

	for (unsigned i = 0; i < len; i++)
		value = (value ^ bytes[i]) * 0x9e3779b97f4a7c15U;
	return (uint32_t)(value >> (64 - SLOTS_BITS));
}

static void learn(struct model *model, const uint8_t *bytes, size_t len)
{
	for (unsigned l = 0; l < LENGTHS; l++)
		for (size_t i = 0; i + lengths[l] <= len; i++) {
			uint32_t slot = hash(bytes + i, lengths[l]);

			model->seen[slot / 8] |= (uint8_t)(1 << slot % 8);
		}
}

/* How many strings with bytes of both sides are known, longer ones counting more; left ends and right begins there. */
static unsigned count_known(const struct model *model, const uint8_t *left, const uint8_t *right)
{
	uint8_t around[2 * APART];
	unsigned known = 0;

	for (unsigned i = 0; i < APART; i++) {
		around[i] = left[(ptrdiff_t)i - APART];
		around[APART + i] = right[i];
	}
	for (unsigned l = 0; l < LENGTHS; l++)
		for (unsigned first = 1; first < lengths[l]; first++) {
			uint32_t slot = hash(around + APART - first, lengths[l]);

			known += (model->seen[slot / 8] >> slot % 8 & 1U) * (l + 1);
		}
	return known;
}

/* Finds what each number of known strings is worth, from places that are put together anywhere. */
static void judge_numbers(struct model *model)
{
	size_t all = model->before + model->after - 2 * APART;
	unsigned numbers[KNOWN_MAX + 1] = { 0 }, as_many = 1;
	uint32_t draw = 1;

	for (unsigned i = 0; i < PAIRS; i++) {
		size_t places[2];

		for (unsigned n = 0; n < 2; n++) {
			draw = draw * 1664525 + 1013904223;
			places[n] = APART + (size_t)((uint64_t)draw * all >> 32);
		}
		numbers[count_known(model, model->bytes + places[0], model->bytes + places[1])]++;
	}
	for (unsigned known = KNOWN_MAX; known > 0; known--) {
		as_many += numbers[known];
		while (as_many << (model->bits[known] + 1) <= PAIRS + 1)
			model->bits[known]++;
	}
}

/* Copies the bytes [from, from + len). */
static bool copy(struct view *view, uint64_t from, size_t len, uint8_t *bytes)
{
	const uint8_t *p = view_peek(view, from, len);

	for (size_t i = 0; p && i < len; i++)
		bytes[i] = p[i];
	return p;
}

unsigned text_joint(struct view *view, uint64_t at, uint64_t end)
{
	uint64_t size = view_size(view), left = at < SIDE ? at : SIDE, right;
	struct model model = { 0 };
	const uint8_t *joint;
	unsigned bits = 0;

	end = end < size ? end : size;
	right = end <= at ? 0 : end - at < SIDE ? end - at : SIDE;
	if (left < LEAST || right < APART || left + right < 2 * LEAST ||
		!view_work(view, WORK * (left + right) + JUDGE_WORK))
		return 0;
	model.before = (size_t)left;
	model.after = (size_t)right;
	model.bytes = malloc(model.before + model.after);
	model.seen = calloc(SLOTS / 8, 1);
	if (!model.bytes || !model.seen) {
		view_no_memory(view);
	} else if (copy(view, at - left, model.before, model.bytes) &&
		   copy(view, at, model.after, model.bytes + model.before)) {
		learn(&model, model.bytes, model.before - APART);
		joint = model.bytes + model.before;
		learn(&model, joint + APART, model.after - APART);
		judge_numbers(&model);
		bits = model.bits[count_known(&model, joint, joint)];
	}
	free(model.bytes);
	free(model.seen);
	return bits;
}
