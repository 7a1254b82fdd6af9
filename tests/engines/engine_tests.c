/*
 * Every engine against a naive oracle and so against each other: a table of cases, each a pattern
 * set and a text, searched in many ways (chunk sizes, threads, chunks in flight, room for hits,
 * alignment).
 *
 * An engine needs a row in src/scan/engines.c and nothing here. A case is a function that fills
 * struct subject, and a row in subject_cases (cases.h).
 *
 * engines [--seed N] [--rounds N] [--engine NAME] [--gpu [--kernel NAME]] [--quick] [--searches] [--verbose]
 * --gpu: the gpu engine alone, with each of its kernels or one, and what `burin bench --papers` uses of
 * them (forms.h); exit code 77 when it is not usable here. Then come the searches that put files in pieces
 * together (searches.h) and photographs (photographs.h), or, with --searches, nothing else.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/pool.h"
#include "engines/subject.h"
#include "engines/cases.h"
#include "engines/forms.h"
#include "engines/kept_texts.h"
#include "engines/photographs.h"
#include "engines/searches.h"
#include "scan/gpu_kernels.h"
#include "scan/scan.h"

/* How a text is dealt to an engine. */
struct way {
	size_t chunk_len;    /* own bytes of a chunk */
	size_t hit_capacity; /* hits of a chunk */
	unsigned chunks;     /* in flight */
	unsigned misalign;   /* bytes from an aligned address */
	bool newest_first;   /* which chunk is submitted first when one comes back unfinished */
};

enum { CHUNKS_MAX = 4, SKIPPED = 77 };

static const unsigned thread_counts[] = { 1, 2, 5 };
#define THREAD_COUNTS (sizeof(thread_counts) / sizeof(*thread_counts))

static struct pool *pools[THREAD_COUNTS];
static unsigned passed, failed, refused;
static bool verbose, quick;
static const char *only_kernel;
static uint8_t *ring; /* NULL, or where all parts are: memory that the engine has registered */
static const uint64_t base_offset = (1ull << 40) + 12345; /* of the text in its image */

/* ---- one run ---- */

/* A part of the text in memory of its own size, so that the address sanitizer sees a read too
 * far. */
struct part {
	struct chunk chunk;
	uint8_t *memory;
	struct hit *hits; /* of all submissions so far */
	size_t hit_count, capacity;
	bool done;
};

static void part_init(
	struct part *part, const struct subject *subject, const struct way *way, size_t at)
{
	size_t overlap = subject->set.longest ? subject->set.longest - 1 : 0;
	size_t rest = subject->text_len - at;
	struct chunk *chunk = &part->chunk;

	memset(part, 0, sizeof(*part));
	chunk->len = rest < way->chunk_len ? rest : way->chunk_len;
	rest -= chunk->len;
	chunk->tail_len = rest < overlap ? rest : overlap;
	if (!ring) {
		part->memory = xmalloc(way->misalign + chunk->len + chunk->tail_len);
		memcpy(part->memory + way->misalign, subject->text + at,
			chunk->len + chunk->tail_len);
	}
	chunk->data = ring ? ring + way->misalign + at : part->memory + way->misalign;
	chunk->offset = base_offset + at;
	chunk->hits = xmalloc(way->hit_capacity * sizeof(*chunk->hits));
	chunk->hit_capacity = way->hit_capacity;
}

static void part_free(struct part *part)
{
	free(part->memory);
	free(part->chunk.hits);
	free(part->hits);
}

/* What a chunk came back with, against its contract. NULL: all is well. */
static const char *part_take(struct part *part, const struct subject *subject)
{
	const struct chunk *chunk = &part->chunk;
	static char what[160];

	if (chunk->status) {
		snprintf(what, sizeof(what), "status %s", strerror(-chunk->status));
		return what;
	}
	if (chunk->until > chunk->len ||
		(chunk->until <= chunk->from && chunk->until != chunk->len))
		return "until makes no progress, or is past the chunk";
	if (chunk->hit_count > chunk->hit_capacity)
		return "more hits than there is room for";
	if (chunk->until < chunk->len && chunk->hit_count + oracle_next(subject, base_offset,
								    chunk->offset + chunk->until) <=
						 chunk->hit_capacity)
		return "cut though the next hits would have fitted";
	for (size_t i = 0; i < chunk->hit_count; i++) {
		uint64_t at = chunk->hits[i].offset - chunk->offset;

		if (at < chunk->from || at >= chunk->until)
			return "a hit outside of what was searched";
		if (i && hit_compare(&chunk->hits[i - 1], &chunk->hits[i]) >= 0)
			return "hits are not sorted or not unique";
	}
	while (part->capacity < part->hit_count + chunk->hit_count)
		part->hits =
			xgrow(part->hits, &part->capacity, part->capacity, sizeof(*part->hits));
	if (chunk->hit_count)
		memcpy(part->hits + part->hit_count, chunk->hits,
			chunk->hit_count * sizeof(*part->hits));
	part->hit_count += chunk->hit_count;
	part->done = chunk->until == chunk->len;
	part->chunk.from = chunk->until;
	return NULL;
}

static const char *compare(
	const struct part *parts, size_t part_count, const struct subject *subject)
{
	static char what[200];
	size_t k = 0;

	for (size_t p = 0; p < part_count; p++)
		for (size_t i = 0; i < parts[p].hit_count; i++, k++) {
			struct hit got = parts[p].hits[i];
			struct hit want = k < subject->hit_count ? subject->hits[k]
								 : (struct hit){ UINT64_MAX, 0, 0 };

			got.offset -= base_offset;
			if (hit_compare(&got, &want) == 0)
				continue;
			snprintf(what, sizeof(what), "hit %zu is %lld,%u and should be %lld,%u", k,
				(long long)got.offset, got.pattern, (long long)want.offset,
				want.pattern);
			return what;
		}
	if (k == subject->hit_count)
		return NULL;
	snprintf(what, sizeof(what), "%zu hits instead of %zu", k, subject->hit_count);
	return what;
}

/* The part that is to be submitted next: an unfinished one that is not in flight. */
static struct part *choose(
	struct part *parts, size_t from, size_t to, const bool *flying, bool newest)
{
	struct part *best = NULL;

	for (size_t i = from; i < to; i++)
		if (!parts[i].done && !flying[i] && (!best || newest))
			best = &parts[i];
	return best;
}

static const char *drive(const struct scan_engine *engine, struct scan *scan, struct part *parts,
	size_t part_count, const struct subject *subject, const struct way *way)
{
	bool *flying = xcalloc(part_count, sizeof(*flying));
	const char *what = NULL;
	size_t first = 0;
	unsigned count = 0;

	for (;;) {
		struct part *part;
		struct chunk *chunk;
		size_t last;

		while (first < part_count && parts[first].done)
			first++;
		last = first + way->chunks < part_count ? first + way->chunks : part_count;
		while (!what && count < way->chunks &&
			(part = choose(parts, first, last, flying, way->newest_first))) {
			if (engine->submit(scan, &part->chunk) != 0) {
				what = "submit refuses";
				break;
			}
			flying[part - parts] = true;
			count++;
		}
		if (engine->reap(scan, &chunk) != 0)
			break;
		part = (struct part *)chunk; /* its first member */
		flying[part - parts] = false;
		count--;
		if (!what)
			what = part_take(part, subject);
	}
	if (!what && first < part_count)
		what = "reap says that nothing is in flight";
	free(flying);
	return what;
}

static const char *run_way(const struct scan_engine *engine, struct scan *scan,
	const struct subject *subject, const struct way *way)
{
	size_t part_count = subject->text_len / way->chunk_len + 1;
	struct part *parts = xcalloc(part_count, sizeof(*parts));
	const char *what;

	if (ring)
		memcpy(ring + way->misalign, subject->text, subject->text_len);
	for (size_t i = 0; i < part_count; i++)
		part_init(&parts[i], subject, way, i * way->chunk_len);
	what = drive(engine, scan, parts, part_count, subject, way);
	if (!what)
		what = compare(parts, part_count, subject);
	for (size_t i = 0; i < part_count; i++)
		part_free(&parts[i]);
	free(parts);
	return what;
}

/* ---- all ways ---- */

static void judge(const char *engine, const struct subject *subject, const struct way *way,
	unsigned threads, const char *what)
{
	if (!what) {
		passed++;
		return;
	}
	if (failed++ < 20)
		printf("FAIL %s: %s (%u patterns, %zu bytes; %u threads, chunks of %zu, %u in "
		       "flight, room "
		       "for %zu, from %u%s): %s\n",
			subject->name, engine, subject->set.count, subject->text_len, threads,
			way->chunk_len, way->chunks, way->hit_capacity, way->misalign,
			way->newest_first ? ", newest first" : "", what);
}

/* Small texts are cut at all places; large ones at some. */
static size_t next_chunk_len(const struct subject *subject, size_t len)
{
	if (len >= subject->text_len)
		return 0;
	if (subject->text_len <= 80)
		return len + 1;
	len = len * 7 + 13;
	return len < subject->text_len ? len : subject->text_len;
}

static void run_ways(const struct scan_engine *engine, const char *name, struct scan *scan,
	const struct subject *subject, unsigned threads, unsigned step)
{
	size_t count = subject->set.count ? subject->set.count : 1, turn = 0;
	size_t shortest = subject->set.longest > 1 ? subject->set.longest : 1;

	/* With room for one place's hits only, a long text would take ages. */
	if (subject->hit_count > 20000)
		count += 3000;
	if (shortest < subject->text_len / 200)
		shortest = subject->text_len / 200;
	for (size_t len = shortest; len; len = next_chunk_len(subject, len), turn++) {
		size_t rooms[] = { count, count + 1, count * 3 + 5, subject->hit_count + count };

		for (size_t i = turn % step; i < sizeof(rooms) / sizeof(*rooms); i += step) {
			struct way way = {
				.chunk_len = len,
				.hit_capacity = rooms[i],
				.chunks = 1 + (turn + i) % CHUNKS_MAX,
				.misalign = (turn * 5 + i) % 9,
				.newest_first = turn % 2,
			};

			judge(name, subject, &way, threads, run_way(engine, scan, subject, &way));
		}
	}
}

/* Many patterns' tables take the processor seconds to build, for each of more than thirty kernels. */
static bool is_too_large(const struct subject *subject)
{
	return quick && subject->set.count > FORMS_PATTERNS_MAX;
}

/* The gpu engine leaves regexes to the others, and a kernel that is named may not suit the set. */
static bool may_refuse(const struct scan_engine *engine, const char *kernel,
	const struct subject *subject, const struct error *error)
{
	if (strcmp(engine->name, "gpu") != 0)
		return false;
	return subject_has_regex(subject) || (kernel && kernel_may_refuse(kernel, error));
}

/* What is there only to be compared with is tried in fewer ways, for there is much of it. */
static bool is_comparison(const struct scan_engine *engine, const char *kernel)
{
	for (const struct gpu_kernel_info *info = gpu_kernel_list; kernel && info->name; info++)
		if (strcmp(info->name, kernel) == 0)
			return info->comparison;
	return engine->comparison;
}

static void run_kernel(
	const struct scan_engine *engine, const char *kernel, const struct subject *subject)
{
	bool comparison = is_comparison(engine, kernel);
	bool has_threads = strcmp(engine->name, "gpu") != 0;

	for (size_t i = 0; i < THREAD_COUNTS; i++) {
		struct scan_options options = {
			.pool = pools[i],
			.chunk_len = 2 * (subject->text_len + subject->set.longest) + 1,
			.chunks = CHUNKS_MAX,
			.kernel = kernel,
		};
		struct error error = { 0 };
		struct scan *scan;
		int status;

		if ((subject->large || comparison || !has_threads) && thread_counts[i] != 2)
			continue;
		status = engine->open(&scan, &subject->set, &options, &error);
		if (status == -EINVAL && may_refuse(engine, kernel, subject, &error)) {
			refused++;
			return;
		}
		if (status != 0) {
			printf("FAIL %s: %s %s does not open: %s\n", subject->name, engine->name,
				kernel ? kernel : "", error.text);
			failed++;
			return;
		}
		run_ways(engine, kernel ? kernel : engine->name, scan, subject, thread_counts[i],
			comparison ? 4 : 1);
		engine->close(scan);
	}
}

/* What is not tried in several ways. */
static void judge_once(const struct subject *subject, const char *name, const char *what)
{
	judge(name, subject, &(struct way){ 0 }, 1, what);
}

#define RING_MISALIGN_MAX 16

/* Chunks in a ring that the driver has pinned, so that the device fetches them from there; and at the
 * same time in one that it refuses to pin a second time, which must be said. */
static void run_ring(const struct scan_engine *engine, const struct subject *subject)
{
	size_t len = subject->text_len + RING_MISALIGN_MAX;
	struct scan_options options = { .pool = pools[0],
		.chunk_len = 2 * (subject->text_len + subject->set.longest) + 1,
		.chunks = CHUNKS_MAX,
		.ring = ring = forms_pages(len),
		.ring_len = len };
	struct scan *scans[2] = { NULL, NULL };
	struct error error = { 0 };

	for (int i = 0; i < 2; i++) {
		bool said;

		if (engine->open(&scans[i], &subject->set, &options, &error)) {
			if (may_refuse(engine, NULL, subject, &error))
				refused++;
			else
				judge_once(subject, "gpu, ring", error.text);
			break;
		}
		said = strstr(engine->kernel(scans[i]), "not pinned") != NULL;
		judge_once(subject, "gpu, ring",
			said == (i == 1) ? NULL : "whether the ring is pinned is not said");
		run_ways(engine, i ? "gpu, ring not pinned" : "gpu, ring pinned", scans[i], subject,
			1, i ? 4 : 1);
	}
	for (int i = 2; i-- > 0;)
		engine->close(scans[i]);
	free(ring);
	ring = NULL;
}

/* The engine as it chooses, and, where it has a table of kernels, each of them. */
static void run_engine(const struct scan_engine *engine, const struct subject *subject)
{
	if (!only_kernel)
		run_kernel(engine, NULL, subject);
	if (strcmp(engine->name, "gpu") != 0)
		return;
	for (const struct gpu_kernel_info *kernel = gpu_kernel_list; kernel->name; kernel++)
		if ((!only_kernel || strcmp(kernel->name, only_kernel) == 0) &&
			!(kernel->comparison && is_too_large(subject)))
			run_kernel(engine, kernel->name, subject);
	if (!only_kernel && !is_too_large(subject))
		run_ring(engine, subject);
	refused += forms_run_subject(subject, only_kernel, quick, judge_once);
}

static bool wanted(const struct scan_engine *engine, const char *only)
{
	char reason[256];

	return (!only || strcmp(engine->name, only) == 0) &&
	       engine->probe(reason, sizeof(reason)) == 0;
}

static void run_subject(struct subject *subject, const char *only)
{
	const struct scan_engine *engine;
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	subject_finish(subject);
	if (subject->complaint) {
		printf("FAIL %s: %s\n", subject->name, subject->complaint);
		failed++;
	}
	for (unsigned i = 0; (engine = scan_engine_at(i)); i++)
		if (wanted(engine, only))
			run_engine(engine, subject);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (verbose)
		printf("%-24s %6u patterns %8zu bytes %8zu hits %8.3f s\n", subject->name,
			subject->set.count, subject->text_len, subject->hit_count,
			(double)(end.tv_sec - start.tv_sec) +
				(double)(end.tv_nsec - start.tv_nsec) / 1e9);
	subject_free(subject);
}

/* ---- searches for files in pieces ---- */

static void judge_search(const char *name, const char *what)
{
	if (what)
		printf("FAIL searches: %s: %s\n", name, what);
	*(what ? &failed : &passed) += 1;
}

/* The processor's, or the device's. */
static void run_searches(const char *only, uint64_t seed, unsigned rounds)
{
	bool is_gpu = only && strcmp(only, "gpu") == 0;
	const struct search_tool *tool = is_gpu ? search_gpu : &search_cpu;

	if (tool && (is_gpu || !only || strcmp(only, "cpu") == 0))
		searches_run(tool, seed, rounds, judge_search);
	if (is_gpu) {
		photographs_test(scan_engine_find(only), seed, rounds, judge_search);
		kept_texts_test(scan_engine_find(only), tool, seed, judge_search);
	}
}

/* ---- the program ---- */

static int list_engines(const char *only)
{
	const struct scan_engine *engine;
	int usable = 0;

	for (unsigned i = 0; (engine = scan_engine_at(i)); i++) {
		char reason[256] = "";

		if (only && strcmp(engine->name, only) != 0)
			continue;
		if (engine->probe(reason, sizeof(reason)) == 0)
			usable++;
		else
			printf("%s is skipped: %s\n", engine->name, reason);
	}
	return usable;
}

static void run_random(
	const char *name, void (*fill)(struct subject *, uint64_t), uint64_t seed, const char *only)
{
	struct subject subject = { .name = name };
	unsigned before = failed;

	fill(&subject, seed);
	run_subject(&subject, only);
	if (failed > before)
		printf("     again with: --seed %llu --rounds 1\n", (unsigned long long)seed);
}

static void run_all(const char *only, uint64_t seed, unsigned rounds)
{
	for (const struct subject_case *row = subject_cases; row->name; row++) {
		struct subject subject = { .name = row->name };

		if (quick && row->slow)
			continue;
		row->fill(&subject);
		run_subject(&subject, only);
	}
	for (unsigned round = 0; round < rounds; round++) {
		run_random("random", subject_random, seed + round, only);
		run_random("sparse", subject_sparse, seed + round, only);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "quick", no_argument, NULL, 'q' },
		{ "engine", required_argument, NULL, 'e' },
		{ "gpu", no_argument, NULL, 'g' },
		{ "kernel", required_argument, NULL, 'k' },
		{ "searches", no_argument, NULL, 'p' },
		{ "verbose", no_argument, NULL, 'v' },
		{ 0 },
	};
	uint64_t seed = 1;
	unsigned rounds = 25;
	const char *only = NULL;
	bool searches_only = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (option == 'r')
			rounds = (unsigned)strtoul(optarg, NULL, 0);
		else if (option == 'e' || option == 'g')
			only = option == 'g' ? "gpu" : optarg;
		else if (option == 'k')
			only_kernel = optarg;
		else if (option == 'p')
			searches_only = true;
		else if (option == 'v')
			verbose = true;
		else if (option == 'q')
			quick = true;
		else
			return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!list_engines(only))
		return SKIPPED;
	for (size_t i = 0; i < THREAD_COUNTS; i++)
		pools[i] = pool_new(thread_counts[i]);
	printf("seed %llu, %u rounds\n", (unsigned long long)seed, rounds);
	if (!searches_only)
		run_all(only, seed, rounds);
	run_searches(only, seed, rounds);
	for (size_t i = 0; i < THREAD_COUNTS; i++)
		pool_free(pools[i]);
	printf("%u passed, %u failed, %u refused\n", passed, failed, refused);
	return failed ? 1 : 0;
}
