/* Formats that burin recognises, but does not read, or not as what they are. */
#ifndef BURIN_EVIDENCE_UNSUPPORTED_H
#define BURIN_EVIDENCE_UNSUPPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Examines the first head_len bytes of a file. Returns 0, or -EMEDIUMTYPE with an error that names
 * the format and says what to do. */
int unsupported_container(
	const char *path, const uint8_t *head, size_t head_len, struct error *error);
/* What to say of a file that is carved as it is, though much of what it holds is not there as it was:
 * a memory dump, for example. NULL: nothing. */
char *unsupported_caution(const char *path, const uint8_t *head, size_t head_len);

/* Whether the first len bytes of the name are called as images are: "disk.raw". */
bool unsupported_is_image_name(const char *name, size_t len);

#endif
