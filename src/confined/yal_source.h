/* The image around a volume, as libyal's libraries read it: only in the process that works (served.h). */
#ifndef BURIN_EVIDENCE_YAL_SOURCE_H
#define BURIN_EVIDENCE_YAL_SOURCE_H

#include <libbfio.h>

#include "confined/served_work.h"

/* Open for reading; NULL when there is no memory. The process never frees it. */
libbfio_handle_t *yal_source_open(struct served *served);
/* Bytes in memory as a file. */
libbfio_handle_t *yal_source_of(const uint8_t *bytes, size_t len);
/* Refuses with the innermost sentence of the library's error, which it frees; NULL: none is known. */
void yal_source_refuse(struct served *served, libbfio_error_t **error);

#endif
