/* An engine on text in memory: chunks without reader, pairing and carving. */
#ifndef BURIN_BENCH_BENCH_SEARCH_H
#define BURIN_BENCH_BENCH_SEARCH_H

#include "scan/hit_tally.h"
#include "bench/search_text.h"
#include "scan/scan.h"

struct bench_search;

struct bench_search_options {
	const struct scan_engine *engine;
	const char *kernel; /* NULL: the engine's choice */
	const struct pattern_set *set;
	const struct bench_text *text;
	size_t chunk_len; /* own bytes of a chunk */
	struct pool *pool;
	const struct gpu_options *gpu;
};

/* The options are copied; what they point to must outlive the search. Errors are the engine's. */
int bench_search_open(struct bench_search **search, const struct bench_search_options *options,
	struct error *error);
/* NULL is fine. */
void bench_search_close(struct bench_search *search);
/* How it works; never NULL. */
const char *bench_search_kernel(const struct bench_search *search);

/* Searches for what starts in the text's first `len` bytes, `passes` times in a row without a
 * break. hits: NULL, or where the hits of all passes are added, at their places in the text.
 * *count: hits in all. Returns the seconds it took, or a negative errno with error set. */
double bench_search_run(struct bench_search *search, size_t len, unsigned passes,
	struct hit_tallies *hits, uint64_t *count, struct error *error);

#endif
