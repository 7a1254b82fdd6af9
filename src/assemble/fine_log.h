/* Logarithms without floating point, so that every machine decides alike. */
#ifndef BURIN_ASSEMBLE_FINE_LOG_H
#define BURIN_ASSEMBLE_FINE_LOG_H

#include <stdint.h>

#define FINE_LOG_BIT 16 /* what a bit counts */

/* Before any other call: makes tables, once. Thread-safe. */
void fine_log_get_ready(void);
/* To base 2, in FINE_LOG_BITs, of a positive number. Thread-safe. */
int64_t fine_log(uint64_t number);

#endif
