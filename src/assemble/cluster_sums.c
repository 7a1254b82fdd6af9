#include "assemble/cluster_sums.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

#define STEP ((size_t)1 << 20) /* bytes, at least a cluster */

/* Of one order of bits. */
struct order_sums {
	struct ranges ranges; /* whole clusters */
	uint32_t *sums;       /* of all ranges, one after another; one more than clusters each */
};

struct cluster_sums {
	uint64_t size, origin;
	struct crc_root root;
	struct order_sums orders[CRC_ORDERS];
};

struct cluster_sums *cluster_sums_new(uint64_t size, uint64_t origin)
{
	struct cluster_sums *sums = xcalloc(1, sizeof(*sums));

	sums->size = size;
	sums->origin = origin;
	crc_root_init(&sums->root, size);
	return sums;
}

void cluster_sums_add(
	struct cluster_sums *sums, enum crc_order order, uint64_t offset, uint64_t length)
{
	uint64_t before = (sums->size + sums->origin - offset % sums->size) % sums->size;

	if (before < length)
		ranges_add(&sums->orders[order].ranges, offset + before,
			(length - before) / sums->size * sums->size);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Clusters that a thread reads at once. */
struct part {
	uint64_t offset;
	size_t count;
	size_t first;    /* their number in the range */
	uint32_t *terms; /* what they add to the sums */
};

/* What the threads share. */
struct reading {
	struct image *image;
	const struct ranges *taken;
	bool (*interrupted)(void);
	enum crc_order order;
	size_t size;
	const struct crc_root *root;
	struct part *parts;
	size_t part_count, part_capacity;
	_Atomic size_t next;
	_Atomic bool stopped;
};

uint32_t cluster_sums_of_taken(uint64_t offset)
{
	return (uint32_t)(offset * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static bool is_taken(const struct reading *reading, const struct part *part, size_t number)
{
	return ranges_overlap(
		       reading->taken, part->offset + number * reading->size, reading->size) != 0;
}

/* Those of a part that are not taken. */
static void read_free(const struct reading *reading, const struct part *part, uint8_t *bytes)
{
	size_t size = reading->size, from, to = 0;

	for (from = 0; from < part->count; from = to) {
		bool taken = is_taken(reading, part, from);

		for (to = from + 1; to < part->count && is_taken(reading, part, to) == taken;)
			to++;
		if (!taken)
			image_read_around(reading->image, part->offset + from * size,
				bytes + from * size, (to - from) * size);
	}
}

static void add_terms(const struct reading *reading, const struct part *part, uint8_t *bytes)
{
	bool of_words = reading->order == SUM_OF_WORDS;
	uint32_t power = crc_root_of(
		reading->root, crc_zeros_undone((part->first + 1) * (uint64_t)reading->size));

	for (size_t i = 0; i < part->count; i++) {
		uint32_t of_cluster =
			is_taken(reading, part, i)
				? cluster_sums_of_taken(part->offset + i * reading->size)
				: crc_of(reading->order, bytes + i * reading->size, reading->size);

		part->terms[i] =
			of_words ? of_cluster
				 : crc_multiply(crc_root_of(reading->root, of_cluster), power);
		power = crc_over_x(power);
	}
}

static void read_parts(void *context, unsigned number, unsigned worker)
{
	struct reading *reading = context;
	size_t size = reading->size, index;
	uint8_t *bytes = xmalloc(size > STEP ? size : STEP);

	(void)number;
	(void)worker;
	while ((index = reading->next++) < reading->part_count && !reading->stopped) {
		const struct part *part = &reading->parts[index];

		read_free(reading, part, bytes);
		if (image_was_cut(reading->image) ||
			(reading->interrupted && reading->interrupted()))
			reading->stopped = true;
		add_terms(reading, part, bytes);
	}
	free(bytes);
}

/* Cuts the ranges to `most` bytes. */
static void cut(struct ranges *ranges, uint64_t size, uint64_t most)
{
	for (size_t i = 0; i < ranges->count; i++) {
		struct range *range = &ranges->items[i];

		if (range->length > most)
			range->length = most / size * size;
		most -= range->length;
		if (!range->length)
			ranges->count = i;
	}
}

static void add_parts(struct reading *reading, const struct range *range, uint32_t *terms)
{
	size_t most = reading->size > STEP ? 1 : STEP / reading->size;
	size_t count = (size_t)(range->length / reading->size);

	for (size_t at = 0; at < count; at += most) {
		reading->parts = xgrow(reading->parts, &reading->part_capacity, reading->part_count,
			sizeof(*reading->parts));
		reading->parts[reading->part_count++] = (struct part){
			.offset = range->offset + at * reading->size,
			.count = count - at < most ? count - at : most,
			.first = at,
			.terms = terms + at,
		};
	}
}

/* Each range's terms become sums; the first of them is 0. */
static void add_up(struct order_sums *of_order, enum crc_order order, size_t size)
{
	uint32_t *sums = of_order->sums;

	for (size_t i = 0; i < of_order->ranges.count; i++) {
		size_t count = (size_t)(of_order->ranges.items[i].length / size);

		sums[0] = 0;
		for (size_t k = 0; k < count; k++)
			sums[k + 1] = order_plus(order, sums[k + 1], sums[k]);
		sums += count + 1;
	}
}

static bool read_order(
	struct order_sums *of_order, struct reading *reading, uint64_t most, struct pool *pool)
{
	const struct ranges *ranges = &of_order->ranges;
	uint32_t *next;

	cut(&of_order->ranges, reading->size, most);
	next = xmalloc((ranges_bytes(ranges) / reading->size + ranges->count) * sizeof(*next) + 1);
	of_order->sums = next;
	for (size_t i = 0; i < ranges->count; i++) {
		add_parts(reading, &ranges->items[i], next + 1);
		next += ranges->items[i].length / reading->size + 1;
	}
	pool_share(pool, POOL_CHECK, pool_threads(pool), read_parts, reading);
	free(reading->parts);
	add_up(of_order, reading->order, reading->size);
	return !reading->stopped;
}

bool cluster_sums_find(struct cluster_sums *sums, struct image *image, const struct ranges *taken,
	uint64_t most, struct pool *pool, bool (*interrupted)(void))
{
	for (unsigned order = 0; order < CRC_ORDERS; order++) {
		struct reading reading = { .image = image,
			.taken = taken,
			.interrupted = interrupted,
			.order = order,
			.size = (size_t)sums->size,
			.root = &sums->root };

		if (sums->orders[order].ranges.count &&
			!read_order(&sums->orders[order], &reading, most, pool))
			return false;
	}
	return true;
}

/* ---- what was read ------------------------------------------------------------------------- */

const struct ranges *cluster_sums_ranges(const struct cluster_sums *sums, enum crc_order order)
{
	return &sums->orders[order].ranges;
}

const struct crc_root *cluster_sums_root(const struct cluster_sums *sums)
{
	return &sums->root;
}

const uint32_t *cluster_sums_of(
	const struct cluster_sums *sums, enum crc_order order, size_t number)
{
	const struct order_sums *of_order = &sums->orders[order];
	const uint32_t *first = of_order->sums;

	for (size_t i = 0; i < number; i++)
		first += of_order->ranges.items[i].length / sums->size + 1;
	return first;
}

void cluster_sums_free(struct cluster_sums *sums)
{
	for (unsigned order = 0; sums && order < CRC_ORDERS; order++) {
		ranges_free(&sums->orders[order].ranges);
		free(sums->orders[order].sums);
	}
	free(sums);
}
