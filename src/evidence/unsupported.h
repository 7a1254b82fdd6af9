/* Container formats that burin recognises but does not read. */
#ifndef BURIN_EVIDENCE_UNSUPPORTED_H
#define BURIN_EVIDENCE_UNSUPPORTED_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Examines the first head_len bytes of a file. Returns 0, or -EMEDIUMTYPE with an error that names
 * the format and says what to do. */
int unsupported_container(
	const char *path, const uint8_t *head, size_t head_len, struct error *error);

#endif
