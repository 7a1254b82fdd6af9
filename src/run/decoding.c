#include "run/decoding.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"

/* Pictures of a chunk that are described; checks decode the others. */
#define DESCRIBED_MAX 1024
/* That a thread describes at a time: where another process does, it takes a message there and one back. */
#define AT_ONCE 8
/* Batches under way, at most: an engine may take fewer. */
#define BATCHES 8

struct scans {
	struct coded_scan *items;
	size_t count, room;
};

struct under_way {
	struct coded_batch *batch;
	struct scans scans;
	uint64_t number; /* of the chunk */
};

struct decoding {
	struct ahead *ahead;
	struct pool *pool;
	struct under_way under_way[BATCHES]; /* batch n is at n modulo BATCHES */
	unsigned begun, ended;
	struct scans cut; /* that go on in the chunk after cut_number */
	uint64_t cut_number;
	uint64_t described_count, known_count;
	/* While hits are described. */
	const struct chunk *chunk;
	size_t hit_count;
	_Atomic size_t next;
	struct ahead_item described[DESCRIBED_MAX];
};

struct decoding *decoding_new(struct ahead *ahead, struct pool *pool)
{
	struct decoding *decoding = xcalloc(1, sizeof(*decoding));

	decoding->ahead = ahead;
	decoding->pool = pool;
	return decoding;
}

static void add_scan(struct scans *scans, const struct coded_scan *scan)
{
	scans->items = xgrow(scans->items, &scans->room, scans->count, sizeof(*scans->items));
	scans->items[scans->count++] = *scan;
}

static void drop_descriptions(struct scans *scans)
{
	for (size_t i = 0; i < scans->count; i++) {
		free((void *)scans->items[i].coded);
		scans->items[i].coded = NULL;
	}
}

/* What is cut is left to its checks. */
static void drop_cut(struct decoding *decoding)
{
	drop_descriptions(&decoding->cut);
	decoding->cut.count = 0;
}

void decoding_free(struct decoding *decoding)
{
	if (!decoding)
		return;
	log_debug("pictures decoded ahead of their checks: %" PRIu64 " of %" PRIu64 " valid",
		decoding->known_count, decoding->described_count);
	for (unsigned i = 0; i < BATCHES; i++)
		free(decoding->under_way[i].scans.items);
	drop_cut(decoding);
	free(decoding->cut.items);
	free(decoding);
}

/* ---- describing ---------------------------------------------------------------------------- */

static void describe_hits(void *context, unsigned number, unsigned worker)
{
	struct decoding *decoding = context;
	const struct chunk *chunk = decoding->chunk;
	size_t i;

	(void)number;
	while ((i = atomic_fetch_add(&decoding->next, AT_ONCE)) < decoding->hit_count) {
		size_t left = decoding->hit_count - i;

		ahead_describe(decoding->ahead, worker, chunk->data, chunk->offset,
			chunk->len + chunk->tail_len, &decoding->described[i],
			left < AT_ONCE ? left : AT_ONCE);
	}
}

/* Describes the data of the pictures whose headers are in the chunk, in the pool. */
static void describe_chunk(
	struct decoding *decoding, const struct chunk *chunk, struct scans *scans)
{
	size_t before = scans->count;
	unsigned parts;

	decoding->chunk = chunk;
	decoding->hit_count = 0;
	decoding->next = 0;
	for (size_t i = 0; i < chunk->hit_count && decoding->hit_count < DESCRIBED_MAX; i++)
		if (!chunk->hits[i].note && /* else there is no check to come */
			ahead_describes(decoding->ahead, chunk->hits[i].pattern))
			decoding->described[decoding->hit_count++] =
				(struct ahead_item){ .hit = chunk->hits[i].offset,
					.pattern = chunk->hits[i].pattern };
	parts = (unsigned)((decoding->hit_count + AT_ONCE - 1) / AT_ONCE);
	if (!parts)
		return;
	pool_share(decoding->pool, POOL_WRITE,
		parts < pool_threads(decoding->pool) ? parts : pool_threads(decoding->pool),
		describe_hits, decoding);
	for (size_t i = 0; i < decoding->hit_count; i++) {
		const struct ahead_item *item = &decoding->described[i];

		if (item->coded)
			add_scan(scans, &(struct coded_scan){ .picture = item->picture,
						.data = item->data,
						.coded = item->coded });
	}
	decoding->described_count += scans->count - before;
}

/* ---- batches ------------------------------------------------------------------------------- */

static void end_oldest(
	struct decoding *decoding, const struct scan_engine *engine, struct scan *scan)
{
	struct under_way *oldest = &decoding->under_way[decoding->ended++ % BATCHES];

	engine->decode_end(scan, oldest->batch);
	for (size_t i = 0; i < oldest->scans.count; i++) {
		const struct coded_scan *item = &oldest->scans.items[i];

		if (!item->end)
			continue;
		ahead_add(decoding->ahead, item->picture, item->data, item->end);
		decoding->known_count++;
	}
	oldest->scans.count = 0;
}

/* Keeps for the next chunk what began in this one, and not in the one before: the first `carried`. */
static void keep_cut(struct decoding *decoding, struct scans *scans, size_t carried)
{
	for (size_t i = carried; i < scans->count; i++) {
		if (!scans->items[i].cut)
			continue;
		add_scan(&decoding->cut, &scans->items[i]);
		scans->items[i].coded = NULL;
	}
}

/* What is cut in the chunk before that number goes on there. Returns how many. */
static size_t take_cut(struct decoding *decoding, uint64_t number, struct scans *scans)
{
	if (decoding->cut_number + 1 != number)
		drop_cut(decoding);
	for (size_t i = 0; i < decoding->cut.count; i++)
		add_scan(scans, &decoding->cut.items[i]);
	decoding->cut.count = 0;
	decoding->cut_number = number;
	return scans->count;
}

void decoding_begin(struct decoding *decoding, const struct scan_engine *engine, struct scan *scan,
	const struct chunk *chunk, uint64_t number, bool before_held)
{
	struct under_way *newest = &decoding->under_way[decoding->begun % BATCHES];
	size_t carried;

	if (decoding->begun - decoding->ended == BATCHES)
		end_oldest(decoding, engine, scan);
	if (!before_held)
		drop_cut(decoding);
	carried = take_cut(decoding, number, &newest->scans);
	if (!chunk->from && !chunk->status)
		describe_chunk(decoding, chunk, &newest->scans);
	if (!newest->scans.count)
		return;
	newest->number = number;
	newest->batch = engine->decode_begin(scan, newest->scans.items, newest->scans.count);
	keep_cut(decoding, &newest->scans, carried);
	drop_descriptions(&newest->scans);
	if (newest->batch)
		decoding->begun++;
	else
		newest->scans.count = 0;
}

void decoding_end(struct decoding *decoding, const struct scan_engine *engine, struct scan *scan,
	uint64_t number)
{
	while (decoding->ended < decoding->begun &&
		decoding->under_way[decoding->ended % BATCHES].number <= number)
		end_oldest(decoding, engine, scan);
}
