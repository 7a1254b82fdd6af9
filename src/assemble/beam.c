#include "assemble/beam.h"

void beam_free(struct beam *beam)
{
	for (size_t i = 0; i < beam->count; i++)
		partial_free(&beam->items[i]);
	beam->count = 0;
}

struct partial *beam_room(struct beam *beam, int64_t gap, uint64_t reached)
{
	size_t i = 0, last;

	for (size_t n = 0; n < beam->count; n++)
		if (beam->gaps[n] == gap) {
			if (beam->items[n].reached >= reached)
				return NULL;
			partial_free(&beam->items[n]);
			beam->count--;
			for (size_t k = n; k < beam->count; k++) {
				beam->items[k] = beam->items[k + 1];
				beam->gaps[k] = beam->gaps[k + 1];
			}
			break;
		}
	while (i < beam->count && beam->items[i].reached >= reached)
		i++;
	if (i == BEAM)
		return NULL;
	if (beam->count == BEAM)
		partial_free(&beam->items[--beam->count]);
	for (last = beam->count++; last > i; last--) {
		beam->items[last] = beam->items[last - 1];
		beam->gaps[last] = beam->gaps[last - 1];
	}
	beam->gaps[i] = gap;
	beam->changes++;
	return &beam->items[i];
}
