/* Members of an ar archive, for archives of object files (ar.c) and Debian packages (deb.c). */
#ifndef BURIN_CARVERS_ARCHIVES_AR_H
#define BURIN_CARVERS_ARCHIVES_AR_H

#include <stdbool.h>

#include "carver.h"

#define AR_START_LEN 8

struct ar_member {
	uint64_t at, data, end; /* end: without the byte of padding */
	uint8_t name[16];       /* padded with blanks */
	uint64_t name_len;      /* bytes of a long name, which BSD puts before the contents */
	int64_t time;
};

/* Whether an archive starts at 0. */
bool ar_starts(struct view *view);

/* Reads the header at `at`: false when there is none, or it is not readable. Data may extend past
 * the view. */
bool ar_read(struct view *view, uint64_t at, struct ar_member *member);

/* The next header's offset, after a byte of padding. */
uint64_t ar_next(const struct ar_member *member);

/* Where the file ends if this is its last member. */
uint64_t ar_last_end(struct view *view, const struct ar_member *member);

#endif
