/* The first bytes of carved files, for the page, which loads them when a file is looked at: scripts in
 * report.data/, each for PREVIEW_FILES files that follow one another in the report. */
#ifndef BURIN_PAGE_PREVIEWS_H
#define BURIN_PAGE_PREVIEWS_H

#include <stdbool.h>

#include "base/error.h"
#include "report/record.h"

struct previews;

/* dir_fd: the output folder, which stays the caller's. max: of how many files at most. Removes what an
 * older page has left. */
struct previews *previews_open(int dir_fd, uint64_t max);
/* Of the report's file number `number` (from 1). Returns 1 when it has one, 0 when it has none, or a
 * negative errno with error set. */
int previews_add(struct previews *previews, const struct file_record *file, uint64_t number,
	struct error *error);
/* Writes the rest. Returns 0 or a negative errno with error set. */
int previews_finish(struct previews *previews, struct error *error);
void previews_close(struct previews *previews);

#endif
