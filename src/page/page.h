/*
 * The page of a run: OUT/report.html, made from OUT/report.jsonl, for people. It is opened from
 * disk by any browser, needs no network and no server, and loads nothing from elsewhere. The page
 * itself (text, looks, behaviour) lies in page/assets/ and is part of the program.
 */
#ifndef BURIN_PAGE_PAGE_H
#define BURIN_PAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* What the page consists of, in the output folder. */
#define PAGE_NAME "report.html"
#define PAGE_DATA "report.data/" /* the files' rows, when they are too many for the page */
#define PAGE_THUMBS "thumbs/"    /* small pictures */

struct page_options {
	uint64_t thumbs; /* how many small pictures are made at most */
};

struct page_counts {
	uint64_t files; /* in the report */
	uint64_t thumbs,
		failed_thumbs;   /* made, and not made because the file or its decoder failed */
	const char *no_pictures; /* why there are no small pictures of images; NULL */
	const char *no_films;    /* the same of films */
};

/* Writes the page, over an older one. folder: an output folder of burin. Memory is bounded, however
 * many files there are. Returns 0 or a negative errno with the error set. Not thread-safe. */
int page_write(const char *folder, const struct page_options *options, struct page_counts *counts,
	struct error *error);

#endif
