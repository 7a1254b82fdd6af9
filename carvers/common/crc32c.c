#include "crc32c.h"

#include <isa-l/crc.h>

uint32_t crc32c(uint32_t crc, const uint8_t *bytes, size_t len)
{
	/* ISA-L inverts nothing, and only reads. */
	return ~crc32_iscsi((uint8_t *)(uintptr_t)bytes, (int)len, ~crc);
}
