#include "assemble/crc_search_codec.h"

#include <stdlib.h>
#include <string.h>

#include "base/channel.h"
#include "base/memory.h"

/* Numbers of an array. */
#define NUMBERS_MAX (CHANNEL_MESSAGE_MAX / 16)
/* Displacements times breaks, twice what by_sum.c asks at once: how long a device takes is bounded, too. */
#define PAIRS_MAX ((uint64_t)1 << 27)

/* Numbers of breaks. */
static size_t breaks_of(const struct crc_search *search)
{
	return search->ends || search->rest_to < search->known_count ? search->known_count
								     : search->rest_to;
}

static void save_numbers(const uint32_t *numbers, size_t count, struct codec_writer *writer)
{
	codec_put_bytes(writer, numbers, count * sizeof(*numbers));
}

bool crc_search_save(const struct crc_search *search, struct codec_writer *writer)
{
	size_t breaks = breaks_of(search);

	if (search->count > NUMBERS_MAX - NUMBERS_MAX / 4 || breaks > NUMBERS_MAX / 4 ||
		(uint64_t)search->count * breaks > PAIRS_MAX)
		return false;
	codec_put(writer, search->count);
	codec_put(writer, search->ends != NULL);
	codec_put(writer, search->known_count);
	codec_put(writer, search->sums_from);
	codec_put(writer, search->sums_to);
	codec_put(writer, search->ends ? 0 : search->rest_from);
	codec_put(writer, search->ends ? 0 : search->rest_to);
	save_numbers(search->known, search->known_count, writer);
	save_numbers(search->sums, search->count + breaks, writer);
	if (search->ends)
		save_numbers(search->ends, search->count, writer);
	else
		save_numbers(search->rest, search->rest_to, writer);
	return true;
}

/* Never NULL; the caller frees them. There is memory for what came only. */
static uint32_t *load_numbers(size_t count, struct codec_reader *reader)
{
	size_t len;
	const uint8_t *bytes = codec_get_bytes(reader, &len);
	uint32_t *numbers;

	if (!codec_ok(reader) || len != count * sizeof(*numbers)) {
		codec_fail(reader);
		len = 0;
	}
	numbers = xmalloc(len + 1);
	if (len)
		memcpy(numbers, bytes, len);
	return numbers;
}

void crc_search_load(struct crc_search *search, struct codec_reader *reader)
{
	bool one;
	size_t sums;

	*search = (struct crc_search){ .count = codec_get(reader, NUMBERS_MAX) };
	one = codec_get_flag(reader);
	search->known_count = codec_get(reader, NUMBERS_MAX);
	search->sums_from = codec_get(reader, 2 * NUMBERS_MAX);
	search->sums_to = codec_get(reader, 2 * NUMBERS_MAX);
	search->rest_from = codec_get(reader, NUMBERS_MAX);
	search->rest_to = codec_get(reader, NUMBERS_MAX);
	search->known = load_numbers(search->known_count, reader);
	sums = search->count +
	       (search->rest_to < search->known_count ? search->known_count : search->rest_to);
	search->sums = load_numbers(sums, reader);
	if (one)
		search->ends = load_numbers(search->count, reader);
	else
		search->rest = load_numbers(search->rest_to, reader);
	if (search->sums_from > search->sums_to || search->sums_to > sums ||
		search->rest_from > search->rest_to || (one && search->rest_to) ||
		(uint64_t)search->count * (sums - search->count) > PAIRS_MAX)
		codec_fail(reader);
}

void crc_search_free(struct crc_search *search)
{
	free((void *)search->known);
	free((void *)search->sums);
	free((void *)search->ends);
	free((void *)search->rest);
}

static size_t items_of(const struct crc_hits *hits)
{
	return hits->count < CRC_HITS_MAX ? hits->count : CRC_HITS_MAX;
}

void crc_hits_save(const struct crc_hits *hits, struct codec_writer *writer)
{
	codec_put(writer, hits->count);
	codec_put_bytes(writer, hits->items, items_of(hits) * sizeof(*hits->items));
}

void crc_hits_load(struct crc_hits *hits, struct codec_reader *reader)
{
	hits->count = codec_get(reader, SIZE_MAX);
	codec_copy_bytes(reader, hits->items, items_of(hits) * sizeof(*hits->items));
}
