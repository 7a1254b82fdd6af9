#include "carve/outcome.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carve/view.h"

#define EXTENSION_MAX 64 /* bytes */

bool outcome_is_whole(const struct outcome *outcome)
{
	return outcome->verdict == CARVE_COMPLETE || outcome->agrees;
}

void outcome_free(struct outcome *outcome)
{
	free(outcome->parts);
	outcome->parts = NULL;
	outcome->part_count = 0;
	free(outcome->embedded);
	outcome->embedded = NULL;
	outcome->embedded_count = 0;
	if (outcome->unverified.items)
		ranges_free(&outcome->unverified);
	if (outcome->held.items)
		ranges_free(&outcome->held);
}

static uint64_t *copy_offsets(const uint64_t *offsets, size_t count)
{
	return count ? memcpy(xmalloc(count * sizeof(*offsets)), offsets, count * sizeof(*offsets))
		     : NULL;
}

static struct ranges copy_ranges(const struct ranges *ranges)
{
	struct ranges copy = { 0 };

	for (size_t i = 0; i < ranges->count; i++)
		ranges_add(&copy, ranges->items[i].offset, ranges->items[i].length);
	return copy;
}

struct outcome outcome_copy(const struct outcome *outcome)
{
	struct outcome copy = *outcome;

	copy.parts = copy_offsets(outcome->parts, outcome->part_count);
	copy.embedded = copy_offsets(outcome->embedded, outcome->embedded_count);
	copy.unverified = copy_ranges(&outcome->unverified);
	copy.held = copy_ranges(&outcome->held);
	return copy;
}

size_t outcome_extra_len(const struct outcome *outcome)
{
	return (outcome->part_count + outcome->embedded_count) * sizeof(*outcome->parts) +
	       (outcome->unverified.count + outcome->held.count) * sizeof(*outcome->held.items);
}

/* Each as what it adds to the one before it: parts rise, and mostly by a byte or two. */
static void put_offsets(struct codec_writer *writer, const uint64_t *offsets, size_t count)
{
	codec_put(writer, count);
	for (size_t i = 0; i < count; i++)
		codec_put(writer, offsets[i] - (i ? offsets[i - 1] : 0));
}

/* No view has more: what another process says must not take more memory than its message. */
static uint64_t *get_offsets(struct codec_reader *reader, size_t most, size_t *count)
{
	uint64_t expected = codec_get(reader, most), *offsets = NULL, last = 0;
	size_t room = 0;

	for (*count = 0; *count < expected && codec_ok(reader); ++*count) {
		offsets = xgrow(offsets, &room, *count, sizeof(*offsets));
		last += codec_get(reader, UINT64_MAX); /* of hostile bytes it may wrap round */
		offsets[*count] = last;
	}
	return offsets;
}

static void get_ranges(struct codec_reader *reader, struct ranges *ranges)
{
	uint64_t count = codec_get(reader, VIEW_UNVERIFIED_MAX);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		uint64_t offset = codec_get(reader, UINT64_MAX);

		ranges_add(ranges, offset, codec_get(reader, UINT64_MAX - offset));
	}
}

void outcome_save(const struct outcome *outcome, struct codec_writer *writer)
{
	const struct finding *finding = &outcome->finding;

	codec_put(writer, outcome->verdict);
	codec_put(writer, outcome->length);
	codec_put(writer, outcome->end);
	codec_put(writer, finding->length);
	codec_put(writer, finding->extension != NULL);
	codec_put_text(writer, finding->extension ? finding->extension : "");
	codec_put_text(writer, finding->title);
	codec_put(writer, (uint64_t)finding->time);
	codec_put_text(writer, finding->why);
	put_offsets(writer, outcome->parts, outcome->part_count);
	put_offsets(writer, outcome->embedded, outcome->embedded_count);
	ranges_save(&outcome->unverified, UINT64_MAX, writer);
	ranges_save(&outcome->held, UINT64_MAX, writer);
	codec_put(writer, outcome->work);
	codec_put(writer, outcome->crashed);
}

void outcome_load(
	struct outcome *outcome, const char *(*keep)(const char *text), struct codec_reader *reader)
{
	struct finding *finding = &outcome->finding;
	bool has_extension;
	char *extension;

	*outcome = (struct outcome){ .verdict = (enum verdict)codec_get(reader, CARVE_UNVERIFIED) };
	outcome->length = codec_get(reader, UINT64_MAX);
	outcome->end = (enum file_end)codec_get(reader, END_IMAGE);
	finding->length = codec_get(reader, UINT64_MAX);
	has_extension = codec_get_flag(reader);
	extension = codec_get_text(reader, EXTENSION_MAX);
	if (has_extension && !(finding->extension = keep(extension)))
		codec_fail(reader);
	free(extension);
	codec_copy_text(reader, finding->title, sizeof(finding->title));
	finding->time = (int64_t)codec_get(reader, UINT64_MAX);
	codec_copy_text(reader, finding->why, sizeof(finding->why));
	outcome->parts = get_offsets(reader, VIEW_PARTS_MAX, &outcome->part_count);
	outcome->embedded = get_offsets(reader, VIEW_EMBEDDED_MAX, &outcome->embedded_count);
	get_ranges(reader, &outcome->unverified);
	get_ranges(reader, &outcome->held);
	outcome->work = codec_get(reader, UINT64_MAX);
	outcome->crashed = codec_get_flag(reader);
}

/* All of them are in [from, from + length). */
static bool are_inside(const uint64_t *offsets, size_t count, uint64_t from, uint64_t length)
{
	for (size_t i = 0; i < count; i++)
		if (offsets[i] - from >= length)
			return false;
	return true;
}

static bool are_rising(const uint64_t *offsets, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (offsets[i] <= offsets[i - 1])
			return false;
	return true;
}

static bool have_room(const struct ranges *ranges, uint64_t from, uint64_t length)
{
	const struct range *last = ranges->count ? &ranges->items[ranges->count - 1] : NULL;

	return !last || (ranges->items[0].offset >= from && last->offset - from <= length &&
				last->length <= length - (last->offset - from));
}

bool outcome_fits(
	const struct outcome *outcome, const struct candidate *candidate, uint64_t image_size)
{
	uint64_t start = candidate->start, left = image_size - start;
	uint64_t most = candidate->length < left ? candidate->length : left;
	bool rejected = outcome->verdict == CARVE_REJECT;

	if (rejected ? outcome->length != 0
		     : outcome->length > most ||
				(outcome->finding.length &&
					outcome->finding.length != outcome->length))
		return false;
	return have_room(&outcome->unverified, start, outcome->length) &&
	       have_room(&outcome->held, start, outcome->length) &&
	       are_rising(outcome->parts, outcome->part_count) &&
	       (rejected || are_inside(outcome->parts, outcome->part_count, start, most)) &&
	       are_inside(outcome->embedded, outcome->embedded_count, start, most);
}
