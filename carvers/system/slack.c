/*
 * Of 256 random bytes about 162 are different, and hardly ever fewer than 130. Records, names and
 * numbers have far fewer. Random bytes count if they extend to the end of the part, or for longer
 * (noise.h): a little compressed data may remain in the middle.
 */
#include "slack.h"

#include <stdbool.h>

#include "noise.h"
#include "walk.h"

#define BLOCK 256
#define NEAR 8 /* zeros before a sector that remains may end in */

static bool is_noise(const uint8_t *p)
{
	bool seen[256] = { false };
	int distinct = 0;

	for (int i = 0; i < BLOCK; i++) {
		distinct += !seen[p[i]];
		seen[p[i]] = true;
	}
	return distinct > BLOCK / 2;
}

/* Where random bytes start that last for some KiB, whatever follows them. */
static uint64_t long_noise(struct view *view, uint64_t start, uint64_t end)
{
	return noise_at(view, start, end) ? start : noise_start(view, start, end);
}

uint64_t slack_noise(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t found = end, before = long_noise(view, start, end);
	const uint8_t *p;
	size_t len;

	for (uint64_t at = start; at < end && (p = walk_window(view, at, end, &len)); at += len) {
		if (len < BLOCK)
			break;
		len -= len % BLOCK;
		for (size_t i = 0; i < len; i += BLOCK) {
			if (!is_noise(p + i))
				found = end;
			else if (found == end)
				found = at + i;
		}
	}
	return before < found ? before : found;
}

uint64_t slack_wiped(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t last = start; /* after the last byte that is not zero */
	uint64_t sector;
	const uint8_t *p;
	size_t len;

	for (uint64_t at = start; at < end; at += len) {
		p = walk_window(view, at, end, &len);
		if (!p)
			return end;
		for (size_t i = 0; i < len; i++)
			if (p[i])
				last = at + i + 1;
	}
	sector = (last + SECTOR - 1) / SECTOR * SECTOR;
	return last > start && sector - last < NEAR && sector < end ? sector : end;
}
