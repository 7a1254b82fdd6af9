#include "obu.h"

size_t obu_head(const uint8_t *p, size_t len, uint64_t *size)
{
	unsigned type = len ? p[0] >> 3 & 15 : 0;
	size_t head = len && p[0] & 4 ? 2 : 1;

	if (!len || p[0] & 0x81 || type == 0 || (type > 8 && type < 15))
		return 0;
	*size = len - (head < len ? head : len);
	if (!(p[0] & 2)) /* no size: to the end of the data */
		return head;
	*size = 0;
	for (unsigned shift = 0; shift < 56 && head < len; shift += 7) {
		*size |= (uint64_t)(p[head] & 0x7f) << shift;
		if (!(p[head++] & 0x80))
			return head;
	}
	return 0;
}
