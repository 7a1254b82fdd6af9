/*
 * How fast the engines search data that is in memory.
 *
 *     scan_cpu FILE [--rules RULES | --words N] [--engine NAME] [--threads N] [--runs N]
 *
 * Without rules: the patterns of Scalpel's own scalpel.conf. --words: N random words of 5 to 14
 * letters. A line an engine: GB/s (10^9 bytes), the median of the runs; hits; seconds to compile;
 * how the engine works.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "rules/rules.h"
#include "scan/scan.h"

static const char *const scalpel[] = { "'FOREMOST'", "4A47040E", "CFC7CB", "4A47030E", "D0CB0000",
	"'GIF87a'", "003B", "'GIF89a'", "FFD8FF ?????? 'Exif'", "FFD9", "FFD8FF ?????? 'JFIF'",
	"'PNG' ??", "FFFCFDFE", "'BM' ???? 000000", "49492A00", "4D4D002A", "'RIFF' ???????? 'AVI'",
	"???????? 'moov'", "???????? 'mdat'", "???????? 'widev'", "???????? 'skip'",
	"???????? 'free'", "???????? 'idsc'", "???????? 'pckg'", "000001BA", "000001B9", "000001B3",
	"000001B7", "'FWS'", "D0CF11E0A1B11AE10000", "D0CF11E0A1B1", "'!BN' A56FB5A6", "'!BDN'",
	"CFAD12FEC5FD746F", "'JMF9'", "'JMF6'", "?? 'WPC'", "i'<html'", "i'</html>'", "'%PDF'",
	"'%EOF' 0D", "'%EOF' 0A", "'AOLVM'", "'PGPdMAIN' 6001", "9900", "9501", "9500", "A600",
	"'-----BEGIN PGP'", "EDAB", "'RIFF' ???????? 'WAVE'", "'.ra' FD", "'.RMF'", "'regf'",
	"'CREG'", "'PK' 0304", "3CAC", "CAFEBABE", "'ViGFk' 1A00000000", "000005800000",
	"'PINS 4.20' 0D", NULL };

enum { CHUNK_LEN = 16 << 20, CHUNKS = 4, HITS = 1 << 20, RUNS_MAX = 99 };

struct data {
	uint8_t *bytes;
	size_t len;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "scan_cpu: %s: %s\n", what, why);
	exit(2);
}

static struct data read_file(const char *path)
{
	struct data data = { 0 };
	FILE *file = fopen(path, "rb");

	if (!file || fseek(file, 0, SEEK_END) != 0)
		die(path, strerror(errno));
	data.len = (size_t)ftell(file);
	data.bytes = xmalloc(data.len);
	rewind(file);
	if (fread(data.bytes, 1, data.len, file) != data.len)
		die(path, "cannot be read");
	fclose(file);
	return data;
}

static void add_pattern(struct pattern_set *set, const char *text)
{
	struct pattern pattern;
	struct error error;

	if (pattern_parse(&pattern, text, &error) != 0)
		die(text, error.text);
	pattern_set_add(set, &pattern);
}

static void add_patterns(struct pattern_set *set, const char *const *texts)
{
	for (; *texts; texts++)
		add_pattern(set, *texts);
}

static void add_words(struct pattern_set *set, unsigned count)
{
	srandom(1);
	while (set->count < count) {
		char word[20] = "'";
		int len = 5 + (int)(random() % 10);

		for (int i = 1; i <= len; i++)
			word[i] = (char)('a' + random() % 26);
		word[len + 1] = '\'';
		add_pattern(set, word);
	}
}

/* Submits chunk after chunk, and what comes back unfinished again. Returns the number of hits. */
static uint64_t search(const struct scan_engine *engine, struct scan *scan, const struct data *data,
	size_t overlap, struct chunk chunks[CHUNKS])
{
	struct chunk *chunk = chunks;
	uint64_t hits = 0, at = 0;

	for (unsigned i = 0; i < CHUNKS; i++)
		chunks[i].from = chunks[i].len = chunks[i].until = 0;
	for (unsigned busy = 0; busy || at < data->len;) {
		for (; busy < CHUNKS && at < data->len; busy++) {
			for (chunk = chunks; chunk->len;)
				chunk++;
			chunk->data = data->bytes + at;
			chunk->offset = at;
			chunk->len = data->len - at < CHUNK_LEN ? data->len - at : CHUNK_LEN;
			at += chunk->len;
			chunk->tail_len = data->len - at < overlap ? data->len - at : overlap;
			chunk->from = 0;
			engine->submit(scan, chunk);
		}
		engine->reap(scan, &chunk);
		hits += chunk->hit_count;
		chunk->from = chunk->until;
		if (chunk->until < chunk->len) {
			engine->submit(scan, chunk);
		} else {
			chunk->len = 0;
			busy--;
		}
	}
	return hits;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const struct scan_engine *engine, const struct pattern_set *set,
	const struct data *data, struct pool *pool, unsigned runs, struct chunk chunks[CHUNKS])
{
	struct scan_options options = {
		.pool = pool, .chunk_len = CHUNK_LEN + set->longest, .chunks = CHUNKS
	};
	double times[RUNS_MAX], start = clock_seconds(), compile;
	struct error error;
	struct scan *scan;
	uint64_t hits = 0;

	if (engine->open(&scan, set, &options, &error) != 0)
		die(engine->name, error.text);
	compile = clock_seconds() - start;
	for (unsigned run = 0; run < runs; run++) {
		start = clock_seconds();
		hits = search(engine, scan, data, set->longest ? set->longest - 1 : 0, chunks);
		times[run] = clock_seconds() - start;
	}
	qsort(times, runs, sizeof(*times), compare_doubles);
	printf("%-10s %8.3f GB/s %12llu hits  compiled in %.3f s  %s\n", engine->name,
		(double)data->len / times[runs / 2] / 1e9, (unsigned long long)hits, compile,
		engine->kernel ? engine->kernel(scan) : "");
	engine->close(scan);
}

static void usage(void)
{
	die("usage", "scan_cpu FILE [--rules RULES | --words N] [--engine NAME] [--threads N] "
		     "[--runs N]");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rules", required_argument, NULL, 'r' },
		{ "words", required_argument, NULL, 'w' },
		{ "engine", required_argument, NULL, 'e' },
		{ "threads", required_argument, NULL, 't' },
		{ "runs", required_argument, NULL, 'n' },
		{ 0 },
	};
	struct chunk chunks[CHUNKS] = { 0 };
	struct pattern_set own = { 0 }, *set = &own;
	struct rules *rules = NULL;
	unsigned threads = 1, runs = 5;
	const char *only = NULL;
	struct error error;
	struct pool *pool;
	struct data data;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'r' && rules_load(&rules, optarg, RULES_AUTO, NULL, &error) != 0)
			die(optarg, error.text);
		else if (option == 'w')
			add_words(set, (unsigned)atoi(optarg));
		else if (option == 'e')
			only = optarg;
		else if (option == 't')
			threads = (unsigned)atoi(optarg);
		else if (option == 'n')
			runs = (unsigned)atoi(optarg);
		else if (option == '?')
			usage();
	}
	if (optind + 1 != argc || runs < 1 || runs > RUNS_MAX)
		usage();
	if (rules)
		set = &rules->patterns;
	if (!set->count)
		add_patterns(set, scalpel);
	data = read_file(argv[optind]);
	pool = pool_new(threads);
	for (unsigned i = 0; i < CHUNKS; i++) {
		chunks[i].hit_capacity = HITS > set->count ? HITS : set->count;
		chunks[i].hits = xmalloc(chunks[i].hit_capacity * sizeof(*chunks[i].hits));
	}
	for (unsigned i = 0; scan_engine_at(i); i++) {
		const struct scan_engine *engine = scan_engine_at(i);
		char reason[256] = "";

		if (only && strcmp(only, engine->name) != 0)
			continue;
		if (engine->probe(reason, sizeof(reason)) != 0)
			printf("%-10s is not usable: %s\n", engine->name, reason);
		else
			measure(engine, set, &data, pool, runs, chunks);
	}
	pool_free(pool);
	for (unsigned i = 0; i < CHUNKS; i++)
		free(chunks[i].hits);
	free(data.bytes);
	pattern_set_free(&own);
	rules_free(rules);
	return 0;
}
