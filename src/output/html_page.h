/* The page's own text (output/page/), with what belongs to a run put in. */
#ifndef BURIN_OUTPUT_HTML_PAGE_H
#define BURIN_OUTPUT_HTML_PAGE_H

#include <stdio.h>

#include "output/html_data.h"

/* Writes the page. begin: the script text of the call that hands over run and summary. Errors show
 * in the stream. */
void html_page_write(FILE *file, const struct html_data *data, const struct line *begin);

#endif
