/*
 * The formulas of papers 1 and 2.
 *
 * Completion times of host-to-host searching by strategies A and B: Zha and Sahni, GPU-to-GPU and
 * Host-to-Host Multipattern String Matching on a GPU, IEEE Transactions on Computers 62(6), 2013,
 * sections 4.2 and 4.3. The text comes in s equal segments. Each is written to the device (t_w),
 * processed there (t_p), and its result is read back (t_r). Strategy A has a buffer for every
 * segment: it starts all writes, all processing, and all reads, in this order. Strategy B has two
 * input and two output buffers; in each step one segment is written while the one before is
 * processed, then both are awaited, and the result is read during the next step. With one I/O
 * channel a read and a write exclude each other.
 */
#ifndef BURIN_BENCH_PAPERS_THEORY_H
#define BURIN_BENCH_PAPERS_THEORY_H

#include <stdint.h>

/* Equation (3) of Kouzinopoulos and others: the part of a text of n bytes that process `rank` of `nodes`
 * searches for patterns of m bytes: start = rank n / nodes, stop = (rank + 1) n / nodes + m - 1. Products
 * are taken first, so that no remainder is lost, and stop is cut at n. A match belongs to the process
 * in whose part it starts; those of the m - 1 bytes after the next process's start do not fit the part. */
void part_of_text(
	uint64_t n, unsigned rank, unsigned nodes, uint32_t m, uint64_t *start, uint64_t *stop);

/* Section 3.1.1: TW, the total work of searching n bytes by threads that have s_thread bytes of their own
 * and read max_len - 1 beyond them, max_len being the length of the longest pattern: the length of the
 * text that a sequential search would have the same work with. */
double total_work(double n, unsigned s_thread, unsigned max_len);

/* The symbols are the paper's. Times in any one unit, none negative; s at least 1. */
struct transfer_times {
	double t_w, t_p, t_r;
	unsigned s;
};

/* Theorems 2 and 3: T_A with one channel, which is the least possible of any strategy. */
double transfer_a_one_channel(const struct transfer_times *times);
/* Theorem 4: T_B with one channel. */
double transfer_b_one_channel(const struct transfer_times *times);
/* Theorems 7 and 8: T_A with two channels, again the least possible. */
double transfer_a_two_channels(const struct transfer_times *times);
/* Theorem 10: T_B with two channels. */
double transfer_b_two_channels(const struct transfer_times *times);

/* Theorem 6: with one channel (T_B - T_A) / T_A is below this, (s - 2) / (s^2 - 1), which is 2/15
 * at most; 0 for s <= 2: then the times are equal. */
double transfer_bound_one_channel(unsigned s);
/* Theorem 12: with two channels it is below 1 / (s + 1); 0 for s = 1. */
double transfer_bound_two_channels(unsigned s);
/* Theorem 9: the best time with one channel is at most this many times that with two. */
#define TRANSFER_CHANNELS_BOUND 2.0

#endif
