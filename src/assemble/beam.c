#include "assemble/beam.h"

void beam_free(struct beam *beam)
{
	for (size_t i = 0; i < beam->count; i++)
		partial_free(&beam->items[i]);
	beam->count = 0;
}

/* Whether a partial file is at least as good as one that reached that far. */
static bool is_as_good(const struct partial *partial, uint64_t reached, bool fits)
{
	return partial->fits != fits ? partial->fits : partial->reached >= reached;
}

/* One that came with the same gap, or entered the same piece at another place. */
static bool is_of_same_piece(const struct beam *beam, size_t n, int64_t gap, uint64_t end)
{
	uint64_t other = beam->ends[n];

	return beam->gaps[n] == gap || (end > other ? end - other : other - end) <= 1;
}

static void move(struct beam *beam, size_t to, size_t from)
{
	beam->items[to] = beam->items[from];
	beam->gaps[to] = beam->gaps[from];
	beam->ends[to] = beam->ends[from];
}

struct partial *beam_room(struct beam *beam, int64_t gap, uint64_t end, uint64_t reached, bool fits)
{
	size_t i = 0, last;

	for (size_t n = 0; n < beam->count;) {
		if (!is_of_same_piece(beam, n, gap, end)) {
			n++;
			continue;
		}
		if (is_as_good(&beam->items[n], reached, fits))
			return NULL;
		partial_free(&beam->items[n]);
		beam->count--;
		for (size_t k = n; k < beam->count; k++)
			move(beam, k, k + 1);
	}
	while (i < beam->count && is_as_good(&beam->items[i], reached, fits))
		i++;
	if (i == BEAM)
		return NULL;
	if (beam->count == BEAM)
		partial_free(&beam->items[--beam->count]);
	for (last = beam->count++; last > i; last--)
		move(beam, last, last - 1);
	beam->gaps[i] = gap;
	beam->ends[i] = end;
	return &beam->items[i];
}

bool beam_has_piece(const struct beam *beam, int64_t gap, uint64_t end)
{
	for (size_t n = 0; n < beam->count; n++)
		if (is_of_same_piece(beam, n, gap, end))
			return true;
	return false;
}
