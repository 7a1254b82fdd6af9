/* What a volume holds that libtsk does not read: encrypted, or of another kind. By its first
 * bytes. */
#ifndef BURIN_EVIDENCE_SIGNATURES_H
#define BURIN_EVIDENCE_SIGNATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many bytes from the volume's start are looked at, fewer where it is shorter. */
#define SIGNATURES_LEN 69632

/* "LUKS", "XFS": what the len bytes at the volume's start say that it is; NULL for nothing known.
 * *encrypted: whether its content is. */
const char *signatures_find(const uint8_t *bytes, size_t len, bool *encrypted);

/* True when the bytes are spread as evenly as only encryption and compression do it. */
bool signatures_look_random(const uint8_t *bytes, size_t len);

#endif
