/*
 * A helper's part of a run that several processes share (run/run_cluster.h): it opens the image and
 * starts an engine as any run does, searches the units that it is given, and sends the hits to the
 * conductor. Checks and writes are asked for meanwhile, and done in its pool.
 */
#include "run/run_state.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

const struct run_cluster *run_cluster;

/* Hits that are sent at a time, as a rule. */
#define PIECE_HITS 4096

/* More units than chunks can be in flight. */
#define UNITS_MOST 256

struct unit {
	struct range range;
	bool last; /* it ends where all ends */
};

struct help {
	struct run run; /* first: a run's address is its help's */
	struct run_options options;
	struct unit units[UNITS_MOST];  /* those in hand: number n is at n modulo UNITS_MOST */
	uint64_t begun, searched, sent; /* units, since the start */
	uint64_t sent_len;              /* bytes */
	double ready, unit_wait,
		send_wait; /* seconds: when it could search; what it has waited since */
};

/* The one that was searched to its end or is being searched. Those behind it are being read
 * already, those before it are perhaps not sent. */
static struct unit *unit_in_hand(struct help *help)
{
	return &help->units[help->searched % UNITS_MOST];
}

static uint64_t unit_end(const struct unit *unit)
{
	return unit->range.offset + unit->range.length;
}

static const struct run_cluster *cluster_of(const struct run *run)
{
	return run->options->cluster;
}

/* ---- sending ------------------------------------------------------------------------------- */

/* What of [from, until) could not be read; behind the last unit, its tail counts too. */
static void unread_between(struct help *help, uint64_t from, uint64_t until, struct ranges *unread)
{
	const struct ranges *all = reader_unreadable(help->run.reader);
	const struct unit *unit = unit_in_hand(help);
	bool end = unit->last && until == unit_end(unit);

	for (size_t i = 0; i < all->count; i++) {
		uint64_t begin = all->items[i].offset, stop = begin + all->items[i].length;

		begin = begin < from ? from : begin;
		stop = stop > until && !end ? until : stop;
		if (stop > begin)
			ranges_add(unread, begin, stop - begin);
	}
}

/* How many hits from `first` on go into one piece: those of one offset stay together. */
static size_t piece_len(const struct chunk *chunk, size_t first)
{
	size_t end = first + PIECE_HITS;

	if (end >= chunk->hit_count)
		return chunk->hit_count - first;
	while (end < chunk->hit_count && chunk->hits[end].offset == chunk->hits[end - 1].offset)
		end++;
	return end - first;
}

static struct rank_record spent(const struct help *help)
{
	const struct run *run = &help->run;

	return (struct rank_record){
		.bytes = help->sent_len,
		.start = help->ready - run->started,
		.search = clock_seconds() - help->ready,
		.read_wait = run->read_wait,
		.scan_wait = run->scan_wait,
		.unit_wait = help->unit_wait,
		.send_wait = help->send_wait,
	};
}

static int give(struct run *run, struct run_piece *piece)
{
	struct help *help = (struct help *)run;
	double from;
	int status;

	if (piece->ends_unit) {
		help->sent_len += help->units[help->sent++ % UNITS_MOST].range.length;
		piece->spent = spent(help);
	}
	from = clock_seconds();
	status = cluster_of(run)->give(piece);
	help->send_wait += clock_seconds() - from;
	return status;
}

static int send_piece(
	struct help *help, const struct chunk *chunk, size_t first, size_t count, uint64_t from)
{
	struct ranges unread = { 0 };
	bool rest = first + count < chunk->hit_count;
	const struct unit *unit = unit_in_hand(help);
	struct run_hit *hits = xmalloc((count + 1) * sizeof(*hits));
	struct run_piece piece = { .hits = hits, .hit_count = count };

	for (size_t i = 0; i < count; i++) {
		const struct hit *hit = &chunk->hits[first + i];

		hits[i] = (struct run_hit){ hit->offset, hit->pattern,
			run_match_len(&help->run, chunk, hit) };
	}
	piece.until = rest ? chunk->hits[first + count].offset : chunk->offset + chunk->until;
	piece.ends_unit = piece.until == unit_end(unit);
	unread_between(help, from, piece.until, &unread);
	piece.unread = unread.items;
	piece.unread_count = unread.count;
	if (piece.until == chunk->offset + chunk->len)
		piece.classes = run_tell_map(&help->run, &piece.classes_len);
	help->searched += piece.ends_unit;
	return run_scout_take(&help->run, unit->range.offset, &piece);
}

static int send_chunk(struct run *run, const struct chunk *chunk)
{
	struct help *help = (struct help *)run;
	uint64_t from = chunk->offset + chunk->from;
	size_t first = 0;
	int status;

	do {
		size_t count = piece_len(chunk, first);

		status = send_piece(help, chunk, first, count, from);
		first += count;
		if (first < chunk->hit_count)
			from = chunk->hits[first].offset;
	} while (!status && first < chunk->hit_count);
	return status;
}

/* ---- units --------------------------------------------------------------------------------- */

/* Each has a chunk of its own at least, so no more are in hand than chunks in flight, and one. */
static enum run_more next_unit(struct run *run, bool wait, struct range *range)
{
	struct help *help = (struct help *)run;
	struct unit *unit = &help->units[help->begun % UNITS_MOST];
	double from;
	int got;

	if (wait && run_scout_drain(run))
		return RUN_MORE_NONE;
	from = clock_seconds();
	got = cluster_of(run)->unit(wait, &unit->range, &unit->last);
	help->unit_wait += clock_seconds() - from;
	if (got == -EAGAIN)
		return RUN_MORE_LATER;
	if (got <= 0)
		return RUN_MORE_NONE;
	help->begun++;
	*range = unit->range;
	return RUN_MORE_RANGE;
}

/* With the first unit. Returns 1, or 0 when there is none. */
static int open_search(struct help *help)
{
	struct range range;
	int status;

	if (next_unit(&help->run, true, &range) != RUN_MORE_RANGE)
		return 0;
	help->run.position = range.offset;
	status = run_open_search(&help->run, range.length);
	if (status)
		return status;
	run_start_map(&help->run);
	help->ready = clock_seconds();
	help->unit_wait = 0;
	return 1;
}

/* ---- a helper's life ----------------------------------------------------------------------- */

/* As much of a run's beginning as has to do with what is searched. */
static int prepare(struct run *run, const char *image_path)
{
	int status = run_open_evidence(run, image_path, run->options->space != SPACE_ALL);

	if (status)
		return status;
	run->position = run->range_start;
	run_find_traits(run);
	if ((status = run_open_pool(run)))
		return status;
	return run_is_empty(run) ? 0 : run_pick_engine(run);
}

static int join(struct run *run, const char *output)
{
	const struct run_options *options = run->options;
	const struct run_join join = {
		.alike = { (const char *const *)run->traits.names, run->traits.values,
			run->traits.count },
		.image = run->image,
		.rules = options->rules,
		.pool = run->pool,
		.output = options->dry_run ? NULL : output,
		.hash_mask = options->hash_mask,
		.engine = run->engine ? run->engine->name : "none",
		.hide = run_hide,
		.context = (void *)run,
	};

	return options->cluster->join(&join, &run->error);
}

static int help_out(struct help *help, const char *image_path, const char *output)
{
	static const struct run_taker sending = {
		.take = send_chunk, .settle = run_scout_settle, .more = next_unit
	};
	struct run *run = &help->run;
	int status = prepare(run, image_path);

	if (!status) {
		run_start_scout(run, give);
		status = join(run, output);
	}
	if (status > 0)
		status = open_search(help);
	if (status > 0)
		status = run_search(run, &sending);
	if (!status && run->scan)
		status = run_scout_drain(run);
	if (status == -ECANCELED)
		status = 0;
	if (status && !run->error.code)
		error_set(&run->error, EXIT_IO, -status, "%s: %s", image_path, strerror(-status));
	return status;
}

int run_help(const struct run_options *options, const char *image_path, const char *output)
{
	struct help help = { .options = *options };
	const struct run_cluster *cluster = options->cluster;

	help.run = (struct run){ .options = &help.options, .started = clock_seconds() };
	help.options.resume = false;
	if (!options->gpu.devices)
		help.options.gpu.devices = cluster->gpus;
	if (!options->threads)
		help.options.threads = cluster->threads;
	if (help_out(&help, image_path, output))
		cluster->fail(&help.run.error);
	cluster->leave();
	run_free_map(&help.run);
	run_free(&help.run);
	return EXIT_CLEAN;
}

/* ---- the conductor's own ------------------------------------------------------------------- */

struct run_own_help {
	pthread_t thread;
	const struct run_options *options;
	const char *image_path, *output;
};

static void *help_here(void *arg)
{
	const struct run_own_help *own = arg;

	run_help(own->options, own->image_path, own->output);
	return NULL;
}

int run_start_help(struct run *run, const char *image_path, const char *output)
{
	struct run_own_help *own = xcalloc(1, sizeof(*own));

	*own = (struct run_own_help){ 0, run->options, image_path, output };
	if (pthread_create(&own->thread, NULL, help_here, own)) {
		free(own);
		return error_set(&run->error, EXIT_IO, EAGAIN, "cannot start any thread");
	}
	run->own_help = own;
	return 0;
}

void run_end_help(struct run *run)
{
	if (!run->own_help)
		return;
	run->options->cluster->end();
	pthread_join(run->own_help->thread, NULL);
	free(run->own_help);
}
