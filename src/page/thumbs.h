/* Thumbnails of carved images and films, for the page. */
#ifndef BURIN_PAGE_THUMBS_H
#define BURIN_PAGE_THUMBS_H

#include "page/page.h"
#include "page/thumb_jobs.h"
#include "report/record.h"

struct thumbs;

/* dir_fd: the output folder; it and folder, its path, stay the caller's. max: how many to make at
 * most. Removes what an older page has left. */
struct thumbs *thumbs_open(int dir_fd, const char *folder, uint64_t max);

/* Whether the file is of a kind that has a thumbnail. */
bool thumbs_wants(const struct file_record *file);

struct thumb {
	char state; /* 'y': it has one, 'f': file or decoder failed, 0: none was tried */
	struct thumb_facts facts;
};

/* Makes the thumbnail of the report's file number `number` (from 1), if it is wanted. */
struct thumb thumbs_make(struct thumbs *thumbs, const struct file_record *file, uint64_t number);

/* Reports how many were made and failed, and why a kind has none. Frees. */
void thumbs_close(struct thumbs *thumbs, struct page_counts *counts);

#endif
