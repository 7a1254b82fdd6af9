/*
 * Chunks are stored one after another, so a long read fetches many of them with one request, and
 * decompresses each straight to where it is wanted. Their places are read from the tables in the
 * files (four bytes a chunk, as a rule from the page cache), so that an image of 8 TB needs no
 * gigabyte of index.
 *
 * Everything is checked: a chunk must decompress to the length that it must have, and its checksum
 * must match. A damaged table could still lead to another valid chunk. So where no copy of the
 * table has a valid checksum, a chunk must also end exactly where the next one starts.
 *
 * Carvers look at places that the reader has just read, and decompressing them again would take as
 * long as all the reading. So while they do, the reader leaves what it decompresses in the cache.
 */
#include "evidence/e01_chunks.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/endian.h"
#include "base/memory.h"
#include "evidence/chunk_cache.h"
#include "evidence/e01_decode.h"

#define ENTRY_LEN 4
#define SUM_LEN 4
#define COMPRESSED_FLAG 0x80000000u
/* Chunks whose places are looked up at once, and bytes that are fetched at once. */
#define RUN_COUNT 64
#define RUN_LEN ((size_t)1 << 20)
/* Reads of this length and more are taken for a pass over the medium: they bypass the cache. */
#define LONG_LEN ((size_t)512 << 10)
/* The reader is ahead of the carvers by its ring and by the candidates that wait. */
#define CACHE_MEMORY ((size_t)160 << 20)
/* Copying a chunk into the cache costs an eighth of decompressing it again; one that is smaller
 * than this when compressed decompresses as fast. */
#define WORTH_ASKING 8
#define WORTH_LEN 1024
#define LATELY 16384

static const char *const fault_words[] = {
	[E01_MISSING] = "no table lists it",
	[E01_ENTRY] = "its entry in the table is damaged",
	[E01_BEYOND] = "it is past the end of the file, which is cut off",
	[E01_READ] = "the file can't be read there",
	[E01_CORRUPT] = "it can't be decompressed",
	[E01_SUM] = "its checksum is wrong",
};

/* Where a chunk is in its segment. */
struct chunk_place {
	uint64_t offset, len; /* len: up to the next chunk, or more for the last one */
	bool compressed;
};

struct e01_chunks {
	/* Recent chunks read in passes, and recent ones requested by small reads. */
	_Atomic uint32_t passed, asked;
	const struct e01_set *set;
	struct chunk_cache *cache;
	struct e01_decoder *decoder;
	size_t stored_len, chunk_stored_max;
};

struct e01_chunks *e01_chunks_new(const struct e01_set *set)
{
	struct e01_chunks *chunks = xcalloc(1, sizeof(*chunks));
	size_t chunk_len = set->chunk_len;

	chunks->set = set;
	/* Incompressible data grows by less than this. */
	chunks->chunk_stored_max = chunk_len + chunk_len / 64 + 4096;
	chunks->stored_len =
		chunks->chunk_stored_max > RUN_LEN ? chunks->chunk_stored_max : RUN_LEN;
	chunks->cache = chunk_cache_new(chunk_len, CACHE_MEMORY);
	chunks->decoder = e01_decoder_new(chunk_len, chunks->stored_len);
	return chunks;
}

void e01_chunks_free(struct e01_chunks *chunks)
{
	if (!chunks)
		return;
	chunk_cache_free(chunks->cache);
	e01_decoder_free(chunks->decoder);
	free(chunks);
}

/* ---- places -------------------------------------------------------------------------------- */

/* Bytes of the medium in the chunk: the last one may have fewer. */
static size_t plain_len_of(const struct e01_set *set, uint64_t chunk)
{
	uint64_t left = set->size - chunk * set->chunk_len;

	return left < set->chunk_len ? (size_t)left : set->chunk_len;
}

static uint64_t offset_of(const struct e01_table *table, uint32_t index, uint32_t entry)
{
	return table->base + (index < table->overflow ? entry & ~COMPRESSED_FLAG : entry);
}

static int read_entries(const struct e01_set *set, const struct e01_table *table, int copy,
	uint32_t index, uint32_t count, uint32_t *entries)
{
	uint8_t bytes[(RUN_COUNT + 1) * ENTRY_LEN];
	int rc = 0;

	if (table->entries) {
		memcpy(entries, table->entries + index, count * sizeof(*entries));
		return 0;
	}
	rc = file_read_all_at(set->segments[table->segment].fd, bytes, (size_t)count * ENTRY_LEN,
		table->entries_at[copy] + (uint64_t)index * ENTRY_LEN);
	for (uint32_t i = 0; !rc && i < count; i++)
		entries[i] = endian_u32(bytes + (size_t)i * ENTRY_LEN);
	return rc;
}

/* Finds the chunks `index` to `index + count - 1` of the table by one of its copies. */
static enum e01_fault find_places(const struct e01_chunks *chunks, const struct e01_table *table,
	int copy, uint32_t index, uint32_t count, struct chunk_place *places)
{
	const struct e01_set *set = chunks->set;
	uint32_t entries[RUN_COUNT + 1];
	uint32_t known = table->count - index > count ? count + 1 : count;

	if (read_entries(set, table, copy, index, known, entries))
		return E01_READ;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t entry = entries[i];
		uint64_t end = table->data_end;

		places[i].offset = offset_of(table, index + i, entry);
		if (i + 1 < known)
			end = offset_of(table, index + i + 1, entries[i + 1]);
		places[i].len = end > places[i].offset ? end - places[i].offset : 0;
		/* Wide entries have no room for the flag: a stored chunk is detected by its length.
		 */
		places[i].compressed =
			index + i < table->overflow
				? (entry & COMPRESSED_FLAG) != 0
				: places[i].len != (uint64_t)set->chunk_len + SUM_LEN;
	}
	return E01_GOOD;
}

/* ---- one chunk ----------------------------------------------------------------------------- */

static enum e01_fault read_by_copy(struct e01_chunks *chunks, struct e01_scratch *scratch,
	const struct e01_table *table, int copy, uint64_t chunk, uint8_t *to)
{
	const struct e01_segment *segment = &chunks->set->segments[table->segment];
	uint32_t index = (uint32_t)(chunk - table->first);
	struct chunk_place place;
	enum e01_fault fault = find_places(chunks, table, copy, index, 1, &place);
	size_t len = chunks->chunk_stored_max;

	if (fault)
		return fault;
	if (!place.len)
		return E01_ENTRY;
	if (place.offset >= segment->size)
		return E01_BEYOND;
	if (place.len < len)
		len = (size_t)place.len;
	/* The last chunk may end before the place does. */
	if (segment->size - place.offset < len)
		len = (size_t)(segment->size - place.offset);
	if (file_read_all_at(segment->fd, scratch->stored, len, place.offset))
		return E01_READ;
	fault = e01_decode(chunks->decoder, scratch, place.compressed, scratch->stored, len,
		table->suspect && (index + 1 < table->count || table->end_known), to,
		plain_len_of(chunks->set, chunk));
	return fault && place.offset + place.len > segment->size ? E01_BEYOND : fault;
}

/* By the better copy of the table and then, where both are damaged, by the other one. */
static enum e01_fault read_chunk(
	struct e01_chunks *chunks, struct e01_scratch *scratch, uint64_t chunk, uint8_t *to)
{
	const struct e01_table *table = e01_set_table(chunks->set, chunk);
	enum e01_fault fault;

	if (!table)
		return E01_MISSING;
	fault = read_by_copy(chunks, scratch, table, 0, chunk, to);
	if (fault && table->entries_at[1] && !read_by_copy(chunks, scratch, table, 1, chunk, to))
		fault = E01_GOOD;
	return fault;
}

static int load_chunk(void *arg, uint64_t chunk, uint8_t *to)
{
	struct e01_chunks *chunks = arg;
	struct e01_scratch *scratch = e01_scratch_acquire(chunks->decoder);
	enum e01_fault fault;

	if (!scratch)
		return -ENOMEM;
	fault = read_chunk(chunks, scratch, chunk, to);
	e01_scratch_release(chunks->decoder, scratch);
	return fault ? -EIO : 0;
}

/* ---- many chunks --------------------------------------------------------------------------- */

/* How many of the places, from the first on, are contiguous and can be fetched at once; 0 when not
 * even one can. *len: their bytes. */
static uint32_t contiguous_count(const struct e01_chunks *chunks, const struct e01_segment *segment,
	const struct chunk_place *places, uint32_t count, size_t *len)
{
	uint32_t i = 0;

	for (*len = 0; i < count; i++) {
		if (!places[i].len || places[i].len > chunks->chunk_stored_max ||
			places[i].len > chunks->stored_len - *len ||
			places[i].offset != places[0].offset + *len ||
			places[i].offset > segment->size ||
			places[i].len > segment->size - places[i].offset)
			break;
		*len += (size_t)places[i].len;
	}
	return i;
}

/* Chunks of one table that one call reads. */
struct chunk_run {
	struct e01_chunks *chunks;
	struct e01_scratch *scratch;
	uint64_t first;
	uint32_t count;
	struct chunk_place places[RUN_COUNT];
	bool fetched;   /* the compressed bytes are in the scratch */
	bool is_shared; /* the chunks are worth caching */
};

/* Whether enough small reads look at what is read in passes to keep it in the cache for them. */
static bool is_worth_caching(struct e01_chunks *chunks, uint32_t count)
{
	uint32_t passed = atomic_fetch_add(&chunks->passed, count) + count;
	uint32_t asked = atomic_load(&chunks->asked);

	if (passed > LATELY) { /* a race between threads does no harm here */
		atomic_store(&chunks->passed, passed / 2);
		atomic_store(&chunks->asked, asked / 2);
	}
	return asked > passed / WORTH_ASKING;
}

/* Decompresses the run's chunk i, stored at `stored`, to `to`. */
static int read_one(struct chunk_run *run, uint32_t i, const uint8_t *stored, uint8_t *to)
{
	struct e01_chunks *chunks = run->chunks;
	const struct chunk_place *place = &run->places[i];
	size_t plain_len = plain_len_of(chunks->set, run->first + i);
	bool shared = run->is_shared && place->compressed && place->len > WORTH_LEN &&
		      plain_len == chunks->set->chunk_len;

	if (shared && chunk_cache_get(chunks->cache, run->first + i, to))
		return 0;
	if (!run->fetched || e01_decode(chunks->decoder, run->scratch, place->compressed, stored,
				     (size_t)place->len, false, to, plain_len)) {
		run->fetched = false; /* the next call overwrites what was fetched */
		return read_chunk(chunks, run->scratch, run->first + i, to) ? -EIO : 0;
	}
	if (shared)
		chunk_cache_put(chunks->cache, run->first + i, to);
	return 0;
}

/* Leaves anything unusual to read_chunk. */
static int read_run(struct chunk_run *run, const struct e01_table *table, uint8_t *to)
{
	const struct e01_set *set = run->chunks->set;
	const struct e01_segment *segment = &set->segments[table->segment];
	uint32_t done = 0;

	if (table->suspect ||
		find_places(run->chunks, table, 0, (uint32_t)(run->first - table->first),
			run->count, run->places))
		memset(run->places, 0, sizeof(run->places));
	while (done < run->count) {
		const uint8_t *stored = run->scratch->stored;
		struct chunk_place *places = run->places + done;
		size_t len;
		uint32_t end =
			contiguous_count(run->chunks, segment, places, run->count - done, &len);

		run->fetched = end && !file_read_all_at(segment->fd, run->scratch->stored, len,
					      places->offset);
		for (end += done + !end; done < end; done++, to += set->chunk_len) {
			if (read_one(run, done, stored, to))
				return -EIO;
			stored += run->places[done].len;
		}
	}
	return 0;
}

/* Reads as many whole chunks from offset on as are in the request and in one table; none when the
 * first is not whole. *len: bytes that were read. */
static int read_whole(
	struct e01_chunks *chunks, uint64_t offset, uint8_t *to, size_t wanted, size_t *len)
{
	const struct e01_set *set = chunks->set;
	uint64_t chunk = offset / set->chunk_len, count = wanted / set->chunk_len;
	const struct e01_table *table = e01_set_table(set, chunk);
	struct chunk_run run = { .chunks = chunks, .first = chunk };
	int rc;

	/* The medium's last chunk counts as whole when all of it is wanted. */
	count += offset + wanted == set->size && wanted % set->chunk_len != 0;
	*len = 0;
	if (offset % set->chunk_len || !count)
		return 0;
	if (!table)
		return -EIO;
	if (count > table->first + table->count - chunk)
		count = table->first + table->count - chunk;
	if (count > RUN_COUNT)
		count = RUN_COUNT;
	run.count = (uint32_t)count;
	run.is_shared = is_worth_caching(chunks, run.count);
	run.scratch = e01_scratch_acquire(chunks->decoder);
	if (!run.scratch)
		return -ENOMEM;
	rc = read_run(&run, table, to);
	e01_scratch_release(chunks->decoder, run.scratch);
	*len = (size_t)count * set->chunk_len;
	if (*len > wanted)
		*len = wanted;
	return rc;
}

int e01_chunks_read(struct e01_chunks *chunks, uint64_t offset, void *buffer, size_t len)
{
	size_t chunk_len = chunks->set->chunk_len, part_len;
	bool is_long = len >= LONG_LEN;
	uint8_t *to = buffer;
	int rc = 0;

	for (; len && !rc; offset += part_len, to += part_len, len -= part_len) {
		size_t from = (size_t)(offset % chunk_len);

		part_len = 0;
		if (is_long)
			rc = read_whole(chunks, offset, to, len, &part_len);
		if (rc || part_len)
			continue;
		part_len = chunk_len - from < len ? chunk_len - from : len;
		if (!is_long)
			atomic_fetch_add(&chunks->asked, 1);
		rc = chunk_cache_read(
			chunks->cache, offset / chunk_len, from, to, part_len, load_chunk, chunks);
	}
	return rc;
}

char *e01_chunks_why(struct e01_chunks *chunks, uint64_t offset)
{
	uint64_t chunk = offset / chunks->set->chunk_len;
	const struct e01_table *table = e01_set_table(chunks->set, chunk);
	struct e01_scratch *scratch = e01_scratch_acquire(chunks->decoder);
	uint8_t *plain = malloc(chunks->set->chunk_len);
	enum e01_fault fault = E01_GOOD;

	if (scratch && plain)
		fault = read_chunk(chunks, scratch, chunk, plain);
	if (scratch)
		e01_scratch_release(chunks->decoder, scratch);
	free(plain);
	if (!fault)
		return NULL;
	if (!table)
		return xasprintf("chunk %llu: %s", (unsigned long long)chunk, fault_words[fault]);
	return xasprintf("chunk %llu, in segment %u (%s): %s", (unsigned long long)chunk,
		chunks->set->segments[table->segment].number,
		chunks->set->segments[table->segment].path, fault_words[fault]);
}
