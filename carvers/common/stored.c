#include "stored.h"

#include <inttypes.h>

#include "noise.h"
#include "overwrite.h"
#include "predictor.h"
#include "turning.h"
#include "walk.h"

/* The verdict when no random bytes were found before the view's end. */
static enum verdict judge_end(
	struct view *view, struct finding *finding, uint64_t start, uint64_t end)
{
	if (end > view_size(view))
		return walk_cut(view, finding, end, view_size(view));
	finding->length = end;
	return verdict_because(
		CARVE_UNVERIFIED, finding, "nothing verifies the data from %" PRIu64 " on", start);
}

/* The same, and truncated where zeros or text begin with a sector and reach the end. */
static enum verdict judge_rows(
	struct view *view, struct finding *finding, uint64_t start, uint64_t end, uint64_t row_len)
{
	enum verdict verdict = judge_end(view, finding, start, end);
	const char *what;
	uint64_t at;

	if (verdict != CARVE_UNVERIFIED ||
		overwrite_find(view, start, end, row_len, &at, &what) != OVERWRITE_CERTAIN)
		return verdict;
	finding->length = at;
	return verdict_because(
		CARVE_TRUNCATED, finding, "%s instead of data at %" PRIu64, what, at);
}

/* Whether random bytes follow other data: then *verdict is set. */
static bool turns_random(struct view *view, struct finding *finding, uint64_t start, uint64_t end,
	enum verdict *verdict)
{
	uint64_t size = view_size(view), stop = end < size ? end : size;
	uint64_t at = noise_start(view, start, stop);

	view_unverified(view, start, stop);
	if (at == stop)
		return false;
	finding->length = at;
	*verdict = verdict_because(
		CARVE_TRUNCATED, finding, "random bytes instead of data at %" PRIu64, at);
	return true;
}

enum verdict stored_check(struct view *view, struct finding *finding, uint64_t start, uint64_t end)
{
	enum verdict verdict;

	return turns_random(view, finding, start, end, &verdict)
		       ? verdict
		       : judge_end(view, finding, start, end);
}

enum verdict stored_check_data(
	struct view *view, struct finding *finding, uint64_t start, uint64_t end)
{
	enum verdict verdict;

	if (turns_random(view, finding, start, end, &verdict))
		return verdict;
	verdict = judge_rows(view, finding, start, end, 1);
	if (verdict != CARVE_UNVERIFIED)
		return verdict;
	finding->length = turning_cluster(view, start, end, 1);
	if (finding->length == end)
		return verdict;
	return verdict_because(CARVE_TRUNCATED, finding, "bytes unlike the data before at %" PRIu64,
		finding->length);
}

enum verdict stored_check_pixels(struct view *view, struct finding *finding, uint64_t start,
	uint64_t end, uint64_t row_len, uint64_t pixel_len)
{
	enum verdict verdict;
	uint64_t at;

	if (turns_random(view, finding, start, end, &verdict))
		return verdict;
	verdict = judge_rows(view, finding, start, end, row_len);
	if (verdict != CARVE_UNVERIFIED ||
		predictor_check(view, start, end, row_len, pixel_len, &at) != PREDICTOR_FOREIGN)
		return verdict;
	finding->length = at;
	return verdict_because(
		CARVE_TRUNCATED, finding, "bytes unlike the pixels before at %" PRIu64, at);
}

enum verdict stored_check_coded(
	struct view *view, struct finding *finding, uint64_t start, uint64_t end)
{
	view_unverified(view, start, end < view_size(view) ? end : view_size(view));
	return judge_rows(view, finding, start, end, 1);
}
