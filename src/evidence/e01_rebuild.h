/* A table of chunks from the chunks themselves, for one that was lost. */
#ifndef BURIN_EVIDENCE_E01_REBUILD_H
#define BURIN_EVIDENCE_E01_REBUILD_H

#include <stdint.h>

/* The most entries that one table gets. */
#define E01_REBUILD_MAX 65534

/* Follows the chunks in [from, end) of the file as long as each is whole and its checksum holds.
 * entries: as in a table, offsets counted from `from`, which the caller frees; *reached: where the
 * last one ends. Returns how many they are; 0: none, and nothing is to be freed. */
uint32_t e01_rebuild(int fd, uint64_t from, uint64_t end, uint32_t chunk_len, uint32_t **entries,
	uint64_t *reached);

#endif
