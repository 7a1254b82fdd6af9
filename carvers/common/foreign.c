#include "foreign.h"

#include <inttypes.h>

#include "noise.h"
#include "plain_text.h"
#include "walk.h"

#define LONG_TEXT 1024
#define LONG_FILL 256

/* Where in [start, end) the text begins that reaches end; end when there is none. */
static uint64_t text_start(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t at = end;

	while (at > start) {
		size_t len = at - start < 4096 ? (size_t)(at - start) : 4096, run = 0;
		const uint8_t *p = view_peek(view, at - len, len);

		while (p && run < len && plain_text_byte(p[len - run - 1]))
			run++;
		at -= run;
		if (run < len)
			break;
	}
	return at;
}

uint64_t foreign_tail(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t tail = walk_before_fill(view, start, end);

	if (tail < end)
		return tail;
	tail = text_start(view, start, end);
	return end - tail >= LONG_TEXT ? tail : end;
}

uint64_t foreign_cluster(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t at = foreign_tail(view, start, end),
		 cluster = (at + USUAL_CLUSTER - 1) / USUAL_CLUSTER * USUAL_CLUSTER;

	return cluster + LONG_FILL <= end ? cluster : end;
}

uint64_t foreign_start(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t limit = end < view_size(view) ? end : view_size(view), noise;

	if (limit <= start)
		return limit;
	noise = noise_start(view, start, limit);
	return noise == limit ? foreign_tail(view, start, limit) : noise;
}

enum verdict foreign_cut(struct view *view, struct finding *finding, uint64_t start, uint64_t end,
	const char *problem, uint64_t where)
{
	uint64_t valid_end = foreign_start(view, start, end);

	if (end > view_size(view))
		return walk_cut(view, finding, end, valid_end);
	finding->length = valid_end;
	return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, where);
}
