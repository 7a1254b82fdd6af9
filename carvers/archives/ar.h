/* Members of an ar archive, for archives of object files (ar.c) and Debian packages (deb.c). */
#ifndef BURIN_CARVERS_ARCHIVES_AR_H
#define BURIN_CARVERS_ARCHIVES_AR_H

#include <stdbool.h>

#include "carver.h"

#define AR_START_LEN 8

struct ar_member {
	uint64_t at, data, end; /* end: without the byte that fills up to an even one */
	uint8_t name[16];       /* filled up with blanks */
	uint64_t name_len;      /* bytes of a long name that BSD puts in front of the contents */
	int64_t time;
};

/* Whether an archive starts at 0. */
bool ar_starts(struct view *view);

/* Reads the header at `at`: false when there is none, or it can't be seen. Data may reach behind
 * the view. */
bool ar_read(struct view *view, uint64_t at, struct ar_member *member);

/* Where the next header stands, behind a byte of filling. */
uint64_t ar_next(const struct ar_member *member);

/* Where the file ends if this is its last member. */
uint64_t ar_last_end(struct view *view, const struct ar_member *member);

#endif
