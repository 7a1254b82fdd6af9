#include "carve/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* How far after a truncated file's end unreadable bytes are looked for. */
#define CAUSE_MAX 65536

bool check_needed(const struct rule *rule)
{
	return rule->carver || rule->length.width || rule->must_count;
}

static void reject(struct outcome *outcome)
{
	outcome->verdict = CARVE_REJECT;
	outcome->length = 0;
}

/* ---- must ---------------------------------------------------------------------------------- */

/* Bytes of a pattern that a message shows. */
#define SHOWN_MAX 8

/* Text of bounded length; what does not fit is cut. */
struct hex_text {
	char text[64];
	size_t len;
};

static void add_char(struct hex_text *hex, char c)
{
	if (hex->len + 1 < sizeof(hex->text))
		hex->text[hex->len++] = c;
}

/* Two hex digits after a blank; a nibble that is not compared, or not wholly, is a '?'. */
static void add_byte(struct hex_text *hex, uint8_t byte, uint8_t mask)
{
	static const char digits[] = "0123456789ABCDEF";

	if (hex->len)
		add_char(hex, ' ');
	add_char(hex, mask >> 4 == 15 ? digits[byte >> 4] : '?');
	add_char(hex, (mask & 15) == 15 ? digits[byte & 15] : '?');
}

/* A letter in either case. */
static bool is_any_case(uint8_t byte, uint8_t mask)
{
	return mask == 0xdf && byte >= 'A' && byte <= 'Z';
}

static const char *end_of_view(const struct view *view)
{
	return view_ends_with_image(view) ? "the end of the image" : "the end of the candidate";
}

/* Says which bytes were expected and which were found, of a long pattern those around the first
 * that differs. held: how many of the pattern's bytes the view holds. */
static void describe_mismatch(const struct view *view, const struct must *must,
	const uint8_t *bytes, size_t held, size_t differs, struct finding *finding)
{
	const struct pattern *pattern = &must->pattern;
	size_t count = pattern->len < SHOWN_MAX ? pattern->len : SHOWN_MAX;
	size_t from = differs + count > pattern->len ? pattern->len - count : differs;
	struct hex_text expected = { 0 }, found = { 0 };

	if (pattern->len == count)
		from = 0;
	for (size_t i = from; i < from + count; i++) {
		uint8_t byte = pattern->bytes[i], mask = pattern->mask[i];

		add_byte(&expected, byte, is_any_case(byte, mask) ? 0xff : mask);
		if (is_any_case(byte, mask)) {
			add_char(&expected, '/');
			add_char(&expected, (char)('0' + (byte >> 4) + 2));
			add_char(&expected, expected.text[expected.len - 3]);
		}
		if (i < held)
			add_byte(&found, bytes[i], 0xff);
	}
	verdict_because(CARVE_REJECT, finding, "expected %s%s at offset %" PRIu64 ", found %s%s%s",
		expected.text, from + count < pattern->len ? " ..." : "", must->at + from,
		found.text,
		from + count <= held ? ""
		: *found.text        ? " and "
				     : "",
		from + count <= held ? "" : end_of_view(view));
}

static bool must_holds(struct view *view, const struct must *must, struct finding *finding)
{
	const struct pattern *pattern = &must->pattern;
	uint64_t size = view_size(view), left = must->at < size ? size - must->at : 0;
	size_t held = left < pattern->len ? (size_t)left : pattern->len, differs = 0;
	const uint8_t *bytes = held ? view_peek(view, must->at, held) : NULL;

	if (!bytes)
		held = 0;
	while (differs < held &&
		!((bytes[differs] ^ pattern->bytes[differs]) & pattern->mask[differs]))
		differs++;
	if (differs == pattern->len)
		return true;
	describe_mismatch(view, must, bytes, held, differs, finding);
	return false;
}

static bool musts_hold(struct view *view, const struct rule *rule, struct outcome *outcome)
{
	for (uint32_t i = 0; i < rule->must_count; i++)
		if (!must_holds(view, &rule->musts[i], &outcome->finding))
			return false;
	return true;
}

/* ---- length fields ------------------------------------------------------------------------- */

static uint64_t read_integer(const uint8_t *bytes, unsigned width, bool big_endian)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < width; i++)
		value = value << 8 | bytes[big_endian ? i : width - 1 - i];
	return value;
}

/* value * multiply + add, or false when that is not a positive number of 64 bits. */
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

/* The limit that a length breaks; false: none. */
static bool breaks_limit(const struct rule *rule, uint64_t total, struct finding *finding)
{
	const struct length_field *field = &rule->length;
	uint64_t field_end = field->at + field->width;

	if (total > rule->max_size)
		verdict_because(CARVE_REJECT, finding,
			"the length field at offset %" PRIu64 " gives %" PRIu64
			" bytes, more than max_size (%" PRIu64 ")",
			field->at, total, rule->max_size);
	else if (total < rule->min_size)
		verdict_because(CARVE_REJECT, finding,
			"the length field at offset %" PRIu64 " gives %" PRIu64
			" bytes, fewer than min_size (%" PRIu64 ")",
			field->at, total, rule->min_size);
	else if (total < field_end)
		verdict_because(CARVE_REJECT, finding,
			"the length field at offset %" PRIu64 " gives %" PRIu64
			" bytes, but it ends at %" PRIu64 " itself",
			field->at, total, field_end);
	else
		return false;
	return true;
}

static void apply_length_field(struct view *view, const struct rule *rule, struct outcome *outcome)
{
	const struct length_field *field = &rule->length;
	const uint8_t *bytes = view_peek(view, field->at, field->width);
	uint64_t value, total;

	if (!bytes) {
		verdict_because(CARVE_REJECT, &outcome->finding,
			"expected a length field at offset %" PRIu64 ", found %s", field->at,
			end_of_view(view));
		return reject(outcome);
	}
	value = read_integer(bytes, field->width, field->big_endian);
	if (!total_length(field, value, &total)) {
		verdict_because(CARVE_REJECT, &outcome->finding,
			"the length field at offset %" PRIu64 " holds %" PRIu64
			", which gives no valid length",
			field->at, value);
		return reject(outcome);
	}
	if (breaks_limit(rule, total, &outcome->finding))
		return reject(outcome);
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

/* ---- carvers ------------------------------------------------------------------------------- */

/* The offsets below `limit`, as offsets in the image. *count: how many are given, then how many
 * are returned. NULL when there are none. */
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

/* What starts after a file's end is not its part, though the carver may have read on there. */
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

static void note_ranges(
	const struct ranges *ranges, uint64_t start, uint64_t len, struct ranges *noted)
{
	for (size_t i = 0; i < ranges->count; i++) {
		struct range range = ranges->items[i];

		if (range.offset >= len)
			break;
		if (range.length > len - range.offset)
			range.length = len - range.offset;
		ranges_add(noted, start + range.offset, range.length);
	}
}

/* There is no result: as if the candidate had not been checked. */
static void discard_result(struct outcome *outcome)
{
	outcome_free(outcome);
	outcome->finding = (struct finding){ 0 };
	outcome->work = UINT64_MAX;
	reject(outcome);
}

/* A carver that was stopped because it worked too long for what it had looked at has seen neither
 * the file's end nor a fault. False: it does not even know a file. */
static bool judge_exhausted(struct view *view, struct outcome *outcome)
{
	struct finding *finding = &outcome->finding;

	if (!view_is_exhausted(view))
		return true;
	if (outcome->verdict == CARVE_REJECT)
		return false;
	outcome->verdict = verdict_because(CARVE_UNVERIFIED, finding,
		"decodes to far more than its size: checked up to %" PRIu64, finding->length);
	return true;
}

void check_name_cause(char *reason, size_t size, const char *cause)
{
	char *whole = xasprintf("%s%s%s", cause, *reason ? "; " : "", reason);
	size_t len = strlen(whole);

	if (len >= size)
		len = size - 1;
	memcpy(reason, whole, len);
	reason[len] = '\0';
	free(whole);
}

/* A file that ends before bytes which could not be read may continue after them. */
static void name_unreadable(struct view *view, struct finding *finding)
{
	uint64_t looked_at = view_reach(view), from, to;
	char cause[64];

	/* Not what the check may cost, which depends on when it is made, but what this may. */
	view_limit_work(view, UINT64_MAX);
	if (looked_at <= finding->length ||
		!view_unreadable(view, finding->length,
			looked_at - finding->length < CAUSE_MAX ? looked_at - finding->length
								: CAUSE_MAX,
			&from, &to))
		return;
	snprintf(cause, sizeof(cause), "unreadable at image offset %" PRIu64,
		view_evidence_offset(view, from));
	check_name_cause(finding->why, sizeof(finding->why), cause);
}

/* from: where it goes on, or NULL. */
static void run_carver(struct view *view, const struct rule *rule, uint64_t start,
	const struct carve_state *from, struct outcome *outcome)
{
	struct finding *finding = &outcome->finding;

	outcome->verdict = from ? rule->carver->resume(view, from, finding)
				: rule->carver->check(view, finding);
	view_release(view);
	outcome->no_memory = view_lacked_memory(view);
	outcome->work = view_work_done(view);
	if (outcome->no_memory || outcome->work == UINT64_MAX || !judge_exhausted(view, outcome))
		return discard_result(outcome);
	note_parts(view, start, outcome);
	if (outcome->verdict == CARVE_REJECT)
		return reject(outcome);
	if (!finding->length || finding->length > view_size(view)) {
		verdict_because(CARVE_REJECT, finding,
			"the carver returned %" PRIu64 " bytes of %" PRIu64, finding->length,
			view_size(view));
		return reject(outcome);
	}
	if (finding->length < rule->min_size) {
		verdict_because(CARVE_REJECT, finding,
			"%" PRIu64 " bytes, fewer than min_size (%" PRIu64 ")", finding->length,
			rule->min_size);
		return reject(outcome);
	}
	if (!rule_takes(rule, finding->extension)) {
		verdict_because(CARVE_REJECT, finding, "a file of a kind that was not selected: %s",
			finding->extension ? finding->extension : rule->extension);
		return reject(outcome);
	}
	outcome->length = finding->length;
	outcome->end = END_CARVER;
	if (outcome->verdict == CARVE_COMPLETE)
		note_ranges(
			view_unverified_ranges(view), start, outcome->length, &outcome->unverified);
	note_ranges(view_held_ranges(view), start, outcome->length, &outcome->held);
	outcome->agrees = outcome->verdict == CARVE_UNVERIFIED && view_agreed(view);
	if (outcome->verdict == CARVE_TRUNCATED)
		name_unreadable(view, finding);
}

void check_nothing(
	const struct image *image, const struct candidate *candidate, struct outcome *outcome)
{
	uint64_t left = image_info(image)->size - candidate->start;

	outcome->verdict = CARVE_UNVERIFIED;
	outcome->length = candidate->length < left ? candidate->length : left;
	outcome->end = candidate->length <= left ? candidate->end : END_IMAGE;
}

static void begin_outcome(
	struct outcome *outcome, const struct image *image, const struct candidate *candidate)
{
	*outcome = (struct outcome){ 0 };
	check_nothing(image, candidate, outcome);
}

void check_candidate(struct view *view, struct image *image, const struct rule *rule,
	const struct candidate *candidate, uint64_t work_max, struct outcome *outcome)
{
	begin_outcome(outcome, image, candidate);
	if (!check_needed(rule))
		return;
	view_point(view, image, candidate->start, candidate->length);
	if (!musts_hold(view, rule, outcome))
		return reject(outcome);
	if (rule->carver) {
		view_limit_work(view, work_max);
		run_carver(view, rule, candidate->start, NULL, outcome);
	} else if (rule->length.width) {
		apply_length_field(view, rule, outcome);
	}
}

bool check_may_be_quick(const struct rule *rule, bool by_carver)
{
	return rule->must_count || (by_carver && rule->carver && rule->carver->quick) ||
	       (!rule->carver && rule->length.width);
}

bool check_quickly(struct view *view, struct image *image, const struct rule *rule,
	const struct candidate *candidate, uint64_t work_max, bool by_carver,
	struct outcome *outcome)
{
	if (!rule->carver || (by_carver && rule->carver->quick)) {
		check_candidate(view, image, rule, candidate, work_max, outcome);
	} else {
		begin_outcome(outcome, image, candidate);
		view_point(view, image, candidate->start, candidate->length);
		if (!musts_hold(view, rule, outcome))
			reject(outcome);
	}
	return outcome->verdict == CARVE_REJECT && !view_stopped(view) && !outcome->no_memory &&
	       outcome->work <= work_max && !outcome->part_count;
}

void check_runs(struct view *view, struct image *image, const struct rule *rule,
	const struct range *runs, size_t run_count, uint64_t work_max,
	const struct check_options *options, struct outcome *outcome)
{
	const struct carve_state *from = options ? options->from : NULL;
	struct check_options whole;
	uint64_t work;

	*outcome = (struct outcome){ .verdict = CARVE_UNVERIFIED, .end = END_CARVER };
	view_point_runs(view, image, runs, run_count, rule->max_size);
	view_set_thorough(view, options && options->thorough);
	view_set_trial(view, options && options->is_trial);
	view_limit_work(view, work_max);
	view_watch_tail(view, options ? options->tail : 0);
	if (options && options->spacing)
		view_keep_states(view, options->spacing);
	if (musts_hold(view, rule, outcome))
		run_carver(view, rule, 0, from, outcome);
	else
		reject(outcome);
	if (!from || !view_starts_over(view))
		return;
	whole = *options;
	whole.from = NULL;
	work = outcome->work;
	outcome_free(outcome);
	check_runs(view, image, rule, runs, run_count, work_max, &whole, outcome);
	if (outcome->work < UINT64_MAX - work)
		outcome->work += work;
}

int check_memory_error(
	struct error *error, const struct rule *rule, const struct candidate *candidate)
{
	return error_set(error, EXIT_IO, ENOMEM,
		"memory ran out while the %s at %" PRIu64
		" was checked; free some, or use fewer --threads, and resume the run",
		rule->name, candidate->start);
}
