/*
 * Compares two runs over one image. Files are matched by the offset at which they start; then the
 * comparison says what differs, what only one side has, and why, as far as reports, rules and image
 * show it.
 */
#ifndef BURIN_COMPARE_COMPARE_H
#define BURIN_COMPARE_COMPARE_H

#include <stdio.h>

#include "compare/listing.h"
#include "evidence/image.h"
#include "rules/rules.h"

/* Or-ed together. */
enum compare_difference {
	DIFFERS_LENGTH = 1,
	DIFFERS_TYPE = 2,
	DIFFERS_STATUS = 4, /* only if both report one */
	DIFFERS_HASH = 8,   /* only if both have one of the same algorithm */
	DIFFERS_PIECES = 16,
};
#define DIFFERENCES 5
const char *compare_difference_name(enum compare_difference difference);

/* Why a side lacks a file, or has a different one. */
enum compare_why {
	COMPARE_SAME,         /* nothing to explain */
	COMPARE_UNKNOWN,      /* nothing at hand explains it */
	COMPARE_OUTSIDE,      /* outside the range that was searched */
	COMPARE_UNALIGNED,    /* it looks only at other offsets */
	COMPARE_HIDDEN,       /* inside a file that it has */
	COMPARE_NO_RULE,      /* its rules have no such type */
	COMPARE_NO_SUCH_TYPE, /* it found no file of the type at all */
	COMPARE_NO_HEADER,    /* the type's header does not match there */
	COMPARE_NO_FOOTER,    /* the header does, but makes no candidate */
	COMPARE_REJECTED,     /* a check failed */
	COMPARE_OTHER_RULE,   /* another rule's file is carved there */
	COMPARE_WOULD_CARVE,  /* its rules carve it: the report was filtered, or the run had other
			       * options */
	COMPARE_DOUBTFUL,     /* the side that has it calls it truncated or unverified; or both have
			       * it, and one of them says that its end is a guess */
	COMPARE_CUT,        /* one of the two is cut: by the rule's largest size, or as truncated */
	COMPARE_FRAGMENTS,  /* they are in different numbers of pieces */
	COMPARE_TOO_LONG,   /* the one without a check has bytes after the file's end */
	COMPARE_TOO_SHORT,  /* ... or ends before it */
	COMPARE_OTHER_NAME, /* the same bytes under another type name */
	COMPARE_WHY_COUNT,
};
const char *compare_why_name(enum compare_why why); /* "rule missing", "rejected", ... */

struct compared {
	const struct listed *a, *b; /* NULL where that side lacks it */
	unsigned differences;       /* if both have it; 0: the same */
	enum compare_why why;
	char *text; /* in words; "" */
};

/* One side's report, and its rules if they are at hand (else NULL). */
struct compare_side {
	const struct listing *listing;
	const struct rules *rules;
};

struct comparison {
	struct compare_side a, b;
	struct compared *rows; /* by offset */
	size_t count, capacity;
	uint64_t same, different, only_a, only_b;
	uint64_t whys[COMPARE_WHY_COUNT];
};

/* image: NULL when it is not at hand. The listings, rules and image stay the caller's and must
 * outlive *comparison, which the caller frees with comparison_free. */
void compare_runs(struct comparison **comparison, const struct compare_side *a,
	const struct compare_side *b, struct image *image);
/* NULL is fine. */
void comparison_free(struct comparison *comparison);

/* Whether two names mean the same type: jpg and jpeg, docx and zip. */
bool compare_type_alike(const struct listed *a, const struct listed *b);
bool compare_rule_alike(const struct rule *rule, const struct listed *file);

/* One self-contained page. Returns 0 or a negative errno of the stream. */
int compare_page(const struct comparison *comparison, FILE *stream);

#endif
