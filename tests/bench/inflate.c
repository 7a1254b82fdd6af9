/*
 * How close burin's reader comes to what inflating the chunks of an E01 costs by itself.
 *
 *     inflate IMAGE.E01 [--threads N] [--runs N]
 *
 * Three lines, each with MB/s (10^6 bytes of the medium) by the clock and by processor time, the
 * best of the runs: libdeflate alone on the compressed chunks, which are in memory, with its output
 * discarded; the reader's slots, which nothing reads; and what part of the first the second is.
 * Both in turn, so that other work on the machine hits both, with N threads on N processors.
 */
#include <getopt.h>
#include <libdeflate.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/file.h"
#include "base/endian.h"
#include "base/memory.h"
#include "evidence/e01_names.h"
#include "evidence/e01_set.h"
#include "evidence/reader.h"

enum { BATCH = 32, THREADS_MAX = 256, PACKED_BIT = 31 };

struct packed {
	const uint8_t *bytes;
	size_t len;
	bool compressed;
};

struct chunks {
	const struct e01_set *set;
	uint8_t **files; /* a segment each */
	struct packed *items;
	size_t count;
	_Atomic size_t next, bad;
};

struct times {
	double wall, cpu;
};

static void die(const char *what)
{
	fprintf(stderr, "inflate: %s\n", what);
	exit(2);
}

static struct times now(void)
{
	struct timespec wall, cpu;

	clock_gettime(CLOCK_MONOTONIC, &wall);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	return (struct times){ (double)wall.tv_sec + (double)wall.tv_nsec / 1e9,
		(double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9 };
}

static void since(struct times from, struct times *best)
{
	struct times end = now();

	if (!best->wall || end.wall - from.wall < best->wall)
		best->wall = end.wall - from.wall;
	if (!best->cpu || end.cpu - from.cpu < best->cpu)
		best->cpu = end.cpu - from.cpu;
}

/* ---- libdeflate alone ---------------------------------------------------------------------- */

static uint64_t place_of(
	const struct e01_table *table, const uint8_t *file, uint32_t index, bool *compressed)
{
	uint32_t entry = endian_u32(file + table->entries_at[0] + (uint64_t)index * 4);
	bool wide = index >= table->overflow;

	*compressed = !wide && entry >> PACKED_BIT;
	return table->base + (wide ? entry : entry & ~(1u << PACKED_BIT));
}

static void add_table(struct chunks *chunks, const struct e01_table *table)
{
	const uint8_t *file = chunks->files[table->segment];

	for (uint32_t i = 0; i < table->count; i++) {
		bool compressed, unused;
		uint64_t start = place_of(table, file, i, &compressed), end = table->data_end;

		if (i + 1 < table->count)
			end = place_of(table, file, i + 1, &unused);
		if (i >= table->overflow)
			compressed = end - start != chunks->set->chunk_len + 4;
		chunks->items[chunks->count++] =
			(struct packed){ file + start, (size_t)(end - start), compressed };
	}
}

static void load(struct chunks *chunks)
{
	const struct e01_set *set = chunks->set;

	chunks->files = xcalloc(set->segment_count, sizeof(*chunks->files));
	chunks->items = xcalloc(set->size / set->chunk_len + 1, sizeof(*chunks->items));
	for (size_t i = 0; i < set->segment_count; i++) {
		chunks->files[i] = xmalloc(set->segments[i].size);
		if (file_read_all_at(
			    set->segments[i].fd, chunks->files[i], set->segments[i].size, 0))
			die("a segment can't be read");
	}
	for (size_t i = 0; i < set->table_count; i++)
		add_table(chunks, &set->tables[i]);
}

static bool unpack(struct libdeflate_decompressor *inflater, const struct packed *packed,
	uint8_t *to, size_t len)
{
	size_t used, made;

	if (packed->compressed)
		return !libdeflate_zlib_decompress_ex(
			inflater, packed->bytes, packed->len, to, len, &used, &made);
	memcpy(to, packed->bytes, packed->len - 4);
	return e01_sum_holds(packed->bytes, packed->len - 4);
}

static void *inflate_all(void *arg)
{
	struct chunks *chunks = arg;
	struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
	size_t chunk_len = chunks->set->chunk_len, first;
	uint8_t *plain = xmalloc(chunk_len * BATCH);

	while ((first = atomic_fetch_add(&chunks->next, BATCH)) < chunks->count)
		for (size_t i = first; i < first + BATCH && i < chunks->count; i++)
			if (!unpack(inflater, &chunks->items[i], plain + (i - first) * chunk_len,
				    chunk_len))
				atomic_fetch_add(&chunks->bad, 1);
	free(plain);
	libdeflate_free_decompressor(inflater);
	return NULL;
}

static void time_alone(struct chunks *chunks, unsigned threads, struct times *best)
{
	pthread_t ids[THREADS_MAX];
	struct times from = now();

	atomic_store(&chunks->next, 0);
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, inflate_all, chunks))
			die("no thread could be started");
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	since(from, best);
	if (atomic_load(&chunks->bad))
		die("a chunk is damaged: take a sound image");
}

/* ---- the reader ---------------------------------------------------------------------------- */

static void time_reader(const char *path, struct times *best)
{
	struct reader_options options = { .overlap = 32 };
	struct error error = { 0 };
	struct image *image;
	struct reader *reader;
	struct reader_slot *slot;
	struct times from = now();

	if (image_open(&image, path, &error) || reader_open(&reader, image, &options, &error))
		die(error.text);
	while (reader_next(reader, &slot) > 0)
		reader_release(reader, slot);
	if (reader_unreadable(reader)->count)
		die("the reader could not read everything");
	reader_close(reader);
	image_close(image);
	since(from, best);
}

/* ---- all ----------------------------------------------------------------------------------- */

/* The reader has as many threads as the process has processors. */
static unsigned take_processors(unsigned wanted)
{
	cpu_set_t all, some;
	unsigned count = 0;

	CPU_ZERO(&some);
	if (sched_getaffinity(0, sizeof(all), &all))
		die("can't count the processors");
	for (int i = 0; i < CPU_SETSIZE && (!wanted || count < wanted); i++)
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &some);
			count++;
		}
	if (count < wanted || count > THREADS_MAX || sched_setaffinity(0, sizeof(some), &some))
		die("there are not as many processors");
	return count;
}

static void show(const char *what, const struct times *times, uint64_t size)
{
	printf("%-18s %8.0f MB/s %8.0f MB/s a processor\n", what, (double)size / 1e6 / times->wall,
		(double)size / 1e6 / times->cpu);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "threads", 1, NULL, 't' },
		{ "runs", 1, NULL, 'r' }, { 0 } };
	unsigned threads = 0, runs = 5;
	struct e01_set set;
	struct chunks chunks = { .set = &set };
	struct times alone = { 0 }, reader = { 0 };
	struct error error = { 0 };
	char **paths;
	size_t count;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		*(option == 't' ? &threads : &runs) =
			(unsigned)strtoul(optarg ? optarg : "1", NULL, 10);
	if (optind + 1 != argc || !runs)
		die("give an E01 image, and --threads N, --runs N");
	threads = take_processors(threads);
	e01_find_names(argv[optind], &paths, &count);
	if (e01_set_open(&set, paths, count, &error))
		die(error.text);
	if (!set.common || set.damage)
		die("take a sound image");
	load(&chunks);
	for (unsigned i = 0; i < runs; i++) {
		time_alone(&chunks, threads, &alone);
		time_reader(argv[optind], &reader);
	}
	printf("%zu chunks of %u bytes, %u threads, best of %u\n", chunks.count, set.chunk_len,
		threads, runs);
	show("libdeflate alone", &alone, set.size);
	show("the reader", &reader, set.size);
	printf("%-18s %8.0f %%    %8.0f %%\n", "part of the former", 100 * alone.wall / reader.wall,
		100 * alone.cpu / reader.cpu);
	return 0;
}
