/* Samples as they are stored, of which the 16 highest bits are taken. */
#ifndef BURIN_ASSEMBLE_SAMPLES_H
#define BURIN_ASSEMBLE_SAMPLES_H

#include <stdint.h>

#include "carvers/carver.h"

/* Where the bytes are in a sample that are taken, ... */
static inline unsigned samples_first(const struct carve_stored *stored)
{
	return stored->big_endian || stored->sample_len == 1 ? 0 : stored->sample_len - 2u;
}

/* ...and how many. */
static inline unsigned samples_used(const struct carve_stored *stored)
{
	return stored->sample_len == 1 ? 1 : 2;
}

/* A sample by these bytes. */
static inline int32_t samples_value(const struct carve_stored *stored, const uint8_t *p)
{
	if (stored->sample_len == 1)
		return stored->is_unsigned ? *p - 128 : (int8_t)*p;
	return (int16_t)((unsigned)p[!stored->big_endian] << 8 | p[stored->big_endian]);
}

#endif
