/*
 * The tables of five papers again on the machine at hand: `burin bench --papers`.
 *
 * 1: X. Zha, S. Sahni, GPU-to-GPU and Host-to-Host Multipattern String Matching on a GPU, 2013
 * 2: the Aho-Corasick and Wu-Manber algorithms on a cluster with CUDA and MPI (Kouzinopoulos,
 *    Assael, Pyrgiotis, Margaritis), 2015
 * 3: C.-H. Lin and others, Accelerating Pattern Matching Using a Novel Parallel Algorithm on GPUs
 *    (PFAC), 2013
 * 4: N.-P. Tran, M. Lee, D. H. Choi, Cache Locality-Centric Parallel String Matching on Many-Core
 *    Accelerator Chips, 2015
 * 5: Han, Boyer-Moore-Horspool on a GPU
 *
 * A row's hits are compared with those of the CPU engine `ac`, by count and by a checksum over
 * (offset, pattern) that does not depend on order; tests/engines compares that engine with
 * `reference`.
 */
#ifndef BURIN_BENCH_PAPERS_PAPERS_H
#define BURIN_BENCH_PAPERS_PAPERS_H

#include "base/error.h"
#include "bench/papers/paper_table.h"
#include "scan/gpu_options.h"
#include "patterns/pattern_set.h"

#define PAPERS 5

struct papers_options {
	unsigned paper; /* 1 to PAPERS; 0: all */
	uint64_t size;  /* the longest text, bytes; the paper's sizes shrink in proportion; 0: as
			   published */
	uint64_t seed;
	unsigned rounds;  /* at least 1 */
	unsigned threads; /* the most that CPU engines use; 0: one a processor */
	struct gpu_options gpu;
	const char *data; /* NULL, or an image to search in place of made data; with one paper
			     only */
	const struct pattern_set
		*set; /* NULL, or the set to use in place of the made dictionary; likewise */
};

struct papers_result {
	struct paper_tables tables;
	double device_read, device_copy; /* bytes a second; 0: not measured */
	char gpu_why[1024];              /* why there is no GPU in the tables; "": there is one */
	double seconds[PAPERS];          /* each paper's tables took; 0: not made */
	unsigned threads;
	unsigned different; /* rows whose hits differ from those of `ac` */
};

/* Measures. Rows that can't be measured here are "-". -EINTR when a signal was caught; else a
 * negative errno with error set. papers_result_free must follow in any case. */
int papers_run(
	struct papers_result *result, const struct papers_options *options, struct error *error);
void papers_result_free(struct papers_result *result);

#endif
