/*
 * The page of a run: OUT/report.html, made from OUT/report.jsonl, for people. Any browser opens it
 * from disk; it needs no network and no server, and loads nothing from elsewhere. The page itself
 * (text, style, behaviour) is in page/assets/ and part of the program.
 */
#ifndef BURIN_PAGE_PAGE_H
#define BURIN_PAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct page_options {
	uint64_t thumbs;   /* how many thumbnails to make at most */
	uint64_t previews; /* of how many files to show the first bytes, at most */
	uint64_t alike;    /* how many files that are no pictures to compare, at most */
};

struct page_counts {
	uint64_t files; /* in the report */
	uint64_t thumbs,
		failed_thumbs;   /* made, and not made because the file or its decoder failed */
	const char *no_pictures; /* why there are no thumbnails of images; NULL */
	const char *no_films;    /* the same of films */
	const char *not_alike;   /* why files that are no pictures can't be compared; NULL */
};

/* Writes the page and replaces an older one. folder: an output folder of burin. Memory is bounded,
 * however many files there are. Returns 0 or a negative errno with error set. Not thread-safe. */
int page_write(const char *folder, const struct page_options *options, struct page_counts *counts,
	struct error *error);

#endif
