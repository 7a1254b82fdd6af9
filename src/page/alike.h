/* Files that are no pictures and alike although their bytes differ, for the page. */
#ifndef BURIN_PAGE_ALIKE_H
#define BURIN_PAGE_ALIKE_H

#include <stdint.h>

#include "base/strbuf.h"
#include "report/record.h"

struct alike;

/* dir_fd: the output folder; it stays the caller's. max: how many files to compare at most. */
struct alike *alike_open(int dir_fd, uint64_t max);

/* Takes the report's file number `number` (from 1), if it was written and is neither too short nor too long. */
void alike_add(struct alike *alike, const struct file_record *file, uint64_t number);

/* Appends the groups as script text: the files' rows from 0, groups separated by line feeds. */
void alike_write(struct alike *alike, struct strbuf *text);

/* Why none can be found: a part of a sentence, or NULL. */
const char *alike_lacks(void);

void alike_close(struct alike *alike);

#endif
