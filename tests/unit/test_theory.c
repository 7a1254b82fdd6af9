/*
 * The theorems on strategies A and B against an event simulator, over random times.
 *
 * The simulator knows nothing of cases: it has a clock for each channel and the processor, and the
 * order in which each strategy starts its work.
 */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bench/papers/theory.h"
#include "tier.h"

#define ROUNDS 20000
#define SLACK 1e-9

struct machine {
	bool two_channels;
	double to_device, to_host, processor; /* when each is free again */
};

static double later(double a, double b)
{
	return a > b ? a : b;
}

/* Starts a copy when `ready` and the channel is free; returns its end. */
static double copy(struct machine *machine, bool to_host, double ready, double takes)
{
	double *channel =
		to_host && machine->two_channels ? &machine->to_host : &machine->to_device;

	*channel = later(*channel, ready) + takes;
	return *channel;
}

static double process(struct machine *machine, double ready, double takes)
{
	machine->processor = later(machine->processor, ready) + takes;
	return machine->processor;
}

/* Fig. 4: all writes, all processing, all reads; each segment in a stream of its own. */
static double simulate_a(const struct transfer_times *t, bool two_channels)
{
	struct machine machine = { .two_channels = two_channels };
	double *done = calloc(t->s, sizeof(*done)), end = 0;

	for (unsigned i = 0; i < t->s; i++)
		done[i] = copy(&machine, false, 0, t->t_w);
	for (unsigned i = 0; i < t->s; i++)
		done[i] = process(&machine, done[i], t->t_p);
	for (unsigned i = 0; i < t->s; i++)
		end = copy(&machine, true, done[i], t->t_r);
	free(done);
	return end;
}

/* Fig. 5: the wait in the loop is for the read that was started at the end of the round before,
 * too. */
static double simulate_b(const struct transfer_times *t, bool two_channels)
{
	struct machine machine = { .two_channels = two_channels };
	double now = copy(&machine, false, 0, t->t_w), read = 0;

	for (unsigned i = 1; i < t->s; i++) {
		double written = copy(&machine, false, now, t->t_w);
		double processed = process(&machine, now, t->t_p);

		now = later(later(written, processed), read);
		read = copy(&machine, true, now, t->t_r);
	}
	now = later(process(&machine, now, t->t_p), read);
	return copy(&machine, true, now, t->t_r);
}

/* Small integers, so that equal times and zero occur, and sums are exact. */
static struct transfer_times draw(void)
{
	return (struct transfer_times){ rand() % 12, rand() % 12, rand() % 12,
		1 + (unsigned)rand() % 30 };
}

static bool is_equal(double a, double b)
{
	return a - b < SLACK && b - a < SLACK;
}

Test(theory, completion_times)
{
	unsigned seed = (unsigned)test_seed();

	srand(seed);
	for (int i = 0; i < ROUNDS; i++) {
		struct transfer_times t = draw();
		double a1 = transfer_a_one_channel(&t), b1 = transfer_b_one_channel(&t);
		double a2 = transfer_a_two_channels(&t), b2 = transfer_b_two_channels(&t);

#define AT "t_w %g, t_p %g, t_r %g, s %u (seed %u)", t.t_w, t.t_p, t.t_r, t.s, seed
		cr_assert(is_equal(a1, simulate_a(&t, false)), "Theorem 2: " AT);
		cr_assert(is_equal(b1, simulate_b(&t, false)), "Theorem 4: " AT);
		cr_assert(is_equal(a2, simulate_a(&t, true)), "Theorem 7: " AT);
		cr_assert(is_equal(b2, simulate_b(&t, true)), "Theorem 10: " AT);
		cr_assert(b1 >= a1 - SLACK && b2 >= a2 - SLACK, "Theorems 3 and 8: " AT);
		cr_assert(
			b1 - a1 <= transfer_bound_one_channel(t.s) * a1 + SLACK, "Theorem 6: " AT);
		cr_assert(b2 - a2 <= transfer_bound_two_channels(t.s) * a2 + SLACK,
			"Theorem 12: " AT);
		cr_assert(a1 <= TRANSFER_CHANNELS_BOUND * a2 + SLACK, "Theorem 9: " AT);
	}
}

Test(theory, bounds)
{
	double most = 0;

	for (unsigned s = 1; s < 200; s++)
		if (transfer_bound_one_channel(s) > most)
			most = transfer_bound_one_channel(s);
	cr_assert(is_equal(most, 2.0 / 15), "%g", most);
	cr_assert(is_equal(transfer_bound_two_channels(2), 1.0 / 3));
	cr_assert_eq(transfer_bound_one_channel(2), 0);
	cr_assert_eq(transfer_bound_two_channels(1), 0);
}

/* The paper's own examples. */
Test(theory, examples)
{
	struct transfer_times tight = { 1, 3, 3, 4 }, fermi = { 2, 0, 2, 7 };
	struct transfer_times measured = { 1.87, 2.73, 3.63, 10 };

	cr_assert(is_equal(transfer_a_one_channel(&tight), 16));
	cr_assert(is_equal(transfer_b_one_channel(&tight), 18));
	cr_assert(is_equal(transfer_b_two_channels(&fermi), 2 * 7 + 4));
	cr_assert(is_equal(transfer_a_two_channels(&fermi), 2 * 7 + 2));
	cr_assert(is_equal(transfer_b_one_channel(&measured) - transfer_a_one_channel(&measured),
		2.73 - 1.87));
}

/* Theorems 5 and 11: strategy B does not always take the least time; Theorem 9: one channel takes up to
 * twice the time of two. */
Test(theory, where_the_bounds_are_met)
{
	struct transfer_times five = { 3, 2, 1, 3 }, eleven = { 3, 1, 2, 5 };
	struct transfer_times nine = { 1, 1e-6, 1, 100000 };

	cr_assert(is_equal(transfer_a_one_channel(&five), 3 * 3 + 3 * 1));
	cr_assert(is_equal(transfer_b_one_channel(&five), 3 * 3 + 2 + 2 * 1));
	cr_assert(is_equal(transfer_a_two_channels(&eleven), 5 * 3 + 1 + 2));
	cr_assert(is_equal(transfer_b_two_channels(&eleven), 5 * 3 + 2 * 2));
	cr_assert_gt(transfer_a_one_channel(&nine),
		0.9999 * TRANSFER_CHANNELS_BOUND * transfer_a_two_channels(&nine));
}

/* Section 3.1.1: maxL 17 and S_thread 228 make 7 %; with S_thread 192 it is 8.3 %. */
Test(theory, total_work)
{
	cr_assert_float_eq(total_work(1000, 228, 17), 1070, 0.5);
	cr_assert_float_eq(total_work(1000, 192, 17), 1083, 0.5);
	cr_assert_float_eq(total_work(1000, 228, 1), 1000, 1e-9);
	cr_assert_float_eq(total_work(1000, 228, 0), 1000, 1e-9);
}

/* Every match is in exactly one part, whatever the remainder. */
Test(theory, parts_of_a_text)
{
	static const uint64_t texts[] = { 0, 1, 7, 8, 9, 10, 100, 1001, 12345 };
	uint64_t start, stop;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		for (unsigned nodes = 1; nodes <= 11; nodes++)
			for (uint32_t m = 1; m <= 9; m += 4) {
				uint64_t n = texts[i], matches = 0, end = 0;

				for (unsigned rank = 0; rank < nodes; rank++) {
					part_of_text(n, rank, nodes, m, &start, &stop);
					cr_assert_eq(start, n * rank / nodes);
					cr_assert(stop <= n && start <= stop && start <= end);
					matches += stop - start < m ? 0 : stop - start - m + 1;
					end = stop;
				}
				cr_assert_eq(end, n);
				cr_assert_eq(matches, n < m ? 0 : n - m + 1, "%llu bytes, %u nodes",
					(unsigned long long)n, nodes);
			}
	part_of_text(UINT64_MAX - 5, 2, 3, 8, &start, &stop); /* no product overflows */
	cr_assert_eq(stop, UINT64_MAX - 5);
}
