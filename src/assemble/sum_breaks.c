/*
 * A CRC over bytes as they are in the file shows by arithmetic where a piece ends among them and where the
 * next one is, without a trial for each place. The register after all of the bytes is a sum of what each
 * piece adds (cluster_sums.h), so a pair of a break and a displacement takes one comparison of numbers that
 * were made before, and two breaks with a piece in between take a look-up for each break, not a comparison
 * for each pair.
 *
 * All is brought to the first possible break. With A(k) for the register at break number k when all
 * before it is the known piece, X for what a cluster of zeros multiplies it with, G for the sums of the range
 * in which the next piece would have its cluster y at the first break, m for the last break, and W for
 * what the register has to be there, given the bytes after it, the CRC agrees exactly when
 *
 *	A(k) / X^k = T(k)    where    T(k) = W / X^m + X^y (G(y+k) + G(y+m))
 *
 * and with two breaks j < k, and a piece in between whose sums are H, with cluster z at the first break, when
 *
 *	A(j) / X^j / X^z + H(z+j) = T(k) / X^z + H(z+k)
 *
 * All registers are brought to where X is x (crc_root_of). A device finds the breaks for many clusters at once.
 *
 * Sums of words, as fonts have them, obey the same equations with other sums, differences and an X that is 1.
 */
#include "assemble/sum_breaks.h"

#include <stdlib.h>
#include <string.h>

#include "assemble/searcher.h"
#include "base/memory.h"
#include "carvers/bytes.h"

#define BREAKS_MAX 16384 /* possible ones in the bytes of one CRC */
#define ZEROS_WORK 1024  /* units to skip zeros */
#define BREAK_WORK 4     /* for a break of a piece */
#define END_WORK 256     /* to read the bytes after the last break */
/* Displacements that a device is asked at once, and pairs of them and breaks. */
#define BATCH_MAX ((size_t)1 << 20)
#define BATCH_PAIRS ((size_t)1 << 26)
#define PART_LEN ((size_t)1 << 20) /* bytes read at once */

/* ---- hits ---------------------------------------------------------------------------------- */

static uint64_t break_at(const struct sum_breaks *search, size_t number)
{
	return search->first + number * search->size;
}

static struct stretch piece(uint64_t at, uint64_t shift)
{
	return (struct stretch){ .shift = shift, .has_joint = true, .joint = at };
}

void sum_hit_add(struct mapping *mapping, const struct sum_hit *hit)
{
	for (size_t i = 0; i < hit->count; i++) {
		mapping->items = xgrow(mapping->items, &mapping->capacity, mapping->count,
			sizeof(*mapping->items));
		mapping->items[mapping->count++] = hit->pieces[i];
	}
}

bool sum_breaks_lay_out(
	struct sum_breaks *search, const struct sum_hit *hit, struct extents *extents)
{
	size_t known = search->mapping->count;
	bool good;

	sum_hit_add(search->mapping, hit);
	good = mapping_lay_out(search->bench, search->mapping, extents);
	search->mapping->count = known;
	return good;
}

/* Whether the file may have these pieces: they are free, and not in it already. */
static bool is_possible(struct sum_breaks *search, const struct sum_hit *hit)
{
	struct extents extents = { 0 };
	bool possible = sum_breaks_lay_out(search, hit, &extents);

	extents_cut(&extents, search->sum.to + 1);
	possible = possible && !extents_overlaps_itself(&extents) &&
		   clusters_all_free(search->bench->clusters, extents.runs, extents.count);
	extents_free(&extents);
	return possible;
}

/* A piece to the end may be found anywhere, and by what follows. */
static bool is_known_hit(const struct sum_breaks *search, const struct sum_hit *hit)
{
	const struct stretch *piece = &hit->pieces[0];

	for (size_t i = 0; i < search->hit_count; i++) {
		const struct stretch *known = &search->hits[i].pieces[0];

		if (hit->count == 1 && search->hits[i].count == 1 && known->joint == piece->joint &&
			known->shift == piece->shift)
			return true;
	}
	return false;
}

void sum_breaks_add(struct sum_breaks *search, const struct sum_hit *hit)
{
	if (search->too_many || is_known_hit(search, hit) || !is_possible(search, hit))
		return;
	search->too_many = search->hit_count == SUM_HITS_MAX;
	if (!search->too_many)
		search->hits[search->hit_count++] = *hit;
}

/* ---- registers ----------------------------------------------------------------------------- */

static uint32_t root_of(const struct sum_breaks *search, uint32_t value)
{
	return search->order == SUM_OF_WORDS
		       ? value
		       : crc_root_of(cluster_sums_root(search->bench->sums), value);
}

static uint32_t plus(const struct sum_breaks *search, uint32_t a, uint32_t b)
{
	return order_plus(search->order, a, b);
}

static uint32_t minus(const struct sum_breaks *search, uint32_t a, uint32_t b)
{
	return order_minus(search->order, a, b);
}

static uint32_t times(const struct sum_breaks *search, uint32_t a, uint32_t b)
{
	return order_times(search->order, a, b);
}

/* What multiplies a register as that many bytes do, or, when negative, as if they had not been there. */
static uint32_t zeros(struct sum_breaks *search, int64_t len)
{
	workbench_spend(search->bench, ZEROS_WORK);
	return root_of(
		search, len < 0 ? crc_zeros_undone((uint64_t)-len) : crc_zeros((uint64_t)len));
}

/* The register of fewer bytes of the image than a cluster's, from 0 on. False: they are not all in it. */
static bool read_register(struct sum_breaks *search, uint64_t offset, uint64_t len, uint32_t *value)
{
	uint8_t *bytes = xmalloc(len + 1);
	bool good = workbench_read(search->bench, offset, bytes, (size_t)len);

	if (good)
		*value = root_of(search, crc_of(search->order, bytes, (size_t)len));
	free(bytes);
	return good;
}

/* A register as all is computed. */
static uint32_t in_order(const struct sum_breaks *search, uint32_t value)
{
	return root_of(search, search->order == CRC_HIGHEST_FIRST ? crc_reverse(value) : value);
}

/* A piece in a range whose sums are known. */
struct place {
	const uint32_t *sums; /* of the range, from G(0) on */
	int64_t count;        /* of its clusters */
	int64_t cluster;      /* that is at the first break; may be outside the range */
	int64_t low, high;    /* breaks whose clusters are in it */
};

static const struct ranges *ranges_of(const struct sum_breaks *search)
{
	return cluster_sums_ranges(search->bench->sums, search->order);
}

/* Moves a piece along its range: this cluster is at the first break. */
static void set_cluster(const struct sum_breaks *search, struct place *place, int64_t cluster)
{
	int64_t left = place->count - cluster, last = (int64_t)search->last;

	place->cluster = cluster;
	place->low = cluster < 0 ? -cluster : 0;
	place->high = left < last ? left : last;
}

static struct place place_in(const struct sum_breaks *search, size_t range, int64_t cluster)
{
	struct place place = {
		.sums = cluster_sums_of(search->bench->sums, search->order, range),
		.count = (int64_t)(ranges_of(search)->items[range].length / search->size),
	};

	set_cluster(search, &place, cluster);
	return place;
}

/* The piece with that displacement, in the range where it has the break with this number. */
static bool find_place(
	const struct sum_breaks *search, uint64_t shift, size_t number, struct place *place)
{
	const struct ranges *ranges = ranges_of(search);
	uint64_t at = break_at(search, number) + shift;

	for (size_t i = 0; i < ranges->count; i++) {
		uint64_t inside = at - ranges->items[i].offset;

		if (at < ranges->items[i].offset || inside > ranges->items[i].length)
			continue;
		*place = place_in(search, i, (int64_t)(inside / search->size) - (int64_t)number);
		return true;
	}
	return false;
}

/* The range's sum at a break. */
static inline uint32_t sum_at(const struct place *place, int64_t number)
{
	return place->sums[place->cluster + number];
}

/* ---- the two sides ------------------------------------------------------------------------- */

/* A(k) / X^k for the breaks that the known piece can reach. */
static bool find_known(struct sum_breaks *search)
{
	uint64_t shift = search->mapping->items[search->mapping->count - 1].shift;
	uint64_t from = search->sum.from;
	uint32_t start, to_range;
	struct place place;

	if (!find_place(search, shift, 0, &place) ||
		!read_register(search, from + shift, search->first - from, &start))
		return false;
	start = plus(search, start,
		times(search, in_order(search, search->sum.before),
			zeros(search, (int64_t)(search->first - from))));
	to_range = zeros(search, place.cluster * (int64_t)search->size);
	search->known_high = (size_t)place.high;
	for (int64_t k = 0; k <= place.high; k++)
		search->known[k] = plus(search, start,
			times(search, minus(search, sum_at(&place, k), sum_at(&place, 0)),
				to_range));
	return true;
}

/* W / X^m for a piece with that displacement. */
static bool find_end(struct sum_breaks *search, uint64_t shift, uint32_t *end)
{
	const struct carve_sum *sum = &search->sum;
	uint64_t at = break_at(search, search->last);
	uint32_t tail, after = in_order(search, sum->after);
	uint8_t stored[4];

	if (sum->stored) {
		if (!workbench_read(search->bench, sum->stored + shift, stored, sizeof(stored)))
			return false;
		after = root_of(search, ~be32(stored));
	}
	if (!read_register(search, at + shift, sum->to - at, &tail))
		return false;
	*end = times(search, minus(search, after, tail), search->to_first);
	return true;
}

/* T(k) for a piece with that displacement. */
static bool find_rest(struct sum_breaks *search, uint64_t shift)
{
	int64_t last = (int64_t)search->last;
	uint32_t end, to_range;
	struct place place;

	if (!find_place(search, shift, search->last, &place) || !find_end(search, shift, &end))
		return false;
	to_range = zeros(search, place.cluster * (int64_t)search->size);
	search->rest_low = (size_t)place.low;
	for (int64_t k = place.low; k <= last; k++)
		search->rest[k] = minus(search, end,
			times(search, minus(search, sum_at(&place, last), sum_at(&place, k)),
				to_range));
	return true;
}

/* ---- breaks -------------------------------------------------------------------------------- */

/* Counts the trials of breaks; false: the work is spent. */
static bool count_trials(struct sum_breaks *search, uint64_t count)
{
	search->bench->tested += count;
	workbench_spend(search->bench, BREAK_WORK * (search->last + 1));
	return workbench_goes_on(search->bench);
}

void sum_breaks_try_one(struct sum_breaks *search, uint64_t shift)
{
	if (!find_rest(search, shift) || !count_trials(search, search->last + 1))
		return;
	for (size_t k = search->rest_low; k <= search->known_high; k++)
		if (search->known[k] == search->rest[k])
			sum_breaks_add(search,
				&(struct sum_hit){ 1, { piece(break_at(search, k), shift) } });
}

/* Displacements of a piece in a range, of which the first has this cluster at the first break. */
struct batch {
	size_t range;
	int64_t cluster;
	size_t count;
	uint32_t power;  /* 1 / x^cluster */
	uint32_t *known; /* divided by x^cluster... */
	uint32_t *rest;  /* ...two breaks: as that is */
	uint32_t *sums, *ends;
};

static uint64_t shift_of(const struct sum_breaks *search, const struct batch *batch, size_t number)
{
	return ranges_of(search)->items[batch->range].offset +
	       (uint64_t)(batch->cluster + (int64_t)number) * search->size - search->first;
}

/* How many of that many displacements a device is asked at once... */
static size_t batch_most(const struct sum_breaks *search, int64_t count)
{
	size_t most = BATCH_PAIRS / (search->last + 1);

	most = most < BATCH_MAX ? most : BATCH_MAX;
	return count < (int64_t)most ? (size_t)(count < 0 ? 0 : count) : most;
}

/* ...and how many there is work for. */
static size_t affordable(const struct sum_breaks *search, size_t count, uint64_t work)
{
	uint64_t left = search->bench->work_left, some = left ? (left - 1) / work : 0;

	return some < count ? (size_t)some : count;
}

/* The bytes after the last break of `count` displacements, from number `first` on: of those whose bytes no complete file
 * has, as the others can't be hits. False: they can't be read. */
static bool read_tails(struct sum_breaks *search, const struct batch *batch, size_t first,
	size_t count, uint64_t len, uint8_t *bytes, bool *is_free)
{
	uint64_t at = break_at(search, search->last) + shift_of(search, batch, first);
	size_t size = (size_t)search->size, from = 0;

	for (size_t i = 0; i < count; i++)
		is_free[i] = clusters_are_free(search->bench->clusters, at + i * size, len);
	for (size_t to = 0; from < count; from = to) {
		while (from < count && !is_free[from])
			from++;
		for (to = from; to < count && is_free[to];)
			to++;
		if (to > from && !workbench_read(search->bench, at + from * size,
					 bytes + from * size, (to - from - 1) * size + len))
			return false;
	}
	return true;
}

/* For each displacement the register that the sums must come to. False: what follows the last break can't be
 * read. */
static bool read_ends(struct sum_breaks *search, struct batch *batch)
{
	uint64_t len = search->sum.to - break_at(search, search->last);
	uint32_t after = in_order(search, search->sum.after), power = batch->power;
	size_t size = (size_t)search->size, most = size < PART_LEN ? PART_LEN / size : 1;
	uint8_t *bytes = xmalloc(most * size);
	bool *is_free = xcalloc(most, sizeof(*is_free));
	bool good = true;

	for (size_t i = 0; i < batch->count && good; i += most) {
		size_t count = batch->count - i < most ? batch->count - i : most;

		good = read_tails(search, batch, i, count, len, bytes, is_free);
		for (size_t n = 0; n < count && good; n++) {
			uint32_t tail =
				is_free[n] ? root_of(search, crc_of(search->order, bytes + n * size,
								     (size_t)len))
					   : cluster_sums_of_taken(shift_of(search, batch, i + n));
			uint32_t end = times(search, minus(search, after, tail), search->to_first);

			batch->ends[i + n] = minus(search, times(search, end, power),
				batch->sums[i + n + search->last]);
			power = crc_over_x(power);
		}
	}
	free(is_free);
	free(bytes);
	return good;
}

/* The range's sums for all breaks of the batch. Where it has none zeros are in their place. */
static void copy_sums(
	const struct place *place, struct batch *batch, size_t count, struct crc_search *crc)
{
	int64_t from = place->cluster < 0 ? -place->cluster : 0;
	int64_t to = place->count + 1 - place->cluster;

	crc->sums_from = (size_t)from < count ? (size_t)from : count;
	crc->sums_to = to < (int64_t)count ? (size_t)to : count;
	memset(batch->sums, 0, count * sizeof(uint32_t));
	for (size_t i = crc->sums_from; i < crc->sums_to; i++)
		batch->sums[i] = sum_at(place, (int64_t)i);
}

static void take_hits(struct sum_breaks *search, const struct batch *batch, uint64_t shift)
{
	const struct crc_hits *found = &search->found;

	search->too_many |= found->count > CRC_HITS_MAX;
	for (size_t i = 0; i < found->count && !search->too_many; i++) {
		const struct crc_hit *hit = &found->items[i];
		uint64_t own = shift_of(search, batch, hit->displacement);
		uint64_t second = break_at(search, hit->second);

		if (batch->rest)
			sum_breaks_add(search,
				&(struct sum_hit){ 2, { piece(break_at(search, hit->first), own),
							      piece(second, shift) } });
		else
			sum_breaks_add(search, &(struct sum_hit){ 1, { piece(second, own) } });
	}
}

/* Finds the breaks of a batch. False: what it needs can't be read. */
static bool try_batch(
	struct sum_breaks *search, const struct place *place, struct batch *batch, uint64_t shift)
{
	struct crc_search crc = { .count = batch->count,
		.known = batch->known,
		.known_count = search->known_high + 1,
		.sums = batch->sums,
		.rest = batch->rest,
		.rest_from = search->rest_low,
		.rest_to = search->last + 1 };

	for (size_t k = 0; k <= search->known_high; k++)
		batch->known[k] = times(search, search->known[k], batch->power);
	for (size_t k = search->rest_low; batch->rest && k <= search->last; k++)
		batch->rest[k] = times(search, search->rest[k], batch->power);
	copy_sums(place, batch, batch->count + search->last + 1, &crc);
	if (!batch->rest && !read_ends(search, batch))
		return false;
	crc.ends = batch->ends;
	if (search->order == SUM_OF_WORDS)
		search_cpu_word_breaks(&crc, &search->found);
	else
		searcher_find_breaks(search->bench->searcher, &crc, &search->found);
	take_hits(search, batch, shift);
	return true;
}

/* Which cluster of a range is at an offset in the image, which may be outside of it. */
static int64_t cluster_at(const struct sum_breaks *search, size_t range, int64_t offset)
{
	return (offset - (int64_t)ranges_of(search)->items[range].offset) / (int64_t)search->size;
}

static bool is_near(const struct sum_breaks *search)
{
	return search->low < search->high;
}

/* The first displacement's cluster at the first break. */
static int64_t first_cluster(const struct sum_breaks *search, size_t range)
{
	int64_t least = -(int64_t)search->last;
	int64_t low = is_near(search) ? cluster_at(search, range, search->low) : least;

	return low > least ? low : least;
}

/* The last one's. A piece to the end has bytes after the last break. */
static int64_t last_cluster(
	const struct sum_breaks *search, const struct place *place, size_t range, bool to_end)
{
	const struct range *whole = &ranges_of(search)->items[range];
	uint64_t left = search->bench->clusters->end - whole->offset - whole->length;
	uint64_t tail = search->sum.to - break_at(search, search->last);
	int64_t high = is_near(search) ? cluster_at(search, range, search->high) : place->count;

	if (!to_end)
		return high < place->count ? high : place->count;
	return place->count - (int64_t)search->last - (tail > left);
}

/* All displacements of a piece in a range: one to the end, or one before that with this displacement. */
static void try_range(struct sum_breaks *search, size_t range, const uint64_t *shift)
{
	int64_t last = (int64_t)search->last, cells = last + 1;
	int64_t from = first_cluster(search, range);
	uint64_t pairs = shift ? (uint64_t)last * (uint64_t)cells / 2 : (uint64_t)cells;
	uint64_t work = BREAK_WORK * (uint64_t)cells + (shift ? 0 : END_WORK);
	struct place place = place_in(search, range, from);
	int64_t end = last_cluster(search, &place, range, !shift);
	size_t most = batch_most(search, end - from + 1);
	struct batch batch = { range, from, 0, zeros(search, -from * (int64_t)search->size),
		.known = xcalloc((size_t)cells, sizeof(uint32_t)),
		.rest = shift ? xcalloc((size_t)cells, sizeof(uint32_t)) : NULL,
		.sums = xcalloc(most + (size_t)cells, sizeof(uint32_t)),
		.ends = shift ? NULL : xcalloc(most + 1, sizeof(uint32_t)) };

	while (batch.cluster <= end && workbench_goes_on(search->bench) && !search->too_many) {
		batch.count = batch_most(search, end - batch.cluster + 1);
		batch.count = affordable(search, batch.count, work);
		if (batch.count && !try_batch(search, &place, &batch, shift ? *shift : 0))
			break;
		search->bench->tested += batch.count * pairs;
		workbench_spend(search->bench, (batch.count ? batch.count : 1) * work);
		batch.cluster += (int64_t)batch.count;
		batch.power = crc_multiply(
			batch.power, zeros(search, -(int64_t)(batch.count * search->size)));
		set_cluster(search, &place, batch.cluster);
	}
	free(batch.known);
	free(batch.rest);
	free(batch.sums);
	free(batch.ends);
}

void sum_breaks_try_ends(struct sum_breaks *search)
{
	for (size_t range = 0; range < ranges_of(search)->count; range++)
		try_range(search, range, NULL);
}

/* Places that a piece in between may have. */
static uint64_t count_places(const struct sum_breaks *search)
{
	uint64_t all = ranges_bytes(ranges_of(search)) / search->size;
	uint64_t near = (uint64_t)(search->high - search->low) / search->size;

	return is_near(search) && near < all ? near : all;
}

void sum_breaks_try_two(struct sum_breaks *search, uint64_t shift, uint64_t most, unsigned bits)
{
	uint64_t pairs = search->last * (search->last + 1) / 2;

	if (pairs * count_places(search) >> (SUM_BITS - bits) > most || !find_rest(search, shift))
		return;
	for (size_t range = 0; range < ranges_of(search)->count; range++)
		try_range(search, range, &shift);
}

/* ---- one CRC ------------------------------------------------------------------------------- */

void sum_breaks_init(struct sum_breaks *search, struct workbench *bench)
{
	*search = (struct sum_breaks){ .bench = bench,
		.map = bench->rule->carver->map,
		.order = crc_order_of(bench->rule->carver->map),
		.size = bench->clusters->size };
}

void sum_breaks_place(struct sum_breaks *search)
{
	uint64_t size = search->size, from = search->sum.from, to = search->sum.to;
	uint64_t origin = search->mapping->items[0].shift - search->bench->clusters->origin;

	search->first = from + (size - (origin + from) % size) % size;
	search->last = search->first < to ? (size_t)((to - 1 - search->first) / size) : 0;
	search->hit_count = 0;
	search->too_many = false;
}

bool sum_breaks_open(struct sum_breaks *search)
{
	if (search->first >= search->sum.to || search->last >= BREAKS_MAX)
		return false;
	search->known = xcalloc(search->last + 1, sizeof(uint32_t));
	search->rest = xcalloc(search->last + 1, sizeof(uint32_t));
	search->to_first = zeros(search, -(int64_t)(search->sum.to - search->first));
	if (find_known(search))
		return true;
	sum_breaks_close(search);
	return false;
}

void sum_breaks_close(struct sum_breaks *search)
{
	free(search->known);
	free(search->rest);
	search->known = search->rest = NULL;
}

/* Whether all of the bytes are right with that displacement, in one piece. place: its range, for that. */
static bool is_whole(struct sum_breaks *search, const struct place *place, uint64_t shift)
{
	uint64_t from = search->sum.from, len = search->sum.to - from;
	uint32_t start, end;

	if (!clusters_are_free(search->bench->clusters, from + shift, len))
		return false;
	if (search->first >= search->sum.to)
		return read_register(search, from + shift, len, &start) &&
		       start == search->sum.after;
	return read_register(search, from + shift, search->first - from, &start) &&
	       find_end(search, shift, &end) &&
	       plus(search, start, sum_at(place, (int64_t)search->last)) ==
		       plus(search, end, sum_at(place, 0));
}

void sum_breaks_find_whole(
	struct sum_breaks *search, void (*add)(void *context, uint64_t shift), void *context)
{
	for (size_t range = 0; range < ranges_of(search)->count; range++) {
		struct place place = place_in(search, range, 1);
		int64_t end = place.count - (int64_t)search->last;

		for (int64_t cluster = 1; cluster < end && workbench_goes_on(search->bench);
			cluster++) {
			uint64_t shift = ranges_of(search)->items[range].offset +
					 (uint64_t)cluster * search->size - search->first;

			set_cluster(search, &place, cluster);
			search->bench->tested++;
			workbench_spend(search->bench, END_WORK);
			if (is_whole(search, &place, shift))
				add(context, shift);
		}
	}
}
