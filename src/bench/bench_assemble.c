/*
 * One search keeps one thread of the processor busy, as a file's search does, so each thread gets one: as
 * many searches are asked of both.
 */
#include "bench/bench_assemble.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/crc_algebra.h"
#include "assemble/search_device.h"
#include "assemble/word_search.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/ranges.h"
#include "bench/random.h"
#include "carvers/coded.h"
#include "scan/kept_text.h"
#include "scan/scan.h"

#define CLUSTER 4096
#define SIZE ((uint64_t)8 << 30)
#define SEARCHES 16
#define ONE_BREAKS 4096 /* possible breaks: 16 MiB of a file */
#define ONE_COUNT ((size_t)1 << 18)
#define TWO_BREAKS 512
#define TWO_COUNT ((size_t)1 << 15)
#define HEAD_LEN SEARCH_HEAD_MIN /* bytes of a cluster that are looked at */
#define HEADS ((size_t)1 << 16)  /* that are read; the image has them again and again */

struct bench {
	const struct bench_assemble_options *options;
	struct bench_assemble *result;
	struct pool *pool;
	struct search_device *device; /* NULL: no GPU */
	uint64_t random;
	/* Breaks. */
	struct crc_search searches[SEARCHES];
	struct crc_hits *hits; /* of each search */
	/* Coded data. */
	uint8_t *heads;
	struct carve_coded *coded;
	uint64_t clusters;
	uint64_t *bits;
	/* Words: the heads, one after the other, again and again, are the image. */
	struct word_set words;
	uint64_t stretches;
	struct kept_text *kept;         /* on the GPU */
	_Atomic uint64_t found, digest; /* hits, and the sum of what each is */
	_Atomic uint64_t next;
};

static struct bench_assemble_row *add_row(
	struct bench *bench, const char *what, const char *unit, uint64_t count, const char *device)
{
	struct bench_assemble_row *row = &bench->result->rows[bench->result->count++];

	*row = (struct bench_assemble_row){
		.what = what, .device = device, .unit = unit, .count = count, .is_equal = true
	};
	return row;
}

static void measure(
	struct bench *bench, struct bench_assemble_row *row, void (*round)(struct bench *bench))
{
	unsigned count = bench->options->rounds;
	double *seconds = xcalloc(count, sizeof(*seconds));

	round(bench); /* the first does not count */
	for (unsigned i = 0; i < count; i++) {
		double from = clock_seconds();

		round(bench);
		seconds[i] = clock_seconds() - from;
	}
	row->seconds = bench_stats_of(seconds, count);
	free(seconds);
}

/* ---- breaks -------------------------------------------------------------------------------- */

static void fill(struct bench *bench, uint32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = (uint32_t)random_next(&bench->random);
}

static void make_searches(struct bench *bench, size_t breaks, size_t count, bool two)
{
	for (int i = 0; i < SEARCHES; i++) {
		uint32_t *values = xmalloc((3 * breaks + 2 * count) * sizeof(*values));

		fill(bench, values, 3 * breaks + 2 * count);
		bench->searches[i] = (struct crc_search){ .count = count,
			.known = values,
			.known_count = breaks,
			.rest = values + breaks,
			.rest_to = breaks,
			.sums = values + 2 * breaks,
			.sums_to = breaks + count,
			.ends = two ? NULL : values + 3 * breaks + count };
	}
}

static void search_one(void *context, unsigned number, unsigned worker)
{
	struct bench *bench = context;

	(void)number;
	(void)worker;
	for (uint64_t i; (i = bench->next++) < SEARCHES;)
		search_cpu.find_breaks(NULL, &bench->searches[i], &bench->hits[i]);
}

static void search_on_cpu(struct bench *bench)
{
	bench->next = 0;
	pool_share(bench->pool, POOL_CHECK, pool_threads(bench->pool), search_one, bench);
}

static void search_on_gpu(struct bench *bench)
{
	for (int i = 0; i < SEARCHES; i++)
		search_gpu->find_breaks(bench->device, &bench->searches[i], &bench->hits[i]);
}

static uint64_t count_hits(const struct bench *bench)
{
	uint64_t count = 0;

	for (int i = 0; i < SEARCHES; i++)
		count += bench->hits[i].count;
	return count;
}

static bool are_equal(const struct crc_hits *a, const struct crc_hits *b)
{
	return a->count == b->count && a->count <= CRC_HITS_MAX &&
	       !memcmp(a->items, b->items, a->count * sizeof(*a->items));
}

static void run_breaks(struct bench *bench, bool two)
{
	const char *what = two ? "two breaks by CRC" : "breaks by CRC";
	size_t breaks = two ? TWO_BREAKS : ONE_BREAKS, count = two ? TWO_COUNT : ONE_COUNT;
	struct crc_hits *right = xcalloc(SEARCHES, sizeof(*right));
	struct bench_assemble_row *row;
	uint64_t pairs;

	count = bench->clusters < count ? bench->clusters : count;
	pairs = (two ? breaks * (breaks - 1) / 2 : breaks) * count * SEARCHES;
	make_searches(bench, breaks, count, two);
	row = add_row(bench, what, "pairs", pairs, "cpu");
	measure(bench, row, search_on_cpu);
	row->found = count_hits(bench);
	memcpy(right, bench->hits, SEARCHES * sizeof(*right));
	if (bench->device) {
		memset(bench->hits, 0, SEARCHES * sizeof(*right));
		row = add_row(bench, what, "pairs", pairs, "gpu");
		measure(bench, row, search_on_gpu);
		row->found = count_hits(bench);
		for (int i = 0; i < SEARCHES; i++)
			row->is_equal &= are_equal(&right[i], &bench->hits[i]);
	}
	for (int i = 0; i < SEARCHES; i++)
		free((uint32_t *)bench->searches[i].known);
	free(right);
}

/* ---- coded data ---------------------------------------------------------------------------- */

/* The codes of ISO/IEC 10918-1, annex K, for luminance, which most cameras' data are like. */
static const uint8_t dc_counts[17] = { 0, 0, 1, 5, 1, 1, 1, 1, 1, 1 };
static const uint8_t dc_values[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
static const uint8_t ac_counts[17] = { 0, 0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125 };
static const uint8_t ac_values[] = { 0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31,
	0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23,
	0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0a, 0x16,
	0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34, 0x35, 0x36, 0x37, 0x38,
	0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57,
	0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76,
	0x77, 0x78, 0x79, 0x7a, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94,
	0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa,
	0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
	0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2, 0xe3,
	0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
	0xf9, 0xfa };

static void make_table(
	struct coded_table *table, const uint8_t *counts, const uint8_t *values, size_t value_count)
{
	uint32_t code = 0, index = 0, at = 0;

	memcpy(table->values, values, value_count);
	for (uint32_t bits = 1; bits <= 16; bits++, code <<= 1) {
		table->first[bits] = (int32_t)index - (int32_t)code;
		code += counts[bits];
		table->limit[bits] = code << (16 - bits);
		for (uint32_t n = counts[bits]; n; n--, index++)
			for (uint32_t i = 0; bits <= CODED_BITS && i < 1u << (CODED_BITS - bits);
				i++)
				table->fast[at++] = (uint16_t)(bits << 8 | values[index]);
	}
}

/* A break in a photograph: 4:2:0, an MCU of six blocks, far from its end. */
static void make_coded(struct carve_coded *coded)
{
	static const uint8_t components[6] = { 0, 0, 0, 0, 1, 2 };

	make_table(&coded->tables[0], dc_counts, dc_values, sizeof(dc_values));
	make_table(&coded->tables[1], ac_counts, ac_values, sizeof(ac_values));
	coded->block_count = 6;
	coded->mcus = 10000;
	coded->mcus_before_restart = UINT64_MAX;
	for (int i = 0; i < 6; i++)
		coded->blocks[i] = (struct coded_block){ 0, 1, components[i] };
	for (int i = 0; i < 3; i++)
		coded->bound[i] = 300;
	coded->bits_before = 75;
	for (int i = 0; i < 10; i++)
		coded->before[i] = (uint8_t)(0x35 * (i + 1));
}

static int read_heads(struct bench *bench, struct error *error)
{
	FILE *file = bench->options->data ? fopen(bench->options->data, "rb") : NULL;
	size_t count = 0;

	if (bench->options->data && !file)
		return error_set(error, EXIT_IO, errno, "can't open %s: %s", bench->options->data,
			strerror(errno));
	while (file && count < HEADS && !fseeko(file, (off_t)(count * CLUSTER), SEEK_SET) &&
		fread(bench->heads + count * HEAD_LEN, HEAD_LEN, 1, file) == 1)
		count++;
	if (file)
		fclose(file);
	if (!count)
		fill(bench, (uint32_t *)(void *)bench->heads, HEADS * HEAD_LEN / 4);
	for (size_t i = count; count && i < HEADS; i++)
		memcpy(bench->heads + i * HEAD_LEN, bench->heads + i % count * HEAD_LEN, HEAD_LEN);
	return 0;
}

static void look(void *context, unsigned number, unsigned worker)
{
	struct bench *bench = context;
	uint64_t word;

	(void)number;
	(void)worker;
	while ((word = bench->next++) < bench->clusters / 64) {
		uint64_t bits = 0;

		for (uint64_t i = 0; i < 64; i++)
			bits |= (uint64_t)coded_may_follow(bench->coded,
					bench->heads + (word * 64 + i) % HEADS * HEAD_LEN, HEAD_LEN)
				<< i;
		bench->bits[word] = bits;
	}
}

static void look_on_cpu(struct bench *bench)
{
	bench->next = 0;
	pool_share(bench->pool, POOL_CHECK, pool_threads(bench->pool), look, bench);
}

static void look_on_gpu(struct bench *bench)
{
	const struct coded_question question = { bench->coded, 0, bench->clusters, bench->bits };

	search_gpu->find_coded(bench->device, &question, 1);
}

/* The GPU may have less room than there are clusters. */
static void keep_heads(struct bench *bench)
{
	double from = clock_seconds();
	uint64_t kept = 0;

	while (kept < bench->clusters) {
		size_t count;
		uint8_t *stage = search_gpu->stage(bench->device, HEAD_LEN, &count);

		if (!stage)
			break;
		for (size_t i = 0; i < count; i += HEADS)
			memcpy(stage + i * HEAD_LEN, bench->heads,
				(count - i < HEADS ? count - i : HEADS) * HEAD_LEN);
		if (search_gpu->keep(bench->device, count))
			break;
		kept += count;
	}
	bench->result->keep_seconds = clock_seconds() - from;
	bench->clusters = kept < bench->clusters ? kept : bench->clusters;
}

static uint64_t count_bits(const struct bench *bench)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < bench->clusters / 64; i++)
		count += (uint64_t)__builtin_popcountll(bench->bits[i]);
	return count;
}

static void run_coded(struct bench *bench)
{
	uint64_t *right;
	const char *what = "clusters after a break in a JPEG";
	struct bench_assemble_row *row;

	if (bench->device)
		keep_heads(bench);
	bench->result->clusters = bench->clusters;
	right = xcalloc(bench->clusters / 64 + 1, sizeof(*right));
	bench->bits = xcalloc(bench->clusters / 64 + 1, sizeof(*bench->bits));
	row = add_row(bench, what, "clusters", bench->clusters, "cpu");
	measure(bench, row, look_on_cpu);
	row->found = count_bits(bench);
	memcpy(right, bench->bits, bench->clusters / 8);
	if (bench->device) {
		memset(bench->bits, 0, bench->clusters / 8);
		row = add_row(bench, what, "clusters", bench->clusters, "gpu");
		measure(bench, row, look_on_gpu);
		row->found = count_bits(bench);
		row->is_equal = !memcmp(right, bench->bits, bench->clusters / 8);
	}
	free(bench->bits);
	free(right);
}

/* ---- words --------------------------------------------------------------------------------- */

#define TEXT_LEN (HEADS * HEAD_LEN)
#define WORDS_SIZE ((uint64_t)8 << 30) /* that are searched at most */

/* Of the tables in ZIP, PDF, ISO media, Matroska and Ogg files. */
static void add_words(struct word_set *words)
{
	static const char *const four[] = { "PK\3\4", "PK\1\2", "PK\5\6", " obj", "moov", "moof",
		"mdat", "\x1f\x43\xb6\x75", "\x1c\x53\xbb\x6b", "OggS" };

	for (size_t i = 0; i < sizeof(four) / sizeof(*four); i++)
		word_set_add(words, four[i], 4, 4);
	word_set_add(words, "startxref", WORD_LEN_MAX, WORD_LEN_MAX);
}

/* Random bytes have none. */
static void plant_words(struct bench *bench)
{
	for (size_t i = 0; i < TEXT_LEN >> 16; i++) {
		const struct search_word *word = &bench->words.words[i % bench->words.count];

		memcpy(bench->heads + (i << 16) + 61 * i, word->bytes, word->len);
	}
}

static void count_hit(struct bench *bench, uint64_t offset, unsigned word, uint32_t key)
{
	bench->found++;
	bench->digest += (offset * 64 + word) * 0x9e3779b97f4a7c15u ^ key;
}

struct stretch_hits {
	struct bench *bench;
	uint64_t offset;
};

static void count_found(void *context, unsigned word, size_t at, uint32_t key)
{
	const struct stretch_hits *hits = context;

	count_hit(hits->bench, hits->offset + at, word, key);
}

static void search_stretch(struct bench *bench, uint64_t number)
{
	struct stretch_hits hits = { bench, number * WORD_STRETCH_MAX };

	word_set_search(&bench->words, bench->heads + hits.offset % TEXT_LEN, WORD_STRETCH_MAX,
		WORD_STRETCH_MAX + WORD_AFTER, count_found, &hits);
}

static void search_stretches(void *context, unsigned number, unsigned worker)
{
	struct bench *bench = context;

	(void)number;
	(void)worker;
	for (uint64_t i; (i = bench->next++) < bench->stretches;)
		search_stretch(bench, i);
}

/* As inner_hits.c asks. */
static void ask_for_words(struct bench *bench, uint64_t first, struct word_answer *answer)
{
	struct range stretches[WORD_STRETCHES_MAX];
	struct word_question question = { &bench->words, stretches, 0 };

	for (; question.count < WORD_STRETCHES_MAX && first + question.count < bench->stretches;
		question.count++)
		stretches[question.count] =
			(struct range){ (first + question.count) * WORD_STRETCH_MAX,
				WORD_STRETCH_MAX };
	if (search_gpu->find_words(bench->device, bench->kept, &question, answer))
		answer->answered = answer->count = 0;
	for (size_t i = 0; i < answer->count; i++) {
		const struct word_hit *hit = &answer->items[i];

		count_hit(bench, stretches[hit->stretch].offset + hit->at, hit->word, hit->key);
	}
	for (size_t i = 0; i < question.count; i++)
		if (!(answer->answered >> i & 1))
			search_stretch(bench, first + i);
}

static void ask_for_stretches(void *context, unsigned number, unsigned worker)
{
	struct bench *bench = context;
	struct word_answer *answer = xmalloc(sizeof(*answer));

	(void)number;
	(void)worker;
	for (uint64_t i; (i = WORD_STRETCHES_MAX * bench->next++) < bench->stretches;)
		ask_for_words(bench, i, answer);
	free(answer);
}

static void words_round(
	struct bench *bench, void (*search)(void *context, unsigned number, unsigned worker))
{
	bench->next = bench->found = bench->digest = 0;
	pool_share(bench->pool, POOL_CHECK, pool_threads(bench->pool), search, bench);
}

static void words_on_cpu(struct bench *bench)
{
	words_round(bench, search_stretches);
}

static void words_on_gpu(struct bench *bench)
{
	words_round(bench, ask_for_stretches);
}

/* Has the GPU's engine search the image, for nothing, so that it is kept. */
static bool keep_text(struct bench *bench)
{
	const struct scan_engine *engine = scan_engine_find("gpu");
	const struct pattern_set nothing = { 0 };
	uint64_t len = (bench->stretches + 1) * WORD_STRETCH_MAX;
	struct scan_options options = { .chunk_len = WORD_STRETCH_MAX,
		.chunks = 1,
		.kept_text = kept_text_new(bench->options->devices, len) };
	struct error error = { 0 };
	struct scan *scan;
	struct hit hits[1];

	bench->kept = options.kept_text;
	if (!bench->kept || engine->open(&scan, &nothing, &options, &error))
		return false;
	for (uint64_t at = 0; at < len; at += WORD_STRETCH_MAX) {
		struct chunk *reaped, chunk = { .data = bench->heads + at % TEXT_LEN,
			.offset = at,
			.len = WORD_STRETCH_MAX,
			.hits = hits,
			.hit_capacity = 1 };

		if (engine->submit(scan, &chunk) || engine->reap(scan, &reaped))
			break;
	}
	engine->close(scan);
	return true;
}

static void run_words(struct bench *bench)
{
	const char *what = "words of tables";
	uint64_t size = bench->clusters * CLUSTER, digest;
	struct bench_assemble_row *row;

	size = size < WORDS_SIZE ? size : WORDS_SIZE;
	bench->stretches = (size + WORD_STRETCH_MAX - 1) / WORD_STRETCH_MAX;
	add_words(&bench->words);
	plant_words(bench);
	/* What follows the last one is the first one. */
	memcpy(bench->heads + TEXT_LEN, bench->heads, WORD_AFTER);
	row = add_row(bench, what, "bytes", bench->stretches * WORD_STRETCH_MAX, "cpu");
	measure(bench, row, words_on_cpu);
	row->found = bench->found;
	digest = bench->digest;
	if (bench->device && keep_text(bench)) {
		row = add_row(bench, what, "bytes", bench->stretches * WORD_STRETCH_MAX, "gpu");
		measure(bench, row, words_on_gpu);
		row->is_equal =
			bench->found == bench->result->rows[bench->result->count - 2].found &&
			bench->digest == digest;
		row->found = bench->found;
	}
	kept_text_free(bench->kept);
}

int bench_assemble_run(struct bench_assemble *result, const struct bench_assemble_options *options,
	struct error *error)
{
	struct bench bench = { .options = options,
		.result = result,
		.pool = pool_new(options->threads),
		.random = options->seed,
		.clusters = ((options->size ? options->size : SIZE) / CLUSTER + 63) / 64 * 64,
		.hits = xcalloc(SEARCHES, sizeof(struct crc_hits)),
		.heads = xmalloc(TEXT_LEN + WORD_AFTER),
		.coded = xcalloc(1, sizeof(struct carve_coded)) };
	struct error why = { 0 };
	int status;

	*result = (struct bench_assemble){ 0 };
	if (!bench.pool)
		return error_set(error, EXIT_IO, EAGAIN, "no thread can be started");
	result->threads = pool_threads(bench.pool);
	if (!search_gpu)
		snprintf(result->why_no_gpu, sizeof(result->why_no_gpu), "built without CUDA");
	else if (search_gpu->open(&bench.device, options->devices, &why))
		snprintf(result->why_no_gpu, sizeof(result->why_no_gpu), "%s", why.text);
	make_coded(bench.coded);
	status = read_heads(&bench, error);
	if (!status) {
		run_breaks(&bench, false);
		run_breaks(&bench, true);
		run_coded(&bench);
		run_words(&bench);
	}
	if (bench.device)
		search_gpu->close(bench.device);
	pool_free(bench.pool);
	free(bench.hits);
	free(bench.heads);
	free(bench.coded);
	return status;
}
