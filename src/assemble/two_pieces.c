/*
 * Most fragmented files have two pieces. A layout of two is a break (where the first ends, in the
 * file) and a gap (how many clusters lie between the pieces). What the scan's carver validated shows
 * about where the break is: it noticed the wrong data there, or somewhat later, because some formats
 * notice late.
 *
 * A layout that the carver finds complete is not yet proved: where nobody checks the data, the break
 * might be elsewhere. So all other breaks with this gap, and all other gaps with this break, are
 * tried as well. If none of them is accepted the layout is unique. If several breaks are, all of
 * them share the first and the last bytes, and what is between is in doubt.
 */
#include <stdlib.h>

#include "assemble/strategies.h"
#include "base/memory.h"

#define BREAK_BEFORE \
	((uint64_t)128 << 10)           /* bytes: a break may be that far before the end of what
					      was validated */
#define BREAK_AFTER ((uint64_t)4 << 10) /* and that far after it */
#define CLOSE ((uint64_t)4 << 10)       /* breaks tried with all gaps first */
#define NEAR_GAPS 128
#define FAR_GAPS 8192
#define USUAL_CLUSTER 4096
/* Bytes by which the place that a carver names may be off, and which it may take to notice. */
#define NOTICE_SLACK 512
#define NOTICE_TRIALS 48 /* fewer show nothing */
#define SURVIVAL_MAX 24  /* bits */
/* What a carver must declare of the joint itself: that a decoder ended exactly where it should. */
#define EXACT_BITS 8

/* What is searched: breaks in the order of their likelihood, as bytes of the file; gaps as bytes from
 * where the first piece ends to where the second begins. Negative gaps: it lies before. */
struct field {
	uint64_t *breaks;
	size_t break_count, close_count;
	int64_t *gaps;
	size_t gap_count, gap_capacity;
};

/* ---- breaks -------------------------------------------------------------------------------- */

static void find_breaks(
	const struct clusters *clusters, const struct broken *broken, struct field *field)
{
	uint64_t size = clusters->size, inside = (broken->start - clusters->origin) % size;
	uint64_t first = size - inside; /* of the file's first cluster */
	uint64_t least = broken->length > BREAK_BEFORE ? broken->length - BREAK_BEFORE : 0;
	uint64_t most = broken->length + (BREAK_AFTER > size ? BREAK_AFTER : size);
	uint64_t nearest, below, above;

	nearest = broken->length < first ? first : first + (broken->length - first) / size * size;
	field->breaks = xcalloc((most - least) / size + 3, sizeof(*field->breaks));
	field->breaks[field->break_count++] = nearest;
	below = above = nearest;
	for (;;) {
		bool any = false;

		if (above + size <= most) {
			field->breaks[field->break_count++] = above += size;
			any = true;
		}
		if (below >= first + size && below - size >= least) {
			field->breaks[field->break_count++] = below -= size;
			any = true;
		}
		if (!any)
			break;
		if (nearest - below <= CLOSE)
			field->close_count = field->break_count;
	}
	if (!field->close_count)
		field->close_count = field->break_count;
}

/* ---- gaps ---------------------------------------------------------------------------------- */

static bool has_gap(const struct field *field, int64_t gap)
{
	for (size_t i = 0; i < field->gap_count; i++)
		if (field->gaps[i] == gap)
			return true;
	return false;
}

static void add_gap(struct field *field, int64_t gap)
{
	if (has_gap(field, gap))
		return;
	field->gaps =
		xgrow(field->gaps, &field->gap_capacity, field->gap_count, sizeof(*field->gaps));
	field->gaps[field->gap_count++] = gap;
}

/* The commonest gaps are powers of two, then the smaller ones. Where clusters are small the gaps may
 * be those of larger ones. */
static void find_near_gaps(const struct clusters *clusters, struct field *field)
{
	int64_t size = (int64_t)clusters->size;

	for (int64_t n = 1; n <= 64; n *= 2)
		add_gap(field, n * size);
	for (int64_t n = 1; n <= NEAR_GAPS && size < USUAL_CLUSTER; n++)
		add_gap(field, n * USUAL_CLUSTER);
	for (int64_t n = 1; n <= NEAR_GAPS; n++)
		add_gap(field, n * size);
}

/* ---- trials -------------------------------------------------------------------------------- */

/* Lays out the two pieces. False: the second would be outside the image, or where a complete file
 * is, or another one starts. */
static bool lay_out(const struct workbench *bench, const struct broken *broken, uint64_t at,
	int64_t gap, struct extents *extents)
{
	const struct clusters *clusters = bench->clusters;
	uint64_t end = broken->start + at, second = end + (uint64_t)gap, left;

	if (end >= clusters->end || (gap < 0 && end < (uint64_t)-gap) || second >= clusters->end ||
		!clusters_are_free(clusters, second, 1) || clusters_is_start(clusters, second))
		return false;
	extents_clear(extents);
	extents_add(extents, broken->start, at);
	left = clusters->end - second;
	if (gap < 0 && second < broken->start && left > broken->start - second)
		left = broken->start - second;
	extents_add(extents, second, left);
	return true;
}

static bool try(struct workbench *bench, const struct broken *broken, uint64_t at, int64_t gap,
	struct extents *extents, struct outcome *outcome)
{
	if (!lay_out(bench, broken, at, gap, extents) || !workbench_try(bench, extents, outcome))
		return false;
	if (outcome->length > at)
		return true;
	outcome_free(outcome); /* the second piece was not needed */
	return false;
}

/* What is known of an accepted layout. */
struct choice {
	uint64_t at; /* the break */
	int64_t gap;
	uint32_t bits;        /* of proof */
	struct range weak;    /* see struct proof */
	uint64_t least, most; /* the breaks that are accepted with this gap */
};

/* Tries a layout and, if it is accepted, thoroughly. */
static bool try_thoroughly(struct workbench *bench, const struct broken *broken,
	struct choice *choice, struct extents *extents, struct outcome *outcome)
{
	struct proof proof;

	if (!try(bench, broken, choice->at, choice->gap, extents, outcome))
		return false;
	if (workbench_prove(bench, extents, outcome, &proof)) {
		choice->bits = proof.bits;
		choice->weak = proof.weak;
		return true;
	}
	outcome_free(outcome);
	return false;
}

/* All other breaks with this gap. One that is proved is chosen instead. */
static void try_other_breaks(struct workbench *bench, const struct broken *broken,
	const struct field *field, struct choice *choice, struct extents *extents,
	struct outcome *outcome)
{
	uint64_t first = choice->at;

	choice->least = choice->most = first;
	for (size_t i = 0; i < field->break_count; i++) {
		struct choice other = *choice;
		struct extents trial = { 0 };
		struct outcome now;

		other.at = field->breaks[i];
		if (other.at == first || !try_thoroughly(bench, broken, &other, &trial, &now)) {
			extents_free(&trial);
			continue;
		}
		if (other.at < choice->least)
			other.least = choice->least = other.at;
		if (other.at > choice->most)
			other.most = choice->most = other.at;
		if (other.bits > choice->bits) {
			struct extents previous = *extents;

			*extents = trial;
			trial = previous;
			outcome_free(outcome);
			*outcome = now;
			*choice = other;
		} else {
			outcome_free(&now);
		}
		extents_free(&trial);
	}
}

/* How soon the carver notices wrong bytes after a joint. */
struct notice {
	uint64_t trials, late; /* refused layouts; those refused for something before the joint */
	uint64_t bytes;        /* of wrong data that were accepted in all of them */
};

/* Whether another gap is accepted with this break. */
static bool has_other_gap(struct workbench *bench, const struct broken *broken,
	const struct field *field, const struct choice *choice, struct notice *notice)
{
	struct extents extents = { 0 };
	struct outcome outcome;
	bool found = false;
	uint64_t tested = bench->tested;

	for (size_t i = 0; i < field->gap_count && !found; i++) {
		if (field->gaps[i] == choice->gap)
			continue;
		found = try(bench, broken, choice->at, field->gaps[i], &extents, &outcome);
		if (found)
			outcome_free(&outcome);
		if (found || bench->tested == tested)
			continue;
		tested = bench->tested;
		notice->trials++;
		if (bench->reached + NOTICE_SLACK < choice->at)
			notice->late++;
		else if (bench->reached > choice->at)
			notice->bytes += bench->reached - choice->at;
	}
	extents_free(&extents);
	return found;
}

/* The bits by which wrong data would not have been accepted for as many bytes as follow the joint, if
 * it is as likely to be noticed at each byte as it was in the trials. Only where the carver notices
 * it as it goes, and all others with this break were refused. */
static uint32_t survival_bits(const struct notice *notice, uint64_t bytes)
{
	uint64_t mean;

	if (notice->trials < NOTICE_TRIALS || notice->late * 8 > notice->trials)
		return 0;
	mean = notice->bytes / notice->trials + NOTICE_SLACK;
	return bytes / mean < SURVIVAL_MAX ? (uint32_t)(bytes / mean) : SURVIVAL_MAX;
}

/* The layout was accepted: how sure it is. */
static void judge(struct workbench *bench, const struct broken *broken, const struct field *field,
	struct choice *choice, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	struct notice notice = { 0 };

	assembly->evidence = choice->bits;
	if (workbench_is_proof(bench, choice->bits))
		return;
	try_other_breaks(bench, broken, field, choice, extents, outcome);
	assembly->evidence = choice->bits;
	if (workbench_is_proof(bench, choice->bits))
		return;
	/* No checksum proves it: which bytes may be others? */
	if (has_other_gap(bench, broken, field, choice, &notice) || !workbench_goes_on(bench))
		choice->most = choice->weak.offset + choice->weak.length;
	else if (choice->bits >= EXACT_BITS && choice->least == choice->most)
		assembly->evidence += survival_bits(&notice, outcome->length - choice->at);
	if (choice->most > outcome->length)
		choice->most = outcome->length;
	if (choice->least >= choice->most)
		return;
	assembly->doubt_count = 1;
	assembly->doubt[0] = (struct range){ choice->least, choice->most - choice->least };
}

static bool search(struct workbench *bench, const struct broken *broken, const struct field *field,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly)
{
	for (unsigned round = 0; round < 2; round++) {
		size_t from = round ? field->close_count : 0;
		size_t to = round ? field->break_count : field->close_count;

		for (size_t g = 0; g < field->gap_count; g++)
			for (size_t b = from; b < to; b++) {
				struct choice choice = { .at = field->breaks[b],
					.gap = field->gaps[g] };

				if (!workbench_goes_on(bench))
					return false;
				if (!try_thoroughly(bench, broken, &choice, extents, outcome))
					continue;
				judge(bench, broken, field, &choice, extents, outcome, assembly);
				return true;
			}
	}
	return false;
}

bool find_near(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	struct field field = { 0 };
	bool found;

	if (broken->start % bench->clusters->size != bench->clusters->origin)
		return false; /* inside another file */
	find_breaks(bench->clusters, broken, &field);
	find_near_gaps(bench->clusters, &field);
	workbench_prepare(bench, broken);
	found = search(bench, broken, &field, extents, outcome, assembly);
	free(field.breaks);
	free(field.gaps);
	return found;
}
