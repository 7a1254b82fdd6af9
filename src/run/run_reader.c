/* The reader of a run, and the chunks that are made of its slots; others look into its ring,
 * too. */
#include "run/run_state.h"

#include <stdlib.h>

#include "base/memory.h"
#include "evidence/extent_image.h"

#define HITS_PER_CHUNK ((size_t)256 * 1024)
/* Of what has been searched, for carvers and writers to look at. */
#define CACHE_LEN ((size_t)64 * 1024 * 1024)

static size_t copy_searched(void *context, uint64_t offset, void *buffer, size_t len)
{
	const struct run *run = context;

	return reader_copy(run->reader, offset, buffer, len);
}

/* For those who read the evidence of which a part is searched. */
static size_t copy_part(void *context, uint64_t place, void *buffer, size_t len)
{
	const struct run *run = context;
	uint64_t offset, follow;
	size_t done = 0, got = 1;

	while (done < len && got && extent_image_find(run->image, place + done, &offset, &follow)) {
		size_t part_len = follow < len - done ? (size_t)follow : len - done;

		got = reader_copy(run->reader, offset, (uint8_t *)buffer + done, part_len);
		done += got;
	}
	return done;
}

static void lend_ring(struct run *run)
{
	if (run->evidence != run->image)
		image_set_cache(run->evidence, copy_part, run);
	image_set_cache(run->image, copy_searched, run);
}

void run_close_reader(struct run *run)
{
	if (!run->reader)
		return;
	image_set_cache(run->evidence, NULL, NULL);
	image_set_cache(run->image, NULL, NULL);
	reader_close(run->reader);
}

static int open_reader(struct run *run, uint64_t length)
{
	const struct run_options *options = run->options;
	struct reader_options reader = {
		.slot_len = options->chunk_size ? options->chunk_size : run->engine->chunk_len,
		.slots = scan_engine_chunks(run->engine, &options->gpu),
		.cache_len = CACHE_LEN,
		.overlap = options->rules->patterns.longest - 1,
		.offset = run->position,
		.length = length,
		.method = options->io,
		.cache = options->cache,
	};
	int status = reader_open(&run->reader, run->image, &reader, &run->error);

	if (!status)
		lend_ring(run);
	run->near_len = CACHE_LEN / 2;
	return status;
}

static void allocate_flights(struct run *run)
{
	size_t capacity = run->options->rules->patterns.count;

	if (capacity < HITS_PER_CHUNK)
		capacity = HITS_PER_CHUNK;
	run->flights = xcalloc(run->flight_count, sizeof(*run->flights));
	for (unsigned i = 0; i < run->flight_count; i++) {
		run->flights[i].chunk.hits = xmalloc(capacity * sizeof(struct hit));
		run->flights[i].chunk.hit_capacity = capacity;
	}
}

int run_open_search(struct run *run, uint64_t length)
{
	int status = open_reader(run, length);

	if (!status)
		status = run_start_engine(run);
	if (!status)
		allocate_flights(run);
	return status;
}
