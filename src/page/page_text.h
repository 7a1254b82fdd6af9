/* The page's own text (page/assets/), with a run's data inserted. */
#ifndef BURIN_PAGE_PAGE_TEXT_H
#define BURIN_PAGE_PAGE_TEXT_H

#include <stdio.h>

#include "page/page_data.h"

/* Writes the page. begin: the script text of the call that passes run and summary. Errors are
 * recorded in the stream. */
void page_text_write(FILE *file, const struct page_data *data, const struct strbuf *begin);

#endif
