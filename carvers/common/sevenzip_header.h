/* The two headers of 7z archives, for the sevenzip carver and for programs that carry an archive. */
#ifndef BURIN_CARVERS_COMMON_SEVENZIP_HEADER_H
#define BURIN_CARVERS_COMMON_SEVENZIP_HEADER_H

#include <stdbool.h>

#include "carver.h"

#define SEVENZIP_START_LEN 32 /* bytes of the start header */

struct sevenzip {
	uint64_t at, len, end; /* the header that ends the archive */
	uint32_t crc;          /* of it */
};

/* Reads the start header at `start`. Returns NULL, or what is wrong with it. */
const char *sevenzip_read(struct view *view, uint64_t start, struct sevenzip *head);

/* Whether the header at the end is readable and has the CRC that the start header gives. */
bool sevenzip_header_valid(struct view *view, const struct sevenzip *head);

#endif
