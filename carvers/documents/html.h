/* HTML, which may also begin as if it were XML. */
#ifndef BURIN_CARVERS_DOCUMENTS_HTML_H
#define BURIN_CARVERS_DOCUMENTS_HTML_H

#include "carver.h"

/* As the check of html_carver, but that it saves no states: for other carvers' files. */
enum verdict html_check(struct view *view, struct finding *finding);

#endif
