/* Half a byte at a time: a table of 32 bytes, and as fast as the rest of a frame's check. */
#include "crc16.h"

#include "walk.h"

bool crc16_holds(struct view *view, uint64_t at, uint64_t end)
{
	static const uint16_t table[16] = { 0x0000, 0x8005, 0x800f, 0x000a, 0x801b, 0x001e, 0x0014,
		0x8011, 0x8033, 0x0036, 0x003c, 0x8039, 0x0028, 0x802d, 0x8027, 0x0022 };
	const uint8_t *p;
	uint16_t crc = 0;
	size_t len;

	for (; at < end; at += len) {
		p = walk_window(view, at, end, &len);
		if (!p)
			return false;
		for (size_t i = 0; i < len; i++) {
			crc = (uint16_t)(crc << 4 ^ table[crc >> 12 ^ p[i] >> 4]);
			crc = (uint16_t)(crc << 4 ^ table[crc >> 12 ^ (p[i] & 15)]);
		}
	}
	return crc == 0;
}
