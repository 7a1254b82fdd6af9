#include "carve/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool check_needed(const struct rule *rule)
{
	return rule->carver || rule->length.width || rule->must_count;
}

static void reject(struct outcome *outcome)
{
	outcome->verdict = CARVE_REJECT;
	outcome->length = 0;
}

static bool musts_hold(struct view *view, const struct rule *rule, struct outcome *outcome)
{
	for (uint32_t i = 0; i < rule->must_count; i++) {
		const struct must *must = &rule->musts[i];
		const uint8_t *bytes = view_peek(view, must->at, must->pattern.len);

		if (bytes && pattern_matches(&must->pattern, bytes, must->pattern.len))
			continue;
		outcome->verdict = verdict_because(CARVE_REJECT, &outcome->finding,
			"the bytes that must stand at %" PRIu64 " don't", must->at);
		return false;
	}
	return true;
}

static uint64_t read_integer(const uint8_t *bytes, unsigned width, bool big_endian)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < width; i++)
		value = value << 8 | bytes[big_endian ? i : width - 1 - i];
	return value;
}

/* value * multiply + add, or false when that is no size of a file. */
static bool total_length(const struct length_field *field, uint64_t value, uint64_t *total)
{
	if (__builtin_mul_overflow(value, field->multiply, total))
		return false;
	if (field->add < 0) {
		uint64_t less = 0 - (uint64_t)field->add;

		if (*total <= less)
			return false;
		*total -= less;
		return true;
	}
	return !__builtin_add_overflow(*total, (uint64_t)field->add, total) && *total > 0;
}

static void apply_length_field(struct view *view, const struct rule *rule, struct outcome *outcome)
{
	const struct length_field *field = &rule->length;
	const uint8_t *bytes = view_peek(view, field->at, field->width);
	uint64_t total;

	if (!bytes) {
		verdict_because(CARVE_REJECT, &outcome->finding,
			"the image ends before the length field at %" PRIu64, field->at);
		return reject(outcome);
	}
	if (!total_length(field, read_integer(bytes, field->width, field->big_endian), &total) ||
		total > rule->max_size || total < rule->min_size ||
		total < field->at + field->width) {
		verdict_because(CARVE_REJECT, &outcome->finding,
			"the length field at %" PRIu64 " gives no length that the rule allows",
			field->at);
		return reject(outcome);
	}
	outcome->length = total;
	outcome->end = END_LENGTH;
	if (total > view_size(view)) {
		outcome->length = view_size(view);
		outcome->end = END_IMAGE;
		outcome->verdict = verdict_because(CARVE_TRUNCATED, &outcome->finding,
			"the image ends %" PRIu64 " bytes before the file",
			total - view_size(view));
	}
}

/* Where those offsets lie in the image that are below `limit`: *count of them, which was the number
 * of offsets. NULL when there are none. */
static uint64_t *in_image(const uint64_t *offsets, size_t *count, uint64_t limit, uint64_t start)
{
	size_t given = *count;
	uint64_t *places;

	*count = 0;
	if (!given || !limit)
		return NULL;
	places = xmalloc(given * sizeof(*places));
	for (size_t i = 0; i < given; i++)
		if (offsets[i] < limit)
			places[(*count)++] = start + offsets[i];
	if (*count)
		return places;
	free(places);
	return NULL;
}

/* What lies behind a file's end is not its part, though the walk may have gone on there. */
static void note_parts(struct view *view, uint64_t start, struct outcome *outcome)
{
	bool rejected = outcome->verdict == CARVE_REJECT;
	uint64_t len = outcome->finding.length;
	const uint64_t *offsets = view_parts(view, &outcome->part_count);

	outcome->parts =
		in_image(offsets, &outcome->part_count, rejected ? UINT64_MAX : len, start);
	offsets = view_embedded_offsets(view, &outcome->embedded_count);
	outcome->embedded = in_image(offsets, &outcome->embedded_count, rejected ? 0 : len, start);
}

void outcome_free(struct outcome *outcome)
{
	free(outcome->parts);
	outcome->parts = NULL;
	outcome->part_count = 0;
	free(outcome->embedded);
	outcome->embedded = NULL;
	outcome->embedded_count = 0;
}

static uint64_t *copy_offsets(const uint64_t *offsets, size_t count)
{
	return count ? memcpy(xmalloc(count * sizeof(*offsets)), offsets, count * sizeof(*offsets))
		     : NULL;
}

struct outcome outcome_copy(const struct outcome *outcome)
{
	struct outcome copy = *outcome;

	copy.parts = copy_offsets(outcome->parts, outcome->part_count);
	copy.embedded = copy_offsets(outcome->embedded, outcome->embedded_count);
	return copy;
}

size_t outcome_extra_len(const struct outcome *outcome)
{
	return (outcome->part_count + outcome->embedded_count) * sizeof(*outcome->parts);
}

static void run_carver(
	struct view *view, const struct rule *rule, uint64_t start, struct outcome *outcome)
{
	struct finding *finding = &outcome->finding;

	outcome->verdict = rule->carver->check(view, finding);
	note_parts(view, start, outcome);
	if (outcome->verdict == CARVE_REJECT)
		return reject(outcome);
	if (!finding->length || finding->length > view_size(view)) {
		verdict_because(
			CARVE_REJECT, finding, "the carver gave a length outside the image");
		return reject(outcome);
	}
	if (finding->length < rule->min_size) {
		verdict_because(CARVE_REJECT, finding, "shorter than min_size");
		return reject(outcome);
	}
	outcome->length = finding->length;
	outcome->end = END_CARVER;
}

void check_candidate(struct view *view, struct image *image, const struct rule *rule,
	const struct candidate *candidate, struct outcome *outcome)
{
	uint64_t left = image_info(image)->size - candidate->start;

	*outcome = (struct outcome){
		.verdict = CARVE_UNVERIFIED, .length = candidate->length, .end = candidate->end
	};
	if (outcome->length > left) {
		outcome->length = left;
		outcome->end = END_IMAGE;
	}
	if (!check_needed(rule))
		return;
	view_point(view, image, candidate->start, candidate->length);
	if (!musts_hold(view, rule, outcome))
		return reject(outcome);
	if (rule->carver)
		run_carver(view, rule, candidate->start, outcome);
	else if (rule->length.width)
		apply_length_field(view, rule, outcome);
}
