/* How surely samples go on at a joint: right joints have many bits, wrong ones as few as chance gives, whatever the sound. */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "assemble/content_end.h"
#include "assemble/sample_joint.h"

#define BIT CONTENT_BIT
#define FRAMES 20000
#define STEP 2048 /* frames from place to place */
#define AROUND 1200

static uint8_t sound[FRAMES * 8];
static struct carve_stored stored;
static uint32_t state;

static int32_t draw(int32_t below)
{
	state = state * 1664525 + 1013904223;
	return (int32_t)((uint64_t)(state >> 8) * (uint32_t)below >> 24);
}

static void describe(unsigned sample_len, unsigned channels, bool big_endian)
{
	stored = (struct carve_stored){ .to = (uint64_t)FRAMES * sample_len * channels,
		.sample_len = (uint8_t)sample_len,
		.channels = (uint8_t)channels,
		.big_endian = big_endian,
		.is_unsigned = sample_len == 1 };
	stored.length = stored.to;
	state = 5;
}

static void set(size_t frame, unsigned channel, int32_t value)
{
	unsigned len = stored.sample_len;
	uint8_t *p = sound + (frame * stored.channels + channel) * len;

	for (unsigned i = 0; i < len; i++) {
		unsigned power = stored.big_endian ? len - 1 - i : i;

		/* The 16 highest bits, or 8. */
		p[i] = len == 1           ? (uint8_t)((value >> 8) + 128)
		       : power + 2 >= len ? (uint8_t)(value >> 8 * (power + 2 - len))
					  : (uint8_t)draw(256);
	}
}

#define STAGES 5

/* Noise without its high tones: a few samples show well which ones are next, and soon no longer. */
static void make_dull_noise(void)
{
	for (unsigned c = 0; c < stored.channels; c++) {
		int64_t stages[STAGES + 1] = { 0 };

		for (size_t i = 0; i < FRAMES; i++) {
			int32_t value;

			stages[0] = (int64_t)(draw(65536) - 32768) * 1024;
			for (unsigned k = 1; k <= STAGES; k++)
				stages[k] += (stages[k - 1] - stages[k]) / 6;
			value = (int32_t)(stages[STAGES] / 1024);
			set(i, c, value < -32000 ? -32000 : value > 32000 ? 32000 : value);
		}
	}
}

typedef int64_t finder(
	struct sample_joint *joint, const struct sample_place *place, uint64_t *work);

/* Bits where what is before a frame is followed by what is after another one. */
static int64_t bits_of(finder *find_bits, size_t before, size_t after)
{
	struct sample_joint *joint = sample_joint_new(&stored);
	size_t step = (size_t)stored.sample_len * stored.channels;
	size_t back = before < AROUND ? before : AROUND;
	size_t ahead = FRAMES - after < AROUND ? FRAMES - after : AROUND;
	const struct sample_place place = { .at = before * step,
		.before = sound + (before - back) * step,
		.before_len = back * step,
		.after = sound + after * step,
		.after_len = ahead * step };
	uint64_t work = 0;
	int64_t bits = find_bits(joint, &place, &work);

	cr_expect_gt(work, 0);
	sample_joint_free(joint);
	return bits;
}

/* The fewest bits of a right joint, and the most of a wrong one. */
static void measure(finder *find_bits, int64_t *right, int64_t *wrong)
{
	*right = INT64_MAX;
	*wrong = 0;
	for (size_t before = STEP; before + STEP < FRAMES; before += STEP)
		for (size_t after = STEP; after + STEP < FRAMES; after += STEP) {
			int64_t bits = bits_of(find_bits, before, after);

			if (before == after)
				*right = bits < *right ? bits : *right;
			else
				*wrong = bits > *wrong ? bits : *wrong;
		}
}

static void expect_apart(int64_t least)
{
	int64_t right, wrong;

	make_dull_noise();
	measure(sample_joint_near_bits, &right, &wrong);
	cr_expect_geq(right, least, "right: %" PRId64, right);
	/* 56 pairs. */
	cr_expect_leq(wrong, 10 * BIT, "wrong: %" PRId64, wrong);
}

Test(sample_joint, right_joints_have_more_bits_than_wrong_ones)
{
	int64_t right, wrong;

	describe(2, 1, false);
	expect_apart(11 * BIT);
	measure(sample_joint_bits, &right, &wrong);
	cr_expect_geq(right, 12 * BIT, "right: %" PRId64, right);
	cr_expect_leq(wrong, 10 * BIT, "wrong: %" PRId64, wrong);
}

Test(sample_joint, samples_of_all_lengths_and_channels)
{
	describe(2, 2, true);
	expect_apart(12 * BIT);
	describe(3, 1, false);
	expect_apart(11 * BIT);
	describe(1, 1, false);
	expect_apart(3 * BIT);
}

/* Nothing is special where all is alike, or where a sound repeats: a whole period later it goes on as well. */
Test(sample_joint, sounds_that_show_no_place_have_few_bits)
{
	describe(2, 1, false);
	for (size_t i = 0; i < FRAMES; i++)
		set(i, 0, 0);
	cr_expect_leq(bits_of(sample_joint_near_bits, 4000, 4000), 0);
	for (size_t i = 0; i < FRAMES; i++)
		set(i, 0, draw(3) - 1);
	cr_expect_leq(bits_of(sample_joint_near_bits, 4000, 4000), 3 * BIT);
	for (size_t i = 0; i < FRAMES; i++)
		set(i, 0, draw(20000) - 10000);
	cr_expect_leq(bits_of(sample_joint_near_bits, 4000, 4000), 3 * BIT);
	for (size_t i = 0; i < FRAMES; i++)
		set(i, 0, (i / 64 % 2 ? 8000 : -8000) + draw(3));
	cr_expect_leq(bits_of(sample_joint_bits, 4000, 4000 + 128 * 10), 8 * BIT);
}

/* What is before fades away, and what is after fades in: they fit, as the least loud of all places. */
Test(sample_joint, silence_fits_silence)
{
	int64_t bits;

	describe(2, 1, false);
	make_dull_noise();
	for (size_t i = 0; i < FRAMES; i++) {
		int32_t value = (int16_t)(sound[2 * i] | sound[2 * i + 1] << 8);
		size_t far = i % 2000 < 1000 ? i % 2000 : 2000 - i % 2000;

		set(i, 0, (int32_t)(value * (int64_t)(far * far) / 1000000));
	}
	bits = bits_of(sample_joint_bits, 4000, 10000);
	cr_expect_leq(bits, 10 * BIT, "%" PRId64, bits);
}

Test(sample_joint, a_sample_on_both_sides_shows_nothing)
{
	struct sample_joint *joint;
	struct sample_place place = { .at = 4000 * 3 + 2,
		.before = sound,
		.before_len = 4000 * 3 + 2,
		.after = sound + 4000 * 3 + 2,
		.after_len = 4000 * 3 };
	uint64_t work = 0;
	int64_t bits;

	describe(3, 1, false);
	make_dull_noise();
	joint = sample_joint_new(&stored);
	cr_expect_eq(sample_joint_near_bits(joint, &place, &work), 0);
	/* Its highest 16 bits are after the place. */
	place = (struct sample_place){ .at = 4000 * 3 + 1,
		.before = sound,
		.before_len = 4000 * 3 + 1,
		.after = sound + 4000 * 3 + 1,
		.after_len = 4000 * 3 };
	bits = sample_joint_near_bits(joint, &place, &work);
	cr_expect_geq(bits, 8 * BIT, "%" PRId64, bits);
	sample_joint_free(joint);
}

Test(sample_joint, a_sound_that_ends_breaks_off)
{
	struct sample_joint *joint;
	uint8_t after[512] = { 0 };
	struct sample_place place = { .at = 10000 * 2,
		.before = sound,
		.before_len = 10000 * 2,
		.after = after,
		.after_len = sizeof(after) };
	uint64_t work = 0;
	int64_t bits;

	describe(2, 1, false);
	make_dull_noise();
	set(9999, 0, 15000);
	joint = sample_joint_new(&stored);
	bits = sample_joint_end_bits(joint, &place, &work);
	cr_expect_geq(bits, 12 * BIT, "%" PRId64, bits);
	for (size_t i = 0; i < sizeof(after); i++)
		after[i] = (uint8_t)draw(256);
	bits = sample_joint_end_bits(joint, &place, &work);
	cr_expect_geq(bits, 12 * BIT, "%" PRId64, bits);
	/* Where it goes on it does not. */
	for (size_t at = 9000; at < 9900; at += 100) {
		place = (struct sample_place){ .at = at * 2,
			.before = sound,
			.before_len = at * 2,
			.after = sound + at * 2,
			.after_len = 64 };
		cr_expect_leq(sample_joint_end_bits(joint, &place, &work), 8 * BIT);
	}
	sample_joint_free(joint);
}

/* The loudest samples there are, of all lengths and channels, and as few as may be. */
Test(sample_joint, hostile_samples)
{
	for (unsigned i = 0; i < 60; i++) {
		struct sample_joint *joint;
		uint64_t work = 0;

		describe(1 + i % 4, 1 + i / 4 % CONTENT_CHANNELS, i % 3);
		for (size_t k = 0; k < sizeof(sound); k++)
			sound[k] = (uint8_t)(i % 2 ? (draw(2) ? 0x7f : 0x80) : draw(256));
		joint = sample_joint_new(&stored);
		for (size_t n = 0; n < 6; n++) {
			size_t at = (size_t)draw(40000);
			const struct sample_place place = { .at = at,
				.before = sound,
				.before_len = n % 2 ? at : (size_t)draw((int32_t)at + 1),
				.after = sound + at,
				.after_len = (size_t)draw(n % 3 ? 20000 : 100) };
			struct sample_place near = place;

			near.before += place.at - place.before_len;
			cr_expect_leq(sample_joint_near_bits(joint, &near, &work), 40 * BIT);
			cr_expect_leq(sample_joint_bits(joint, &near, &work), 40 * BIT);
			cr_expect_leq(sample_joint_end_bits(joint, &near, &work), 40 * BIT);
		}
		sample_joint_free(joint);
	}
}
