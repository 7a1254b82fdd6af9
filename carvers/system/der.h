/* ASN.1 in DER (ITU-T X.690): elements and their lengths. */
#ifndef BURIN_CARVERS_SYSTEM_DER_H
#define BURIN_CARVERS_SYSTEM_DER_H

#include <stdbool.h>

#include "carver.h"

struct der {
	uint8_t tag;
	uint64_t data, end;
};

/* Reads the head of the element at `at`: false when there is none with a definite length in the
 * shortest form. Its end may lie anywhere. */
bool der_read(struct view *view, uint64_t at, struct der *element);

/* The same for the element at the start of len bytes in memory. */
bool der_read_bytes(const uint8_t *bytes, size_t len, struct der *element);

#endif
