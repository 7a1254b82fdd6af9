/* Sizes as people write them, in options and rule files. */
#ifndef BURIN_BASE_SIZE_H
#define BURIN_BASE_SIZE_H

#include <stddef.h>
#include <stdint.h>

/* Parses "4096", "0x1000", "50M", "2GiB" (K, M, G, T with or without B or iB, powers of 1024,
 * either case). Returns 0; -EINVAL for anything else (a sign, a fraction, trailing text, nothing);
 * -ERANGE above 2^64 - 1. */
int size_parse(const char *text, uint64_t *bytes);

/* Writes "12.3 GiB", "512 bytes": at most 16 bytes with the zero. Returns buffer. */
char *size_print(uint64_t bytes, char buffer[16]);

#endif
