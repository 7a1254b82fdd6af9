#include "assemble/continuations.h"

#include <stdlib.h>

#include "assemble/helpers.h"
#include "assemble/searcher.h"
#include "base/memory.h"
#include "carvers/coded.h"

#define LOOK_WORK 256 /* units, for a cluster */
/* Clusters of which the answers are found together: by a device, first and at most, and else. */
#define DEVICE_FIRST ((uint64_t)1 << 12)
#define DEVICE_SPAN ((uint64_t)1 << 21)
#define DEVICE_GROWTH 16
#define SPAN SEARCHER_SPAN
/* Spans that the processor's threads look at together, when some have nothing else to do: times as many as the last
 * time, and at most. */
#define SPANS_GROWTH 4
#define SPANS_MAX 64
/* Breaks for which they look at the same time. */
#define LOOKS_MAX 64

/* Answers for some clusters, a bit each: 0 if the cluster is free, and whole, and may not follow. */
struct span {
	uint64_t first, count; /* numbers of clusters; count 0: none */
	uint64_t *bits;
	bool is_rough; /* a 1 says nothing yet */
};

/* What is known of a break. */
struct described {
	uint64_t at;
	struct carve_coded *coded; /* NULL: nothing is */
	uint64_t end;              /* where it is in the image; UINT64_MAX: outside it */
	struct span spans[2];      /* of gaps forwards, and backwards */
};

struct continuations {
	struct workbench *bench;
	const struct partial *partial;
	struct described *breaks;
	size_t count, capacity;
	const uint64_t *expected; /* breaks, of which these are the ones that steps come from now */
	size_t expected_count;
	size_t head_len;
};

struct continuations *continuations_new(struct workbench *bench, const struct partial *partial)
{
	struct continuations *continuations = xcalloc(1, sizeof(*continuations));

	continuations->bench = bench;
	continuations->partial = partial;
	continuations->head_len = searcher_head_len(bench->searcher);
	return continuations;
}

void continuations_free(struct continuations *continuations)
{
	for (size_t i = 0; continuations && i < continuations->count; i++) {
		struct described *described = &continuations->breaks[i];

		free(described->coded);
		free(described->spans[0].bits);
		free(described->spans[1].bits);
	}
	if (continuations)
		free(continuations->breaks);
	free(continuations);
}

/* NULL: that break was not described yet. */
static struct described *find(const struct continuations *continuations, uint64_t at)
{
	for (size_t i = 0; i < continuations->count; i++)
		if (continuations->breaks[i].at == at)
			return &continuations->breaks[i];
	return NULL;
}

static struct described *describe(struct continuations *continuations, uint64_t at)
{
	const struct extents *extents = &continuations->partial->extents;
	struct described *described = find(continuations, at);

	if (described)
		return described;
	continuations->breaks = xgrow(continuations->breaks, &continuations->capacity,
		continuations->count, sizeof(*continuations->breaks));
	described = &continuations->breaks[continuations->count++];
	*described = (struct described){ .at = at,
		.coded = xmalloc(sizeof(struct carve_coded)),
		.end = extents_place(extents, at) };
	if (described->end >= continuations->bench->clusters->end)
		described->end = UINT64_MAX;
	if (!workbench_describe(continuations->bench, extents, at, described->coded)) {
		free(described->coded);
		described->coded = NULL;
	}
	return described;
}

/* Whether all the bytes that decide are in the image. */
static bool is_whole(const struct continuations *continuations, uint64_t offset)
{
	uint64_t end = continuations->bench->clusters->end;

	return offset < end && end - offset >= continuations->head_len;
}

/* ---- spans --------------------------------------------------------------------------------- */

static bool has_answer(const struct span *span, uint64_t number)
{
	return number - span->first < span->count;
}

static bool is_set(const struct span *span, uint64_t number)
{
	number -= span->first;
	return span->bits[number / 64] >> number % 64 & 1;
}

static void set_bits(struct span *span, uint64_t from, uint64_t to)
{
	uint64_t end = span->first + span->count;

	if (from < span->first)
		from = span->first;
	for (uint64_t i = from; i < to && i < end; i++)
		span->bits[(i - span->first) / 64] |= (uint64_t)1 << (i - span->first) % 64;
}

/* The first cluster that begins at offset or after it. */
static uint64_t number_from(const struct continuations *continuations, uint64_t offset)
{
	const struct searcher *searcher = continuations->bench->searcher;
	uint64_t origin = searcher_place(searcher, 0);
	uint64_t size = searcher_place(searcher, 1) - origin;

	return offset > origin ? (offset - origin + size - 1) / size : 0;
}

/* Clusters that are a complete file's, or not whole, are not looked at. */
static void set_not_looked_at(const struct continuations *continuations, struct span *span)
{
	const struct workbench *bench = continuations->bench;
	const struct ranges *taken = &bench->clusters->taken;
	uint64_t end = bench->clusters->end, from = searcher_place(bench->searcher, span->first);
	uint64_t to = searcher_place(bench->searcher, span->first + span->count);
	const struct range *range = ranges_after(taken, from);

	for (; range && range < taken->items + taken->count && range->offset < to; range++)
		set_bits(span, number_from(continuations, range->offset),
			number_from(continuations, range->offset + range->length));
	if (end < continuations->head_len)
		set_bits(span, 0, UINT64_MAX);
	else
		set_bits(span, number_from(continuations, end - continuations->head_len + 1),
			UINT64_MAX);
}

/* Spans of one break that are looked at. */
struct looking {
	const struct described *described;
	uint64_t cluster; /* that is asked for */
	struct span *span;
};

/* The same of several breaks, by one thread or more. */
struct looks {
	const struct continuations *continuations;
	struct looking items[LOOKS_MAX];
	size_t count;
	size_t parts; /* spans of SPAN clusters of all of them */
};

/* The processor's answers for SPAN clusters; where clusters are larger than those that have numbers it leaves the
 * others out. */
static uint64_t look(const struct continuations *continuations, const struct looking *looking,
	uint64_t first, uint8_t *heads)
{
	const struct workbench *bench = continuations->bench;
	const struct carve_coded *coded = looking->described->coded;
	size_t len = continuations->head_len;
	uint64_t step = bench->clusters->size, bits = 0;

	searcher_read_heads(bench->searcher, bench->evidence, first, heads);
	for (uint64_t i = 0; i < SPAN; i++) {
		uint64_t offset = searcher_place(bench->searcher, first + i);
		bool is_other =
			(offset - searcher_place(bench->searcher, looking->cluster)) % step != 0;

		if (is_other || !is_whole(continuations, offset) ||
			!clusters_are_free(bench->clusters, offset, 1))
			continue;
		bits |= (uint64_t)coded_may_follow(coded, heads + i * len, (uint32_t)len) << i;
	}
	return bits;
}

static void look_part(void *context, size_t part, struct view *view)
{
	const struct looks *looks = context;
	const struct looking *looking = looks->items;
	uint8_t *heads = xmalloc(SPAN * looks->continuations->head_len);

	(void)view;
	for (; part >= looking->span->count / SPAN; looking++)
		part -= looking->span->count / SPAN;
	looking->span->bits[part] =
		look(looks->continuations, looking, looking->span->first + part * SPAN, heads);
	free(heads);
}

/* Adds spans of the break from the one with this cluster on, in the direction of the gaps; is_alone: just that one. */
static void add_look(const struct continuations *continuations, struct described *described,
	uint64_t cluster, bool backwards, bool is_alone, struct looks *looks)
{
	uint64_t spans = number_from(continuations, continuations->bench->clusters->end) / SPAN + 1;
	struct span *span = &described->spans[backwards];
	uint64_t from = cluster / SPAN, count = span->count / SPAN * SPANS_GROWTH;

	if (is_alone || !count)
		count = 1;
	if (count > SPANS_MAX)
		count = SPANS_MAX;
	if (backwards)
		from = from + 1 > count ? from + 1 - count : 0;
	if (count > 1 && from + count > spans)
		count = spans - from;
	free(span->bits);
	*span = (struct span){ .first = from * SPAN, .count = count * SPAN };
	span->bits = xcalloc(count, sizeof(*span->bits));
	looks->items[looks->count++] = (struct looking){ described, cluster, span };
	looks->parts += count;
}

/* Adds the expected breaks that have no answer for this gap: they are asked next. */
static void add_expected(
	const struct continuations *continuations, int64_t gap, struct looks *looks)
{
	for (size_t i = 0; i < continuations->expected_count && looks->count < LOOKS_MAX; i++) {
		struct described *other = find(continuations, continuations->expected[i]);
		uint64_t number;

		if (other && other->coded && other->end != UINT64_MAX &&
			is_whole(continuations, other->end + (uint64_t)gap) &&
			searcher_number(continuations->bench->searcher, other->end + (uint64_t)gap,
				&number) &&
			!has_answer(&other->spans[gap < 0], number))
			add_look(continuations, other, number, gap < 0, false, looks);
	}
}

/* The processor's answers for this break and the cluster to which the gap leads, and if threads have nothing else to
 * do, for more. */
static void look_around(struct continuations *continuations, struct described *described,
	uint64_t cluster, int64_t gap)
{
	struct workbench *bench = continuations->bench;
	bool is_alone = !helpers_idle(bench->helpers);
	struct looks looks = { .continuations = continuations };

	add_look(continuations, described, cluster, gap < 0, is_alone, &looks);
	if (!is_alone)
		add_expected(continuations, gap, &looks);
	if (looks.parts > 1)
		helpers_share(bench->helpers, bench->view, looks.parts, look_part, &looks);
	else
		look_part(&looks, 0, bench->view);
	bench->stopped |= image_was_cut(bench->evidence);
	for (size_t i = 0; i < looks.count; i++)
		set_not_looked_at(continuations, looks.items[i].span);
}

/* What a device is asked for some breaks. */
struct asked {
	struct coded_question questions[CODED_QUESTIONS_MAX];
	struct span *spans[CODED_QUESTIONS_MAX]; /* of the answers */
	size_t count;
};

static bool is_asked(const struct asked *asked, const struct span *span)
{
	for (size_t i = 0; i < asked->count; i++)
		if (asked->spans[i] == span)
			return true;
	return false;
}

/* Adds clusters from this one on in the direction of the gaps, the more the further they are asked for, unless
 * the device has none of them, or the span has an answer. */
static void add_question(const struct continuations *continuations, struct described *described,
	uint64_t cluster, bool backwards, struct asked *asked)
{
	uint64_t kept = searcher_kept(continuations->bench->searcher), from = cluster / 64 * 64;
	struct span *span = &described->spans[backwards];
	uint64_t count = span->count * DEVICE_GROWTH;

	if (cluster >= kept || has_answer(span, cluster) || asked->count == CODED_QUESTIONS_MAX ||
		is_asked(asked, span))
		return;
	count = count < DEVICE_FIRST ? DEVICE_FIRST : count;
	count = count > DEVICE_SPAN ? DEVICE_SPAN : count;
	if (backwards)
		from = from + 64 > count ? from + 64 - count : 0;
	count = kept - from < count ? kept - from : count;
	asked->spans[asked->count] = span;
	asked->questions[asked->count++] =
		(struct coded_question){ described->coded, from, count, xmalloc(count / 8) };
}

/* Adds what comes next with this gap, and as far in the other direction, as most gaps are tried in turns. */
static void add_break(const struct continuations *continuations, struct described *described,
	int64_t gap, struct asked *asked)
{
	const struct searcher *searcher = continuations->bench->searcher;
	uint64_t number;

	if (!described->coded || described->end == UINT64_MAX)
		return;
	if (searcher_number(searcher, described->end + (uint64_t)gap, &number))
		add_question(continuations, described, number, gap < 0, asked);
	if (searcher_number(searcher, described->end - (uint64_t)gap, &number))
		add_question(continuations, described, number, gap >= 0, asked);
}

static bool has_answers(const struct described *described)
{
	return described->spans[0].count || described->spans[1].count;
}

/* Adds the break, those that are expected, and the first time all that are described. */
static void add_breaks(const struct continuations *continuations, struct described *described,
	int64_t gap, struct asked *asked)
{
	bool is_first = !has_answers(described);

	add_break(continuations, described, gap, asked);
	for (size_t i = 0; i < continuations->expected_count; i++) {
		struct described *other = find(continuations, continuations->expected[i]);

		if (other)
			add_break(continuations, other, gap, asked);
	}
	for (size_t i = 0; is_first && i < continuations->count; i++)
		if (!has_answers(&continuations->breaks[i]))
			add_break(continuations, &continuations->breaks[i], gap, asked);
}

/* A device's answers for this break and the cluster to which the gap leads, and for others. False: it has none. */
static bool ask_device(struct continuations *continuations, struct described *described,
	uint64_t cluster, int64_t gap)
{
	struct searcher *searcher = continuations->bench->searcher;
	struct asked asked = { .count = 0 };
	bool is_rough, is_answered;

	if (cluster >= searcher_kept(searcher))
		return false;
	add_breaks(continuations, described, gap, &asked);
	is_answered = searcher_find_coded(searcher, asked.questions, asked.count, &is_rough);
	for (size_t i = 0; i < asked.count; i++) {
		const struct coded_question *question = &asked.questions[i];

		if (!is_answered) {
			free(question->bits);
			continue;
		}
		free(asked.spans[i]->bits);
		*asked.spans[i] =
			(struct span){ question->first, question->count, question->bits, is_rough };
		set_not_looked_at(continuations, asked.spans[i]);
	}
	return is_answered;
}

/* Answers for clusters around this one, to which the gap leads. */
static void fill(struct continuations *continuations, struct described *described, uint64_t cluster,
	int64_t gap)
{
	if (!ask_device(continuations, described, cluster, gap))
		look_around(continuations, described, cluster, gap);
}

void continuations_expect(struct continuations *continuations, const uint64_t *breaks, size_t count)
{
	const struct breaks *all = &continuations->partial->breaks;

	continuations->expected = breaks;
	continuations->expected_count = count;
	if (continuations->count || !continuations->bench->rule->carver->coded)
		return;
	for (size_t i = 0; i < count; i++)
		describe(continuations, breaks[i]);
	for (size_t i = 0; i < all->count; i++)
		describe(continuations, all->items[i]);
}

/* ---- answers ------------------------------------------------------------------------------- */

/* Reads the cluster. None: the image became unreadable. */
static enum answer look_at(const struct continuations *continuations,
	const struct carve_coded *coded, uint64_t target, struct view *view)
{
	const struct workbench *bench = continuations->bench;
	_Alignas(4) uint8_t head[SEARCH_HEAD_MAX];
	uint32_t len = (uint32_t)continuations->head_len;

	view_read_image(view, bench->evidence, target, head, len);
	if (image_was_cut(bench->evidence))
		return ANSWER_NONE;
	return coded_may_follow(coded, head, len) ? ANSWER_YES : ANSWER_NO;
}

/* What is known of a step, if that is decided without reading. True: the cluster decides, and has to be read. */
static bool must_look(const struct continuations *continuations, const struct step *step,
	const struct described *described, enum answer *answer)
{
	const struct workbench *bench = continuations->bench;
	uint64_t target = step_target(bench->clusters, continuations->partial, step), number;
	const struct span *span;

	*answer = ANSWER_NONE;
	if (!is_whole(continuations, target) || !clusters_are_free(bench->clusters, target, 1))
		return false;
	*answer = described || !bench->rule->carver->coded ? ANSWER_YES : ANSWER_NONE;
	if (!described || !described->coded || !searcher_number(bench->searcher, target, &number))
		return false;
	span = &described->spans[step->gap < 0];
	if (has_answer(span, number)) {
		*answer = is_set(span, number) ? ANSWER_YES : ANSWER_NO;
		return is_set(span, number) && span->is_rough;
	}
	*answer = ANSWER_NONE;
	return number >= searcher_kept(bench->searcher); /* a device answers faster */
}

enum answer continuations_ask(
	const struct continuations *continuations, const struct step *step, struct view *view)
{
	const struct described *described = find(continuations, step->at);
	enum answer answer;

	return must_look(continuations, step, described, &answer)
		       ? look_at(continuations, described->coded,
				 step_target(continuations->bench->clusters, continuations->partial,
					 step),
				 view)
		       : answer;
}

bool continuations_is_open(const struct continuations *continuations, const struct step *step)
{
	enum answer answer;

	return must_look(continuations, step, find(continuations, step->at), &answer) ||
	       answer == ANSWER_YES;
}

bool continuations_refuse(const struct continuations *continuations, const uint64_t *breaks,
	size_t count, int64_t gap)
{
	const struct searcher *searcher = continuations->bench->searcher;

	for (size_t i = 0; i < count; i++) {
		const struct described *described = find(continuations, breaks[i]);
		const struct span *span;
		uint64_t number;

		if (!described || !described->coded || described->end == UINT64_MAX)
			return false;
		span = &described->spans[gap < 0];
		if (!span->count ||
			!searcher_number(searcher, described->end + (uint64_t)gap, &number) ||
			!has_answer(span, number) || is_set(span, number))
			return false;
	}
	return count != 0;
}

bool continuations_skip(
	struct continuations *continuations, const uint64_t *breaks, size_t count, int64_t gap)
{
	struct workbench *bench = continuations->bench;

	if (bench->work_left <= count * LOOK_WORK ||
		!continuations_refuse(continuations, breaks, count, gap))
		return false;
	bench->work_left -= count * LOOK_WORK;
	bench->tested += count;
	return true;
}

/* Whether it is known that none of `count` clusters from this one on may follow. */
static bool are_refused(const struct span *span, uint64_t number, uint64_t count)
{
	uint64_t at = number - span->first;

	if (at >= span->count || count > span->count - at)
		return false;
	for (; count && at % 64; at++, count--)
		if (span->bits[at / 64] >> at % 64 & 1)
			return false;
	for (; count >= 64; at += 64, count -= 64)
		if (span->bits[at / 64])
			return false;
	return !count || !(span->bits[at / 64] & (((uint64_t)1 << count) - 1));
}

/* Whether it is known that nothing of `count` clusters that far from a break, on one side, is to be tried. *looks: how
 * many of them are looked at and refused; the others are outside the image. */
static bool is_side_refused(const struct continuations *continuations,
	const struct described *described, bool backwards, uint64_t distance, uint64_t count,
	uint64_t *looks)
{
	const struct workbench *bench = continuations->bench;
	uint64_t size = bench->clusters->size, end = bench->clusters->end, number;

	*looks = 0;
	if (backwards ? described->end / size < distance
		      : (end - described->end - 1) / size < distance)
		return true;
	*looks = count;
	if (!searcher_number(bench->searcher, described->end, &number) ||
		(backwards && number < distance + count - 1))
		return false;
	number = backwards ? number - distance - (count - 1) : number + distance;
	return are_refused(&described->spans[backwards], number, count);
}

bool continuations_skip_around(struct continuations *continuations, const uint64_t *breaks,
	size_t count, uint64_t distance, uint64_t clusters)
{
	struct workbench *bench = continuations->bench;
	const struct searcher *searcher = bench->searcher;
	uint64_t size = searcher_place(searcher, 1) - searcher_place(searcher, 0);
	uint64_t looks = 0;

	/* Those that have numbers may be smaller. */
	if (size != bench->clusters->size)
		return false;
	for (size_t i = 0; i < 2 * count; i++) {
		const struct described *described = find(continuations, breaks[i / 2]);
		uint64_t some;

		if (!described || !described->coded || described->end == UINT64_MAX ||
			!is_side_refused(
				continuations, described, i % 2, distance, clusters, &some))
			return false;
		looks += some;
	}
	if (bench->work_left <= looks * LOOK_WORK)
		return false;
	bench->work_left -= looks * LOOK_WORK;
	bench->tested += looks;
	return true;
}

bool continuations_may_follow(
	struct continuations *continuations, const struct step *step, enum answer known)
{
	struct workbench *bench = continuations->bench;
	uint64_t target = step_target(bench->clusters, continuations->partial, step), number;
	struct described *described;
	struct span *span;

	if (!bench->rule->carver->coded || !is_whole(continuations, target) ||
		!clusters_are_free(bench->clusters, target, 1))
		return true;
	described = describe(continuations, step->at);
	if (!described->coded || !searcher_number(bench->searcher, target, &number))
		return true;
	span = &described->spans[step->gap < 0];
	if (known == ANSWER_NONE && !has_answer(span, number))
		fill(continuations, described, number, step->gap);
	workbench_spend(bench, LOOK_WORK);
	if (known == ANSWER_NONE) {
		known = is_set(span, number) ? ANSWER_YES : ANSWER_NO;
		if (known == ANSWER_YES && span->is_rough)
			known = look_at(continuations, described->coded, target, bench->view);
		bench->stopped |= known == ANSWER_NONE;
	}
	if (known != ANSWER_NO)
		return true;
	bench->tested++;
	return false;
}
