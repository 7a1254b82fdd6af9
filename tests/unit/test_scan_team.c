/* A matcher whose chunks are searched by a team of OpenMP's threads (scan/matcher.h), and the
 * pool's way beside it: how the pieces are dealt, that hits are bounded, that a failure comes
 * back. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "scan/matcher.h"

enum { THREADS = 3, LEN = 3 << 20, EXTENT = 512 << 10, CALLS = 64 };

/* What find was called with: starts from and to, of the image. */
static struct call {
	uint64_t from, to;
	pthread_t thread;
} calls[CALLS];
static size_t call_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int failure; /* what find returns for a piece that begins after the first MiB */

static int compile(void **database, const struct pattern_set *set, struct error *error)
{
	(void)error;
	*database = (void *)set;
	return 0;
}

static void keep(void *database)
{
	(void)database;
}

/* A hit wherever the byte is 1. */
static int find(const void *database, void *scratch, const uint8_t *text, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *sink)
{
	(void)database;
	(void)scratch;
	(void)text_len;
	pthread_mutex_lock(&lock);
	if (call_count < CALLS)
		calls[call_count++] = (struct call){ offset, offset + len, pthread_self() };
	pthread_mutex_unlock(&lock);
	if (failure && offset > 1 << 20)
		return failure;
	for (size_t i = 0; i < len; i++)
		if (text[i] == 1 && !hit_sink_add(sink, offset + i, 0))
			return 0;
	return 0;
}

struct fixture {
	struct pattern_set set;
	struct pool *pool;
	struct scan *scan;
	struct chunk chunk;
	uint8_t *bytes;
};

static void fixture_init(struct fixture *f, const struct matcher *matcher, size_t capacity)
{
	struct pattern pattern;
	struct scan_options options = { .chunk_len = LEN, .chunks = 2 };

	memset(f, 0, sizeof(*f));
	call_count = 0;
	failure = 0;
	cr_assert_eq(pattern_parse(&pattern, "01", NULL), 0);
	pattern_set_add(&f->set, &pattern);
	f->pool = options.pool = pool_new(THREADS);
	f->bytes = xcalloc(LEN, 1);
	f->chunk = (struct chunk){ .data = f->bytes,
		.len = LEN,
		.hits = xcalloc(capacity, sizeof(struct hit)),
		.hit_capacity = capacity };
	cr_assert_eq(cpu_scan_open(&f->scan, matcher, &f->set, &options, NULL), 0);
}

static void fixture_free(struct fixture *f)
{
	cpu_scan_close(f->scan);
	pool_free(f->pool);
	pattern_set_free(&f->set);
	free(f->chunk.hits);
	free(f->bytes);
}

static void search(struct fixture *f)
{
	struct chunk *chunk;

	call_count = 0;
	cr_assert_eq(cpu_scan_submit(f->scan, &f->chunk), 0);
	cr_assert_eq(cpu_scan_reap(f->scan, &chunk), 0);
	cr_assert_eq(chunk, &f->chunk);
}

static const struct matcher matchers[] = {
	{ .name = "pool", .team = TEAM_POOL, .compile = compile, .free = keep, .find = find },
	{ .name = "dynamic", .team = TEAM_DYNAMIC, .compile = compile, .free = keep, .find = find },
	{ .name = "segments",
		.team = TEAM_SEGMENTS,
		.compile = compile,
		.free = keep,
		.find = find },
};

static int compare_calls(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

Test(scan_team, all_bytes_once_and_all_hits)
{
	for (size_t i = 0; i < 3; i++) {
		struct fixture f;

		fixture_init(&f, &matchers[i], 100);
		for (size_t k = 0; k < 50; k++)
			f.bytes[k * 60000 + 7] = 1;
		search(&f);
		cr_assert_eq(f.chunk.until, LEN);
		cr_assert_eq(f.chunk.status, 0);
		cr_assert_eq(f.chunk.hit_count, 50, "%s", matchers[i].name);
		for (size_t k = 0; k < 50; k++)
			cr_assert_eq(f.chunk.hits[k].offset, k * 60000 + 7);
		qsort(calls, call_count, sizeof(*calls), compare_calls);
		cr_assert_eq(calls[0].from, 0);
		for (size_t k = 1; k < call_count; k++)
			cr_assert_eq(calls[k].from, calls[k - 1].to, "%s", matchers[i].name);
		cr_assert_eq(calls[call_count - 1].to, LEN);
		fixture_free(&f);
	}
}

static void sift(
	void *context, unsigned worker, const struct chunk *chunk, struct hit *hits, size_t count)
{
	cr_assert_lt(worker, THREADS);
	cr_assert_eq(context, &failure);
	for (size_t i = 0; i < count; i++)
		hits[i].note = chunk->data[hits[i].offset - chunk->offset + 1];
}

Test(scan_team, all_hits_are_sifted)
{
	static const struct scan_sifter sifter = { sift, &failure };

	for (size_t i = 0; i < 3; i++) {
		struct fixture f;

		fixture_init(&f, &matchers[i], 100);
		cpu_scan_close(f.scan);
		cr_assert_eq(cpu_scan_open(&f.scan, &matchers[i], &f.set,
				     &(struct scan_options){ .chunk_len = LEN,
					     .chunks = 2,
					     .pool = f.pool,
					     .sifter = &sifter },
				     NULL),
			0);
		for (size_t k = 0; k < 50; k++) {
			f.bytes[k * 60000 + 7] = 1;
			f.bytes[k * 60000 + 8] = (uint8_t)(100 + k);
		}
		search(&f);
		cr_assert_eq(f.chunk.hit_count, 50);
		for (size_t k = 0; k < 50; k++)
			cr_assert_eq(f.chunk.hits[k].note, 100 + k, "%s", matchers[i].name);
		fixture_free(&f);
	}
}

/* Three threads' segments of 1 MiB are gone through in extents of 512 KiB; nobody helps another. */
Test(scan_team, a_segment_a_thread)
{
	struct fixture f;

	fixture_init(&f, &matchers[2], 100);
	search(&f);
	qsort(calls, call_count, sizeof(*calls), compare_calls);
	cr_assert_eq(call_count, 6);
	for (size_t k = 0; k < 6; k += 2) {
		cr_assert_eq(calls[k].from, k * EXTENT);
		cr_assert(pthread_equal(calls[k].thread, calls[k + 1].thread));
	}
	/* From the middle on: the rest is dealt out. */
	f.chunk.from = LEN / 2;
	search(&f);
	qsort(calls, call_count, sizeof(*calls), compare_calls);
	cr_assert_eq(call_count, 3);
	for (size_t k = 0; k < 3; k++)
		cr_assert_eq(calls[k].from, LEN / 2 + k * EXTENT);
	fixture_free(&f);
}

/* The result is there when submit returns, and the pool was not asked: a job of its would not be
 * done before the one that keeps it busy. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void wait_at_gate(struct pool_job *job, unsigned worker)
{
	(void)job;
	(void)worker;
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
}

Test(scan_team, needs_nothing_of_the_pool)
{
	for (size_t i = 1; i < 3; i++) {
		struct pool_job jobs[THREADS] = { 0 };
		struct fixture f;

		fixture_init(&f, &matchers[i], 100);
		f.bytes[LEN - 1] = 1;
		pthread_mutex_lock(&gate);
		for (size_t k = 0; k < THREADS; k++) {
			jobs[k].run = wait_at_gate;
			pool_submit(f.pool, POOL_WRITE, &jobs[k]);
		}
		search(&f);
		cr_assert_eq(f.chunk.hit_count, 1);
		pthread_mutex_unlock(&gate);
		fixture_free(&f);
	}
}

Test(scan_team, full_lists_are_cut_before_a_start)
{
	for (size_t i = 0; i < 3; i++) {
		struct fixture f;

		fixture_init(&f, &matchers[i], 10);
		for (size_t k = 0; k < 30; k++)
			f.bytes[100000 * k + 1] = 1;
		for (size_t k = 0; k < 3; k++) {
			search(&f);
			cr_assert_eq(f.chunk.hit_count, 10);
			cr_assert_eq(f.chunk.hits[9].offset, 100000 * (10 * k + 9) + 1);
			cr_assert_eq(f.chunk.until, k < 2 ? 100000 * (10 * k + 10) + 1 : LEN);
			f.chunk.from = f.chunk.until;
		}
		fixture_free(&f);
	}
}

Test(scan_team, failures_come_back)
{
	for (size_t i = 0; i < 3; i++) {
		struct fixture f;

		fixture_init(&f, &matchers[i], 10);
		failure = -EIO;
		search(&f);
		cr_assert_eq(f.chunk.status, -EIO, "%s", matchers[i].name);
		failure = 0;
		search(&f);
		cr_assert_eq(f.chunk.status, 0);
		cr_assert_eq(f.chunk.until, LEN);
		fixture_free(&f);
	}
}
