/* What the files of the carver of registry hives and their logs share. */
#ifndef BURIN_CARVERS_SYSTEM_REGF_H
#define BURIN_CARVERS_SYSTEM_REGF_H

#include <stdbool.h>

#include "carver.h"

#define REGF_LOG_HEADER_LEN 512
#define REGF_HEADER_LEN 4096
#define REGF_BIN_HEADER_LEN 32

/* Where the contents of a log end: after its header if it has none. bins_len: of its hive. *broken:
 * an entry with wrong hashes starts there. */
uint64_t regf_log_end(struct view *view, uint64_t bins_len, bool *broken);

/* Whether the cells of a hive whose bins, up to end, were found valid refer to each other. False: *broken is one
 * that does not fit. */
bool regf_cells_fit(struct view *view, uint64_t end, uint64_t *broken);

#endif
