#include "bench/papers/theory.h"

#include <stdbool.h>

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Whether a read waits for its segment though the channel is free: the condition in cases 1c and 4b
 * of Theorem 2. */
static bool some_read_waits(const struct transfer_times *t)
{
	for (unsigned i = 0; i < t->s; i++)
		if (t->t_w + (i + 1) * t->t_p > t->s * t->t_w + i * t->t_r)
			return true;
	return false;
}

double transfer_a_one_channel(const struct transfer_times *t)
{
	double all_w = t->s * t->t_w, all_p = t->s * t->t_p, all_r = t->s * t->t_r;

	if (t->s == 1)
		return t->t_w + t->t_p + t->t_r;
	if (t->t_w >= t->t_p)
		return t->t_p <= all_r - t->t_r ? all_w + all_r            /* 1a */
						: all_w + t->t_p + t->t_r; /* 2 */
	if (all_w - t->t_w <= t->t_p)
		return t->t_r > t->t_p ? t->t_w + t->t_p + all_r  /* 3 */
				       : t->t_w + all_p + t->t_r; /* 4a */
	if (t->t_r >= t->t_p || !some_read_waits(t))
		return all_w + all_r;   /* 1b, 1c */
	return t->t_w + all_p + t->t_r; /* 4b */
}

double transfer_b_one_channel(const struct transfer_times *t)
{
	if (t->s == 1)
		return t->t_w + t->t_p + t->t_r;
	return t->t_w + larger(t->t_w, t->t_p) + (t->s - 2) * larger(t->t_w + t->t_r, t->t_p) +
	       larger(t->t_p, t->t_r) + t->t_r;
}

double transfer_a_two_channels(const struct transfer_times *t)
{
	if (t->t_w >= t->t_p && t->t_w >= t->t_r)
		return t->s * t->t_w + t->t_p + t->t_r;
	if (t->t_w < t->t_p && t->t_p >= t->t_r)
		return t->t_w + t->s * t->t_p + t->t_r;
	return t->t_w + t->t_p + t->s * t->t_r;
}

double transfer_b_two_channels(const struct transfer_times *t)
{
	if (t->s == 1)
		return t->t_w + t->t_p + t->t_r;
	return t->t_w + larger(t->t_w, t->t_p) +
	       (t->s - 2) * larger(larger(t->t_w, t->t_r), t->t_p) + larger(t->t_p, t->t_r) +
	       t->t_r;
}

double transfer_bound_one_channel(unsigned s)
{
	return s > 2 ? (s - 2.0) / ((double)s * s - 1) : 0;
}

double transfer_bound_two_channels(unsigned s)
{
	return s > 1 ? 1.0 / (s + 1.0) : 0;
}

double total_work(double n, unsigned s_thread, unsigned max_len)
{
	return n * (1 + (max_len ? max_len - 1.0 : 0) / s_thread);
}

void part_of_text(
	uint64_t n, unsigned rank, unsigned nodes, uint32_t m, uint64_t *start, uint64_t *stop)
{
	uint64_t next = (uint64_t)((unsigned __int128)n * (rank + 1) / nodes);

	*start = (uint64_t)((unsigned __int128)n * rank / nodes);
	*stop = n - next > m - 1u ? next + m - 1 : n;
}
