/*
 * What complete files seem to cover that are not decided on yet: a candidate in there will most
 * likely be hidden, so its check waits. And where checks that waited, or were given up, had better
 * be started now: the file that they waited for turned out otherwise. Nothing here changes a
 * result. Functions are thread-safe where they say so; the others are the stage's thread's.
 */
#ifndef BURIN_CARVE_COVER_H
#define BURIN_CARVE_COVER_H

#include "carve/check.h"

/* Bytes. Hardly anything starts in a shorter file: it is not worth remembering, unless it has parts, which start as it does. */
#define COVER_MIN 4096

struct cover;

/* For candidates of that many rules. */
struct cover *cover_new(size_t rule_count);
/* NULL is fine. */
void cover_free(struct cover *cover);

/* The outcome of a candidate's check: remembers what it covers, the verified bytes of a complete
 * file, or the parts that another one named, which only covers candidates of its rule. Thread-safe. */
void cover_add(
	struct cover *cover, const struct candidate *candidate, const struct outcome *outcome);
/* Changes with every cover_add that remembers something. Thread-safe. */
uint64_t cover_version(const struct cover *cover);
#define COVER_ALL_RULES UINT32_MAX
struct covered_range {
	struct range range; /* in the image */
	uint32_t rule;      /* of the candidates that are covered in there */
};
/* The covered bytes around the candidate's start; false: it is not covered. Thread-safe. */
bool cover_find(
	struct cover *cover, const struct candidate *candidate, struct covered_range *found);

/* All that starts before `position` was decided on, and what starts before `hidden_until` is hidden:
 * files before it cover nothing any more. */
void cover_decided(struct cover *cover, uint64_t position, uint64_t hidden_until);

/* Candidates that start in [from, until) may have waited for something that is over. Thread-safe. */
void cover_retry(struct cover *cover, uint64_t from, uint64_t until);
/* Takes that note: one range for all. False: there is none. */
bool cover_take_retry(struct cover *cover, uint64_t *from, uint64_t *until);

#endif
