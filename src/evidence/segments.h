/* What libewf does not say about a set of E01 segments: whether they are complete, and one set. */
#ifndef BURIN_EVIDENCE_SEGMENTS_H
#define BURIN_EVIDENCE_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* True when head, the first len bytes of a file, is that of an EWF segment (E01, S01). */
bool segments_probe(const uint8_t *head, size_t len);

/* Checks the segment files paths, in the order of their names. Errors (EXIT_IO): a file that can't
 * be read; the first is not segment 1; a number that is out of order; a last segment that says that
 * more follow, or one in front that says that none does; segments of different acquisitions.
 * *damaged: the index of a file whose list of sections breaks off, or count. That is no error: much
 * of it may be readable. */
int segments_check(char *const *paths, size_t count, size_t *damaged, struct error *error);

#endif
