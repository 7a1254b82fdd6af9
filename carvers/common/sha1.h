/* SHA-1 (FIPS 180-4), for files that store one of their contents. */
#ifndef BURIN_CARVERS_COMMON_SHA1_H
#define BURIN_CARVERS_COMMON_SHA1_H

#include <stdbool.h>

#include "carver.h"

#define SHA1_LEN 20

/* The digest of the view's bytes [start, end). False when they are not all inside the view, or the
 * budget is spent. */
bool sha1_of_view(struct view *view, uint64_t start, uint64_t end, uint8_t digest[SHA1_LEN]);
void sha1_of_bytes(const uint8_t *bytes, size_t len, uint8_t digest[SHA1_LEN]);

#endif
