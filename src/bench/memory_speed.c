#include "bench/memory_speed.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/pool.h"

struct reading {
	const uint64_t *words;
	size_t share; /* words of each job */
};

static _Atomic uint64_t sink; /* takes the sums, so that the compiler keeps the reads */

static void read_words(void *context, unsigned number, unsigned worker)
{
	const struct reading *reading = context;
	const uint64_t *words = reading->words + number * reading->share;
	uint64_t sums[8] = { 0 };

	(void)worker;
	for (size_t i = 0; i + 8 <= reading->share; i += 8)
		for (unsigned j = 0; j < 8; j++)
			sums[j] ^= words[i + j];
	for (unsigned j = 0; j < 8; j++)
		atomic_fetch_xor_explicit(&sink, sums[j], memory_order_relaxed);
}

double bench_memory_read(struct pool *pool, const struct bench_text *text)
{
	unsigned threads = pool_threads(pool);
	struct reading reading = { (const uint64_t *)text->bytes,
		text->len / sizeof(uint64_t) / threads };
	double from = clock_seconds();

	pool_share(pool, POOL_SCAN, threads, read_words, &reading);
	return clock_seconds() - from;
}
