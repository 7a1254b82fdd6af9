/* Unpacks files of RAR 5 archives, to compare their CRCs. */
#ifndef BURIN_CARVERS_COMMON_RAR5_UNPACK_H
#define BURIN_CARVERS_COMMON_RAR5_UNPACK_H

#include <stdbool.h>

#include "carver.h"

/* What yields more is not unpacked. */
#define RAR5_PLAIN_MAX ((uint64_t)16 << 20)

enum rar5_state {
	RAR5_DONE,    /* it yields as many bytes, with that CRC, and ends where it should */
	RAR5_BROKEN,  /* it does not, from *noticed on */
	RAR5_CUT,     /* the view ends before, at *noticed */
	RAR5_REFUSED, /* it yields too much, or the check's work or memory is spent; or filters changed it, and the CRC differs */
};

/* Unpacks [at, end), the data of a file that is packed by itself, which yields plain_len bytes. *noticed: up to where it can
 * be right. */
enum rar5_state rar5_unpack(struct view *view, uint64_t at, uint64_t end, uint64_t plain_len,
	uint32_t crc, uint64_t *noticed);

#endif
