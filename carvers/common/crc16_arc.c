#include "crc16_arc.h"

uint16_t crc16_arc(uint16_t crc, const uint8_t *bytes, size_t len)
{
	/* Four bits at a time. */
	static const uint16_t table[16] = { 0x0000, 0xcc01, 0xd801, 0x1400, 0xf001, 0x3c00, 0x2800,
		0xe401, 0xa001, 0x6c00, 0x7800, 0xb401, 0x5000, 0x9c01, 0x8801, 0x4400 };

	for (size_t i = 0; i < len; i++) {
		crc = (uint16_t)(crc >> 4 ^ table[(crc ^ bytes[i]) & 15]);
		crc = (uint16_t)(crc >> 4 ^ table[(crc ^ bytes[i] >> 4) & 15]);
	}
	return crc;
}
