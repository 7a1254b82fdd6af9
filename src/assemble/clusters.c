/*
 * Files start at clusters. So if nearly all starts have one remainder modulo a power of two, that is
 * the size of a cluster, or a divisor of it, and the remainder shows where clusters begin. Files that
 * are inside others (a thumbnail, a member of an archive) start anywhere: only starts on the grid of
 * sectors count. Where few files were found the usual size, 4096, is taken if they allow it. Of the starts at clusters about
 * half are at clusters twice as large; if a small size has many more there, the files are on volumes of several sizes,
 * and of the smallest one few starts are known: that may be a sector.
 */
#include "assemble/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define CLUSTER_MAX 65536
#define VOTER_MIN 4096                 /* bytes validated of a file that counts */
#define STARTS_MIN 20                  /* fewer show no more than the usual size */
#define STARTS_MANY 64                 /* as many show it alone */
#define SHARE_PERCENT 85               /* of the starts share the remainder */
#define TWICE_PERCENT 67               /* of the starts, at most, are at clusters twice as large */
#define STARTS_MAX ((size_t)1 << 20)   /* that are kept in mind... */
#define HIDDEN_MAX 256                 /* ...and those that files which break off may have */
#define COMPLETE_MAX ((size_t)1 << 22) /* extents that are kept in mind */

static void add_start(struct starts *starts, size_t max, uint64_t start)
{
	if (starts->count == max)
		return;
	starts->items =
		xgrow(starts->items, &starts->capacity, starts->count, sizeof(*starts->items));
	starts->items[starts->count++] = start;
}

/* Short files are often false, and those inside others start anywhere: they have no vote. */
void clusters_add_start(
	struct clusters *clusters, uint64_t start, uint64_t length, enum verdict verdict)
{
	uint64_t end = start + length;

	if (start >= clusters->inside_end && length >= VOTER_MIN)
		add_start(&clusters->voters, STARTS_MAX, start);
	else if (start >= clusters->complete_end && length >= VOTER_MIN)
		add_start(&clusters->hidden, HIDDEN_MAX, start);
	if (verdict != CARVE_UNVERIFIED && end > clusters->inside_end)
		clusters->inside_end = end;
	if (verdict == CARVE_COMPLETE && end > clusters->complete_end)
		clusters->complete_end = end;
}

void clusters_add_rest(struct clusters *clusters, uint64_t start)
{
	add_start(&clusters->rests, STARTS_MAX, start);
}

/* The remainder that most starts have, modulo size, and how many have it. Counted in sectors from
 * `sector`, the remainder of the grid of sectors; others are left out. */
static uint64_t common_remainder(
	const struct starts *starts, uint64_t sector, uint64_t size, uint64_t *votes)
{
	uint64_t counts[CLUSTER_MAX / SECTOR] = { 0 };
	uint64_t best = 0;

	for (size_t i = 0; i < starts->count; i++)
		if (starts->items[i] % SECTOR == sector)
			counts[starts->items[i] % size / SECTOR]++;
	for (uint64_t n = 1; n < size / SECTOR; n++)
		if (counts[n] > counts[best])
			best = n;
	*votes = counts[best];
	return best * SECTOR + sector;
}

/* The remainder modulo a sector that most starts have, and how many have it. */
static uint64_t sector_remainder(const struct starts *starts, uint64_t *votes)
{
	uint64_t counts[SECTOR] = { 0 };
	uint64_t best = 0;

	for (size_t i = 0; i < starts->count; i++)
		counts[starts->items[i] % SECTOR]++;
	for (uint64_t n = 1; n < SECTOR; n++)
		if (counts[n] > counts[best])
			best = n;
	*votes = counts[best];
	return best;
}

void clusters_add_complete(struct clusters *clusters, uint64_t offset, uint64_t length)
{
	if (clusters->complete_count == COMPLETE_MAX)
		return;
	clusters->complete = xgrow(clusters->complete, &clusters->complete_capacity,
		clusters->complete_count, sizeof(*clusters->complete));
	clusters->complete[clusters->complete_count++] = (struct range){ offset, length };
}

void clusters_add_base(struct clusters *clusters, uint64_t offset)
{
	clusters->bases = xgrow(clusters->bases, &clusters->base_capacity, clusters->base_count,
		sizeof(*clusters->bases));
	clusters->bases[clusters->base_count++] = offset;
}

static void find_grid(struct clusters *clusters, const struct starts *starts)
{
	uint64_t total, votes, twice = 0, sector = sector_remainder(starts, &total);

	clusters->size = SECTOR;
	clusters->origin = sector;
	for (uint64_t size = CLUSTER_MAX; size > SECTOR; size /= 2, twice = votes) {
		uint64_t remainder = common_remainder(starts, sector, size, &votes);

		if (votes * 100 < total * SHARE_PERCENT ||
			(total < STARTS_MIN && size > USUAL_CLUSTER))
			continue;
		if (size < USUAL_CLUSTER && twice * 100 > total * TWICE_PERCENT)
			return;
		clusters->size = size;
		clusters->origin = remainder;
		return;
	}
}

void clusters_take(struct clusters *clusters, uint64_t offset, uint64_t length)
{
	uint64_t end = offset + length, over = (end - clusters->origin) % clusters->size;
	uint64_t slack = over ? clusters->size - over : 0;

	if (slack > clusters->end - end)
		slack = clusters->end - end;
	ranges_add(&clusters->taken, offset, length + slack);
}

/* One file that seems to go on over many others, as an archive may, must not hide all of them: where few others
 * vote those do, too. */
static void vote(struct clusters *clusters)
{
	struct starts all = { 0 };
	uint64_t votes;

	sector_remainder(&clusters->voters, &votes);
	if (votes >= STARTS_MANY) {
		find_grid(clusters, &clusters->voters);
		return;
	}
	for (size_t i = 0; i < clusters->voters.count; i++)
		add_start(&all, SIZE_MAX, clusters->voters.items[i]);
	for (size_t i = 0; i < clusters->hidden.count; i++)
		add_start(&all, SIZE_MAX, clusters->hidden.items[i]);
	find_grid(clusters, &all);
	free(all.items);
}

void clusters_get_ready(struct clusters *clusters)
{
	vote(clusters);
	for (size_t i = 0; i < clusters->complete_count; i++) {
		const struct range *extent = &clusters->complete[i];

		if (extent->offset % clusters->size == clusters->origin)
			clusters_take(clusters, extent->offset, extent->length);
	}
}

void clusters_add_head(struct clusters *clusters, uint64_t offset, uint64_t length)
{
	ranges_add(&clusters->heads, offset, length);
}

bool clusters_is_head(const struct clusters *clusters, uint64_t offset)
{
	return ranges_overlap(&clusters->heads, offset, clusters->size) == clusters->size;
}

uint64_t clusters_next(const struct clusters *clusters, uint64_t at)
{
	uint64_t inside = (at - clusters->origin) & (clusters->size - 1);

	return inside ? at + clusters->size - inside : at;
}

bool clusters_coarsen(const struct clusters *clusters, uint64_t start, struct clusters *coarse)
{
	*coarse = *clusters;
	coarse->free_runs = NULL;
	coarse->finest = clusters->size;
	coarse->size = USUAL_CLUSTER;
	coarse->origin = start % USUAL_CLUSTER;
	return clusters->size < USUAL_CLUSTER;
}

void clusters_list_free(struct clusters *clusters)
{
	const struct ranges *taken = &clusters->taken;
	uint64_t from = 0;

	clusters->free_runs =
		xreallocarray(clusters->free_runs, taken->count + 1, sizeof(*clusters->free_runs));
	clusters->free_count = 0;
	for (size_t i = 0; i <= taken->count && from < clusters->end; i++) {
		bool is_last = i == taken->count;
		uint64_t to = is_last ? clusters->end : taken->items[i].offset;
		uint64_t end = is_last ? to : to + taken->items[i].length;

		if (end <= from)
			continue; /* in the same cluster as the one before */
		if (to > from)
			clusters->free_runs[clusters->free_count++] =
				(struct range){ from, to - from };
		from = clusters_next(clusters, end);
	}
}

const struct range *clusters_free_after(const struct clusters *clusters, uint64_t offset)
{
	const struct ranges listed = { clusters->free_runs, clusters->free_count, 0 };

	return ranges_after(&listed, offset);
}

bool clusters_are_free(const struct clusters *clusters, uint64_t offset, uint64_t length)
{
	return ranges_overlap(&clusters->taken, offset, length) == 0;
}

bool clusters_all_free(const struct clusters *clusters, const struct range *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!clusters_are_free(clusters, runs[i].offset, runs[i].length))
			return false;
	return true;
}

static bool has_start(const struct starts *starts, uint64_t offset)
{
	size_t low = 0, high = starts->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (starts->items[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < starts->count && starts->items[low] == offset;
}

bool clusters_is_start(const struct clusters *clusters, uint64_t offset)
{
	return has_start(&clusters->voters, offset) && !has_start(&clusters->rests, offset);
}

static void save_starts(const struct starts *starts, struct codec_writer *writer)
{
	codec_put(writer, starts->count);
	for (size_t i = 0; i < starts->count; i++)
		codec_put(writer, starts->items[i]);
}

static void load_starts(
	struct starts *starts, size_t max, struct codec_reader *reader, uint64_t limit)
{
	uint64_t count = codec_get(reader, max);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++)
		add_start(starts, max, codec_get(reader, limit));
}

void clusters_save(const struct clusters *clusters, struct codec_writer *writer)
{
	codec_put(writer, clusters->complete_count);
	for (size_t i = 0; i < clusters->complete_count; i++) {
		codec_put(writer, clusters->complete[i].offset);
		codec_put(writer, clusters->complete[i].length);
	}
	save_starts(&clusters->voters, writer);
	save_starts(&clusters->hidden, writer);
	save_starts(&clusters->rests, writer);
	codec_put(writer, clusters->inside_end);
	codec_put(writer, clusters->complete_end);
}

void clusters_load(struct clusters *clusters, struct codec_reader *reader)
{
	uint64_t limit = clusters->end, count = codec_get(reader, UINT32_MAX);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		uint64_t offset = codec_get(reader, limit);

		clusters_add_complete(clusters, offset, codec_get(reader, limit - offset));
	}
	load_starts(&clusters->voters, STARTS_MAX, reader, limit);
	load_starts(&clusters->hidden, HIDDEN_MAX, reader, limit);
	load_starts(&clusters->rests, STARTS_MAX, reader, limit);
	clusters->inside_end = codec_get(reader, limit);
	clusters->complete_end = codec_get(reader, limit);
}

void clusters_free(struct clusters *clusters)
{
	ranges_free(&clusters->taken);
	ranges_free(&clusters->heads);
	free(clusters->free_runs);
	free(clusters->voters.items);
	free(clusters->hidden.items);
	free(clusters->rests.items);
	free(clusters->complete);
	free(clusters->bases);
}
