/* What each block of the evidence holds, for the page's map. */
#ifndef BURIN_PAGE_PAGE_MAP_H
#define BURIN_PAGE_PAGE_MAP_H

#include "base/strbuf.h"

/* Appends script text that hands over the output folder's map.bin, in at most 256 Ki blocks.
 * Nothing when there is none, or what is there is not one of an image of that size. */
void page_map_add(struct strbuf *line, int dir_fd, uint64_t image_size);

#endif
