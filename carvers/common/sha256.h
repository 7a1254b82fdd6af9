/* SHA-256 (FIPS 180-4), for files that store one of their contents. */
#ifndef BURIN_CARVERS_COMMON_SHA256_H
#define BURIN_CARVERS_COMMON_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN 32

void sha256_of_bytes(const uint8_t *bytes, size_t len, uint8_t digest[SHA256_LEN]);

#endif
