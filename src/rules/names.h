/* Names that people mistype. */
#ifndef BURIN_RULES_NAMES_H
#define BURIN_RULES_NAMES_H

#include <stddef.h>

/* What to say behind "unknown ... 'wanted'": "did you mean 'max_size'? Known are a, b, c", or
 * "known are a, b, c" where nothing is near (the list ends in "..." when it gets long). The caller
 * frees it. */
char *names_advice(const char *wanted, const char *const *known, size_t count);

#endif
