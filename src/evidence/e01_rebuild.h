/* Rebuilds a lost table of chunks from the chunks themselves. */
#ifndef BURIN_EVIDENCE_E01_REBUILD_H
#define BURIN_EVIDENCE_E01_REBUILD_H

#include <stdint.h>

/* The largest number of entries of one table. */
#define E01_REBUILD_MAX 65534

/* Follows the chunks in [from, end) of the file while each is intact. entries: as in a table,
 * offsets counted from `from`, which the caller frees; *reached: where the last one ends. Returns
 * how many there are; 0: none, and nothing to free. */
uint32_t e01_rebuild(int fd, uint64_t from, uint64_t end, uint32_t chunk_len, uint32_t **entries,
	uint64_t *reached);

#endif
