/* What the files of the carver of registry hives and their logs share. */
#ifndef BURIN_CARVERS_SYSTEM_REGF_H
#define BURIN_CARVERS_SYSTEM_REGF_H

#include <stdbool.h>
#include <stdint.h>

#include "carver.h"

#define REGF_PAGE_LEN 4096
#define REGF_LOG_HEADER_LEN 512
#define REGF_HEADER_LEN 4096
#define REGF_BIN_HEADER_LEN 32

/* Where the contents of a log end: after its header if it has none. bins_len: of its hive. *is_hashed: it has entries whose hashes
 * are right; *broken: an entry with wrong ones starts there. */
uint64_t regf_log_end(struct view *view, uint64_t bins_len, bool *is_hashed, bool *broken);

/* What a cell says of the place of another one. */
struct regf_reference {
	uint64_t from;     /* the field in the file that has it */
	uint64_t to;       /* where the cell would be in the file */
	uint32_t len;      /* bytes that it must have */
	const char *kinds; /* the letters that it may begin with, two each; NULL: any */
	bool is_right;     /* there is such a cell, in use */
};

/* Whether such a cell in use has these 6 bytes first. */
bool regf_is_cell(const uint8_t *bytes, uint32_t len, const char *kinds);
/* Gives the cells of a hive whose bins, up to end, were found valid: their places in the file, and lengths, which are negative if
 * they are in use. False: not all could be read, or cell returned false. */
bool regf_each_cell(struct view *view, uint64_t end,
	bool (*cell)(void *context, uint64_t at, int64_t len), void *context);
/* The same of what cells refer to, but of places from end up to bins_end, of which nothing is known. */
bool regf_each_reference(struct view *view, uint64_t end, uint64_t bins_end,
	void (*give)(void *context, const struct regf_reference *reference), void *context);

/* Which pages of a hive belong together. */
extern const struct carve_pages regf_pages;

/* Whether the cells of a hive up to end, which were found valid, refer to each other; bins_end: of all of its bins. False:
 * too many do not, from *broken on. */
bool regf_cells_fit(struct view *view, uint64_t end, uint64_t bins_end, uint64_t *broken);

#endif
