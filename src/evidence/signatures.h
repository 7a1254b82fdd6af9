/* Recognises what libtsk does not read, by a volume's first bytes: encrypted volumes, and other
 * file systems. */
#ifndef BURIN_EVIDENCE_SIGNATURES_H
#define BURIN_EVIDENCE_SIGNATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes from the volume's start are examined, fewer where it is shorter. */
#define SIGNATURES_LEN 69632

/* What the volume is according to its first len bytes, such as "LUKS" or "XFS"; NULL if unknown.
 * *encrypted: whether its content is. */
const char *signatures_find(const uint8_t *bytes, size_t len, bool *encrypted);

/* True when the bytes are distributed as evenly as only encryption and compression make them. */
bool signatures_look_random(const uint8_t *bytes, size_t len);

#endif
