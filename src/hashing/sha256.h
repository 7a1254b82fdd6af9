/*
 * SHA-256 (FIPS 180-4) by the processor's own instructions, of two messages side by side: each instruction waits for
 * the one before it, so that two take little longer than one. libcrypto has no call for that.
 */
#ifndef BURIN_HASHING_SHA256_H
#define BURIN_HASHING_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN 32

struct sha256 {
	uint32_t state[8];
	uint64_t len;     /* of the message so far */
	uint8_t rest[64]; /* the last len % 64 bytes */
};

/* Whether this processor has the instructions; nothing else may be called without. */
bool sha256_can(void);

void sha256_begin(struct sha256 *sha256);
void sha256_add(struct sha256 *sha256, const void *bytes, size_t len);
/* As sha256_add for each of the two, len bytes each. */
void sha256_add_two(struct sha256 *const two[2], const uint8_t *const bytes[2], size_t len);
void sha256_end(struct sha256 *sha256, uint8_t digest[SHA256_LEN]);

#endif
