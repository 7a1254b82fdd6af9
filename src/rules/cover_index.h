/* Which rules cover others: carve them as well, or so much of them that another one carves less, or nothing. */
#ifndef BURIN_RULES_COVER_INDEX_H
#define BURIN_RULES_COVER_INDEX_H

#include "rules/rules.h"

/* Whether every candidate of b is also one of a. */
bool rule_covers(const struct rules *rules, const struct rule *a, const struct rule *b);
/* 0 if files of both rules end at the same place when they start there; else as for qsort. */
int rule_compare_ends(const struct rule *a, const struct rule *b);

struct cover_index;

/* The rules stay the caller's and must outlive the index. Free it with cover_index_free. */
struct cover_index *cover_index_new(const struct rules *rules);
/* The first of all rules that cover the rule and make a finding on it: an earlier one has the same carver and allows
 * all its sizes, or ends its files at the same place and is covered by it, too; or one has a carver and the rule has none.
 * UINT32_MAX: none. Not thread-safe. */
uint32_t cover_index_find(struct cover_index *index, uint32_t number);
void cover_index_free(struct cover_index *index); /* NULL is fine */

#endif
