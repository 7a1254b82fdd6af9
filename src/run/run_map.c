/*
 * Classes of the image's blocks (content_map/block_map.h), told in the pass that searches it. Each slot
 * of the ring is a job of the pool beside the engine's, and goes back to the reader when it was
 * looked at, too. The conductor's thread joins what the jobs have found, in order. Where other
 * processes search (run/run_cluster.h) they look at the slots, too, and tell the conductor what they
 * found.
 */
#include "run/run_state.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/extent_image.h"
#include "content_map/block_map.h"
#include "content_map/map_bin.h"

#define PIECE_LEN ((size_t)4 << 20)

struct map_job {
	struct pool_job job; /* first: a job's address is its map_job's */
	struct run_map *owner;
	const uint8_t *bytes;
	uint64_t offset; /* in what is searched */
	size_t len;
	struct block_ends ends;
	bool done; /* under the lock */
};

struct run_map {
	const struct image *image;
	struct block_map *blocks;
	struct map_job *jobs; /* job n is jobs[n % count]; none where others look */
	unsigned count;
	uint64_t given, joined; /* jobs; a helper tells instead of joining */
	uint64_t until;         /* in what is searched: all before was joined */
	pthread_mutex_t lock;
	pthread_cond_t one_done;
};

/* len bytes at offset in what is searched, wherever they lie in the evidence. */
static void look(const struct run_map *map, struct block_ends *ends, uint64_t offset,
	const uint8_t *bytes, size_t len)
{
	size_t count = 0;
	struct range *runs = len ? extent_image_runs(map->image, offset, len, &count) : NULL;

	for (size_t i = 0; i < count; i++) {
		block_map_add(map->blocks, ends, runs[i].offset, bytes, (size_t)runs[i].length);
		bytes += runs[i].length;
	}
	free(runs);
}

static void run_job(struct pool_job *pool_job, unsigned worker)
{
	struct map_job *job = (struct map_job *)pool_job;
	struct run_map *map = job->owner;

	(void)worker;
	block_map_begin(&job->ends);
	look(map, &job->ends, job->offset, job->bytes, job->len);
	pthread_mutex_lock(&map->lock);
	job->done = true;
	pthread_cond_signal(&map->one_done);
	pthread_mutex_unlock(&map->lock);
}

void run_start_map(struct run *run)
{
	struct run_map *map;

	if (run->options->no_content_map)
		return;
	run->map = map = xcalloc(1, sizeof(*map));
	map->image = run->image;
	map->blocks = block_map_new(image_info(run->evidence)->size);
	map->count = run->flight_count;
	map->jobs = xcalloc(map->count, sizeof(*map->jobs));
	map->until = run->position;
	pthread_mutex_init(&map->lock, NULL);
	pthread_cond_init(&map->one_done, NULL);
}

void run_map_slot(struct run *run, const struct reader_slot *slot)
{
	struct run_map *map = run->map;
	struct map_job *job;

	if (!map)
		return;
	job = &map->jobs[map->given++ % map->count];
	*job = (struct map_job){ .job = { .run = run_job }, .owner = map };
	job->bytes = slot->data;
	job->offset = slot->offset;
	job->len = slot->len;
	pool_submit(run->pool, POOL_SCAN, &job->job);
}

static bool is_done(struct run_map *map, const struct map_job *job, bool wait)
{
	bool done;

	pthread_mutex_lock(&map->lock);
	while (wait && !job->done)
		pthread_cond_wait(&map->one_done, &map->lock);
	done = job->done;
	pthread_mutex_unlock(&map->lock);
	return done;
}

/* Joins what is done of the first `most` jobs, in order; until `wanted` are joined it waits. */
static uint64_t join_until(struct run_map *map, uint64_t most, uint64_t wanted)
{
	while (map->joined < most) {
		struct map_job *job = &map->jobs[map->joined % map->count];

		if (!is_done(map, job, map->joined < wanted))
			break;
		block_map_join(map->blocks, &job->ends);
		map->until = job->offset + job->len;
		map->joined++;
	}
	return map->joined;
}

/* Not what was not searched, too: a run that is resumed looks at that again. */
uint64_t run_mapped(struct run *run, uint64_t wanted)
{
	return run->map ? join_until(run->map, run->consumed, wanted) : UINT64_MAX;
}

/* ---- between processes --------------------------------------------------------------------- */

uint8_t *run_tell_map(struct run *run, size_t *len)
{
	struct run_map *map = run->map;
	struct map_job *job;
	struct range *runs;
	uint8_t *bytes;
	size_t count;

	*len = 0;
	if (!map)
		return NULL;
	job = &map->jobs[map->joined++ % map->count];
	is_done(map, job, true);
	runs = extent_image_runs(map->image, job->offset, job->len, &count);
	bytes = block_map_tell(map->blocks, &job->ends, runs, count, len);
	free(runs);
	return bytes;
}

int run_hear_map(struct run *run, uint64_t until, const uint8_t *bytes, size_t len)
{
	struct run_map *map = run->map;
	struct range *runs;
	size_t count;
	int status;

	if (!map || !len)
		return 0;
	runs = until > map->until
		       ? extent_image_runs(map->image, map->until, until - map->until, &count)
		       : NULL;
	status = runs ? block_map_hear(map->blocks, runs, count, bytes, len) : -EBADMSG;
	free(runs);
	map->until = until;
	if (!status)
		return 0;
	return error_set(&run->error, EXIT_IO, -status,
		"a fault in burin: another process sent classes of blocks that make no sense");
}

/* ---- checkpoints --------------------------------------------------------------------------- */

void run_save_map(struct run *run, struct codec_writer *writer)
{
	if (!run->map)
		return;
	run_mapped(run, 0);
	codec_put(writer, run->map->until);
	block_map_save(run->map->blocks, writer);
}

/* What was searched, and not yet joined when the checkpoint was made: at most a ring. */
static void catch_up(struct run *run)
{
	struct run_map *map = run->map;
	struct block_ends *ends = xmalloc(sizeof(*ends));
	uint8_t *bytes = xmalloc(PIECE_LEN);

	while (map->until < run->position && !run_caught_signal()) {
		uint64_t left = run->position - map->until;
		size_t len = left < PIECE_LEN ? (size_t)left : PIECE_LEN;

		image_read_around(run->image, map->until, bytes, len);
		block_map_begin(ends);
		look(map, ends, map->until, bytes, len);
		block_map_join(map->blocks, ends);
		map->until += len;
	}
	free(bytes);
	free(ends);
}

void run_free_map(struct run *run)
{
	struct run_map *map = run->map;

	if (!map)
		return;
	for (; map->joined < map->given; map->joined++)
		is_done(map, &map->jobs[map->joined % map->count], true);
	pthread_cond_destroy(&map->one_done);
	pthread_mutex_destroy(&map->lock);
	block_map_free(map->blocks);
	free(map->jobs);
	free(map);
	run->map = NULL;
}

void run_load_map(struct run *run, struct codec_reader *reader)
{
	if (!run->map)
		return;
	run->map->until = codec_get(reader, run->position);
	block_map_load(run->map->blocks, reader);
	if (codec_ok(reader) && run->map->until < run->range_start)
		codec_fail(reader);
	if (codec_ok(reader))
		catch_up(run);
}

void run_finish_map(struct run *run)
{
	struct run_map *map = run->map;
	struct error error = { 0 };

	if (!map)
		return;
	join_until(map, map->given, map->given);
	if (block_map_finish(map->blocks, run_unreadable(run), run->output_dir,
		    &run->summary.content, &error)) {
		run->summary.content = (struct content_sums){
			0
		}; /* the report tells of no file that is not there */
		if (!run->error.code)
			run->error = error;
	}
	run_free_map(run);
}
