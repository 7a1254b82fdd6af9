#include "stored.h"

#include <inttypes.h>

#include "noise.h"
#include "overwrite.h"
#include "walk.h"

enum verdict stored_check(struct view *view, struct finding *finding, uint64_t start, uint64_t end)
{
	uint64_t size = view_size(view), stop = end < size ? end : size;
	uint64_t at = noise_start(view, start, stop);

	view_unverified(view, start, stop);
	finding->length = at;
	if (at < stop)
		return verdict_because(
			CARVE_TRUNCATED, finding, "random bytes instead of data at %" PRIu64, at);
	if (end > size)
		return walk_cut(view, finding, end, size);
	return verdict_because(
		CARVE_UNVERIFIED, finding, "nothing verifies the data from %" PRIu64 " on", start);
}

enum verdict stored_check_rows(
	struct view *view, struct finding *finding, uint64_t start, uint64_t end, uint64_t row_len)
{
	enum verdict verdict = stored_check(view, finding, start, end);
	const char *what;
	uint64_t at;

	if (verdict != CARVE_UNVERIFIED ||
		overwrite_find(view, start, end, row_len, &at, &what) != OVERWRITE_CERTAIN)
		return verdict;
	finding->length = at;
	return verdict_because(
		CARVE_TRUNCATED, finding, "%s instead of data at %" PRIu64, what, at);
}
