/* Titles in other encodings than UTF-8. */
#ifndef BURIN_CARVERS_COMMON_TITLE_H
#define BURIN_CARVERS_COMMON_TITLE_H

#include <stdbool.h>

#include "carver.h"

/* Sets the title from UTF-16 (len bytes, up to a zero), as UTF-8. */
void finding_set_title_utf16(
	struct finding *finding, const uint8_t *bytes, size_t len, bool big_endian);

/* Sets the title from ISO 8859-1 (up to a zero), as UTF-8. What is valid UTF-8 already is kept. */
void finding_set_title_latin1(struct finding *finding, const uint8_t *bytes, size_t len);

/* Seconds since 1970 of a FILETIME (100 ns since 1601), 0 when it is none of 1970 to 9999. */
int64_t filetime_seconds(uint64_t filetime);

/* Seconds since 1970 of those since 1904, as Apple counts them; 0 when they are none of 1970 to
 * 9999. */
int64_t mac_seconds(uint64_t seconds);

/* Whether the bytes are valid UTF-8. */
bool utf8_holds(const uint8_t *bytes, size_t len);

#endif
