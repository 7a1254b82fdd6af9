/*
 * Modules of the Amiga's trackers with 31 samples (MOD; ProTracker and those after it).
 *
 *	header:  title (20), samples (30 each), length of the song, a byte, orders (128), a mark that gives the
 *	         number of channels ('M.K.': 4)
 *	sample:  name (22), length (2, big-endian, in units of two bytes), fine tuning (below 16), volume (at most
 *	         64), start and length of what is repeated (2 each)
 *	pattern: 64 rows of 4 bytes a channel; as many as the highest order wants
 *	then the samples
 *
 * Nothing verifies samples.
 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "tracker_parts.h"

#define MARK_AT 1080
#define HEAD_LEN 1084
#define SAMPLE_COUNT 31
#define ORDER_AT 952
#define ORDER_COUNT 128
#define ROWS_LEN (64 * 4)

/* 0: not a mark. */
static unsigned channel_count(const uint8_t *mark)
{
	if (memcmp(mark, "M.K.", 4) == 0 || memcmp(mark, "M!K!", 4) == 0 ||
		memcmp(mark, "FLT4", 4) == 0)
		return 4;
	if (mark[0] > '0' && mark[0] <= '9' && memcmp(mark + 1, "CHN", 3) == 0)
		return mark[0] - '0';
	if (mark[0] > '0' && mark[0] <= '3' && mark[1] >= '0' && mark[1] <= '9' &&
		memcmp(mark + 2, "CH", 2) == 0)
		return (mark[0] - '0') * 10u + (mark[1] - '0');
	return 0;
}

/* Returns how many bytes all samples have; 0: these are not samples. */
static uint64_t samples_len(const uint8_t *p)
{
	uint64_t len = 0;

	for (int i = 0; i < SAMPLE_COUNT; i++, p += 30) {
		if (p[24] > 15 || p[25] > 64)
			return 0;
		len += 2 * (uint64_t)be16(p + 22);
	}
	return len;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct tracker mod = { .view = view, .finding = finding, .head_end = HEAD_LEN };
	unsigned channels = p ? channel_count(p + MARK_AT) : 0, last = 0;
	uint64_t len = p ? samples_len(p + 20) : 0, patterns_len;

	if (!channels || !len || !p[950] || p[950] > ORDER_COUNT)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	for (int i = 0; i < ORDER_COUNT; i++) {
		if (p[ORDER_AT + i] >= ORDER_COUNT)
			return verdict_because(
				CARVE_REJECT, finding, "no order at %d", ORDER_AT + i);
		if (last < p[ORDER_AT + i])
			last = p[ORDER_AT + i];
	}
	finding_set_title(finding, p, 20);
	patterns_len = (last + UINT64_C(1)) * ROWS_LEN * channels;
	tracker_part(&mod, "pattern", HEAD_LEN, patterns_len, 0);
	tracker_samples(&mod, HEAD_LEN + patterns_len, len);
	return tracker_judge(&mod);
}

const struct carver mod_carver = {
	.name = "mod",
	.summary = "modules of the Amiga's trackers with 31 samples",
	.check = check,
	.quick = true,
};
