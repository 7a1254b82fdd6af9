/* Transaction logs of registry hives, for the carver of both. */
#ifndef BURIN_CARVERS_SYSTEM_REGF_H
#define BURIN_CARVERS_SYSTEM_REGF_H

#include <stdbool.h>

#include "carver.h"

#define REGF_LOG_HEADER_LEN 512

/* Where the contents of a log end: after its header if it has none. bins_len: of its hive. *broken:
 * an entry with wrong hashes starts there. */
uint64_t regf_log_end(struct view *view, uint64_t bins_len, bool *broken);

#endif
