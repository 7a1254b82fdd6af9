/* The page of a run, as `burin report` and `burin carve --html` make it. */
#ifndef BURIN_CLI_MAKE_PAGE_H
#define BURIN_CLI_MAKE_PAGE_H

#include <stdint.h>

/* How many small pictures there are at most unless something else is said. */
#define PAGE_THUMBS "10000"

/* Writes folder/report.html and says so. Returns the exit code. */
int page_make(const char *folder, uint64_t thumbs);

/* The page of a run that ended with code, unless it failed or was interrupted. Returns the worse of
 * both codes. */
int page_after_run(const char *folder, int code);

#endif
