#include "carve/coded_codec.h"

#include <string.h>

#include "carvers/coded.h"

/* Predictions and their bounds, of pictures of 16 bits a sample at most. */
#define BOUND_MAX (1u << 24)
/* An entry of `fast` is a length and a byte. */
#define FAST_MAX (CODED_BITS << 8 | 0xff)
/* `first` is an index in values less a code of 16 bits. */
#define FIRST_LEAST 65536
/* Lengths of codes that are compared: the others' entries are not used, and may be anything. */
#define COMPARED (CODED_BITS + 1)
#define COMPARED_COUNT (17 - COMPARED)

static void save_table(const struct coded_table *table, struct codec_writer *writer)
{
	codec_put_bytes(writer, table->fast, sizeof(table->fast));
	codec_put_bytes(writer, &table->limit[COMPARED], COMPARED_COUNT * sizeof(*table->limit));
	codec_put_bytes(writer, &table->first[COMPARED], COMPARED_COUNT * sizeof(*table->first));
	codec_put_bytes(writer, table->values, sizeof(table->values));
}

void coded_save(const struct carve_coded *coded, struct codec_writer *writer)
{
	codec_put(writer, coded->data);
	codec_put(writer, coded->block_count);
	codec_put(writer, coded->block);
	codec_put(writer, coded->interval);
	codec_put(writer, coded->restarts);
	codec_put(writer, coded->mcus);
	codec_put(writer, coded->mcus_before_restart);
	for (size_t i = 0; i < CODED_BLOCKS; i++) {
		bool used = i < coded->block_count;

		codec_put(writer, used ? coded->blocks[i].dc : 0);
		codec_put(writer, used ? coded->blocks[i].ac : 0);
		codec_put(writer, used ? coded->blocks[i].component : 0);
	}
	for (size_t i = 0; i < 4; i++) {
		codec_put(writer, coded->bound[i]);
		codec_put(writer, (uint64_t)((int64_t)coded->dc[i] + BOUND_MAX));
	}
	codec_put(writer, coded->bits_before);
	codec_put(writer, coded->after_ff);
	codec_put_bytes(writer, coded->before, sizeof(coded->before));
	for (size_t i = 0; i < CODED_TABLES; i++)
		save_table(&coded->tables[i], writer);
}

static bool is_table(const struct coded_table *table)
{
	bool good = true;

	for (size_t i = 0; i < sizeof(table->fast) / sizeof(*table->fast); i++)
		good &= table->fast[i] <= FAST_MAX;
	for (size_t i = COMPARED; i < 17; i++)
		good &= table->first[i] >= -FIRST_LEAST && table->first[i] <= 0xff;
	return good;
}

static void load_table(struct coded_table *table, struct codec_reader *reader)
{
	codec_copy_bytes(reader, table->fast, sizeof(table->fast));
	codec_copy_bytes(reader, &table->limit[COMPARED], COMPARED_COUNT * sizeof(*table->limit));
	codec_copy_bytes(reader, &table->first[COMPARED], COMPARED_COUNT * sizeof(*table->first));
	codec_copy_bytes(reader, table->values, sizeof(table->values));
	if (!is_table(table))
		codec_fail(reader);
}

void coded_load(struct carve_coded *coded, struct codec_reader *reader)
{
	memset(coded, 0, sizeof(*coded));
	coded->data = codec_get(reader, INT64_MAX);
	coded->block_count = (uint32_t)codec_get(reader, CODED_BLOCKS);
	coded->block = (uint32_t)codec_get(reader, CODED_BLOCKS - 1);
	coded->interval = (uint32_t)codec_get(reader, UINT32_MAX);
	coded->restarts = (uint32_t)codec_get(reader, UINT32_MAX);
	coded->mcus = codec_get(reader, UINT64_MAX);
	coded->mcus_before_restart = codec_get(reader, UINT64_MAX);
	for (size_t i = 0; i < CODED_BLOCKS; i++) {
		coded->blocks[i].dc = (uint8_t)codec_get(reader, CODED_TABLES - 1);
		coded->blocks[i].ac = (uint8_t)codec_get(reader, CODED_TABLES - 1);
		coded->blocks[i].component = (uint8_t)codec_get(reader, 3);
	}
	for (size_t i = 0; i < 4; i++) {
		coded->bound[i] = (uint32_t)codec_get(reader, BOUND_MAX);
		coded->dc[i] = (int32_t)codec_get(reader, 2 * BOUND_MAX) - (int32_t)BOUND_MAX;
	}
	coded->bits_before = (uint32_t)codec_get(reader, CODED_BEFORE * 8);
	coded->after_ff = codec_get_flag(reader);
	codec_copy_bytes(reader, coded->before, sizeof(coded->before));
	for (size_t i = 0; i < CODED_TABLES; i++)
		load_table(&coded->tables[i], reader);
	/* The byte that is an FF is one of those before. */
	if (coded->block >= coded->block_count || !coded->mcus ||
		(coded->after_ff && !coded->bits_before))
		codec_fail(reader);
}
