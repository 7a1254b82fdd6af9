/* Parts of a file, in any order, such as those that something verifies. */
#ifndef BURIN_CARVERS_COMMON_STRETCHES_H
#define BURIN_CARVERS_COMMON_STRETCHES_H

#include "carver.h"

struct stretch {
	uint64_t at, end;
};

/* The caller frees the list. */
struct stretches {
	struct stretch *list;
	size_t count, room;
};

/* Adds [at, end), unless there are `most` already, or there is no memory (view_no_memory is called). */
void stretches_add(
	struct view *view, struct stretches *stretches, size_t most, uint64_t at, uint64_t end);

/* Sorts them by where they start, then by where they end. The caller counts the work. */
void stretches_sort(struct stretches *stretches);

/* Sorts them, and names what is between them from `from` on as unverified (view_unverified). Returns where the last of
 * them ends, at least `from`. */
uint64_t stretches_name_gaps(struct view *view, struct stretches *stretches, uint64_t from);

#endif
