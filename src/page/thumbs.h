/* Small pictures of carved images and films, for the page (html.h). */
#ifndef BURIN_PAGE_THUMBS_H
#define BURIN_PAGE_THUMBS_H

#include "page/page.h"
#include "report/record.h"

struct thumbs;

/* dir_fd: the output folder, which stays the caller's, as folder, its path, does. most: how many
 * are made at most. What an older page has left is removed. */
struct thumbs *thumbs_open(int dir_fd, const char *folder, uint64_t most);

/* Makes the small picture of the report's file number `number` (from 1), if it is of a kind that
 * has one. Returns 'y', 'f' when file or decoder failed, or 0: none was tried. */
char thumbs_make(struct thumbs *thumbs, const struct file_record *file, uint64_t number);

/* Tells how many were made and failed, and why there are none of a kind. Frees. */
void thumbs_close(struct thumbs *thumbs, struct page_counts *counts);

#endif
