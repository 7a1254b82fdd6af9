/*
 * Files that age encrypted (age-encryption.org/v1).
 *
 *	file:   the version's line, a stanza for each one who can read it ("-> " and words; lines of base64, the last of them
 *	        shorter than 64), "--- " and 43 characters of base64, LF; then 16 bytes and the data, which look random
 *
 * The header ends with its own authentication. Nothing without the key shows where the data end: they are carved as long as
 * they look random.
 */
#include <inttypes.h>
#include <string.h>

#include "lines.h"
#include "noise.h"
#include "walk.h"

#define STANZAS_MAX 1024
#define MAC_LEN 47 /* with the dashes */
#define DATA_MIN 32
#define STEP 4096

/* Where random bytes from `start` on end, to about a KiB. */
static uint64_t random_end(struct view *view, uint64_t start)
{
	uint64_t at = start, size = view_size(view);

	while (noise_at(view, at, size))
		at += STEP;
	while (size - at >= 1024 && noise_before(view, at, at + 1024) == at)
		at += 1024;
	return at;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, size = view_size(view);
	unsigned lines = 0;
	struct line line;
	bool last = false;

	for (; !last && lines < STANZAS_MAX && line_read(view, at, &line) && line.ended &&
		!line.broken;
		lines++) {
		if (lines == 0 && !line_is(&line, "age-encryption.org/v1"))
			break;
		if (lines == 1 && !line_starts(&line, "-> "))
			break;
		last = line_starts(&line, "--- ") && line.len == MAC_LEN;
		at = line.next;
	}
	if (lines < 2)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	finding->length = at;
	if (!last)
		return at >= size ? walk_cut(view, finding, size + 1, size)
				  : verdict_because(CARVE_TRUNCATED, finding,
					    "no line of the header at %" PRIu64, at);
	if (size - at < DATA_MIN)
		return walk_cut(view, finding, at + DATA_MIN, size);
	finding->length = random_end(view, at);
	if (finding->length < at + DATA_MIN)
		finding->length = at + DATA_MIN;
	view_unverified(view, at, finding->length);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"only the key shows where the data from %" PRIu64 " on end", at);
}

const struct carver age_carver = {
	.name = "age",
	.summary = "files encrypted by age, by their header",
	.check = check,
};
