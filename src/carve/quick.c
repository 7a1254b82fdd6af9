#include "carve/quick.h"

#include <stdlib.h>

#include "base/memory.h"
#include "carve/pair.h"

/* Bytes from the candidate's start on that its check may see, and units of work. */
#define FIRST_BYTES 4096
#define WORK_MAX 65536
/* A rule that rejects less than one in REJECTED_MIN of its first TRIED candidates is tried only now
 * and then: in the midst of audio, most headers are true. */
#define TRIED 256
#define REJECTED_MIN 4
#define NOW_AND_THEN 64
/* Most tries are over after a few comparisons. What they take beyond TRY_WORK units may be so much for a rule, for all threads
 * together: at first, and for each byte of the image up to where they are. Then its candidates are left to checks that are
 * made later, whose work is bounded, too. */
#define TRY_WORK 1024
#define WORK_BASE ((uint64_t)64 << 20)
#define WORK_FACTOR 16

/* Of one thread and rule. */
struct score {
	uint32_t tried, rejected, left_out; /* halved now and then */
	uint64_t work;                      /* of all, beyond TRY_WORK each */
};

struct quick_worker {
	struct view *view;
	struct score *scores; /* by rule */
};

struct quick {
	struct quick_options options;
	struct rejections *rejections;
	uint32_t *rules; /* by pattern; NO_RULE: none */
	struct quick_worker workers[];
};

#define NO_RULE UINT32_MAX

static bool is_suited(const struct quick *quick, const struct rule *rule)
{
	return check_may_be_quick(rule, !quick->options.confined) &&
	       !pairing_needs_footer(rule, quick->options.scalpel);
}

/* A pattern of several such rules is tried for the first of them. */
static void index_rules(struct quick *quick)
{
	const struct rules *rules = quick->options.rules;

	quick->rules = xmalloc(rules->patterns.count * sizeof(*quick->rules));
	for (uint32_t p = 0; p < rules->patterns.count; p++)
		quick->rules[p] = NO_RULE;
	for (uint32_t r = rules->count; r-- > 0;) {
		const struct rule *rule = &rules->rules[r];

		for (uint32_t i = 0; is_suited(quick, rule) && i < rule->header_count; i++)
			quick->rules[rule->headers[i]] = r;
	}
}

struct quick *quick_new(const struct quick_options *options, struct rejections *rejections)
{
	struct quick *quick =
		xcalloc(1, sizeof(*quick) + options->threads * sizeof(quick->workers[0]));

	quick->options = *options;
	quick->rejections = rejections;
	index_rules(quick);
	for (unsigned i = 0; i < options->threads; i++) {
		quick->workers[i].view = view_new();
		quick->workers[i].scores =
			xcalloc(options->rules->count, sizeof(*quick->workers[i].scores));
	}
	return quick;
}

void quick_free(struct quick *quick)
{
	if (!quick)
		return;
	for (unsigned i = 0; i < quick->options.threads; i++) {
		view_free(quick->workers[i].view);
		free(quick->workers[i].scores);
	}
	free(quick->rules);
	free(quick);
}

uint32_t quick_rule(const struct quick *quick, uint32_t pattern)
{
	return quick->rules[pattern];
}

/* Whether trying pays. */
static bool is_worth_it(struct score *score)
{
	if (score->tried >= TRIED) {
		score->tried /= 2;
		score->rejected /= 2;
	}
	if (score->tried < TRIED / 2 || score->rejected >= score->tried / REJECTED_MIN)
		return true;
	return ++score->left_out % NOW_AND_THEN == 0;
}

static bool may_work(const struct quick *quick, const struct score *score, uint64_t hit)
{
	uint64_t most = hit < (UINT64_MAX - WORK_BASE) / WORK_FACTOR ? WORK_BASE + WORK_FACTOR * hit
								     : UINT64_MAX;

	return score->work < most / quick->options.threads;
}

static void note_try(struct score *score, const struct outcome *outcome, bool rejected)
{
	uint64_t work = outcome->work < WORK_MAX ? outcome->work : WORK_MAX;

	score->tried++;
	score->rejected += rejected;
	score->work += work > TRY_WORK ? work - TRY_WORK : 0;
}

uint32_t quick_try(struct quick *quick, unsigned worker, const uint8_t *bytes, uint64_t offset,
	size_t len, uint64_t hit, uint32_t pattern)
{
	uint32_t number = quick->rules[pattern], note = 0;
	struct quick_worker *own = &quick->workers[worker];
	struct score *score;
	const struct rule *rule;
	struct candidate candidate;
	struct outcome outcome;
	size_t from, seen;

	if (number == NO_RULE)
		return 0;
	rule = &quick->options.rules->rules[number];
	score = &own->scores[number];
	if (hit - offset < rule->header_offset || !may_work(quick, score, hit) ||
		!is_worth_it(score))
		return 0;
	candidate = candidate_of_header(rule, number, pattern, hit - rule->header_offset);
	from = (size_t)(candidate.start - offset);
	seen = len - from < FIRST_BYTES ? len - from : FIRST_BYTES;
	view_hold(own->view, bytes + from, candidate.start, seen);
	if (check_quickly(own->view, quick->options.image, rule, &candidate, WORK_MAX,
		    !quick->options.confined, &outcome))
		note = rejections_note(quick->rejections, number, &outcome);
	note_try(score, &outcome, note != 0);
	outcome_free(&outcome);
	return note;
}
