#include "cli/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "carve/why.h"
#include "evidence/image.h"
#include "scan/scan.h"

#define PIECE_LEN ((size_t)1 << 20)
#define HITS_AT_ONCE ((size_t)1 << 16)

/* Everything needed to scan a piece. */
struct sampler {
	const struct rules *rules;
	struct image *image;
	uint64_t image_size;
	struct pool *pool;
	const struct scan_engine *engine;
	struct scan *scan;
	struct scan_options options;
	struct chunk chunk;
	uint8_t *data;
	size_t tail_len;
	struct check_worker *worker; /* checks for the answers */
	struct why_answer *answers;  /* by rule, like the next */
	uint64_t *asked;             /* hits at which the rule's checks were asked */
	/* The last complete file that was seen: what starts inside of it is not carved. */
	uint64_t complete_from, complete_until;
};

static size_t min_size(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

static bool has_header(const struct rule *rule, uint32_t pattern)
{
	for (uint32_t i = 0; i < rule->header_count; i++)
		if (rule->headers[i] == pattern)
			return true;
	return false;
}

static bool may_start_at(const struct sampler *sampler, uint64_t start)
{
	uint8_t byte;

	return (start <= sampler->complete_from || start >= sampler->complete_until) &&
	       !image_read_at(sampler->image, start, &byte, 1);
}

/* Adds what a run would carve from a header hit by this rule, bytes. */
static int add_carved(
	struct sampler *sampler, uint32_t rule, uint64_t hit, double *lengths, struct error *error)
{
	const struct rules *rules = sampler->rules;
	const struct why_options options = { .worker = sampler->worker };
	uint64_t before = rules->rules[rule].header_offset, start = hit - before;
	int status;

	if (hit < before || !may_start_at(sampler, start))
		return 0;
	status = why_ask(sampler->answers, sampler->image, rules, &options, start, error);
	for (uint32_t i = 0; i < rules->count; i++) {
		struct why_answer *answer = &sampler->answers[i];

		if (!status && answer->state == WHY_CARVED) {
			if (i == rule)
				lengths[i] += (double)answer->outcome.length;
			if (answer->outcome.verdict == CARVE_COMPLETE) {
				sampler->complete_from = start;
				sampler->complete_until = start + answer->outcome.length;
			}
		}
		outcome_free(&answer->outcome);
	}
	return status;
}

/* The checks are asked at a pattern's first hits, and then at the 16th, 32nd, 64th and so on: however many
 * there are, that takes bearable time. */
static int take_hit(
	struct sampler *sampler, const struct hit *hit, struct sample *sample, struct error *error)
{
	uint64_t number = ++sample->counts[hit->pattern];
	int status = 0;

	if (number > 8 && (number & (number - 1)))
		return 0;
	for (uint32_t i = 0; i < sampler->rules->count && !status; i++)
		if (has_header(&sampler->rules->rules[i], hit->pattern)) {
			status = add_carved(sampler, i, hit->offset, sample->lengths, error);
			sampler->asked[i]++;
		}
	return status;
}

/* Scans the chunk, in several parts when the hits do not fit at once. */
static int scan_chunk(struct sampler *sampler, struct sample *sample, struct error *error)
{
	struct chunk *chunk = &sampler->chunk, *done;

	chunk->from = 0;
	do {
		int rc = sampler->engine->submit(sampler->scan, chunk);

		if (rc == 0)
			rc = sampler->engine->reap(sampler->scan, &done);
		if (rc == 0)
			rc = chunk->status;
		if (rc < 0)
			return error_set(error, EXIT_IO, -rc,
				"the engine %s failed on the sample of the image: %s",
				sampler->engine->name, strerror(-rc));
		for (size_t i = 0; i < chunk->hit_count && rc == 0; i++)
			rc = take_hit(sampler, &chunk->hits[i], sample, error);
		if (rc < 0)
			return rc;
		chunk->from = chunk->until;
	} while (chunk->until < chunk->len);
	return 0;
}

static int scan_piece(
	struct sampler *sampler, struct sample *sample, uint64_t offset, struct error *error)
{
	struct chunk *chunk = &sampler->chunk;
	uint64_t left = sampler->image_size - offset;

	chunk->offset = offset;
	chunk->data = sampler->data;
	chunk->len = min_size(left, PIECE_LEN);
	chunk->tail_len = min_size(left - chunk->len, sampler->tail_len);
	image_read_around(sampler->image, offset, sampler->data, chunk->len + chunk->tail_len);
	sample->bytes += chunk->len;
	return scan_chunk(sampler, sample, error);
}

static int scan_pieces(
	struct sampler *sampler, struct sample *sample, uint64_t want, struct error *error)
{
	uint64_t size = sampler->image_size;
	uint64_t pieces = want / PIECE_LEN + (want % PIECE_LEN != 0);
	uint64_t all = size / PIECE_LEN + (size % PIECE_LEN != 0);
	uint64_t stride = pieces < all ? size / pieces : PIECE_LEN;

	if (pieces > all)
		pieces = all;
	for (uint64_t i = 0; i < pieces; i++) {
		int rc = scan_piece(sampler, sample, i * stride, error);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int take_memory(struct sampler *sampler, struct error *error)
{
	struct chunk *chunk = &sampler->chunk;

	chunk->hit_capacity = HITS_AT_ONCE;
	if (chunk->hit_capacity < sampler->rules->patterns.count)
		chunk->hit_capacity = sampler->rules->patterns.count;
	if (sampler->rules->patterns.longest)
		sampler->tail_len = sampler->rules->patterns.longest - 1;
	sampler->data = malloc(PIECE_LEN + sampler->tail_len);
	chunk->hits = malloc(chunk->hit_capacity * sizeof(*chunk->hits));
	sampler->pool = pool_new(0);
	if (!sampler->data || !chunk->hits || !sampler->pool)
		return error_set(error, EXIT_IO, ENOMEM, "out of memory for a sample of the image");
	sampler->options = (struct scan_options){
		.pool = sampler->pool,
		.chunk_len = PIECE_LEN + sampler->tail_len,
		.chunks = 1,
	};
	return 0;
}

static int open_all(struct sampler *sampler, const char *path, struct error *error)
{
	char reason[256];
	int rc = image_open(&sampler->image, path, error);

	if (rc < 0)
		return rc;
	sampler->image_size = image_info(sampler->image)->size;
	rc = take_memory(sampler, error);
	if (rc < 0)
		return rc;
	sampler->engine = scan_engine_pick(NULL, reason, sizeof(reason), error);
	if (!sampler->engine)
		return -ENODEV;
	return sampler->engine->open(
		&sampler->scan, &sampler->rules->patterns, &sampler->options, error);
}

static void close_all(struct sampler *sampler)
{
	if (sampler->engine)
		sampler->engine->close(sampler->scan);
	pool_free(sampler->pool);
	free(sampler->chunk.hits);
	free(sampler->data);
	check_worker_free(sampler->worker);
	free(sampler->answers);
	free(sampler->asked);
	image_close(sampler->image);
}

int sample_take(struct sample *sample, const struct rules *rules, const char *path, uint64_t want,
	struct error *error)
{
	struct sampler sampler = { .rules = rules };
	int rc = open_all(&sampler, path, error);

	*sample = (struct sample){ .image_size = sampler.image_size };
	if (rc == 0) {
		sample->engine = sampler.engine->name;
		sample->counts = xcalloc(rules->patterns.count, sizeof(*sample->counts));
		sample->lengths = xcalloc(rules->count, sizeof(*sample->lengths));
		sampler.worker = check_worker_alone(sampler.image, rules);
		sampler.answers = xcalloc(rules->count, sizeof(*sampler.answers));
		sampler.asked = xcalloc(rules->count, sizeof(*sampler.asked));
		rc = scan_pieces(&sampler, sample, want, error);
		for (uint32_t i = 0; i < rules->count; i++)
			sample->lengths[i] /= sampler.asked[i] ? (double)sampler.asked[i] : 1;
	}
	close_all(&sampler);
	if (rc < 0)
		sample_free(sample);
	return rc;
}

void sample_free(struct sample *sample)
{
	free(sample->counts);
	free(sample->lengths);
	*sample = (struct sample){ 0 };
}
