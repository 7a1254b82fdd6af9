/*
 * burin's own matchers beside Vectorscan (or Hyperscan) alone, on the same patterns and data.
 *
 *     vectorscan_alone DATA... [--rules FILE]... [--patterns FILE]... [--words N]... [--magics N]...
 *                [--size MIB] [--threads N] [--runs N] [--engine NAME]...
 *
 * DATA: files and folders, put one after the other in memory until --size is reached (256), at most
 * 4 MiB of each. --rules: a rule file of any format; --patterns: one pattern a line in burin's
 * syntax; --words: N random words; --magics: N strings of 4 to 11 random bytes. Each is a set that is searched for on its own, by the CPU engine
 * through the engine contract (and by further engines that --engine names), and by Vectorscan with
 * nothing of burin's beside it. Vectorscan gets the best of four ways to use it:
 *     whole   all patterns written out as regular expressions, one database
 *     split   of each pattern the literal that is rarest on disks, and the rest of the pattern
 *             compared where that is found; literals and short ones are two databases
 * each compiled for this processor, and for one without AVX2, which is often faster.
 *
 * Threads take pieces of 512 KiB, as burin's do. Runs alternate; a row says the best run by the
 * clock, the best by processor time (GB/s of one processor, whatever else runs), and the number of matches. Vectorscan
 * reports the ends of regex matches, burin their starts, so there the numbers differ.
 */
#include <errno.h>
#include <fts.h>
#include <getopt.h>
#include <hs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/pool.h"
#include "patterns/anchor.h"
#include "patterns/pattern_set.h"
#include "patterns/regex.h"
#include "rules/rules.h"
#include "scan/scan.h"

enum { CHUNK_LEN = 16 << 20, CHUNKS = 4, HITS = 1 << 20, RUNS_MAX = 99, NAMES_MAX = 32 };
#define PIECE_LEN ((size_t)512 << 10)
#define FILE_MAX ((size_t)4 << 20)
#define TRIAL_LEN ((size_t)32 << 20) /* by which the best of the four ways is chosen */

static void die(const char *what, const char *why)
{
	fprintf(stderr, "vectorscan_alone: %s: %s\n", what, why);
	exit(2);
}

/* ---- time ---- */

struct span {
	double clock, processor;
};

static double seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct span now(void)
{
	return (struct span){ seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID) };
}

static struct span since(struct span start)
{
	struct span end = now();

	return (struct span){ end.clock - start.clock, end.processor - start.processor };
}

/* ---- data and sets ---- */

struct data {
	uint8_t *bytes;
	size_t len;
};

static void add_file(struct data *data, size_t room, const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t want = room - data->len < FILE_MAX ? room - data->len : FILE_MAX;

	if (!file)
		return;
	data->len += fread(data->bytes + data->len, 1, want, file);
	fclose(file);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void read_data(struct data *data, size_t room, char **paths)
{
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	FTSENT *entry;

	data->bytes = xmalloc(room);
	while (walk && data->len < room && (entry = fts_read(walk)))
		if (entry->fts_info == FTS_F)
			add_file(data, room, entry->fts_path);
	if (walk)
		fts_close(walk);
	if (!data->len)
		die(paths[0], "nothing to read");
}

static void add_words(struct pattern_set *set, unsigned count)
{
	srandom(1);
	while (set->count < count) {
		char word[20] = "'";
		int len = 5 + (int)(random() % 10);
		struct pattern pattern;

		for (int i = 1; i <= len; i++)
			word[i] = (char)('a' + random() % 26);
		word[len + 1] = '\'';
		if (pattern_parse(&pattern, word, NULL) == 0)
			pattern_set_add(set, &pattern);
	}
}

static void add_magics(struct pattern_set *set, unsigned count)
{
	static const uint8_t exact[11] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 };

	srandom(1);
	while (set->count < count) {
		uint8_t bytes[11];
		size_t len = 4 + (size_t)(random() % 8);
		struct pattern pattern;

		for (size_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)(random() >> 8);
		if (pattern_from_bytes(&pattern, bytes, exact, len, NULL) == 0)
			pattern_set_add(set, &pattern);
	}
}

/* ---- burin ---- */

struct own {
	const struct scan_engine *engine;
	struct scan *scan;
	struct chunk chunks[CHUNKS];
	size_t overlap;
};

static void own_open(
	struct own *own, const char *name, const struct pattern_set *set, struct pool *pool)
{
	struct scan_options options = {
		.pool = pool, .chunk_len = CHUNK_LEN + set->longest, .chunks = CHUNKS
	};
	struct error error;

	own->engine = scan_engine_find(name);
	if (!own->engine)
		die(name, "there is no such engine");
	if (own->engine->open(&own->scan, set, &options, &error) != 0)
		die(name, error.text);
	own->overlap = set->longest ? set->longest - 1 : 0;
	for (unsigned i = 0; i < CHUNKS; i++) {
		own->chunks[i].hit_capacity = HITS > set->count ? HITS : set->count;
		own->chunks[i].hits =
			xmalloc(own->chunks[i].hit_capacity * sizeof(*own->chunks[i].hits));
	}
}

/* Submits chunk after chunk, and what comes back unfinished again. Returns the number of hits. */
static uint64_t own_search(struct own *own, const struct data *data)
{
	struct chunk *chunk;
	uint64_t hits = 0;
	size_t at = 0;

	for (unsigned i = 0; i < CHUNKS; i++)
		own->chunks[i].len = 0;
	for (unsigned busy = 0; busy || at < data->len;) {
		for (; busy < CHUNKS && at < data->len; busy++) {
			for (chunk = own->chunks; chunk->len;)
				chunk++;
			chunk->data = data->bytes + at;
			chunk->offset = at;
			chunk->len = data->len - at < CHUNK_LEN ? data->len - at : CHUNK_LEN;
			at += chunk->len;
			chunk->tail_len =
				data->len - at < own->overlap ? data->len - at : own->overlap;
			chunk->from = 0;
			own->engine->submit(own->scan, chunk);
		}
		own->engine->reap(own->scan, &chunk);
		hits += chunk->hit_count;
		chunk->from = chunk->until;
		if (chunk->until < chunk->len) {
			own->engine->submit(own->scan, chunk);
		} else {
			chunk->len = 0;
			busy--;
		}
	}
	return hits;
}

static void own_close(struct own *own)
{
	own->engine->close(own->scan);
	for (unsigned i = 0; i < CHUNKS; i++)
		free(own->chunks[i].hits);
}

/* ---- Vectorscan ---- */

enum { LITERALS, OTHERS, DATABASES };

/* What is compiled into one database. */
struct sources {
	char **texts;
	unsigned *flags, *ids, count;
};

struct hs {
	const struct pattern_set *set;
	bool split;
	bool generic; /* for a processor without AVX2 */
	struct anchor *anchors;
	hs_database_t *databases[DATABASES];
	hs_scratch_t *scratch; /* to be cloned */
	unsigned refused;      /* regexes that it does not take */
	double compile;
	char why[200];
};

/* A whole byte pattern as a regular expression. */
static char *pattern_regex(const struct pattern *pattern)
{
	char *text = xmalloc(pattern->len * (size_t)1100 + 1), *at = text;

	for (uint32_t i = 0; i < pattern->len; i++) {
		uint8_t value = pattern->bytes[i], mask = pattern->mask[i];

		if (mask == 0xff) {
			at += sprintf(at, "\\x%02x", value);
		} else if (!mask) {
			at += sprintf(at, ".");
		} else {
			at += sprintf(at, "[");
			for (unsigned byte = 0; byte < 256; byte++)
				if (((byte ^ value) & mask) == 0)
					at += sprintf(at, "\\x%02x", byte);
			at += sprintf(at, "]");
		}
	}
	*at = '\0';
	return xreallocarray(text, (size_t)(at - text) + 1, 1);
}

static void sources_add(struct sources *sources, char *text, unsigned flags, uint32_t id)
{
	sources->texts[sources->count] = text;
	sources->flags[sources->count] = flags | HS_FLAG_DOTALL;
	sources->ids[sources->count++] = id;
}

static bool compiles(const char *source)
{
	hs_database_t *database = NULL;
	hs_compile_error_t *why = NULL;
	hs_error_t rc = hs_compile(source, HS_FLAG_DOTALL, HS_MODE_BLOCK, NULL, &database, &why);

	hs_free_compile_error(why);
	hs_free_database(database);
	return rc == HS_SUCCESS;
}

static void add_pattern(
	struct hs *hs, struct sources *sources, uint32_t id, const float share[RARITY_KINDS][256])
{
	const struct pattern *pattern = &hs->set->patterns[id];
	struct anchor *anchor = &hs->anchors[id];
	char text[ANCHOR_TEXT_MAX];

	if (pattern->regex) {
		if (compiles(regex_source(pattern->regex)))
			sources_add(&sources[OTHERS], xstrdup(regex_source(pattern->regex)), 0, id);
		else
			hs->refused++;
		return;
	}
	*anchor = anchor_choose(pattern, share);
	if (!hs->split || anchor->kind == ANCHOR_NONE) {
		*anchor = (struct anchor){ .len = pattern->len, .whole = true };
		sources_add(&sources[OTHERS], pattern_regex(pattern), 0, id);
		return;
	}
	anchor_regex(text, pattern, anchor);
	sources_add(&sources[anchor->kind == ANCHOR_LITERAL ? LITERALS : OTHERS], xstrdup(text),
		anchor->nocase ? HS_FLAG_CASELESS : 0, id);
}

static bool compile_sources(struct hs *hs, int which, const struct sources *sources)
{
	static const hs_platform_info_t generic = { .tune = HS_TUNE_FAMILY_GENERIC };
	hs_compile_error_t *why = NULL;
	hs_error_t rc;

	if (!sources->count)
		return true;
	rc = hs_compile_multi((const char *const *)sources->texts, sources->flags, sources->ids,
		sources->count, HS_MODE_BLOCK, hs->generic ? &generic : NULL, &hs->databases[which],
		&why);
	if (rc == HS_SUCCESS)
		rc = hs_alloc_scratch(hs->databases[which], &hs->scratch);
	if (rc != HS_SUCCESS)
		snprintf(hs->why, sizeof(hs->why), "%s", why ? why->message : "no scratch space");
	hs_free_compile_error(why);
	return rc == HS_SUCCESS;
}

static bool hs_open(struct hs *hs, const struct pattern_set *set, bool split, bool generic)
{
	float share[RARITY_KINDS][256];
	struct sources sources[DATABASES];
	struct span start = now();
	bool fine = true;

	*hs = (struct hs){ .set = set, .split = split, .generic = generic };
	hs->anchors = xcalloc(set->count, sizeof(*hs->anchors));
	rarity_bytes(share);
	for (int i = 0; i < DATABASES; i++)
		sources[i] = (struct sources){ xcalloc(set->count, sizeof(char *)),
			xcalloc(set->count, sizeof(unsigned)),
			xcalloc(set->count, sizeof(unsigned)), 0 };
	for (uint32_t id = 0; id < set->count; id++)
		add_pattern(hs, sources, id, share);
	for (int i = 0; i < DATABASES; i++) {
		fine = fine && compile_sources(hs, i, &sources[i]);
		while (sources[i].count)
			free(sources[i].texts[--sources[i].count]);
		free(sources[i].texts);
		free(sources[i].flags);
		free(sources[i].ids);
	}
	hs->compile = since(start).clock;
	return fine;
}

static void hs_close(struct hs *hs)
{
	for (int i = 0; i < DATABASES; i++)
		hs_free_database(hs->databases[i]);
	hs_free_scratch(hs->scratch);
	free(hs->anchors);
}

/* One thread's search of one piece. */
struct piece {
	const struct hs *hs;
	const uint8_t *text;
	size_t len, text_len; /* starts before len count */
	uint64_t matches;
};

static int on_match(
	unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *context)
{
	struct piece *piece = context;
	const struct pattern *pattern = &piece->hs->set->patterns[id];
	const struct anchor *anchor = &piece->hs->anchors[id];
	size_t end = anchor->start + (size_t)anchor->len, start = to - end;

	(void)from;
	(void)flags;
	if (pattern->regex)
		piece->matches += to <= piece->len;
	else if (to >= end && start < piece->len &&
		 (anchor->whole ||
			 pattern_matches(pattern, piece->text + start, piece->text_len - start)))
		piece->matches++;
	return 0;
}

struct team {
	const struct hs *hs;
	const uint8_t *bytes;
	size_t len;
	atomic_size_t next;
	atomic_ullong matches;
};

static void *take_pieces(void *context)
{
	struct team *team = context;
	size_t overlap = team->hs->set->longest ? team->hs->set->longest - 1 : 0, at;
	hs_scratch_t *scratch = NULL;
	struct piece piece = { .hs = team->hs };

	if (team->hs->scratch && hs_clone_scratch(team->hs->scratch, &scratch) != HS_SUCCESS)
		die("scratch", "memory is short");
	while ((at = atomic_fetch_add(&team->next, PIECE_LEN)) < team->len) {
		size_t rest = team->len - at;

		piece.text = team->bytes + at;
		piece.len = rest < PIECE_LEN ? rest : PIECE_LEN;
		piece.text_len = rest < PIECE_LEN + overlap ? rest : PIECE_LEN + overlap;
		for (int i = 0; i < DATABASES; i++)
			if (team->hs->databases[i])
				hs_scan(team->hs->databases[i], (const char *)piece.text,
					(unsigned)piece.text_len, 0, scratch, on_match, &piece);
	}
	atomic_fetch_add(&team->matches, piece.matches);
	hs_free_scratch(scratch);
	return NULL;
}

static uint64_t hs_search(
	const struct hs *hs, const struct data *data, size_t len, unsigned threads)
{
	struct team team = { .hs = hs, .bytes = data->bytes, .len = len };
	pthread_t others[256];

	for (unsigned i = 1; i < threads; i++)
		pthread_create(&others[i], NULL, take_pieces, &team);
	take_pieces(&team);
	for (unsigned i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	return team.matches;
}

/* Opens it in the way that is fastest on a part of the data. */
static bool hs_open_best(
	struct hs *best, const struct pattern_set *set, const struct data *data, unsigned threads)
{
	double least = 0;
	bool any = false;

	for (int way = 0; way < 4; way++) {
		struct span start;
		struct hs hs;
		double took;

		if (!hs_open(&hs, set, way & 1, way & 2)) {
			fprintf(stderr, "vectorscan_alone: %s, %s: %s\n",
				way & 1 ? "split" : "whole", way & 2 ? "generic" : "native",
				hs.why);
			hs_close(&hs);
			continue;
		}
		start = now();
		hs_search(&hs, data, data->len < TRIAL_LEN ? data->len : TRIAL_LEN, threads);
		took = since(start).processor;
		if (any && took >= least) {
			hs_close(&hs);
			continue;
		}
		if (any)
			hs_close(best);
		*best = hs;
		least = took;
		any = true;
	}
	return any;
}

/* ---- rows ---- */

struct row {
	char name[32], how[160];
	struct own own; /* engine NULL: Vectorscan */
	struct hs hs;
	struct span best;
	double compile;
	uint64_t matches;
	bool usable;
};

static void run_row(struct row *row, const struct data *data, unsigned threads)
{
	struct span start = now(), took;

	row->matches = row->own.engine ? own_search(&row->own, data)
				       : hs_search(&row->hs, data, data->len, threads);
	took = since(start);
	if (!row->best.clock || took.clock < row->best.clock)
		row->best.clock = took.clock;
	if (!row->best.processor || took.processor < row->best.processor)
		row->best.processor = took.processor;
}

static void measure(const char *name, const struct pattern_set *set, const struct data *data,
	const char **engines, unsigned engine_count, unsigned threads, unsigned runs)
{
	struct row *rows = xcalloc(engine_count + 1, sizeof(*rows));
	struct pool *pool = pool_new(threads);
	unsigned count = 0;

	for (; count < engine_count; count++) {
		struct row *row = &rows[count];
		struct span start = now();

		own_open(&row->own, engines[count], set, pool);
		row->compile = since(start).clock;
		snprintf(row->name, sizeof(row->name), "%s", engines[count]);
		snprintf(row->how, sizeof(row->how), "%s", row->own.engine->kernel(row->own.scan));
		row->usable = true;
	}
	rows[count].usable = hs_open_best(&rows[count].hs, set, data, threads);
	snprintf(rows[count].name, sizeof(rows[count].name), "Vectorscan");
	snprintf(rows[count].how, sizeof(rows[count].how), "%s, %s",
		rows[count].hs.split ? "split" : "whole",
		rows[count].hs.generic ? "without AVX2" : "native");
	if (rows[count].hs.refused)
		snprintf(rows[count].how + strlen(rows[count].how), 40, ", refuses %u",
			rows[count].hs.refused);
	rows[count].compile = rows[count].hs.compile;
	count++;
	for (unsigned run = 0; run < runs; run++)
		for (unsigned i = 0; i < count; i++)
			if (rows[i].usable)
				run_row(&rows[i], data, threads);
	for (unsigned i = 0; i < count; i++)
		if (rows[i].usable)
			printf("%-24s %6u %7u %-11s %9.3f %9.3f %12llu %8.3f  %s\n", name,
				set->count, threads, rows[i].name,
				(double)data->len / rows[i].best.clock / 1e9,
				(double)data->len / rows[i].best.processor / 1e9,
				(unsigned long long)rows[i].matches, rows[i].compile, rows[i].how);
	fflush(stdout);
	for (unsigned i = 0; i < count; i++)
		if (rows[i].own.engine)
			own_close(&rows[i].own);
		else if (rows[i].usable)
			hs_close(&rows[i].hs);
	pool_free(pool);
	free(rows);
}

/* ---- arguments ---- */

struct wanted {
	int kind;
	const char *argument;
};

static void usage(void)
{
	die("usage",
		"vectorscan_alone DATA... [--rules FILE]... [--patterns FILE]... [--words N]... "
		"[--magics N]... [--size MIB] [--threads N] [--runs N] [--engine NAME]...");
}

static void measure_wanted(const struct wanted *wanted, const struct data *data,
	const char **engines, unsigned engine_count, unsigned threads, unsigned runs)
{
	const char *slash = strrchr(wanted->argument, '/');
	struct pattern_set own = { 0 }, *set = &own;
	struct rules *rules = NULL;
	char name[64];
	struct error error = { 0 };

	snprintf(name, sizeof(name), "%s%s", slash ? slash + 1 : wanted->argument,
		wanted->kind == 'w'   ? " words"
		: wanted->kind == 'm' ? " magics"
				      : "");
	if (wanted->kind == 'w')
		add_words(set, (unsigned)atoi(wanted->argument));
	else if (wanted->kind == 'm')
		add_magics(set, (unsigned)atoi(wanted->argument));
	else if (wanted->kind == 'p'
			 ? pattern_set_read(set, wanted->argument, &error)
			 : rules_load(&rules, wanted->argument, RULES_AUTO, NULL, &error))
		die(wanted->argument, error.text);
	if (rules)
		set = &rules->patterns;
	measure(name, set, data, engines, engine_count, threads, runs);
	rules_free(rules);
	pattern_set_free(&own);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rules", required_argument, NULL, 'r' },
		{ "patterns", required_argument, NULL, 'p' },
		{ "words", required_argument, NULL, 'w' },
		{ "magics", required_argument, NULL, 'm' },
		{ "size", required_argument, NULL, 's' },
		{ "engine", required_argument, NULL, 'e' },
		{ "threads", required_argument, NULL, 't' },
		{ "runs", required_argument, NULL, 'n' },
		{ 0 },
	};
	const char *engines[NAMES_MAX] = { "cpu" };
	unsigned engine_count = 1, wanted_count = 0, threads = 1, runs = 5;
	struct wanted wanted[NAMES_MAX];
	struct data data = { 0 };
	size_t size = 256;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			size = (size_t)atoi(optarg);
		else if (option == 'e' && engine_count < NAMES_MAX)
			engines[engine_count++] = optarg;
		else if (option == 't')
			threads = (unsigned)atoi(optarg);
		else if (option == 'n')
			runs = (unsigned)atoi(optarg);
		else if (strchr("rpwm", option) && wanted_count < NAMES_MAX)
			wanted[wanted_count++] = (struct wanted){ option, optarg };
		else
			usage();
	}
	if (optind == argc || !wanted_count || !runs || !threads || threads > 256 || !size)
		usage();
	read_data(&data, size << 20, argv + optind);
	printf("Vectorscan %s, %.1f MB of data\n", hs_version(), (double)data.len / 1e6);
	printf("%-24s %6s %7s %-11s %9s %9s %12s %8s  %s\n", "patterns", "number", "threads",
		"engine", "GB/s", "per cpu", "matches", "compile", "how");
	for (unsigned i = 0; i < wanted_count; i++)
		measure_wanted(&wanted[i], &data, engines, engine_count, threads, runs);
	free(data.bytes);
	return 0;
}
