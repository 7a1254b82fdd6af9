/* Where data that nothing checks, such as a program's code, gives way to bytes of something else. */
#ifndef BURIN_CARVERS_COMMON_FOREIGN_H
#define BURIN_CARVERS_COMMON_FOREIGN_H

#include "carver.h"

/* Where in [start, end) foreign bytes begin: random ones, or a long run of equal bytes or of text
 * that reaches end. end (or the view's, if that is nearer) when there are none. */
uint64_t foreign_start(struct view *view, uint64_t start, uint64_t end);

/* The start of the run of equal bytes, or of text, that reaches end, if it is long; else end. */
uint64_t foreign_tail(struct view *view, uint64_t start, uint64_t end);

/* The first cluster of the run of equal bytes, or of text, that reaches end, if it is long; else end. For data that
 * does not end in zeros. */
uint64_t foreign_cluster(struct view *view, uint64_t start, uint64_t end);

/* The verdict on a file that should reach `end` and is broken somewhere after `start`:
 * CARVE_TRUNCATED with the length from foreign_start. The reason is "`problem` at `where`", or that
 * the image ends earlier. */
enum verdict foreign_cut(struct view *view, struct finding *finding, uint64_t start, uint64_t end,
	const char *problem, uint64_t where);

#endif
