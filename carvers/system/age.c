/*
 * Files that age encrypted (age-encryption.org/v1).
 *
 *	file:   the version's line, a stanza for each one who can read it ("-> " and words; lines of base64, the last of them
 *	        shorter than 64), "--- " and 43 characters of base64, LF; then 16 bytes and the data, which look random
 *
 * The header ends with its own authentication. Nothing without the key shows where the data end: they are carved as long as
 * they look random. In armour (armour.h) they end with its last line, if all lines before it but one are full.
 */
#include <inttypes.h>
#include <string.h>

#include "armour.h"
#include "lines.h"
#include "noise.h"
#include "walk.h"

#define VERSION "age-encryption.org/v1"
#define ARMOUR_LABEL "AGE ENCRYPTED FILE"
#define ARMOUR_FIRST "-----BEGIN " ARMOUR_LABEL "-----"
#define ARMOUR_LAST "-----END " ARMOUR_LABEL "-----"
#define ARMOUR_WIDTH 64
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

/* Whether all lines of the armour but the last hold 64 characters. */
static bool is_even(const struct armour *armour)
{
	uint64_t characters = (armour->data_len + 2) / 3 * 4;
	uint64_t lines = (characters + ARMOUR_WIDTH - 1) / ARMOUR_WIDTH;
	uint64_t len = sizeof(ARMOUR_FIRST) + sizeof(ARMOUR_LAST) + characters + lines;

	/* Each line may end with CR, too. */
	return armour->data_lines == lines &&
	       (armour->valid_end == len || armour->valid_end == len + lines + 2);
}

static enum verdict check_armour(struct view *view, struct finding *finding)
{
	struct armour armour;

	if (!armour_read(view, 0, &armour) || strcmp(armour.label, ARMOUR_LABEL) != 0 ||
		memcmp(armour.head, VERSION "\n-> ", sizeof(VERSION "\n-> ") - 1) != 0)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	finding->length = armour.valid_end;
	if (armour.closed && is_even(&armour))
		return CARVE_COMPLETE;
	if (armour.closed || armour.open_line)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"lines of other lengths before %" PRIu64, armour.valid_end);
	if (armour.valid_end >= view_size(view))
		return walk_cut(view, finding, view_size(view) + 1, view_size(view));
	return verdict_because(
		CARVE_TRUNCATED, finding, "no line of base64 at %" PRIu64, armour.valid_end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, sizeof(ARMOUR_FIRST) - 1);
	uint64_t at = 0, size = view_size(view);
	unsigned lines = 0;
	struct line line;
	bool last = false;

	if (p && memcmp(p, ARMOUR_FIRST, sizeof(ARMOUR_FIRST) - 1) == 0)
		return check_armour(view, finding);
	for (; !last && lines < STANZAS_MAX && line_read(view, at, &line) && line.ended &&
		!line.broken;
		lines++) {
		if (lines == 0 && !line_is(&line, VERSION))
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
