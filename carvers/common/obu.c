#include "obu.h"

#include "bytes.h"

#define SIZE_MAX_LEN 8 /* bytes */

size_t obu_head(const uint8_t *p, size_t len, uint64_t *size)
{
	unsigned type = len ? p[0] >> 3 & 15 : 0;
	size_t head = len && p[0] & 4 ? 2 : 1, size_len;

	if (!len || p[0] & 0x81 || type == 0 || (type > 8 && type < 15))
		return 0;
	len -= head < len ? head : len;
	*size = len;
	if (!(p[0] & 2)) /* no size: to the end of the data */
		return head;
	size_len = leb128(p + head, len < SIZE_MAX_LEN ? len : SIZE_MAX_LEN, size);
	return size_len ? head + size_len : 0;
}
