/* Titles of files, from text in the encodings that formats use. */
#ifndef BURIN_CARVERS_COMMON_TITLE_H
#define BURIN_CARVERS_COMMON_TITLE_H

#include <stdbool.h>

#include "carver.h"

/* Sets the title, without blanks and NULs at either end, and cut to its room. An empty one changes
 * nothing. */
void finding_set_title(struct finding *finding, const uint8_t *bytes, size_t len);

/* Sets the title, as UTF-8, from UTF-16 (len bytes, up to a zero). */
void finding_set_title_utf16(
	struct finding *finding, const uint8_t *bytes, size_t len, bool big_endian);

/* Sets the title, as UTF-8, from ISO 8859-1 (up to a zero). Text that is valid UTF-8 is kept. */
void finding_set_title_latin1(struct finding *finding, const uint8_t *bytes, size_t len);

#endif
