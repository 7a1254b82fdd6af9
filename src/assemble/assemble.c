/*
 * The stage has three phases. While the scan decides, it notes the starts of files, the extents of
 * complete ones, and each file that broke off. Then come the passes, one a strategy: all files that
 * are still broken are tried against the same clusters, in parallel, and what they found is claimed
 * serially, the surest first, so that no cluster is given away twice and the threads' order does not
 * matter. A file that loses a cluster is tried again in the next pass. At the end what was put together
 * without proof gives way to complete files.
 *
 * Work is bounded by units (carve/view.h), for each file its share of what the image allows, so that
 * a file's trials do not depend on the others'.
 */
#include "assemble/assemble.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/affinity.h"
#include "assemble/broken.h"
#include "assemble/claims.h"
#include "assemble/pass_state.h"
#include "assemble/pass_work.h"
#include "assemble/searcher.h"
#include "assemble/strategies.h"
#include "base/memory.h"
#include "carve/coded_memo.h"
#include "evidence/extent_image.h"

#define NOTICED_LATE 4096 /* bytes */
/* Bytes on each side of a broken file in which the words of its carver's tables are searched, and whose CRCs are
 * summed; for all files; and of words, if that is more, for this part of the image. FRAGMENTS_SEARCH looks for words in all of
 * it. */
#define HITS_AROUND ((uint64_t)64 << 20)
#define AROUND_LEAST ((uint64_t)1 << 20)
#define HITS_ALL ((uint64_t)8 << 30)
#define HITS_PART 32
/* Refused trials that are noted for the next pass, of a file and of all. */
#define KNOWN_MOST 4096
#define KNOWN_ALL ((size_t)1 << 19)

struct assembler {
	struct assemble_options options;
	struct image *evidence;
	struct clusters clusters;
	struct broken_files broken;
	struct crashed crashed[CRASHED_MAX];
	size_t crashed_count;
	struct pass_state state;
	struct pass_state
		coming; /* where another process makes the passes: what the next one came to */
	bool is_ready;  /* the scan is over */
	unsigned taken_passes;     /* those whose claims are among the clusters that are taken */
	struct inner_hits *hits;   /* of the carvers' tables; NULL: not searched yet */
	struct cluster_sums *sums; /* the same for their CRCs */
	struct searcher *searcher; /* NULL: there was no pass yet */
	struct affinity_samples *samples;
	struct coded_memo *memo;   /* of coded data, which trials share */
	bool has_heads;            /* the searcher */
	struct assembled *results; /* the found ones, which stay the state's */
};

static void add_bases(struct clusters *clusters, const struct volumes *volumes)
{
	size_t count = 0;
	const struct volume *volume = volumes ? volumes_list(volumes, &count) : NULL;

	clusters_add_base(clusters, 0);
	for (size_t i = 0; i < count; i++)
		clusters_add_base(clusters, volume[i].offset);
}

/* Whether the level uses the row of the table. */
static bool is_used(const struct assembler *assembler, const struct strategy *row)
{
	return assembler->options.level >= row->level && assembler->options.level <= row->last;
}

static void skip_passes(struct assembler *assembler)
{
	unsigned *pass = &assembler->state.pass;

	while (strategies[*pass].name && !is_used(assembler, &strategies[*pass]))
		++*pass;
}

struct assembler *assembler_new(const struct assemble_options *options)
{
	struct assembler *assembler = xcalloc(1, sizeof(*assembler));

	assembler->options = *options;
	assembler->evidence = extent_image_evidence(options->image);
	assembler->clusters.end = image_info(assembler->evidence)->size;
	add_bases(&assembler->clusters, options->volumes);
	skip_passes(assembler);
	return assembler;
}

const struct assemble_options *assembler_options(const struct assembler *assembler)
{
	return &assembler->options;
}

void assembler_free(struct assembler *assembler)
{
	if (!assembler)
		return;
	pass_state_free(&assembler->state);
	pass_state_free(&assembler->coming);
	clusters_free(&assembler->clusters);
	inner_hits_free(assembler->hits);
	cluster_sums_free(assembler->sums);
	searcher_free(assembler->searcher);
	affinity_samples_free(assembler->samples);
	coded_memo_free(assembler->memo);
	broken_files_free(&assembler->broken);
	free(assembler->results);
	free(assembler);
}

/* ---- what the scan decides ----------------------------------------------------------------- */

static void note_complete(struct assembler *assembler, uint64_t start, uint64_t length)
{
	size_t count;
	struct range *runs = extent_image_runs(assembler->options.image, start, length, &count);

	for (size_t i = 0; i < count; i++)
		clusters_add_complete(&assembler->clusters, runs[i].offset, runs[i].length);
	free(runs);
}

/* Whether what was not kept may be a file all the same. One whose second cluster is another file's looks
 * like none where the format has its tables there, and a broken one seems to go on over the heads of
 * others. Not where headers are short, as nearly all of those are false; nor what a rule's own demands
 * rejected. */
static bool is_weak_head(const struct assembler *assembler, const struct decision *decision)
{
	const struct candidate *candidate = decision->candidate;
	const struct outcome *outcome = decision->outcome;

	if (decision->unused || decision->unchecked || decision->overlaps || decision->over_quota ||
		candidate->start % SECTOR ||
		assembler->options.rules->rules[candidate->rule].carver->quick)
		return false;
	return outcome->verdict != CARVE_REJECT || outcome->work || !*outcome->finding.why;
}

void assembler_note(struct assembler *assembler, const struct decision *decision)
{
	const struct candidate *candidate = decision->candidate;
	const struct outcome *outcome = decision->outcome;
	struct broken broken;

	if (!assembler->options.rules->rules[candidate->rule].carver)
		return;
	broken = (struct broken){
		.start = extent_image_to_evidence(assembler->options.image, candidate->start),
		.length = outcome->length,
		.rule = candidate->rule,
		.verdict = outcome->verdict,
		.is_weak = !decision->keep,
	};
	if (!decision->keep) {
		if (outcome->verdict != CARVE_COMPLETE && is_weak_head(assembler, decision))
			broken_files_add(&assembler->broken, &broken);
		return;
	}
	clusters_add_start(&assembler->clusters, broken.start, outcome->length, outcome->verdict);
	if (assembler->options.rules->rules[candidate->rule].carver->restarts)
		clusters_add_rest(&assembler->clusters, broken.start);
	if (outcome->verdict == CARVE_COMPLETE)
		note_complete(assembler, candidate->start, outcome->length);
	else
		broken_files_add(&assembler->broken, &broken);
}

uint64_t assembler_left_out(const struct assembler *assembler)
{
	return assembler->broken.left_out;
}

uint64_t assembler_unfinished(const struct assembler *assembler)
{
	const struct pass_state *state = &assembler->state;
	uint64_t count = 0;

	for (size_t i = 0; i < state->count; i++)
		count += state->spent[i] && !state->found[i].runs;
	return count;
}

/* ---- a pass -------------------------------------------------------------------------------- */

const char *assembler_next_pass(const struct assembler *assembler)
{
	return assembler->broken.count ? strategies[assembler->state.pass].name : NULL;
}

bool assembler_has_pass(const struct assembler *assembler)
{
	return assembler_next_pass(assembler);
}

static struct pass_state_limits limits_of(
	const struct assembler *assembler, const char *(*keep)(const char *text))
{
	return (struct pass_state_limits){ assembler->broken.items, assembler->clusters.end,
		KNOWN_ALL + assembler->broken.count, keep };
}

/* What the threads of a pass share. */
struct crew {
	struct assembler *assembler;
	const struct strategy *strategy;
	uint64_t work;           /* of each file */
	size_t known_most;       /* trials that are noted for it */
	struct helpers *helpers; /* NULL: there are none */
	struct pass_part part;   /* that this process tries */
	pthread_mutex_t taking;  /* guards next, so that files are announced in their order */
	size_t next;
	_Atomic bool stopped, no_memory;
};

static bool may_go_on(void *context, uint64_t reached)
{
	const struct crew *crew = context;

	(void)reached;
	return !crew->assembler->options.interrupted || !crew->assembler->options.interrupted();
}

/* Whether the joints are proved; else the outcome becomes unverified. */
static void judge(struct assembled *found)
{
	struct assembly *assembly = &found->assembly;
	uint32_t chance = workbench_bits(assembly->tested);
	struct finding *finding = &found->outcome.finding;

	assembly->evidence = assembly->evidence > chance ? assembly->evidence - chance : 0;
	found->is_whole = outcome_is_whole(&found->outcome);
	if (!found->is_whole)
		return;
	if (assembly->evidence >= PROOF_BITS && !assembly->doubt_count)
		return; /* a file that the carver can't verify stays unverified */
	if (assembly->doubt_count)
		found->outcome.verdict = verdict_because(CARVE_UNVERIFIED, finding,
			"in %" PRIu32 " pieces; a joint is somewhere in bytes %" PRIu64
			" to %" PRIu64,
			found->run_count, assembly->doubt[0].offset,
			assembly->doubt[0].offset + assembly->doubt[0].length);
	else
		found->outcome.verdict = verdict_because(CARVE_UNVERIFIED, finding,
			"in %" PRIu32 " pieces, and nothing proves the joints", found->run_count);
}

/* Else it is inside another file, and is not searched for. */
static bool is_at_cluster(const struct assembler *assembler, const struct broken *broken)
{
	return broken->start % assembler->clusters.size == assembler->clusters.origin;
}

static bool does_concern(const struct assembler *assembler, const struct strategy *strategy,
	const struct broken *broken)
{
	return !strategy->concerns ||
	       strategy->concerns(assembler->options.rules->rules[broken->rule].carver);
}

static void try_file(struct crew *crew, struct view *view, size_t index)
{
	struct assembler *assembler = crew->assembler;
	struct pass_state *state = &assembler->state;
	const struct broken *broken = &assembler->broken.items[index];
	struct assembled *found = &state->found[index];
	struct extents extents = { 0 };
	struct workbench bench = {
		.view = view,
		.evidence = assembler->evidence,
		.options = &assembler->options,
		.rule = &assembler->options.rules->rules[broken->rule],
		.clusters = &assembler->clusters,
		.hits = assembler->hits,
		.sums = assembler->sums,
		.searcher = assembler->searcher,
		.samples = assembler->samples,
		.helpers = crew->helpers,
		.work_left = crew->work,
		.is_last = !crew->strategy[1].name,
	};
	bool success;

	if (crew->strategy->repeats) {
		if (!state->known[index] && is_at_cluster(assembler, broken) &&
			strategies_repeat_from(state->pass + 1))
			state->known[index] = known_trials_new(crew->known_most);
		bench.known = state->known[index];
	}

	*found = (struct assembled){ .start = broken->start, .rule = broken->rule };
	found->pass = state->pass;
	success = does_concern(assembler, crew->strategy, broken) &&
		  crew->strategy->find(&bench, broken, &extents, &found->outcome, &found->assembly);
	workbench_end(&bench);
	state->spent[index] |= bench.exhausted;
	if (bench.no_memory)
		crew->no_memory = true;
	if (bench.stopped)
		crew->stopped = true;
	if (success && (bench.no_memory || bench.stopped)) {
		outcome_free(&found->outcome);
		success = false;
	}
	if (success) {
		found->runs = extents.runs;
		found->run_count = (uint32_t)extents.count;
		found->assembly.by = crew->strategy->by;
		found->assembly.tested = bench.tested;
		judge(found);
		return;
	}
	extents_free(&extents);
}

/* The next file that is not found yet; broken.count: there is none. */
static size_t take_file(struct crew *crew)
{
	const struct assembler *assembler = crew->assembler;
	void (*on_file)(const struct broken *file, size_t number) = assembler->options.on_file;
	size_t index;

	pthread_mutex_lock(&crew->taking);
	while (crew->next < assembler->broken.count && assembler->state.found[crew->next].runs)
		crew->next += crew->part.step;
	index = crew->next;
	if (index < assembler->broken.count)
		crew->next += crew->part.step;
	if (on_file)
		on_file(index < assembler->broken.count ? &assembler->broken.items[index] : NULL,
			index);
	pthread_mutex_unlock(&crew->taking);
	return index;
}

static void try_files(void *context, unsigned number, unsigned worker)
{
	struct crew *crew = context;
	struct view *view = view_new();
	size_t index;

	(void)number;
	(void)worker;
	view_watch(view, may_go_on, crew);
	view_share(view, crew->assembler->memo);
	if (crew->helpers)
		helpers_begin(crew->helpers);
	while (!crew->stopped && !crew->no_memory &&
		(index = take_file(crew)) < crew->assembler->broken.count)
		try_file(crew, view, index);
	if (crew->helpers)
		helpers_end(crew->helpers, view);
	view_free(view);
}

/* The files that the process of that number tries. */
static struct pass_part part_of(
	const struct assemble_others *others, const struct strategy *strategy, unsigned number)
{
	if (!others || (strategy->uses_volumes && number == 0))
		return (struct pass_part){ 0, 1 };
	if (strategy->uses_volumes)
		return (struct pass_part){ SIZE_MAX, 1 };
	return (struct pass_part){ number, others->parts };
}

static bool take_parts(const struct crew *crew, struct codec_reader *theirs)
{
	struct assembler *assembler = crew->assembler;
	const struct assemble_others *others = assembler->options.others;
	const struct pass_state_limits limits = limits_of(assembler, others->keep);
	bool works = true;

	for (unsigned number = 0; number < others->parts && works; number++) {
		struct pass_part part = part_of(others, crew->strategy, number);
		struct codec_reader body;
		const uint8_t *bytes;
		size_t len;

		if (number == others->part)
			continue;
		bytes = codec_get_bytes(theirs, &len);
		body = codec_reader_from(bytes, len);
		works = codec_ok(theirs) &&
			pass_state_take_part(&assembler->state, &part, &limits, &body);
	}
	return works && codec_at_end(theirs);
}

/* What this pass came to goes to the other processes, and theirs comes here. False: they do not go on. */
static bool share_pass(const struct crew *crew)
{
	const struct assembler *assembler = crew->assembler;
	const struct assemble_others *others = assembler->options.others;
	struct codec_writer own = { 0 }, theirs = { 0 };
	struct codec_reader reader;
	bool works;

	pass_state_save_part(&assembler->state, &crew->part, &own);
	works = others->exchange(others->context, &own, &theirs);
	reader = codec_reader_from(theirs.bytes, theirs.len);
	works = works && take_parts(crew, &reader);
	free(own.bytes);
	free(theirs.bytes);
	return works;
}

/* The broken files that start at a cluster, and that the pass of the strategy has to find, if any; at least 1. */
static uint64_t count_left(const struct assembler *assembler, const struct strategy *strategy)
{
	uint64_t count = 0;

	for (size_t i = 0; i < assembler->broken.count; i++) {
		const struct broken *broken = &assembler->broken.items[i];

		count += !assembler->state.found[i].runs && is_at_cluster(assembler, broken) &&
			 does_concern(assembler, strategy, broken);
	}
	return count ? count : 1;
}

/* The trials that each file may note that has none yet. Those of files that were found, and lost their clusters to another one, come
 * later than the others': together there are no more than a process that reads them has room for (limits_of). */
static size_t known_share(const struct assembler *assembler, const struct strategy *strategy)
{
	size_t used = 0, share;

	for (size_t i = 0; i < assembler->broken.count; i++)
		used += known_trials_most(assembler->state.known[i]);
	share = (used < KNOWN_ALL ? KNOWN_ALL - used : 0) / count_left(assembler, strategy) + 1;
	return share < KNOWN_MOST ? share : KNOWN_MOST;
}

/* The usual bytes or units, scaled by the budget. */
static uint64_t scale(const struct assembler *assembler, uint64_t usual)
{
	uint64_t percent = assembler->options.budget;

	return percent < UINT64_MAX / usual ? usual * percent / 100 : UINT64_MAX;
}

uint64_t assembler_next_work(const struct assembler *assembler)
{
	const struct strategy *strategy = &strategies[assembler->state.pass];

	return scale(assembler, pass_work(assembler->clusters.end, count_left(assembler, strategy),
					strategy->share));
}

/* Clusters that a broken file has, without those of which its carver may have noticed late that they are
 * another's. */
static void note_heads(struct assembler *assembler)
{
	for (size_t i = 0; i < assembler->broken.count; i++) {
		const struct broken *broken = &assembler->broken.items[i];

		if (broken->verdict == CARVE_TRUNCATED && !broken->is_weak &&
			broken->length > NOTICED_LATE && is_at_cluster(assembler, broken))
			clusters_add_head(
				&assembler->clusters, broken->start, broken->length - NOTICED_LATE);
	}
}

void assembler_end_scan(struct assembler *assembler)
{
	if (assembler->is_ready)
		return;
	assembler->is_ready = true;
	clusters_get_ready(&assembler->clusters);
	broken_files_drop_false(&assembler->broken, &assembler->clusters);
	note_heads(assembler);
	assembler_forget_passes(assembler);
}

/* What the passes need, and keep. */
static void get_ready(struct assembler *assembler)
{
	assembler_end_scan(assembler);
	if (assembler->searcher)
		return;
	assembler->searcher = searcher_new(
		assembler->options.tool, assembler->options.devices, &assembler->clusters);
	assembler->samples = affinity_samples_new();
	assembler->memo = coded_memo_new();
}

static void drop_unproved(struct assembler *assembler)
{
	for (size_t i = 0; i < assembler->broken.count; i++)
		if (assembler->state.found[i].runs &&
			assembler->state.found[i].outcome.verdict != CARVE_COMPLETE)
			assembled_forget(&assembler->state.found[i]);
}

/* The map of a broken file's carver, or NULL. */
static const struct carve_map *map_of(const struct assembler *assembler, size_t number)
{
	const struct broken *broken = &assembler->broken.items[number];

	return assembler->options.rules->rules[broken->rule].carver->map;
}

/* The part of the image that is so near. */
static struct range window_of(const struct assembler *assembler, uint64_t start, uint64_t reach)
{
	uint64_t left = assembler->clusters.end - start, before = start < reach ? start : reach;

	return (struct range){ start - before, before + (left < reach ? left : reach) };
}

/* Bytes in the windows of all files that have a map, or one with sums. */
static uint64_t bytes_near(const struct assembler *assembler, bool of_sums, uint64_t reach)
{
	struct range *windows = xcalloc(assembler->broken.count + 1, sizeof(*windows));
	struct ranges all = { 0 };
	uint64_t bytes;
	size_t count = 0;

	for (size_t i = 0; i < assembler->broken.count; i++) {
		const struct carve_map *map = map_of(assembler, i);

		if (map && (map->sum || !of_sums))
			windows[count++] =
				window_of(assembler, assembler->broken.items[i].start, reach);
	}
	ranges_add_all(&all, windows, count);
	bytes = ranges_bytes(&all);
	ranges_free(&all);
	free(windows);
	return bytes;
}

/* At most `reach` bytes on each side, less if all windows have more than `most` bytes: so no file goes without one. */
static uint64_t fit_reach(
	const struct assembler *assembler, bool of_sums, uint64_t reach, uint64_t most)
{
	while (reach > scale(assembler, AROUND_LEAST) &&
		bytes_near(assembler, of_sums, reach) > most)
		reach /= 2;
	return reach;
}

/* What a broken file's map asks for. */
static void add_map(struct assembler *assembler, uint64_t start, const struct carve_map *map,
	uint64_t of_words, uint64_t of_sums)
{
	struct range words = window_of(assembler, start, of_words);
	struct range sums = window_of(assembler, start, of_sums);

	inner_hits_add_map(assembler->hits, map);
	inner_hits_add_window(assembler->hits, words.offset, words.length);
	if (map->sum)
		cluster_sums_add(assembler->sums, crc_order_of(map), sums.offset, sums.length);
}

/* Searches what the tables and CRCs in files need, around the files that may have one. */
static int find_hits(struct assembler *assembler)
{
	const struct assemble_options *options = &assembler->options;
	const struct inner_hits_source source = { assembler->evidence, assembler->searcher,
		options->kept_text };
	bool all = options->level == FRAGMENTS_SEARCH;
	uint64_t end = assembler->clusters.end;
	uint64_t around = all ? end : scale(assembler, HITS_AROUND);
	uint64_t most_sums = scale(assembler, HITS_ALL), most_words = most_sums;
	uint64_t of_words, of_sums;

	if (all || end / HITS_PART > most_words)
		most_words = all ? end : end / HITS_PART;
	of_words = fit_reach(assembler, false, around, most_words);
	of_sums = fit_reach(assembler, true, around, most_sums);
	assembler->hits = inner_hits_new();
	assembler->sums = cluster_sums_new(assembler->clusters.size, assembler->clusters.origin);
	for (size_t i = 0; i < assembler->broken.count; i++) {
		const struct carve_map *map = map_of(assembler, i);

		if (map)
			add_map(assembler, assembler->broken.items[i].start, map, of_words,
				of_sums);
	}
	if (inner_hits_find(assembler->hits, &source, &assembler->clusters.taken, most_words,
		    options->pool, options->interrupted) &&
		cluster_sums_find(assembler->sums, assembler->evidence, &assembler->clusters.taken,
			most_sums, options->pool, options->interrupted))
		return 0;
	inner_hits_free(assembler->hits);
	assembler->hits = NULL;
	cluster_sums_free(assembler->sums);
	assembler->sums = NULL;
	return -EINTR;
}

/* Whether a file is left whose carver describes where it breaks off. */
static bool has_coded(const struct assembler *assembler)
{
	for (size_t i = 0; i < assembler->broken.count; i++) {
		const struct rule *rule =
			&assembler->options.rules->rules[assembler->broken.items[i].rule];

		if (!assembler->state.found[i].runs && rule->carver->coded)
			return true;
	}
	return false;
}

static int keep_heads(struct assembler *assembler)
{
	const struct assemble_options *options = &assembler->options;

	if (assembler->has_heads || !has_coded(assembler))
		return 0;
	assembler->has_heads = true;
	return searcher_keep_heads(assembler->searcher, assembler->evidence, &assembler->clusters,
		       options->kept_text, options->pool, options->interrupted)
		       ? 0
		       : -EINTR;
}

/* What the threads found in a pass that does not count. */
static void undo(struct assembler *assembler)
{
	for (size_t i = 0; i < assembler->broken.count; i++)
		if (assembler->state.found[i].runs &&
			assembler->state.found[i].pass == assembler->state.pass)
			assembled_forget(&assembler->state.found[i]);
}

/* Whether the pass before made the same trials: the same strategy, with as much work, and the same clusters
 * were free. */
static bool is_repeated(const struct assembler *assembler, uint64_t work)
{
	const struct pass_state *state = &assembler->state;
	const struct strategy *strategy = &strategies[state->pass];

	return state->pass && strategy[-1].find == strategy->find && work == state->work &&
	       !state->was_claimed;
}

int assemble_memory_error(struct error *error)
{
	return error_set(error, EXIT_IO, ENOMEM,
		"memory ran out while a file was put together; free some, or use fewer --threads, "
		"and resume the run");
}

static bool uses_tables(const struct assembler *assembler, unsigned pass)
{
	return strategies[pass].uses_tables && is_used(assembler, &strategies[pass]);
}

/* Whether the next pass or a later one does. */
static bool needs_tables(const struct assembler *assembler)
{
	for (unsigned pass = assembler->state.pass; strategies[pass].name; pass++)
		if (uses_tables(assembler, pass))
			return true;
	return false;
}

/* Where passes were made before the run was resumed: takes what they claimed, in their order, as what is searched for
 * tables leaves out what was taken before the first that uses it. */
static int take_claims(struct assembler *assembler)
{
	const struct pass_state *state = &assembler->state;
	bool needs_hits = needs_tables(assembler);

	for (; assembler->taken_passes < state->pass; assembler->taken_passes++) {
		unsigned pass = assembler->taken_passes;

		if (needs_hits && uses_tables(assembler, pass) && !assembler->hits &&
			find_hits(assembler))
			return -EINTR;
		for (size_t i = 0; i < state->count; i++)
			if (state->found[i].runs && state->found[i].pass == pass &&
				state->found[i].outcome.verdict == CARVE_COMPLETE)
				claims_take(&assembler->clusters, &state->found[i]);
	}
	return 0;
}

int assembler_pass(struct assembler *assembler, struct error *error)
{
	struct pass_state *state = &assembler->state;
	struct crew crew = { .assembler = assembler, .strategy = &strategies[state->pass] };
	struct pool *pool = assembler->options.pool;
	const struct assemble_others *others = assembler->options.others;
	bool is_shared = true;

	get_ready(assembler);
	if (take_claims(assembler))
		return -EINTR;
	if (crew.strategy->uses_tables && !assembler->hits && find_hits(assembler))
		return -EINTR;
	if (crew.strategy->uses_heads && keep_heads(assembler))
		return -EINTR;
	clusters_list_free(&assembler->clusters);
	crew.work = assembler_next_work(assembler);
	crew.known_most = known_share(assembler, crew.strategy);
	crew.part = part_of(others, crew.strategy, others ? others->part : 0);
	crew.next = crew.part.first;
	if (!is_repeated(assembler, crew.work)) {
		pthread_mutex_init(&crew.taking, NULL);
		crew.helpers = assembler->options.alone ? NULL : helpers_new();
		pool_share(pool, POOL_CHECK, pool_threads(pool), try_files, &crew);
		helpers_free(crew.helpers);
		pthread_mutex_destroy(&crew.taking);
		if (others && !crew.stopped && !crew.no_memory)
			is_shared = share_pass(&crew);
	}
	if (crew.stopped || crew.no_memory || !is_shared) {
		undo(assembler);
		return crew.no_memory ? assemble_memory_error(error)
		       : crew.stopped ? -EINTR
				      : -ENOLINK;
	}
	state->was_claimed = claims_make(&assembler->clusters, state, true);
	claims_drop_overlapping(&assembler->clusters, state);
	state->work = crew.work;
	state->pass++;
	skip_passes(assembler);
	assembler->taken_passes = state->pass;
	if (!assembler_has_pass(assembler) && assembler->options.strict)
		drop_unproved(assembler);
	else if (!assembler_has_pass(assembler))
		claims_make(&assembler->clusters, state, false);
	if (assembler->options.on_pass)
		assembler->options.on_pass(assembler->options.context, assembler);
	return 0;
}

/* ---- results ------------------------------------------------------------------------------- */

const struct assembled *assembler_results(struct assembler *assembler, size_t *count)
{
	const struct pass_state *state = &assembler->state;

	free(assembler->results);
	assembler->results = xcalloc(state->count, sizeof(*assembler->results));
	*count = 0;
	/* The broken files are in order of start. */
	for (size_t i = 0; i < state->count; i++)
		if (state->found[i].runs)
			assembler->results[(*count)++] = state->found[i];
	return assembler->results;
}

/* ---- checkpoints --------------------------------------------------------------------------- */

void assembler_save(const struct assembler *assembler, struct codec_writer *writer)
{
	clusters_save(&assembler->clusters, writer);
	broken_files_save(&assembler->broken, writer);
	codec_put(writer, assembler->crashed_count);
	for (size_t i = 0; i < assembler->crashed_count; i++) {
		codec_put(writer, assembler->crashed[i].start);
		codec_put(writer, assembler->crashed[i].rule);
	}
	codec_put(writer, assembler->is_ready);
	if (assembler->is_ready)
		pass_state_save(&assembler->state, writer);
}

/* Invalid ones fail the reader, and then there are none. */
static void load_passes(struct assembler *assembler, const char *(*keep)(const char *text),
	struct codec_reader *reader)
{
	struct pass_state_limits limits;

	if (!codec_get_flag(reader))
		return;
	assembler_end_scan(assembler);
	limits = limits_of(assembler, keep);
	pass_state_load(&assembler->state, &limits, reader);
	if (codec_ok(reader))
		skip_passes(assembler);
	else
		assembler_forget_passes(assembler);
}

void assembler_load(struct assembler *assembler, const char *(*keep)(const char *text),
	struct codec_reader *reader)
{
	uint64_t limit = assembler->clusters.end;

	clusters_load(&assembler->clusters, reader);
	broken_files_load(&assembler->broken, limit, assembler->options.rules, reader);
	assembler->crashed_count = codec_get(reader, CRASHED_MAX);
	for (size_t i = 0; i < assembler->crashed_count; i++) {
		assembler->crashed[i].start = codec_get(reader, limit);
		assembler->crashed[i].rule =
			(uint32_t)codec_get(reader, assembler->options.rules->count - 1);
	}
	load_passes(assembler, keep, reader);
}

/* ---- passes in another process ------------------------------------------------------------- */

/* More would not fit into the memory of a process. */
#define BASES_MAX ((uint64_t)1 << 20)

void assembler_save_task(const struct assembler *assembler, struct codec_writer *writer)
{
	const struct clusters *clusters = &assembler->clusters;

	codec_put(writer, assembler->options.level);
	codec_put(writer, assembler->options.strict);
	codec_put(writer, assembler->options.budget);
	codec_put(writer, clusters->base_count);
	for (size_t i = 0; i < clusters->base_count; i++)
		codec_put(writer, clusters->bases[i]);
	assembler_save(assembler, writer);
}

struct assembler *assembler_load_task(const struct assemble_options *options,
	const char *(*keep)(const char *text), struct codec_reader *reader)
{
	struct assemble_options all = *options;
	struct assembler *assembler;
	uint64_t bases;

	all.level = (enum assemble_level)codec_get(reader, FRAGMENTS_SEARCH);
	all.strict = codec_get_flag(reader);
	all.budget = codec_get(reader, UINT64_MAX);
	assembler = assembler_new(&all);
	bases = codec_get(reader, BASES_MAX);
	for (uint64_t i = 0; i < bases && codec_ok(reader); i++)
		clusters_add_base(&assembler->clusters, codec_get(reader, UINT64_MAX));
	assembler_load(assembler, keep, reader);
	return assembler;
}

size_t assembler_save_files(
	const struct assembler *assembler, size_t from, size_t most, struct codec_writer *writer)
{
	size_t next = pass_state_save_files(&assembler->state, from, most, writer);

	return next < assembler->state.count ? next : SIZE_MAX;
}

void assembler_save_pass(const struct assembler *assembler, struct codec_writer *writer)
{
	pass_state_save_pass(&assembler->state, writer);
}

void assembler_take_files(struct assembler *assembler, const char *(*keep)(const char *text),
	struct codec_reader *reader)
{
	const struct pass_state_limits limits = limits_of(assembler, keep);

	if (!assembler->coming.count)
		pass_state_begin(&assembler->coming, assembler->broken.count);
	pass_state_load_files(&assembler->coming, &limits, reader);
}

void assembler_take_pass(struct assembler *assembler, struct codec_reader *reader)
{
	struct pass_state *coming = &assembler->coming;

	pass_state_load_pass(coming, reader);
	if (!codec_ok(reader) || coming->count != assembler->broken.count ||
		coming->pass <= assembler->state.pass) {
		codec_fail(reader);
		return;
	}
	pass_state_free(&assembler->state);
	assembler->state = *coming;
	assembler->coming = (struct pass_state){ 0 };
	skip_passes(assembler);
	if (assembler->options.on_pass)
		assembler->options.on_pass(assembler->options.context, assembler);
}

void assembler_set_others(struct assembler *assembler, const struct assemble_others *others)
{
	assembler->options.others = others;
}

void assembler_drop_files(struct assembler *assembler)
{
	pass_state_free(&assembler->coming);
}

void assembler_forget_passes(struct assembler *assembler)
{
	pass_state_free(&assembler->coming);
	pass_state_begin(&assembler->state, assembler->broken.count);
	skip_passes(assembler);
}

bool assembler_leave_out(struct assembler *assembler, uint64_t start, uint32_t rule)
{
	if (assembler->crashed_count == CRASHED_MAX ||
		!broken_files_leave_out(&assembler->broken, start, rule))
		return false;
	assembler->crashed[assembler->crashed_count++] = (struct crashed){ start, rule };
	assembler_forget_passes(assembler);
	return true;
}

const struct crashed *assembler_crashed(const struct assembler *assembler, size_t *count)
{
	*count = assembler->crashed_count;
	return assembler->crashed;
}
