#include "cli/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
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
};

static size_t min_size(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

static void count_hits(const struct sampler *sampler, uint64_t *counts)
{
	for (size_t i = 0; i < sampler->chunk.hit_count; i++)
		counts[sampler->chunk.hits[i].pattern]++;
}

/* Scans the chunk, in several parts when the hits do not fit at once. */
static int scan_chunk(struct sampler *sampler, uint64_t *counts, struct error *error)
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
		count_hits(sampler, counts);
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
	return scan_chunk(sampler, sample->counts, error);
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
		rc = scan_pieces(&sampler, sample, want, error);
	}
	close_all(&sampler);
	if (rc < 0)
		sample_free(sample);
	return rc;
}

void sample_free(struct sample *sample)
{
	free(sample->counts);
	*sample = (struct sample){ 0 };
}
