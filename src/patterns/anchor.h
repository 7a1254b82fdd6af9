/* Anchors: the part of a byte pattern that Vectorscan searches for; the rest is compared where it
 * is found. */
#ifndef BURIN_PATTERNS_ANCHOR_H
#define BURIN_PATTERNS_ANCHOR_H

#include "patterns/rarity.h"
#include "patterns/pattern.h"

enum anchor_kind {
	ANCHOR_LITERAL, /* at least ANCHOR_LITERAL_MIN bytes, all exact, or letters in either case
			 */
	ANCHOR_COMMON,  /* the same, but its last bytes are common on disks, as zeros are */
	ANCHOR_SHORT,   /* shorter, or with wild bytes between; it has two exact bytes in a row */
	ANCHOR_NONE,    /* not even that */
};

struct anchor {
	enum anchor_kind kind;
	uint32_t start, len; /* bytes of the pattern; 1 <= len <= ANCHOR_MAX */
	bool nocase;         /* of a literal: to be found without case */
	bool whole;          /* the anchor is all of the pattern: there is nothing to compare */
};

/* Longer anchors select no better. */
#define ANCHOR_MAX 32u
/* Shorter literals are found too often to be worth confirming, and slow the longer ones down. */
#define ANCHOR_LITERAL_MIN 4u
/* Bytes found at a smaller share of all places are rare enough. */
#define ANCHOR_RARE 1e-6

/* Chooses the anchor of a pattern that is not a regex. share: what rarity_bytes fills in. */
struct anchor anchor_choose(const struct pattern *pattern, const float share[RARITY_KINDS][256]);

/* Writes an anchor that is not ANCHOR_NONE as a regular expression of \xHH, `[\xHH\xHH]` for a
 * letter of either case (but plain for a literal, which has nocase), and `.` for any byte, newlines
 * too; a byte with other wild bits is `.` too, and to be compared. text: room for ANCHOR_TEXT_MAX
 * bytes. */
void anchor_regex(char *text, const struct pattern *pattern, const struct anchor *anchor);
#define ANCHOR_TEXT_MAX (ANCHOR_MAX * 10 + 1)

#endif
