/* The page of a batch: OUT/report.html, a table of its images with links to the page of each, made from
 * OUT/batch.json. It has no scripts. */
#ifndef BURIN_PAGE_BATCH_PAGE_H
#define BURIN_PAGE_BATCH_PAGE_H

#include "base/error.h"

/* Writes it and replaces an older one. folder: a batch's output folder. Returns 0 or a negative errno
 * with error set. */
int batch_page_write(const char *folder, struct error *error);

#endif
