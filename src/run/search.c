/*
 * Chunks in flight form a ring of as many entries as the reader has slots. The engine may finish
 * them in any order; they are consumed in order. One whose hits did not fit is consumed as far as
 * the engine got, and submitted again from there while those after it wait.
 *
 * A slot is held by the search until its chunk was consumed, and by the hash and the map until they
 * are done with it. The reader fills it again after the last of them.
 */
#include "run/search.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "evidence/extent_image.h"
#include "run/decoding.h"
#include "run/late_engine.h"
#include "run/signals.h"
#include "scan/kept_text.h"

#define HITS_PER_CHUNK ((size_t)256 * 1024)
/* Chunks after the one that is handed out next whose coded data is being decoded meanwhile. */
#define DECODED_AHEAD 2
/* How much of what was searched the reader keeps, for carvers and writers to look at... */
#define CACHE_LEN ((size_t)64 * 1024 * 1024)
/* ...and how much of it the page cache is expected to keep, where they read that: this part of the machine's memory, and
 * no more than so much. */
#define PAGE_CACHE_SHARE 8
#define PAGE_CACHE_MAX ((uint64_t)4 << 30)

#define SHARES_MAX 6

struct inflight {
	struct chunk chunk; /* first: a chunk's address is its inflight's */
	struct reader_slot *slot;
	unsigned share; /* of the engine that finished it */
	bool finished;
};

struct search {
	struct search_options options;
	struct reader *reader;

	const struct scan_engine *engine;
	const char *kernel; /* that the engine is asked for; NULL: its choice */
	struct scan *scan;
	char engine_reason[512];
	bool unsuited;
	/* The engine that auto prefers, until it has started; NULL: none is to start. */
	const struct scan_engine *preferred;
	struct late_engine *late;
	struct engine_share shares[SHARES_MAX];
	unsigned share_count, share; /* the engine's */

	struct inflight *inflight; /* chunk n is inflight[n % count] */
	unsigned count;
	uint64_t submitted, consumed; /* chunks, since the start */
	bool refused;                 /* the engine had no room for the last one submitted */
	bool in_hand;                 /* the caller has the oldest one */
	int done_status;              /* of search_done, for the next search_next */

	struct range *ranges; /* queued; the first is the next */
	size_t range_count, range_room;
	bool read_all; /* the reader has come to the end of the last range so far */

	/* A slot of zeros of this size has no hit; 0: not known yet. */
	size_t hitless_len, hitless_tail_len;

	struct kept_text *kept_text; /* NULL: none is */
	struct decoding *decoding;   /* NULL: the engine decodes nothing */
	struct evidence_hash *hash;
	struct content_map *map;
	uint64_t near_len; /* bytes before the end of what was searched that can be read fast */
	double read_wait, scan_wait; /* seconds */
};

/* More threads wait so often for the ring's lock that they find bytes sooner in the page cache. */
#define RING_THREADS 4

/* ---- the reader ---------------------------------------------------------------------------- */

static size_t copy_searched(void *context, uint64_t offset, void *buffer, size_t len)
{
	const struct search *search = context;

	return reader_copy(search->reader, offset, buffer, len);
}

/* For reads of the evidence when only a part of it is searched. */
static size_t copy_part(void *context, uint64_t offset, void *buffer, size_t len)
{
	const struct search *search = context;
	uint64_t in_part, follow;
	size_t done = 0, got = 1;

	while (done < len && got &&
		extent_image_find(search->options.scope->image, offset + done, &in_part, &follow)) {
		size_t part_len = follow < len - done ? (size_t)follow : len - done;

		got = reader_copy(search->reader, in_part, (uint8_t *)buffer + done, part_len);
		done += got;
	}
	return done;
}

static uint64_t page_cache_len(void)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t len = memory / PAGE_CACHE_SHARE;

	return len < PAGE_CACHE_MAX ? len : PAGE_CACHE_MAX;
}

/* Carvers and writers find what was read lately in the reader's ring, or in the page cache. */
static void share_ring(struct search *search)
{
	const struct scope *scope = search->options.scope;

	search->near_len = CACHE_LEN / 2;
	if (!reader_saves_reading(search->reader) &&
		pool_threads(search->options.pool) > RING_THREADS) {
		search->near_len = page_cache_len();
		return;
	}
	if (scope->evidence != scope->image)
		image_set_cache(scope->evidence, copy_part, search);
	image_set_cache(scope->image, copy_searched, search);
	image_set_ring(scope->image, reader_descriptor(search->reader));
}

static int open_reader(struct search *search, uint64_t offset, uint64_t length, struct error *error)
{
	const struct run_options *options = search->options.options;
	const struct scan_engine *engine = search->preferred ? search->preferred : search->engine;
	struct reader_options reader = {
		.slot_len = options->chunk_size ? options->chunk_size : engine->chunk_len,
		.slots = engine->chunks,
		.cache_len = CACHE_LEN,
		.overlap = options->rules->patterns.longest - 1,
		.offset = offset,
		.length = length,
		.method = options->io,
		.cache = options->cache,
		.shared = search->options.shared,
	};
	int status = reader_open(&search->reader, search->options.scope->image, &reader, error);

	if (!status)
		share_ring(search);
	return status;
}

/* ---- the engine ---------------------------------------------------------------------------- */

/* What an engine is opened with. */
static struct scan_options engine_options(struct search *search)
{
	const struct run_options *options = search->options.options;
	struct scan_options scan = {
		.pool = search->options.pool,
		.kernel = search->kernel,
		.gpu = &options->gpu,
		.sifter = sift_sifter(search->options.sift),
		.kept_text = search->kept_text,
	};

	reader_ring(search->reader, &scan.ring, &scan.ring_len, &scan.chunk_len, &scan.chunks);
	return scan;
}

static bool is_to_decode(const struct search *search, const struct scan_engine *engine)
{
	return engine->decode_begin && search->options.ahead && ahead_wanted(search->options.ahead);
}

/* A new share; the last one again if there is no room. */
static unsigned add_share(struct search *search, const char *engine)
{
	unsigned share = search->share_count < SHARES_MAX ? search->share_count++ : SHARES_MAX - 1;

	search->shares[share] = (struct engine_share){ .name = engine };
	return share;
}

/* The engine is open. */
static void engine_is_open(struct search *search)
{
	struct engine_share *share;

	search->share = add_share(search, search->engine->name);
	share = &search->shares[search->share];
	if (search->engine->kernel)
		snprintf(share->kernel, sizeof(share->kernel), "%s",
			search->engine->kernel(search->scan));
	if (is_to_decode(search, search->engine))
		search->decoding = decoding_new(search->options.ahead, search->options.pool);
}

static int open_engine(struct search *search, struct error *error)
{
	struct scan_options scan;
	int status;

	if (search->options.keeps_text && !search->kept_text &&
		!strcmp(search->engine->name, "gpu"))
		search->kept_text = kept_text_new(search->options.options->gpu.devices,
			image_info(search->options.scope->image)->size);
	scan = engine_options(search);
	scan.decodes = is_to_decode(search, search->engine);
	search->count = scan.chunks;
	status = search->engine->open(
		&search->scan, &search->options.options->rules->patterns, &scan, error);
	if (!status)
		engine_is_open(search);
	return status;
}

/* The engine takes no part any more. */
static void close_engine(struct search *search)
{
	if (search->decoding)
		decoding_end(search->decoding, search->engine, search->scan, UINT64_MAX);
	decoding_free(search->decoding);
	search->decoding = NULL;
	search->engine->close(search->scan);
	search->scan = NULL;
}

/* The next row of the table that works here; NULL when this was the last. */
static const struct scan_engine *next_engine(const struct search *search)
{
	const struct scan_engine *const *row = scan_engines;
	char reason[256];

	while (*row && *row != search->engine)
		row++;
	while (*row && *++row)
		if ((*row)->probe(reason, sizeof(reason)) == 0)
			return *row;
	return NULL;
}

/* Changes to the next engine of the table, and says why in the log and the report. False when there
 * is none, or the user chose this one. */
static bool fall_back(struct search *search, const char *why)
{
	const char *asked = search->options.options->engine;
	bool is_auto = !asked || strcmp(asked, "auto") == 0;
	const struct scan_engine *next = is_auto ? next_engine(search) : NULL;
	size_t used = strlen(search->engine_reason);

	if (!next)
		return false;
	log_warn("engine %s: %s; continuing with %s", search->engine->name, why, next->name);
	snprintf(search->engine_reason + used, sizeof(search->engine_reason) - used, "; %s: %s",
		search->engine->name, why);
	search->engine = next;
	search->kernel = NULL; /* the one that was asked for belongs to another engine */
	return true;
}

/* Whether auto's first engine would start so late that another one searches meanwhile; never if the user chose. */
static bool starts_late(const struct search *search)
{
	const struct run_options *options = search->options.options;
	bool is_auto = !options->engine || strcmp(options->engine, "auto") == 0;

	return search->options.may_start_late && is_auto && !options->kernel &&
	       !options->gpu.devices && scan_engines[0]->starts_late &&
	       scan_engines[0]->starts_late();
}

/* The next engine of the table searches until the first one has started; or to the end, if that is not later. */
static void pick_both(struct search *search, uint64_t length)
{
	bool is_short = length < scan_engines[0]->late_len * pool_threads(search->options.pool);

	search->engine = scan_engines[0];
	search->preferred = is_short ? NULL : search->engine;
	snprintf(search->engine_reason, sizeof(search->engine_reason), "%s: %s",
		search->engine->name,
		is_short ? "would start only when nearly all is searched"
			 : "starts while this engine searches, and then searches the rest");
	search->engine = next_engine(search);
	if (!search->engine)
		search->preferred = NULL;
}

int search_pick_engine(struct search *search, uint64_t length, struct error *error)
{
	const struct run_options *options = search->options.options;

	if (length && starts_late(search))
		pick_both(search, length);
	if (!search->engine)
		search->engine = scan_engine_pick(options->engine, search->engine_reason,
			sizeof(search->engine_reason), error);
	search->kernel = options->kernel;
	return search->engine ? 0 : -EINVAL;
}

static void start_late_engine(struct search *search)
{
	struct scan_options options;

	if (!search->preferred)
		return;
	options = engine_options(search);
	options.decodes = is_to_decode(search, search->preferred);
	search->late = late_engine_start(
		search->preferred, &search->options.options->rules->patterns, &options);
	if (!search->late)
		search->preferred = NULL;
}

static int start_engine(struct search *search, struct error *error)
{
	int status;

	while ((status = open_engine(search, error))) {
		if (error->code == EXIT_USAGE || !fall_back(search, error->text)) {
			search->unsuited = status == -EINVAL;
			return status;
		}
		*error = (struct error){ 0 };
	}
	return 0;
}

static struct inflight *inflight_at(struct search *search, uint64_t number)
{
	return &search->inflight[number % search->count];
}

/* -EAGAIN: the engine has no room before a chunk is finished. */
static int submit(struct search *search, struct inflight *inflight)
{
	inflight->finished = false;
	inflight->chunk.status = 0;
	return search->engine->submit(search->scan, &inflight->chunk);
}

static uint64_t number_of(const struct search *search, const struct inflight *inflight)
{
	uint64_t place = (uint64_t)(inflight - search->inflight);

	return search->consumed +
	       (place + search->count - search->consumed % search->count) % search->count;
}

/* Waits until some chunk is finished. */
static int reap(struct search *search)
{
	struct chunk *chunk;
	struct inflight *inflight;
	int status = search->engine->reap(search->scan, &chunk);

	if (status)
		return status;
	inflight = (struct inflight *)chunk;
	inflight->finished = true;
	inflight->share = search->share;
	if (chunk->status)
		return 0;
	if (search->options.sift && !search->engine->sifts)
		sift_chunk(search->options.sift, chunk);
	if (search->decoding) {
		uint64_t number = number_of(search, inflight);

		decoding_begin(search->decoding, search->engine, search->scan, chunk, number,
			number > search->consumed);
	}
	return 0;
}

/* As submit, but waits until there is room. */
static int submit_waiting(struct search *search, struct inflight *inflight)
{
	int status;

	while ((status = submit(search, inflight)) == -EAGAIN) {
		status = reap(search);
		if (status)
			return status;
	}
	return status;
}

static int await_finished(struct search *search, struct inflight *inflight)
{
	double from = clock_seconds();
	int status = 0;

	while (!inflight->finished && !status)
		status = reap(search);
	search->scan_wait += clock_seconds() - from;
	return status;
}

/* The engine broke down in the oldest chunk: the next one of the table searches again everything
 * that was not consumed. */
static int replace_engine(struct search *search, int status, struct error *error)
{
	const char *broken = search->engine->name;
	struct error opening = { 0 };
	char why[sizeof(opening.text)];

	for (uint64_t n = search->consumed; n < search->submitted; n++)
		await_finished(search, inflight_at(search, n));
	search->refused = false;
	close_engine(search);
	snprintf(why, sizeof(why), "broke down at byte %" PRIu64 " (%s)",
		inflight_at(search, search->consumed)->chunk.offset, strerror(-status));
	problems_add(search->options.problems, xasprintf("the engine %s %s", broken, why));
	do {
		if (!fall_back(search, why))
			return error_set(error, EXIT_NO_ENGINE, -status, "the engine %s %s",
				search->engine->name, why);
		opening = (struct error){ 0 };
		status = open_engine(search, &opening);
		snprintf(why, sizeof(why), "%s", opening.text);
	} while (status);
	for (uint64_t n = search->consumed; n < search->submitted; n++) {
		status = submit_waiting(search, inflight_at(search, n));
		if (status)
			return error_set(error, EXIT_IO, -status,
				"the engine %s refused a chunk: %s", search->engine->name,
				strerror(-status));
	}
	return 0;
}

/* The preferred engine is not used, and the report says why. */
static void note_unused(struct search *search, const char *why)
{
	unsigned share = add_share(search, search->preferred->name);

	log_debug("engine %s: %s", search->preferred->name, why);
	snprintf(search->shares[share].why, sizeof(search->shares[share].why), "%s", why);
}

/* Waits for all that the engine has. False: it has failed in something. */
static bool await_all(struct search *search)
{
	uint64_t end = search->submitted - search->refused;
	bool is_good = true;

	for (uint64_t n = search->consumed; n < end; n++)
		if (await_finished(search, inflight_at(search, n)) ||
			inflight_at(search, n)->chunk.status)
			is_good = false;
	return is_good;
}

/* The preferred engine has started, or failed to: in the first case it searches what has not been submitted. */
static void change_engine(struct search *search)
{
	struct scan *scan;
	char why[512];

	if (!await_all(search))
		return;
	scan = late_engine_end(search->late, why, sizeof(why));
	search->late = NULL;
	if (scan) {
		close_engine(search);
		search->engine = search->preferred;
		search->scan = scan;
		engine_is_open(search);
	} else {
		note_unused(search, why);
	}
	search->preferred = NULL;
}

/* ---- feeding ------------------------------------------------------------------------------- */

/* Engines look at bytes alone, so where one found nothing in zeros, there is nothing in as many
 * zeros elsewhere: of slots that lie in a hole only the first of each size is searched. */
static bool is_hitless(const struct search *search, const struct reader_slot *slot)
{
	return slot->hole && slot->len == search->hitless_len &&
	       slot->tail_len == search->hitless_tail_len;
}

static void note_hitless(struct search *search, const struct inflight *inflight)
{
	const struct chunk *chunk = &inflight->chunk;

	if (!inflight->slot->hole || chunk->from || chunk->hit_count)
		return;
	search->hitless_len = chunk->len;
	search->hitless_tail_len = chunk->tail_len;
}

static int submit_slot(struct search *search, struct reader_slot *slot)
{
	struct inflight *inflight = inflight_at(search, search->submitted++);
	struct chunk *chunk = &inflight->chunk;

	inflight->slot = slot;
	chunk->data = slot->data;
	chunk->offset = slot->offset;
	chunk->len = slot->len;
	chunk->tail_len = slot->tail_len;
	chunk->from = 0;
	evidence_hash_give(search->hash, slot);
	content_map_give(search->map, slot);
	if (!is_hitless(search, slot))
		return submit(search, inflight);
	chunk->until = chunk->len;
	chunk->hit_count = 0;
	chunk->status = 0;
	inflight->finished = true;
	inflight->share = search->share;
	return 0;
}

/* The reader has come to the end of its range. */
static int start_next_range(struct search *search, struct error *error)
{
	struct range range;

	if (!search->range_count) {
		search->read_all = true;
		return 0;
	}
	range = search->ranges[0];
	search->range_count--;
	memmove(search->ranges, search->ranges + 1, search->range_count * sizeof(range));
	return reader_continue(search->reader, range.offset, range.length, error);
}

/* Takes the next slot from the reader and gives it to the engine. -ENOBUFS: all slots are held. */
static int feed_slot(struct search *search, struct error *error)
{
	double from = clock_seconds();
	struct reader_slot *slot;
	int status = reader_next(search->reader, &slot);

	search->read_wait += clock_seconds() - from;
	if (status == -EAGAIN)
		return -ENOBUFS;
	if (status < 0 && status != -ECANCELED)
		return error_set(error, EXIT_IO, -status, "the reader of %s broke down: %s",
			search->options.scope->image_path, strerror(-status));
	if (status < 0)
		return status;
	return status ? submit_slot(search, slot) : start_next_range(search, error);
}

/* The engine had no room for the last chunk; perhaps it has now. */
static int offer_again(struct search *search)
{
	return search->refused ? submit(search, inflight_at(search, search->submitted - 1)) : 0;
}

/* Gives slots that were read to the engine; waits for one only when the engine has nothing to do.
 * -ENOBUFS: no slot is with the engine, and the hash or the map hold them all. */
static int feed(struct search *search, struct error *error)
{
	int status = offer_again(search);

	while (!status && !search->read_all &&
		search->submitted - search->consumed < search->count) {
		if (search->submitted > search->consumed && !reader_ready(search->reader))
			break;
		status = feed_slot(search, error);
	}
	search->refused = status == -EAGAIN;
	if (status == -ENOBUFS)
		return search->submitted > search->consumed ? 0 : status;
	if (status && status != -ECANCELED && !search->refused && !error->code)
		error_set(error, EXIT_IO, -status, "the engine %s refused a chunk: %s",
			search->engine->name, strerror(-status));
	return search->refused ? 0 : status;
}

/* Reaps chunks after the oldest one, whose coded data is decoded meanwhile, as far as they were submitted; and
 * waits until it is known of all that begins in the oldest one. Pictures may end in the chunk after that. */
static void await_decoded(struct search *search)
{
	uint64_t ahead = search->consumed + DECODED_AHEAD;

	if (!search->decoding)
		return;
	for (uint64_t n = search->consumed + 1; n <= ahead && n < search->submitted; n++)
		if (await_finished(search, inflight_at(search, n)))
			break;
	decoding_end(search->decoding, search->engine, search->scan, search->consumed + 1);
}

/* ---- the interface ------------------------------------------------------------------------- */

struct search *search_new(const struct search_options *options)
{
	struct search *search = xcalloc(1, sizeof(*search));

	search->options = *options;
	return search;
}

static void allocate_inflight(struct search *search)
{
	size_t capacity = search->options.options->rules->patterns.count;

	if (capacity < HITS_PER_CHUNK)
		capacity = HITS_PER_CHUNK;
	search->inflight = xcalloc(search->count, sizeof(*search->inflight));
	for (unsigned i = 0; i < search->count; i++) {
		search->inflight[i].chunk.hits = xmalloc(capacity * sizeof(struct hit));
		search->inflight[i].chunk.hit_capacity = capacity;
	}
}

int search_open(struct search *search, uint64_t offset, uint64_t length, struct error *error)
{
	int status = open_reader(search, offset, length, error);

	if (!status)
		status = start_engine(search, error);
	if (!status) {
		start_late_engine(search);
		allocate_inflight(search);
	}
	return status;
}

void search_attach(struct search *search, struct evidence_hash *hash, struct content_map *map)
{
	search->hash = hash;
	search->map = map;
}

void search_add(struct search *search, struct range range)
{
	search->ranges = xgrow(
		search->ranges, &search->range_room, search->range_count, sizeof(*search->ranges));
	search->ranges[search->range_count++] = range;
	search->read_all = false;
}

static void release_slots(struct search *search)
{
	evidence_hash_release(search->hash, search->consumed);
	content_map_release(search->map, search->consumed);
}

int search_next(struct search *search, const struct chunk **chunk, struct error *error)
{
	search_done(search);
	while (!search->done_status && !signals_caught()) {
		struct inflight *oldest;
		int status;

		release_slots(search);
		if (search->late && late_engine_is_ready(search->late))
			change_engine(search);
		status = feed(search, error);
		if (status == -ENOBUFS) {
			evidence_hash_wait(search->hash);
			content_map_wait(search->map);
			continue;
		}
		if (status)
			return status;
		if (search->submitted == search->consumed)
			return 0;
		oldest = inflight_at(search, search->consumed);
		status = await_finished(search, oldest);
		if (status)
			return error_set(error, EXIT_IO, -status, "the engine %s lost a chunk: %s",
				search->engine->name, strerror(-status));
		if (!oldest->chunk.status) {
			await_decoded(search);
			search->in_hand = true;
			*chunk = &oldest->chunk;
			return 1;
		}
		status = replace_engine(search, oldest->chunk.status, error);
		if (status)
			return status;
	}
	if (search->done_status)
		error_set(error, EXIT_IO, -search->done_status, "the engine %s refused a chunk: %s",
			search->engine->name, strerror(-search->done_status));
	return search->done_status;
}

void search_done(struct search *search)
{
	struct inflight *oldest;

	if (!search->in_hand)
		return;
	search->in_hand = false;
	oldest = inflight_at(search, search->consumed);
	search->shares[oldest->share].bytes += oldest->chunk.until - oldest->chunk.from;
	if (oldest->chunk.until < oldest->chunk.len) {
		oldest->chunk.from = oldest->chunk.until;
		search->done_status = submit_waiting(search, oldest);
		return;
	}
	note_hitless(search, oldest);
	search->consumed++;
	reader_release(search->reader, oldest->slot);
	release_slots(search);
}

bool search_is_complete(const struct search *search)
{
	return search->read_all && search->consumed == search->submitted;
}

uint32_t search_match_len(
	const struct search *search, const struct chunk *chunk, const struct hit *hit)
{
	const struct pattern *pattern =
		&search->options.options->rules->patterns.patterns[hit->pattern];
	size_t at = (size_t)(hit->offset - chunk->offset);

	if (!pattern->regex)
		return pattern->len;
	return (uint32_t)pattern_match_len(
		pattern, chunk->data + at, chunk->len + chunk->tail_len - at);
}

uint64_t search_near(const struct search *search, uint64_t position)
{
	return position < search->near_len ? 0 : position - search->near_len;
}

const struct ranges *search_unreadable(const struct search *search)
{
	return reader_unreadable(search->reader);
}

struct reader *search_reader(const struct search *search)
{
	return search->reader;
}

unsigned search_slots(const struct search *search)
{
	return search->count;
}

const char *search_engine_name(const struct search *search)
{
	return search->engine->name;
}

const char *search_engine_reason(const struct search *search)
{
	return search->engine_reason;
}

const char *search_kernel(const struct search *search)
{
	return search->shares[search->share].kernel;
}

const struct kept_text *search_kept_text(const struct search *search)
{
	return search->kept_text;
}

bool search_will_use(const struct search *search, const char *engine)
{
	const struct scan_engine *used = search->preferred ? search->preferred : search->engine;

	return strcmp(used->name, engine) == 0;
}

size_t search_shares(struct search *search, const struct engine_share **shares)
{
	if (search->late && search_is_complete(search))
		note_unused(search, "all was searched before it had started");
	*shares = search->shares;
	return search->share_count;
}

bool search_is_unsuited(const struct search *search)
{
	return search->unsuited;
}

void search_waits(const struct search *search, double *read, double *scan)
{
	*read = search->read_wait;
	*scan = search->scan_wait;
}

void search_close(struct search *search)
{
	struct chunk *chunk;

	if (!search)
		return;
	if (search->late) {
		struct scan *scan = late_engine_end(search->late, (char[1]){ 0 }, 1);

		if (scan)
			search->preferred->close(scan);
	}
	if (search->scan) {
		while (search->engine->reap(search->scan, &chunk) == 0)
			;
		close_engine(search);
	}
	kept_text_free(search->kept_text);
	for (unsigned i = 0; search->inflight && i < search->count; i++)
		free(search->inflight[i].chunk.hits);
	free(search->inflight);
	free(search->ranges);
	if (search->reader) {
		image_set_cache(search->options.scope->evidence, NULL, NULL);
		image_set_cache(search->options.scope->image, NULL, NULL);
		image_set_ring(search->options.scope->image, -1);
		reader_close(search->reader);
	}
	free(search);
}
