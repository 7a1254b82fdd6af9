#include "tracker_parts.h"

#include <inttypes.h>

#include "noise.h"
#include "stored.h"
#include "walk.h"

void tracker_wrong(struct tracker *tracker, const char *name, uint64_t at)
{
	if (tracker->wrong)
		return;
	tracker->wrong = name;
	tracker->wrong_at = at;
}

const uint8_t *tracker_part(
	struct tracker *tracker, const char *name, uint64_t at, uint64_t len, size_t peek_len)
{
	if (at < tracker->head_end) {
		tracker_wrong(tracker, name, at);
		return NULL;
	}
	if (tracker->end < at + len)
		tracker->end = at + len;
	return peek_len ? view_peek(tracker->view, at, peek_len) : NULL;
}

void tracker_samples(struct tracker *tracker, uint64_t at, uint64_t len)
{
	if (!len)
		return;
	tracker_part(tracker, "samples", at, len, 0);
	if (!tracker->samples || at < tracker->samples)
		tracker->samples = at;
	view_holds(tracker->view, at, at + len);
}

/* Whether other bytes follow the random ones, if there are any: loud samples look random, too. */
static bool ends_differently(struct tracker *tracker)
{
	uint64_t size = view_size(tracker->view), end = tracker->end < size ? tracker->end : size;

	return noise_before(tracker->view, tracker->samples, end) == end;
}

enum verdict tracker_judge(struct tracker *tracker)
{
	uint64_t size = view_size(tracker->view);

	if (tracker->end < tracker->head_end)
		tracker->end = tracker->head_end;
	if (tracker->head_end > size)
		return walk_cut(tracker->view, tracker->finding, tracker->end, size);
	if (tracker->wrong && tracker->wrong_at < size) {
		tracker->finding->length = tracker->wrong_at > tracker->head_end
						   ? tracker->wrong_at
						   : tracker->head_end;
		return verdict_because(CARVE_TRUNCATED, tracker->finding, "no %s at %" PRIu64,
			tracker->wrong, tracker->wrong_at);
	}
	if (!tracker->samples || tracker->samples < tracker->head_end)
		tracker->samples = tracker->head_end;
	if (tracker->coded || ends_differently(tracker))
		return stored_check_coded(
			tracker->view, tracker->finding, tracker->samples, tracker->end);
	return stored_check_data(tracker->view, tracker->finding, tracker->samples, tracker->end);
}
