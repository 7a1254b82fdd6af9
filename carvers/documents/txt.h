/* What a plain text is, by its first lines. */
#ifndef BURIN_CARVERS_DOCUMENTS_TXT_H
#define BURIN_CARVERS_DOCUMENTS_TXT_H

#include <stddef.h>

/* The extension for a text that starts with these bytes (of UTF-16, those of ASCII): "txt" if nothing shows it.
 * text[len] is 0. */
const char *text_kind(const char *text, size_t len);

#endif
