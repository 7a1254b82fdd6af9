/*
 * Two runs over one image, side by side: files are matched by the place where they begin; then what
 * differs, what each has alone, and why, as far as reports, rules and image can tell.
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
	DIFFERS_STATUS = 4, /* both say one */
	DIFFERS_HASH = 8,   /* both have one of the same kind */
	DIFFERS_PIECES = 16,
};
#define DIFFERENCES 5
const char *compare_difference_name(enum compare_difference difference);

/* Why a side lacks a file, or has it otherwise. */
enum compare_why {
	COMPARE_SAME,         /* nothing to be explained */
	COMPARE_NOT_TOLD,     /* nothing at hand tells */
	COMPARE_OUTSIDE,      /* outside of the range that was searched */
	COMPARE_UNALIGNED,    /* it looks elsewhere only */
	COMPARE_HIDDEN,       /* inside a file that it has */
	COMPARE_NO_RULE,      /* its rules have no such type */
	COMPARE_NO_SUCH_TYPE, /* it has found no file of the type at all */
	COMPARE_NO_HEADER,    /* the type's header does not stand there */
	COMPARE_NO_FOOTER,    /* the header does, but nothing comes of it */
	COMPARE_REJECTED,     /* a check failed */
	COMPARE_OTHER_RULE,   /* another rule's file is carved there */
	COMPARE_WOULD_CARVE,  /* its rules carve it: the report was filtered, or the run was another
			       */
	COMPARE_DOUBTFUL,     /* the side that has it calls it truncated or unverified; or both have
			       * it, and one says itself that it can't tell where it ends */
	COMPARE_CUT,        /* one of the two is cut: by the rule's largest size, or as truncated */
	COMPARE_FRAGMENTS,  /* one of the two is put together from pieces */
	COMPARE_TOO_LONG,   /* the one without a check has bytes behind the file's end */
	COMPARE_TOO_SHORT,  /* ... or ends before it */
	COMPARE_OTHER_NAME, /* the same bytes, called otherwise */
	COMPARE_WHY_COUNT,
};
const char *compare_why_name(enum compare_why why); /* "rule missing", "rejected", ... */

struct compared {
	const struct listed *a, *b; /* NULL where that side lacks it */
	unsigned differences;       /* of those that both have; 0: the same */
	enum compare_why why;
	char *text; /* in words; "" */
};

/* What is at hand of a side beside its report. rules: NULL for none. */
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

/* image: NULL when it is not at hand. The listings, rules and image stay the caller's. The caller
 * owns *comparison. */
void compare_runs(struct comparison **comparison, const struct compare_side *a,
	const struct compare_side *b, struct image *image);
/* NULL is fine. */
void comparison_free(struct comparison *comparison);

/* Whether a type's names mean the same: jpg and jpeg, docx and zip. */
bool compare_type_alike(const struct listed *a, const struct listed *b);
bool compare_rule_alike(const struct rule *rule, const struct listed *file);

/* One self-contained page. Returns 0 or a negative errno of the stream. */
int compare_page(const struct comparison *comparison, FILE *stream);

#endif
