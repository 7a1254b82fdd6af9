/* Text from hostile bytes, for reports. */
#ifndef BURIN_OUTPUT_TEXT_H
#define BURIN_OUTPUT_TEXT_H

#include <stddef.h>

/* Copies text into buffer (len bytes with the zero) as valid UTF-8: what is no UTF-8, and control characters,
 * bidirectional overrides included, become U+FFFD. Never splits a character. Returns buffer. */
char *text_clean(const char *text, char *buffer, size_t len);

#endif
