#include "carve/ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"
#include "carve/check_worker.h"
#include "carve/coded_codec.h"
#include "carve/pair.h"
#include "carve/view.h"
#include "carvers/coded.h"

/* Pictures that are known; checks come within a few chunks of them. A power of two. */
#define KNOWN 16384
/* A process that ends while it describes is started again, so often. Whatever makes it end is found by the checks. */
#define ENDS_MAX 8

struct known {
	uint64_t picture, data, end; /* end 0: an empty entry */
};

struct ahead {
	const struct rules *rules;
	struct image *image;
	uint32_t *rule_of; /* by pattern; NO_RULE: none */
	bool wanted;
	pthread_mutex_t lock;
	struct known *known; /* KNOWN of them, by where the picture is */
	bool confined;
	struct check_workers *workers; /* NULL: none yet */
	_Atomic unsigned ends;         /* of processes */
	unsigned threads;
	/* One a thread: the first if not confined, the second, or NULL, if confined. */
	struct {
		struct view *view;
		struct check_worker *worker;
	} scratch[];
};

#define NO_RULE UINT32_MAX

/* Of several rules of a header the first one is asked. */
static void index_rules(struct ahead *ahead)
{
	const struct rules *rules = ahead->rules;

	ahead->rule_of = xmalloc((rules->patterns.count + 1) * sizeof(*ahead->rule_of));
	for (uint32_t p = 0; p < rules->patterns.count; p++)
		ahead->rule_of[p] = NO_RULE;
	for (uint32_t r = rules->count; r-- > 0;) {
		const struct rule *rule = &rules->rules[r];

		for (uint32_t i = 0; rule->carver && rule->carver->coded && i < rule->header_count;
			i++) {
			ahead->rule_of[rule->headers[i]] = r;
			ahead->wanted = true;
		}
	}
}

struct ahead *ahead_new(
	const struct rules *rules, struct image *image, unsigned threads, bool confined)
{
	struct ahead *ahead = xcalloc(1, sizeof(*ahead) + threads * sizeof(ahead->scratch[0]));

	ahead->rules = rules;
	ahead->image = image;
	ahead->threads = threads;
	index_rules(ahead);
	thread_lock_init(&ahead->lock);
	ahead->known = xcalloc(KNOWN, sizeof(*ahead->known));
	ahead->confined = confined;
	for (unsigned i = 0; i < threads && !confined; i++) {
		ahead->scratch[i].view = view_new();
		view_trust(ahead->scratch[i].view);
	}
	return ahead;
}

void ahead_free(struct ahead *ahead)
{
	if (!ahead)
		return;
	/* All of them end at the same time. */
	for (unsigned i = 0; i < ahead->threads; i++)
		check_worker_dismiss(ahead->scratch[i].worker);
	for (unsigned i = 0; i < ahead->threads; i++) {
		check_worker_free(ahead->scratch[i].worker);
		view_free(ahead->scratch[i].view);
	}
	check_workers_free(ahead->workers);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead->known);
	free(ahead->rule_of);
	free(ahead);
}

bool ahead_wanted(const struct ahead *ahead)
{
	return ahead->wanted;
}

bool ahead_describes(const struct ahead *ahead, uint32_t pattern)
{
	return ahead->rule_of[pattern] != NO_RULE;
}

static bool describe(struct view *view, const struct rule *rule, struct carve_coded *coded)
{
	view_limit_work(view, AHEAD_WORK_MAX);
	coded->begins = true;
	return rule->carver->coded(view, NULL, coded) && !view_stopped(view);
}

void ahead_describe_for(struct view *view, const struct rule *rule, struct codec_writer *writer)
{
	struct carve_coded *coded = xcalloc(1, sizeof(*coded));
	bool described = rule->carver && rule->carver->coded && describe(view, rule, coded);

	codec_put(writer, described);
	if (described)
		coded_save(coded, writer);
	free(coded);
}

static void describe_here(struct ahead *ahead, unsigned worker, const uint8_t *bytes,
	uint64_t offset, size_t len, const struct candidate *candidate, struct carve_coded **coded)
{
	struct view *view = ahead->scratch[worker].view;

	view_point(view, ahead->image, candidate->start, candidate->length);
	view_hold(view, bytes + (candidate->start - offset), candidate->start,
		len - (size_t)(candidate->start - offset));
	*coded = xmalloc(sizeof(**coded));
	if (describe(view, &ahead->rules->rules[candidate->rule], *coded))
		return;
	free(*coded);
	*coded = NULL;
}

/* Of that thread, which asks for the first time. */
static struct check_worker *new_worker(struct ahead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
	if (!ahead->workers)
		ahead->workers = check_workers_new(ahead->image, ahead->rules, true, 0, NULL, 0);
	pthread_mutex_unlock(&ahead->lock);
	return check_worker_new(ahead->workers, 0);
}

static void describe_elsewhere(struct ahead *ahead, unsigned worker,
	const struct candidate *candidates, size_t count, struct carve_coded **coded)
{
	struct check_worker **own = &ahead->scratch[worker].worker;

	if (ahead->ends >= ENDS_MAX)
		return;
	if (!*own)
		*own = new_worker(ahead);
	if (!check_worker_describe(*own, candidates, count, coded))
		ahead->ends++;
}

void ahead_describe(struct ahead *ahead, unsigned worker, const uint8_t *bytes, uint64_t offset,
	size_t len, struct ahead_item *items, size_t count)
{
	struct candidate candidates[AHEAD_ITEMS_MAX];
	struct carve_coded *coded[AHEAD_ITEMS_MAX] = { NULL };
	size_t indexes[AHEAD_ITEMS_MAX], found = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t number = ahead->rule_of[items[i].pattern];
		const struct rule *rule = &ahead->rules->rules[number];

		items[i].coded = NULL;
		if (items[i].hit - offset < rule->header_offset)
			continue;
		indexes[found] = i;
		candidates[found++] = candidate_of_header(
			rule, number, items[i].pattern, items[i].hit - rule->header_offset);
	}
	if (ahead->confined && found)
		describe_elsewhere(ahead, worker, candidates, found, coded);
	for (size_t i = 0; i < found && !ahead->confined; i++)
		describe_here(ahead, worker, bytes, offset, len, &candidates[i], &coded[i]);
	for (size_t i = 0; i < found; i++) {
		struct ahead_item *item = &items[indexes[i]];

		item->coded = coded[i];
		item->picture = candidates[i].start;
		if (coded[i])
			item->data = candidates[i].start + coded[i]->data;
	}
}

/* Where an entry is, if it is: pictures are seldom at offsets that differ by 16 GiB. */
static struct known *entry_of(const struct ahead *ahead, uint64_t picture)
{
	return &ahead->known[(picture ^ picture / KNOWN) % KNOWN];
}

void ahead_add(struct ahead *ahead, uint64_t picture, uint64_t data, uint64_t end)
{
	pthread_mutex_lock(&ahead->lock);
	*entry_of(ahead, picture) = (struct known){ picture, data, end };
	pthread_mutex_unlock(&ahead->lock);
}

bool ahead_find(const struct ahead *ahead, uint64_t picture, uint64_t *data, uint64_t *end)
{
	struct known known;

	pthread_mutex_lock((pthread_mutex_t *)&ahead->lock);
	known = *entry_of(ahead, picture);
	pthread_mutex_unlock((pthread_mutex_t *)&ahead->lock);
	*data = known.data;
	*end = known.end;
	return known.end && known.picture == picture;
}

uint64_t ahead_end(const struct ahead *ahead, uint64_t picture, uint64_t data)
{
	uint64_t known_data, end;

	return ahead_find(ahead, picture, &known_data, &end) && known_data == data ? end : 0;
}
