/*
 * Two models of the first order, of how often each byte follows each: one of what is the file's own
 * without doubt, one of what is around it. Bytes that the first describes in fewer bits are likely the
 * file's. All is counted in integers, so that every machine decides alike.
 */
#include "assemble/affinity.h"

#include <stdlib.h>

#include "base/memory.h"

#define LEARN_MAX ((uint64_t)64 << 10)      /* bytes of a place that are learnt from */
#define LEARN_OWN_MAX ((uint64_t)512 << 10) /* of the beginning of the file */
#define FRACTION 16                         /* of a bit */
#define ESCAPE 4 /* weight of what single bytes say, where pairs are rare */

struct model {
	uint32_t pairs[256][256], before[256], single[256], total;
};

struct affinity {
	struct model own, others;
	uint8_t bytes[65536];
};

/* ---- models -------------------------------------------------------------------------------- */

static void learn(struct model *model, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		model->single[bytes[i]]++;
		if (i) {
			model->pairs[bytes[i - 1]][bytes[i]]++;
			model->before[bytes[i - 1]]++;
		}
	}
	model->total += (uint32_t)len;
}

/* The logarithm to base 2, in FRACTIONs, of a positive number. */
static int64_t log_of(uint64_t number)
{
	int whole = 63 - __builtin_clzll(number);
	uint64_t rest = whole > 32 ? number >> (whole - 32) : number << (32 - whole);
	int64_t log = whole;

	for (unsigned place = 1; place < FRACTION; place *= 2) {
		rest = (rest * (rest >> 16)) >> 16;
		log *= 2;
		if (rest >> 33) {
			rest >>= 1;
			log++;
		}
	}
	return log;
}

/* Bits, in FRACTIONs, of a byte after another one. */
static int64_t cost(const struct model *model, uint8_t before, uint8_t byte)
{
	uint64_t total = (uint64_t)model->total + 256;
	uint64_t part =
		model->pairs[before][byte] * total + ESCAPE * ((uint64_t)model->single[byte] + 1);

	return log_of((model->before[before] + ESCAPE) * total) - log_of(part);
}

/* ---- a file -------------------------------------------------------------------------------- */

/* Reads bytes of the evidence, sizeof(bytes) at most, and returns how many there are. */
static size_t fetch(
	struct affinity *affinity, struct workbench *bench, uint64_t offset, uint64_t length)
{
	uint64_t left = offset < bench->clusters->end ? bench->clusters->end - offset : 0;
	size_t len = length < sizeof(affinity->bytes) ? (size_t)length : sizeof(affinity->bytes);

	if (len > left)
		len = (size_t)left;
	if (len)
		image_read_around(bench->evidence, offset, affinity->bytes, len);
	bench->stopped |= image_was_cut(bench->evidence);
	return len;
}

static void learn_at(struct affinity *affinity, struct workbench *bench, uint64_t offset,
	uint64_t length, struct model *model)
{
	size_t len = fetch(affinity, bench, offset, length < LEARN_MAX ? length : LEARN_MAX);

	learn(model, affinity->bytes, len);
}

static uint64_t target(
	const struct workbench *bench, const struct partial *partial, uint64_t at, int64_t gap)
{
	const struct step step = { at, gap };

	return step_target(bench->clusters, partial, &step);
}

struct affinity *affinity_new(struct workbench *bench, const struct partial *partial,
	uint64_t least, uint64_t most, int64_t gap, uint64_t end)
{
	struct affinity *affinity = xcalloc(1, sizeof(*affinity));
	uint64_t size = bench->clusters->size, start = partial->extents.runs[0].offset;
	uint64_t before = start < LEARN_MAX ? start : LEARN_MAX;
	uint64_t from = target(bench, partial, most, 0), tail = end > most ? end - most : 0;
	uint64_t own = least > LEARN_OWN_MAX ? least - LEARN_OWN_MAX : 0;

	for (uint64_t at = own; at < least; at += LEARN_MAX)
		learn_at(
			affinity, bench, target(bench, partial, at, 0), least - at, &affinity->own);
	learn_at(affinity, bench, start - before, before, &affinity->others);
	if (!gap)
		return affinity;
	learn_at(affinity, bench, target(bench, partial, most, gap), tail, &affinity->own);
	if (target(bench, partial, least, gap) > from)
		learn_at(affinity, bench, from, target(bench, partial, least, gap) - from,
			&affinity->others);
	tail = (tail + size - 1) / size * size;
	learn_at(affinity, bench, target(bench, partial, most, gap) + tail, LEARN_MAX,
		&affinity->others);
	return affinity;
}

int64_t affinity_bits(
	struct affinity *affinity, struct workbench *bench, uint64_t offset, uint64_t length)
{
	size_t len = fetch(affinity, bench, offset, length);
	const uint8_t *bytes = affinity->bytes;
	int64_t sum = 0;

	for (size_t i = 1; i < len; i++)
		sum += cost(&affinity->others, bytes[i - 1], bytes[i]) -
		       cost(&affinity->own, bytes[i - 1], bytes[i]);
	return sum / FRACTION;
}

uint64_t affinity_choose(struct affinity *affinity, struct workbench *bench,
	const struct partial *partial, const uint64_t *breaks, size_t count, int64_t gap)
{
	uint64_t size = bench->clusters->size, best = breaks[0];
	int64_t sum = 0, best_sum = 0;
	size_t next = 1;

	for (uint64_t at = breaks[0]; next < count; at += size) {
		sum += affinity_bits(affinity, bench, target(bench, partial, at, 0), size) -
		       affinity_bits(affinity, bench, target(bench, partial, at, gap), size);
		if (breaks[next] != at + size)
			continue;
		next++;
		if (sum > best_sum) {
			best_sum = sum;
			best = at + size;
		}
	}
	return best;
}

void affinity_free(struct affinity *affinity)
{
	free(affinity);
}
