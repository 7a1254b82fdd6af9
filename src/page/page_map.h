/* The content map for the page. */
#ifndef BURIN_PAGE_PAGE_MAP_H
#define BURIN_PAGE_PAGE_MAP_H

#include "base/strbuf.h"

/* Appends script text that passes the output folder's map.bin to the page, in at most 256 Ki
 * blocks. Nothing when there is none, or not one for an image of that size. */
void page_map_add(struct strbuf *line, int dir_fd, uint64_t image_size);

#endif
