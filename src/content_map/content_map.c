#include "content_map/content_map.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"
#include "content_map/block_map.h"
#include "evidence/extent_image.h"

#define READ_LEN ((size_t)4 << 20)

struct map_job {
	struct pool_job job; /* first: a job's address is its map_job's */
	struct content_map *owner;
	struct reader_slot *slot;
	uint64_t offset; /* in what is searched */
	size_t len;
	struct block_ends ends;
	bool done; /* under the lock */
};

struct content_map {
	struct content_map_options options;
	struct block_map *blocks;
	struct map_job *jobs;             /* job n is jobs[n % count] */
	unsigned count;                   /* 0: no slots are given */
	uint64_t given, searched, joined; /* slots, since the start */
	uint64_t until;                   /* in what is searched: all before was joined */
	pthread_mutex_t lock;
	pthread_cond_t one_done;
};

/* ---- classifying --------------------------------------------------------------------------- */

/* Where the bytes from offset to end in what is searched are in the evidence; *count: 0 for none. The
 * caller frees them. Small ranges are not in the map: parts of their blocks come later, out of order. */
static struct range *mapped_runs(
	const struct content_map *map, uint64_t offset, uint64_t end, size_t *count)
{
	uint64_t main = extent_image_main(map->options.image);

	*count = 0;
	if (offset < main)
		offset = main;
	return offset < end ? extent_image_runs(map->options.image, offset, end - offset, count)
			    : NULL;
}

/* len bytes at offset in what is searched, wherever they lie in the evidence. */
static void classify(const struct content_map *map, struct block_ends *ends, uint64_t offset,
	const uint8_t *bytes, size_t len)
{
	uint64_t main = extent_image_main(map->options.image);
	size_t count;
	struct range *runs = mapped_runs(map, offset, offset + len, &count);

	if (offset < main && count)
		bytes += main - offset;

	block_map_begin(ends);
	for (size_t i = 0; i < count; i++) {
		block_map_add(map->blocks, ends, runs[i].offset, bytes, (size_t)runs[i].length);
		bytes += runs[i].length;
	}
	free(runs);
}

static void run_job(struct pool_job *pool_job, unsigned worker)
{
	struct map_job *job = (struct map_job *)pool_job;
	struct content_map *map = job->owner;

	(void)worker;
	classify(map, &job->ends, job->offset, job->slot->data, job->len);
	pthread_mutex_lock(&map->lock);
	job->done = true;
	pthread_cond_signal(&map->one_done);
	pthread_mutex_unlock(&map->lock);
}

struct content_map *content_map_new(const struct content_map_options *options)
{
	struct content_map *map = xcalloc(1, sizeof(*map));

	map->options = *options;
	map->blocks = block_map_new(image_info(extent_image_evidence(options->image))->size);
	map->count = options->slots;
	map->jobs = xcalloc(map->count, sizeof(*map->jobs));
	map->until = options->position;
	thread_lock_init(&map->lock);
	pthread_cond_init(&map->one_done, NULL);
	return map;
}

static bool is_done(struct content_map *map, const struct map_job *job, bool wait)
{
	bool done;

	pthread_mutex_lock(&map->lock);
	while (wait && !job->done)
		pthread_cond_wait(&map->one_done, &map->lock);
	done = job->done;
	pthread_mutex_unlock(&map->lock);
	return done;
}

/* Joins what is done of the jobs before `end`, in order, and waits for those before `wanted`. */
static void join_until(struct content_map *map, uint64_t end, uint64_t wanted)
{
	while (map->joined < end) {
		struct map_job *job = &map->jobs[map->joined % map->count];

		if (!is_done(map, job, map->joined < wanted))
			break;
		block_map_join(map->blocks, &job->ends);
		reader_release(map->options.reader, job->slot);
		map->until = job->offset + job->len;
		map->joined++;
	}
}

void content_map_give(struct content_map *map, struct reader_slot *slot)
{
	struct map_job *job;

	if (!map)
		return;
	assert(map->given - map->joined < map->count);
	reader_hold(map->options.reader, slot);
	job = &map->jobs[map->given++ % map->count];
	*job = (struct map_job){
		.job = { .run = run_job },
		.owner = map,
		.slot = slot,
		.offset = slot->offset,
		.len = slot->len,
	};
	pool_submit(map->options.pool, POOL_SCAN, &job->job);
}

void content_map_release(struct content_map *map, uint64_t searched)
{
	if (!map)
		return;
	map->searched = searched;
	join_until(map, searched, 0);
}

void content_map_wait(struct content_map *map)
{
	if (map && map->joined < map->searched)
		join_until(map, map->searched, map->joined + 1);
}

/* ---- between processes --------------------------------------------------------------------- */

uint8_t *content_map_encode(struct content_map *map, size_t *len)
{
	struct map_job *job;
	struct range *runs;
	uint8_t *bytes;
	size_t count;

	*len = 0;
	if (!map)
		return NULL;
	job = &map->jobs[map->joined++ % map->count];
	is_done(map, job, true);
	reader_release(map->options.reader, job->slot);
	runs = mapped_runs(map, job->offset, job->offset + job->len, &count);
	bytes = block_map_encode(map->blocks, &job->ends, runs, count, len);
	free(runs);
	return bytes;
}

int content_map_apply(struct content_map *map, uint64_t until, const uint8_t *bytes, size_t len)
{
	struct range *runs;
	size_t count;
	int status;

	if (!map || !len)
		return 0;
	if (until <= map->until)
		return -EBADMSG;
	runs = mapped_runs(map, map->until, until, &count);
	status = block_map_apply(map->blocks, runs, count, bytes, len);
	free(runs);
	map->until = until;
	return status;
}

/* ---- checkpoints --------------------------------------------------------------------------- */

void content_map_save(struct content_map *map, struct codec_writer *writer)
{
	if (!map)
		return;
	join_until(map, map->searched, 0);
	codec_put(writer, map->until);
	block_map_save(map->blocks, writer);
}

static void catch_up(struct content_map *map, uint64_t position, bool (*interrupted)(void))
{
	struct block_ends *ends = xmalloc(sizeof(*ends));
	uint8_t *bytes = xmalloc(READ_LEN);

	while (map->until < position && !interrupted()) {
		uint64_t left = position - map->until;
		size_t len = left < READ_LEN ? (size_t)left : READ_LEN;

		image_read_around(map->options.image, map->until, bytes, len);
		if (image_was_cut(map->options.image))
			break;
		classify(map, ends, map->until, bytes, len);
		block_map_join(map->blocks, ends);
		map->until += len;
	}
	free(bytes);
	free(ends);
}

void content_map_load(struct content_map *map, uint64_t position, bool (*interrupted)(void),
	struct codec_reader *reader)
{
	if (!map)
		return;
	map->until = codec_get(reader, position);
	block_map_load(map->blocks, reader);
	if (codec_ok(reader) && map->until < map->options.begin)
		codec_fail(reader);
	if (codec_ok(reader))
		catch_up(map, position, interrupted);
}

/* ---- the end ------------------------------------------------------------------------------- */

void content_map_free(struct content_map *map)
{
	if (!map)
		return;
	for (; map->joined < map->given; map->joined++) {
		struct map_job *job = &map->jobs[map->joined % map->count];

		is_done(map, job, true);
		reader_release(map->options.reader, job->slot);
	}
	pthread_cond_destroy(&map->one_done);
	pthread_mutex_destroy(&map->lock);
	block_map_free(map->blocks);
	free(map->jobs);
	free(map);
}

int content_map_finish(struct content_map *map, const struct ranges *unreadable,
	struct output_dir *output_dir, struct content_sums *sums, struct error *error)
{
	int status;

	if (!map)
		return 0;
	join_until(map, map->given, map->given);
	status = block_map_finish(map->blocks, unreadable, output_dir, sums, error);
	if (status)
		*sums = (struct content_sums){ 0 }; /* the report must name no missing file */
	content_map_free(map);
	return status;
}
